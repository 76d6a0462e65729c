"""Checks of the dense stage: every paper has a sound vector or a listed failure, and the index holds just those vectors."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, contract_check
from scholarlake.dense import invariants

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "embeddings": (
        contract_check("embeddings"),
        contract_check("embedding_failures"),
        contract_check("faiss_ids"),
        Check(
            "every_paper_embedded_or_listed",
            "embedded + failures = papers.",
            lambda subject: invariants.every_paper_embedded_or_listed(subject.lake, subject.key),
        ),
        Check(
            "vectors_are_sound",
            "Vectors are finite, of unit length, and of one dimension.",
            lambda subject: invariants.vectors_are_sound(subject.lake, subject.key),
        ),
        Check("one_model", "All vectors are of one model.", lambda subject: invariants.one_model(subject.lake, subject.key)),
        Check(
            "vector_ids_are_handed_out_once",
            "Vector ids are unique, in the range of their shard, and those of the ledger.",
            lambda subject: invariants.vector_ids_are_handed_out_once(subject.lake, subject.key),
        ),
    ),
}

"""Checks of the dense stage: every paper has a sound vector or a listed failure, and the index holds just those vectors."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, artifact_check, contract_check, row_check
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
        row_check(
            "vectors_are_sound",
            "Vectors are finite, of unit length, and of one dimension.",
            "embeddings",
            lambda subject, rows: invariants.vectors_are_sound(subject.lake, subject.key, rows),
        ),
        Check("one_model", "All vectors are of one model.", lambda subject: invariants.one_model(subject.lake, subject.key)),
        Check(
            "vector_ids_are_handed_out_once",
            "Vector ids are unique, in the range of their shard, and those of the ledger.",
            lambda subject: invariants.vector_ids_are_handed_out_once(subject.lake, subject.key),
        ),
    ),
    "vector_index": (
        artifact_check(),
        Check(
            "indexed_is_embedded",
            "The index holds the vectors of its shard, each once.",
            lambda subject: invariants.indexed_is_embedded(subject.lake, subject.key, subject.folder),
        ),
        Check(
            "index_is_of_the_model",
            "The manifest names the model and the dimension of the vectors.",
            lambda subject: invariants.index_is_of_the_model(subject.lake, subject.key, subject.folder),
        ),
        Check(
            "recall_is_enough",
            "Recall@10 against exact search on sampled queries is no less than the profile's `min_recall`.",
            lambda subject: invariants.recall_is_enough(
                subject.lake, subject.key, subject.folder, subject.profile.dense.recall_queries, subject.profile.dense.min_recall
            ),
        ),
    ),
}

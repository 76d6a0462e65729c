"""Checks of training: splits share nothing, and whatever is fewer than asked for says why."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, contract_check
from scholarlake.training import subgraph_invariants as invariants

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "subgraphs": (
        contract_check("subgraphs"),
        contract_check("subgraph_batches"),
        Check(
            "walks_follow_citations",
            "Every walk begins at its seed, and every step goes along a citation of the core.",
            lambda subject: invariants.walks_follow_citations(subject.lake, subject.key),
        ),
        Check(
            "splits_share_nothing",
            "No subgraph, seed, paper, work or citation is shared with another split: what was compared, and how much is shared.",
            lambda subject: invariants.splits_share_nothing(subject.lake, subject.key),
        ),
        Check(
            "little_is_held_out",
            "Validation and test come to no more of the core than they may.",
            lambda subject: invariants.little_is_held_out(subject.lake, subject.key),
        ),
        Check(
            "no_subgraph_missing_unsaid",
            "Every batch has the subgraphs asked for, or says why it has fewer.",
            lambda subject: invariants.no_subgraph_missing_unsaid(subject.lake, subject.key),
        ),
    ),
}

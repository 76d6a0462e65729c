"""Checks of collections: their members are papers, no work is there twice, and what is missing is said."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, contract_check
from scholarlake.corpus.selection import invariants

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "collections": (
        contract_check("collections"),
        contract_check("collection_catalog"),
        Check(
            "members_are_papers",
            "Every member of a collection is a paper that was not withdrawn.",
            lambda subject: invariants.members_are_papers(subject.lake),
        ),
        Check("ranks_are_whole", "Ranks run from 1 without a gap.", lambda subject: invariants.ranks_are_whole(subject.lake)),
        Check(
            "one_version_of_a_work",
            "A collection holds one version of a work.",
            lambda subject: invariants.one_version_of_a_work(subject.lake),
        ),
        Check(
            "nothing_missing_unsaid",
            "A collection has the papers asked for, or says what is missing and why.",
            lambda subject: invariants.nothing_missing_unsaid(subject.lake),
        ),
        Check(
            "quotas_are_met_or_explained",
            "Every topic of a collection has its quota of papers, or the collection says that it has not.",
            lambda subject: invariants.quotas_are_met_or_explained(subject.lake),
        ),
        Check(
            "no_collection_is_empty",
            "Every collection chose a paper.",
            lambda subject: invariants.no_collection_is_empty(subject.lake),
            blocking=False,
        ),
        Check(
            "every_id_is_known",
            "The corpus knows every id that a collection names.",
            lambda subject: invariants.every_id_is_known(subject.lake),
            blocking=False,
        ),
    ),
}

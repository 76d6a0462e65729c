"""Checks of L2: one taxonomy a collection, and everything that is organized by it rests on facts that are there."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, contract_check
from scholarlake.knowledge import organization_invariants as invariants

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "fact_catalog": (
        contract_check("fact_catalog"),
        Check(
            "every_collection_is_listed",
            "Every collection is in the catalog, with its papers and their facts.",
            lambda subject: invariants.every_collection_is_listed(subject.lake),
        ),
    ),
    "taxonomies": (
        contract_check("taxonomies"),
        Check(
            "one_taxonomy_a_collection",
            "All categories of a collection are of one taxonomy, whose version is the digest of what it says.",
            lambda subject: invariants.one_taxonomy_a_collection(subject.lake, subject.key),
        ),
        Check(
            "parents_are_of_their_dimension_and_no_loop",
            "Parents are categories of the same dimension, and no category is above itself.",
            lambda subject: invariants.parents_are_of_their_dimension_and_no_loop(subject.lake, subject.key),
        ),
    ),
}

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
    "attended_facts": (
        contract_check("attended_facts"),
        Check(
            "attended_facts_stand_in_their_sentences",
            "Every attended fact cites sentences of its paper that are there, as they were when it was read off them.",
            lambda subject: invariants.attended_facts_stand_in_their_sentences(subject.lake, subject.key),
        ),
        Check(
            "attended_facts_are_of_the_taxonomy",
            "Attended facts were read in papers of the collection, under its taxonomy.",
            lambda subject: invariants.attended_facts_are_of_the_taxonomy(subject.lake, subject.key),
        ),
    ),
    "entities": (
        contract_check("entities"),
        contract_check("entity_mentions"),
        contract_check("entity_decisions"),
        Check(
            "every_mention_is_of_a_fact_and_an_entity",
            "Every mention is of an entity that is there, in a fact of the collection, and no entity is without one.",
            lambda subject: invariants.every_mention_is_of_a_fact_and_an_entity(subject.lake, subject.key),
        ),
        Check(
            "sources_of_entities_are_their_mentions",
            "Entities have the papers and the names that their mentions have.",
            lambda subject: invariants.sources_of_entities_are_their_mentions(subject.lake, subject.key),
        ),
        Check(
            "what_is_ruled_holds",
            "Names that were taken for one are one entity, and those that are ruled to be two are two.",
            lambda subject: invariants.what_is_ruled_holds(subject.lake, subject.key),
        ),
    ),
}

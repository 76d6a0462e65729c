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
    "assignments": (
        contract_check("assignments"),
        contract_check("unclassified_facts"),
        contract_check("taxonomy_proposals"),
        Check(
            "assignments_rest_on_what_is_there",
            "Subjects, categories and facts of assignments are there.",
            lambda subject: invariants.assignments_rest_on_what_is_there(subject.lake, subject.key),
        ),
        Check(
            "conditions_of_assignments_are_those_of_their_facts",
            "Assignments keep the conditions of their facts; those of different facts are not added up.",
            lambda subject: invariants.conditions_of_assignments_are_those_of_their_facts(subject.lake, subject.key),
        ),
        Check(
            "every_fact_is_sorted_or_listed",
            "Every fact is sorted, or listed as unclassified, dimension by dimension.",
            lambda subject: invariants.every_fact_is_sorted_or_listed(subject.lake, subject.key),
        ),
    ),
    "relations": (
        contract_check("relations"),
        Check(
            "relations_rest_on_what_is_there",
            "Both ends of every relation are there, and the facts that it rests on.",
            lambda subject: invariants.relations_rest_on_what_is_there(subject.lake, subject.key),
        ),
        Check(
            "numbers_of_relations_stand_in_their_facts",
            "What a relation reports stands in the quantities of its facts.",
            lambda subject: invariants.numbers_of_relations_stand_in_their_facts(subject.lake, subject.key),
        ),
        Check(
            "citations_of_the_collection_are_relations",
            "Citations between papers of the collection are relations of it, and no others.",
            lambda subject: invariants.citations_of_the_collection_are_relations(subject.lake, subject.key),
        ),
    ),
}

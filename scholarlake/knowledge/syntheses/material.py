"""What accounts of a collection are made of: its facts, and what organizes them, in reach of each other.

Facts that a verifier found failed, and those of withdrawn papers, are no material. What does not belong here: what is selected for an
account (`bundles`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from scholarlake.knowledge.objects import Context
from scholarlake.knowledge.registry.matching import folded
from scholarlake.knowledge.syntheses.grounds import Ground, Works, ground_of, works_of
from scholarlake.lake.home import Lake


@dataclass(frozen=True)
class Stated:
    """A fact as material. conditions: kind and text, folded, by which two settings are told for the same."""

    id: str
    paper: str
    n: int
    type: str
    subject: str
    statement: str
    context: tuple[Context, ...]
    quantities: tuple[Mapping[str, Any], ...]
    verification: str

    @property
    def conditions(self) -> frozenset[tuple[str, str]]:
        return frozenset((one.kind, folded(one.text)) for one in self.context)


@dataclass(frozen=True)
class Entity:
    id: str
    name: str
    type: str


@dataclass(frozen=True)
class Assigned:
    """What belongs to a category, and the facts that say so."""

    id: str
    category: str
    subject_kind: str
    subject_id: str
    subject: str
    basis: tuple[str, ...]
    papers: tuple[str, ...]
    inference: str
    certainty: str


@dataclass(frozen=True)
class Category:
    id: str
    name: str
    dimension: str
    criterion: str


@dataclass(frozen=True)
class Opposed:
    """A relation that says that two things contradict each other."""

    id: str
    source: str
    target: str
    source_id: str
    basis: tuple[str, ...]


@dataclass
class Material:
    """A collection's. subjects, mentions: entity → facts that are about it, and facts that mention it at all; grounds: all that may be
    cited."""

    collection: str
    facts: Mapping[str, Stated] = field(default_factory=dict)
    entities: Mapping[str, Entity] = field(default_factory=dict)
    subjects: Mapping[str, Sequence[str]] = field(default_factory=dict)
    mentions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    assigned: Sequence[Assigned] = ()
    categories: Mapping[str, Category] = field(default_factory=dict)
    opposed: Sequence[Opposed] = ()
    grounds: Mapping[str, Ground] = field(default_factory=dict)
    works: Works = field(default_factory=Works)

    def sources(self, facts: Iterable[str]) -> frozenset[str]:
        return self.works.sources(self.facts[one].paper for one in facts)


def material_of(lake: Lake, collection: str) -> Material:
    """What the tables hold of a collection."""
    mine = pl.col("collection") == collection
    members = lake.scan("collections").filter(mine).select("paper_id")
    own = lake.scan("facts").join(members, on="paper_id", how="semi").collect().to_dicts()
    own += lake.scan("attended_facts").filter(mine).drop("collection").collect().to_dicts()
    assignments, relations = (lake.scan(name).filter(mine).collect().to_dicts() for name in ("assignments", "relations"))
    works = works_of(lake, {row["paper_id"] for row in own} | {paper for row in assignments for paper in row["papers"]})
    facts = {row["fact_id"]: _stated(row) for row in own if row["verification"] != "failed" and works.counts(row["paper_id"])}
    sound = [row for row in assignments if row["verification"] != "failed" and any(works.counts(paper) for paper in row["papers"])]
    named = [row for row in relations if row["basis"] and row["verification"] != "failed" and set(row["basis"]) <= facts.keys()]
    mentions = lake.scan("entity_mentions").filter(mine).select("entity_id", "fact_id", "role").unique().collect()
    grounds = [
        *(ground_of("fact", row) for row in own if row["fact_id"] in facts),
        *(ground_of("assignment", row) for row in sound),
        *(ground_of("relation", row) for row in named),
    ]
    return Material(
        collection,
        facts,
        {id: Entity(id, name, type) for id, name, type in _columns(lake, "entities", collection, "entity_id", "name", "type")},
        _facts_by_entity(mentions.filter(pl.col("role") == "subject"), facts),
        _facts_by_entity(mentions, facts),
        [_assigned(row) for row in sorted(sound, key=lambda row: str(row["assignment_id"]))],
        {row[0]: Category(*row) for row in _columns(lake, "taxonomies", collection, "category_id", "name", "dimension", "criterion")},
        [
            Opposed(row["relation_id"], row["source"] or "", row["target"] or "", row["source_id"], tuple(row["basis"]))
            for row in sorted(named, key=lambda row: str(row["relation_id"]))
            if row["relation"] == "contradicts"
        ],
        {one.object_id: one for one in grounds},
        works,
    )


def _columns(lake: Lake, name: str, collection: str, *columns: str) -> list[tuple[str, ...]]:
    return sorted(lake.scan(name).filter(pl.col("collection") == collection).select(columns).collect().iter_rows())


def _facts_by_entity(mentions: pl.DataFrame, facts: Mapping[str, Stated]) -> dict[str, list[str]]:
    """Entity → its facts, in the order of papers and of reading."""
    found: dict[str, set[str]] = {}
    for entity, fact in mentions.select("entity_id", "fact_id").iter_rows():
        if fact in facts:
            found.setdefault(entity, set()).add(fact)
    return {entity: sorted(some, key=lambda one: _place(facts[one])) for entity, some in found.items()}


def _place(one: Stated) -> tuple[str, int, str]:
    return one.paper, one.n, one.id


def in_order(facts: Iterable[Stated]) -> list[Stated]:
    return sorted(facts, key=_place)


def _stated(row: Mapping[str, Any]) -> Stated:
    context = tuple(Context(entry["kind"], entry["text"]) for entry in row["context"])
    return Stated(
        row["fact_id"],
        row["paper_id"],
        row["n"],
        row["type"],
        row["subject"],
        row["statement"],
        context,
        tuple(row["quantities"]),
        row["verification"],
    )


def _assigned(row: Mapping[str, Any]) -> Assigned:
    return Assigned(
        row["assignment_id"],
        row["category_id"],
        row["subject_kind"],
        row["subject_id"],
        row["subject"],
        tuple(row["basis"]),
        tuple(row["papers"]),
        row["inference"],
        row["certainty"],
    )

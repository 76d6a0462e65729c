"""A collection of hand-made papers with facts, entities, assignments, relations and syntheses, and a registry over them.

A world is what the tables of the three layers hold; `lay_down` writes it as the stages do, and `registered` takes it over.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from scholarlake.knowledge.objects import evidence_hash
from scholarlake.knowledge.registry.build import RegistryReport, build_registry
from scholarlake.lake import delta, releases
from scholarlake.lake.contracts import TABLES, table
from scholarlake.lake.files import write_json
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from tests.assets.checked_lake import frame_of

RUN = delta.Commit("run", "1")
COLLECTION = "some"
TAXONOMY = digest(["taxonomy"])
FAMILY = "method-family/gradient-tables"


@dataclass(frozen=True)
class Stated:
    """A fact of one sentence. name: what a test calls it by."""

    name: str
    paper: str
    statement: str
    subject: str
    type: str = "finding"
    context: tuple[tuple[str, str], ...] = ()
    quantities: tuple[tuple[str, str | None, str | None], ...] = ()  # value, unit, metric
    n: int = 0
    section: str = "Results"

    @property
    def id(self) -> str:
        return f"fact-{digest([self.paper, self.type, self.subject, self.statement, *(kind + text for kind, text in self.context)])}"

    @property
    def evidence(self) -> str:
        return f"{self.paper}:{self.n}"


@dataclass
class World:
    """What there is. papers: id → title; versions: preprint → what was published of it; entities: name → (type, names of facts)."""

    facts: list[Stated] = field(default_factory=list)
    papers: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    withdrawn: set[str] = field(default_factory=set)
    entities: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    members: dict[str, tuple[str, ...]] = field(default_factory=dict)  # entity → names of the facts that assign it to the family
    relations: list[tuple[str, str, str, tuple[str, ...], tuple[tuple[str, str], ...]]] = field(default_factory=list)

    def fact(self, name: str) -> Stated:
        return next(one for one in self.facts if one.name == name)

    def change(self, name: str, **values: Any) -> World:
        """The same with one fact changed."""
        return replace(self, facts=[replace(one, **values) if one.name == name else one for one in self.facts])

    def without(self, paper: str) -> World:
        """The same without a paper and all that it states."""
        gone = {one.name for one in self.facts if one.paper == paper}
        return replace(
            self,
            facts=[one for one in self.facts if one.paper != paper],
            papers={id: title for id, title in self.papers.items() if id != paper},
            entities={
                name: (type, kept)
                for name, (type, some) in self.entities.items()
                if (kept := tuple(one for one in some if one not in gone))
            },
            members={name: kept for name, some in self.members.items() if (kept := tuple(one for one in some if one not in gone))},
            relations=[one for one in self.relations if not set(one[3]) & gone],
        )

    def entity(self, name: str) -> str:
        return f"entity-{digest([COLLECTION, self.entities[name][0], name.casefold()])}"

    def assignment(self, name: str) -> str:
        return f"assignment-{digest([COLLECTION, self.entity(name), FAMILY, *sorted(self.fact(one).id for one in self.members[name])])}"

    def relation(self, n: int) -> str:
        source, relation, target, some, payload = self.relations[n]
        return f"relation-{digest([source, relation, target, *(self.fact(one).id for one in some), *map(str, payload)])}"

    # -- as tables -------------------------------------------------------------------------------------------------------

    def lay_down(self, lake: Lake) -> None:
        for name, rows in self.rows(lake).items():
            by = table(name).partition_by
            wanted: dict[Any, list[dict[str, Any]]] = {partition: [] for partition in delta.partitions(lake, name)} if by else {None: []}
            for row in rows:
                wanted.setdefault(row[by] if by else None, []).append(row)
            for partition, some in wanted.items():
                delta.write_partition(lake, name, partition, frame_of(name, some), RUN)

    def rows(self, lake: Lake) -> dict[str, list[dict[str, Any]]]:
        def of(paper: str) -> dict[str, Any]:
            return {"paper_id": paper, "shard": lake.shard_of(paper)}

        def conditions(some: tuple[str, ...]) -> list[dict[str, str]]:
            return [{"kind": kind, "text": text} for one in some for kind, text in self.fact(one).context]

        there = {one.name: one for one in self.facts}
        return {
            "papers": [
                {**of(id), "title": title, "version_of": self.versions.get(id), "withdrawn": id in self.withdrawn}
                for id, title in self.papers.items()
            ],
            "collections": [{**of(id), "collection": COLLECTION, "rank": n} for n, id in enumerate(self.papers, 1)],
            "documents": [{**of(id), "title": title, "text": title, "extent": "full_text"} for id, title in self.papers.items()],
            "sentences": [
                {**of(one.paper), "sentence_id": one.evidence, "n": one.n, "text": one.statement, "sections": [one.section]}
                for one in {one.evidence: one for one in self.facts}.values()
            ],
            "facts": [
                {
                    **of(one.paper),
                    "fact_id": one.id,
                    "n": one.n,
                    "type": one.type,
                    "study_type": "quantitative",
                    "subject": one.subject,
                    "statement": one.statement,
                    "context": [{"kind": kind, "text": text} for kind, text in one.context],
                    "quantities": [
                        {"value": value, "number": None, "unit": unit, "metric": metric, "comparator": None}
                        for value, unit, metric in one.quantities
                    ],
                    "evidence": [one.evidence],
                    "evidence_hash": evidence_hash([one.statement]),
                    "verification": "unchecked",
                    "method": "extractive",
                }
                for one in self.facts
            ],
            "taxonomies": [
                {
                    "collection": COLLECTION,
                    "category_id": FAMILY,
                    "taxonomy": TAXONOMY,
                    "dimension": "method family",
                    "name": "gradient tables",
                    "criterion": "A stored table of earlier gradients is central to the method.",
                    "subject_types": ["method"],
                    "compares": True,
                    "origin": "supplied",
                }
            ]
            if self.members
            else [],
            "entities": [
                {
                    "entity_id": self.entity(name),
                    "collection": COLLECTION,
                    "type": type,
                    "name": name,
                    "keys": [name.casefold()],
                    "mentions": len(some),
                    "papers": sorted({there[one].paper for one in some}),
                    "certainty": "confirmed",
                }
                for name, (type, some) in self.entities.items()
            ],
            "entity_mentions": [
                {
                    "entity_id": self.entity(name),
                    "collection": COLLECTION,
                    "fact_id": there[one].id,
                    "paper_id": there[one].paper,
                    "role": "subject" if there[one].subject.casefold() == name.casefold() else "statement",
                    "surface": name,
                    "key": name.casefold(),
                }
                for name, (_, some) in self.entities.items()
                for one in some
            ],
            "assignments": [
                {
                    "assignment_id": self.assignment(name),
                    "collection": COLLECTION,
                    "taxonomy": TAXONOMY,
                    "category_id": FAMILY,
                    "subject_kind": "entity",
                    "subject_id": self.entity(name),
                    "subject": name,
                    "basis": sorted(there[one].id for one in some),
                    "papers": sorted({there[one].paper for one in some}),
                    "conditions": conditions(some),
                    "rationale": "It keeps a table.",
                    "inference": "inferred",
                    "certainty": "confirmed",
                    "verification": "unchecked",
                }
                for name, some in self.members.items()
            ],
            "relations": [
                {
                    "relation_id": self.relation(n),
                    "collection": COLLECTION,
                    "relation": relation,
                    "source_kind": "entity",
                    "source_id": self.entity(source),
                    "source": source,
                    "target_kind": "entity",
                    "target_id": self.entity(target),
                    "target": target,
                    "payload": [{"name": name, "value": value} for name, value in payload],
                    "basis": sorted(there[one].id for one in some),
                    "evidence": sorted(there[one].evidence for one in some),
                    "conditions": conditions(some),
                    "certainty": "confirmed",
                    "verification": "unchecked",
                }
                for n, (source, relation, target, some, payload) in enumerate(self.relations)
            ],
        }


def new_lake(folder: Path) -> Lake:
    return Lake.create(folder / "lake", 2)


def registered(lake: Lake, world: World, run_id: str = "run") -> RegistryReport:
    """The tables as the world is, and the registry brought up to them."""
    world.lay_down(lake)
    return build_registry(lake, delta.Commit(run_id, "1"))


def released(lake: Lake) -> releases.Release:
    """A release of the tables as they are, kept as others are."""
    pins = {
        name: releases.PinnedTable(lake.table_path(name).relative_to(lake.root).as_posix(), version, delta.count(lake, name))
        for name in TABLES
        if (version := delta.version(lake, name)) is not None
    }
    name = f"r{len(releases.names(lake)) + 1:04d}"
    made = releases.Release(name, "2001-01-01T00:00:00+00:00", lake.shards, {}, {}, pins, {}, {})
    write_json(lake.releases / f"{name}.json", asdict(made))
    return made


def assets(lake: Lake) -> dict[str, tuple[int, str]]:
    """Asset → the version that it stands at, and how."""
    from scholarlake.knowledge.registry import standing

    heads = standing.heads(standing.versions(lake))
    return {asset: (version, status) for asset, version, status in heads.select("asset_id", "version", "status").iter_rows()}

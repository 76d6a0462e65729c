"""A collection made by hand: five papers on the cooling of battery cells, with objects of every layer, indexed and released."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from scholarlake.knowledge.layer.index import ASSET, build_knowledge_index
from scholarlake.lake import contracts, delta
from scholarlake.lake.home import Lake
from scholarlake.models.config import open_embedder
from tests.unit.small_lake import COMMIT, EMBEDDER, frame, make_lake, paper, release

COLLECTION = "cooling"
TAXONOMY = "0" * 32
PAPERS = {
    "p1": "Channel cooling of pouch cells",
    "p2": "Immersion cooling at high discharge rates",
    "p3": "Wax plates for battery packs",
    "p4": "Immersion cooling at high discharge rates, a preprint",
    "p5": "A survey of thermal runaway",
}
YEARS = {"p1": 2018, "p2": 2020, "p3": 2021, "p4": 2019, "p5": 2022}
SENTENCES = {
    "p1": [
        "We cool pouch cells by water that flows through channels.",
        "At 2 C discharge the peak temperature was 41.5 °C.",
        "Leaks were not studied.",
    ],
    "p2": [
        "Cells lie in a dielectric liquid that boils at 61 °C.",
        "Immersion cooling kept the peak temperature at 36 °C at 2 C discharge.",
        "At 5 C discharge the peak temperature rose to 321 K.",
    ],
    "p3": [
        "Wax plates between the cells melt and take up heat.",
        "The pack stayed below 45 °C for 20 min without any pump.",
        "Immersion cooling needs more mass than wax plates.",
    ],
    "p4": ["Immersion cooling kept the peak temperature at 36 °C at 2 C discharge."],
    "p5": ["Thermal runaway begins when a separator melts.", "No study has measured runaway in C++ simulations of 深度学习 models."],
}


def fact_id(number: int) -> str:
    return f"fact-{number:032x}"


def object_id(kind: str, number: int) -> str:
    return f"{kind}-{number:032x}"


def condition(text: str, kind: str = "condition") -> dict[str, str]:
    return {"kind": kind, "text": text}


def quantity(value: str, unit: str | None, metric: str | None) -> dict[str, Any]:
    return {"value": value, "number": float(value), "unit": unit, "metric": metric, "comparator": None}


def _fact(number: int, paper_id: str, n: int, type: str, subject: str, evidence: int, **more: Any) -> dict[str, Any]:
    return {
        "fact_id": fact_id(number),
        "paper_id": paper_id,
        "n": n,
        "type": type,
        "study_type": "quantitative",
        "subject": subject,
        "statement": SENTENCES[paper_id][evidence],
        "evidence": [f"{paper_id}:{evidence}"],
        "evidence_hash": "0" * 32,
        "verification": "unchecked",
        "method": "extractive",
        **more,
    }


PEAK = "peak temperature"
FACTS = [
    _fact(1, "p1", 0, "method_description", "channel cooling", 0),
    _fact(2, "p1", 1, "finding", "channel cooling", 1, context=[condition("2 C discharge")], quantities=[quantity("41.5", "°C", PEAK)]),
    _fact(3, "p1", 2, "limitation", "leaks", 2),
    _fact(4, "p2", 0, "method_description", "immersion cooling", 0, verification="supported"),
    _fact(5, "p2", 1, "finding", "immersion cooling", 1, context=[condition("2 C discharge")], quantities=[quantity("36", "°C", PEAK)]),
    _fact(6, "p2", 2, "finding", "immersion cooling", 2, context=[condition("5 C discharge")], quantities=[quantity("321", "K", PEAK)]),
    _fact(7, "p3", 0, "method_description", "wax plates", 0),
    _fact(
        8,
        "p3",
        1,
        "finding",
        "wax plates",
        1,
        context=[condition("without any pump"), condition("pack", "setting")],
        quantities=[quantity("45", "°C", "temperature"), quantity("20", "min", None)],
        verification="failed",
    ),
    _fact(9, "p4", 0, "finding", "immersion cooling", 0, context=[condition("2 C discharge")], quantities=[quantity("36", "°C", PEAK)]),
    _fact(10, "p5", 0, "definition", "thermal runaway", 0),
]
ATTENDED = [
    {**_fact(11, "p3", 0, "finding", "immersion cooling", 2), "taxonomy": TAXONOMY, "context": [condition("wax plates", "baseline")]},
]
_CATEGORIES = [
    ("method-family/liquid", "method family", "liquid cooling", None, ["method"]),
    ("method-family/immersion", "method family", "immersion", "method-family/liquid", ["method"]),
    ("method-family/latent-heat", "method family", "latent heat", None, ["method"]),
    ("load/high", "load", "high load", None, []),
]
TAXONOMIES = [
    {
        "category_id": name,
        "taxonomy": TAXONOMY,
        "n": n,
        "dimension": dimension,
        "name": called,
        "criterion": f"it is {called}",
        "parent": parent,
        "subject_types": types,
        "compares": dimension == "load",
        "origin": "supplied",
    }
    for n, (name, dimension, called, parent, types) in enumerate(_CATEGORIES)
]
CHANNEL, IMMERSION, WAX, PACK = (object_id("entity", number) for number in range(1, 5))
ENTITIES = [
    {"entity_id": CHANNEL, "type": "method", "name": "channel cooling", "papers": ["p1"], "mentions": 2, "keys": ["channel cooling"]},
    {
        "entity_id": IMMERSION,
        "type": "method",
        "name": "immersion cooling",
        "aliases": ["dielectric immersion"],
        "keys": ["dielectric immersion", "immersion cooling"],
        "papers": ["p2", "p3", "p4"],
        "mentions": 5,
    },
    {"entity_id": WAX, "type": "material", "name": "wax plates", "papers": ["p3"], "mentions": 2, "keys": ["wax plate"]},
    {"entity_id": PACK, "type": "task", "name": "pack cooling", "papers": ["p3"], "mentions": 1, "keys": ["pack cooling"]},
]
_MENTIONS = {CHANNEL: (1, 2), IMMERSION: (4, 5, 6, 9, 11), WAX: (7, 8), PACK: (8,)}
_PAPER_OF = {row["fact_id"]: row["paper_id"] for row in [*FACTS, *ATTENDED]}


def _assignment(number: int, category: str, subject: str, name: str, *facts: int, **more: Any) -> dict[str, Any]:
    return {
        "assignment_id": object_id("assignment", number),
        "taxonomy": TAXONOMY,
        "category_id": category,
        "subject_kind": "paper" if subject in PAPERS else "entity",
        "subject_id": subject,
        "subject": name,
        "basis": [fact_id(one) for one in facts],
        "papers": sorted({_PAPER_OF[fact_id(one)] for one in facts}),
        "rationale": f"{name} meets the criterion by what its description says.",
        "inference": "inferred",
        "certainty": "likely",
        "verification": "unchecked",
        **more,
    }


ASSIGNMENTS = [
    _assignment(1, "method-family/liquid", CHANNEL, "channel cooling", 1),
    _assignment(2, "method-family/immersion", IMMERSION, "immersion cooling", 4),
    _assignment(3, "method-family/latent-heat", WAX, "wax plates", 7, certainty="confirmed"),
    _assignment(4, "load/high", "p2", PAPERS["p2"], 6, conditions=[condition("5 C discharge")]),
]


def _relation(number: int, relation: str, source: str, target: str, *facts: int, **more: Any) -> dict[str, Any]:
    names = {**{row["entity_id"]: row["name"] for row in ENTITIES}, **PAPERS}
    return {
        "relation_id": object_id("relation", number),
        "relation": relation,
        "source_kind": "paper" if source in PAPERS else "entity",
        "source_id": source,
        "source": names[source],
        "target_kind": "paper" if target in PAPERS else "entity",
        "target_id": target,
        "target": names[target],
        "basis": [fact_id(one) for one in facts],
        "certainty": "likely",
        "verification": "unchecked",
        **more,
    }


RELATIONS = [
    _relation(1, "applied_to", WAX, PACK, 8, evidence=["p3:1"], payload=[{"name": "temperature", "value": "45 °C"}]),
    _relation(2, "compared_against", IMMERSION, WAX, 11, evidence=["p3:2"]),
    _relation(3, "cites", "p2", "p1", certainty="confirmed"),
    _relation(4, "cites", "p3", "p2", certainty="confirmed"),
    _relation(5, "cites", "p5", "p2", certainty="confirmed"),
]
SYNTHESIS = object_id("synthesis", 1)
SYNTHESES = [
    {
        "synthesis_id": SYNTHESIS,
        "kind": "context_difference",
        "topic": "peak temperature of liquid cooling",
        "category_id": "method-family/liquid",
        "title": "Peak temperatures under liquid cooling",
        "account": "At 2 C discharge immersion kept cells cooler than channels did. At 5 C discharge immersion alone was measured.",
        "claims": [
            {"text": "At 2 C discharge immersion kept cells cooler than channels did.", "cites": [fact_id(2), fact_id(5)]},
            {"text": "At 5 C discharge immersion alone was measured.", "cites": [fact_id(6)]},
        ],
        "conditions": [condition("2 C discharge")],
        "studies": ["p1", "p2", "p4"],
        "sources": 2,
        "basis": [
            {"object_id": fact_id(2), "kind": "fact", "role": "supporting", "why": "channels"},
            {"object_id": fact_id(5), "kind": "fact", "role": "supporting", "why": "immersion"},
            {"object_id": fact_id(6), "kind": "fact", "role": "limiting", "why": "another load"},
            {"object_id": object_id("assignment", 2), "kind": "assignment", "role": "supporting", "why": "the family"},
        ],
        "review": "unreviewed",
    }
]

_LATER = (
    contracts.TAXONOMIES,
    contracts.ATTENDED_FACTS,
    contracts.ENTITIES,
    contracts.ENTITY_MENTIONS,
    contracts.ASSIGNMENTS,
    contracts.RELATIONS,
    contracts.SYNTHESES,
    contracts.REGISTRY,
    contracts.REGISTRY_DEPENDENCIES,
    contracts.REGISTRY_EVENTS,
    contracts.KEPT_VIEWS,
)


@contextmanager
def all_tables() -> Iterator[None]:
    """Every contract listed, whether or not a stage writes it yet."""
    with patch.dict(contracts.TABLES, {table.name: table for table in _LATER}):
        yield


def tables() -> dict[str, list[dict[str, Any]]]:
    """The rows of every table of the layers, but for what is the same in all of them."""
    return {
        "sentences": [
            {"sentence_id": f"{name}:{n}", "paper_id": name, "n": n, "kind": "abstract", "text": text, "end": len(text)}
            for name, texts in SENTENCES.items()
            for n, text in enumerate(texts)
        ],
        "facts": FACTS,
        "attended_facts": ATTENDED,
        "taxonomies": TAXONOMIES,
        "entities": [{"certainty": "confirmed", **row} for row in ENTITIES],
        "entity_mentions": [
            {
                "entity_id": entity,
                "fact_id": fact_id(one),
                "paper_id": _PAPER_OF[fact_id(one)],
                "role": "subject",
                "surface": "it",
                "key": "it",
                "rule": "same_key",
            }
            for entity, facts in _MENTIONS.items()
            for one in facts
        ],
        "assignments": ASSIGNMENTS,
        "relations": RELATIONS,
        "syntheses": SYNTHESES,
    }


def write(lake: Lake, name: str, rows: Iterable[Mapping[str, Any]], collection: str = COLLECTION) -> None:
    """Make rows all that a table has of a collection, or of its papers."""
    contract = contracts.table(name)
    if contract.partition_by == "shard":
        placed = [{**row, "shard": lake.shard_of(row["paper_id"]), "content_hash": "0" * 32} for row in rows]
        for shard in lake.shard_keys:
            delta.write_partition(lake, name, shard, frame(name, [row for row in placed if row["shard"] == shard]), COMMIT)
        return
    of = [{**row, "collection": collection, "shard": lake.shard_of(row.get("paper_id", ""))} for row in rows]
    delta.write_partition(lake, name, collection, frame(name, of), COMMIT)


def made(root: Path) -> Lake:
    """The lake with all its tables, without an index. Within `all_tables`."""
    papers = [paper(name, title, year=YEARS[name], version_of="p2" if name == "p4" else None) for name, title in PAPERS.items()]
    lake = make_lake(root, papers)
    members = [{"paper_id": name, "rank": rank, "role": "member", "method": "conditions"} for rank, name in enumerate(PAPERS, 1)]
    write(lake, "collections", members)
    for name, rows in tables().items():
        write(lake, name, rows)
    return lake


def released(lake: Lake, name: str = "r0001") -> Lake:
    """The lake with its collection indexed and released."""
    embedder = open_embedder(EMBEDDER, "hashing")
    facts = {"name": "hashing", "fingerprint": embedder.fingerprint, "endpoint": EMBEDDER.model_dump(exclude_defaults=True)}
    index = build_knowledge_index(lake, COLLECTION, embedder).artifact
    release(lake, name, embedder=facts, **{ASSET: {COLLECTION: index}})
    return lake

"""`relations` of a collection: typed links between its entities and papers, anchored in facts, and the citations between its papers.

What does not belong here: which relations a fact says (`relating`, `relating_by_model`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from scholarlake.knowledge.organization.material import facts_of, members_of, titles_of
from scholarlake.knowledge.organization.relating import RULES, End, Named, Related, opposed, related
from scholarlake.knowledge.organization.relating_by_model import proposals
from scholarlake.lake import contracts, delta
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.models.chat_model import ChatModel


@dataclass(frozen=True)
class RelationsReport:
    """What was made. edges: for a picture, those to the most related first: source, relation, target, how many lead there."""

    by_relation: Mapping[str, int]
    by_certainty: Mapping[str, int]
    with_numbers: int
    edges: Sequence[tuple[str, str, str, int]]
    written: delta.Written


def build_relations(lake: Lake, collection: str, run: delta.Commit, organizer: ChatModel | None = None) -> RelationsReport:
    """Write the relations of a collection."""
    facts = facts_of(lake, collection)
    named = _named(lake, collection)
    found = [*related(facts, named), *opposed(facts, named)]
    if organizer is not None:
        found += proposals(facts, named, organizer)
    titles = titles_of(lake, collection)
    rows = [_row(collection, one, titles, run) for one in _distinct(found)]
    rows += _cited(lake, collection, titles, run)
    frame = pl.DataFrame(rows, schema=contracts.RELATIONS.schema)
    written = delta.write_partition(lake, "relations", collection, frame, run)
    linked = [row for row in rows if row["relation"] != "cites"]
    sources = Counter(row["target_id"] for row in linked)
    edges = {(str(row["source"]), row["relation"], str(row["target"]), sources[row["target_id"]]) for row in linked}
    return RelationsReport(
        by_relation=_counted(row["relation"] for row in rows),
        by_certainty=_counted(row["certainty"] for row in rows),
        with_numbers=sum(bool(row["payload"]) for row in rows),
        edges=sorted(edges, key=lambda one: (-one[3], one[2], one)),
        written=written,
    )


def _named(lake: Lake, collection: str) -> dict[str, list[Named]]:
    """fact → the entities that it names, by id."""
    mine = pl.col("collection") == collection
    entities = {
        entity_id: (name, type_)
        for entity_id, name, type_ in lake.scan("entities").filter(mine).select("entity_id", "name", "type").collect().iter_rows()
    }
    keys: dict[tuple[str, str], set[str]] = defaultdict(set)
    roles: dict[tuple[str, str], set[str]] = defaultdict(set)
    columns = ["fact_id", "entity_id", "key", "role"]
    for fact_id, entity_id, key, role in lake.scan("entity_mentions").filter(mine).select(columns).collect().iter_rows():
        keys[fact_id, entity_id].add(key)
        roles[fact_id, entity_id].add(role)
    found: dict[str, list[Named]] = defaultdict(list)
    for fact_id, entity_id in sorted(keys):
        name, type_ = entities[entity_id]
        at = (fact_id, entity_id)
        found[fact_id].append(Named(End("entity", entity_id, name), type_, frozenset(keys[at]), frozenset(roles[at])))
    return found


def _distinct(found: Iterable[Related]) -> list[Related]:
    """Each relation of two ends on the same facts once; the rule's where a model says it too, and no doubt is left of it then."""
    kept: dict[tuple[Any, ...], Related] = {}
    for one in found:
        kept.setdefault((one.relation, one.source.id, one.target.id, tuple(fact.fact_id for fact in one.basis)), one)
    return [kept[key] for key in sorted(kept)]


def _row(collection: str, one: Related, titles: Mapping[str, str | None], run: delta.Commit) -> dict[str, Any]:
    basis = sorted({fact.fact_id for fact in one.basis})
    said = [collection, one.relation, one.source.id, one.target.id, *(f"{name}={value}" for name, value in one.payload), "basis", *basis]
    return {
        "relation_id": f"relation-{digest(said)}",
        "collection": collection,
        "relation": one.relation,
        **_ends(one.source, one.target, titles),
        "payload": [{"name": name, "value": value} for name, value in one.payload],
        "basis": basis,
        "evidence": sorted({sentence for fact in one.basis for sentence in fact.evidence}),
        "conditions": [{"kind": kind, "text": text} for kind, text in one.conditions],
        "certainty": one.certainty,
        "verification": "unchecked",
        "votes": [],
        "method": one.method,
        "code_version": run.code_version,
    }


def _ends(source: End, target: End, titles: Mapping[str, str | None]) -> dict[str, Any]:
    return {
        "source_kind": source.kind,
        "source_id": source.id,
        "source": source.name or titles.get(source.id),
        "target_kind": target.kind,
        "target_id": target.id,
        "target": target.name or titles.get(target.id),
    }


def _cited(lake: Lake, collection: str, titles: Mapping[str, str | None], run: delta.Commit) -> list[dict[str, Any]]:
    """Citations between papers of the collection."""
    members = members_of(lake, collection)
    inside = members["paper_id"].implode()
    edges = lake.scan("citations").filter(pl.col("shard").is_in(members["shard"].unique().implode()))
    found = edges.filter(pl.col("citing_id").is_in(inside) & pl.col("cited_id").is_in(inside)).select("citing_id", "cited_id").collect()
    return [
        {
            "relation_id": f"relation-{digest([collection, 'cites', citing, cited])}",
            "collection": collection,
            "relation": "cites",
            **_ends(End("paper", citing, None), End("paper", cited, None), titles),
            "payload": [],
            "basis": [],
            "evidence": [],
            "conditions": [],
            "certainty": "confirmed",
            "verification": "unchecked",
            "votes": [],
            "method": RULES,
            "code_version": run.code_version,
        }
        for citing, cited in found.unique().sort("citing_id", "cited_id").iter_rows()
    ]


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))

"""`entities`, `entity_mentions` and `entity_decisions` of a collection: its research objects, each under one identity.

What does not belong here: which stretches name them (`mentions`), which names are one (`merging`, `adjudication`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from scholarlake.knowledge.organization.adjudication import Adjudicator
from scholarlake.knowledge.organization.material import facts_of, short_forms_of
from scholarlake.knowledge.organization.mentions import mentions_of
from scholarlake.knowledge.organization.merging import RULES, Decision, Group, Placed, Rulings, forms_of, grounds, merged, place
from scholarlake.knowledge.organization.taxonomy import taxonomy_of
from scholarlake.lake import contracts, delta
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake


@dataclass(frozen=True)
class EntitiesReport:
    """What was made. by_rule: decisions by what decided and how; shared: entities of several papers; unknown_rulings: pairs of the
    taxonomy file that name nothing here."""

    by_type: Mapping[str, int]
    by_rule: Mapping[str, int]
    mentions: int
    shared: int
    doubtful: int
    unknown_rulings: int
    commonest: Mapping[str, int]
    written: Mapping[str, delta.Written]

    @property
    def rows(self) -> int:
        return self.written["entities"].rows


def build_entities(
    lake: Lake, collection: str, rulings: Rulings, run: delta.Commit, adjudicator: Adjudicator | None = None
) -> EntitiesReport:
    """Write the entities of a collection, as its facts name them and the rulings have it."""
    facts = facts_of(lake, collection)
    placed = place(mentions_of(facts, taxonomy_of(lake, collection).known), short_forms := short_forms_of(lake, collection), rulings)
    forms = forms_of(placed)
    decisions = grounds(forms, short_forms, rulings)
    if adjudicator is not None:
        decisions = adjudicator.judged(decisions, forms, placed, facts)
    ruled = [one for one in decisions if one.rule == "ruling"]
    groups, decisions = merged(forms, decisions)
    ids = {node: entity_id(collection, group) for group in groups for node in group.nodes}
    types = {node: group.type for group in groups for node in group.nodes}
    adjudicated = {node: one.method for one in decisions if one.verdict == "same" and one.method != RULES for node in (one.left, one.right)}
    found = {
        "entities": [_of_group(collection, group, placed_in, adjudicated, run) for group, placed_in in _with_mentions(groups, placed)],
        "entity_mentions": _of_mentions(collection, placed, ids, run),
        "entity_decisions": [_of_decision(collection, one, types, run) for one in decisions],
    }
    written = {
        name: delta.write_partition(lake, name, collection, pl.DataFrame(rows, schema=contracts.table(name).schema), run)
        for name, rows in found.items()
    }
    shown = sorted(found["entities"], key=lambda row: (-len(row["papers"]), row["name"]))
    return EntitiesReport(
        by_type=_counted(row["type"] for row in found["entities"]),
        by_rule=_counted(f"{one.rule}: {one.verdict}" for one in decisions),
        mentions=len(found["entity_mentions"]),
        shared=sum(len(row["papers"]) > 1 for row in found["entities"]),
        doubtful=sum(one.verdict == "doubtful" for one in decisions),
        unknown_rulings=len(rulings.same) + len(rulings.apart) - len(ruled),
        commonest={row["name"]: len(row["papers"]) for row in shown[:20]},
        written=written,
    )


def entity_id(collection: str, group: Group) -> str:
    return f"entity-{digest([collection, group.type, group.nodes[0]])}"


def _with_mentions(groups: Sequence[Group], placed: Sequence[Placed]) -> list[tuple[Group, list[Placed]]]:
    by_node: dict[str, list[Placed]] = defaultdict(list)
    for one in placed:
        by_node[one.node].append(one)
    return [(group, [one for node in group.nodes for one in by_node[node]]) for group in groups]


def _of_group(collection: str, group: Group, placed: Sequence[Placed], adjudicated: Mapping[str, str], run: delta.Commit) -> dict[str, Any]:
    name = group.name
    surfaces = {one.mention.surface for one in placed}
    methods = {adjudicated[node] for node in group.nodes if node in adjudicated} if "adjudicated" in group.rules else set()
    return {
        "entity_id": entity_id(collection, group),
        "collection": collection,
        "type": group.type,
        "name": name,
        "keys": group.nodes,
        "aliases": sorted(surfaces - {name}),
        "mentions": len(placed),
        "papers": sorted({one.mention.paper_id for one in placed}),
        "rules": sorted(group.rules),
        "certainty": group.certainty,
        "method": min(methods, default=RULES),
        "code_version": run.code_version,
    }


def _of_mentions(collection: str, placed: Sequence[Placed], ids: Mapping[str, str], run: delta.Commit) -> list[dict[str, Any]]:
    """A row for every mention; where several of one fact are the same entity in the same role and words, one."""
    found: dict[tuple[str, str, str, str], dict[str, Any]] = {}
    for one in placed:
        mention = one.mention
        row = {
            "collection": collection,
            "entity_id": ids[one.node],
            "fact_id": mention.fact_id,
            "paper_id": mention.paper_id,
            "role": mention.role,
            "surface": mention.surface,
            "key": mention.key,
            "rule": one.rule,
            "code_version": run.code_version,
        }
        found.setdefault((row["entity_id"], mention.fact_id, mention.role, mention.surface), row)
    return list(found.values())


def _of_decision(collection: str, decision: Decision, types: Mapping[str, str], run: delta.Commit) -> dict[str, Any]:
    return {
        "collection": collection,
        "type": types[decision.left],
        "left": decision.left,
        "right": decision.right,
        "verdict": decision.verdict,
        "rule": decision.rule,
        "reason": decision.reason,
        "votes": [asdict(vote) for vote in decision.votes],
        "method": decision.method,
        "code_version": run.code_version,
    }


def _counted(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))

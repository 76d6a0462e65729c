"""What tasks register: accounts, hypotheses and notes, by the door that the layers use: validated, identified, versioned, written at once.

What a task made is named by its chain and stage, survives builds, and is marked where what it rests on moves. What does not belong here:
settling such marks (`recheck`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson
import polars as pl

from scholarlake.errors import NotFound, ScholarLakeError
from scholarlake.knowledge.registry import journal, standing
from scholarlake.knowledge.registry.draft import Draft
from scholarlake.knowledge.registry.matching import folded
from scholarlake.knowledge.syntheses.grounds import Ground, Works, ground_of, works_of
from scholarlake.knowledge.syntheses.objects import Proposal, Synthesis, content_digest, row_of
from scholarlake.knowledge.syntheses.validation import LEAST_SOURCES, account_of, faults
from scholarlake.lake import locks
from scholarlake.lake.contracts import PIPELINE, SYNTHESIS_KINDS
from scholarlake.lake.delta import Commit
from scholarlake.lake.hashing import text_hash
from scholarlake.lake.home import Lake

HYPOTHESIS, NOTE = "hypothesis", "note"
_CITABLE = ("fact", "assignment", "relation", "synthesis")
_VERSION = "1"  # of the code that registers, as commits name it

Outcome = Literal["registered", "reused", "revised"]


class RegistrationRefused(ScholarLakeError):
    """What was to be registered is none of what it is said to be. Nothing was written. reason: the first of
    `contracts.SYNTHESIS_FAULTS`; details: all that is wrong."""

    def __init__(self, reason: str, details: tuple[str, ...]) -> None:
        super().__init__(f"not registered ({reason}): {'; '.join(details)}")
        self.reason = reason
        self.details = details


@dataclass(frozen=True)
class Registered:
    """What became of what a task brought: the object, and whether it is new, was there already, or revised one."""

    asset_id: str
    version: int
    object_id: str
    kind: str
    outcome: Outcome


def register(
    lake: Lake, proposal: Proposal, *, chain: str, stage: str, revises: str | None = None, reason: str | None = None
) -> Registered:
    """Register what a task made. proposal: an account of one of the kinds of syntheses, a "hypothesis", or a "note"; its grounds are named
    by the ids of versions that stand. What says the same as something that stands is that.

    revises: an object that this is to be a new version of, for which a reason is given. Raises RegistrationRefused where a ground does not
    stand, a number is not in the grounds, or a source is missing; NotFound where there is no object to revise.
    """
    _require_origin(chain, stage)
    if revises is not None and not (reason or "").strip():
        raise ScholarLakeError("a revision says why; give a reason")
    run = Commit(f"{chain}/{stage}", _VERSION)
    with locks.at_work(lake), journal.held(lake, run):
        draft = Draft(lake, run.run_id)
        said, kind = _validated(lake, draft, proposal)
        object_id = id_of(said, kind)
        found = None if revises else _match(lake, draft, said, kind, object_id)
        if found is not None and found["status"] in standing.LIVE:
            draft.tell("reused", [(found, f"the same was made in {chain}, {stage}", None)], chain=chain, stage=stage)
            _commit(lake, draft, object_id, (), run)
            return Registered(found["asset_id"], found["version"], found["object_id"], kind, "reused")
        old = found or (_to_revise(lake, draft, revises, kind) if revises else None)
        if old is None:
            version = draft.version_of(_row(said, kind, chain, stage), object_id, 1, None, None)
            draft.put_all([version])
            draft.tell("registered", [(version, "it is new", None)])
        else:
            version = behind(draft, old, said, kind, reason or "it was made again", chain=chain, stage=stage)
        pairs = tuple((entry.object_id, entry.role) for entry in said.said.basis)
        _commit(lake, draft, object_id, pairs, run)
    return Registered(version["asset_id"], version["version"], object_id, kind, "revised" if old else "registered")


def retract(lake: Lake, id: str, *, reason: str, chain: str, stage: str) -> None:
    """Take back what a task made; it stays readable. Raises NotFound where there is none, ScholarLakeError where a stage made it."""
    _require_origin(chain, stage)
    run = Commit(f"{chain}/{stage}", _VERSION)
    with locks.at_work(lake), journal.held(lake, run):
        draft = Draft(lake, run.run_id)
        row = _standing(lake, draft, id)
        if row["chain"] == PIPELINE:
            raise ScholarLakeError(f"{id} was made by {row['stage']}; change what it is made of, or revise it")
        if row["status"] == "retracted":
            return
        draft.causes[row["asset_id"]] = reason
        draft.put_all([draft.moved(row, "retracted", reason)])
        draft.tell("retracted", [(row, reason, None)], chain=chain, stage=stage)
        _commit(lake, draft, row["object_id"], (), run)


# -- what is registered ------------------------------------------------------------------------------------------------


def _validated(lake: Lake, draft: Draft, proposal: Proposal) -> tuple[Synthesis, str]:
    ids = {one.object_id for one in proposal.basis} | {id for claim in proposal.claims for id in claim.cites}
    named = standing.by_object(draft.known.filter(pl.col("object_id").is_in(pl.Series(sorted(ids), dtype=pl.String).implode())))
    stand = named.filter(pl.col("status").is_in(standing.LIVE))
    rows = standing.contents(lake, stand.select("asset_id", "version", "kind"))
    fallen = named.join(stand, on="object_id", how="anti")
    why = {id: f"{id} is {status}: {reason}" for id, status, reason in fallen.select("object_id", "status", "reason").iter_rows()}
    return validated(lake, proposal, {row["object_id"]: row for row in rows.iter_rows(named=True)}, why)


def validated(
    lake: Lake, proposal: Proposal, known: Mapping[str, Mapping[str, Any]], fallen: Mapping[str, str] | None = None
) -> tuple[Synthesis, str]:
    """What a proposal is, with its kind in the registry. known: rows of the registry that it names, by object id; fallen: what became of
    those that do not stand. Raises RegistrationRefused with all that is wrong."""
    grounds = {id: ground_of(row["kind"], orjson.loads(row["content"])) for id, row in known.items() if row["kind"] in _CITABLE}
    works = works_of(lake, (paper for one in grounds.values() for paper in one.papers))
    kind = "synthesis" if proposal.kind in SYNTHESIS_KINDS else proposal.kind
    wrong = list(_faults(proposal, kind, grounds, works))
    if wrong:
        raise RegistrationRefused(wrong[0][0], tuple(dict.fromkeys([*(detail for _, detail in wrong), *(fallen or {}).values()])))
    return account_of(proposal, grounds, works), kind


def id_of(said: Synthesis, kind: str) -> str:
    return f"{kind}-{content_digest(said.said, said.studies)}"


def _faults(proposal: Proposal, kind: str, grounds: Mapping[str, Ground], works: Works) -> list[tuple[str, str]]:
    least = LEAST_SOURCES if kind == "synthesis" else 0
    wrong = list(faults(proposal, grounds, works, (*SYNTHESIS_KINDS, HYPOTHESIS, NOTE), least))
    if kind != NOTE:
        return wrong
    # A note may say what it likes without a source; what it does cite is there.
    return [one for one in wrong if one[0] in ("missing_field", "unresolved_basis", "outside_scope")]


def _row(said: Synthesis, kind: str, chain: str, stage: str) -> dict[str, Any]:
    object_id = id_of(said, kind)
    content = orjson.dumps({**row_of(said), "synthesis_id": object_id}, option=orjson.OPT_SORT_KEYS).decode()
    return {
        "object_id": object_id,
        "kind": kind,
        "collection": said.said.collection,
        "title": said.said.title,
        "content": content,
        "content_hash": text_hash(content),
        "verification": None,
        "review": said.review,
        "chain": chain,
        "stage": stage,
        "method": said.said.method or "task",
    }


def behind(draft: Draft, old: Mapping[str, Any], said: Synthesis, kind: str, reason: str, *, chain: str, stage: str) -> dict[str, Any]:
    """A version behind another, which it supersedes."""
    asset = old["asset_id"]
    number = draft.last_versions([asset])[asset] + 1
    version = draft.version_of(_row(said, kind, chain, stage), asset, number, old["version"], reason)
    draft.causes[asset] = reason
    draft.put_all([draft.moved(old, "superseded", reason), version])
    draft.tell("superseded", [(old, reason, None)], chain=chain, stage=stage)
    draft.tell("revised", [(version, reason, None)])
    return version


def _commit(lake: Lake, draft: Draft, object_id: str, pairs: tuple[tuple[str, str], ...], run: Commit) -> None:
    resting = pl.DataFrame([(object_id, *pair) for pair in pairs], schema=["dependent", "basis", "role"], orient="row")
    resting = resting.cast(dict.fromkeys(resting.columns, pl.String))
    upserts = standing.dependency_rows(resting, standing.by_object(draft.known))
    journal.commit(lake, draft.change(upserts, upserts.clear().select("dependent", "dependent_version", "basis", "role")), run)


# -- what it names -----------------------------------------------------------------------------------------------------


def _match(lake: Lake, draft: Draft, said: Synthesis, kind: str, object_id: str) -> dict[str, Any] | None:
    """The object that says the same on the same grounds, if only its spelling differs."""
    mine = draft.known.filter((pl.col("kind") == kind) & (pl.col("collection") == said.said.collection))
    same = standing.by_object(mine).filter(pl.col("object_id") == object_id)
    if same.height:
        return standing.contents(lake, same.select("asset_id", "version", "kind")).row(0, named=True)
    wanted = _spoken(row_of(said))
    for row in standing.contents(lake, mine.filter(pl.col("status").is_in(standing.LIVE)).select("asset_id", "version", "kind")).to_dicts():
        if _spoken(orjson.loads(row["content"])) == wanted:
            return row
    return None


def _spoken(content: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        content["kind"],
        folded(content["topic"]),
        tuple(folded(claim["text"]) for claim in content["claims"]),
        frozenset((one["object_id"], one["role"]) for one in content["basis"]),
        frozenset((one["kind"], folded(one["text"])) for one in content["conditions"]),
    )


def _to_revise(lake: Lake, draft: Draft, id: str, kind: str) -> dict[str, Any]:
    row = _standing(lake, draft, id)
    if row["kind"] != kind:
        raise ScholarLakeError(f"{id} is a {row['kind']}, and no {kind} can be a version of it")
    return row


def _standing(lake: Lake, draft: Draft, id: str) -> dict[str, Any]:
    found = draft.known.filter((pl.col("asset_id") == id) | (pl.col("object_id") == id))
    if found.is_empty():
        raise NotFound(f"no object {id!r} is registered")
    head = standing.heads(draft.known.filter(pl.col("asset_id") == found["asset_id"][0]))
    return standing.contents(lake, head.select("asset_id", "version", "kind")).row(0, named=True)


def _require_origin(chain: str, stage: str) -> None:
    if not chain.strip() or chain == PIPELINE or not stage.strip():
        raise ScholarLakeError(f"what a task makes is named by its chain and stage; {chain!r} and {stage!r} are no such names")

"""Looking again at what tasks made and what rests on something that moved: what its grounds say now, against what they said.

By rules an object goes on, as a new version on the new grounds, only where these say the same: every number that it cites, the conditions,
the subject, and much the same words. Else it stays marked, and says why; a verifier may find that what is put differently bears it out
still. Nothing is taken back here. What does not belong here: what marks an object (`standing`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson
import polars as pl

from scholarlake.knowledge.cited import Cited
from scholarlake.knowledge.numerals import numerals
from scholarlake.knowledge.registry import journal, standing, tasks
from scholarlake.knowledge.registry.draft import Draft
from scholarlake.knowledge.registry.matching import common, folded, words
from scholarlake.knowledge.registry.wording import conditions_changed, joined
from scholarlake.knowledge.syntheses.grounds import ground_of, works_of
from scholarlake.knowledge.syntheses.objects import Proposal, Synthesis
from scholarlake.knowledge.syntheses.review import reviewed
from scholarlake.lake import locks
from scholarlake.lake.contracts import PIPELINE
from scholarlake.lake.delta import Commit
from scholarlake.lake.home import Lake
from scholarlake.models.chat_model import ChatModel

CHAIN = "recheck"
_ALIKE = 0.6  # share of words in common up to which a ground is taken to say something else
_NOT = re.compile(r"\b(?:no|not|never|neither|nor|without|cannot|fails?|failed|lacks?|unable)\b|n't\b", re.IGNORECASE)


@dataclass(frozen=True)
class Outcome:
    """What became of an object that was looked at again. settled: whether it stands on its grounds again, as the version that is named."""

    asset_id: str
    version: int
    title: str
    settled: bool
    reason: str


def recheck(lake: Lake, verifier: ChatModel | None = None, votes: int = 3, run_id: str = CHAIN) -> list[Outcome]:
    """Settle what can be settled, bases before what rests on them. Where nothing has moved since the last time, nothing is written.

    Raises what asking the verifier raises.
    """
    run = Commit(run_id, "1")
    done: dict[str, Outcome] = {}
    with locks.at_work(lake):
        while True:
            with journal.held(lake, run):
                found = _Round(lake, verifier, votes, run).settle()
            done |= {one.asset_id: one for one in found}
            if not any(one.settled for one in found):
                return sorted(done.values(), key=lambda one: one.asset_id)


class _Round:
    """One look at all that is marked. What rests on something marked itself waits for the next."""

    def __init__(self, lake: Lake, verifier: ChatModel | None, votes: int, run: Commit) -> None:
        self.lake, self.verifier, self.votes, self.run = lake, verifier, votes, run
        self.draft = Draft(lake, run.run_id)
        self.heads = {row["asset_id"]: row for row in standing.heads(self.draft.known).iter_rows(named=True)}
        self.there = standing.dependencies(lake)

    def settle(self) -> list[Outcome]:
        marked = [row for row in self.heads.values() if row["status"] == "needs_recheck" and row["chain"] != PIPELINE]
        rows = standing.contents(self.lake, pl.DataFrame(marked, schema=self.draft.known.schema).select("asset_id", "version", "kind"))
        found, pairs = [], []
        for row in rows.sort("asset_id").iter_rows(named=True):
            outcome, resting = self._one(row)
            found.append(outcome)
            pairs += resting
        schema = {"dependent": pl.String, "basis": pl.String, "role": pl.String}
        resting_on = pl.DataFrame(pairs, schema=schema, orient="row")
        upserts = standing.dependency_rows(resting_on, standing.by_object(self.draft.known))
        journal.commit(
            self.lake, self.draft.change(upserts, upserts.clear().select("dependent", "dependent_version", "basis", "role")), self.run
        )
        return found

    def _one(self, row: Mapping[str, Any]) -> tuple[Outcome, list[tuple[str, str, str]]]:
        content = orjson.loads(row["content"])
        hard, soft, moved = self._grounds(row, content)
        proposal = _on(Proposal.of(content), moved)
        if not hard:
            known = self._rows({one.object_id for one in proposal.basis})
            try:
                said, kind = tasks.validated(self.lake, proposal, known)
            except tasks.RegistrationRefused as refused:
                hard = list(refused.details)
        if hard:
            return self._stays(row, joined(hard + soft)), []
        judged = self._judged(said, known) if self.verifier is not None else None
        if judged is not None and judged.review != "supported":
            return self._stays(
                row, f"the verifier finds it {judged.review} by the grounds as they are now; {joined(soft)}".rstrip("; ")
            ), []
        if soft and judged is None:
            return self._stays(row, joined(soft)), []
        reason = "its grounds were revised, and " + (
            "the verifier finds that they bear it out" if judged else "say the same of what it cites"
        )
        version = tasks.behind(self.draft, row, judged or said, kind, reason, chain=row["chain"], stage=row["stage"])
        self.draft.tell("rechecked", [(version, reason, None)], chain=CHAIN, stage=CHAIN)
        pairs = [(version["object_id"], entry.object_id, entry.role) for entry in said.said.basis]
        return Outcome(row["asset_id"], version["version"], row["title"], True, reason), pairs

    def _grounds(self, row: Mapping[str, Any], content: Mapping[str, Any]) -> tuple[list[str], list[str], dict[str, str]]:
        """What stands against an object for good, what a verifier may overrule, and old → new ids of what was revised."""
        hard: list[str] = []
        soft: list[str] = []
        moved: dict[str, str] = {}
        mine = self.there.filter((pl.col("dependent") == row["asset_id"]) & (pl.col("dependent_version") == row["version"]))
        for basis, pinned in mine.select("basis", "basis_version").unique().sort("basis").iter_rows():
            head = self.heads[basis]
            if head["status"] == "retracted":
                hard.append(f"a basis was retracted: {head['reason']}")
            elif head["status"] == "needs_recheck":
                hard.append("a basis has to be looked at again itself")
            elif head["version"] != pinned:
                old, new = (self._version(basis, number) for number in (pinned, head["version"]))
                moved[old["object_id"]] = new["object_id"]
                texts = [claim["text"] for claim in content["claims"] if old["object_id"] in claim["cites"]]
                before, after = (orjson.loads(one["content"]) for one in (old, new))
                hard += _numbers_lost(texts, old["kind"], before, after)
                soft += _put_differently(old["kind"], before, after)
        return hard, soft, moved

    def _judged(self, said: Synthesis, known: Mapping[str, Mapping[str, Any]]) -> Synthesis:
        grounds = {id: ground_of(one["kind"], orjson.loads(one["content"])) for id, one in known.items()}
        works = works_of(self.lake, said.studies)
        return reviewed([said], grounds, works, self.verifier, self.votes).syntheses[0]

    def _stays(self, row: Mapping[str, Any], reason: str) -> Outcome:
        if row["reason"] != reason:
            self.draft.put_all([{**row, "reason": reason}])
            self.draft.tell("rechecked", [(row, reason, None)], chain=CHAIN, stage=CHAIN)
        return Outcome(row["asset_id"], row["version"], row["title"], False, reason)

    def _version(self, asset: str, number: int) -> dict[str, Any]:
        wanted = pl.DataFrame({"asset_id": [asset], "version": [number]}, schema={"asset_id": pl.String, "version": pl.Int64})
        return standing.contents(self.lake, wanted).row(0, named=True)

    def _rows(self, ids: set[str]) -> dict[str, dict[str, Any]]:
        named = self.draft.known.filter(pl.col("object_id").is_in(pl.Series(sorted(ids), dtype=pl.String).implode()))
        stand = standing.by_object(named).filter(pl.col("status").is_in(standing.LIVE))
        return {row["object_id"]: row for row in standing.contents(self.lake, stand.select("asset_id", "version", "kind")).to_dicts()}


def _on(proposal: Proposal, moved: Mapping[str, str]) -> Proposal:
    """The same on the grounds as they are now."""
    return replace(
        proposal,
        claims=tuple(replace(claim, cites=tuple(moved.get(id, id) for id in claim.cites)) for claim in proposal.claims),
        basis=tuple(replace(one, object_id=moved.get(one.object_id, one.object_id)) for one in proposal.basis),
    )


def _numbers_lost(texts: Sequence[str], kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """The numbers that claims took from a ground and that it does not give any more."""
    was, is_now = (Cited([ground_of(kind, one).text]) for one in (before, after))
    for text in texts:
        for one in numerals(text):
            if one.name is None and was.has(one) and not is_now.has(one):
                yield f"{one.written} stands in its basis no longer"


def _put_differently(kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """What a ground says otherwise than it did, numbers apart."""
    name = "context" if kind == "fact" else "conditions"
    yield from conditions_changed(before[name], after[name])
    if kind == "fact" and folded(before["subject"]) != folded(after["subject"]):
        yield f'a basis is about "{after["subject"]}" now, and was about "{before["subject"]}"'
    old, new = (ground_of(kind, one).text for one in (before, after))
    if common(words(old), words(new)) < _ALIKE or len(_NOT.findall(old)) != len(_NOT.findall(new)):
        yield "a basis is put so differently that only a review can tell whether it says the same"

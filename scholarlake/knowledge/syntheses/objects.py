"""Accounts across papers as values: what is proposed, what an account is, and what was refused.

What does not belong here: how they are found (`rules`, `synthesizer`), checked (`validation`) or stored (`build`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

import orjson

from scholarlake.knowledge.objects import Context, Vote
from scholarlake.lake import contracts
from scholarlake.lake.hashing import digest

SynthesisKind = Literal["family_overview", "disagreement", "context_difference", "open_problem"]
Role = Literal["supporting", "opposing", "limiting"]
Review = Literal["unreviewed", "supported", "disputed", "failed"]

for _values, _contract in (
    (SynthesisKind, contracts.SYNTHESIS_KINDS),
    (Role, contracts.BASIS_ROLES),
    (Review, contracts.REVIEWS),
):
    if get_args(_values) != _contract:
        raise AssertionError(f"{_values} is not what the contract has: {_contract}")


@dataclass(frozen=True)
class Claim:
    """One sentence or two of an account. cites: ids of the objects that it rests on."""

    text: str
    cites: tuple[str, ...]


@dataclass(frozen=True)
class Basis:
    """An object that an account rests on, what it is to the account, and why."""

    object_id: str
    role: str
    why: str


@dataclass(frozen=True)
class Proposal:
    """What somebody proposes as an account; anything may be wrong with it. topic: what it is about, the same through its revisions."""

    collection: str
    kind: str
    topic: str
    title: str
    claims: tuple[Claim, ...]
    basis: tuple[Basis, ...]
    conditions: tuple[Context, ...] = ()
    category_id: str | None = None
    method: str = ""

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Proposal:
        """What plain values say: a row of `syntheses`, or a candidate as `lake.knowledge(…).synthesize` gives it. Raises KeyError or
        TypeError where they are of another shape."""
        return cls(
            content["collection"],
            content["kind"],
            content["topic"],
            content["title"],
            tuple(Claim(one["text"], tuple(one["cites"])) for one in content["claims"]),
            tuple(Basis(one["object_id"], one["role"], one.get("why") or "") for one in content["basis"]),
            tuple(Context(one["kind"], one["text"]) for one in content["conditions"]),
            content.get("category_id"),
            content.get("method") or "",
        )

    def as_json(self) -> str:
        return orjson.dumps(asdict(self), option=orjson.OPT_SORT_KEYS, default=str).decode()


@dataclass(frozen=True)
class Synthesis:
    """An account that rests on what is there. kinds: of the cited objects, by their ids; studies: papers considered, sorted; sources: how
    many there are, versions of one work being one."""

    said: Proposal
    kinds: Mapping[str, str]
    studies: tuple[str, ...]
    sources: int
    review: Review = "unreviewed"
    votes: tuple[Vote, ...] = ()

    @property
    def account(self) -> str:
        return " ".join(claim.text for claim in self.said.claims)

    @property
    def synthesis_id(self) -> str:
        return f"synthesis-{content_digest(self.said, self.studies)}"

    def reviewed(self, review: Review, votes: tuple[Vote, ...]) -> Synthesis:
        return replace(self, review=review, votes=votes)


@dataclass(frozen=True)
class Refused:
    """A proposal that is no account. reason: one of `contracts.SYNTHESIS_FAULTS`."""

    proposal: Proposal
    reason: str
    detail: str


def content_digest(said: Proposal, studies: tuple[str, ...]) -> str:
    """Digest of all that an account says, and of what it rests on; the order in which grounds are listed is nothing."""
    parts = [said.collection, said.kind, said.topic, *studies]
    for claim in said.claims:
        parts += [" ".join(claim.text.split()), *sorted(set(claim.cites))]
    parts += sorted(f"{one.role} {one.object_id}" for one in said.basis)
    parts += sorted(f"{one.kind}={one.text}" for one in said.conditions)
    return digest(parts)


def row_of(one: Synthesis) -> dict[str, Any]:
    """An account as a row of `syntheses`, but for what made it when."""
    said = one.said
    return {
        "synthesis_id": one.synthesis_id,
        "collection": said.collection,
        "kind": said.kind,
        "topic": said.topic,
        "category_id": said.category_id,
        "title": said.title,
        "account": one.account,
        "claims": [{"text": claim.text, "cites": list(claim.cites)} for claim in said.claims],
        "conditions": [asdict(entry) for entry in said.conditions],
        "studies": list(one.studies),
        "sources": one.sources,
        "basis": [
            {"object_id": entry.object_id, "kind": one.kinds[entry.object_id], "role": entry.role, "why": entry.why} for entry in said.basis
        ],
        "review": one.review,
        "votes": [asdict(vote) for vote in one.votes],
        "method": said.method,
    }

"""Objects of the layers as a view holds them: typed, immutable, each with its conditions, evidence, checking status and origin.

A kind's fields are those of its table, so that nothing is lost on the way. What does not belong here: how they are found, and how they are
shown (`shown`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import Field, TypeAdapter

from scholarlake.knowledge.layer.contents import LAYERS
from scholarlake.knowledge.objects import Context, FactType, Quantity, StudyType, Verification, Vote
from scholarlake.lake import contracts

Kind = Literal["fact", "assignment", "relation", "entity", "synthesis", "sentence", "hypothesis", "note"]
Status = Literal["current", "superseded", "retracted", "needs_recheck"]
Review = Literal["unreviewed", "supported", "disputed", "failed"]
Certainty = Literal["confirmed", "likely", "uncertain"]
EndKind = Literal["paper", "entity"]
T = TypeVar("T", bound="Item")

for _values, _contract in (
    (Status, contracts.STATUSES),
    (Review, contracts.REVIEWS),
    (Certainty, contracts.CERTAINTIES),
    (EndKind, contracts.END_KINDS),
):
    if get_args(_values) != _contract:
        raise AssertionError(f"{_values} is not what the contract has: {_contract}")


@dataclass(frozen=True)
class Origin:
    """Where an object came from. chain: pipeline, or the chain of tasks; stage: the asset that made it, or the stage of the chain."""

    chain: str = contracts.PIPELINE
    stage: str = ""


@dataclass(frozen=True)
class Standing:
    """What the registry says of an object: its identity through versions, which version this is, and its lifecycle.

    asset_id and version are None where the object is in no registry. reason: why the status is not current.
    """

    asset_id: str | None = None
    version: int | None = None
    status: Status = "current"
    reason: str | None = None


@dataclass(frozen=True)
class Payload:
    """One thing that is reported of a relation, as written."""

    name: str
    value: str


@dataclass(frozen=True)
class Basis:
    """An object that an account rests on, what it is to it (supporting, opposing, limiting), and why."""

    object_id: str
    kind: str
    role: str
    why: str = ""


@dataclass(frozen=True)
class Claim:
    """One claim of an account, and the ids of the objects that it cites."""

    text: str
    cites: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Item:
    """What every object of a view has. papers: that it is about, sorted. score: how well it fits what was asked, None where that was not
    asked; it compares items of one retrieval, nothing else. why: what brought it into the view, operation by operation."""

    layer: ClassVar[int]
    kind: str
    object_id: str
    papers: tuple[str, ...]
    method: str = ""
    standing: Standing = Standing()
    origin: Origin = Origin()
    score: float | None = None
    why: tuple[str, ...] = ()

    @property
    def conditions(self) -> tuple[Context, ...]:
        """What it holds under."""
        return ()

    def because(self: T, reason: str, score: float | None = None) -> T:
        """The same item, with one more reason for being in a view."""
        why = self.why if reason in self.why else (*self.why, reason)
        return replace(self, why=why, score=score if score is not None else self.score)


@dataclass(frozen=True, kw_only=True)
class SentenceItem(Item):
    """A sentence of a paper, as it stands there. n: its place in the paper; block: kind of what it stands in."""

    layer: ClassVar[int] = 0
    kind: Literal["sentence"] = "sentence"
    n: int
    text: str
    block: str
    sections: tuple[str, ...] = ()
    start: int = 0
    end: int = 0


@dataclass(frozen=True, kw_only=True)
class FactItem(Item):
    """What one paper states. evidence: ids of the sentences that say it. taxonomy: version of the taxonomy that asked for it."""

    layer: ClassVar[int] = 1
    kind: Literal["fact"] = "fact"
    n: int
    type: FactType
    study_type: StudyType
    subject: str
    statement: str
    context: tuple[Context, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    evidence: tuple[str, ...]
    marks: tuple[str, ...] = ()
    verification: Verification = "unchecked"
    votes: tuple[Vote, ...] = ()
    taxonomy: str | None = None

    @property
    def conditions(self) -> tuple[Context, ...]:
        return self.context


@dataclass(frozen=True, kw_only=True)
class AssignmentItem(Item):
    """What belongs to a category, on which facts. It holds under their conditions, and says nothing of others."""

    layer: ClassVar[int] = 2
    kind: Literal["assignment"] = "assignment"
    category_id: str
    category: str
    dimension: str
    subject_kind: EndKind
    subject_id: str
    subject: str
    basis: tuple[str, ...]
    under: tuple[Context, ...] = ()
    rationale: str
    inference: Literal["declared", "inferred"]
    certainty: Certainty
    verification: Verification = "unchecked"
    votes: tuple[Vote, ...] = ()
    taxonomy: str | None = None

    @property
    def conditions(self) -> tuple[Context, ...]:
        return self.under


@dataclass(frozen=True, kw_only=True)
class RelationItem(Item):
    """What connects two objects, read from source to target, as reported."""

    layer: ClassVar[int] = 2
    kind: Literal["relation"] = "relation"
    relation: str
    source_kind: EndKind
    source_id: str
    source: str | None = None
    target_kind: EndKind
    target_id: str
    target: str | None = None
    payload: tuple[Payload, ...] = ()
    basis: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    under: tuple[Context, ...] = ()
    certainty: Certainty
    verification: Verification = "unchecked"
    votes: tuple[Vote, ...] = ()

    @property
    def conditions(self) -> tuple[Context, ...]:
        return self.under


@dataclass(frozen=True, kw_only=True)
class EntityItem(Item):
    """One research object under all its names."""

    layer: ClassVar[int] = 2
    kind: Literal["entity"] = "entity"
    type: str
    name: str
    aliases: tuple[str, ...] = ()
    mentions: int = 0
    certainty: Certainty


@dataclass(frozen=True, kw_only=True)
class Account(Item):
    """What is said across papers, claim by claim. sources: studies, versions of one work being one."""

    layer: ClassVar[int] = 3
    topic: str
    title: str
    account: str
    claims: tuple[Claim, ...]
    under: tuple[Context, ...] = ()
    studies: tuple[str, ...]
    sources: int
    basis: tuple[Basis, ...]
    review: Review = "unreviewed"
    votes: tuple[Vote, ...] = ()
    category_id: str | None = None

    @property
    def conditions(self) -> tuple[Context, ...]:
        return self.under


@dataclass(frozen=True, kw_only=True)
class SynthesisItem(Account):
    """A scoped account that is registered: an interpretation, not a source. synthesis_kind: one of `contracts.SYNTHESIS_KINDS`."""

    kind: Literal["synthesis"] = "synthesis"
    synthesis_kind: str


@dataclass(frozen=True, kw_only=True)
class TaskItem(Account):
    """What a task left that no paper states: a hypothesis, or a note. It never supports an account."""

    kind: Literal["hypothesis", "note"]


AnyItem = Annotated[
    SentenceItem | FactItem | AssignmentItem | RelationItem | EntityItem | SynthesisItem | TaskItem, Field(discriminator="kind")
]
_ANY: TypeAdapter[AnyItem] = TypeAdapter(AnyItem)

#: What a table calls otherwise than an item, whose own kind and conditions are something else.
_RENAMED: Mapping[str, Mapping[str, str]] = {
    "sentence": {"kind": "block"},
    "assignment": {"conditions": "under"},
    "relation": {"conditions": "under"},
    "synthesis": {"conditions": "under", "kind": "synthesis_kind"},
    "hypothesis": {"conditions": "under"},
    "note": {"conditions": "under"},
}
_STAGES: Mapping[str, str] = {
    "sentence": "sentences",
    "fact": "facts",
    "assignment": "assignments",
    "relation": "relations",
    "entity": "entities",
    "synthesis": "syntheses",
}
_LAYERS: Mapping[str, int] = {**LAYERS, "hypothesis": 3, "note": 3}


def layer_of(kind: str) -> int:
    """The layer that objects of a kind belong to; 0 for sentences, the sources below the layers."""
    return _LAYERS[kind]


def from_row(kind: str, object_id: str, row: Mapping[str, Any], papers: tuple[str, ...], **more: Any) -> AnyItem:
    """An item of a row of its table. more: standing, origin, score, why, and what is told of it beside its row."""
    renamed = _RENAMED.get(kind, {})
    values = {renamed.get(name, name): value for name, value in row.items() if value is not None}
    stage = "attended_facts" if kind == "fact" and row.get("taxonomy") else _STAGES.get(kind, kind)
    made = {"origin": {"stage": stage}, **values, **more, "kind": kind, "object_id": object_id, "papers": papers}
    return _ANY.validate_python(made)


def place_of(fact: FactItem) -> tuple[str, int, int, str]:
    """What facts are put in order by: their paper, and where it says them."""
    sentence = fact.evidence[0].rsplit(":", 1)[-1] if fact.evidence else ""
    return fact.papers[0], int(sentence) if sentence.isdigit() else 0, fact.n, fact.object_id


def from_dict(value: Any) -> AnyItem:
    """An item of what `to_dict` made. Raises pydantic's ValidationError where it is none."""
    return _ANY.validate_python(value)


def to_dict(item: Item) -> dict[str, Any]:
    """Plain values, for JSON."""
    return {"layer": item.layer, **asdict(item)}

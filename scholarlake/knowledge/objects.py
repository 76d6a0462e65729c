"""The objects of L1 as values: what a paper's sentences are read from, what is proposed as a fact, and what a fact is.

What does not belong here: how they are found (`extractive`, `extraction`), checked (`grounding`, `verification`) or stored (`facts`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

import orjson

from scholarlake.lake import contracts
from scholarlake.lake.hashing import digest

FactType = Literal["finding", "method_description", "theoretical_result", "hypothesis", "limitation", "dataset", "definition"]
StudyType = Literal["quantitative", "qualitative", "theoretical"]
ContextKind = Literal["population", "setting", "assumption", "condition", "baseline", "dataset", "method", "time", "place"]
Verification = Literal["supported", "failed", "unresolved", "unchecked"]

for _values, _contract in (
    (FactType, contracts.FACT_TYPES),
    (StudyType, contracts.STUDY_TYPES),
    (ContextKind, contracts.CONTEXT_KINDS),
    (Verification, contracts.VERIFICATIONS),
):
    if get_args(_values) != _contract:
        raise AssertionError(f"{_values} is not what the contract has: {_contract}")


@dataclass(frozen=True)
class Sentence:
    """One sentence of a document. n: its place in it; kind: of its block, as `documents` has it; sections: headings above it, outermost
    first; start, end: code points of the document's text."""

    n: int
    text: str
    kind: str
    sections: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Source:
    """A document that facts are looked for in. extent: full_text or abstract. content_hash: of all that the document says."""

    paper_id: str
    title: str | None
    extent: str
    content_hash: str
    sentences: tuple[Sentence, ...]

    def sentence_id(self, n: int) -> str:
        return f"{self.paper_id}:{n}"


@dataclass(frozen=True)
class Context:
    """A condition under which a statement holds."""

    kind: ContextKind
    text: str


@dataclass(frozen=True)
class Quantity:
    """A number that a statement reports. value: as written, "87.3", "1.2 ± 0.1", "10^-3"; number: the same as one number, None where it
    is none; unit, metric and comparator ("<", "at least", "±") as written, None where nothing is."""

    value: str
    number: float | None = None
    unit: str | None = None
    metric: str | None = None
    comparator: str | None = None


@dataclass(frozen=True)
class Vote:
    """One verdict on a fact. attribution: whether the statement is about the right subject; qualifications: whether it keeps what its
    sentences restrict; None where that was not judged. method: who gave it."""

    verdict: Literal["supported", "failed", "unresolved"]
    attribution: bool | None
    qualifications: bool | None
    reason: str
    method: str


@dataclass(frozen=True)
class Candidate:
    """What somebody proposes as a fact; anything may be wrong with it. evidence: places of sentences in the source, or what was given
    instead of such."""

    type: str
    subject: str
    statement: str
    evidence: tuple[Any, ...]
    context: tuple[Context, ...] = ()
    quantities: tuple[Quantity, ...] = ()

    def as_json(self) -> str:
        return orjson.dumps(asdict(self), option=orjson.OPT_SORT_KEYS, default=str).decode()


@dataclass(frozen=True)
class Fact:
    """A statement of one paper with what is needed to interpret it (ScholarStack, section 3.2.1). evidence: places of its sentences,
    ascending, at least one. taxonomy: version of the taxonomy that told what to attend to, None for none."""

    paper_id: str
    type: FactType
    study_type: StudyType
    subject: str
    statement: str
    evidence: tuple[int, ...]
    evidence_hash: str
    method: str
    context: tuple[Context, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    marks: tuple[str, ...] = ()
    verification: Verification = "unchecked"
    votes: tuple[Vote, ...] = ()
    taxonomy: str | None = None

    @property
    def fact_id(self) -> str:
        """The same for the same statement on the same grounds, wherever its sentences come to stand."""
        said = [self.paper_id, self.taxonomy or "", self.type, self.subject, self.statement, self.evidence_hash]
        said += [f"{entry.kind}={entry.text}" for entry in self.context]
        said += [f"{one.value}|{one.unit}|{one.metric}|{one.comparator}" for one in self.quantities]
        return f"fact-{digest(said)}"


@dataclass(frozen=True)
class Refused:
    """A candidate that is no fact. reason: one of `contracts.FACT_FAULTS`."""

    candidate: Candidate
    reason: str
    detail: str


@dataclass(frozen=True)
class Reading:
    """All that came of looking for facts in a source. unread: why nothing, or not all, could be read; None where all was."""

    source: Source
    study_type: StudyType
    facts: tuple[Fact, ...] = ()
    refused: tuple[Refused, ...] = field(default=())
    unread: str | None = None


def evidence_hash(texts: Iterable[str]) -> str:
    """Digest of the sentences that a fact rests on."""
    return digest(texts)

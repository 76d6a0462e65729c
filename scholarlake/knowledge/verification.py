"""Whether the cited sentences support a fact, by several votes of the verifier; support, subject and qualifications each judged apart.

A fact is supported where all votes that were asked for came, or more than half of them, and every one finds for it in all three; failed
where every one finds against it in some; else unresolved, unless an adjudicator decides, whose vote stands beside the others. A vote
that did not come is none. What does not belong here: the structural checks (`grounding`), which support nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from scholarlake.knowledge.extraction import PROMPTS, method_of
from scholarlake.knowledge.objects import Fact, FactType, Quantity, Reading, Source, Verification, Vote
from scholarlake.knowledge.protocol import Reader
from scholarlake.models.chat import ChatRequest, ChatResult, Sampling
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.prompts import prompt

ADJUDICATOR = "adjudicator"
VOTES = 3

_FACTS_AT_ONCE = 500  # whose votes are waited for together
WARMTH = 0.7  # temperature of every vote but the first, where the role has none: else all would be one answer
_BEFORE = 600  # characters of what stands before the evidence that are shown

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": 300},
        "support": {"enum": ["yes", "no", "unclear"]},
        "subject": {"enum": ["right", "wrong", "unclear"]},
        "qualifications": {"enum": ["kept", "lost", "unclear"]},
    },
    "required": ["reason", "support", "subject", "qualifications"],
    "additionalProperties": False,
}
_VERDICTS: Mapping[str, Verdict] = {"yes": "supported", "no": "failed", "unclear": "unresolved"}
_KINDS: Mapping[FactType, str] = {
    "finding": "what was observed or measured",
    "method_description": "how something works or was done",
    "theoretical_result": "what was proved or derived",
    "hypothesis": "what is supposed or expected",
    "limitation": "what restricts the work",
    "dataset": "what data there are",
    "definition": "what a term means",
}
_SOUND = {"right": True, "kept": True, "wrong": False, "lost": False, "unclear": None}


Verdict = Literal["supported", "failed", "unresolved"]


def standing(vote: Vote) -> Verdict:
    """What a vote comes to: for a fact only where it finds for it in all three respects, against it where it does so in one."""
    if vote.verdict == "failed" or vote.attribution is False or vote.qualifications is False:
        return "failed"
    return "supported" if vote.verdict == "supported" and vote.attribution and vote.qualifications else "unresolved"


def settled(votes: Sequence[Vote], asked: int = 1) -> Verification:
    """What votes come to, by the rule above. asked: how many were wanted; the adjudicator's, where it is among them, is the last word."""
    if not votes:
        return "unchecked"
    decided = [vote for vote in votes if vote.method.startswith(f"{ADJUDICATOR}:")]
    if decided:
        return standing(decided[-1])
    found = {standing(vote) for vote in votes}
    return found.pop() if len(found) == 1 and 2 * len(votes) > asked else "unresolved"


@dataclass
class _Case:
    """A fact before its judges. votes: by the number of the vote."""

    fact: Fact
    source: Source
    votes: dict[int, Vote] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def ruled(self, asked: int) -> Fact:
        votes = tuple(self.votes[number] for number in sorted(self.votes))
        return replace(self.fact, votes=votes, verification=settled(votes, asked))


class Verified:
    """A reader whose facts are judged as well.

    votes: how many verdicts on each fact are asked for. adjudicator: decides where they differ or say nothing; None leaves it at that.
    """

    def __init__(self, reader: Reader, verifier: ChatModel, votes: int = VOTES, adjudicator: ChatModel | None = None) -> None:
        if votes < 1:
            raise ValueError(f"{votes} votes decide nothing")
        self._reader = reader
        self._verifier = verifier
        self._votes = votes
        self._adjudicator = adjudicator
        self._prompt = prompt(PROMPTS, "verify")

    @property
    def method(self) -> str:
        return self._reader.method

    def readings(self, sources: Iterable[Source]) -> Iterator[Reading]:
        """The reader's readings, every fact with its votes. Raises what asking raises."""
        held: list[Reading] = []
        for reading in self._reader.readings(sources):
            held.append(reading)
            if sum(len(one.facts) for one in held) >= _FACTS_AT_ONCE:
                yield from self._judged(held)
                held = []
        yield from self._judged(held)

    def _judged(self, readings: Sequence[Reading]) -> Iterator[Reading]:
        cases = [[_Case(fact, reading.source) for fact in reading.facts] for reading in readings]
        every = [case for some in cases for case in some]
        self._ask(self._verifier, [(case, number) for case in every for number in range(self._votes)])
        if self._adjudicator is not None:
            doubtful = [case for case in every if case.ruled(self._votes).verification == "unresolved"]
            self._ask(self._adjudicator, [(case, self._votes) for case in doubtful])
        for reading, some in zip(readings, cases, strict=True):
            faults = [fault for case in some for fault in case.faults]
            unread = [reading.unread] if reading.unread else []
            if faults:
                unread.append(f"{len(faults)} votes did not come, the first: {faults[0]}")
            yield replace(reading, facts=tuple(case.ruled(self._votes) for case in some), unread="; ".join(unread) or None)

    def _ask(self, model: ChatModel, wanted: Sequence[tuple[_Case, int]]) -> None:
        method = method_of(model, self._prompt)
        for result in model.ask(self._request(model, case, number) for case, number in wanted):
            case, number = wanted[result.position]
            if result.failure is not None:
                case.faults.append(f"{result.failure.kind}: {result.failure.reason}")
            else:
                case.votes[number] = vote_of(result, method)

    def _request(self, model: ChatModel, case: _Case, number: int) -> ChatRequest:
        """One vote. Each after the first is another draw, so that no two are one stored answer."""
        fact, places = case.fact, set(case.fact.evidence)
        sentences = {sentence.n: sentence.text for sentence in case.source.sentences}
        before = sentences.get(fact.evidence[0] - 1, "") if fact.evidence[0] - 1 not in places else ""
        others = [f"{vote.method.split(' ')[0]}: {_words(vote)}" for _, vote in sorted(case.votes.items())]
        messages = self._prompt.messages(
            title=case.source.title,
            before=before[-_BEFORE:],
            evidence="\n".join(" ".join(sentences[n].splitlines()) for n in fact.evidence),
            kind=_KINDS[fact.type],
            statement=fact.statement,
            subject=fact.subject,
            conditions="\n".join(f"{one.kind}: {one.text}" for one in fact.context),
            quantities="\n".join(map(_quantity, fact.quantities)),
            verdicts="\n".join(others) if model is self._adjudicator else "",
        )
        sampling = None
        if 0 < number < self._votes:
            sampling = Sampling(seed=number, temperature=model.sampling.temperature or WARMTH)  # type: ignore[call-arg]
        return ChatRequest(messages, SCHEMA, sampling, item=f"{fact.fact_id} {number + 1}")


def vote_of(result: ChatResult, method: str) -> Vote:
    said: Mapping[str, str] = result.value
    return Vote(_VERDICTS[said["support"]], _SOUND[said["subject"]], _SOUND[said["qualifications"]], said["reason"].strip(), method)


def _quantity(one: Quantity) -> str:
    parts = (f"{one.metric}:" if one.metric else None, one.comparator, one.value, one.unit)
    return " ".join(filter(None, parts))


def _words(vote: Vote) -> str:
    """A vote in words, on one line."""
    subject = {True: "right", False: "wrong", None: "unclear"}[vote.attribution]
    kept = {True: "kept", False: "lost", None: "unclear"}[vote.qualifications]
    return f"support {vote.verdict}, subject {subject}, qualifications {kept}: {' '.join(vote.reason.split())}"

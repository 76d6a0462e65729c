"""The score of a rollout by its rubric: a judge says of each criterion, once, whether it is met.

A judge that leaves a criterion out, judges one twice or makes one up is asked again, and then believed nothing: the score is null, never 0.
What does not belong here: what criteria there are (`rubrics`), what a score is for (`reward`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from scholarlake.models.chat import ChatRequest, ChatResult, Sampling
from scholarlake.models.prompts import prompt
from scholarlake.training.rollout import Rollout, record_of
from scholarlake.training.weights import WHOLE

PROMPTS = Path(__file__).parent / "prompts"
ATTEMPTS = 2
_SCORES = {"yes": 1.0, "partly": 0.5, "no": 0.0}


class Judge(Protocol):
    """A model that answers requests, in whatever order."""

    def ask(self, requests: Iterable[ChatRequest]) -> Iterator[ChatResult]: ...


@dataclass(frozen=True)
class Weighted:
    """A criterion and its share of 100."""

    description: str
    weight: int


@dataclass(frozen=True)
class Case:
    """A rollout before the judge. Raises ValueError where the weights do not sum to 100."""

    question: str
    rollout: Rollout
    rubric: tuple[Weighted, ...]

    def __post_init__(self) -> None:
        total = sum(one.weight for one in self.rubric)
        if total != WHOLE or any(one.weight <= 0 for one in self.rubric):
            raise ValueError(f"the weights of a rubric are above 0 and sum to {WHOLE}, not to {total}")


@dataclass(frozen=True)
class Judged:
    """What came of it. score: 0 to 1, null where there is no judgement; fault: then why. scores: of the criteria, in their order."""

    score: float | None
    scores: tuple[float, ...] = ()
    fault: str = ""


def judged(judge: Judge, cases: Sequence[Case]) -> list[Judged]:
    """The cases' scores, in their order. Raises what asking raises."""
    found: dict[int, Judged] = {}
    for attempt in range(ATTEMPTS):
        left = [place for place in range(len(cases)) if place not in found or found[place].score is None]
        if not left:
            break
        for result in judge.ask(_request(cases[place], attempt) for place in left):
            found[left[result.position]] = _judged(cases[left[result.position]], result)
    return [found[place] for place in range(len(cases))]


def _request(case: Case, attempt: int) -> ChatRequest:
    criteria = [one.description for one in case.rubric]
    messages = prompt(PROMPTS, "judge").messages(question=case.question, record=record_of(case.rollout), criteria=criteria)
    again = Sampling(seed=attempt, temperature=0.0) if attempt else None  # type: ignore[call-arg]
    return ChatRequest(messages, schema_of(len(criteria)), again)


def schema_of(criteria: int) -> Mapping[str, Any]:
    """What a judge answers about so many criteria."""
    item = {
        "type": "object",
        "properties": {
            "criterion": {"type": "integer", "minimum": 1, "maximum": criteria},
            "reason": {"type": "string", "maxLength": 300},
            "met": {"enum": list(_SCORES)},
        },
        "required": ["criterion", "reason", "met"],
    }
    judgements = {"type": "array", "minItems": criteria, "maxItems": criteria, "items": item}
    return {"type": "object", "properties": {"judgements": judgements}, "required": ["judgements"]}


def _judged(case: Case, result: ChatResult) -> Judged:
    if result.failure is not None:
        return Judged(None, fault=f"{result.failure.kind}: {result.failure.reason}")
    numbers = [one["criterion"] for one in result.value["judgements"]]
    if sorted(numbers) != list(range(1, len(case.rubric) + 1)):
        return Judged(None, fault=f"the judge did not judge each of {len(case.rubric)} criteria once, but {sorted(numbers)}")
    met = {one["criterion"]: _SCORES[one["met"]] for one in result.value["judgements"]}
    scores = tuple(met[number] for number in sorted(met))
    return Judged(sum(one.weight * score for one, score in zip(case.rubric, scores, strict=True)) / WHOLE, scores)

"""Sorting by models: the organizer proposes categories that it must show by facts, the verifier's votes judge what was assigned.

What is proposed names categories and facts by number among those shown, so none is made up. What does not belong here: the way without a
model (`classifying`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scholarlake.errors import ModelError
from scholarlake.knowledge.extraction import method_of
from scholarlake.knowledge.objects import Vote
from scholarlake.knowledge.organization.classifying import Assigned, Ground, Object, gathered
from scholarlake.knowledge.organization.proposed import PROMPTS
from scholarlake.knowledge.organization.sorting import Wordings
from scholarlake.models.chat import ChatRequest, Sampling
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.prompts import prompt

_FACTS, _CATEGORIES_AT_ONCE, _CHARACTERS = 8, 4, 300  # shown of an object; in one answer; of a statement
_WARMTH = 0.7
_VERDICTS: Mapping[str, Any] = {"yes": "supported", "no": "failed", "unclear": "unresolved"}

VOTE: Mapping[str, Any] = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": 240}, "support": {"enum": ["yes", "no", "unclear"]}},
    "required": ["reason", "support"],
    "additionalProperties": False,
}


def schema_of(categories: int, facts: int) -> dict[str, Any]:
    """What an answer about so many categories and facts looks like."""
    one = {
        "category": {"type": "integer", "enum": list(range(1, categories + 1))},
        "facts": {"type": "array", "minItems": 1, "maxItems": _FACTS, "items": {"type": "integer", "enum": list(range(1, facts + 1))}},
        "reason": {"type": "string", "minLength": 1, "maxLength": 200},
        "declared": {"type": "boolean"},
    }
    entry = {"type": "object", "properties": one, "required": list(one), "additionalProperties": False}
    found = {"type": "array", "maxItems": _CATEGORIES_AT_ONCE, "items": entry}
    return {"type": "object", "properties": {"categories": found}, "required": ["categories"], "additionalProperties": False}


def proposals(objects: Sequence[Object], wordings: Sequence[Wordings], model: ChatModel) -> Iterator[Assigned]:
    """What the organizer assigns of objects that a dimension sorts. Raises ModelError where it can't be asked now; what it says nothing
    usable about stays as it was."""
    asked = prompt(PROMPTS, "sort")
    method = method_of(model, asked)
    wanted = [
        (one, dimension, [fact for fact in one.facts if fact.supports][:_FACTS])
        for one in objects
        for dimension in wordings
        if (one.type in dimension.dimension.subject_types if one.kind == "entity" else not dimension.dimension.subject_types)
    ]
    wanted = [entry for entry in wanted if entry[2]]
    requests = (
        ChatRequest(
            asked.messages(
                categories="\n".join(
                    f"{n}: {_line(c.name)}: {_line(c.criterion)}" for n, c in enumerate(dimension.dimension.categories, 1)
                ),
                subject=one.name,
                facts="\n".join(f"{n}: {_line(fact.statement)}" for n, fact in enumerate(facts, 1)),
            ),
            schema_of(len(dimension.dimension.categories), len(facts)),
            item=f"{one.id} {dimension.dimension.name}",
        )
        for one, dimension, facts in wanted
    )
    for result in model.ask(requests):
        one, dimension, facts = wanted[result.position]
        if result.failure is not None:
            if result.failure.kind == "exhausted":
                raise ModelError(f"the organizer could not be asked: {result.failure.reason}")
            continue
        categories = dimension.dimension.categories
        grounds = [
            Ground(
                dimension.dimension.name,
                categories[said["category"] - 1].name,
                facts[number - 1],
                _line(said["reason"]),
                said["declared"],
                "likely",
            )
            for said in result.value["categories"]
            for number in dict.fromkeys(said["facts"])
        ]
        yield from gathered(one, grounds, method)


def votes_on(found: Sequence[Assigned], criteria: Mapping[tuple[str, str], str], model: ChatModel, votes: int) -> dict[int, list[Vote]]:
    """The verifier's votes on assignments, by their place. Raises ModelError where it can't be asked now."""
    asked = prompt(PROMPTS, "judge")
    method = method_of(model, asked)
    wanted = [(place, number) for place in range(len(found)) for number in range(votes)]
    given: dict[int, dict[int, Vote]] = defaultdict(dict)
    requests = (
        ChatRequest(
            asked.messages(
                subject=found[place].object.name,
                category=f"{found[place].category}: {criteria[found[place].dimension, found[place].category]}",
                facts="\n".join(f"- {_line(fact.statement)}" for fact in found[place].basis[:_FACTS])
                + "".join(f"\n{kind}: {_line(text)}" for kind, text in found[place].conditions),
            ),
            VOTE,
            Sampling(seed=number, temperature=model.sampling.temperature or _WARMTH) if number else None,  # type: ignore[call-arg]
            item=f"{found[place].object.id} {found[place].category} {number + 1}",
        )
        for place, number in wanted
    )
    for result in model.ask(requests):
        place, number = wanted[result.position]
        if result.failure is None:
            said = result.value
            given[place][number] = Vote(_VERDICTS[said["support"]], None, None, " ".join(said["reason"].split()), method)
        elif result.failure.kind == "exhausted":
            raise ModelError(f"the verifier could not be asked: {result.failure.reason}")
    return {place: [some[number] for number in sorted(some)] for place, some in given.items()}


def _categories(wordings: Wordings) -> list[str]:
    return [f"{n}: {_line(one.name)}: {_line(one.criterion)}" for n, one in enumerate(wordings.dimension.categories, 1)]


def _line(text: str) -> str:
    return " ".join(text.split())[:_CHARACTERS]

"""A taxonomy prepared by the organizer from what a collection names and states; held to what files are held to.

Examples are chosen by number from names that the papers have, so that none is made up. What does not belong here: the way without a model
(`preparing`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scholarlake.errors import ModelError
from scholarlake.knowledge.extraction import method_of
from scholarlake.knowledge.organization.material import Stated, by_paper
from scholarlake.knowledge.organization.mentions import mentions_of
from scholarlake.knowledge.organization.merging import commonest
from scholarlake.knowledge.organization.taxonomy import Category, Dimension, Taxonomy, faults
from scholarlake.lake import contracts
from scholarlake.models.chat import ChatRequest
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.prompts import prompt
from scholarlake.models.structured import shape_of

PROMPTS = Path(__file__).parent / "prompts"

_NAMES, _STATEMENTS = 80, 40  # that are shown
_CHARACTERS = 240  # of a statement that is shown
_DIMENSIONS, _CATEGORIES = 5, 8
_CHARACTERS_A_TOKEN = 3  # of JSON in English


def proposed(facts: Sequence[Stated], model: ChatModel) -> tuple[Taxonomy | None, str]:
    """The taxonomy that the model proposes, and why it is none where it is not.

    Raises ModelError where the model can't be asked now: then nothing is prepared instead, since another try may do.
    """
    asked = prompt(PROMPTS, "taxonomy")
    shown = _names(facts)
    dimensions, categories = _room(model, len(shown))
    messages = asked.messages(
        names="\n".join(f"{number}: {type_}: {name}" for number, (name, type_) in enumerate(shown, 1)),
        statements="\n".join(_statements(facts)),
        dimensions=dimensions,
        categories=categories,
    )
    [result] = model.ask([ChatRequest(messages, schema_of(len(shown), dimensions, categories), item="taxonomy")])
    if result.failure is not None:
        if result.failure.kind == "exhausted":
            raise ModelError(f"the organizer gave no taxonomy: {result.failure.reason}")
        return None, f"the organizer gave no taxonomy ({result.failure.kind}: {result.failure.reason})"
    found = [_dimension(said, [name for name, _ in shown]) for said in result.value["dimensions"]]
    fault = next(faults(found), None)
    if fault is not None:
        return None, f"the organizer's taxonomy was refused: {fault}"
    return Taxonomy(tuple(found), "prepared", method_of(model, asked)), ""


def schema_of(names: int, dimensions: int = _DIMENSIONS, categories: int = _CATEGORIES) -> dict[str, Any]:
    """What an answer about so many names looks like."""
    number = {"type": "integer", "enum": list(range(1, max(names, 1) + 1))}
    category = {
        "name": {"type": "string", "minLength": 2, "maxLength": 48},
        "criterion": {"type": "string", "minLength": 1, "maxLength": 200},
        "examples": {"type": "array", "maxItems": 4, "items": number},
        "terms": {"type": "array", "maxItems": 3, "items": {"type": "string", "minLength": 2, "maxLength": 40}},
    }
    dimension = {
        "name": {"type": "string", "minLength": 2, "maxLength": 40},
        "about": {"type": "string", "minLength": 1, "maxLength": 120},
        "subject_types": {"type": "array", "maxItems": 3, "items": {"enum": list(contracts.ENTITY_TYPES)}},
        "compares": {"type": "boolean"},
        "categories": {"type": "array", "minItems": 1, "maxItems": categories, "items": _object(category)},
    }
    return _object({"dimensions": {"type": "array", "minItems": 1, "maxItems": dimensions, "items": _object(dimension)}})


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False}


def _room(model: ChatModel, names: int) -> tuple[int, int]:
    """As many dimensions and categories as an answer of the model has room for. Raises ModelError where it has none for one."""
    room = _CHARACTERS_A_TOKEN * (model.endpoint.max_output_tokens or model.sampling.max_tokens)
    for categories in range(_CATEGORIES, 0, -1):
        dimensions = max(1, min(_DIMENSIONS, categories - 1))
        longest = shape_of(schema_of(names, dimensions, categories)).longest
        if longest is not None and longest <= room:
            return dimensions, categories
    raise ModelError(f"{model.name} has no room for one category in an answer; raise max_tokens of {model.role}")


def _names(facts: Sequence[Stated]) -> list[tuple[str, str]]:
    """The names that most papers have, with their types, the commonest first."""
    papers: dict[str, set[str]] = defaultdict(set)
    surfaces: dict[str, Counter[str]] = defaultdict(Counter)
    types: dict[str, Counter[str]] = defaultdict(Counter)
    for one in mentions_of(facts):
        papers[one.key].add(one.paper_id)
        surfaces[one.key][one.surface] += 1
        types[one.key][one.type] += one.weight  # type: ignore[assignment]
    best = sorted(papers, key=lambda key: (-len(papers[key]), key))[:_NAMES]
    return [(" ".join(commonest(surfaces[key]).split()), max(sorted(types[key]), key=lambda name: types[key][name])) for key in best]


def _statements(facts: Sequence[Stated]) -> list[str]:
    """The first statements of papers spread over the collection."""
    first = [some[0].statement for _, some in sorted(by_paper(facts).items())]
    step = max(1, len(first) // _STATEMENTS)
    return [" ".join(statement.split())[:_CHARACTERS] for statement in first[::step][:_STATEMENTS]]


def _dimension(said: Mapping[str, Any], names: Sequence[str]) -> Dimension:
    categories = tuple(
        Category(
            _line(one["name"]),
            _line(one["criterion"]),
            tuple(dict.fromkeys(names[number - 1] for number in one["examples"])) if names else (),
            tuple(dict.fromkeys(map(_line, one["terms"]))),
        )
        for one in said["categories"]
    )
    return Dimension(_line(said["name"]), categories, _line(said["about"]), tuple(dict.fromkeys(said["subject_types"])), said["compares"])


def _line(text: str) -> str:
    return " ".join(text.split())

"""Accounts by a language model: shown the numbered grounds of a bundle, it may cite these and nothing else.

What it proposes must pass the same checks as all other accounts. What does not belong here: what is selected (`bundles`), the checks
(`validation`), how models are reached (`models`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scholarlake.knowledge.extraction import PROMPTS, method_of
from scholarlake.knowledge.objects import Context
from scholarlake.knowledge.syntheses.bundles import Bundle
from scholarlake.knowledge.syntheses.material import Material
from scholarlake.knowledge.syntheses.objects import Basis, Claim, Proposal, Refused
from scholarlake.knowledge.syntheses.review import letter, on_one_line
from scholarlake.knowledge.syntheses.wording import basis_of, conditions_of, title_of
from scholarlake.models.chat import ChatRequest
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.prompts import prompt

_CLAIMS = 10  # of one account
_SHOWN = 700  # characters of one ground
_KINDS = {
    "family_overview": "an overview of what belongs to one category: what its members are and do, what is reported of them under which "
    "conditions, and what limits it",
    "disagreement": "findings on one question, under comparable conditions, that do not agree: each side as its studies report it",
    "context_difference": "findings on one question under different conditions: what is reported under which, and which condition differs",
    "open_problem": "what different studies leave open about one thing, and what was found so far",
}


def proposals(bundles: Sequence[Bundle], material: Material, model: ChatModel) -> Iterator[Proposal | Refused]:
    """What the model makes of each bundle, in their order. Raises what asking raises."""
    template = prompt(PROMPTS, "synthesize")
    method = method_of(model, template)
    found: dict[int, Proposal | Refused] = {}

    def request(bundle: Bundle) -> ChatRequest:
        grounds, conditions = basis_of(bundle), conditions_of(bundle.items)
        messages = template.messages(
            topic=bundle.topic,
            kind=_KINDS[bundle.kind],
            grounds="\n".join(_lines(grounds, material)),
            conditions="\n".join(f"{number} {one.kind}: {one.text}" for number, one in enumerate(conditions, 1)),
            most=_CLAIMS,
        )
        return ChatRequest(messages, schema_of(len(grounds), len(conditions)), item=f"{material.collection} {bundle.kind} {bundle.topic}")

    for result in model.ask(map(request, bundles)):
        bundle = bundles[result.position]
        if result.failure is not None:
            empty = Proposal(material.collection, bundle.kind, bundle.topic, title_of(bundle), (), (), method=method)
            found[result.position] = Refused(empty, "not_an_answer", f"{result.failure.kind}: {result.failure.reason}")
        else:
            found[result.position] = _proposal(result.value, bundle, material.collection, method)
    return (found[place] for place in range(len(bundles)))


def schema_of(grounds: int, conditions: int) -> dict[str, Any]:
    """What an answer looks like, given how many grounds and conditions are shown. Everything in it has an end."""
    numbers = _numbers(grounds, 0, min(grounds, 20))
    properties: dict[str, Any] = {
        "title": {"type": "string", "maxLength": 160},
        "claims": {
            "type": "array",
            "minItems": 1,
            "maxItems": _CLAIMS,
            "items": {
                "type": "object",
                "properties": {"text": {"type": "string", "maxLength": 500}, "cites": _numbers(grounds, 1, min(grounds, 6))},
                "required": ["text", "cites"],
                "additionalProperties": False,
            },
        },
        "opposing": numbers,
        "limiting": numbers,
        "conditions": _numbers(max(conditions, 1), 0, min(conditions, 12)),
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _numbers(last: int, least: int, most: int) -> dict[str, Any]:
    return {"type": "array", "minItems": least, "maxItems": most, "items": {"type": "integer", "minimum": 1, "maximum": last}}


def _lines(grounds: Sequence[Basis], material: Material) -> Iterator[str]:
    letters: dict[str, str] = {}
    for number, one in enumerate(grounds, 1):
        ground = material.grounds[one.object_id]
        of = [letters.setdefault(work, letter(len(letters))) for work in sorted(material.works.sources(ground.papers))]
        yield f"{number} ({ground.kind}, source {'+'.join(of)}; {one.why}): {on_one_line(ground.text)[:_SHOWN]}"


def _proposal(said: Mapping[str, Any], bundle: Bundle, collection: str, method: str) -> Proposal:
    grounds, known = basis_of(bundle), conditions_of(bundle.items)
    roles = {number: role for role in ("limiting", "opposing") for number in said[role]}
    cited = sorted({number for claim in said["claims"] for number in claim["cites"]})
    basis = tuple(Basis(grounds[number - 1].object_id, roles.get(number, "supporting"), grounds[number - 1].why) for number in cited)
    claims = tuple(
        Claim(claim["text"].strip(), tuple(dict.fromkeys(grounds[number - 1].object_id for number in claim["cites"])))
        for claim in said["claims"]
    )
    conditions: tuple[Context, ...] = tuple(known[number - 1] for number in sorted(set(said["conditions"])) if number <= len(known))
    title = said["title"].strip() or title_of(bundle)
    return Proposal(collection, bundle.kind, bundle.topic, title, claims, basis, conditions, bundle.category_id, method)

"""Relations that the organizer proposes, paper by paper: ends, relation and fact by number, so that none is made up.

What does not belong here: the way without a model (`relating`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scholarlake.errors import ModelError
from scholarlake.knowledge.extraction import method_of
from scholarlake.knowledge.organization.material import Stated, by_paper
from scholarlake.knowledge.organization.proposed import PROMPTS
from scholarlake.knowledge.organization.relating import End, Named, Related, payload_of
from scholarlake.lake import contracts
from scholarlake.models.chat import ChatRequest
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.prompts import prompt

_FACTS, _NAMES, _MOST, _CHARACTERS = 12, 24, 8, 300


def schema_of(facts: int, names: int) -> dict[str, Any]:
    """What an answer about so many facts and names looks like."""
    one = {
        "fact": {"type": "integer", "enum": list(range(1, facts + 1))},
        "source": {"type": "integer", "enum": list(range(names + 1))},
        "target": {"type": "integer", "enum": list(range(1, names + 1))},
        "relation": {"enum": list(contracts.RELATIONS_OF_ENTITIES)},
    }
    entry = {"type": "object", "properties": one, "required": list(one), "additionalProperties": False}
    found = {"type": "array", "maxItems": _MOST, "items": entry}
    return {"type": "object", "properties": {"relations": found}, "required": ["relations"], "additionalProperties": False}


def proposals(facts: Sequence[Stated], named: Mapping[str, Sequence[Named]], model: ChatModel) -> Iterator[Related]:
    """What the organizer proposes, held to what rules are held to: the fact names both ends, and the source is no end of itself.

    Raises ModelError where it can't be asked now; a paper about which it says nothing usable has what rules found.
    """
    asked = prompt(PROMPTS, "relate")
    method = method_of(model, asked)
    wanted = []
    for paper_id, some in sorted(by_paper(facts).items()):
        shown = [fact for fact in some if fact.supports][:_FACTS]
        found = {one.end.id: one.end for fact in shown for one in named.get(fact.fact_id, ())}
        if shown and found:
            wanted.append((paper_id, shown, list(found.values())[:_NAMES]))
    requests = (
        ChatRequest(
            asked.messages(
                names="\n".join(f"{n}: {_line(end.name or end.id)}" for n, end in enumerate(ends, 1)),
                facts="\n".join(f"{n}: {_line(fact.statement)}" for n, fact in enumerate(shown, 1)),
                most=_MOST,
            ),
            schema_of(len(shown), len(ends)),
            item=paper_id,
        )
        for paper_id, shown, ends in wanted
    )
    for result in model.ask(requests):
        paper_id, shown, ends = wanted[result.position]
        if result.failure is not None:
            if result.failure.kind == "exhausted":
                raise ModelError(f"the organizer could not be asked: {result.failure.reason}")
            continue
        for said in result.value["relations"]:
            fact, target = shown[said["fact"] - 1], ends[said["target"] - 1]
            source = ends[said["source"] - 1] if said["source"] else End("paper", paper_id, None)
            there = {one.end.id for one in named.get(fact.fact_id, ())} | {paper_id}
            if source.id != target.id and {source.id, target.id} <= there:
                yield Related(said["relation"], source, target, (fact,), payload_of(fact), "likely", method)


def _line(text: str) -> str:
    return " ".join(text.split())[:_CHARACTERS]

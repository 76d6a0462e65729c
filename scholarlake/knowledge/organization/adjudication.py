"""Doubtful pairs of names before the adjudicator: several votes each, and the same only where they agree.

What does not belong here: which pairs are doubtful (`merging`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scholarlake.errors import ModelError
from scholarlake.knowledge.extraction import method_of
from scholarlake.knowledge.objects import Vote
from scholarlake.knowledge.organization.material import Stated
from scholarlake.knowledge.organization.merging import Decision, Form, Placed
from scholarlake.knowledge.organization.proposed import PROMPTS
from scholarlake.models.chat import ChatRequest, Sampling
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.prompts import prompt

_SHOWN, _CHARACTERS = 3, 300  # statements of each name, and characters of each
_WARMTH = 0.7  # temperature of every vote but the first, where the role has none: else all would be one answer
_VERDICTS: Mapping[str, Any] = {"yes": "supported", "no": "failed", "unclear": "unresolved"}

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": 240}, "same": {"enum": ["yes", "no", "unclear"]}},
    "required": ["reason", "same"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Adjudicator:
    """A model that is asked about pairs. votes: how often about each."""

    model: ChatModel
    votes: int

    def judged(
        self, decisions: Sequence[Decision], forms: Mapping[str, Form], placed: Sequence[Placed], facts: Sequence[Stated]
    ) -> list[Decision]:
        """The decisions, the doubtful ones settled where all votes on them agree.

        Raises ModelError where the model can't be asked now; a pair about which it says nothing usable stays doubtful.
        """
        doubtful = [place for place, one in enumerate(decisions) if one.verdict == "doubtful"]
        asked, shown = prompt(PROMPTS, "same"), _Shown(forms, placed, facts)
        wanted = [(place, number) for place in doubtful for number in range(self.votes)]
        method = method_of(self.model, asked)
        votes: dict[int, dict[int, Vote]] = defaultdict(dict)
        requests = (
            ChatRequest(
                asked.messages(
                    left=shown.of(decisions[place].left), right=shown.of(decisions[place].right), reason=_why(decisions[place].rule)
                ),
                SCHEMA,
                Sampling(seed=number, temperature=self.model.sampling.temperature or _WARMTH) if number else None,  # type: ignore[call-arg]
                item=f"{decisions[place].left} = {decisions[place].right} {number + 1}",
            )
            for place, number in wanted
        )
        for result in self.model.ask(requests):
            place, number = wanted[result.position]
            if result.failure is None:
                votes[place][number] = Vote(_VERDICTS[result.value["same"]], None, None, " ".join(result.value["reason"].split()), method)
            elif result.failure.kind == "exhausted":
                raise ModelError(f"the adjudicator could not be asked: {result.failure.reason}")
        return [self._settled(one, [votes[place][n] for n in sorted(votes[place])]) for place, one in enumerate(decisions)]

    def _settled(self, decision: Decision, votes: Sequence[Vote]) -> Decision:
        if not votes:
            return decision
        found = {vote.verdict for vote in votes}
        decided = replace(decision, votes=tuple(votes), method=votes[0].method)
        if len(found) > 1 or 2 * len(votes) <= self.votes or "unresolved" in found:
            return decided
        return replace(decided, verdict="same" if "supported" in found else "different", rule="adjudicated", reason=votes[0].reason)


def _why(rule: str) -> str:
    return {
        "near": "one letter parts the names",
        "acronym": "one is a short form that papers define in several ways",
        "genus": "one is a species whose genus is only begun",
    }.get(rule, "the names are much alike")


class _Shown:
    """What is shown of a name: how it is written, and the first statements that have it."""

    def __init__(self, forms: Mapping[str, Form], placed: Sequence[Placed], facts: Sequence[Stated]) -> None:
        self._forms = forms
        self._statements = {fact.fact_id: fact.statement for fact in facts}
        self._facts: dict[str, list[str]] = defaultdict(list)
        for one in placed:
            self._facts[one.node].append(one.mention.fact_id)

    def of(self, node: str) -> str:
        some = [" ".join(self._statements[fact].split())[:_CHARACTERS] for fact in dict.fromkeys(self._facts[node])]
        return "\n".join([self._forms[node].shown, *(f"- {statement}" for statement in sorted(some)[:_SHOWN])])

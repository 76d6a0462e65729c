"""Whether grounds bear out an account: votes of the verifier, apart from all structural checks; nothing is inherited from the grounds.

What does not belong here: whether the grounds are there (`validation`), and what a vote on a fact is (`verification`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scholarlake.knowledge.extraction import PROMPTS, method_of
from scholarlake.knowledge.objects import Vote
from scholarlake.knowledge.syntheses.grounds import Ground, Works
from scholarlake.knowledge.syntheses.objects import Review, Synthesis
from scholarlake.knowledge.verification import SCHEMA, WARMTH, settled, vote_of
from scholarlake.models.chat import ChatRequest, Sampling
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.prompts import prompt

AS_REVIEW: Mapping[str, Review] = {"supported": "supported", "failed": "failed", "unresolved": "disputed", "unchecked": "unreviewed"}


@dataclass
class Reviewed:
    """Accounts with their reviews. faults: why votes did not come."""

    syntheses: list[Synthesis]
    faults: list[str] = field(default_factory=list)


def reviewed(
    syntheses: Sequence[Synthesis], grounds: Mapping[str, Ground], works: Works, verifier: ChatModel | None, votes: int
) -> Reviewed:
    """The accounts, each with the votes on it; unreviewed without a verifier. Raises what asking raises."""
    if verifier is None or not syntheses:
        return Reviewed(list(syntheses))
    template = prompt(PROMPTS, "review")
    method = method_of(verifier, template)
    cases = [(place, number) for place in range(len(syntheses)) for number in range(votes)]
    given: dict[int, dict[int, Vote]] = {place: {} for place in range(len(syntheses))}
    faults: list[str] = []

    def request(place: int, number: int) -> ChatRequest:
        one = syntheses[place]
        sampling = Sampling(seed=number, temperature=verifier.sampling.temperature or WARMTH) if number else None  # type: ignore[call-arg]
        messages = template.messages(**_shown(one, grounds, works))
        return ChatRequest(messages, SCHEMA, sampling, item=f"{one.synthesis_id} {number + 1}")

    for result in verifier.ask(request(*case) for case in cases):
        place, number = cases[result.position]
        if result.failure is not None:
            faults.append(f"{result.failure.kind}: {result.failure.reason}")
        else:
            given[place][number] = vote_of(result, method)
    done = []
    for place, one in enumerate(syntheses):
        came = tuple(given[place][number] for number in sorted(given[place]))
        done.append(one.reviewed(AS_REVIEW[settled(came, votes)], came))
    return Reviewed(done, faults)


def _shown(one: Synthesis, grounds: Mapping[str, Ground], works: Works) -> dict[str, str]:
    listed = list(dict.fromkeys(entry.object_id for entry in one.said.basis))
    numbers = {id: number for number, id in enumerate(listed, 1)}
    letters: dict[str, str] = {}
    lines = []
    for entry in one.said.basis:
        ground = grounds[entry.object_id]
        of = [letters.setdefault(work, letter(len(letters))) for work in sorted(works.sources(ground.papers))]
        lines.append(f"{numbers[entry.object_id]} ({entry.role}, {ground.kind}, source {'+'.join(of)}): {on_one_line(ground.text)}")
    return {
        "grounds": "\n".join(lines),
        "claims": "\n".join(
            f"{on_one_line(claim.text)} [{', '.join(str(numbers[id]) for id in claim.cites)}]" for claim in one.said.claims
        ),
        "topic": one.said.topic,
        "conditions": "\n".join(f"{entry.kind}: {entry.text}" for entry in one.said.conditions),
    }


def letter(number: int) -> str:
    return chr(65 + number % 26) + (str(number // 26) if number >= 26 else "")


def on_one_line(text: str) -> str:
    return "; ".join(filter(None, (" ".join(part.split()) for part in text.splitlines())))

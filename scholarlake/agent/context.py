"""What an agent sees of its past: every thought and every call, and of the observations as many as its settings keep (SciLENS, J.2).

Where all are kept until they are too many (`discard-all`), the loop begins anew: then there are no rounds to be shown. What does not belong
here: how an observation reads (`observation`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from scholarlake.agent import observation
from scholarlake.agent.trajectory import Round
from scholarlake.models.chat import FunctionCall, Message
from scholarlake.models.fencing import messages_apart
from scholarlake.models.structured import Invalid, strict_json

_BROKEN = 2_000  # characters of arguments that are no JSON


def conversation(opening: Sequence[Message], rounds: Sequence[Round], kept: int | None = None) -> tuple[Message, ...]:
    """The messages of a conversation so far. kept: of so many of the newest observations all is shown, of older ones only that they were;
    None shows all."""
    observed = [one.number for one in rounds if one.observation is not None]
    whole = set(observed if kept is None else observed[-kept:])
    said = [message for one in rounds for message in _round(one, one.number in whole)]
    return (*opening, *said)


def _round(one: Round, is_whole: bool) -> Iterator[Message]:
    yield Message("assistant", messages_apart(one.text), tuple(_sendable(call) for call in one.calls))
    if one.observation is None:
        return
    name = one.call["tool_name"] if one.call else None
    text = one.observation if is_whole else observation.left_out(name, bool(one.ok))
    if not one.native:
        yield Message("user", observation.tagged(text))
    for call in one.calls:
        yield Message("tool", text, answers=call.id)


def _sendable(call: FunctionCall) -> FunctionCall:
    """Servers read the arguments of calls that they are told of, and break down over those that are no JSON object."""
    try:
        sound = isinstance(strict_json(call.arguments), dict)
    except Invalid:
        sound = False
    return call if sound else replace(call, arguments=observation.plain({"unreadable": call.arguments[:_BROKEN]}))

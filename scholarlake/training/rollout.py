"""A rollout taken apart: which of it the agent wrote, turn by turn, and which tools did.

It comes as messages, or as one text, as trainers decode it. In a text a tool's words are told by the speaker's name before them, with or
without a chat template's tokens; without it, they count as the agent's own. Messages say it themselves: give these where there are any.
What does not belong here: what is right or wrong about a turn (`agent.parsing`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scholarlake.agent.parsing import RESPONSE, Turn, parse, parse_native, written
from scholarlake.models.chat import FunctionCall

Rollout = str | Sequence[Mapping[str, Any]]

_TOKENS = r"(?:\s*<\|[a-z_]+\|>)*\s*"
_RESPONSES = rf"(?:<{RESPONSE}>.*?</{RESPONSE}>\s*)+"
_BETWEEN = re.compile(rf"{_TOKENS}\b(?:user|tool|observation)\s*\n\s*{_RESPONSES}{_TOKENS}(?:assistant\s*\n|\Z)", re.DOTALL)
_TRAILING = re.compile(r"(?:\s*<\|[a-z_]+\|>)+\s*\Z")
_RESPONSE = re.compile(rf"<{RESPONSE}>(.*?)</{RESPONSE}>", re.DOTALL)
_SHOWN = 4_000  # characters of one observation that a judge is shown


def turns_of(rollout: Rollout) -> list[Turn]:
    """What the agent wrote, turn by turn."""
    if isinstance(rollout, str):
        return [parse(written(_TRAILING.sub("", text))) for text in _BETWEEN.split(rollout) if text.strip()]
    return [_turn(message) for message in rollout if message.get("role") == "assistant"]


def record_of(rollout: Rollout) -> str:
    """The whole of it as a judge reads it, long observations without their ends."""
    if isinstance(rollout, str):
        return _RESPONSE.sub(lambda found: f"<{RESPONSE}>{_short(found[1])}</{RESPONSE}>", rollout)
    parts = []
    for message in rollout:
        content = _text(message)
        if message.get("role") == "assistant":
            calls = [f"<tool_call>{call.name} {call.arguments}</tool_call>" for call in _calls(message)]
            parts.append("\n".join([written(content, message.get("reasoning_content")), *calls]))
        elif message.get("role") == "tool" or f"<{RESPONSE}>" in content:
            bare = _RESPONSE.search(content)
            parts.append(f"<{RESPONSE}>{_short(bare[1] if bare else content)}</{RESPONSE}>")
    return "\n".join(parts)


def _turn(message: Mapping[str, Any]) -> Turn:
    text, calls = written(_text(message), message.get("reasoning_content")), _calls(message)
    return parse_native(text, calls) if calls else parse(text)


def _calls(message: Mapping[str, Any]) -> list[FunctionCall]:
    """The native calls of a message, in OpenAI's form. Arguments that are an object already are written out."""
    import orjson

    found = []
    for call in message.get("tool_calls") or ():
        function = call.get("function", call)
        arguments = function.get("arguments", "")
        text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
        found.append(FunctionCall(str(call.get("id", "")), str(function.get("name", "")), text))
    return found


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content if isinstance(part, Mapping))


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"

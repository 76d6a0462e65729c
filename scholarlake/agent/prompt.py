"""What an agent is told: one system prompt, the same when trajectories are made to learn from as when a question is asked.

What does not belong here: what the tools are (`toolbox`), and how a turn is read (`parsing`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from scholarlake.agent.settings import Calling
from scholarlake.lake.hashing import digest
from scholarlake.models.chat import Message
from scholarlake.models.fencing import apart
from scholarlake.models.prompts import prompt
from scholarlake.toolbox.dispatch import TOOLS, functions

_PROMPTS = Path(__file__).parent / "prompts"


@dataclass(frozen=True)
class Briefing:
    """The system prompt, what the model may call by its own function calling, and a version of both."""

    text: str
    functions: tuple[dict[str, Any], ...]
    version: str


@lru_cache
def briefing(calling: Calling) -> Briefing:
    """What an agent is told that calls in this way."""
    template = prompt(_PROMPTS, "system")
    described = [{"name": tool.name, "description": tool.about, "parameters": tool.parameters} for tool in TOOLS.values()]
    lines = "\n".join(orjson.dumps(one).decode() for one in described)
    (message,) = template.messages(native=calling == "native", tools=list(TOOLS.values()), schemas=lines)
    called = tuple(functions()) if calling == "native" else ()
    return Briefing(message.content, called, digest([template.version, message.content, orjson.dumps(called).decode()]))


def opening(question: str, calling: Calling) -> tuple[Message, Message]:
    """How a conversation begins. A question may hold what others wrote: no tag in it means anything."""
    return Message("system", briefing(calling).text), Message("user", apart(question.strip()))

"""An agent whose model says what a test has written down, over real HTTP, on the small lake."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import scholarlake
from scholarlake.agent import loop
from scholarlake.agent.settings import Settings
from scholarlake.agent.trajectory import Trajectory
from scholarlake.door import ReleaseReader
from scholarlake.models.chat import Tags
from scholarlake.models.config import ModelsFile
from scholarlake.models.crew import Crew
from tests.misbehaving import MODEL, Asked, Reply, Server, said, serving

Line = str | Callable[[Asked], Reply]
"""What the model says, or what its server does."""


def call(name: str, thought: str = "Let me see.", **given: Any) -> str:
    """A well-formed turn that calls a tool."""
    return f"<think>{thought}</think>\n<tool_call>{json.dumps({'tool_name': name, 'tool_args': given})}</tool_call>"


def answer(text: str = "It is so.", thought: str = "Enough.") -> str:
    return f"<think>{thought}</think>\n<answer>{text}</answer>"


def native(name: str, arguments: str, text: str = "<think>Let me see.</think>", name_of_call: str = "c1") -> Callable[[Asked], Reply]:
    """A turn that calls a function in the protocol's own way. arguments: as text, be it JSON or not."""
    return natively([(name_of_call, name, arguments)], text)


def natively(calls: Sequence[tuple[str, str, str]], text: str | None = "<think>Let me see.</think>") -> Callable[[Asked], Reply]:
    made = [{"id": one, "type": "function", "function": {"name": name, "arguments": given}} for one, name, given in calls]
    return lambda asked: said(text, asked, "tool_calls", tool_calls=made)


@dataclass
class Play:
    """A script that is being read. Behind its last line it says nothing useful."""

    lines: Sequence[Line]
    at: int = 0
    asked: list[Asked] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        line = self.lines[self.at] if self.at < len(self.lines) else "…"
        self.at += 1
        return line(asked) if callable(line) else said(line, asked)

    def messages(self, number: int) -> list[dict[str, Any]]:
        """What the server received with the request of this number, from 1."""
        return list(self.asked[number - 1].body["messages"])

    def seeds(self) -> list[int]:
        return [one.body["seed"] for one in self.asked]


def models(url: str, binding: dict[str, Any] | None = None, **endpoint: Any) -> ModelsFile:
    """A models file that binds the agent to a server which is neither waited for nor asked twice."""
    described = {"backend": "openai", "model": MODEL, "base_url": url, "attempts": 1, "patience_seconds": 0, **endpoint}
    return ModelsFile.model_validate({"roles": {"agent": {"endpoint": "here", **(binding or {})}}, "endpoints": {"here": described}})


@contextmanager
def playing(*lines: Line) -> Iterator[tuple[Play, Server]]:
    play = Play(lines)
    with serving(play) as server:
        yield play, server


def run(lake: Path, url: str, question: str = "What is deep learning?", watch: loop.Watch = lambda _: None, **settings: Any) -> Trajectory:
    with scholarlake.open(lake) as reader:
        return ask(reader, models(url), question, watch, **settings)


def ask(
    reader: ReleaseReader,
    bound: ModelsFile,
    question: str,
    watch: loop.Watch = lambda _: None,
    keep: Callable[[Trajectory], object] = lambda _: None,
    **settings: Any,
) -> Trajectory:
    with Crew(bound, reader.lake, Tags("agent", run="test")) as crew, reader.toolbox() as toolbox:
        model = crew.chat(loop.ROLE)
        assert model is not None
        return loop.ask(question, toolbox, model, Settings(**settings), watch, keep)


def play(lake: Path, *lines: Line, question: str = "What is deep learning?", **settings: Any) -> tuple[Trajectory, Play]:
    """A run of a script, and what the server was asked."""
    with playing(*lines) as (played, server):
        return run(lake, server.url, question, **settings), played

"""A model on the misbehaving server, with a ledger of its own and a clock that only waits in words."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scholarlake.models.budget import Budget
from scholarlake.models.chat import ChatRequest, ChatResult, Message, Sampling, Tags
from scholarlake.models.chat_model import ChatModel, Clock
from scholarlake.models.config import ChatEndpoint
from scholarlake.models.ledger import Ledger
from scholarlake.models.openai_chat import OpenAIChat
from tests.misbehaving import MODEL

KEY = "sk-very-secret"
TAGS = Tags("facts", "00", "run-1")
SCHEMA = {
    "type": "object",
    "properties": {"finding": {"type": "string", "maxLength": 200}, "count": {"type": "integer", "minimum": 0, "maximum": 99}},
    "required": ["finding", "count"],
}


class VirtualClock(Clock):
    """Time that passes only where somebody waits."""

    def __init__(self) -> None:
        self.at = 0.0
        self.waits: list[float] = []

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.at += seconds
        await asyncio.sleep(0)


def endpoint(url: str, **settings: Any) -> ChatEndpoint:
    return ChatEndpoint.model_validate({"backend": "openai", "model": MODEL, "base_url": url, "concurrency": 8, "attempts": 3, **settings})


@contextmanager
def model(
    url: str,
    folder: Path,
    *,
    clock: Clock | None = None,
    limit: float | None = None,
    sampling: Sampling | None = None,
    tags: Tags | None = None,
    **settings: Any,
) -> Iterator[ChatModel]:
    described = endpoint(url, **settings)
    ledger = Ledger(folder / "models" / "ledger.sqlite")
    try:
        with ChatModel(
            "extractor",
            "test",
            described,
            lambda: OpenAIChat(described, url, KEY),
            ledger,
            sampling=sampling,
            tags=tags or TAGS,
            budgets=[] if limit is None else [Budget("the run", limit, ledger.purse((tags or TAGS).run))],
            clock=clock or VirtualClock(),
        ) as opened:
            yield opened
    finally:
        ledger.close()


def request(text: str, **more: Any) -> ChatRequest:
    return ChatRequest((Message("system", "You read papers."), Message("user", text)), **more)


def results(asked: ChatModel, requests: Iterable[ChatRequest]) -> list[ChatResult]:
    """All results, by position."""
    return sorted(asked.ask(requests), key=lambda result: result.position)

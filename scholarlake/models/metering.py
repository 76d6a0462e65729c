"""An embedder whose work is in the ledger, and that stops before a run would cost more than it may."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scholarlake.models.budget import WAIT_SECONDS, Budget, BudgetSpent, hold_all
from scholarlake.models.chat import Spent, Tags, Tally
from scholarlake.models.config import EMBEDDER, Endpoint
from scholarlake.models.ledger import Ledger, Work
from scholarlake.models.protocol import Answer, Embedder, Kind


class MeteredEmbedder:
    """The same embedder; every answer of it is a line of the ledger. A model embedded in this process costs nothing.

    Raises BudgetSpent before texts whose vectors could cost more than is left. They are counted at a token a byte.
    """

    def __init__(self, embedder: Embedder, endpoint: Endpoint, ledger: Ledger, tags: Tags, budgets: Sequence[Budget]) -> None:
        self.tally = Tally()
        self._embedder = embedder
        self._endpoint = endpoint
        self._ledger = ledger
        self._tags = tags
        self._price = 0.0 if endpoint.backend != "openai" else endpoint.price
        self._budgets = budgets if self._price else ()

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def identity(self) -> Mapping[str, Any]:
        return self._embedder.identity

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def batch_size(self) -> int:
        return self._embedder.batch_size

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Iterator[Answer]:
        """As the embedder does it; where money is at stake, no more at once than it has under way at once."""
        size = self.batch_size * self._endpoint.concurrency if self._budgets else max(1, len(texts))
        for start in range(0, len(texts), size):
            part = texts[start : start + size]
            most = self._cost(sum(len(text.encode("utf-8", "replace")) for text in part)) or 0.0 if self._budgets else 0.0
            self._hold(most)
            before = self.tally.spent.cost or 0.0
            try:
                for answer in self._counted(part, kind):
                    yield replace(answer, positions=answer.positions + start)
            finally:
                for budget in self._budgets:
                    budget.settle(most, (self.tally.spent.cost or 0.0) - before)

    def _hold(self, most: float) -> None:
        """Set money aside, waiting for others of the run that may give some back. Raises BudgetSpent where none do."""
        waited = 0.0
        while (short := hold_all(self._budgets, most)) is not None:
            if waited >= self._endpoint.timeout_seconds or not short.may_get_more():
                raise BudgetSpent(short.said(most))
            waited += WAIT_SECONDS
            time.sleep(WAIT_SECONDS)

    def _counted(self, texts: Sequence[str], kind: Kind) -> Iterator[Answer]:
        began = time.monotonic()
        for answer in self._embedder.embed(texts, kind):
            now = time.monotonic()
            usage, cost = answer.usage, self._cost(answer.usage.tokens)
            outcome = "answered" if answer.fault is None else answer.fault.verdict
            facts = (usage.requests, 0, usage.tokens, 0, now - began, cost)
            self._ledger.put((), (Work(self._tags, EMBEDDER, self.name, self._endpoint.model, outcome, *facts),))
            self.tally.spent += Spent(*facts)
            if answer.fault is not None:
                self.tally.failures[answer.fault.verdict] += 1
            yield answer
            began = time.monotonic()  # what was done with the answer is not the model's time

    def _cost(self, tokens: int) -> float | None:
        return None if self._price is None else tokens * self._price / 1e6

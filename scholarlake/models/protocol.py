"""What every model back end speaks: requests in bulk, answers as they finish, each with an error of its own.

An embedder is given many texts at once and yields answers in whatever order they get done; an answer names the positions
it is for. What does not belong here: which model a role uses (`config.py`), what to do about a failed answer (`answers.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from scholarlake.lake.hashing import digest

Vectors = NDArray[np.float32]
Kind = Literal["document", "query"]
Verdict = Literal["refused", "failed", "lost"]


@dataclass(frozen=True)
class Usage:
    """What an answer cost: requests sent, retries included, and tokens read by the model."""

    requests: int = 0
    tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.requests + other.requests, self.tokens + other.tokens)


NO_COST = Usage()


@dataclass(frozen=True)
class Fault:
    """Why a request got no vectors.

    refused: the endpoint will never take this request; a part of it, perhaps. failed: it broke down over this request, though
    it was asked again. lost: the endpoint is not there or lets nobody in; asking for anything else is in vain.
    """

    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Answer:
    """One finished request. positions: which of the texts, shape (n,). vectors: shape (n, dimension), or None with a fault."""

    positions: NDArray[np.int64]
    vectors: Vectors | None
    fault: Fault | None = None
    usage: Usage = NO_COST


class Embedder(Protocol):
    """Turns texts into vectors.

    name: what to call it in messages. identity: everything that changes a vector. fingerprint: the digest of identity.
    dimension: length of a vector. batch_size: texts that one request holds, and that are lost when the process dies.
    """

    @property
    def name(self) -> str: ...
    @property
    def identity(self) -> Mapping[str, Any]: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def batch_size(self) -> int: ...

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Iterator[Answer]:
        """Answers that together cover every position once. Raises nothing for what an endpoint says: that is a fault."""
        ...


def fingerprint_of(identity: Mapping[str, Any]) -> str:
    """One name for everything that changes a vector, 32 hexadecimal digits."""
    return digest(f"{key}={identity[key]!r}" for key in sorted(identity))

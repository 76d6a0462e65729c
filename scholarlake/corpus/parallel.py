"""Several pieces of work at a time in threads, results in order, no more in memory than are at work.

For work that NumPy, Polars and Arrow do outside Python's lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

THREADS = 2
"""Pieces at work at a time: each holds its piece in memory, and the libraries beneath use several cores for one."""

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def in_parallel(work: Callable[[Piece], Result], pieces: Iterable[Piece]) -> Iterator[Result]:
    """The result of every piece, in the order of the pieces. A piece is taken from the iterable only when it is next.

    Raises what the work raises, at the piece it was raised for.
    """
    with ThreadPoolExecutor(THREADS) as pool:
        running: deque[Future[Result]] = deque()
        try:
            for piece in pieces:
                running.append(pool.submit(work, piece))
                if len(running) > THREADS:  # one waits, so that no thread does
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for waiting in running:
                waiting.cancel()

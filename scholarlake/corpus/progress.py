"""How long work says where it is: `progress(done, total, what)`, total None where it is not known beforehand."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int | None, str], None]


def silent(done: int, total: int | None, what: str) -> None:
    """Report to nobody."""

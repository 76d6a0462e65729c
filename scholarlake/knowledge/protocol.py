"""What every way to find facts speaks: documents in, a reading of each out.

What does not belong here: which way is taken (`readers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from scholarlake.knowledge.objects import Reading, Source


class Reader(Protocol):
    """Looks for facts in documents. method: what made them, as it is kept with every row."""

    @property
    def method(self) -> str: ...

    def readings(self, sources: Iterable[Source]) -> Iterator[Reading]:
        """A reading for each source, in any order."""
        ...

"""Blocks whose units are known, and what makes them of a stream: for framings that can't be cut at any line.

A unit is the bytes of one record, or of something that is none and will be rejected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scholarlake.sources.lines import Block, Giant
from scholarlake.sources.plain import Integers


@dataclass(frozen=True, kw_only=True)
class Cut(Block):
    """A block whose units are known: the i-th is data[starts[i]:stops[i]]; between them lie separators only.

    breaks_off: whether the part ends with this block, inside an array and between two of its units.
    """

    starts: Integers
    stops: Integers
    breaks_off: bool = False


class Window:
    """The bytes of a stream that are not decided yet."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self.held = b""
        self.at_end = False

    def fill(self, wanted: int) -> int:
        """Hold that many bytes, fewer only at the end of the stream. Returns how many are held."""
        pieces, got = [self.held], len(self.held)
        while got < wanted and not self.at_end:
            chunk = self._read(wanted - got)
            pieces.append(chunk)
            got += len(chunk)
            self.at_end = not chunk
        self.held = b"".join(pieces) if len(pieces) > 1 else self.held
        return got

    def drop(self, count: int) -> None:
        self.held = self.held[count:]


class Making:
    """The block that is being made."""

    def __init__(self) -> None:
        self._offset = 0
        self._clear()

    def _clear(self) -> None:
        self._pieces: list[bytes] = []
        self._starts = [np.empty(0, dtype=np.int64)]
        self._stops = [np.empty(0, dtype=np.int64)]
        self.size = 0

    @property
    def stop(self) -> int:
        """Offset in the part behind what is held."""
        return self._offset + self.size

    def add(self, data: bytes, starts: Integers, stops: Integers) -> None:
        self._pieces.append(data)
        self._starts.append(starts + self.size)
        self._stops.append(stops + self.size)
        self.size += len(data)

    def block(self, giant: Giant | None = None, *, breaks_off: bool = False) -> Cut:
        """The block as it is; the next begins behind it."""
        starts, stops = np.concatenate(self._starts), np.concatenate(self._stops)
        made = Cut(self._offset, b"".join(self._pieces), giant, starts=starts, stops=stops, breaks_off=breaks_off)
        self._offset = made.stop
        self._clear()
        return made

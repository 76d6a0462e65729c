"""Rows of cells parted by tabs, as columns: cut by the bytes, without a text made of any cell.

What does not belong here: what a column means (`dialects`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from scholarlake.sources.plain import Integers, as_arrow
from scholarlake.sources.shape import is_utf8
from scholarlake.sources.units import Units

_TAB = 0x09


@dataclass(frozen=True)
class Rows:
    """Rows of one width. places: where they stand among the units; cells: all of them, row after row."""

    places: Integers
    width: int
    cells: pa.LargeStringArray

    def column(self, number: int) -> pa.LargeStringArray:
        return self.cells.take(as_arrow(np.arange(number, len(self.cells), self.width)))


def rows_of(units: Units, least: int, most: int) -> Rows | None:
    """The rows of the width that most rows have, of least to most cells; None where there are none, or not all is UTF-8 text.

    A row that a NUL or a lone carriage return is in is left out, and so is one that begins with white space or a byte-order mark.
    """
    content = np.frombuffer(units.data, dtype=np.uint8)
    tabs = np.flatnonzero(content == _TAB)
    first, last = np.searchsorted(tabs, units.starts), np.searchsorted(tabs, units.stops)
    widths = last - first + 1
    widths[(widths < least) | (widths > most) | (units.stops <= units.starts)] = 0
    if not widths.any() or not is_utf8(units.data):
        return None
    counts = np.bincount(widths)
    counts[0] = 0
    width = int(counts.argmax())
    fit = widths == width
    fit[fit] &= content[units.starts[fit]] > ord(" ")
    for odd in (b"\x00", b"\r", b"\xef\xbb\xbf"):
        if odd in units.data:
            holds = np.flatnonzero(content == odd[0])
            rows = np.searchsorted(units.starts, holds, side="right") - 1
            within = (rows >= 0) & (holds < units.stops[rows])
            fit[rows[within]] = False
    places = np.flatnonzero(fit)
    if not len(places):
        return None
    starts, stops = units.starts[places], units.stops[places]
    inner = tabs[(first[places][:, None] + np.arange(width - 1)).ravel()].reshape(len(places), width - 1)
    begins = np.column_stack((starts, inner + 1)).ravel()
    ends = np.column_stack((inner, stops)).ravel()
    lengths = ends - begins
    bounds = np.append(0, np.cumsum(lengths))
    kept = np.zeros(len(content) + 1, dtype=np.int8)  # +1 where a row begins, -1 behind it
    kept[starts] += 1
    kept[stops] -= 1
    inside = np.cumsum(kept[:-1], dtype=np.int8).astype(bool)
    inside[tabs] = False
    text = content[inside]
    return Rows(places, width, pa.LargeStringArray.from_buffers(len(lengths), pa.py_buffer(bounds), pa.py_buffer(text)))

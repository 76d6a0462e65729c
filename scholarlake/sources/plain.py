"""Many texts at once: all as one column, and which of them need a careful reader.

What is not found here is plain: printable ASCII, single spaces inside, no markup, no entity, no word for "nothing".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from polars import CompatLevel

from scholarlake.sources.text import LONGEST_NULL, NULLS_AND_NONE

_SPACE, _LAST, _BRACE = 0x20, 0x7E, ord("{")
_NULLS_BEGIN = np.zeros(256, dtype=bool)
_NULLS_BEGIN[[ord(word[0]) for word in NULLS_AND_NONE]] = True

Integers = np.ndarray[Any, np.dtype[np.int64]]


def text_column(texts: Sequence[str | None]) -> tuple[pl.Series, list[int]]:
    """The texts as a column, empty ones null; and the places of those that `full_text` might change, or that begin with a brace."""
    return _column(texts, identifiers=False)


def identifier_column(texts: Sequence[str | None]) -> tuple[pl.Series, list[int]]:
    """The ids as a column, empty ones null; and the places of those that `identifier` might change."""
    return _column(texts, identifiers=True)


def _column(texts: Sequence[str | None], identifiers: bool) -> tuple[pl.Series, list[int]]:
    column = pl.Series(texts, dtype=pl.String)
    array = column.to_arrow(compat_level=CompatLevel.oldest())  # all texts in one run of bytes
    _, offsets, content = array.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    if not len(bounds) or bounds[0] == bounds[-1]:  # nothing said at all
        return pl.Series([None] * len(texts), dtype=pl.String), []
    data = np.frombuffer(content, dtype=np.uint8)[: bounds[-1]]
    lengths = np.diff(bounds)
    said = np.flatnonzero(lengths)
    if len(said) < len(texts) - column.null_count():
        column = column.zip_with(pl.Series(lengths > 0), pl.Series([None], dtype=pl.String))
    starts = bounds[:-1][said]
    lowest = _SPACE + 1 if identifiers else _SPACE
    odd = (data - np.uint8(lowest)) > _LAST - lowest  # below the lowest it wraps around
    edges = np.zeros(len(said), dtype=bool)
    if not identifiers:
        odd |= data == ord("<")
        odd |= data == ord("&")
        blank = data == _SPACE
        odd[1:] |= blank[1:] & blank[:-1]
        edges = blank[starts] | blank[bounds[1:][said] - 1] | (data[starts] == _BRACE)
    short = said[(lengths[said] <= LONGEST_NULL) & _NULLS_BEGIN[data[starts]]].tolist()
    found = [np.searchsorted(bounds, np.flatnonzero(odd), side="right") - 1, said[edges]]
    found.append(np.array([place for place in short if texts[place] in NULLS_AND_NONE], dtype=np.int64))
    places: list[int] = np.unique(np.concatenate(found)).tolist()
    return column, places

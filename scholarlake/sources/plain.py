"""Columns of texts as the bytes that they lie in: which texts need a careful reader, found without making any of them.

What is not found is plain: printable ASCII, single spaces inside, no markup, no entity, no word for "nothing".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from scholarlake.sources.text import LONGEST_NULL, NULLS_AND_NONE

Integers = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]

# A reader takes a text's place in its column and the text, and gives it as it should be, or None for nothing.
Reader = Callable[[int, str], str | None]

_SPACE, _LAST, _BRACE = 0x20, 0x7E, ord("{")
_NULL_WORDS = frozenset(word.encode() for word in NULLS_AND_NONE)
_NULLS_BEGIN = np.zeros(256, dtype=bool)
_NULLS_BEGIN[[word[0] for word in _NULL_WORDS]] = True


# Arrow's own ways from and to Python and NumPy import pandas, which takes a process a second and 60 MB. These do not.


def as_arrow(values: np.ndarray[Any, Any]) -> pa.Array:
    """Whole numbers or truth values, none of them null."""
    if values.dtype == bool:
        return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(np.packbits(values, bitorder="little"))])
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def texts_of(texts: Sequence[str | None]) -> pa.LargeStringArray:
    return pl.Series(texts, dtype=pl.String).to_arrow(compat_level=pl.CompatLevel.oldest())


def as_numpy(values: pa.Array) -> np.ndarray[Any, Any]:
    """Numbers or truth values; a null number is NaN."""
    return pl.Series(values).to_numpy()


def nulls_of(values: pa.Array) -> Mask:
    return as_numpy(values.is_null()) if values.null_count else np.zeros(len(values), dtype=bool)


def bounds_of(texts: pa.LargeStringArray) -> tuple[Integers, Bytes]:
    """Where each text begins, and the last one ends, in the bytes that they lie in. A null is as long as an empty text."""
    if texts.type != pa.large_string():
        raise TypeError(f"texts of Arrow's type {texts.type}, not large_string")
    _, offsets, content = texts.buffers()
    if not len(texts) or content is None:
        return np.zeros(len(texts) + 1, dtype=np.int64), np.empty(0, dtype=np.uint8)
    bounds = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return bounds - bounds[0], np.frombuffer(content, dtype=np.uint8)[bounds[0] : bounds[-1]]


def odd_texts(texts: pa.LargeStringArray) -> Mask:
    """Which texts `full_text` might change, or begin with a brace."""
    bounds, data = bounds_of(texts)
    said = np.flatnonzero(np.diff(bounds))
    if not len(said):
        return np.zeros(len(texts), dtype=bool)
    starts, stops = bounds[said], bounds[said + 1]
    blank = data == _SPACE
    marked = ((data - np.uint8(_SPACE)) > _LAST - _SPACE) | (data == ord("<")) | (data == ord("&"))  # below a space it wraps around
    marked[1:] |= blank[1:] & blank[:-1]
    edges = blank[starts] | blank[stops - 1] | (data[starts] == _BRACE)
    return _among(len(texts), said, np.logical_or.reduceat(marked, starts) | edges | _null_words(data, starts, stops))


def odd_identifiers(ids: pa.LargeStringArray) -> Mask:
    """Which ids `identifier` might change."""
    bounds, data = bounds_of(ids)
    said = np.flatnonzero(np.diff(bounds))
    if not len(said):
        return np.zeros(len(ids), dtype=bool)
    starts, stops = bounds[said], bounds[said + 1]
    marked = (data - np.uint8(_SPACE + 1)) > _LAST - _SPACE - 1
    return _among(len(ids), said, np.logical_or.reduceat(marked, starts) | _null_words(data, starts, stops))


def not_ascii(texts: pa.LargeStringArray) -> Mask:
    """Which texts hold more than ASCII."""
    bounds, data = bounds_of(texts)
    said = np.flatnonzero(np.diff(bounds))
    if not len(said):
        return np.zeros(len(texts), dtype=bool)
    return _among(len(texts), said, np.logical_or.reduceat(data > 0x7F, bounds[said]))


def mended(texts: pa.LargeStringArray, odd: Integers, read: Reader) -> pa.LargeStringArray:
    """The texts, those at the odd places read by a reader. What a reader gives is never empty."""
    given = texts.take(as_arrow(odd)).to_pylist()
    found = [read(place, text) for place, text in zip(odd.tolist(), given, strict=True)]
    changed = [number for number, text in enumerate(found) if text != given[number]]
    if not changed:
        return texts
    mask = np.zeros(len(texts), dtype=bool)
    mask[odd[changed]] = True
    return pc.replace_with_mask(texts, as_arrow(mask), texts_of([found[number] for number in changed]))


def without_empty(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The texts, empty ones null."""
    bounds, data = bounds_of(texts)
    said = np.diff(bounds) > 0
    if int(np.count_nonzero(said)) == len(texts) - texts.null_count:
        return texts
    valid = pa.py_buffer(np.packbits(said, bitorder="little"))
    return pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(bounds), pa.py_buffer(data), valid)


def _among(count: int, said: Integers, odd: Mask) -> Mask:
    """The mask of all texts, given that of those that are not empty."""
    mask = np.zeros(count, dtype=bool)
    mask[said] = odd
    return mask


def _null_words(data: Bytes, starts: Integers, stops: Integers) -> Mask:
    """Which texts, none of them empty, are a word for "nothing"."""
    mask = (stops - starts <= LONGEST_NULL) & _NULLS_BEGIN[data[starts]]
    for place in np.flatnonzero(mask).tolist():
        mask[place] = data[starts[place] : stops[place]].tobytes() in _NULL_WORDS
    return mask

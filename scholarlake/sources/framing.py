"""How parts are cut into units, the bytes of one record each, and what may lie between two of them.

What does not belong here: what a unit says (`units`, `dialects`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from scholarlake.sources import lines, objects, paragraphs
from scholarlake.sources.cuts import Cut
from scholarlake.sources.lines import Block
from scholarlake.sources.units import Units

PIECE_BYTES = 4 << 20  # what is made of a piece stays in the processor's cache until it is a frame

ReadBytes = Callable[[int], bytes]
Fits = Callable[[dict[str, Any]], bool]

_LINE_FEED, _CARRIAGE_RETURN = 0x0A, 0x0D
_LINE_ENDS_TO_BLANKS = bytes.maketrans(b"\r\n", b"  ")


@dataclass(frozen=True)
class Framing:
    """A way to cut parts into units.

    about: how records lie in a part.
    in_lines: whether blocks may be cut at any line, so that a plain part can be handed out in byte ranges.
    split: cuts a stream into blocks of about so many bytes that tile it, of units of at most so many; read(n) gives at most n bytes,
        none at the end; the last argument tells whether an object is a record by itself.
    units: the units that a block holds, some at a time.
    between: bytes that may lie between two units, and longest_between how many of them.
    lead: what may lie before the first unit of a part.
    """

    about: str
    in_lines: bool
    split: Callable[[ReadBytes, int, int, Fits], Iterator[Block]]
    units: Callable[[Block], Iterator[Units]]
    between: bytes
    longest_between: int
    lead: re.Pattern[bytes]


def _lines(block: Block) -> Iterator[Units]:
    data, position = block.data, 0
    while position < len(data):
        cut = data.find(b"\n", position + PIECE_BYTES) + 1 or len(data)
        yield lines_of(block.offset + position, data[position:cut])
        position = cut


def lines_of(offset: int, data: bytes) -> Units:
    """The lines of bytes that begin at an offset of the part; a carriage return before a line feed belongs to the line end."""
    content = np.frombuffer(data, dtype=np.uint8)
    stops = np.flatnonzero(content == _LINE_FEED)
    if len(data) and content[-1] != _LINE_FEED:
        stops = np.append(stops, len(data))
    starts = np.concatenate([[0], stops[:-1] + 1]) if len(stops) else stops
    if b"\r" in data:
        ended = stops[: len(stops) - (content[-1] != _LINE_FEED)]  # a carriage return at the end of all ends no line
        ended -= (content[ended - 1] == _CARRIAGE_RETURN) & (ended > starts[: len(ended)])
    return Units(data, starts, stops, starts + offset, stops - starts)


def _cut(block: Block) -> Iterator[Units]:
    """The units of a block that knows them."""
    if not isinstance(block, Cut):
        raise TypeError("a block whose units are not known")
    first = 0
    while first < len(block.starts):
        begin = int(block.starts[first])
        last = max(first + 1, int(np.searchsorted(block.stops, begin + PIECE_BYTES)))
        starts, stops = block.starts[first:last], block.stops[first:last]
        yield Units(block.data[begin : stops[-1]], starts - begin, stops - begin, starts + block.offset, stops - starts)
        first = last


def _objects(block: Block) -> Iterator[Units]:
    """The same, each on a line: a line end in an object is white space, and so is a blank."""
    for units in _cut(block):
        yield Units(units.data.translate(_LINE_ENDS_TO_BLANKS), units.starts, units.stops, units.offsets, units.lengths)


LINES = Framing(
    about="one a line",
    in_lines=True,
    split=lambda read, block_bytes, max_unit_bytes, _: lines.split_stream(read, block_bytes, max_unit_bytes),
    units=_lines,
    between=b"\r\n",
    longest_between=2,
    lead=re.compile(b""),
)
OBJECTS = Framing(
    about="in an array or one behind another",
    in_lines=False,
    split=objects.split_objects,
    units=_objects,
    between=objects.SEPARATORS + objects.BOM,
    longest_between=1 << 62,
    lead=re.compile(b""),
)
PARAGRAPHS = Framing(
    about="paragraphs with tags",
    in_lines=False,
    split=lambda read, block_bytes, max_unit_bytes, _: paragraphs.split_paragraphs(read, block_bytes, max_unit_bytes),
    units=_cut,
    between=b" \t\r\n",
    longest_between=1 << 62,
    lead=paragraphs.LEAD,
)

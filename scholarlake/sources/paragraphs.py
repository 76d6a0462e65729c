"""Paragraphs of lines with tags, as DBLP's text format has them: where each begins and ends.

A paragraph ends before a blank line, and before the tag with which records begin, should the blank line be missing: `#*`, or `#index`
where the part has that first. The number of papers, with which some parts begin, belongs to none. What is longer than a unit may be
is cut behind one byte more than that: such pieces are rejected, and no more than one is held.

What does not belong here: what the tags say (`dialects.dblptext`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from scholarlake.sources.cuts import Cut, Making, Window
from scholarlake.sources.plain import Integers

PIECE_BYTES = 1 << 20
#: What may stand before the first paragraph: a byte-order mark, blank lines, the number of papers.
LEAD = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:[0-9]+[ \t]*(?:\r?\n|\Z)\s*)?")

_LEAD_BYTES = 1 << 12
_LINE_FEED, _CARRIAGE_RETURN, _SIGN = 0x0A, 0x0D, ord("#")
_SPACES = np.array([byte in b" \t\r\n" for byte in range(256)])
_DIVIDER = re.compile(rb"^#[*i]", re.MULTILINE)
_TOLD_BY = 8  # bytes that tell of a line whether it divides


@dataclass(frozen=True)
class _Found:
    """Units of a piece. used: bytes that are decided; what follows is a unit that may go on."""

    used: int
    starts: Integers
    stops: Integers


def split_paragraphs(read: Callable[[int], bytes], block_bytes: int, max_unit_bytes: int) -> Iterator[Cut]:
    """Cut a stream into blocks of about block_bytes. read(n) gives at most n bytes, none at the end."""
    piece_bytes = min(PIECE_BYTES, block_bytes)
    window, making, wanted, divider = Window(read), Making(), piece_bytes, b""
    window.fill(_LEAD_BYTES)
    if lead := LEAD.match(window.held[:_LEAD_BYTES]):
        making.add(lead.group(), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        window.drop(lead.end())
    while window.fill(wanted):
        held = window.held
        lines = held if window.at_end else held[: held.rfind(b"\n") + 1]
        if not divider and (first := _DIVIDER.search(lines)):
            divider = first.group()
        if len(held) > max_unit_bytes + _TOLD_BY and held[len(lines) :].strip():
            lines = held  # the last line is not whole, but all is known of it
        found = _look(lines, divider, max_unit_bytes, at_end=window.at_end)
        used = found.used or (len(held) if len(held) > max_unit_bytes and not held.strip() else 0)
        making.add(held[:used], found.starts, found.stops)
        window.drop(used)
        wanted = piece_bytes if used else 2 * len(held)
        if making.size >= block_bytes:
            yield making.block()
    if making.size:
        yield making.block()


def _look(data: bytes, divider: bytes, max_unit_bytes: int, *, at_end: bool) -> _Found:
    """Find the units of a piece that begins with a line. at_end: whether the part ends with it."""
    content = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(content == _LINE_FEED)
    if len(data) and content[-1] != _LINE_FEED:
        ends = np.append(ends, len(data))
    if not len(ends):
        return _Found(0, ends, ends)
    begins = np.append(0, ends[:-1] + 1)
    # A carriage return belongs to the line end; of a line that the part breaks off, to the line.
    stops = ends - ((ends > begins) & (ends < len(data)) & (content[ends - 1] == _CARRIAGE_RETURN))
    said = stops > begins
    first = content[begins.clip(max=len(data) - 1)]
    for line in np.flatnonzero(said & _SPACES[first]).tolist():
        said[line] = bool(data[begins[line] : stops[line]].strip())
    divides = said & (first == _SIGN) & (content[(begins + 1).clip(max=len(data) - 1)] == ord(divider[1:] or b" "))
    opens = said & (divides | ~np.append(False, said[:-1]))
    closes = said & np.append(opens[1:] | ~said[1:], at_end)
    starts, stops = begins[opens], stops[closes]
    begun = int(starts[len(stops)]) if len(starts) > len(stops) else None
    starts = starts[: len(stops)]

    long = np.flatnonzero(stops - starts > max_unit_bytes)
    if len(long):
        begun, starts, stops = int(starts[long[0]]), starts[: long[0]], stops[: long[0]]
    if begun is None:
        return _Found(len(data), starts, stops)
    if len(long) or len(data) - begun > max_unit_bytes:
        cut = begun + max_unit_bytes + 1
        return _Found(cut, np.append(starts, begun), np.append(stops, cut))
    return _Found(begun, starts, stops)

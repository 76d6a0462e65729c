"""JSON objects of a part, one behind another or in arrays, on as many lines as they like: where each begins and ends.

Whole columns of bytes are looked at, never a byte in a loop: quotes that nothing escapes say what lies in strings, brackets
outside of them how deep each byte lies. Mongo's wrappers (`NumberInt(5)`) become blanks of the same length around what they wrap.

A damaged object costs itself only. What tells: a bracket that closes one of the other kind, a string behind something that no
string can follow, more bytes than an object may have, the end of the part. Then the next object that is a record by itself is
looked for, from the damaged one's first byte on, and what lies before it is one piece, which parsing will refuse. So a piece is
determined by the bytes of the part alone, whatever pieces the bytes came in. A part that ends between two objects of an array which
nothing closes is told by its last block.

Work is bounded whatever the bytes are. Objects that never end, and parts with more damage than sense, would have the same bytes looked at
again and again; where that gets out of hand, an object may be no longer than one with which reading goes on, and no record is looked for
in the next 64 kB of what is damaged: they are one piece.

What does not belong here: what an object says (`units`, `dialects`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from scholarlake.sources.cuts import Cut, Making, Window
from scholarlake.sources.jsontext import object_at
from scholarlake.sources.lines import HEAD_BYTES, Giant
from scholarlake.sources.plain import Integers

PIECE_BYTES = 1 << 18  # looked at together: it and what is made of it stay in the processor's cache
_RESUME_BYTES = 1 << 20  # longest record behind a damaged one with which reading goes on
_SEARCH_BYTES = 1 << 16  # searched at a time for that record
_NEARBY_BYTES = 1 << 12  # looked at first behind damage, since the next damage, or the end of a record, may be near
_WORK_A_BYTE, _FREE_WORK = 32, 64 << 20  # bytes looked at: so many for each that is decided, and so many in all (or three longest units)
_DEEP_WORK = 1 << 14  # what it takes to find an object nested too deeply, as bytes
#: Mongo's wrappers around a number or a text.
WRAPPERS = ("NumberInt", "NumberLong", "NumberDecimal", "ObjectId", "ISODate", "UUID")

Fits = Callable[[dict[str, Any]], bool]

_QUOTE, _COMMA, _ROUND, _SQUARE, _BRACE = map(ord, '",([{')
#: What may lie between two units, and so may a byte-order mark.
SEPARATORS = b" \t\r\n,[]"
BOM = b"\xef\xbb\xbf"
_STRUCTURAL = bytes(byte in b'"{}[]()' for byte in range(256))
# Brackets that close, and the last byte of a byte-order mark, may lie before a string that strays between units.
_MAY_PRECEDE_A_STRING = np.array([byte in b"{[,:( \t\r\n}]\xbf" for byte in range(256)])
_STEP = np.array([(byte in b"{[") - (byte in b"}]") for byte in range(256)])
_CLOSING = 2  # a closing bracket's code is that of the opening one and two
_DEEPEST = (1 << 15) - 1  # deeper levels count as this one
# What lies between units: separators, commas (of which one is enough), and what has no business there.
_SEPARATOR, _ONE_COMMA, _STRAY = range(3)
_BETWEEN = np.array([_ONE_COMMA if byte == _COMMA else _SEPARATOR if byte in SEPARATORS else _STRAY for byte in range(256)], dtype=np.uint8)
_ODD = rb"(?:(?!\xef\xbb\xbf)[^ \t\r\n,\[\]])+"
_BETWEEN_UNITS = re.compile(rb"\xef\xbb\xbf|,|%s(?:[ \t]+%s)*" % (_ODD, _ODD))
_MAY_BEGIN_A_RECORD = re.compile(r'\{[ \t\r\n]*"')
_WRAPPED = re.compile(rf"\b({'|'.join(WRAPPERS)})\(([^()]*)\)")

Flags = np.ndarray[Any, np.dtype[np.bool_]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True)
class _State:
    """What was before a byte that lies in no unit: whether an array is open, and whether a comma was seen since the last unit."""

    in_array: bool = False
    comma: bool = False


@dataclass(frozen=True)
class _Found:
    """What was found in a piece. data: the bytes that are decided, wrappers blank; what follows them begins with a unit that is not
    whole, or is damaged. starts, stops: of the units in data. state: behind data."""

    data: bytes
    starts: Integers
    stops: Integers
    state: _State
    is_damaged: bool


@dataclass
class _Work:
    """How many bytes were looked at, how many are decided, and how many may be looked at whatever is decided."""

    free: int
    looked: int = 0
    decided: int = 0

    @property
    def is_out_of_hand(self) -> bool:
        return self.looked > _WORK_A_BYTE * self.decided + self.free


def split_objects(read: Callable[[int], bytes], block_bytes: int, max_unit_bytes: int, fits: Fits) -> Iterator[Cut]:
    """Cut a stream into blocks of about block_bytes. read(n) gives at most n bytes, none at the end.

    fits: whether an object is a record by itself, which tells where to go on behind a damaged one.
    """
    piece_bytes, search_bytes = min(PIECE_BYTES, block_bytes), min(_SEARCH_BYTES, block_bytes)
    window, making, state, work = Window(read), Making(), _State(), _Work(max(_FREE_WORK, 3 * max_unit_bytes))
    wanted = step = piece_bytes
    is_damaged = False
    while window.fill(wanted):
        if making.size >= block_bytes:  # not before more is seen to follow: the last block knows that it is the last
            yield making.block()
        piece = window.held[:wanted]
        longest = min(max_unit_bytes, _RESUME_BYTES) if work.is_out_of_hand else max_unit_bytes
        found = _look(piece, state, longest, at_end=window.at_end and len(piece) == len(window.held))
        work.looked += len(piece)
        work.decided += len(found.data)
        making.add(found.data, found.starts, found.stops)
        window.drop(len(found.data))
        state, is_damaged = found.state, found.is_damaged
        if is_damaged:
            if giant := _pass_damaged(window, making, search_bytes, max_unit_bytes, fits, work):
                yield making.block(giant)
            wanted = step = min(_NEARBY_BYTES, piece_bytes)
        elif found.data:
            wanted = step = min(2 * step, piece_bytes)
        else:
            wanted = 2 * len(piece)  # a long unit is looked at a few times only
    if making.size:  # what is damaged up to the end says by itself that the part breaks off
        yield making.block(breaks_off=state.in_array and not is_damaged)


def _look(data: bytes, state: _State, max_unit_bytes: int, *, at_end: bool) -> _Found:
    """Find the units of a piece that begins in no unit."""
    # Of a run of backslashes each two are one: what is left before a quote escapes it.
    plain = data.replace(b"\\\\", b"__").replace(b'\\"', b"__") if b"\\" in data else data
    content = np.frombuffer(plain, dtype=np.uint8)
    places = np.flatnonzero(np.frombuffer(plain.translate(_STRUCTURAL), dtype=np.bool_))
    kinds = content[places]
    quotes = kinds == _QUOTE
    inside = (np.cumsum(quotes, dtype=np.int32) & 1).astype(np.bool_)  # behind an opening quote, itself included
    opening = places[quotes & inside]
    strange = opening[(opening > 0) & ~_MAY_PRECEDE_A_STRING[content[opening - 1]]]
    outside = ~(quotes | inside)
    places, kinds = places[outside], kinds[outside]
    round_ones = (kinds == _ROUND) | (kinds == _ROUND + 1)
    nesting = _nest(places[~round_ones], kinds[~round_ones], state.in_array)

    end = len(data)
    fault = min(int(strange[0]) if len(strange) else end, nesting.fault if nesting.fault is not None else end)
    starts, stops = nesting.starts[nesting.starts < fault], nesting.stops[nesting.stops <= fault]
    is_damaged = fault < end
    too_long = np.flatnonzero(stops - starts[: len(stops)] > max_unit_bytes)
    if len(too_long):
        starts, stops, is_damaged = starts[: too_long[0] + 1], stops[: too_long[0]], True
    begun = int(starts[len(stops)]) if len(starts) > len(stops) else None
    starts = starts[: len(stops)]

    is_damaged = is_damaged or (begun is not None and (at_end or end - begun > max_unit_bytes))
    gap_starts, gap_stops = np.append(0, stops), np.append(starts, end if begun is None else begun)
    for gap in np.flatnonzero(gap_stops - gap_starts > max_unit_bytes).tolist():
        if gap_stops[gap] - _first_stray(data, int(gap_starts[gap]), int(gap_stops[gap])) > max_unit_bytes:
            starts, stops, is_damaged = starts[:gap], stops[:gap], True
            gap_starts, gap_stops = gap_starts[: gap + 1], gap_stops[: gap + 1]
            break
    if is_damaged or begun is not None or not at_end:  # what strays before a unit that is not whole is not decided
        gap_stops[-1] = min(_first_stray(data, int(gap_starts[-1]), int(gap_stops[-1])), fault)
    strays, comma = _strays(data, content, gap_starts, gap_stops, state.comma)
    used = int(gap_stops[-1])
    if len(round_ones):
        data = _unwrap(data, content, places[round_ones], kinds[round_ones])
    if strays:
        starts, stops = (np.sort(np.append(known, found)) for known, found in zip((starts, stops), zip(*strays, strict=True), strict=True))
    return _Found(data[:used], starts, stops, _State(nesting.in_array_at(used), comma), is_damaged)


@dataclass(frozen=True)
class _Nesting:
    """Where units begin and end, by brackets alone. at, depth: each bracket's place, and how many are open behind it.

    fault: place of the first bracket that closes nothing, or one of the other kind. What lies behind it means nothing.
    """

    at: Integers
    depth: Integers
    starts: Integers
    stops: Integers
    fault: int | None

    def in_array_at(self, place: int) -> bool:
        """Whether an array is open before a place that lies in no unit."""
        return bool(self.depth[np.searchsorted(self.at, place) - 1] > 0)


def _nest(at: Integers, kinds: Bytes, in_array: bool) -> _Nesting:
    """Follow the brackets outside of strings."""
    # A bracket before all others: the array that is open, or a pair that closes at once.
    before_all = b"[" if in_array else b"[]"
    at = np.append(np.full(len(before_all), -1, dtype=np.int64), at)
    kinds = np.append(np.frombuffer(before_all, dtype=np.uint8), kinds)
    steps = _STEP[kinds]
    opens = steps > 0
    depth = np.cumsum(steps)
    level = np.where(opens, depth, depth + 1)
    # Of each level, brackets open and close in turn.
    order = np.argsort(np.minimum(level, _DEEPEST).astype(np.int16), kind="stable")
    closing = np.flatnonzero(~opens[order])
    last = closing - 1
    pairs = (level[order[last]] == level[order[closing]]) & (kinds[order[last]] + _CLOSING == kinds[order[closing]])
    wrong = order[closing[~pairs | (last < 0)]]

    # The bracket at level 1 around each: units lie in it where it is square, or are it.
    outermost = np.maximum.accumulate(np.where(opens & (level == 1), np.arange(len(at)), 0))
    in_list = kinds[outermost] == _SQUARE
    unit = np.where(in_list, level == 2, level == 1)
    return _Nesting(at, depth, at[unit & opens], at[unit & ~opens] + 1, int(at[wrong].min()) if len(wrong) else None)


def _first_stray(data: bytes, start: int, stop: int) -> int:
    """Place of the first byte of data[start:stop] that is no separator; stop where there is none."""
    rest = data[start:stop].lstrip(SEPARATORS)
    while rest.startswith(BOM):
        rest = rest[len(BOM) :].lstrip(SEPARATORS)
    return stop - len(rest)


def _strays(data: bytes, content: Bytes, starts: Integers, stops: Integers, comma: bool) -> tuple[list[tuple[int, int]], bool]:
    """What lies in gaps and is no separator, a second comma included; and whether the last one ends with a comma.

    starts, stops: of the gaps. comma: whether one was seen before the first of them.
    """
    lengths = stops - starts
    within = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    gaps = np.repeat(np.arange(len(lengths)), lengths)
    kinds = _BETWEEN[content[within]]
    commas = np.bincount(gaps[kinds == _ONE_COMMA], minlength=len(lengths))
    commas[0] += comma
    found: list[tuple[int, int]] = []
    last = bool(commas[-1])
    for gap in np.union1d(gaps[kinds == _STRAY], np.flatnonzero(commas > 1)).tolist():
        seen = comma and gap == 0
        for token in _BETWEEN_UNITS.finditer(data, int(starts[gap]), int(stops[gap])):
            if token.group() == BOM:
                continue
            is_comma = token.group() == b","
            if seen or not is_comma:
                found.append(token.span())
            seen = is_comma
        last = seen if gap == len(lengths) - 1 else last
    return found, last


def _unwrap(data: bytes, content: Bytes, places: Integers, kinds: Bytes) -> bytes:
    """The same bytes with blanks for Mongo's wrappers. places, kinds: of the round brackets outside of strings."""
    pairs = np.flatnonzero((kinds[:-1] == _ROUND) & (kinds[1:] == _ROUND + 1))
    blank = np.frombuffer(bytearray(data), dtype=np.uint8)
    for name in WRAPPERS:
        named = pairs[places[pairs] >= len(name)]
        letters = places[named][:, None] - np.arange(len(name), 0, -1)
        named = named[(content[letters] == np.frombuffer(name.encode(), dtype=np.uint8)).all(axis=1)]
        blank[places[named][:, None] - np.arange(len(name) + 1)] = ord(" ")
        blank[places[named + 1]] = ord(" ")
    return blank.tobytes()


def _pass_damaged(window: Window, making: Making, search_bytes: int, max_unit_bytes: int, fits: Fits, work: _Work) -> Giant | None:
    """Take what is damaged out of the window, up to the next record: into the block, or as a giant where it is too long to hold."""
    kept: list[bytes] = []
    passed, solid, at_end = 0, 1, False
    found: int | None = None
    while found is None and not at_end:
        step = search_bytes if passed or work.is_out_of_hand else min(search_bytes, _NEARBY_BYTES)
        searched = min(1 + step, window.fill(1 + step))
        if not work.is_out_of_hand:
            found = _record_in(window, 0 if passed else 1, searched, fits, work)
        piece = window.held[: searched if found is None else found]
        window.drop(len(piece))
        work.decided += len(piece)
        at_end = window.at_end and not window.held
        if said := piece.rstrip(SEPARATORS):
            solid = passed + len(said)
        if passed <= max(max_unit_bytes, HEAD_BYTES):
            kept.append(piece)
        passed += len(piece)
    if passed > max_unit_bytes:
        return Giant(making.stop, solid, passed - solid, b"".join(kept)[: min(HEAD_BYTES, solid)])
    making.add(b"".join(kept), np.array([0]), np.array([solid]))
    return None


def _record_in(window: Window, start: int, stop: int, fits: Fits, work: _Work) -> int | None:
    """Place of the first object that begins in window[start:stop] and is a record by itself, whole within the bytes with which reading
    goes on. None, too, where looking for it gets out of hand."""
    sight, text, at = 0, "", 0
    while not work.is_out_of_hand:
        if not text:
            sight = min(8 * sight or _NEARBY_BYTES, _RESUME_BYTES)
            window.fill(stop + sight)
            text = _readable(window.held[start : stop + sight])
            work.looked += len(text)
        brace = _MAY_BEGIN_A_RECORD.search(text, at)
        if brace is None or brace.start() >= stop - start:
            return None
        tried = object_at(text, brace.start())
        size = tried.stop - brace.start()
        work.looked += _DEEP_WORK if tried.is_deep else size
        if tried.is_cut and sight < _RESUME_BYTES:
            text = ""  # once more, with more behind it
        elif tried.value is not None and size <= _RESUME_BYTES and fits(tried.value):
            return start + brace.start()
        else:
            at = brace.start() + 1
    return None


def _readable(data: bytes) -> str:
    """Bytes as text of as many characters, Mongo's wrappers blank."""
    text = data.decode("latin-1")  # every byte is one character, and what makes JSON is the same in it
    if "(" in text:
        text = _WRAPPED.sub(lambda found: f"{' ' * len(found[1])} {found[2]} ", text)
    return text

"""Units to rows of `records`, every unit a row or a reject, whatever is in it.

What does not belong here: where a unit begins and ends (`framing`) and what a field means (`dialects`, `record`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import polars as pl
import xxhash

from scholarlake.sources import columns
from scholarlake.sources.identifiers import InexactNumber
from scholarlake.sources.jsontext import EXTENDED, NotJson, parse_leniently, replace_surrogates, unwrap_extended
from scholarlake.sources.plain import Integers, Mask, as_arrow
from scholarlake.sources.record import NoRecord, RecordRow, read_record
from scholarlake.sources.shape import Papers, usual_papers
from scholarlake.sources.usual import usual_columns

EXCERPT_CHARACTERS = 200

Reject = tuple[int, int, str, str | None, str]  # byte offset, byte length, reason, detail, excerpt
# These take what is to be read and the latest year that counts as usable. Both raise NoRecord where it is no record.
ReadObject = Callable[[dict[str, Any], int], RecordRow]
ReadText = Callable[[bytes, int], RecordRow]  # raises NotJson too
# Takes units and the latest year that counts as usable, gives those that can be read column by column.
ReadMany = Callable[["Units", int], list[Papers]]

_OPENING, _CLOSING, _LINE_FEED = ord("{"), ord("}"), 0x0A
# The parser of `record` takes 1,024 levels, and a text has at least two brackets a level.
_MOST_OPENED = 1000
_DEEP_BYTES = 2 * _MOST_OPENED
_BOM = b"\xef\xbb\xbf"
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class Origin:
    """What a row says of where it comes from, and the limits that hold while reading."""

    dump_part: str
    edition: str
    code_version: str
    last_year: int
    max_line_bytes: int


@dataclass(frozen=True)
class Units:
    """Texts of which each should be one record, in the order in which they lie in the part.

    data[starts[i]:stops[i]] is the i-th of them; its row will say that it lies at offsets[i] of the part, lengths[i] bytes long.
    """

    data: bytes
    starts: Integers
    stops: Integers
    offsets: Integers
    lengths: Integers

    def __len__(self) -> int:
        return len(self.starts)


def read_papers(units: Units, origin: Origin, rejected: list[Reject]) -> list[pl.DataFrame]:
    """Read papers as `record` knows them, JSON objects, those of the usual shape many at once. Gives what `read_each` gives."""
    starts, stops, whole = _bodies(units)
    view = memoryview(units.data)
    bodies = [view[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]
    whole &= units.lengths <= origin.max_line_bytes
    for place in np.flatnonzero(whole & (stops - starts >= _DEEP_BYTES)).tolist():
        start, stop = int(starts[place]), int(stops[place])
        whole[place] = units.data.count(b"[", start, stop) + units.data.count(b"{", start, stop) < _MOST_OPENED
    frames: list[pl.DataFrame] = []
    careful = np.ones(len(units), dtype=bool)
    places = np.flatnonzero(whole)
    if len(places):
        chosen = bodies if len(places) == len(bodies) else [bodies[place] for place in places.tolist()]
        together = units.data if chosen is bodies and _are_lines(units.data, starts, stops) else b"\n".join(chosen)
        for papers in usual_papers(chosen, together, origin.last_year):
            frames.append(_placed(units, bodies, usual_columns(papers.fields), at := places[papers.places]))
            careful[at] = False
    frames += _read_those(units, bodies, np.flatnonzero(careful), origin, rejected, json_reader(read_record))
    return [pl.concat(frames).sort("byte_offset")] if len(frames) > 1 else frames


def read_each(units: Units, origin: Origin, rejected: list[Reject], read: ReadText) -> list[pl.DataFrame]:
    """Read units one by one into frames in their order, as `columns.records_of` takes them; what is no record goes to rejected."""
    bodies = [_body(units.data[start:stop]) for start, stop in zip(units.starts.tolist(), units.stops.tolist(), strict=True)]
    return _read_those(units, bodies, np.arange(len(units)), origin, rejected, read)


def read_many(units: Units, origin: Origin, rejected: list[Reject], many: ReadMany, read: ReadText) -> list[pl.DataFrame]:
    """Read the units that many knows column by column, the others one by one. Gives what `read_each` gives."""
    bodies = [_body(units.data[start:stop]) for start, stop in zip(units.starts.tolist(), units.stops.tolist(), strict=True)]
    careful = np.ones(len(units), dtype=bool)
    frames: list[pl.DataFrame] = []
    for papers in many(units, origin.last_year):
        short = units.lengths[papers.places] <= origin.max_line_bytes
        if not short.all():
            papers = Papers(papers.places[short], papers.fields.filter(as_arrow(short)))
        if len(papers.places):
            frames.append(_placed(units, bodies, usual_columns(papers.fields), papers.places))
            careful[papers.places] = False
    frames += _read_those(units, bodies, np.flatnonzero(careful), origin, rejected, read)
    return [pl.concat(frames).sort("byte_offset")] if len(frames) > 1 else frames


def _read_those(
    units: Units, bodies: Sequence[memoryview | bytes], places: Integers, origin: Origin, rejected: list[Reject], read: ReadText
) -> list[pl.DataFrame]:
    """Read the units at those places one by one."""
    rows: list[RecordRow] = []
    row_places: list[int] = []
    for place in places.tolist():
        text = units.data[units.starts[place] : units.stops[place]]
        offset, length = int(units.offsets[place]), int(units.lengths[place])
        try:
            if length > origin.max_line_bytes:
                raise NoRecord("too_long", too_long(origin.max_line_bytes))
            rows.append(read(text, origin.last_year))
            row_places.append(place)
        except (NoRecord, NotJson) as fault:
            rejected.append((offset, length, fault.reason, str(fault) or None, excerpt(text)))
    return [_placed(units, bodies, columns.row_columns(rows), np.array(row_places))] if rows else []


def _placed(units: Units, bodies: Sequence[memoryview | bytes], said: dict[str, pl.Series], at: Integers) -> pl.DataFrame:
    """The columns of the units at those places, with what the units themselves say."""
    chosen = bodies if len(at) == len(bodies) else [bodies[place] for place in at.tolist()]
    hashes = np.fromiter(map(xxhash.xxh3_64_intdigest, chosen), dtype=np.uint64, count=len(at))
    return columns.lines_frame(said, units.offsets[at], units.lengths[at], hashes)


def _bodies(units: Units) -> tuple[Integers, Integers, Mask]:
    """Where each text's body begins and ends, and whether it begins and ends with a brace."""
    content = np.frombuffer(units.data, dtype=np.uint8)
    starts, stops = units.starts.copy(), units.stops.copy()
    whole = stops > starts
    whole[whole] = (content[starts[whole]] == _OPENING) & (content[stops[whole] - 1] == _CLOSING)
    for place in np.flatnonzero(~whole).tolist():
        text = units.data[starts[place] : stops[place]]
        body = _body(text)
        starts[place] += text.find(body)
        stops[place] = starts[place] + len(body)
        whole[place] = body.startswith(b"{") and body.endswith(b"}")
    return starts, stops, whole


def _are_lines(data: bytes, starts: Integers, stops: Integers) -> bool:
    """Whether the texts are all that there is, but for one line feed behind each."""
    content = np.frombuffer(data, dtype=np.uint8)
    tight = starts[0] == 0 and len(data) - stops[-1] <= 1 and np.array_equal(starts[1:], stops[:-1] + 1)
    return bool(tight and (content[stops[stops < len(data)]] == _LINE_FEED).all())


def _body(text: bytes) -> bytes:
    """A text without what may surround its object: white space and a byte-order mark."""
    return text.strip().removeprefix(_BOM).strip()


def json_reader(read: ReadObject) -> ReadText:
    """What reads a text that should be one JSON object."""

    def read_text(text: bytes, last_year: int) -> RecordRow:
        try:
            record = orjson.loads(text)
            if type(record) is not dict:
                raise NoRecord("not_an_object", f"a JSON {_kind(record)}")
            return read(unwrap_extended(record) if EXTENDED in text else record, last_year)
        except (orjson.JSONDecodeError, InexactNumber, RecursionError):
            return _read_exactly(text, last_year, read)

    return read_text


def _read_exactly(given: bytes, last_year: int, read: ReadObject) -> RecordRow:
    """Read a text that the fast parser refuses or can't read exactly. Raises NotJson or NoRecord where it is no record."""
    body = _body(given)
    if not body:
        raise NoRecord("blank", "nothing but white space")
    if b"\x00" in body:
        raise NoRecord("nul_byte", f"a NUL at byte {given.index(0)}")
    try:
        text = body.decode()
    except UnicodeDecodeError as fault:
        raise NoRecord("invalid_utf8", f"{fault.reason} at byte {given.find(body) + fault.start}") from None
    record = parse_leniently(text)
    if not isinstance(record, dict):
        raise NoRecord("not_an_object", f"a JSON {_kind(record)}")
    try:
        if EXTENDED in body:
            record = unwrap_extended(record)
        repaired = replace_surrogates(record) if _SURROGATE_ESCAPE.search(body) else record
    except RecursionError:  # the parser goes deeper than Python's functions
        raise NotJson("too_deep", "objects or lists nested too deep") from None
    if repaired == record:
        return read(record, last_year)
    row = read(repaired, last_year)
    if "\ufffd" in row.record_id:
        raise NoRecord("lone_surrogate", "half a surrogate pair in the id")
    return row._replace(flags=sorted({*row.flags, "lone_surrogate"}))


def too_long(limit: int) -> str:
    return f"longer than max_line_bytes, {limit:,} bytes"


def _kind(value: Any) -> str:
    return {list: "list", str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")


def excerpt(text: bytes) -> str:
    """The beginning of a text, undecodable bytes replaced, NUL shown as U+2400."""
    return text[: EXCERPT_CHARACTERS * 4].decode("utf-8", "replace")[:EXCERPT_CHARACTERS].replace("\x00", "\u2400")

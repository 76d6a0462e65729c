"""JSON texts to rows of `records`, every text a row or a reject, whatever is in it.

What does not belong here: where a text begins and ends (the readers of formats) and what a field means (`record`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import polars as pl
import xxhash

from scholarlake.sources import columns
from scholarlake.sources.columns import Integers
from scholarlake.sources.identifiers import InexactNumber
from scholarlake.sources.jsontext import NotJson, has_lone_surrogate, parse_leniently, replace_surrogates
from scholarlake.sources.record import NoRecord, RecordRow, read_record
from scholarlake.sources.shape import usual_papers
from scholarlake.sources.usual import usual_columns

EXCERPT_CHARACTERS = 200

Reject = tuple[int, int, str, str | None, str]  # byte offset, byte length, reason, detail, excerpt

_hash = xxhash.xxh3_64_intdigest
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
    """Texts of which each should be one JSON object, in the order in which they lie in the part.

    data[starts[i]:stops[i]] is the i-th of them; its row will say that it lies at offsets[i] of the part, lengths[i] bytes long.
    """

    data: bytes
    starts: Integers
    stops: Integers
    offsets: Integers
    lengths: Integers

    def __len__(self) -> int:
        return len(self.starts)


def read_units(units: Units, origin: Origin, rejected: list[Reject]) -> list[pl.DataFrame]:
    """Read texts into frames in their order, as `columns.records_of` takes them; what is no record goes to rejected."""
    data = units.data
    texts = [data[start:stop] for start, stop in zip(units.starts.tolist(), units.stops.tolist(), strict=True)]
    papers = usual_papers(texts, is_utf8(data), origin.last_year)
    for place in np.flatnonzero(units.lengths > origin.max_line_bytes).tolist():
        papers[place] = None
    usual_places = [place for place, paper in enumerate(papers) if paper is not None]
    usual = [paper for paper in papers if paper is not None]
    rows: list[RecordRow] = []
    row_places: list[int] = []
    for place in [place for place, paper in enumerate(papers) if paper is None] if len(usual) < len(papers) else ():
        text = texts[place]
        try:
            if units.lengths[place] > origin.max_line_bytes:
                raise NoRecord("too_long", too_long(origin.max_line_bytes))
            rows.append(_read_text(text, origin.last_year))
            row_places.append(place)
        except (NoRecord, NotJson) as fault:
            place_of = int(units.offsets[place]), int(units.lengths[place])
            rejected.append((*place_of, fault.reason, str(fault) or None, excerpt(text)))
    frames = [_placed(usual_columns(usual), units, texts, usual_places)] if usual else []
    if rows:
        frames.append(_placed(columns.row_columns(rows), units, texts, row_places))
    return [pl.concat(frames).sort("byte_offset")] if len(frames) > 1 else frames


def _placed(said: dict[str, pl.Series], units: Units, texts: list[bytes], places: list[int]) -> pl.DataFrame:
    """The columns of the texts at those places, with what the texts themselves say."""
    chosen = texts if len(places) == len(texts) else [texts[place] for place in places]
    hashes = np.fromiter(
        (_hash(text if text[0] == 123 and text[-1] == 125 else _body(text)) for text in chosen), dtype=np.uint64, count=len(chosen)
    )
    return columns.lines_frame(said, units.offsets[places], units.lengths[places], hashes)


def _body(text: bytes) -> bytes:
    """A text without what may surround its object: white space and a byte-order mark."""
    return text.strip().removeprefix(_BOM).strip()


def _read_text(text: bytes, last_year: int) -> RecordRow:
    """Read a text of any shape. Raises NotJson or NoRecord where it is no record."""
    try:
        record = orjson.loads(text)
        if type(record) is not dict:
            raise NoRecord("not_an_object", f"a JSON {_kind(record)}")
        return read_record(record, last_year)
    except (orjson.JSONDecodeError, InexactNumber, RecursionError):
        return _read_exactly(text, last_year)


def _read_exactly(given: bytes, last_year: int) -> RecordRow:
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
    surrogate = False
    if _SURROGATE_ESCAPE.search(body):
        surrogate = has_lone_surrogate(str(record.get("id", record.get("_id"))))
        if surrogate:
            raise NoRecord("lone_surrogate", "half a surrogate pair in the id")
        repaired = replace_surrogates(record)
        surrogate, record = repaired != record, repaired
    row = read_record(record, last_year)
    return row._replace(flags=sorted({*row.flags, "lone_surrogate"})) if surrogate else row


def is_utf8(data: bytes) -> bool:
    """Whether bytes are valid UTF-8. Polars looks at many at a time, and makes no text of them as decoding does."""
    try:
        return pl.Series([data], dtype=pl.Binary).cast(pl.String).null_count() == 0
    except pl.exceptions.PolarsError:
        return False


def too_long(limit: int) -> str:
    return f"longer than max_line_bytes, {limit:,} bytes"


def _kind(value: Any) -> str:
    return {list: "list", str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")


def excerpt(text: bytes) -> str:
    """The beginning of a text, undecodable bytes replaced, NUL shown as U+2400."""
    return text[: EXCERPT_CHARACTERS * 4].decode("utf-8", "replace")[:EXCERPT_CHARACTERS].replace("\x00", "\u2400")

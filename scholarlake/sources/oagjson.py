"""The reader of OAG JSON lines: a block of lines in, records and rejects out, every line one of the two.

What does not belong here: where blocks come from (`lines`, `streams`) and what a field means (`record`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import polars as pl
import xxhash

from scholarlake.sources import columns
from scholarlake.sources.identifiers import InexactNumber
from scholarlake.sources.jsontext import NotJson, has_lone_surrogate, parse_leniently, replace_surrogates
from scholarlake.sources.lines import Block
from scholarlake.sources.record import NoRecord, RecordRow, read_record
from scholarlake.sources.shape import usual_papers
from scholarlake.sources.usual import usual_columns

METHOD = "oag-jsonl"
#: Every reason that `rejects` may hold.
REASONS = (
    "blank",
    "invalid_utf8",
    "lone_surrogate",
    "no_id",
    "not_a_paper",
    "not_an_object",
    "not_json",
    "nul_byte",
    "too_deep",
    "too_long",
    "truncated",
)
EXCERPT_CHARACTERS = 200
PIECE_BYTES = 4 << 20

Places = np.ndarray[Any, np.dtype[np.int64]]
Reject = tuple[int, int, str, str | None, str]  # byte offset, byte length, reason, detail, excerpt

_hash = xxhash.xxh3_64_intdigest
_BOM = b"\xef\xbb\xbf"
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_SAMPLE_OBJECT = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*\{\s*(?:\"|\})")


@dataclass(frozen=True)
class Origin:
    """What a row says of where it comes from, and the limits that hold while reading."""

    dump_part: str
    edition: str
    code_version: str
    last_year: int
    max_line_bytes: int


@dataclass(frozen=True)
class Parsed:
    """What a block came to. covered: bytes of the lines that became rows, line ends included."""

    records: pl.DataFrame
    rejects: pl.DataFrame
    lines: int
    covered: int
    reasons: Counter[str]
    flags: Counter[str]


def recognises(head: bytes) -> bool:
    """Whether the beginning of a part (at least its first lines) looks like JSON lines; so does a blank one.

    A first line of only `[` or `{` begins a document of many lines, which is another format; so are lines that end in a comma.
    """
    lines = [line.removeprefix(_BOM).strip() for line in head.split(b"\n")]
    said = [line for line in lines if line]
    if not said:
        return True
    objects = [line for line in said if _SAMPLE_OBJECT.match(line)]
    # A line alone may be longer than the head, or half a line; of several, one must be whole.
    return said[0] not in (b"[", b"{") and any(line.endswith(b"}") or len(said) == 1 for line in objects)


def parse_block(block: Block, origin: Origin) -> Parsed:
    """Parse and normalise every line of a block. Nothing is raised for a bad line: it becomes a reject."""
    frames: list[pl.DataFrame] = []
    rejected: list[Reject] = []
    count = 0
    for offset, piece in _pieces(block):
        lines = _lines_of(offset, piece)
        count += len(lines.texts)
        frames += _read_lines(lines, origin, rejected)
    if block.giant:
        giant = block.giant
        rejected.append((giant.offset, giant.length, "too_long", _too_long(origin.max_line_bytes), excerpt(giant.head)))
    same = {"dump_part": origin.dump_part, "method": METHOD, "code_version": origin.code_version}
    records = columns.records_of(frames, edition=origin.edition, **same)
    rejects = columns.rejects_frame(rejected, **same)
    return Parsed(
        records,
        rejects,
        lines=count + bool(block.giant),
        covered=_covered(block, records, rejects),
        reasons=Counter(reject[2] for reject in rejected),
        flags=Counter(records["flags"].explode().drop_nulls().to_list()),
    )


def _pieces(block: Block) -> Iterator[tuple[int, bytes]]:
    """A block's lines some hundreds at a time, with the offset of each piece.

    What is made of a piece stays in the processor's cache until it is a frame: half the time of doing a block at once.
    """
    data, position = block.data, 0
    while position < len(data):
        cut = data.find(b"\n", position + PIECE_BYTES) + 1 or len(data)
        yield block.offset + position, data[position:cut]
        position = cut


@dataclass(frozen=True)
class _Lines:
    """Whole lines without their line feeds, and where each lies. lengths: in bytes, line ends not counted."""

    texts: list[bytes]
    offsets: Places
    lengths: Places
    valid_utf8: bool


def _lines_of(offset: int, data: bytes) -> _Lines:
    """The lines of a piece that begins at an offset."""
    texts = data.split(b"\n")
    if not texts[-1]:
        texts.pop()
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    offsets = offset + np.cumsum(lengths + 1) - lengths - 1
    if b"\r" in data:  # looking for both bytes takes thirty times as long
        lengths -= np.fromiter((text.endswith(b"\r") for text in texts), dtype=np.int64, count=len(texts))
        if not data.endswith(b"\n"):  # a carriage return at the end of all ends no line
            lengths[-1] = len(texts[-1])
    return _Lines(texts, offsets, lengths, is_utf8(data))


def is_utf8(data: bytes) -> bool:
    """Whether bytes are valid UTF-8. Polars looks at many at a time, and makes no text of them as decoding does."""
    try:
        return pl.Series([data], dtype=pl.Binary).cast(pl.String).null_count() == 0
    except pl.exceptions.PolarsError:
        return False


def _read_lines(lines: _Lines, origin: Origin, rejected: list[Reject]) -> list[pl.DataFrame]:
    """Read lines into a frame in their order, or none where none is a record; what is no record goes to rejected."""
    papers = usual_papers(lines.texts, lines.valid_utf8, origin.last_year)
    for place in np.flatnonzero(lines.lengths > origin.max_line_bytes).tolist():
        papers[place] = None
    usual_places = [place for place, paper in enumerate(papers) if paper is not None]
    usual = [paper for paper in papers if paper is not None]
    rows: list[RecordRow] = []
    row_places: list[int] = []
    for place in [place for place, paper in enumerate(papers) if paper is None] if len(usual) < len(papers) else ():
        line = lines.texts[place]
        try:
            if len(line) > origin.max_line_bytes:
                raise NoRecord("too_long", _too_long(origin.max_line_bytes))
            rows.append(_read_line(line, origin.last_year))
            row_places.append(place)
        except (NoRecord, NotJson) as fault:
            offset, length = int(lines.offsets[place]), int(lines.lengths[place])
            rejected.append((offset, length, fault.reason, str(fault) or None, excerpt(line[:length])))
    frames = [_placed(usual_columns(usual), lines, usual_places)] if usual else []
    if rows:
        frames.append(_placed(columns.row_columns(rows), lines, row_places))
    return [pl.concat(frames).sort("byte_offset")] if len(frames) > 1 else frames


def _placed(said: dict[str, pl.Series], lines: _Lines, places: list[int]) -> pl.DataFrame:
    """The columns of the lines at those places, with what the lines themselves say."""
    texts = lines.texts if len(places) == len(lines.texts) else [lines.texts[place] for place in places]
    hashes = np.fromiter(
        (_hash(line if line[0] == 123 and line[-1] == 125 else _body(line)) for line in texts), dtype=np.uint64, count=len(texts)
    )
    return columns.lines_frame(said, lines.offsets[places], lines.lengths[places], hashes)


def _body(line: bytes) -> bytes:
    """A line without what may surround its object: white space and a byte-order mark."""
    return line.strip().removeprefix(_BOM).strip()


def _read_line(line: bytes, last_year: int) -> RecordRow:
    """Read a line of any shape. Raises NotJson or NoRecord where it is no record."""
    try:
        record = orjson.loads(line)
        if type(record) is not dict:
            raise NoRecord("not_an_object", f"a JSON {_kind(record)}")
        return read_record(record, last_year)
    except (orjson.JSONDecodeError, InexactNumber, RecursionError):
        return _read_exactly(line, last_year)


def _read_exactly(line: bytes, last_year: int) -> RecordRow:
    """Read a line that the fast parser refuses or can't read exactly. Raises NotJson or NoRecord where it is no record."""
    body = _body(line)
    if not body:
        raise NoRecord("blank", "nothing but white space")
    if b"\x00" in body:
        raise NoRecord("nul_byte", f"a NUL at byte {line.index(0)}")
    try:
        text = body.decode()
    except UnicodeDecodeError as fault:
        raise NoRecord("invalid_utf8", f"{fault.reason} at byte {line.find(body) + fault.start}") from None
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


def _covered(block: Block, records: pl.DataFrame, rejects: pl.DataFrame) -> int:
    """Bytes of the lines that the rows name, each with its line end: what lies between two rows must be a line end."""
    spans = pl.concat([records.select("byte_offset", "byte_length"), rejects.select("byte_offset", "byte_length")]).sort("byte_offset")
    starts = np.append(spans["byte_offset"].to_numpy(), block.stop)
    ends = starts[:-1] + spans["byte_length"].to_numpy()
    gaps = starts[1:] - ends
    tiled = bool(len(ends) == 0 or (starts[0] == block.offset and gaps.min() >= 0 and gaps.max() <= 2))
    return block.stop - block.offset if tiled else -1


def _too_long(limit: int) -> str:
    return f"longer than max_line_bytes, {limit:,} bytes"


def _kind(value: Any) -> str:
    return {list: "list", str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")


def excerpt(line: bytes) -> str:
    """The beginning of a line, undecodable bytes replaced, NUL shown as U+2400."""
    return line[: EXCERPT_CHARACTERS * 4].decode("utf-8", "replace")[:EXCERPT_CHARACTERS].replace("\x00", "\u2400")

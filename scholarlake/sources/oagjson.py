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
from scholarlake.sources.record import CAREFUL, PLAIN, NoRecord, RecordRow, read_record

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

Reject = tuple[int, int, str, str | None, str]  # byte offset, byte length, reason, detail, excerpt

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
    flags: Counter[str] = Counter()
    count = 0
    for offset, piece in _pieces(block):
        read = _read_lines(offset, piece, origin, rejected)
        count += read.lines
        if read.rows:
            frames.append(columns.records_frame(read.rows, read.offsets, read.lengths, read.content_hashes))
            flags.update(flag for row in read.rows for flag in row.flags)
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
        flags=flags,
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


@dataclass
class _Read:
    """Records of some lines, with their places and hashes; lines counts the others too."""

    lines: int
    rows: list[RecordRow]
    offsets: list[int]
    lengths: list[int]
    content_hashes: list[int]


def _read_lines(offset: int, data: bytes, origin: Origin, rejected: list[Reject]) -> _Read:
    """Read whole lines that begin at an offset; what is no record goes to rejected."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    stop = offset + len(data)
    has_crlf = b"\r\n" in data
    rows: list[RecordRow] = []
    offsets: list[int] = []
    lengths: list[int] = []
    hashes: list[int] = []
    loads, hash_of, last_year, limit = orjson.loads, xxhash.xxh3_64_intdigest, origin.last_year, origin.max_line_bytes
    following = offset
    for line in lines:
        offset, length = following, len(line)
        following += length + 1
        try:
            if length > limit:
                raise NoRecord("too_long", _too_long(limit))
            try:
                record = loads(line)
                if type(record) is not dict:
                    raise NoRecord("not_an_object", f"a JSON {_kind(record)}")
                # In such a line nothing is encoded, so that no text of it needs decoding. True of most lines of most dumps.
                plain = line.isascii() and b"\\" not in line and b"<" not in line and b"&" not in line and b"\x7f" not in line
                row = read_record(record, PLAIN if plain else CAREFUL, last_year)
            except (orjson.JSONDecodeError, InexactNumber, RecursionError):
                row = _read_exactly(line, last_year)
        except (NoRecord, NotJson) as fault:
            if has_crlf and following <= stop and line.endswith(b"\r"):
                length -= 1
            rejected.append((offset, length, fault.reason, str(fault) or None, excerpt(line[:length])))
            continue
        if has_crlf and following <= stop and line.endswith(b"\r"):
            length -= 1
        rows.append(row)
        offsets.append(offset)
        lengths.append(length)
        hashes.append(hash_of(line if line[0] == 123 and line[-1] == 125 else line.strip().removeprefix(_BOM).strip()))
    return _Read(len(lines), rows, offsets, lengths, hashes)


def _read_exactly(line: bytes, last_year: int) -> RecordRow:
    """Read a line that the fast parser refuses or can't read exactly. Raises NotJson or NoRecord where it is no record."""
    body = line.strip().removeprefix(_BOM).strip()
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
    row = read_record(record, CAREFUL, last_year)
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

"""The reader of OAG JSON lines: a block of lines in, records and rejects out, every line one of the two.

What does not belong here: where blocks come from (`lines`, `streams`) and what a field means (`record`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from scholarlake.sources import columns
from scholarlake.sources.lines import Block
from scholarlake.sources.units import Origin, Reject, Units, excerpt, read_units, too_long

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
PIECE_BYTES = 4 << 20

_LINE_FEED, _CARRIAGE_RETURN = 0x0A, 0x0D
_BOM = b"\xef\xbb\xbf"
_SAMPLE_OBJECT = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*\{\s*(?:\"|\})")


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
        lines = lines_of(offset, piece)
        count += len(lines)
        frames += read_units(lines, origin, rejected)
    if block.giant:
        giant = block.giant
        rejected.append((giant.offset, giant.length, "too_long", too_long(origin.max_line_bytes), excerpt(giant.head)))
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


def _covered(block: Block, records: pl.DataFrame, rejects: pl.DataFrame) -> int:
    """Bytes of the lines that the rows name, each with its line end: what lies between two rows must be a line end."""
    spans = pl.concat([records.select("byte_offset", "byte_length"), rejects.select("byte_offset", "byte_length")]).sort("byte_offset")
    starts = np.append(spans["byte_offset"].to_numpy(), block.stop)
    ends = starts[:-1] + spans["byte_length"].to_numpy()
    gaps = starts[1:] - ends
    tiled = bool(len(ends) == 0 or (starts[0] == block.offset and gaps.min() >= 0 and gaps.max() <= 2))
    return block.stop - block.offset if tiled else -1

"""What a part of a dump comes to before it is in a lake: its format, its records and rejects, the fields it fills, the first records.

Reads as `ingest` does, through the same scan and readers, and keeps counts instead of rows. What does not belong here: which files
there are (`scholarlake.inspection`), documents (`documents.inspection`).
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from scholarlake.errors import SourceError
from scholarlake.lake.contracts import RECORDS
from scholarlake.profile import Reading
from scholarlake.sources import dumps, recognition
from scholarlake.sources.blocks import Parsed
from scholarlake.sources.dumps import Part, PartFile
from scholarlake.sources.objects import BOM
from scholarlake.sources.readers import PassedOver
from scholarlake.sources.record import RecordRow
from scholarlake.sources.scan import Progress, Scanned, prove_tiled, scan
from scholarlake.sources.units import Origin

EXAMPLES = 3  # records shown, and rejects of each reason
#: The columns of `records` that say what the record says. Flags are counted by themselves.
FIELDS = tuple(name for name in RecordRow._fields if name != "flags")

_LISTS = tuple(name for name in FIELDS if isinstance(RECORDS.schema[name], pl.List))


@dataclass(frozen=True)
class Filled:
    """How many records have a field. items: of a list, how many entries they have in all; None for other fields."""

    records: int
    items: int | None


@dataclass(frozen=True)
class Refused:
    """Rejects of one reason. first: the first of them, each with byte_offset, byte_length, detail and excerpt."""

    lines: int
    first: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class PartFound:
    """What a part is and holds.

    about: what the format is of; issue: which issue of its family it looks like; framing: how records lie in it. bytes: of the file;
    uncompressed_bytes: those that were read. is_whole: whether all of it was read. lines: units of which each should be a record, blank
    ones among them. fields: by column of `records`; examples: its first records as they would be stored. passed_over: what it holds
    instead of papers.
    """

    key: str
    format: str
    about: str
    issue: str | None
    framing: str
    compression: str
    encoding: str
    line_ends: str
    has_byte_order_mark: bool
    bytes: int
    uncompressed_bytes: int
    is_whole: bool
    lines: int
    records: int
    rejects: int
    refused: Mapping[str, Refused]
    flags: Mapping[str, int]
    fields: Mapping[str, Filled]
    examples: tuple[Mapping[str, Any], ...]
    passed_over: str = ""

    def share(self, name: str) -> float:
        """Records that have a field, among all, 0 to 1."""
        return self.fields[name].records / self.records if self.records else 0.0

    def to_dict(self) -> dict[str, Any]:
        fields = {
            name: {"records": one.records, "per_cent": round(100 * self.share(name), 2), "items": one.items}
            for name, one in self.fields.items()
        }
        refused = {reason: {"lines": one.lines, "first": [dict(row) for row in one.first]} for reason, one in self.refused.items()}
        told = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {"kind": "dump", **told, "fields": fields, "refused": refused, "examples": [dict(row) for row in self.examples]}


@dataclass(frozen=True)
class _Counted:
    """What is kept of a block's rows."""

    records: int
    fields: Mapping[str, Filled]
    refused: Mapping[str, Refused]
    examples: tuple[Mapping[str, Any], ...]


@dataclass
class _Tally:
    """What is known of a part so far."""

    most: int | None
    scanned: list[Scanned[None]] = field(default_factory=list)
    records: int = 0
    fields: dict[str, Filled] = field(default_factory=lambda: {name: Filled(0, 0 if name in _LISTS else None) for name in FIELDS})
    refused: dict[str, Refused] = field(default_factory=dict)
    examples: tuple[Mapping[str, Any], ...] = ()

    def take(self, block: Scanned[_Counted]) -> None:
        facts = (block.offset, block.stop, block.covered, block.between, block.lines, block.rows, block.reasons, block.flags)
        self.scanned.append(Scanned(*facts, None))
        if block.made is None:
            return
        self.records += block.made.records
        self.fields = {name: _more(one, block.made.fields[name]) for name, one in self.fields.items()}
        for reason, found in block.made.refused.items():
            known = self.refused.get(reason, Refused(0, ()))
            self.refused[reason] = Refused(known.lines + found.lines, (known.first + found.first)[:EXAMPLES])
        self.examples = (self.examples + block.made.examples)[:EXAMPLES]

    @property
    def lines(self) -> int:
        return sum(block.lines for block in self.scanned)

    @property
    def is_enough(self) -> bool:
        return self.most is not None and self.lines >= self.most


def inspect_part(file: PartFile, reading: Reading, progress: Progress | None = None, most: int | None = None) -> PartFound:
    """Read a part and say what it is and holds. most: no further block is read once so many lines were.

    Raises UnknownFormat where no reader knows it, SourceError where it can't be read to its end.
    """
    try:
        part = dumps.recognised(file)
        head = dumps.head_of(file, part.compression)
    except OSError as fault:
        raise SourceError(f"{file.key} can't be read ({fault.strerror or fault})") from fault
    reader = dumps.reader_of(part)
    tally = _Tally(most)
    if isinstance(reader, PassedOver):
        return _found(part, head, tally, is_whole=False)
    origin = Origin(part.key, part.edition, "", datetime.date.today().year + 1, reading.max_line_bytes)
    stopped = False

    def enough() -> bool:
        nonlocal stopped
        stopped = tally.is_enough
        return stopped

    scan(part, origin, reading, _count, tally.take, progress, enough)
    at_end = not part.compression and sum(block.stop - block.offset for block in tally.scanned) == part.file.bytes
    return _found(part, head, tally, is_whole=at_end or not stopped)


def _found(part: Part, head: bytes, tally: _Tally, *, is_whole: bool) -> PartFound:
    reader = dumps.reader_of(part)
    passed_over = reader.about if isinstance(reader, PassedOver) else ""
    read = prove_tiled(part, tally.scanned)
    flags: Counter[str] = sum((block.flags for block in tally.scanned), Counter())
    return PartFound(
        key=part.key,
        format=part.reader,
        about=reader.about,
        issue=recognition.issue_of(head) if part.reader.startswith("oag-json") else None,
        framing="" if isinstance(reader, PassedOver) else reader.framing.about,
        compression=part.compression,
        encoding="UTF-8" if isinstance(reader, PassedOver) else reader.encoding,
        line_ends="CRLF" if b"\r\n" in head else "LF" if b"\n" in head else "none",
        has_byte_order_mark=head.startswith(BOM),
        bytes=part.file.bytes,
        uncompressed_bytes=read,
        is_whole=is_whole and not passed_over,
        lines=tally.lines,
        records=tally.records,
        rejects=sum(one.lines for one in tally.refused.values()),
        refused=dict(sorted(tally.refused.items(), key=lambda item: (-item[1].lines, item[0]))),
        flags=dict(sorted(flags.items())),
        fields=tally.fields,
        examples=tally.examples,
        passed_over=passed_over,
    )


def _count(parsed: Parsed) -> _Counted:
    """Count what a block's rows have. Runs in a worker process."""
    records = parsed.records
    lists = {name: records[name].list.len() for name in _LISTS}
    fields = {
        name: Filled(int((lists[name] > 0).sum()), int(lists[name].sum()))
        if name in lists
        else Filled(records.height - records[name].null_count(), None)
        for name in FIELDS
    }
    rejects = parsed.rejects.sort("byte_offset").select("reason", "byte_offset", "byte_length", "detail", "excerpt")
    refused = {
        reason: Refused(lines, tuple(rejects.filter(pl.col("reason") == reason).head(EXAMPLES).drop("reason").to_dicts()))
        for reason, lines in parsed.reasons.items()
    }
    return _Counted(records.height, fields, refused, tuple(records.head(EXAMPLES).to_dicts()))


def _more(one: Filled, other: Filled) -> Filled:
    items = None if one.items is None or other.items is None else one.items + other.items
    return Filled(one.records + other.records, items)

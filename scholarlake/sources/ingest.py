"""One part of a dump into its partitions of `records` and `rejects`: every line once, in bounded memory, all or nothing.

The processes that parse (`scan`) also lay the Parquet files down; one commit a table makes them visible. A part that holds no papers
is passed over: it has neither lines nor rows.
"""

from __future__ import annotations

import datetime
from collections import Counter
from dataclasses import dataclass
from functools import partial

from scholarlake.errors import SourceError
from scholarlake.lake import delta
from scholarlake.lake.delta import Commit, StagedFile, Written
from scholarlake.lake.home import Lake
from scholarlake.profile import Reading
from scholarlake.sources import dumps, streams
from scholarlake.sources.blocks import Parsed
from scholarlake.sources.dumps import Part
from scholarlake.sources.readers import PassedOver
from scholarlake.sources.scan import Progress, Scanned, prove_tiled, scan
from scholarlake.sources.units import Origin


@dataclass(frozen=True)
class Ingested:
    """What became of a part. lines: its units, of which each is to be a record. bytes: of the file; uncompressed_bytes: of its units and
    of what lies between them, and covered_bytes: of those that became a row, what lies between included: the two are equal, or nothing
    is committed. between_bytes: what lies between alone. reasons and flags count rejects by reason and records by oddity. passed_over:
    what the part holds instead of papers, empty where it holds papers."""

    part: str
    lines: int
    records: int
    rejects: int
    reasons: dict[str, int]
    flags: dict[str, int]
    bytes: int
    uncompressed_bytes: int
    covered_bytes: int
    between_bytes: int
    checksum: str | None
    records_written: Written
    rejects_written: Written
    passed_over: str

    @property
    def reject_share(self) -> float:
        """Rejected lines among all, blank ones not counted: they say nothing and lose nothing."""
        blank = self.reasons.get("blank", 0)
        return (self.rejects - blank) / max(1, self.lines - blank)


@dataclass(frozen=True)
class _Staged:
    """The files that a worker laid down for a block."""

    records: StagedFile | None
    rejects: StagedFile | None

    @property
    def rows(self) -> int:
        return sum(file.rows for file in (self.records, self.rejects) if file)


def ingest_part(lake: Lake, part: Part, reading: Reading, run: Commit, progress: Progress | None = None) -> Ingested:
    """Read one part into `records` and `rejects`, replacing what these hold of it.

    Raises SourceError, with nothing committed, where the part is cut off, damaged, gone, or no longer the one that was inspected.
    """
    reader = dumps.reader_of(part)
    origin = Origin(part.key, part.edition, run.code_version, datetime.date.today().year + 1, reading.max_line_bytes)
    scanned: list[Scanned[_Staged]] = []
    try:
        if isinstance(reader, PassedOver):
            return _passed_over(lake, part, reader, run)
        checksum = scan(part, origin, reading, partial(_stage, lake, part.key), scanned.append, progress)
        if part.checksum not in (None, checksum) or _has_changed(part):
            raise SourceError(f"{part.key} changed while it was read, or since it was listed; try again when it is complete")
        total = _prove_whole(part, scanned)
    except BaseException:
        _discard(lake, scanned)
        raise
    staged = [block.made for block in scanned if block.made]
    rejects_written = delta.commit_staged(lake, "rejects", part.key, [block.rejects for block in staged if block.rejects], run)
    records_written = delta.commit_staged(lake, "records", part.key, [block.records for block in staged if block.records], run)
    reasons: Counter[str] = sum((block.reasons for block in scanned), Counter())
    flags: Counter[str] = sum((block.flags for block in scanned), Counter())
    return Ingested(
        part=part.key,
        lines=sum(block.lines for block in scanned),
        records=records_written.rows,
        rejects=rejects_written.rows,
        reasons=dict(sorted(reasons.items())),
        flags=dict(sorted(flags.items())),
        bytes=part.file.bytes,
        uncompressed_bytes=total,
        covered_bytes=sum(block.covered for block in scanned),
        between_bytes=sum(block.between for block in scanned),
        checksum=checksum,
        records_written=records_written,
        rejects_written=rejects_written,
        passed_over="",
    )


def _passed_over(lake: Lake, part: Part, kind: PassedOver, run: Commit) -> Ingested:
    """Empty the partitions of a part that holds no papers. It is not read."""
    rejects_written = delta.commit_staged(lake, "rejects", part.key, [], run)
    records_written = delta.commit_staged(lake, "records", part.key, [], run)
    return Ingested(
        part=part.key,
        lines=0,
        records=0,
        rejects=0,
        reasons={},
        flags={},
        bytes=part.file.bytes,
        uncompressed_bytes=0,
        covered_bytes=0,
        between_bytes=0,
        checksum=part.checksum,
        records_written=records_written,
        rejects_written=rejects_written,
        passed_over=kind.about,
    )


def _stage(lake: Lake, key: str, parsed: Parsed) -> _Staged:
    """Lay the rows of a block down. Runs in a worker process."""
    records = delta.stage(lake, "records", key, parsed.records) if parsed.records.height else None
    rejects = delta.stage(lake, "rejects", key, parsed.rejects) if parsed.rejects.height else None
    return _Staged(records, rejects)


def _has_changed(part: Part) -> bool:
    """Whether the file was written to or replaced since it was listed. Raises SourceError where it is gone."""
    try:
        return part.file.data.signature_now() != part.file.data.signature
    except OSError as fault:
        raise SourceError(f"{part.key} can't be read ({fault.strerror}); list the dump again") from None


def _prove_whole(part: Part, scanned: list[Scanned[_Staged]]) -> int:
    """Prove that the rows laid down cover the part, byte by byte; returns its uncompressed bytes.

    Raises AssertionError where lines were lost or doubled: a fault of the reading, never of the part.
    """
    position = prove_tiled(part, scanned)
    if any(block.rows != (block.made.rows if block.made else 0) for block in scanned):
        raise AssertionError(f"{part.key}: not all rows were laid down")
    if not part.compression and position != part.file.bytes:
        raise AssertionError(f"{part.key}: {part.file.bytes - position} bytes at the end did not become records or rejects")
    return position


def _discard(lake: Lake, scanned: list[Scanned[_Staged]]) -> None:
    """Remove files that were laid down and will not be committed."""
    for staged in (block.made for block in scanned if block.made):
        for name, file in (("records", staged.records), ("rejects", staged.rejects)):
            if file is not None:
                (lake.table_path(name) / file.path).unlink(missing_ok=True)


def read_line(part: Part, offset: int, length: int) -> bytes:
    """The bytes of one line of a part, by the offset and length that `records` or `rejects` name."""
    if not part.compression:
        return part.file.data.read(offset, length)
    with streams.PartStream(part.file.data, part.compression) as stream:
        position = 0
        pieces: list[bytes] = []
        while position < offset + length and (data := stream.read(1 << 20)):
            start, stop = max(0, offset - position), min(len(data), offset + length - position)
            if start < stop:
                pieces.append(data[start:stop])
            position += len(data)
        return b"".join(pieces)

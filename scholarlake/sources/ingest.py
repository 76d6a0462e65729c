"""One part of a dump into its partitions of `records` and `rejects`: every line once, in bounded memory, all or nothing.

A plain file of lines on this machine is handed out in byte ranges; any other is read and cut here, and handed out in blocks of
whole units. The processes that parse also lay the Parquet files down; one commit a table makes them visible. A part that holds
no papers is passed over: it has neither lines nor rows.
"""

from __future__ import annotations

import datetime
import gc
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial

from scholarlake.errors import SourceError
from scholarlake.lake import delta
from scholarlake.lake.delta import Commit, StagedFile, Written
from scholarlake.lake.home import Lake
from scholarlake.profile import Reading
from scholarlake.sources import blocks, dumps, lines, pool, streams
from scholarlake.sources.dumps import Part
from scholarlake.sources.lines import Block
from scholarlake.sources.readers import PassedOver, Reader
from scholarlake.sources.units import Origin

_USUAL_RATIO = 4  # uncompressed to compressed bytes of JSON, for a guess only

Progress = Callable[[int, int | None, str], None]


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
    """What a worker hands back for a block: where it begins and ends, what it staged, and the counts."""

    offset: int
    stop: int
    covered: int
    between: int
    lines: int
    records: StagedFile | None
    rejects: StagedFile | None
    reasons: Counter[str]
    flags: Counter[str]


def ingest_part(lake: Lake, part: Part, reading: Reading, run: Commit, progress: Progress | None = None) -> Ingested:
    """Read one part into `records` and `rejects`, replacing what these hold of it.

    Raises SourceError, with nothing committed, where the part is cut off, damaged, gone, or no longer the one that was inspected.
    """
    reader = dumps.reader_of(part)
    origin = Origin(part.key, part.edition, run.code_version, datetime.date.today().year + 1, reading.max_line_bytes)
    staged: list[_Staged] = []
    try:
        if isinstance(reader, PassedOver):
            return _passed_over(lake, part, reader, run)
        checksum = _stage_all(lake, part, reader, origin, reading, staged, progress)
        if part.checksum not in (None, checksum) or _has_changed(part):
            raise SourceError(f"{part.key} changed while it was read, or since it was listed; try again when it is complete")
        total = _prove_whole(part, staged)
    except BaseException:
        _discard(lake, staged)
        raise
    rejects_written = delta.commit_staged(lake, "rejects", part.key, [block.rejects for block in staged if block.rejects], run)
    records_written = delta.commit_staged(lake, "records", part.key, [block.records for block in staged if block.records], run)
    reasons: Counter[str] = sum((block.reasons for block in staged), Counter())
    flags: Counter[str] = sum((block.flags for block in staged), Counter())
    return Ingested(
        part=part.key,
        lines=sum(block.lines for block in staged),
        records=records_written.rows,
        rejects=rejects_written.rows,
        reasons=dict(sorted(reasons.items())),
        flags=dict(sorted(flags.items())),
        bytes=part.file.bytes,
        uncompressed_bytes=total,
        covered_bytes=sum(block.covered for block in staged),
        between_bytes=sum(block.between for block in staged),
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


def _stage_all(
    lake: Lake, part: Part, reader: Reader, origin: Origin, reading: Reading, staged: list[_Staged], progress: Progress | None
) -> str:
    """Hand all blocks out, collect them in order into staged, and return the checksum of the bytes that were read."""
    # Starting processes takes a second or two: worth it from three blocks on.
    expected = part.file.bytes * (_USUAL_RATIO if part.compression else 1)
    small = expected <= 2 * reading.block_bytes
    workers = None if small or reading.workers == 1 else pool.shared_pool(reading.workers)
    try:
        with streams.PartStream(part.file.data, part.compression) as stream:

            def take(result: _Staged) -> None:
                staged.append(result)
                if progress:
                    done = stream.packed_position if part.compression else result.stop
                    progress(done, part.file.bytes, f"{part.key}: {sum(block.lines for block in staged):,} lines")

            _collect(_tasks(lake, part, reader, origin, reading, stream), workers, reading.workers, take)
            return stream.checksum
    except BrokenProcessPool as fault:
        pool.drop_pool(reading.workers)
        raise SourceError(
            f"a process that read {part.key} was ended (out of memory?); run it again with fewer `reading.workers` or a smaller "
            "`reading.block_bytes` in the profile"
        ) from fault
    except OSError as fault:
        raise SourceError(f"{part.key} can't be read ({fault.strerror or fault}); list the dump again") from fault


def _tasks(
    lake: Lake, part: Part, reader: Reader, origin: Origin, reading: Reading, stream: streams.PartStream
) -> Iterator[Callable[[], _Staged]]:
    """The work of a part, block by block, each a call that a worker process can take.

    A plain file is read through here too, for its checksum: its pages are then in memory for the workers. From afar, nothing is
    fetched twice: what is read here is what the workers get.
    """
    if part.compression or not (reader.framing.in_lines and part.file.data.is_near):
        for block in reader.framing.split(stream.read, reading.block_bytes, reading.max_line_bytes, reader.fits):
            yield partial(_stage_block, lake, part, origin, block)
        return
    for start, stop in lines.ranges(part.file.bytes, reading.block_bytes):
        left = stop - start
        while left and (data := stream.read(left)):
            left -= len(data)
        yield partial(_stage_range, lake, part, origin, start, stop)
    while stream.read(1 << 20):  # a file that has grown since has another checksum
        pass


def _collect(
    tasks: Iterator[Callable[[], _Staged]], workers: ProcessPoolExecutor | None, width: int, take: Callable[[_Staged], None]
) -> None:
    """Do the tasks and take their results in order, with no more than width + 1 blocks in flight."""
    if workers is None:
        for task in tasks:
            take(task())
        return
    flying: deque[Future[_Staged]] = deque()
    try:
        for task in tasks:
            flying.append(workers.submit(task))
            if len(flying) > width:
                take(flying.popleft().result())
        while flying:
            take(flying.popleft().result())
    except BaseException:
        for future in flying:  # what still runs lays files down: take them, so that they are removed
            if not future.cancel() and future.exception() is None:
                take(future.result())
        raise


def _stage_range(lake: Lake, part: Part, origin: Origin, start: int, stop: int) -> _Staged:
    """Parse and stage the lines of a plain file that begin in a byte range. Runs in a worker process."""
    block = lines.read_range(part.file.data.read, start, stop, origin.max_line_bytes)
    return _stage_block(lake, part, origin, block)


def _stage_block(lake: Lake, part: Part, origin: Origin, block: Block) -> _Staged:
    """Parse and stage a block. Runs in a worker process."""
    if block.stop == block.offset:
        return _Staged(block.offset, block.stop, 0, 0, 0, None, None, Counter(), Counter())
    reader = dumps.reader_of(part)
    if isinstance(reader, PassedOver):
        raise TypeError(f"{part.key} holds {reader.about}, which nothing reads")
    collecting = gc.isenabled()
    gc.disable()  # see pool: rows hold no cycles
    try:
        parsed = blocks.parse_block(block, origin, reader)
    finally:
        if collecting:
            gc.enable()
    records = delta.stage(lake, "records", part.key, parsed.records) if parsed.records.height else None
    rejects = delta.stage(lake, "rejects", part.key, parsed.rejects) if parsed.rejects.height else None
    return _Staged(block.offset, block.stop, parsed.covered, parsed.between, parsed.lines, records, rejects, parsed.reasons, parsed.flags)


def _has_changed(part: Part) -> bool:
    """Whether the file was written to or replaced since it was listed. Raises SourceError where it is gone."""
    try:
        return part.file.data.signature_now() != part.file.data.signature
    except OSError as fault:
        raise SourceError(f"{part.key} can't be read ({fault.strerror}); list the dump again") from None


def _prove_whole(part: Part, staged: list[_Staged]) -> int:
    """Prove that the rows cover the part, byte by byte; returns its uncompressed bytes.

    Raises AssertionError where lines were lost or doubled: a fault of the reading, never of the part.
    """
    position = 0
    for block in staged:
        if block.stop == block.offset:
            continue
        rows = sum(file.rows for file in (block.records, block.rejects) if file)
        if block.offset != position or block.covered != block.stop - block.offset or rows != block.lines:
            raise AssertionError(f"{part.key}: bytes {position} to {block.stop} did not all become records or rejects")
        position = block.stop
    if not part.compression and position != part.file.bytes:
        raise AssertionError(f"{part.key}: {part.file.bytes - position} bytes at the end did not become records or rejects")
    return position


def _discard(lake: Lake, staged: list[_Staged]) -> None:
    """Remove files that were laid down and will not be committed."""
    for block in staged:
        for name, file in (("records", block.records), ("rejects", block.rejects)):
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

"""One part of a dump, block by block: every unit parsed once, in bounded memory, and given to whoever makes something of it.

A plain file of lines on this machine is handed out in byte ranges; any other is read and cut here, and handed out in blocks of
whole units. What does not belong here: what is made of the rows (`ingest` lays them down, `inspection` counts them).
"""

from __future__ import annotations

import gc
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from scholarlake.errors import SourceError
from scholarlake.profile import Reading
from scholarlake.sources import blocks, dumps, lines, pool, streams
from scholarlake.sources.blocks import Parsed
from scholarlake.sources.dumps import Part
from scholarlake.sources.lines import Block
from scholarlake.sources.readers import PassedOver, Reader
from scholarlake.sources.units import Origin

_USUAL_RATIO = 4  # uncompressed to compressed bytes of JSON, for a guess only

Progress = Callable[[int, int | None, str], None]
Made = TypeVar("Made")
Use = Callable[[Parsed], Made]


@dataclass(frozen=True)
class Scanned(Generic[Made]):
    """What came of a block: where it begins and ends, the counts of `Parsed`, how many rows it has, and what was made of them.

    made: None where the block holds nothing.
    """

    offset: int
    stop: int
    covered: int
    between: int
    lines: int
    rows: int
    reasons: Counter[str]
    flags: Counter[str]
    made: Made | None


def never() -> bool:
    return False


def scan(
    part: Part,
    origin: Origin,
    reading: Reading,
    use: Use[Made],
    take: Callable[[Scanned[Made]], None],
    progress: Progress | None = None,
    enough: Callable[[], bool] = never,
) -> str:
    """Hand all blocks of a part out, and take what came of them in their order. Returns the checksum of the bytes that were read.

    use: what is made of a block's rows; it goes to the processes that parse. enough: once it says so, no further block is handed out.
    What was made is taken even where another block fails. Raises SourceError where the part is cut off, damaged or gone.
    """
    # Starting processes takes a second or two: worth it from three blocks on.
    expected = part.file.bytes * (_USUAL_RATIO if part.compression else 1)
    small = expected <= 2 * reading.block_bytes
    workers = None if small or reading.workers == 1 else pool.shared_pool(reading.workers)
    count = 0
    try:
        with streams.PartStream(part.file.data, part.compression) as stream:

            def taken(result: Scanned[Made]) -> None:
                nonlocal count
                take(result)
                count += result.lines
                if progress:
                    done = stream.packed_position if part.compression else result.stop
                    progress(done, part.file.bytes, f"{part.key}: {count:,} lines")

            _collect(_tasks(part, origin, reading, stream, use, enough), workers, reading.workers, taken)
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
    part: Part, origin: Origin, reading: Reading, stream: streams.PartStream, use: Use[Made], enough: Callable[[], bool]
) -> Iterator[Callable[[], Scanned[Made]]]:
    """The work of a part, block by block, each a call that a worker process can take.

    A plain file is read through here too, for its checksum: its pages are then in memory for the workers. From afar, nothing is
    fetched twice: what is read here is what the workers get.
    """
    reader = dumps.reader_of(part)
    if isinstance(reader, PassedOver):
        raise TypeError(f"{part.key} holds {reader.about}, which nothing reads")
    if part.compression or not (reader.framing.in_lines and part.file.data.is_near):
        for block in reader.framing.split(stream.read, reading.block_bytes, reading.max_line_bytes, reader.fits):
            yield partial(_of_block, part, origin, use, block)
            if enough():
                return
        return
    for start, stop in lines.ranges(part.file.bytes, reading.block_bytes):
        left = stop - start
        while left and (data := stream.read(left)):
            left -= len(data)
        yield partial(_of_range, part, origin, use, start, stop)
        if enough():
            return
    while stream.read(1 << 20):  # a file that has grown since has another checksum
        pass


def _collect(
    tasks: Iterator[Callable[[], Scanned[Made]]],
    workers: ProcessPoolExecutor | None,
    width: int,
    take: Callable[[Scanned[Made]], None],
) -> None:
    """Do the tasks and take their results in order, with no more than width + 1 blocks in flight."""
    if workers is None:
        for task in tasks:
            take(task())
        return
    flying: deque[Future[Scanned[Made]]] = deque()
    try:
        for task in tasks:
            flying.append(workers.submit(task))
            if len(flying) > width:
                take(flying.popleft().result())
        while flying:
            take(flying.popleft().result())
    except BaseException:
        for future in flying:  # what still runs may leave something behind: it is taken too
            if not future.cancel() and future.exception() is None:
                take(future.result())
        raise


def _of_range(part: Part, origin: Origin, use: Use[Made], start: int, stop: int) -> Scanned[Made]:
    """Parse the lines of a plain file that begin in a byte range. Runs in a worker process."""
    return _of_block(part, origin, use, lines.read_range(part.file.data.read, start, stop, origin.max_line_bytes))


def _of_block(part: Part, origin: Origin, use: Use[Made], block: Block) -> Scanned[Made]:
    """Parse a block. Runs in a worker process."""
    if block.stop == block.offset:
        return Scanned(block.offset, block.stop, 0, 0, 0, 0, Counter(), Counter(), None)
    reader = dumps.reader_of(part)
    assert isinstance(reader, Reader), "known before the block was handed out"
    collecting = gc.isenabled()
    gc.disable()  # see pool: rows hold no cycles
    try:
        parsed = blocks.parse_block(block, origin, reader)
    finally:
        if collecting:
            gc.enable()
    rows = parsed.records.height + parsed.rejects.height
    facts = (parsed.covered, parsed.between, parsed.lines, rows, parsed.reasons, parsed.flags)
    return Scanned(block.offset, block.stop, *facts, use(parsed))


def prove_tiled(part: Part, scanned: list[Scanned[Made]]) -> int:
    """Prove that the blocks and their rows lie end to end; returns the uncompressed bytes that they cover.

    Raises AssertionError where lines were lost or doubled: a fault of the reading, never of the part.
    """
    position = 0
    for block in scanned:
        if block.stop == block.offset:
            continue
        if block.offset != position or block.covered != block.stop - block.offset or block.rows != block.lines:
            raise AssertionError(f"{part.key}: bytes {position} to {block.stop} did not all become records or rejects")
        position = block.stop
    return position

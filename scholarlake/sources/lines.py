"""Lines of a part, in blocks that several processes can take: never cut, never read twice, never more in memory than said.

A block holds whole lines. A line belongs to the block in which it begins. A line longer than the limit is not held:
its place, its length and its beginning are (`Giant`), and it ends its block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

HEAD_BYTES = 1024  # how much of a giant line is kept, for the excerpt
_STEP_BYTES = 1 << 20

Read = Callable[[int, int], bytes]


@dataclass(frozen=True)
class Giant:
    """A line too long to hold. offset and length in bytes, the line end not counted; end is the bytes of the line end."""

    offset: int
    length: int
    end: int
    head: bytes


@dataclass(frozen=True)
class Block:
    """Whole lines from offset on, line ends included, and perhaps one giant line after them."""

    offset: int
    data: bytes
    giant: Giant | None = None

    @property
    def stop(self) -> int:
        """The offset behind the block's last byte."""
        return self.offset + len(self.data) + (self.giant.length + self.giant.end if self.giant else 0)


def ranges(size: int, block_bytes: int) -> list[tuple[int, int]]:
    """Byte ranges that a file of that size is handed out in."""
    return [(start, min(start + block_bytes, size)) for start in range(0, size, block_bytes)]


def read_range(read: Read, start: int, stop: int, max_line_bytes: int) -> Block:
    """The lines of a file that begin in [start, stop). read(offset, n) gives just n bytes of it, fewer only at its end.

    A range inside one long line holds none: its block is empty and stands at stop.
    """
    first = _first_line(read, start, stop)
    if first >= stop:
        return Block(stop, b"")
    data = read(first, stop - first)
    if data.endswith(b"\n") or len(data) < stop - first:
        return Block(first, data)
    # The last line runs on behind the range.
    line_start = data.rfind(b"\n") + 1
    pieces, held, position = [data], len(data) - line_start, stop
    while chunk := read(position, _STEP_BYTES):
        cut = chunk.find(b"\n")
        if cut >= 0:
            chunk = chunk[: cut + 1]
        pieces.append(chunk)
        held += len(chunk)
        position += len(chunk)
        if cut >= 0:
            break
        if held > max_line_bytes + 1:  # a carriage return does not count, but may be among them
            whole = b"".join(pieces)
            giant = GiantLine(first + line_start, whole[line_start:])
            while not giant.ended and (chunk := read(position, _STEP_BYTES)):
                position += giant.feed(chunk)
            return Block(first, whole[:line_start], giant.finish())
    return Block(first, b"".join(pieces))


def _first_line(read: Read, start: int, stop: int) -> int:
    """Offset of the first line that begins in [start, stop); stop or more where none does."""
    if start == 0:
        return 0
    position = start - 1
    while position < stop - 1:
        chunk = read(position, min(_STEP_BYTES, stop - 1 - position))
        if not chunk:
            return stop
        cut = chunk.find(b"\n")
        if cut >= 0:
            return position + cut + 1
        position += len(chunk)
    return stop


def split_stream(read: Callable[[int], bytes], block_bytes: int, max_line_bytes: int) -> Iterator[Block]:
    """Cut a stream into blocks of about block_bytes. read(n) gives at most n bytes, none at the end."""
    step = min(_STEP_BYTES, block_bytes)
    offset, pieces, held, last_line = 0, [], 0, 0  # last_line: bytes held behind the last line end
    while chunk := read(step):
        pieces.append(chunk)
        held += len(chunk)
        cut = chunk.rfind(b"\n")
        last_line = last_line + len(chunk) if cut < 0 else len(chunk) - cut - 1
        if last_line > max_line_bytes + 1:
            whole = b"".join(pieces)
            giant = GiantLine(offset + held - last_line, whole[held - last_line :])
            before, rest = whole[: held - last_line], b""
            del whole
            pieces = []
            while not giant.ended and (chunk := read(step)):
                rest = chunk[giant.feed(chunk) :]
            block = Block(offset, before, giant.finish())
            yield block
            offset = block.stop
            pieces, held = ([rest] if rest else []), len(rest)
            last_line = len(rest) - rest.rfind(b"\n") - 1
        elif held >= block_bytes and held > last_line:
            whole = b"".join(pieces)
            block = Block(offset, whole[: held - last_line])
            pieces, held = ([whole[held - last_line :]] if last_line else []), last_line
            del whole
            yield block
            offset = block.stop
    if held:
        yield Block(offset, b"".join(pieces))


class GiantLine:
    """Measures a line without holding it."""

    def __init__(self, offset: int, begun: bytes) -> None:
        """offset: where the line begins; begun: what of it was read so far, without its line end."""
        self.offset = offset
        self.head = begun[:HEAD_BYTES]
        self.ended = False
        self._length = len(begun)
        self._last = begun[-1:]

    def feed(self, chunk: bytes) -> int:
        """Take the next bytes; returns how many of them belong to the line and its end."""
        cut = chunk.find(b"\n")
        part = chunk if cut < 0 else chunk[:cut]
        self._length += len(part)
        if len(self.head) < HEAD_BYTES:
            self.head += part[: HEAD_BYTES - len(self.head)]
        self._last = part[-1:] or self._last
        self.ended = cut >= 0
        return len(part) + (1 if self.ended else 0)

    def finish(self) -> Giant:
        carriage_return = self.ended and self._last == b"\r"
        return Giant(self.offset, self._length - carriage_return, self.ended + carriage_return, self.head)

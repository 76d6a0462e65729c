"""The files of a generated dump: lines in, plain, gzip or zstd out, with every line's place counted.

Bytes depend on the lines alone: no time stamps, no file names inside.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

import zstandard

Compression = Literal["mixed", "none"]

_FIRST_MEMBER: Final = 1 << 17  # a reader that stops after the first gzip member or zstd frame is found out early
_MEMBER: Final = 1 << 26
_BOM: Final = b"\xef\xbb\xbf"


class Part:
    """One file being written. Offsets and lengths are in bytes of the uncompressed file.

    byte_order_mark: put before the first line. open_ended: no line end after the last line.
    """

    def __init__(self, root: Path, name: str, *, byte_order_mark: bool = False, open_ended: bool = False) -> None:
        self.name = name
        self.edition = name.rpartition("/")[0]
        self.path = root / name
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.lines = 0
        self.records = 0
        self.bytes = 0
        self._open_ended = open_ended
        self._pending: list[bytes] = [_BOM] if byte_order_mark else []
        self.bytes += 3 if byte_order_mark else 0
        self._raw: BinaryIO = self.path.open("wb")
        self._member: Any = None
        self._member_left = _FIRST_MEMBER

    def add(self, line: bytes, end: bytes = b"\n", *, is_record: bool = True) -> int:
        """Append a line; its offset."""
        offset = 3 if self.lines == 0 and self.bytes == 3 else self.bytes
        self._pending += (line, end)
        self.bytes += len(line) + len(end)
        self.lines += 1
        self.records += is_record
        return offset

    def flush(self) -> None:
        """Hand all but the last line end to the file: the last line may have to do without."""
        held = self._pending.pop() if self._pending else b""
        self._write(b"".join(self._pending))
        self._pending = [held]

    def close(self) -> None:
        if self._open_ended and self._pending:
            self.bytes -= len(self._pending.pop())
        self._write(b"".join(self._pending))
        self._end_member()
        self._raw.close()

    def _write(self, data: bytes) -> None:
        if self.path.suffix not in (".gz", ".zst"):
            self._raw.write(data)
            return
        at = 0
        while at < len(data):
            if self._member is None:
                self._member = self._begin_member()
            piece = data[at : at + self._member_left]
            self._member.write(piece)
            at += len(piece)
            self._member_left -= len(piece)
            if not self._member_left:
                self._end_member()

    def _begin_member(self) -> Any:
        if self.path.suffix == ".gz":
            return gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=self._raw, mtime=0)
        return zstandard.ZstdCompressor(level=5).stream_writer(self._raw, closefd=False)

    def _end_member(self) -> None:
        if self._member is not None:
            self._member.close()
        self._member, self._member_left = None, _MEMBER


def make_parts(root: Path, count: int, compression: Compression, *, faults: bool) -> tuple[list[Part], list[Part]]:
    """The parts of the older and of the later edition. One part alone has no later edition; of K, an eighth, at least one, is later."""
    later = max(1, count // 8) if count > 1 else 0
    older_ends, later_ends = ((".gz", ".zst", ".gz", ""), ("", ".zst")) if compression == "mixed" else (("",), ("",))
    older = [
        Part(
            root,
            f"v3.1/v3.1_oag_publication_{number + 1}.json{older_ends[number % len(older_ends)]}",
            byte_order_mark=faults and number == 1,
            open_ended=faults and number == count - later - 1,
        )
        for number in range(count - later)
    ]
    return older, [
        Part(root, f"v3.2/v3.2_oag_publication_{number + 1}.json{later_ends[number % len(later_ends)]}") for number in range(later)
    ]

"""The bytes of a part as one uncompressed stream, whatever it is packed in, in bounded memory.

Compression is recognised by the first bytes, never by the name. A stream that ends too early or fails its own checksum
raises SourceError: half a part must not be taken for a whole one.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import xxhash
import zstandard

from scholarlake.errors import SourceError

PLAIN, GZIP, ZSTD = "", "gzip", "zstd"

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_WINDOW = 1 << 31  # what `zstd --ultra --long=31` writes
_PACKED_BYTES = 1 << 18
_UNPACKED_BYTES = 1 << 20
# A zstd decoder gives all that a piece of input holds at once: small pieces bound it, whatever the ratio.
_ZSTD_STEP = 1 << 13


def compression_of(magic: bytes) -> str:
    """Compression by the first four bytes: PLAIN, GZIP or ZSTD (which may begin with a skippable frame)."""
    if magic.startswith(_GZIP_MAGIC):
        return GZIP
    if magic.startswith(_ZSTD_MAGIC) or (len(magic) >= 4 and magic[1:4] == b"\x2a\x4d\x18" and 0x50 <= magic[0] <= 0x5F):
        return ZSTD
    return PLAIN


class PartStream:
    """Reads a part's uncompressed bytes; read(n) gives at most n, b"" at the end. Keeps the checksum of what it read.

    packed_position is how far it got in the file, for progress.
    """

    def __init__(self, path: Path, compression: str) -> None:
        self._path = path
        self._file: BinaryIO = path.open("rb")
        self._state = xxhash.xxh3_128()
        self._pending = b""
        self._fill = {PLAIN: self._packed, GZIP: _Gzip(self._packed).next, ZSTD: _Zstd(self._packed).next}[compression]
        self.packed_position = 0

    def __enter__(self) -> PartStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    @property
    def checksum(self) -> str:
        """XXH3-128 of the file's bytes read so far: the file's, once read to the end."""
        return self._state.hexdigest()

    def read(self, size: int) -> bytes:
        """The next bytes. Raises SourceError where the compressed stream is cut off or damaged."""
        try:
            if not self._pending:
                self._pending = self._fill()
        except (zlib.error, zstandard.ZstdError, EOFError) as fault:
            raise SourceError(
                f"{self._path.name} is cut off or damaged after {self.packed_position:,} packed bytes ({fault}); "
                "fetch it again, or take it out of the dump folder"
            ) from fault
        data = self._pending[:size]
        self._pending = self._pending[size:]
        return data

    def _packed(self) -> bytes:
        data = self._file.read(_PACKED_BYTES)
        self._state.update(data)
        self.packed_position += len(data)
        return data


class _Gzip:
    """Members one after another, perhaps with zero bytes behind the last, as tape and block devices leave them."""

    def __init__(self, packed: Callable[[], bytes]) -> None:
        self._packed = packed
        self._input = b""
        self._member = zlib.decompressobj(wbits=31)
        self._begun = False

    def next(self) -> bytes:
        while True:
            if not self._input:
                self._input = self._packed()
            at_end = not self._input
            if at_end and not self._begun:
                return b""
            if not self._begun:
                self._input = self._input.lstrip(b"\x00")
                if not self._input:
                    continue
                self._begun = True
            # With nothing left to read, the decoder may still hold the last bytes back: the limit on what it gives may have stopped it.
            out = self._member.decompress(self._input, _UNPACKED_BYTES)
            self._input = self._member.unconsumed_tail
            if self._member.eof:
                self._input = self._member.unused_data
                self._member = zlib.decompressobj(wbits=31)
                self._begun = False
            elif at_end and not out:
                raise EOFError("the file ends inside a gzip member")
            if out:
                return out


class _Zstd:
    """Frames one after another, as pzstd and appending writers leave them; skippable frames are skipped."""

    def __init__(self, packed: Callable[[], bytes]) -> None:
        self._packed = packed
        self._context = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        self._input = b""
        self._position = 0
        self._frame = self._context.decompressobj()
        self._begun = False

    def next(self) -> bytes:
        while True:
            if self._position >= len(self._input):
                self._input, self._position = self._packed(), 0
                if not self._input:
                    if self._begun:
                        raise EOFError("the file ends inside a zstd frame")
                    return b""
            piece = self._input[self._position : self._position + _ZSTD_STEP]
            self._position += len(piece)
            self._begun = True
            out = self._frame.decompress(piece)
            if self._frame.eof:
                self._position -= len(self._frame.unused_data)
                self._frame = self._context.decompressobj()
                self._begun = False
            if out:
                return out

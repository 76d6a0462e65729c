"""The bytes of a part as one uncompressed stream, whatever it is packed in, in bounded memory.

Compression is recognised by the first bytes, never by the name. A stream that ends too early or fails its own checksum
raises SourceError: half a part must not be taken for a whole one.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from types import TracebackType

import xxhash
import zstandard

from scholarlake.errors import SourceError
from scholarlake.sources.archives import DEFLATED, STORED, Member
from scholarlake.sources.files import CHUNK_BYTES, File

PLAIN, GZIP, ZSTD, ZIP = "", "gzip", "zstd", "zip"

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_WINDOW = 1 << 31  # what `zstd --ultra --long=31` writes
_UNPACKED_BYTES = 1 << 20
_END = 1 << 63
# A zstd decoder gives all that a piece of input holds at once: small pieces bound it, whatever the ratio.
_ZSTD_STEP = 1 << 13


def compression_of(file: File) -> str:
    """What a file is packed in: PLAIN, or its layers from the outside in, joined by +. Told by its first bytes.

    A file in an archive may itself be packed once more.
    """
    if not isinstance(file, Member):
        return _compression_by(file.read(0, 4))
    magic = b""
    with PartStream(file, ZIP, CHUNK_BYTES) as stream:
        while len(magic) < 4 and (data := stream.read(4 - len(magic))):
            magic += data
    inner = _compression_by(magic)
    return f"{ZIP}+{inner}" if inner else ZIP


def _compression_by(magic: bytes) -> str:
    if magic.startswith(_GZIP_MAGIC):
        return GZIP
    if magic.startswith(_ZSTD_MAGIC) or (len(magic) >= 4 and magic[1:4] == b"\x2a\x4d\x18" and 0x50 <= magic[0] <= 0x5F):
        return ZSTD  # perhaps behind a skippable frame
    return PLAIN


class PartStream:
    """Reads a part's uncompressed bytes; read(n) gives at most n, b"" at the end. Keeps the checksum of what it read.

    packed_position is how far it got in the file, for progress. stop: no byte from there on is fetched: of a packed file it then
    seems to be cut off.
    """

    def __init__(self, file: File, compression: str, stop: int = _END) -> None:
        self._file = file
        self._chunks = file.chunks(0, stop)
        self._state = xxhash.xxh3_128()
        self._pending = b""
        self._fill = self._packed
        for layer in compression.split("+") if compression else ():
            self._fill = _unpacked(layer, self._fill, file)
        self.packed_position = 0

    def __enter__(self) -> PartStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._chunks.close()

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
                f"{self._file.name} is cut off or damaged after {self.packed_position:,} packed bytes ({fault}); "
                "fetch it again, or take it out of the dump folder"
            ) from fault
        data = self._pending[:size]
        self._pending = self._pending[size:]
        return data

    def _packed(self) -> bytes:
        data = next(self._chunks, b"")
        self._state.update(data)
        self.packed_position += len(data)
        return data


Fill = Callable[[], bytes]


def _unpacked(layer: str, packed: Fill, file: File) -> Fill:
    if layer != ZIP:
        return _Gzip(packed).next if layer == GZIP else _Zstd(packed).next
    if not isinstance(file, Member):
        raise SourceError(f"{file.name} is no zip archive any more; list the dump again")
    inside = packed
    if file.method != STORED:
        inside = _Deflate(packed).next if file.method == DEFLATED else _Zstd(packed).next
    return _Proved(inside, file).next


class _Gzip:
    """Members one after another, perhaps with zero bytes behind the last, as tape and block devices leave them."""

    def __init__(self, packed: Fill) -> None:
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

    def __init__(self, packed: Fill) -> None:
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


class _Deflate:
    """One deflated stream without a header of its own, as archives hold them."""

    def __init__(self, packed: Fill) -> None:
        self._packed = packed
        self._input = b""
        self._stream = zlib.decompressobj(wbits=-15)

    def next(self) -> bytes:
        while not self._stream.eof:
            if not self._input:
                self._input = self._packed()
            at_end = not self._input
            out = self._stream.decompress(self._input, _UNPACKED_BYTES)
            self._input = self._stream.unconsumed_tail
            if out:
                return out
            if at_end and not self._stream.eof:
                raise EOFError("the file ends inside a deflated stream")
        while self._packed():  # what may lie behind it belongs to the file, and to its checksum
            pass
        return b""


class _Proved:
    """What comes out of an archive, held to the size and the checksum that its list of files gives."""

    def __init__(self, unpacked: Fill, member: Member) -> None:
        self._unpacked = unpacked
        self._member = member
        self._size = 0
        self._crc = 0

    def next(self) -> bytes:
        out = self._unpacked()
        self._size += len(out)
        self._crc = zlib.crc32(out, self._crc)
        if self._member.fault:
            if not out:
                raise EOFError(self._member.fault)
        elif self._size > self._member.unpacked or (not out and self._size < self._member.unpacked):
            raise EOFError(f"it holds {self._size:,} bytes or more, its archive says {self._member.unpacked:,}")
        elif not out and self._crc != self._member.crc:
            raise EOFError("its checksum differs from its archive's")
        return out

"""Files inside zip archives, each a file of its own: found by the archive's list of members, read without the others.

An archive that is cut off has no such list: it counts as its first member, which can be looked at, but not read to its end. What
does not belong here: unpacking (`streams`), which members are parts (`dumps`).
"""

from __future__ import annotations

import errno
import io
import zipfile
from collections.abc import Generator
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, cast

from scholarlake.errors import SourceError
from scholarlake.lake.hashing import digest
from scholarlake.sources.files import File, is_hidden

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
MAGIC_BYTES = 4
_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")  # a member, or the end of an archive without any
_HEADER_BYTES = 30
_ENCRYPTED = 1
_MOST_VERSION = 63  # of the format, as a header says what is needed to unpack it: 6.3, the newest there is
_OTHER_METHODS = {9: "deflate64", 12: "bzip2", 14: "LZMA", 95: "xz", 98: "PPMd", 99: "encryption"}


@dataclass(frozen=True)
class Member:
    """A file in an archive, as it lies there: packed.

    path: in the archive; header: offset of its header; size: of its packed bytes; method: how they are packed; unpacked and crc:
    size and CRC-32 of what they hold. fault: why it can't be whole.
    """

    archive: File
    path: str
    header: int
    size: int
    method: int
    unpacked: int
    crc: int
    fault: str = ""

    @property
    def name(self) -> str:
        return f"{self.archive.name}/{self.path}"

    @property
    def identity(self) -> str | None:
        known = self.archive.identity
        return None if known is None else digest([known, self.path])

    @property
    def signature(self) -> str:
        return self.archive.signature

    @property
    def touched(self) -> float:
        return self.archive.touched

    @property
    def is_near(self) -> bool:
        return self.archive.is_near

    def signature_now(self) -> str:
        return self.archive.signature_now()

    def read(self, offset: int, length: int) -> bytes:
        return self.archive.read(self._start() + offset, max(0, min(length, self.size - offset)))

    def chunks(self, start: int, stop: int) -> Generator[bytes, None, None]:
        first = self._start()
        return self.archive.chunks(first + start, first + min(stop, self.size))

    def _start(self) -> int:
        """Offset of its packed bytes. Only its own header tells how long that is."""
        header = self.archive.read(self.header, _HEADER_BYTES) if self.header >= 0 else b""
        if len(header) < _HEADER_BYTES or not header.startswith(_MAGICS[0]):
            raise SourceError(f"{self.name} is cut off or damaged (no header at byte {self.header:,}); fetch the archive again")
        return self.header + _after_header(header)


def is_archive(magic: bytes) -> bool:
    """Whether a file that begins with these bytes is a zip archive."""
    return magic.startswith(_MAGICS)


def members(archive: File) -> list[Member]:
    """The files in an archive that are not hidden, in its order.

    Raises SourceError where it holds none, or one that can't be unpacked or told from another.
    """
    try:
        with zipfile.ZipFile(cast(IO[bytes], io.BufferedReader(_Seekable(archive), 1 << 16))) as opened:
            listed = opened.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as fault:
        return [_first_member(archive, str(fault))]
    found = []
    for entry in listed:
        path = entry.filename.replace("\\", "/")
        if not path or not path.isprintable():
            raise SourceError(
                f"a file in {archive.name} has a name that is no text, {path!r}; unpack it, rename the file, and put it there"
            )
        if not path.endswith("/") and not is_hidden(path):
            _refuse_what_is_not_read(archive, path, entry.flag_bits, entry.compress_type)
            size, offset = entry.compress_size, entry.header_offset
            found.append(Member(archive, path, offset, size, entry.compress_type, entry.file_size, entry.CRC))
    if not found:
        raise SourceError(f"{archive.name} holds no file; take it out of the dump folder")
    if len({member.path for member in found}) < len(found):
        raise SourceError(f"{archive.name} holds two files of one name; unpack it, rename one, and put them into the dump folder")
    in_order = sorted(found, key=lambda member: member.header)
    if any(one.header + _HEADER_BYTES + one.size > other.header for one, other in pairwise(in_order)):
        raise SourceError(f"the files in {archive.name} lie over one another: it is damaged, or a trap; take it out of the dump folder")
    return found


def _refuse_what_is_not_read(archive: File, path: str, flags: int, method: int) -> None:
    if flags & _ENCRYPTED:
        raise SourceError(f"{archive.name}/{path} is encrypted; unpack the archive and put its files into the dump folder")
    if method not in (STORED, DEFLATED, ZSTANDARD):
        how = _OTHER_METHODS.get(method, f"method {method}")
        raise SourceError(
            f"{archive.name}/{path} is packed by {how}, which is not read; unpack the archive and put its files into the dump folder"
        )


def _first_member(archive: File, fault: str) -> Member:
    """What there is of an archive that has lost its end. Raises SourceError where that is nothing."""
    header = archive.read(0, _HEADER_BYTES).ljust(_HEADER_BYTES, b"\x00")
    version, flags, method = (int.from_bytes(header[at : at + 2], "little") for at in (4, 6, 8))
    name_bytes = int.from_bytes(header[26:28], "little")
    path = archive.read(_HEADER_BYTES, name_bytes).decode("utf-8" if flags & 0x800 else "cp437", "replace")
    known = method in (STORED, DEFLATED, ZSTANDARD, *_OTHER_METHODS)
    if version & 0xFF > _MOST_VERSION or not known or not path.strip() or not path.isprintable():
        raise SourceError(f"{archive.name} begins as a zip archive does, and holds none; fetch it again, or take it out of the dump folder")
    _refuse_what_is_not_read(archive, path, flags, method)
    return Member(archive, path, 0, max(0, archive.size - _after_header(header)), method, 0, 0, f"its list of files can't be read: {fault}")


def _after_header(header: bytes) -> int:
    return _HEADER_BYTES + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")


class _Seekable(io.RawIOBase):
    """A file as the standard library reads it."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._position = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._file.size}[whence]
        if base + offset < 0:
            raise OSError(errno.EINVAL, "before the beginning of the file")
        self._position = base + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._file.read(self._position, len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

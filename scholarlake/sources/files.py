"""Files of a dump and the folder that they lie in, on this machine or in a bucket.

A file is a value: it goes to reading processes, and may be read by several at once. What does not belong here: buckets
themselves (`buckets`), the files inside an archive (`archives`), which files are parts (`dumps`).
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scholarlake.errors import SourceError

CHUNK_BYTES = 1 << 18


class File(Protocol):
    """A run of bytes that lies somewhere. Reading raises OSError or SourceError where it can't be read."""

    @property
    def name(self) -> str:
        """Its name without its folder."""

    @property
    def size(self) -> int:
        """Its bytes when it was listed."""

    @property
    def identity(self) -> str | None:
        """What changes with its bytes, 32 hexadecimal digits, where its place tells without reading them."""

    @property
    def signature(self) -> str:
        """What changed whenever it was written to or replaced, when it was listed; it may change though its bytes don't."""

    @property
    def touched(self) -> float:
        """When that was last, seconds since the epoch; 0 where a file appears only when it is whole."""

    @property
    def is_near(self) -> bool:
        """Whether several processes may as well read it again, at no cost but time."""

    def signature_now(self) -> str:
        """The signature, looked up again."""

    def read(self, offset: int, length: int) -> bytes:
        """Just so many bytes; fewer only at the end of the file."""

    def chunks(self, start: int, stop: int) -> Generator[bytes, None, None]:
        """The bytes from start to stop in order, at most CHUNK_BYTES at a time; fewer in all where the file has become shorter."""


class Folder(Protocol):
    """A folder of a dump. Shows as the user named it."""

    def files(self) -> Iterator[tuple[str, File]]:
        """Every file below it that is not hidden, by its path with forward slashes. Raises SourceError where it can't be listed."""

    def file(self, path: str) -> File | None:
        """The file of that path, None where there is none."""


def is_hidden(path: str) -> bool:
    """Whether a file or a folder above it is hidden by its name, as `.git`, `_temporary` and `__MACOSX` are."""
    return any(step.startswith((".", "_")) for step in path.split("/"))


def folder_at(where: str | Path) -> Folder:
    """The folder of that path or address (s3://bucket/prefix, gs://bucket/prefix). Asks nothing of it yet.

    Raises SourceError for an address of another kind.
    """
    if "://" not in str(where):
        return LocalFolder(Path(where))
    from scholarlake.sources.buckets import Bucket  # loads obstore, which a dump on this machine does without

    return Bucket.at(str(where))


@dataclass(frozen=True)
class LocalFile:
    """A file on this machine. Its signature: inode, size, time of content and of inode (which no one can set back)."""

    path: Path
    size: int
    signature: str
    touched: float

    @classmethod
    def at(cls, path: Path) -> LocalFile:
        """Raises OSError where it is gone."""
        facts = path.stat()
        signature = f"{facts.st_ino}-{facts.st_size}-{facts.st_mtime_ns}-{facts.st_ctime_ns}"
        return cls(path, facts.st_size, signature, max(facts.st_mtime, facts.st_ctime))

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def identity(self) -> None:
        return None  # a file may be put in another's place with all that the system tells of it

    @property
    def is_near(self) -> bool:
        return True

    def signature_now(self) -> str:
        return LocalFile.at(self.path).signature

    def read(self, offset: int, length: int) -> bytes:
        handle = os.open(self.path, os.O_RDONLY)
        try:
            pieces: list[bytes] = []  # one call gives at most 2 GiB, and may give less
            while length and (data := os.pread(handle, length, offset)):
                pieces.append(data)
                offset, length = offset + len(data), length - len(data)
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)
        finally:
            os.close(handle)

    def chunks(self, start: int, stop: int) -> Generator[bytes, None, None]:
        with self.path.open("rb", buffering=0) as stream:
            stream.seek(start)
            while start < stop and (data := stream.read(min(CHUNK_BYTES, stop - start))):
                yield data
                start += len(data)


@dataclass(frozen=True)
class LocalFolder:
    """A folder on this machine."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def files(self) -> Iterator[tuple[str, File]]:
        if not self.path.is_dir():
            raise SourceError(f"no dump folder {self}; name the folder that holds the files of the dump")
        for place, folders, names in os.walk(self.path):
            folders[:] = sorted(name for name in folders if not is_hidden(name))
            for name in names:
                path = Path(place, name)
                if not is_hidden(name) and path.is_file():
                    yield path.relative_to(self.path).as_posix(), LocalFile.at(path)

    def file(self, path: str) -> File | None:
        found = self.path / path
        return LocalFile.at(found) if found.is_file() else None

"""The parts of a dump: which files of a folder they are, what issue of the dump they belong to, and what they hold.

An edition is one issue of a dump (v3.1, v3.2): a folder of parts, a flat folder being one, named "". What does not belong
here: reading the lines of a part (`ingest`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from scholarlake.errors import SourceError
from scholarlake.lake.contracts import DUMP_MANIFEST
from scholarlake.lake.hashing import file_checksum
from scholarlake.sources import recognition, streams
from scholarlake.sources.editions import edition_key
from scholarlake.sources.readers import FORMATS, Format, Reader
from scholarlake.sources.recognition import HEAD_BYTES

# Downloads under way, checksums and papers about the dump: no parts of it.
_PASSED_OVER = re.compile(
    r"(?:[._~].*|.*~|.*\.(?:part|partial|tmp|temp|crdownload|download|aria2|swp|md5|sha1|sha256|sha512|asc|sig|md|pdf|html?|ya?ml|toml|py|sh)"
    r"|(?:readme|source|licen[cs]e|copying|notice|changelog|checksums?|md5sums?|sha\d+sums?|manifest)(?:[._-].*)?)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class PartFile:
    """A file of the dump folder. key: its path below the folder, with forward slashes; edition: the folder of the part.

    signature: changes whenever the file is written to or replaced: inode, size, time of content and of inode (which no one
    can set back). touched: when that was last, seconds since the epoch.
    """

    key: str
    edition: str
    path: Path
    bytes: int
    signature: str
    touched: float

    @classmethod
    def of(cls, key: str, path: Path) -> PartFile:
        facts = path.stat()
        signature = f"{facts.st_ino}-{facts.st_size}-{facts.st_mtime_ns}-{facts.st_ctime_ns}"
        return cls(key, key.rpartition("/")[0], path, facts.st_size, signature, max(facts.st_mtime, facts.st_ctime))


@dataclass(frozen=True)
class Part:
    """A part whose bytes were looked at: with the checksum of all of them, and what format they have."""

    file: PartFile
    checksum: str
    reader: str
    compression: str

    @property
    def key(self) -> str:
        return self.file.key

    @property
    def edition(self) -> str:
        return self.file.edition

    @property
    def format(self) -> str:
        """Format and compression as in `dump_manifest`, such as oag-jsonl+gzip."""
        return f"{self.reader}+{self.compression}" if self.compression else self.reader


def list_parts(folder: Path) -> list[PartFile]:
    """The parts of a dump folder, by edition and key in natural order. Reads no file.

    Hidden files, downloads under way, checksums, README and the like are no parts. Raises SourceError where the folder is
    missing or holds no part.
    """
    if not folder.is_dir():
        raise SourceError(f"no dump folder {folder}; name the folder that holds the files of the dump")
    found: list[PartFile] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        for name in names:
            path = Path(place, name)
            if _PASSED_OVER.fullmatch(name) or not path.is_file():
                continue
            key = path.relative_to(folder).as_posix()
            if not key.isprintable():
                raise SourceError(f"the name of {key!r} holds characters that are no text; rename the file")
            found.append(PartFile.of(key, path))
    if not found:
        raise SourceError(f"no part of a dump in {folder}; put its files there (JSON or DBLP's text format, plain, gzip or zstd)")
    return sorted(found, key=lambda part: (edition_key(part.edition), edition_key(part.key)))


def part_file(folder: Path, key: str) -> PartFile:
    """One part by its key. Raises SourceError where it is gone."""
    path = folder / key
    if not path.is_file():
        raise SourceError(f"part {key} is gone from {folder}; list the dump again")
    return PartFile.of(key, path)


def inspect_part(file: PartFile) -> Part:
    """Checksum and format of a part. Raises SourceError where no reader knows it, or it can't be read."""
    try:
        with file.path.open("rb") as stream:
            compression = streams.compression_of(stream.read(4))
        head = _head(file.path, compression)
        checksum = file_checksum(file.path)
    except OSError as fault:
        raise SourceError(f"{file.key} can't be read ({fault.strerror}); mend its permissions or take it out") from fault
    return Part(file, checksum, format_of(head, file.key).name, compression)


def format_of(head: bytes, key: str) -> Format:
    """The format of a part that begins with these bytes, uncompressed. Raises SourceError where it is none that is known."""
    if (found := recognition.recognise(head)) is not None:
        return found
    known = ", ".join(reader.name for reader in FORMATS.values() if isinstance(reader, Reader))
    raise SourceError(
        f"{key} is in no known format (it begins with {recognition.describe(head)}; known: {known}); take it out of the dump folder"
    )


def _head(path: Path, compression: str) -> bytes:
    """The first bytes of a part, uncompressed; what there is of them where it is cut off: reading it will say so, of it alone."""
    pieces: list[bytes] = []
    got = 0
    with streams.PartStream(path, compression) as stream:
        while got < HEAD_BYTES:
            try:
                data = stream.read(HEAD_BYTES - got)
            except SourceError:
                if not pieces:
                    raise
                break
            if not data:
                break
            pieces.append(data)
            got += len(data)
    return b"".join(pieces)


def reader_of(part: Part) -> Format:
    return FORMATS[part.reader]


def manifest_frame(parts: Iterable[Part]) -> pl.DataFrame:
    """`dump_manifest`: one row a part, by key."""
    rows = [(part.key, part.edition, part.file.bytes, part.checksum, part.format) for part in sorted(parts, key=lambda part: part.key)]
    return pl.DataFrame(rows, schema=DUMP_MANIFEST.schema, orient="row")

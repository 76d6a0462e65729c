"""The parts of a dump: which files of a folder they are, what issue of the dump they belong to, and what they hold.

An edition is one issue of a dump (v3.1, v3.2): a folder of parts, a flat folder being one, named "". A zip archive of one file
is a part, as a gzip is; one of several is a folder of parts that belong to the archive's edition. What does not belong here:
reading the lines of a part (`ingest`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import polars as pl
import xxhash

from scholarlake.errors import SourceError
from scholarlake.lake.contracts import DUMP_MANIFEST
from scholarlake.sources import archives, recognition, streams
from scholarlake.sources.dialects import dblptext
from scholarlake.sources.editions import edition_key
from scholarlake.sources.files import CHUNK_BYTES, File, Folder
from scholarlake.sources.readers import DBLP_TEXT, FORMATS, Format, Reader
from scholarlake.sources.recognition import HEAD_BYTES

# Downloads under way, checksums and papers about the dump: no parts of it.
_PACKED = (".zip", ".gz", ".zst")
_PASSED_OVER = re.compile(
    r"(?:~.*|.*~|.*\.(?:part|partial|tmp|temp|crdownload|download|aria2|swp|md5|sha1|sha256|sha512|asc|sig|md|pdf|html?|ya?ml|toml|py|sh)"
    r"|(?:readme|source|licen[cs]e|copying|notice|changelog|checksums?|md5sums?|sha\d+sums?|manifest)(?:[._-].*)?)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class PartFile:
    """A file of the dump. key: its path below the dump's folder, with forward slashes; edition: the folder of the part."""

    key: str
    edition: str
    data: File

    @property
    def bytes(self) -> int:
        """Size in bytes, as it lies there."""
        return self.data.size


@dataclass(frozen=True)
class Part:
    """A part whose bytes were looked at: what format they have, and the checksum of all of them.

    checksum: XXH3-128; None for an object in a bucket, which is not fetched only to be checked, until it was read once.
    """

    file: PartFile
    checksum: str | None
    reader: str
    compression: str

    @property
    def key(self) -> str:
        return self.file.key

    @property
    def edition(self) -> str:
        return self.file.edition

    @property
    def version(self) -> str:
        """What changes when the part does: of an object in a bucket the hash of its ETag and size, of others the checksum."""
        return self.file.data.identity or self.checksum or ""

    @property
    def known(self) -> Known:
        """What to keep of this look."""
        facts = (self.file.bytes, self.file.data.signature, self.version, self.checksum, self.reader, self.compression)
        return Known(self.key, self.edition, *facts)


@dataclass(frozen=True)
class Known:
    """What a look at a part found, kept: as in `Part`, with what its file's signature and size were then."""

    key: str
    edition: str
    bytes: int
    signature: str
    version: str
    checksum: str | None
    reader: str
    compression: str

    @property
    def format(self) -> str:
        """Format and compression as in `dump_manifest`, such as oag-jsonl+gzip."""
        return f"{self.reader}+{self.compression}" if self.compression else self.reader


def list_files(folder: Folder) -> list[tuple[str, File]]:
    """The files of a dump folder by their paths below it, by edition and path in natural order. Reads none.

    Hidden files, downloads under way, checksums, README and the like are passed over. Raises SourceError where the folder is
    missing or holds no file of a dump.
    """
    found = [(path, file) for path, file in folder.files() if not _is_passed_over(path)]
    if not found:
        raise SourceError(f"no part of a dump in {folder}; put its files there (JSON or DBLP's text format, plain, gzip, zstd or zip)")
    return sorted(found, key=lambda one: (edition_key(one[0].rpartition("/")[0]), edition_key(one[0])))


def list_parts(folder: Folder) -> list[PartFile]:
    """The parts of a dump folder, by edition and key in natural order. Reads what each file begins with, and what is in archives.

    Raises SourceError where `list_files` does, or an archive can't be opened.
    """
    return [part for path, file in list_files(folder) for part in parts_of(path, file)]


def part_file(folder: Folder, key: str) -> PartFile:
    """One part by its key. Raises SourceError where it is gone."""
    path = key
    while path:
        if (file := folder.file(path)) is not None:
            for part in parts_of(path, file):
                if part.key == key:
                    return part
        path = path.rpartition("/")[0]  # of a file in an archive, the archive is there
    raise SourceError(f"part {key} is gone from {folder}; list the dump again")


def parts_of(path: str, file: File) -> list[PartFile]:
    """The parts that a file of the dump is: itself, or the files in it where it is an archive.

    Raises SourceError where it can't be read, or is an archive without a part.
    """
    edition = path.rpartition("/")[0]
    if file.size == 0 and path.lower().endswith(_PACKED):
        raise SourceError(f"{path} is empty, which nothing packed ever is; fetch it again, or take it out of the dump folder")
    try:
        if not archives.is_archive(file.read(0, archives.MAGIC_BYTES)):
            return [PartFile(_printable(path), edition, file)]
        inside = [member for member in archives.members(file) if not _is_passed_over(member.path)]
    except OSError as fault:
        raise _unreadable(path, fault) from fault
    if not inside:
        raise SourceError(f"{path} holds no part of a dump; take it out of the dump folder")
    if len(inside) == 1:
        return [PartFile(_printable(path), edition, inside[0])]
    found = [PartFile(_printable(f"{path}/{member.path}"), edition, member) for member in inside]
    return sorted(found, key=lambda part: edition_key(part.key))


def _is_passed_over(path: str) -> bool:
    return _PASSED_OVER.fullmatch(path.rpartition("/")[2]) is not None


def _printable(key: str) -> str:
    if not key.isprintable():
        raise SourceError(f"the name of {key!r} holds characters that are no text; rename the file")
    return key


def _unreadable(key: str, fault: OSError) -> SourceError:
    return SourceError(f"{key} can't be read ({fault.strerror}); mend its permissions or take it out")


def inspect_part(file: PartFile) -> Part:
    """Format of a part, and its checksum where that costs no transfer. Raises SourceError where no reader knows it, or it can't be read."""
    try:
        part = recognised(file)
        return replace(part, checksum=_checksum(file.data)) if file.data.identity is None else part
    except OSError as fault:
        raise _unreadable(file.key, fault) from fault


def recognised(file: PartFile) -> Part:
    """Format of a part, without its checksum. Raises UnknownFormat where no reader knows it, SourceError or OSError where it can't be
    read."""
    compression = streams.compression_of(file.data)
    found = format_of(head_of(file, compression), file.key)
    if found in DBLP_TEXT.values():
        found = DBLP_TEXT[_encoding_of(file, compression)]
    return Part(file, None, found.name, compression)


def _encoding_of(file: PartFile, compression: str) -> str:
    """The encoding of a part of DBLP's text format: its first megabyte may be ASCII, and GBK come later."""
    with streams.PartStream(file.data, compression) as stream:

        def read(size: int) -> bytes:
            try:
                return stream.read(size)
            except SourceError:  # it is cut off: reading it will say so, of it alone
                return b""

        return dblptext.encoding_of(read)


class UnknownFormat(SourceError):
    """A part is in no format that is known."""


def format_of(head: bytes, key: str) -> Format:
    """The format of a part that begins with these bytes, uncompressed. Raises UnknownFormat where it is none that is known."""
    if (found := recognition.recognise(head)) is not None:
        return found
    known = ", ".join(reader.name for reader in FORMATS.values() if isinstance(reader, Reader))
    raise UnknownFormat(
        f"{key} is in no known format (it begins with {recognition.describe(head)}; known: {known}); take it out of the dump folder"
    )


def _checksum(file: File) -> str:
    state = xxhash.xxh3_128()
    for data in file.chunks(0, file.size):
        state.update(data)
    return state.hexdigest()


def head_of(file: PartFile, compression: str) -> bytes:
    """The first bytes of a part, uncompressed; what there is of them where it is cut off: reading it will say so, of it alone."""
    pieces: list[bytes] = []
    got = 0
    with streams.PartStream(file.data, compression, HEAD_BYTES + CHUNK_BYTES) as stream:
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


def manifest_frame(parts: Iterable[Known]) -> pl.DataFrame:
    """`dump_manifest`: one row a part, by key."""
    rows = [(part.key, part.edition, part.bytes, part.version, part.format) for part in sorted(parts, key=lambda part: part.key)]
    return pl.DataFrame(rows, schema=DUMP_MANIFEST.schema, orient="row")

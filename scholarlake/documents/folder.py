"""The files of a document folder, those in its zip archives among them, and what was last seen of them.

A folder may hold a hundred thousand small files: it is observed as a whole, its version being the digest of all their checksums. Files
whose inode, size and times are those of the last look are not read again. What does not belong here: what a file holds.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import xxhash

from scholarlake.errors import LakeError, SourceError
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.sources import archives, streams
from scholarlake.sources.files import File, LocalFile, LocalFolder
from scholarlake.sources.watch import AT_ONCE, Attention

# Downloads under way, checksums and what is said about the folder: no documents.
_PASSED_OVER = re.compile(
    r"(?:.*/)?(?:.*~|.*\.(?:part|partial|tmp|temp|crdownload|download|aria2|swp|md5|sha1|sha256|sha512|asc|sig|py|pyc|sh)"
    r"|(?:readme|source|licen[cs]e|copying|notice|changelog|checksums?|md5sums?|sha\d+sums?|manifest)(?:[._-][^/]*)?)",
    re.IGNORECASE,
)
_SCHEMA = {"key": pl.String, "path": pl.String, "bytes": pl.Int64, "signature": pl.String, "checksum": pl.String}


@dataclass(frozen=True)
class DocumentFile:
    """A file of the folder, or of an archive in it.

    key: its path below the folder with forward slashes, an archive being a folder too. path: of the file that lies there, the
    archive's for a file in one. checksum: XXH3-128 of its bytes, as packed, when it was last seen.
    """

    key: str
    path: str
    bytes: int
    signature: str
    checksum: str


@dataclass(frozen=True)
class FolderLook:
    """What a look found. unsettled: files that something still writes to; they are as they were known, if they were."""

    files: tuple[DocumentFile, ...]
    changed: int
    removed: int
    unsettled: int

    @property
    def version(self) -> str:
        """Digest of names and checksums."""
        return digest(part for file in self.files for part in (file.key, file.checksum))

    def __str__(self) -> str:
        said = f"{len(self.files):,} document files, {self.changed:,} new or changed, {self.removed:,} gone"
        return f"{said}; {self.unsettled:,} still being written" if self.unsettled else said


def look(lake: Lake, folder: Path | None, attention: Attention = AT_ONCE) -> FolderLook:
    """Look at a folder of documents, None for none. Raises SourceError where it is missing, or a file of it can't be read."""
    known: dict[str, list[DocumentFile]] = {}
    for one in _read_seen(lake):
        known.setdefault(one.path, []).append(one)
    checksums = {one.key: one.checksum for found in known.values() for one in found}
    seen: list[DocumentFile] = []
    unsettled = 0
    now = time.time()
    for path, file in _list(folder) if folder is not None else ():
        before = known.get(path, [])
        if before and before[0].signature == file.signature and not attention.thorough:
            seen += before
        elif now - file.touched < attention.quiet_seconds:
            unsettled += 1
            seen += before
        else:
            seen += _looked_at(path, file)
    files = tuple(sorted(seen, key=lambda one: one.key))
    changed = sum(checksums.get(one.key) != one.checksum for one in files)
    return FolderLook(files, changed, len(set(checksums) - {one.key for one in files}), unsettled)


def keep(lake: Lake, seen: FolderLook) -> None:
    """Remember what was seen, for the next look and for the stage that reads the files."""
    path = _path(lake)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".aside")
    rows = [(file.key, file.path, file.bytes, file.signature, file.checksum) for file in seen.files]
    pl.DataFrame(rows, schema=_SCHEMA, orient="row").write_parquet(aside)
    os.replace(aside, path)


def seen_files(lake: Lake, version: str) -> list[DocumentFile]:
    """The files as they were last seen. Raises LakeError where that was another look than the one of this version."""
    files = tuple(_read_seen(lake))
    if FolderLook(files, 0, 0, 0).version != version:
        raise LakeError("what was seen of the document folder is gone from the lake's spool; run `scholarlake build`, which looks again")
    return list(files)


def opened(folder: Path, path: str) -> dict[str, File]:
    """The file of a path below the folder, by its key; those in it where it is an archive. Raises OSError or SourceError."""
    file = LocalFile.at(folder / path)
    if not archives.is_archive(file.read(0, archives.MAGIC_BYTES)):
        return {path: file}
    return {f"{path}/{member.path}": member for member in archives.members(file) if not is_passed_over(member.path)}


class TooLarge(SourceError):
    """A file has more bytes than are read."""


def contents(file: File, compression: str, max_bytes: int) -> tuple[bytes, str]:
    """The bytes of a file, uncompressed, and the checksum of the file as it lies there.

    Raises TooLarge where they are more than max_bytes, SourceError where it is cut off or damaged, OSError where it can't be read.
    """
    pieces: list[bytes] = []
    size = 0
    with streams.PartStream(file, compression) as stream:
        while size <= max_bytes and (piece := stream.read(1 << 20)):
            pieces.append(piece)
            size += len(piece)
        if size > max_bytes:
            raise TooLarge(f"too large: more than {max_bytes:,} bytes (`documents.max_bytes` in the profile)")
        return b"".join(pieces), stream.checksum


def is_passed_over(path: str) -> bool:
    """Whether a file is no document by its name: a download under way, a checksum, something said about the folder."""
    return _PASSED_OVER.fullmatch(path) is not None


def require_folder(folder: Path | None) -> None:
    """Raises SourceError where a folder is named that is not there."""
    if folder is not None and not folder.is_dir():
        raise SourceError(f"no document folder {folder}; name the folder that holds the full texts, or leave it out")


def _looked_at(path: str, file: LocalFile) -> Iterator[DocumentFile]:
    try:
        for key, one in opened(file.path.parents[path.count("/")], path).items():
            if not key.isprintable():
                raise SourceError(f"the name of {key!r} holds characters that are no text; rename the file")
            state = xxhash.xxh3_128()
            for data in one.chunks(0, one.size):
                state.update(data)
            yield DocumentFile(key, path, one.size, file.signature, state.hexdigest())
    except OSError as fault:
        raise SourceError(f"document {path} can't be read ({fault.strerror}); mend its permissions or take it out") from fault


def _list(folder: Path) -> Iterator[tuple[str, LocalFile]]:
    require_folder(folder)
    for path, file in LocalFolder(folder).files():
        if not is_passed_over(path):
            yield path, LocalFile.at(folder / path) if not isinstance(file, LocalFile) else file


def _read_seen(lake: Lake) -> Iterable[DocumentFile]:
    path = _path(lake)
    return (DocumentFile(*row) for row in pl.read_parquet(path).iter_rows()) if path.is_file() else ()


def _path(lake: Lake) -> Path:
    return lake.spool("documents", "seen.parquet")

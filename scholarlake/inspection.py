"""`inspect`: what a file, an archive, a folder or an object in a bucket holds, without a lake.

A file is taken for a part of a dump where one of its readers knows it, else for full texts. What does not belong here: how either
is read (`sources.inspection`, `documents.inspection`), how it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scholarlake.documents.folder import is_passed_over
from scholarlake.documents.inspection import DocumentsFound, inspect_documents
from scholarlake.errors import SourceError
from scholarlake.profile import Documents, Reading
from scholarlake.sources import archives, dumps, streams
from scholarlake.sources.dumps import PartFile, UnknownFormat
from scholarlake.sources.editions import edition_key
from scholarlake.sources.files import File, LocalFile, folder_at
from scholarlake.sources.inspection import PartFound, inspect_part
from scholarlake.sources.recognition import describe
from scholarlake.sources.scan import Progress


@dataclass(frozen=True)
class Unread:
    """A file that can't be read. why: one line that names it."""

    key: str
    bytes: int
    why: str

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "unread", "key": self.key, "bytes": self.bytes, "why": self.why}


Found = PartFound | DocumentsFound | Unread


def inspect(
    where: str,
    reading: Reading,
    documents: Documents,
    progress: Progress | None = None,
    most: int | None = None,
) -> Iterator[Found]:
    """Every file of a path or an address (s3://…, gs://…), in natural order; in a folder those that are about it are passed over.

    most: no further block of a part is read once so many lines were. Raises SourceError where there is nothing to look at.
    """
    for path, file in _files(where):
        try:
            inside = list(_in_archive(path, file))
        except (OSError, SourceError) as fault:
            yield Unread(_shown(path), file.size, _in_one_line(path, fault))
            continue
        for one in inside:
            try:
                yield _inspect(one, reading, documents.max_bytes, progress, most)
            except SourceError as fault:
                yield Unread(one.key, one.bytes, str(fault))


def _files(where: str) -> list[tuple[str, File]]:
    """The files of a path or an address by their paths below it; of a file, its name."""
    if "://" not in where:
        path = Path(where)
        if path.is_file():
            return [(path.name, LocalFile.at(path))]
        if not path.is_dir():
            raise SourceError(f"there is no file or folder {where}")
    else:
        folder, _, name = where.rstrip("/").rpartition("/")
        if not folder.endswith("/") and (object_ := folder_at(folder).file(name)) is not None:
            return [(name, object_)]
    found = [(path, file) for path, file in folder_at(where).files() if not is_passed_over(path)]
    if not found:
        raise SourceError(f"{where} holds no file to inspect")
    return sorted(found, key=lambda one: edition_key(one[0]))


def _in_archive(path: str, file: File) -> Iterator[PartFile]:
    edition = path.rpartition("/")[0]
    if not archives.is_archive(file.read(0, archives.MAGIC_BYTES)):
        yield PartFile(_shown(path), edition, file)
        return
    for member in archives.members(file):
        if not is_passed_over(member.path):
            yield PartFile(_shown(f"{path}/{member.path}"), edition, member)


def _inspect(file: PartFile, reading: Reading, max_bytes: int, progress: Progress | None, most: int | None) -> Found:
    """Raises SourceError, in one line that names the file, where it can't be read."""
    try:
        return inspect_part(file, reading, progress, most)
    except UnknownFormat:
        pass
    try:
        return inspect_documents(file.key, file.data, max_bytes)
    except OSError as fault:
        raise SourceError(_in_one_line(file.key, fault)) from fault
    except SourceError as fault:
        head = dumps.head_of(file, streams.compression_of(file.data))
        raise SourceError(
            f"{file.key} is in no known format of a dump (it begins with {describe(head)}) or of full texts ({fault})"
        ) from fault


def _in_one_line(key: str, fault: Exception) -> str:
    return f"{_shown(key)} can't be read ({fault.strerror})" if isinstance(fault, OSError) and fault.strerror else str(fault)


def _shown(path: str) -> str:
    """A path as text: one that holds what is none is refused in a dump, but may be looked at."""
    return path if path.isprintable() else ascii(path)

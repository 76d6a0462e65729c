"""From the files of the document folder to `document_sources`, every file read once, and `document_manifest`: what came of each.

Files lie in buckets by the hash of their path. A bucket in which no file changed is not touched; a bucket is committed when it is done,
so a killed run takes up there. What does not belong here: which paper a document is (`matching`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl
import pyarrow as pa

from scholarlake.corpus.progress import Progress, silent
from scholarlake.documents.document import Document
from scholarlake.documents.folder import DocumentFile, TooLarge, contents, opened
from scholarlake.documents.formats import read
from scholarlake.errors import SourceError
from scholarlake.lake import contracts, delta
from scholarlake.lake.hashing import shard_of
from scholarlake.lake.home import Lake
from scholarlake.sources import pool, streams
from scholarlake.sources.authors import author_keys
from scholarlake.sources.doi import normalise_doi
from scholarlake.sources.files import File
from scholarlake.sources.titles import fingerprint

_BATCH_BYTES = 4 << 20  # packed bytes of files that a worker takes at a time
_ALONE_BYTES = 16 << 20  # less than this is read in this process: starting others takes seconds
_YEARS = range(1000, 2101)
_CHANGED = "changed since it was seen; run it again when it is complete"
_SOURCES, _MANIFEST = "document_sources", "document_manifest"


@dataclass(frozen=True)
class SourcesReport:
    """What `build_sources` did. content_versions: by bucket, of both tables."""

    files: int
    documents: int
    read: int
    gone: int
    unread: int
    documents_by_format: Mapping[str, int]
    reasons: Mapping[str, int]
    bytes: int
    versions: Mapping[str, int | None]
    content_versions: Mapping[str, str]


@dataclass(frozen=True)
class _Batch:
    """Files that are read together, and all that reading them takes."""

    folder: Path
    bucket: str
    files: tuple[DocumentFile, ...]
    code_version: str
    max_bytes: int


@dataclass(frozen=True)
class _Read:
    """What came of a batch, as rows of the two tables."""

    manifest: pl.DataFrame
    sources: pl.DataFrame


def build_sources(
    lake: Lake,
    folder: Path | None,
    files: Sequence[DocumentFile],
    *,
    workers: int,
    max_bytes: int,
    run: delta.Commit,
    progress: Progress = silent,
) -> SourcesReport:
    """Read the files that are new, changed or were read by other code; forget those that are gone.

    max_bytes: a file of more, uncompressed, is listed and not read. Raises SourceError where a file changes while it is read.
    """
    by_bucket: dict[str, list[DocumentFile]] = {bucket: [] for bucket in lake.shard_keys}
    for file in files:
        by_bucket[shard_of(file.key, lake.shards)].append(file)
    content: dict[str, str] = {}
    done = gone = 0
    for bucket, there in by_bucket.items():
        known = lake.scan(_MANIFEST).filter(pl.col("bucket") == bucket).select("file", "checksum", "made_by").collect()
        present = {(file.key, file.checksum, run.code_version) for file in there}
        fresh = {row[0] for row in known.iter_rows() if row in present}
        todo = [file for file in there if file.key not in fresh]
        left = sorted(set(known["file"]) - {file.key for file in there})
        if todo or left:
            batches = _batches(folder or Path(), bucket, todo, run.code_version, max_bytes)
            _write(lake, bucket, _read_all(batches, workers, done, len(files), progress), [*left, *(file.key for file in todo)], run)
        content |= {f"{table}={bucket}": delta.partition_content(lake, table, bucket).version for table in (_SOURCES, _MANIFEST)}
        done, gone = done + len(todo), gone + len(left)
    return _report(lake, done, gone, content)


def _report(lake: Lake, read_now: int, gone: int, content: Mapping[str, str]) -> SourcesReport:
    manifest = lake.scan(_MANIFEST).select("bytes", "documents", "reason").collect()
    formats = lake.scan(_SOURCES).select("format").collect()["format"]
    reasons = manifest["reason"].drop_nulls().str.replace(r"\s*[\(:].*", "")
    return SourcesReport(
        files=manifest.height,
        documents=int(manifest["documents"].sum()),
        read=read_now,
        gone=gone,
        unread=int((manifest["documents"] == 0).sum()),
        documents_by_format=dict(sorted(Counter(formats).items())),
        reasons=dict(sorted(Counter(reasons).items())),
        bytes=int(manifest["bytes"].sum()),
        versions={table: delta.version(lake, table) for table in (_SOURCES, _MANIFEST)},
        content_versions=content,
    )


def _batches(folder: Path, bucket: str, files: Sequence[DocumentFile], code_version: str, max_bytes: int) -> list[_Batch]:
    batches: list[list[DocumentFile]] = []
    size = _BATCH_BYTES
    for file in files:
        if size >= _BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(file)
        size += file.bytes
    return [_Batch(folder, bucket, tuple(batch), code_version, max_bytes) for batch in batches]


def _read_all(batches: Sequence[_Batch], workers: int, done: int, total: int, progress: Progress) -> Iterator[_Read]:
    """Batches read, in order; by other processes where there is enough to do, no more than one a worker and one more at a time."""
    size = sum(file.bytes for batch in batches for file in batch.files)
    processes = pool.shared_pool(workers) if workers > 1 and size > _ALONE_BYTES else None
    flying: list[Future[_Read]] = []
    try:
        for batch in batches:
            if processes is None:
                yield read_batch(batch)
            else:
                flying.append(processes.submit(read_batch, batch))
                if len(flying) > workers:
                    yield flying.pop(0).result()
            done += len(batch.files)
            progress(done, total, "document files read")
        while flying:
            yield flying.pop(0).result()
    except BrokenProcessPool as fault:
        pool.drop_pool(workers)
        raise SourceError(
            "a process that read documents was ended (out of memory?); run it again with fewer `reading.workers` or a smaller "
            "`documents.max_bytes` in the profile"
        ) from fault
    finally:
        for future in flying:
            future.cancel()


def _write(lake: Lake, bucket: str, found: Iterator[_Read], files: list[str], run: delta.Commit) -> None:
    """Replace what a bucket has of some files. The manifest last: a run that is killed before it reads these files again."""
    old = lake.scan(_SOURCES).filter((pl.col("bucket") == bucket) & pl.col("file").is_in(files)).select("file", "position").collect()
    manifest = [pl.DataFrame(schema=contracts.DOCUMENT_MANIFEST.schema)]
    if bucket not in delta.partitions(lake, _SOURCES):
        staged = []
        for one in found:
            manifest.append(one.manifest)
            staged += [delta.stage(lake, _SOURCES, bucket, one.sources)] if one.sources.height else []
        delta.commit_staged(lake, _SOURCES, bucket, staged, run)
    else:
        for one in found:
            manifest.append(one.manifest)
            mine = old.join(one.manifest.select("file"), on="file", how="semi")
            old = old.join(one.manifest.select("file"), on="file", how="anti")
            delta.apply(lake, _SOURCES, bucket, one.sources, mine, run)
        delta.apply(lake, _SOURCES, bucket, pl.DataFrame(schema=contracts.DOCUMENT_SOURCES.schema), old, run)
    delta.apply(lake, _MANIFEST, bucket, pl.concat(manifest), pl.DataFrame({"file": files}, schema={"file": pl.String}), run)


def read_batch(batch: _Batch) -> _Read:
    """Read some files. Runs in a worker process. Raises SourceError where one is not what was seen of it."""
    manifest: list[tuple[Any, ...]] = []
    sources: list[dict[str, Any]] = []
    at_hand = _Opened(batch.folder)
    for file in batch.files:
        compression, data, reason = _bytes_of(batch, at_hand, file)
        found: list[tuple[str, Document]] = []
        if reason is None:
            try:
                found.extend(read(data))
            except SourceError as fault:
                reason = str(fault)
            if not found and reason is None:
                reason = "holds no document in a known format"
        sources += [_row(batch, file, place, format_, document) for place, (format_, document) in enumerate(found)]
        formats = sorted({format_ for format_, _ in found})
        manifest.append((file.key, batch.bucket, file.bytes, file.checksum, compression, formats, len(found), reason, batch.code_version))
    return _Read(pl.DataFrame(manifest, schema=contracts.DOCUMENT_MANIFEST.schema, orient="row"), _frame(sources))


@dataclass
class _Opened:
    """Files of a folder at hand: an archive's list of files is read once a batch."""

    folder: Path
    path: str = ""
    files: Mapping[str, File] = field(default_factory=dict)

    def file(self, wanted: DocumentFile) -> File:
        """Raises SourceError where it is gone."""
        if wanted.path != self.path:
            self.path, self.files = wanted.path, opened(self.folder, wanted.path)
        if wanted.key not in self.files:
            raise SourceError(f"document {wanted.key} {_CHANGED}")
        return self.files[wanted.key]


def _bytes_of(batch: _Batch, at_hand: _Opened, wanted: DocumentFile) -> tuple[str, bytes, str | None]:
    """Compression, uncompressed bytes, and why there are none."""
    compression = streams.PLAIN
    try:
        file = at_hand.file(wanted)
        compression = streams.compression_of(file)
        data, checksum = contents(file, compression, batch.max_bytes)
        if checksum != wanted.checksum:
            raise SourceError(f"document {wanted.key} {_CHANGED}")
    except TooLarge as fault:
        return compression, b"", str(fault)
    except OSError as fault:
        raise SourceError(
            f"document {wanted.key} can't be read ({fault.strerror}); run it again, which looks at the folder anew"
        ) from fault
    except SourceError as fault:
        if _CHANGED in str(fault):
            raise
        return compression, b"", "cut off or damaged"
    return compression, data, None


def _row(batch: _Batch, file: DocumentFile, position: int, format_: str, document: Document) -> dict[str, Any]:
    about = document.about
    return {
        "file": file.key,
        "position": position,
        "bucket": batch.bucket,
        "checksum": file.checksum,
        "format": format_,
        "content_hash": document.content_hash,
        "title": about.title,
        "doi": normalise_doi(about.doi) if about.doi else None,
        "ids": list(dict.fromkeys([*about.ids, *_names(file.key)])),
        "year": about.year if about.year in _YEARS else None,
        "title_fingerprint": fingerprint(about.title),
        "author_keys": author_keys([(None, name, None, None) for name in about.authors]),
        "extent": document.extent,
        "characters": len(document.text),
        "sentences": document.sentences,
        "text": document.text,
        _BLOCKS: document,
        "code_version": batch.code_version,
    }


_ENDINGS = re.compile(r"(?:\.(?:nxml|xml|tei|grobid|json|jsonl|md|markdown|txt|text|gz|zst|zip))+\Z", re.IGNORECASE)


def _names(key: str) -> list[str]:
    """What a file's name says that it is: its name without the endings of formats and compressions."""
    return [name] if (name := _ENDINGS.sub("", PurePosixPath(key).name)) else []


def blocks_of(document: Document) -> list[dict[str, Any]]:
    """The blocks as the tables hold them."""
    return [
        {
            "kind": block.kind,
            "sections": list(block.sections),
            "label": block.label,
            "start": block.start,
            "end": block.end,
            "sentences": [{"start": start, "end": end} for start, end in block.sentences],
        }
        for block in document.blocks
    ]


_BLOCKS = "blocks"
_ARROW = pl.DataFrame(schema=contracts.DOCUMENT_SOURCES.schema).to_arrow(compat_level=pl.CompatLevel.oldest()).schema
_NARROW = _ARROW.remove(_ARROW.get_field_index(_BLOCKS))


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows of `document_sources`, their blocks still documents. Through Arrow, which takes nested values several times as fast."""
    blocks = _blocks_array([row[_BLOCKS] for row in rows])
    table = pa.Table.from_pylist(rows, schema=_NARROW).add_column(_ARROW.get_field_index(_BLOCKS), _ARROW.field(_BLOCKS), blocks)
    return pl.DataFrame(pl.from_arrow(table)).cast(contracts.DOCUMENT_SOURCES.schema)


def _blocks_array(documents: Sequence[Document]) -> pa.Array:
    """What `blocks_of` says of each, laid down column by column: to make a value of every sentence takes as long as to find it."""
    blocks = [block for document in documents for block in document.blocks]
    spans = [edge for block in blocks for span in block.sentences for edge in span]
    sentences = pa.StructArray.from_arrays([pa.array(spans[0::2], pa.int64()), pa.array(spans[1::2], pa.int64())], ["start", "end"])
    sections = pa.array([name for block in blocks for name in block.sections], pa.large_string())
    columns: dict[str, pa.Array] = {
        "kind": pa.array([block.kind for block in blocks], pa.large_string()),
        "sections": pa.LargeListArray.from_arrays(_offsets(len(block.sections) for block in blocks), sections),
        "label": pa.array([block.label for block in blocks], pa.large_string()),
        "start": pa.array([block.start for block in blocks], pa.int64()),
        "end": pa.array([block.end for block in blocks], pa.int64()),
        "sentences": pa.LargeListArray.from_arrays(_offsets(len(block.sentences) for block in blocks), sentences),
    }
    values = pa.StructArray.from_arrays(list(columns.values()), list(columns))
    return pa.LargeListArray.from_arrays(_offsets(len(document.blocks) for document in documents), values)


def _offsets(lengths: Iterable[int]) -> pa.Array:
    return pa.array(accumulate(lengths, initial=0), pa.int64())

"""Writing a table shard by shard: laid down at once where a shard is new, compared with what is there where it is not.

A shard's rows come in pieces, as frames or as edges between numbered papers. Two shards are made ready at a time; commits are
made one after the other in the order of the shards, of new shards one for several.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from scholarlake.corpus.edge_rows import EdgeRows
from scholarlake.corpus.parallel import in_parallel
from scholarlake.corpus.progress import Progress
from scholarlake.lake import contracts, delta
from scholarlake.lake.content import Content, content_of
from scholarlake.lake.home import Lake

COMMIT_ROWS = 10_000_000
"""Rows of new shards that lie aside until one commit makes them visible: what a killed run leaves for nothing."""

Rows = pl.DataFrame | EdgeRows
Shard = tuple[str, Iterable[Rows]]


@dataclass(frozen=True)
class TableReport:
    """What a stage wrote. `content_versions`: by shard, every shard of the lake."""

    rows: int
    inserted: int
    updated: int
    deleted: int
    version: int | None
    content_versions: Mapping[str, str]

    @property
    def changed(self) -> int:
        return self.inserted + self.updated + self.deleted


@dataclass(frozen=True)
class _Ready:
    """A shard that needs a commit at most: files laid down for a new one, else rows where they differ, or what is there."""

    shard: str
    staged: list[delta.StagedFile] | None = None
    frame: pl.DataFrame | None = None
    present: Content | None = None


class ShardWriter:
    """Writes one table of a lake."""

    def __init__(self, lake: Lake, name: str, run: delta.Commit, progress: Progress) -> None:
        self.lake, self.name, self.run, self.progress = lake, name, run, progress
        self.contract = contracts.table(name)
        self.present = set(delta.partitions(lake, name))

    def write(self, shards: Iterable[Shard]) -> TableReport:
        """Make each shard hold just the rows given for it. shards: all of the lake; a shard's pieces are drawn in a thread."""
        written: dict[str, delta.Written] = {}
        new: dict[str, list[delta.StagedFile]] = {}
        for done, ready in enumerate(in_parallel(self._prepare, shards)):
            self.progress(done, self.lake.shards, f"writing {self.name}")
            if ready.staged is None:
                written[ready.shard] = self._commit(ready)
                continue
            new[ready.shard] = ready.staged
            if sum(file.rows for files in new.values() for file in files) >= COMMIT_ROWS:
                written |= delta.commit_new(self.lake, self.name, new, self.run)
                new = {}
        written |= delta.commit_new(self.lake, self.name, new, self.run) if new else {}
        each = written.values()
        return TableReport(
            rows=sum(one.rows for one in each),
            inserted=sum(one.inserted for one in each),
            updated=sum(one.updated for one in each),
            deleted=sum(one.deleted for one in each),
            version=delta.version(self.lake, self.name),
            content_versions={shard: written[shard].content_version for shard in sorted(written)},
        )

    def _prepare(self, rows: Shard) -> _Ready:
        shard, pieces = rows
        if shard not in self.present:
            return _Ready(shard, staged=[self._stage(shard, piece) for piece in pieces])
        held = list(pieces)
        wanted = sum((self._content(piece) for piece in held), Content())
        if wanted == delta.partition_content(self.lake, self.name, shard):  # joining by text keys to learn that is ten times dearer
            return _Ready(shard, present=wanted)
        frames = [piece.frame() if isinstance(piece, EdgeRows) else piece for piece in held]
        return _Ready(shard, frame=pl.concat(frames) if frames else pl.DataFrame(schema=self.contract.schema))

    def _commit(self, ready: _Ready) -> delta.Written:
        if ready.frame is not None:
            return delta.write_partition(self.lake, self.name, ready.shard, ready.frame, self.run)
        there = ready.present or Content()
        return delta.Written(delta.version(self.lake, self.name), 0, 0, 0, there.rows, 0, there.version)

    def _stage(self, shard: str, piece: Rows) -> delta.StagedFile:
        if isinstance(piece, EdgeRows):
            return delta.stage_encoded(self.lake, self.name, shard, piece.encoded(), self._content(piece))
        return delta.stage(self.lake, self.name, shard, piece)

    def _content(self, piece: Rows) -> Content:
        return piece.content(self.contract) if isinstance(piece, EdgeRows) else content_of(self.contract, piece)

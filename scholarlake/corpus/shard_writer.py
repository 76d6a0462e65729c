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
from scholarlake.lake.content import Wanted, wanted_of, wanted_rows
from scholarlake.lake.home import Lake

COMMIT_ROWS = 10_000_000
"""Rows of new shards that lie aside until one commit makes them visible: what a killed run leaves for nothing."""

Rows = pl.DataFrame | EdgeRows
Shard = tuple[str, Iterable[Rows]]
Changed = tuple[str, pl.DataFrame, pl.DataFrame]
"""A shard, the rows that are to be in it, and the keys of those that are not to be in it any more."""


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
    """A shard that needs a commit at most: files laid down for a new one, else what it is to hold."""

    shard: str
    staged: list[delta.StagedFile] | None = None
    wanted: Wanted | None = None


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
        return self._report(written)

    def change(self, shards: Iterable[Changed]) -> TableReport:
        """Carry known changes into every shard of the lake; what is not spoken of stays as it is."""
        written: dict[str, delta.Written] = {}
        for done, (shard, upserts, deletes) in enumerate(shards):
            self.progress(done, self.lake.shards, f"writing {self.name}")
            written[shard] = delta.apply(self.lake, self.name, shard, upserts, deletes, self.run)
        return self._report(written)

    def _report(self, written: Mapping[str, delta.Written]) -> TableReport:
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
        return _Ready(shard, wanted=wanted_of(self.contract, [self._wanted(piece) for piece in pieces]))

    def _commit(self, ready: _Ready) -> delta.Written:
        return delta.write_wanted(self.lake, self.name, ready.shard, ready.wanted or wanted_of(self.contract, []), self.run)

    def _stage(self, shard: str, piece: Rows) -> delta.StagedFile:
        if isinstance(piece, EdgeRows):
            return delta.stage_encoded(self.lake, self.name, shard, piece.encoded(), self._wanted(piece).content)
        return delta.stage(self.lake, self.name, shard, piece)

    def _wanted(self, piece: Rows) -> Wanted:
        return piece.wanted(self.contract) if isinstance(piece, EdgeRows) else wanted_rows(self.contract, piece)

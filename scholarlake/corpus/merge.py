"""`papers`: the records of each paper merged into one row, for those papers alone whose records changed.

Which fields survive is decided in combine.py; how wide rows reach their shard is in route.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from scholarlake.corpus.combine import merge
from scholarlake.corpus.keys import Words, mix, run_starts, unsigned
from scholarlake.corpus.progress import Progress, silent
from scholarlake.corpus.record_files import RecordFile, record_files
from scholarlake.corpus.route import BUCKET_RECORDS, Route, bucket_of, existing_route, route_records, scan_records
from scholarlake.errors import LakeError
from scholarlake.lake import contracts, delta
from scholarlake.lake.hashing import stable_key
from scholarlake.lake.home import Lake
from scholarlake.sources.editions import edition_ranks

ROUTE_FROM = 50_000
"""Lines of a dump from which carrying all records to their shards can pay: below, a shard reads the parts itself."""
ROUTE_SHARE = 0.1
"""Share of a shard's records to be read from which it is taken that the other shards have as much to read."""


_DECISIONS = {"work_versions": "version_of", "withdrawals": "notice_id"}


@dataclass(frozen=True)
class PapersReport:
    """What `build_papers` did to a shard. merged: papers computed; papers = merged + unchanged."""

    shard: str
    papers: int
    merged: int
    unchanged: int
    records_read: int
    routed: bool
    inserted: int
    updated: int
    deleted: int
    version: int | None
    bytes: int
    content_version: str

    @property
    def changed(self) -> int:
        return self.inserted + self.updated + self.deleted


def build_papers(lake: Lake, shard: str, run: delta.Commit, progress: Progress = silent, *, recompute: bool = False) -> PapersReport:
    """Merge the papers of a shard whose records changed since they were last merged, and remove those that are gone.

    recompute: merge all of them again, because the code that parses or merges changed; only rows that differ are written.
    Raises LakeError where `identities` was never built, or names records that `records` does not hold: nothing lost in silence.
    """
    if not delta.exists(lake, "identities"):
        raise LakeError("identities has not been built; run `scholarlake build` to that stage first")
    members = _members(lake, shard)
    present = lake.scan("papers").filter(pl.col("shard") == shard).select("paper_id", "members_hash").collect()
    papers = members.select("paper_id", "members_hash").unique()
    changed = papers if recompute else papers.join(present, on=["paper_id", "members_hash"], how="anti")
    gone = present.join(papers, on="paper_id", how="anti").select("paper_id")
    work = members.join(changed, on="paper_id", how="semi")

    route = existing_route(lake, shard)
    files = record_files(lake)
    if route is None and work.height and _routing_pays(lake, work, members, files, recompute=recompute):
        route = route_records(lake, shard, progress)
    writer = _ShardWriter(lake, shard, run, gone, fresh=present.height == 0)
    read = 0
    for done, part in enumerate(parts := _parts(work, route)):
        progress(done, len(parts), f"merging papers of shard {shard}")
        records = route.read(shard, part[0]) if route else scan_records(lake, files, part[1]["record_key"].unique(), progress)
        read += records.height
        merged = merge(part[1], records, run.code_version)
        _refuse_losses(part[1], merged, shard)
        writer.add(merged)
    written = writer.finish()
    if route:
        route.used(lake, shard)
    return PapersReport(
        shard=shard,
        papers=papers.height,
        merged=changed.height,
        unchanged=papers.height - changed.height,
        records_read=read,
        routed=route is not None,
        inserted=sum(one.inserted for one in written),
        updated=sum(one.updated for one in written),
        deleted=sum(one.deleted for one in written),
        version=written[-1].version,
        bytes=written[-1].bytes,
        content_version=written[-1].content_version,
    )


def _members(lake: Lake, shard: str) -> pl.DataFrame:
    """The distinct records of a shard's papers, sorted by paper, with edition_rank, and the paper's version_of, notice_id (null where there
    is none) and members_hash."""
    columns = ["record_id", "record_key", "edition", "content_hash", "paper_id", "paper_key", "shard", "is_current", "flags", "copies"]
    frame = lake.scan("identities").filter(pl.col("shard") == shard).select(columns).collect().sort("paper_id")
    editions = frame["edition"].unique().to_list()
    ranks = edition_ranks(set(editions))
    names = pl.DataFrame(
        {"edition": editions, "edition_rank": [ranks[name] for name in editions], "edition_key": [stable_key(name) for name in editions]},
        schema={"edition": pl.String, "edition_rank": pl.Int64, "edition_key": pl.Int64},
    )
    frame = frame.join(names, on="edition", how="left", maintain_order="left")
    for table, column in _DECISIONS.items():
        decided = lake.scan(table).filter(pl.col("shard") == shard).select("paper_id", column).collect()
        frame = frame.join(decided, on="paper_id", how="left", maintain_order="left")
    starts = run_starts(frame["paper_key"].to_numpy())
    hashes = np.add.reduceat(_member_hashes(frame), starts) if len(starts) else np.empty(0, dtype=np.uint64)
    hashes = hashes + _decision_hashes(frame[starts])
    lengths = np.diff(np.append(starts, frame.height))
    return frame.with_columns(pl.Series("members_hash", np.repeat(hashes.view(np.int64), lengths), dtype=pl.Int64))


def _decision_hashes(papers: pl.DataFrame) -> Words:
    """A hash of what was decided about each paper; 0 where nothing was. Stored with the records', too."""
    total = np.zeros(papers.height, dtype=np.uint64)
    for place, column in enumerate(_DECISIONS.values(), 1):
        known = papers[column].is_not_null().to_numpy()
        keys = np.array([stable_key(name) for name in papers[column].drop_nulls()], dtype=np.int64)
        total[known] += mix(unsigned(keys) + np.uint64(place))
    return total


def _member_hashes(frame: pl.DataFrame) -> Words:
    """A hash of all that a record and its identity bring to its paper. Stored in `papers` as a sum: stable for ever."""
    state = mix(unsigned(frame["content_hash"].to_numpy()))
    state = mix(state ^ unsigned(frame["record_key"].to_numpy()))
    state = mix(state ^ unsigned(frame["edition_key"].to_numpy()))
    facts = frame.select(pl.col("is_current").cast(pl.UInt64) + 2 * pl.col("flags").list.contains("doi_conflict").cast(pl.UInt64))
    return mix(state ^ facts.to_series().to_numpy())


def _routing_pays(lake: Lake, work: pl.DataFrame, members: pl.DataFrame, files: list[RecordFile], *, recompute: bool) -> bool:
    """Whether the wide rows of all shards are to be carried over at once, and not those of this one looked for in all parts."""
    if sum(file.rows for file in files) < ROUTE_FROM:
        return False
    if work.height > BUCKET_RECORDS:
        return True  # more than is merged at a time: buckets are needed anyway
    shards_missing = lake.shards - len(delta.partitions(lake, "papers"))
    return (recompute or shards_missing > 2) and work.height >= ROUTE_SHARE * members.height


def _parts(work: pl.DataFrame, route: Route | None) -> list[tuple[int, pl.DataFrame]]:
    """The work in portions that fit in memory: a route's buckets, or slices that end with a paper."""
    if not work.height:
        return []
    if route:
        bucket = pl.Series("bucket", bucket_of(work["paper_key"], route.buckets), dtype=pl.Int64)
        return sorted(
            ((int(str(key[0])), part) for key, part in work.with_columns(bucket).partition_by("bucket", as_dict=True).items()),
            key=lambda part: part[0],
        )
    starts = run_starts(work["paper_key"].to_numpy())
    of_row = np.repeat(starts, np.diff(np.append(starts, work.height)))
    portion = pl.Series("portion", of_row // BUCKET_RECORDS, dtype=pl.Int64)
    return list(enumerate(work.with_columns(portion).partition_by("portion", maintain_order=True)))


def _refuse_losses(members: pl.DataFrame, merged: pl.DataFrame, shard: str) -> None:
    expected = members["paper_id"].n_unique()
    if merged.height != expected:
        raise LakeError(
            f"shard {shard}: identities names {expected} papers to merge, records holds those of {merged.height}; "
            "refresh identities, then papers"
        )


class _ShardWriter:
    """Puts merged papers into their shard: as one first commit, or portion by portion as changes."""

    def __init__(self, lake: Lake, shard: str, run: delta.Commit, gone: pl.DataFrame, *, fresh: bool) -> None:
        self.lake, self.shard, self.run, self.gone, self.fresh = lake, shard, run, gone, fresh
        self.staged: list[delta.StagedFile] = []
        self.written: list[delta.Written] = []

    def add(self, merged: pl.DataFrame) -> None:
        if self.fresh:
            self.staged.append(delta.stage(self.lake, "papers", self.shard, merged))
        else:
            self.written.append(delta.apply(self.lake, "papers", self.shard, merged, self.gone, self.run))
            self.gone = self.gone.clear()

    def finish(self) -> list[delta.Written]:
        if self.staged:
            return [delta.commit_staged(self.lake, "papers", self.shard, self.staged, self.run)]
        if not self.written:
            self.fresh = False
            self.add(pl.DataFrame(schema=contracts.PAPERS.schema))
        return self.written

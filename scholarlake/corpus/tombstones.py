"""`tombstones`: papers that were and are no more, and what became of them.

Written by the stage that decides identities, before it writes them: what was there until now is still known then, and a run
that is killed in between finds the same again. What does not belong here: how a reader is told (`door.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl

from scholarlake.lake import delta, releases
from scholarlake.lake.contracts import TOMBSTONES
from scholarlake.lake.home import Lake

MERGED, REMOVED = "merged", "removed"
_PAPER = {"paper_id": pl.String}
_MEMBER = {"paper_id": pl.String, "record_id": pl.String}


@dataclass(frozen=True)
class Tombstone:
    """What became of a paper. into: the paper that has its record, or most of its others. last_release: the newest one before."""

    paper_id: str
    reason: str
    into: str | None
    last_release: str | None
    since: str

    @property
    def said(self) -> str:
        """The same in words: was merged into…, left the dump…"""
        after = f" after {self.last_release}" if self.last_release else ""
        if self.reason == MERGED:
            return f"was merged into {self.into}{after}"
        return f"left the dump{after}" + (f"; its other records are now {self.into}" if self.into else "")


def find(tombstones: pl.LazyFrame, shard: str, paper_id: str) -> Tombstone | None:
    """The tombstone of a paper, None where it has none."""
    rows = tombstones.filter((pl.col("shard") == shard) & (pl.col("paper_id") == paper_id))
    found = rows.select("paper_id", "reason", "into", "last_release", "since").collect().rows()
    return Tombstone(*found[0]) if found else None


@dataclass(frozen=True)
class TombstonesReport:
    """What `bury` wrote. rows: tombstones there are now. version: None where there has never been one."""

    rows: int
    inserted: int
    updated: int
    deleted: int
    version: int | None


def bury(lake: Lake, identities: Mapping[str, pl.DataFrame], run: delta.Commit) -> TombstonesReport:
    """Bring `tombstones` in line with identities that are about to be written, given by shard.

    A paper of the present `identities` that is in none of these gets a tombstone, one that has come back loses it, and all
    others are led to the paper that now has what they led to.
    """
    stones = lake.scan("tombstones").collect()
    lying, gone, members = _in_question(lake, identities, stones)
    asked = pl.concat([lying["paper_id"], gone["paper_id"], members["record_id"], lying["into"].drop_nulls()]).unique()
    now = pl.concat([pl.DataFrame(schema=_MEMBER), *(_records(frame, asked) for frame in identities.values())]).unique("record_id")
    newest = next(reversed(releases.names(lake)), None)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    found = fates(gone.select("paper_id"), members, now).join(gone, on="paper_id")
    # A run that was killed after its tombstones and before its identities has said since when.
    fresh = found.join(stones.select("paper_id", "last_release", "since"), on="paper_id", how="left").with_columns(
        pl.when(pl.col("since").is_null()).then(pl.lit(newest, pl.String)).otherwise("last_release").alias("last_release"),
        pl.col("since").fill_null(at),
        pl.lit(run.code_version).alias("code_version"),
    )
    # Of one that lies already, the paper that it led to stands for its records.
    heirs = lying.filter(pl.col("into").is_not_null()).select("paper_id", record_id="into")
    led = fates(lying.select("paper_id"), heirs, now).join(lying.drop("reason", "into"), on="paper_id")
    wanted = pl.concat([frame.select(list(TOMBSTONES.columns)) for frame in (fresh, _through(led, lying, fresh))])
    return _write(lake, wanted, run)


def fates(gone: pl.DataFrame, members: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    """What became of papers: paper_id, reason and into, a row each.

    gone: paper_id. members: paper_id and record_id, the records that those papers had. now: record_id and paper_id, the papers
    that have records now, of all ids that gone and members name and that are still there.
    """
    own = now.select(paper_id="record_id", own="paper_id")
    moved = members.join(gone, on="paper_id", how="semi").join(now.rename({"paper_id": "heir"}), on="record_id")
    most = (
        moved.group_by("paper_id", "heir")
        .len("records")
        .sort("records", "heir", descending=[True, False])
        .unique("paper_id", keep="first", maintain_order=True)
    )
    return (
        gone.join(own, on="paper_id", how="left")
        .join(most, on="paper_id", how="left")
        .select(
            "paper_id",
            pl.when(pl.col("own").is_null()).then(pl.lit(REMOVED)).otherwise(pl.lit(MERGED)).alias("reason"),
            pl.coalesce("own", "heir").alias("into"),
        )
    )


def _in_question(
    lake: Lake, identities: Mapping[str, pl.DataFrame], stones: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Tombstones of papers that have not come back; papers that go now, with their shard; and the records that these had."""
    before = lake.scan("identities").select("paper_id", "record_id", "shard")
    lying, gone, members = [stones.clear()], [pl.DataFrame(schema={**_PAPER, "shard": pl.String})], [pl.DataFrame(schema=_MEMBER)]
    for shard in lake.shard_keys:
        present = identities[shard].select("paper_id").unique() if shard in identities else pl.DataFrame(schema=_PAPER)
        went = before.filter(pl.col("shard") == shard).join(present.lazy(), on="paper_id", how="anti").collect(engine="streaming")
        lying.append(stones.filter(pl.col("shard") == shard).join(pl.concat([present, went.select("paper_id")]), on="paper_id", how="anti"))
        gone.append(went.select("paper_id", "shard").unique())
        members.append(went.select("paper_id", "record_id").unique())
    return pl.concat(lying), pl.concat(gone), pl.concat(members)


def _records(identities: pl.DataFrame, asked: pl.Series) -> pl.DataFrame:
    return identities.select("paper_id", "record_id").filter(pl.col("record_id").is_in(asked.implode()))


def _through(led: pl.DataFrame, lying: pl.DataFrame, fresh: pl.DataFrame) -> pl.DataFrame:
    """Tombstones that lead to a paper whose own record goes now lead to where that one leads."""
    lost = led.filter(pl.col("into").is_null()).join(lying.select("paper_id", was="into"), on="paper_id")
    found = lost.join(fresh.select(was="paper_id", then="into"), on="was").select("paper_id", "then")
    return led.join(found, on="paper_id", how="left").with_columns(pl.coalesce("into", "then").alias("into"))


def _write(lake: Lake, wanted: pl.DataFrame, run: delta.Commit) -> TombstonesReport:
    by_shard = {str(key[0]): frame for key, frame in wanted.partition_by("shard", as_dict=True).items()}
    shards = sorted({*by_shard, *delta.partitions(lake, "tombstones")})
    written = [
        delta.write_partition(lake, "tombstones", shard, by_shard.get(shard, wanted.clear()).sort("paper_id"), run) for shard in shards
    ]
    return TombstonesReport(
        rows=wanted.height,
        inserted=sum(one.inserted for one in written),
        updated=sum(one.updated for one in written),
        deleted=sum(one.deleted for one in written),
        version=delta.version(lake, "tombstones"),
    )

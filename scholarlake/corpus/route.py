"""Carrying wide records from the parts of a dump to the shards of their papers, once for all shards.

Each file of `records` is streamed once; its rows are spooled by shard, and inside a shard by bucket, so that a bucket fits in memory.
A file's folder appears whole or not at all: killed half-way, only the files that were not finished are read again. What is
spooled is only good for one version of `identities`, and goes as the shards use it up.

    spool/papers/VERSION/FILE/SHARD-BUCKET-n.arrow
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from scholarlake.corpus.combine import RECORD_KEY, WIDE
from scholarlake.corpus.keys import Indices, KeyIndex, unsigned
from scholarlake.corpus.progress import Progress, silent
from scholarlake.corpus.record_files import RecordFile, record_files
from scholarlake.errors import LakeError
from scholarlake.lake import delta
from scholarlake.lake.contracts import RECORDS
from scholarlake.lake.files import build_folder, read_json, write_json
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake

BUCKET_RECORDS = 100_000
"""Records of a shard that are merged at a time."""
BATCH_ROWS = 20_000
"""Wide rows read at a time."""
HELD_BYTES = 192 << 20
"""Routed rows held in memory before they are written."""
KEYS_HELD = 30_000_000
"""Keys of records held in memory, twelve bytes each, to know which parts have the few that changed. Of more, all are looked at."""


@dataclass(frozen=True)
class Route:
    """Wide records spooled for a version of `identities`."""

    folder: Path
    buckets: int

    def read(self, shard: str, bucket: int) -> pl.DataFrame:
        """RECORD_KEY and WIDE of the records of a bucket of a shard; copies of a record come as often as there are lines."""
        # A folder with a leading dot is what a killed process left half-written.
        paths = sorted(self.folder.glob(f"[!.]*/{shard}-{bucket:04d}-*.arrow"))
        if not paths:
            return pl.DataFrame(schema={name: RECORDS.schema[name] for name in (*RECORD_KEY, *WIDE)})
        return pl.concat([pl.read_ipc(path) for path in paths])

    def used(self, lake: Lake, shard: str) -> None:
        """Let a shard's records go, and everything once all shards are done."""
        for path in self.folder.glob(f"*/{shard}-*.arrow"):
            path.unlink(missing_ok=True)
        (self.folder / f"used-{shard}").touch()
        if len(list(self.folder.glob("used-*"))) == lake.shards:
            shutil.rmtree(self.folder, ignore_errors=True)


def bucket_of(paper_keys: pl.Series, buckets: int) -> Indices:
    """The bucket of a paper inside its shard. Other bits than those the shard is made of."""
    return ((unsigned(paper_keys.to_numpy()) >> np.uint64(32)) % np.uint64(buckets)).astype(np.int64)


def existing_route(lake: Lake, shard: str) -> Route | None:
    """What is spooled, whole, for the present identities and records, and not yet used up by the shard."""
    folder = _folder(lake)
    if not (folder / "whole.json").is_file() or (folder / f"used-{shard}").exists():
        return None
    return Route(folder, int(read_json(folder / "whole.json")["buckets"]))


def route_records(lake: Lake, shard: str, progress: Progress = silent) -> Route:
    """Spool the wide rows of all records by shard, as far as that is not done yet, for the shard that asks and all others.

    One process at a time does it; others wait and find it done. Raises LakeError where `identities` does not know a record.
    """
    home = lake.spool("papers")
    home.mkdir(parents=True, exist_ok=True)
    with _alone(home):
        folder = _folder(lake)
        for old in home.iterdir():
            if old.is_dir() and (old != folder or (folder / f"used-{shard}").exists()):
                shutil.rmtree(old, ignore_errors=True)
        if not (folder / "whole.json").is_file():
            folder.mkdir(exist_ok=True)
            router = _Router(lake)
            files = record_files(lake)
            total, done = sum(file.rows for file in files), 0
            for file in files:
                build_folder(folder / digest([file.name]), lambda aside, file=file: router.spool(file, aside))  # type: ignore[misc]
                done += file.rows
                progress(done, total, "carrying records to their shards")
            write_json(folder / "whole.json", {"buckets": router.buckets})
    return Route(folder, int(read_json(folder / "whole.json")["buckets"]))


def _folder(lake: Lake) -> Path:
    versions = [str(delta.version(lake, name)) for name in ("identities", "records")]
    return lake.spool("papers", digest([*versions, *WIDE]))


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    with (home / "lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)  # goes with the process, however it ends
        yield


class _Router:
    def __init__(self, lake: Lake) -> None:
        members = lake.scan("identities").filter("is_current").select("record_key", "paper_key").collect()
        members = members.sort(pl.col("record_key").reinterpret(signed=False))
        records = int(lake.scan("identities").select(pl.col("copies").sum()).collect().item() or 0)
        self.buckets = max(1, -(-records // (lake.shards * BUCKET_RECORDS)))
        self.index = KeyIndex(members["record_key"].to_numpy())
        shard = (unsigned(members["paper_key"].to_numpy()) % np.uint64(lake.shards)).astype(np.int32)
        self.place = shard * self.buckets + bucket_of(members["paper_key"], self.buckets).astype(np.int32)
        self.shards = lake.shard_keys

    def spool(self, file: RecordFile, folder: Path) -> None:
        held: dict[int, list[pl.DataFrame]] = {}
        size, turn = 0, 0
        for batch in file.batches([*RECORD_KEY, *WIDE], BATCH_ROWS):
            found = self.index.find(batch["record_key"].to_numpy())
            if (found < 0).any():
                raise LakeError("records holds ids that identities does not know; refresh identities before papers")
            placed = batch.with_columns(pl.Series("place", self.place[found], dtype=pl.Int32))
            for key, part in placed.partition_by("place", as_dict=True, include_key=False).items():
                held.setdefault(int(key[0]), []).append(part)
            size += int(batch.estimated_size())
            if size >= HELD_BYTES:
                self._flush(held, folder, turn)
                size, turn = 0, turn + 1
        self._flush(held, folder, turn)

    def _flush(self, held: dict[int, list[pl.DataFrame]], folder: Path, turn: int) -> None:
        for place, parts in held.items():
            shard, bucket = divmod(place, self.buckets)
            pl.concat(parts).write_ipc(folder / f"{self.shards[shard]}-{bucket:04d}-{turn:05d}.arrow", compression="lz4")
        held.clear()


def scan_records(lake: Lake, files: Sequence[RecordFile], keys: pl.Series, progress: Progress = silent) -> pl.DataFrame:
    """RECORD_KEY and WIDE of the records of some keys, read from the parts themselves: right where they are few."""
    found = [pl.DataFrame(schema={name: RECORDS.schema[name] for name in (*RECORD_KEY, *WIDE)})]
    few = sum(file.rows for file in files) <= KEYS_HELD
    holding = [files[number] for number in _files_of(lake, files, progress).holding(keys)] if few else files
    for done, file in enumerate(holding):
        progress(done, len(holding), "reading the records that changed")
        found.append(file.matching([*RECORD_KEY, *WIDE], keys))
    return pl.concat(found)


@dataclass(frozen=True)
class _FilesOf:
    """Which files have a record's key: all keys of all files, sorted, and the number of the file that each stands in."""

    keys: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int32]

    def holding(self, keys: pl.Series) -> list[int]:
        wanted = np.unique(keys.to_numpy())
        first, beyond = (np.searchsorted(self.keys, wanted, side) for side in ("left", "right"))
        return sorted({int(number) for a, b in zip(first, beyond, strict=True) for number in self.numbers[a:b]})


_known: dict[str, _FilesOf] = {}


def _files_of(lake: Lake, files: Sequence[RecordFile], progress: Progress) -> _FilesOf:
    """The keys of those files, read once for all the shards that this process makes."""
    name = digest([str(lake.root), *(file.name for file in files)])
    if name not in _known:
        keys = []
        for done, file in enumerate(files):
            progress(done, len(files), "looking which parts have the records that changed")
            keys.append(file.read(["record_key"], 0, file.rows)["record_key"].to_numpy())
        every = np.concatenate(keys) if keys else np.empty(0, dtype=np.int64)
        order = np.argsort(every, kind="stable")
        numbers = np.repeat(np.arange(len(files), dtype=np.int32), [len(own) for own in keys])
        _known.clear()
        _known[name] = _FilesOf(every[order], numbers[order])
    return _known[name]

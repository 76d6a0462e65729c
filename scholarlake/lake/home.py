"""The lake as a folder: where its tables, artifacts, receipts, releases and caches lie, and how many shards it has.

lake.json            what was fixed when the lake was made
tables/NAME          Delta tables
artifacts/…          indices, by content
receipts/…           what each stage last made, from which inputs
releases/NAME.json   what readers read
accesses/…           which objects of the layers were read, by whom
models/…             what models answered, and what it cost
trajectories/…       what the agent did, a file a run
spool/…              finished items of work under way; safe to lose, dear to redo
locks/…              held while a partition is written; empty files
dagster/…            the Dagster instance of this lake: its runs and events
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from scholarlake.errors import LakeError
from scholarlake.lake import contracts
from scholarlake.lake.files import read_json, write_json
from scholarlake.lake.hashing import shard_of

FORMAT = 1
DAGSTER = "dagster"
TRAIN_BATCHES = 28  # of subgraphs, at full size
MAX_TRAIN_BATCHES = 97  # with those of the other splits
MAX_SHARDS = 99  # Dagster judges staleness wrongly over 100 and more upstream partitions
_UNREADABLE = re.compile(r"[\[\]^|\\=\t\n\r]|%[0-9A-Fa-f]{2}")  # delta-rs or Polars finds no table below such a folder


@dataclass(frozen=True)
class Lake:
    """A lake's folder, its number of shards, and of the batches that training subgraphs come in. Make one with `create`, `open` or
    `open_or_create`."""

    root: Path
    shards: int
    train_batches: int = TRAIN_BATCHES

    @classmethod
    def create(cls, root: Path, shards: int, train_batches: int = TRAIN_BATCHES) -> Lake:
        if not 1 <= shards <= MAX_SHARDS:
            raise LakeError(f"a lake has 1 to {MAX_SHARDS} shards, not {shards}; set `shards` in the profile")
        if not 1 <= train_batches <= MAX_TRAIN_BATCHES:
            raise LakeError(
                f"a lake has 1 to {MAX_TRAIN_BATCHES} batches to train on, not {train_batches}; set `train_batches` in the profile"
            )
        _require_readable(root)
        write_json(root / "lake.json", {"format": FORMAT, "shards": shards, "train_batches": train_batches})
        return cls(root.resolve(), shards, train_batches)

    @classmethod
    def open(cls, root: Path) -> Lake:
        """Open an existing lake. Raises LakeError where there is none, or one of another format."""
        path = root / "lake.json"
        if root.exists() and not root.is_dir():
            raise LakeError(f"{root} is a file; name the folder of a lake")
        if not path.is_file():
            raise LakeError(f"no lake at {root}; make one with `scholarlake build --dumps DIR --lake {root}`")
        try:
            facts = read_json(path)
            shards, version = int(facts["shards"]), int(facts["format"])
            train_batches = int(facts.get("train_batches", TRAIN_BATCHES))
        except (ValueError, KeyError, TypeError) as fault:
            raise LakeError(f"{path} is damaged ({fault}); restore it from a copy") from fault
        if version != FORMAT:
            raise LakeError(f"{root} has lake format {version}, this version reads {FORMAT}; use the version that made it")
        _require_readable(root)
        return cls(root.resolve(), shards, train_batches)

    @classmethod
    def open_or_create(cls, root: Path, shards: int, train_batches: int = TRAIN_BATCHES) -> Lake:
        """Open the lake at root, or make it. Raises LakeError where it has another number of shards, or of batches."""
        if root.exists() and not root.is_dir():
            raise LakeError(f"{root} is a file; name a folder for the lake")
        if not (root / "lake.json").is_file():
            # The UI may have been there first, or a process that died while it wrote lake.json.
            if root.is_dir() and any(path.name != DAGSTER and not path.name.startswith(".lake.json.") for path in root.iterdir()):
                raise LakeError(f"{root} is not empty and holds no lake; name an empty folder")
            return cls.create(root, shards, train_batches)
        lake = cls.open(root)
        if lake.shards != shards:
            raise LakeError(
                f"{root} was made with {lake.shards} shards, the profile says {shards}; "
                f"set `shards: {lake.shards}` in the profile, or build into another folder"
            )
        if "train_batches" not in read_json(root / "lake.json"):  # it was made before there were any
            return cls.create(root, shards, train_batches)
        if lake.train_batches != train_batches:
            raise LakeError(
                f"{root} was made with {lake.train_batches} batches of training subgraphs, the profile says {train_batches}; "
                f"set `train_batches: {lake.train_batches}` under `training` in the profile, or build into another folder"
            )
        return lake

    @property
    def shard_keys(self) -> list[str]:
        return [f"{shard:02d}" for shard in range(self.shards)]

    @property
    def batch_keys(self) -> list[str]:
        return batch_keys(self.train_batches)

    def shard_of(self, paper_id: str) -> str:
        return shard_of(paper_id, self.shards)

    def table_path(self, name: str) -> Path:
        return self.root / "tables" / contracts.table(name).name

    @property
    def artifacts(self) -> Path:
        return self.root / "artifacts"

    @property
    def receipts(self) -> Path:
        return self.root / "receipts"

    @property
    def releases(self) -> Path:
        return self.root / "releases"

    @property
    def accesses(self) -> Path:
        return self.root / "accesses"

    @property
    def models(self) -> Path:
        return self.root / "models"

    def spool(self, *names: str) -> Path:
        return self.root.joinpath("spool", *names)

    def scan(self, name: str, version: int | None = None) -> pl.LazyFrame:
        """A table as a lazy frame, at a version or the newest; empty and typed where it was never written."""
        from scholarlake.lake import delta

        return delta.scan(self, name, version)


def batch_keys(train_batches: int) -> list[str]:
    """The batches of subgraphs: what is held out first, since training takes what that leaves."""
    return ["test-00", "validation-00", *(f"train-{batch:02d}" for batch in range(train_batches))]


def _require_readable(root: Path) -> None:
    if strange := _UNREADABLE.search(str(root.resolve())):
        raise LakeError(f"no engine finds Delta tables in {root.resolve()}, for the {strange[0]!r}; put the lake into a folder without it")

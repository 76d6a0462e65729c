"""One change of the registry as a whole, though it lies in three tables and several partitions.

What is to be written is laid down in the lake first, as one folder that appears in one rename; then the tables are written, then the folder
goes. Who is killed in between leaves the folder, and whoever comes next finishes it: rows that are there already are no change. Times and
ids are in it, so that finishing it makes what the first one would have made. What does not belong here: what is to be changed.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from scholarlake.lake import delta, locks
from scholarlake.lake.contracts import REGISTRY, REGISTRY_DEPENDENCIES, REGISTRY_EVENTS, Table
from scholarlake.lake.files import build_folder
from scholarlake.lake.fit import require_fit, require_unique_keys
from scholarlake.lake.home import Lake

_FOLDER = ("registry", "change")


@dataclass(frozen=True)
class Change:
    """What is written of the three tables, and which dependencies go."""

    rows: pl.DataFrame
    dependencies: pl.DataFrame
    events: pl.DataFrame
    severed: pl.DataFrame

    @property
    def is_nothing(self) -> bool:
        return not any(frame.height for frame in (self.rows, self.dependencies, self.events, self.severed))


@contextmanager
def held(lake: Lake, run: delta.Commit) -> Iterator[None]:
    """Hold the registry against all who would change it, with what an earlier one began finished."""
    with locks.hold(lake, "registry"):
        _finish(lake, run)
        yield


def commit(lake: Lake, change: Change, run: delta.Commit) -> None:
    """Carry out a change; none makes no version of any table. To be called with the registry held.

    Raises ContractError, before anything is laid down, where a row does not fit its contract.
    """
    if change.is_nothing:
        return
    for contract, frame in ((REGISTRY, change.rows), (REGISTRY_DEPENDENCIES, change.dependencies), (REGISTRY_EVENTS, change.events)):
        for partition, rows in _by_partition(contract, frame):
            require_fit(contract, partition, rows)
            require_unique_keys(contract, rows)
    frames = {"rows": change.rows, "dependencies": change.dependencies, "events": change.events, "severed": change.severed}

    def lay_down(folder: Path) -> None:
        for name, frame in frames.items():
            frame.write_parquet(folder / f"{name}.parquet")

    build_folder(_place(lake), lay_down)
    _finish(lake, run)


def _finish(lake: Lake, run: delta.Commit) -> None:
    folder = _place(lake)
    for leftover in folder.parent.glob(".*"):  # laid down half way, or finished and not yet gone
        shutil.rmtree(leftover)
    if not folder.is_dir():
        return
    rows, dependencies, events, severed = (
        pl.read_parquet(folder / f"{name}.parquet") for name in ("rows", "dependencies", "events", "severed")
    )
    for partition, some in _by_partition(REGISTRY, rows):
        _apply(lake, REGISTRY, partition, some, some.clear().select(REGISTRY.key), run)
    _apply(lake, REGISTRY_DEPENDENCIES, None, dependencies, severed, run)
    _apply(lake, REGISTRY_EVENTS, None, events, events.clear().select(REGISTRY_EVENTS.key), run)
    finished = folder.with_name(f".{uuid.uuid4().hex}")
    folder.rename(finished)
    shutil.rmtree(finished)


def _apply(lake: Lake, contract: Table, partition: str | None, rows: pl.DataFrame, gone: pl.DataFrame, run: delta.Commit) -> None:
    if rows.height or gone.height:
        delta.apply(lake, contract.name, partition, rows, gone, run)


def _by_partition(contract: Table, frame: pl.DataFrame) -> list[tuple[str | None, pl.DataFrame]]:
    by = contract.partition_by
    if by is None:
        return [(None, frame)]
    return [(str(value), frame.filter(pl.col(by) == value)) for value in sorted(frame[by].unique())]


def _place(lake: Lake) -> Path:
    return lake.root.joinpath(*_FOLDER)

"""The files that a version of a Delta table consists of.

What does not belong here: what their rows say (`delta.py`, `changes.py`), which of them may go (`vacuum.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import polars as pl
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from scholarlake.errors import LakeError
from scholarlake.lake.contracts import Table


@dataclass(frozen=True)
class TableFile:
    """One Parquet file. name: its path below the table's folder, as the log spells it, unique for ever."""

    name: str
    partition: str | None
    bytes: int
    rows: int

    def path(self, folder: Path) -> Path:
        """Where it lies: the log may spell a partition's folder in percent signs once more than the disk does."""
        return folder / self.name if (folder / self.name).exists() else folder / unquote(self.name)


def open_version(folder: Path, contract: Table, version: int | None = None) -> DeltaTable:
    """A table at a version or the newest. Raises LakeError where the table or the version is gone."""
    try:
        return DeltaTable(str(folder), version=version)
    except (DeltaError, OSError) as fault:
        where = "" if version is None else f" at version {version}"
        raise LakeError(f"table {contract.name} can't be read{where}: {' '.join(str(fault).split())[:300]}") from fault


def files_of(delta: DeltaTable, contract: Table) -> list[TableFile]:
    """Every file of the version that is open."""
    actions = pl.DataFrame(delta.get_add_actions(flatten=True))
    by = contract.partition_by
    partition = pl.lit(None, pl.String) if by is None else pl.col(f"partition.{by}")
    return [TableFile(*row) for row in actions.select("path", partition.alias("partition"), "size_bytes", "num_records").iter_rows()]

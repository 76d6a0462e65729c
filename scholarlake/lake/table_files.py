"""The files that a version of a Delta table consists of.

What does not belong here: what their rows say (`delta.py`, `changes.py`), which of them may go (`vacuum.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import polars as pl
from deltalake import DeltaTable, Schema
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


class LocalTable(DeltaTable):
    """A Delta table on this machine. delta-rs spells its folder in percent signs (`J%C3%B6rg`), and Polars would look for it so."""

    def file_uris(self, *which: Any, **only: Any) -> list[str]:
        """Where the files lie, the table's own folder spelled as the disk has it."""
        spelled = urlsplit(self.table_uri).path.rstrip("/") if self.table_uri.startswith("file:") else self.table_uri.rstrip("/")
        home = unquote(spelled)
        found = super().file_uris(*which, **only)
        return [home + uri.removeprefix(spelled) if uri.startswith(spelled + "/") else uri for uri in found]


def open_version(folder: Path, contract: Table, version: int | None = None) -> DeltaTable:
    """A table at a version or the newest. Raises LakeError where the table or the version is gone."""
    try:
        return LocalTable(str(folder), version=version)
    except (DeltaError, OSError) as fault:
        where = "" if version is None else f" at version {version}"
        raise LakeError(f"table {contract.name} can't be read{where}: {' '.join(str(fault).split())[:300]}") from fault


def absent_columns(delta: DeltaTable, contract: Table) -> list[str]:
    """Columns of the contract that the table was made without, by an earlier version of it.

    Raises LakeError where a column that both have is of another type: its rows can be read by the version that wrote them alone.
    """
    present = {field.name: field.type for field in delta.schema().fields}
    wanted = {field.name: field.type for field in delta_schema(contract).fields}
    if other := sorted(name for name, kind in wanted.items() if name in present and present[name] != kind):
        raise LakeError(
            f"table {contract.name} holds {', '.join(other)} in another type than this version of ScholarLake: read it with the version "
            "that wrote it, or build into a new folder"
        )
    return [name for name in contract.columns if name not in present]


def delta_schema(contract: Table) -> Schema:
    """The contract's columns in Delta's types."""
    empty = pl.DataFrame(schema=contract.schema)
    return Schema.from_arrow(empty.to_arrow(compat_level=pl.CompatLevel.oldest()).schema)


def files_of(delta: DeltaTable, contract: Table) -> list[TableFile]:
    """Every file of the version that is open."""
    actions = pl.DataFrame(delta.get_add_actions(flatten=True))
    by = contract.partition_by
    partition = pl.lit(None, pl.String) if by is None else pl.col(f"partition.{by}")
    return [TableFile(*row) for row in actions.select("path", partition.alias("partition"), "size_bytes", "num_records").iter_rows()]


def feed(delta: DeltaTable, contract: Table, after: int, inside: str | None = None) -> Iterator[pl.DataFrame]:
    """What the Change Data Feed tells from the version after a given one up to the version that is open: rows as they lie in the change
    files, with `_change_type` and `_commit_version`. inside: a predicate on the partition.

    Raises LakeError, perhaps after some rows, where it does not tell: the table has no feed, or its files were taken away.
    """
    if not contract.feed:
        raise LakeError(f"table {contract.name} has no Change Data Feed")
    try:
        for batch in delta.load_cdf(starting_version=after + 1, ending_version=delta.version(), predicate=inside):
            yield pl.DataFrame(batch)
    except Exception as fault:  # of a change file that is missing, Arrow's stream makes an Exception of no class of its own
        raise LakeError(f"the Change Data Feed of {contract.name} can't be read: {' '.join(str(fault).split())[:300]}") from fault

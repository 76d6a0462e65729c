"""Reading `records` in bounded pieces: some columns, some rows at a time, whatever the size of a part.

What does not belong here: what is done with the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from scholarlake.errors import LakeError
from scholarlake.lake import delta
from scholarlake.lake.contracts import RECORDS
from scholarlake.lake.home import Lake
from scholarlake.lake.table_files import files_of, open_version

NARROW_ROWS = 2_000_000
"""Rows of a few narrow columns read at a time."""


@dataclass(frozen=True)
class RecordFile:
    """One Parquet file of `records` and its number of rows. `name` is its path below the table, unique for ever."""

    name: str
    path: Path
    rows: int

    def batches(self, columns: Sequence[str | pl.Expr], rows_at_once: int) -> Iterator[pl.DataFrame]:
        """The columns of at most that many rows at a time, in the file's order."""
        for start in range(0, self.rows, rows_at_once):
            yield self.read(columns, start, rows_at_once)

    def read(self, columns: Sequence[str | pl.Expr], start: int, rows: int) -> pl.DataFrame:
        """The columns of at most that many rows from one on."""
        return pl.scan_parquet(self.path, hive_partitioning=False).slice(start, rows).select(columns).collect()

    def matching(self, columns: Sequence[str], keys: pl.Series) -> pl.DataFrame:
        """The columns of those rows whose record_key is among keys; other rows' wide columns are not decoded."""
        return self.where(pl.col("record_key").is_in(keys.implode()), columns)

    def where(self, predicate: pl.Expr, columns: Sequence[str | pl.Expr]) -> pl.DataFrame:
        """The columns of those rows for which a predicate holds."""
        return pl.scan_parquet(self.path, hive_partitioning=False).filter(predicate).select(columns).collect(engine="streaming")


def record_files(lake: Lake) -> list[RecordFile]:
    """The files that `records` has now, sorted by name; none where it was never written.

    Raises LakeError where one is gone from the disk.
    """
    if not delta.exists(lake, "records"):
        return []
    folder = lake.table_path("records")
    found = []
    for file in sorted(files_of(open_version(folder, RECORDS), RECORDS), key=lambda file: file.name):
        path = file.path(folder)
        if not path.exists():
            raise LakeError(f"{path} is gone, though table records names it; restore it, or build `records` again")
        found.append(RecordFile(file.name, path, file.rows))
    return found

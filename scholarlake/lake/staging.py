"""Parquet files laid aside in a table's folder, visible to nobody until a commit names them.

What does not belong here: the commit (delta.py).
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from scholarlake.lake.content import Content, content_of
from scholarlake.lake.contracts import Table, table
from scholarlake.lake.files import sync_folder
from scholarlake.lake.fit import require_fit
from scholarlake.lake.home import Lake


@dataclass(frozen=True)
class StagedFile:
    """A Parquet file that lies in the table's folder and belongs to no version yet."""

    path: str
    bytes: int
    content: Content

    @property
    def rows(self) -> int:
        return self.content.rows


def stage(lake: Lake, name: str, partition: str | None, frame: pl.DataFrame) -> StagedFile:
    """Write rows as a Parquet file beside the table's others, visible to nobody. Safe from any process or thread.

    Raises ContractError where the frame is not exactly of the contract's schema, or leaves the partition.
    """
    contract = table(name)
    require_fit(contract, partition, frame)
    path = _aside(lake, contract, partition)
    stored = frame.drop(contract.partition_by) if contract.partition_by else frame
    stored.write_parquet(path, compression="zstd", compression_level=1, statistics=True)
    return _staged(lake, contract, path, content_of(contract, frame))


def stage_encoded(lake: Lake, name: str, partition: str | None, rows: pa.Table, content: Content) -> StagedFile:
    """The same for rows without the partition's column, whose texts are dictionaries already and whose content is known.

    The file's text columns are plain ones to every reader; only their pages are encoded as the dictionaries are.
    Raises ContractError where the columns are not the contract's.
    """
    contract = table(name)
    require_fit(contract, partition, _like(contract, partition, rows.schema))
    path = _aside(lake, contract, partition)
    pq.write_table(
        rows,
        path,
        row_group_size=max(1, rows.num_rows),  # a dictionary goes whole into each row group
        dictionary_pagesize_limit=1 << 30,  # beyond it, the writer would spell out every row
        compression="zstd",
        compression_level=1,
        write_statistics=[contract.key[0]],  # of sorted rows, the first column's bounds are worth their time
        store_schema=False,  # a note that these were dictionaries would make other readers give dictionaries
    )
    return _staged(lake, contract, path, content)


def _like(contract: Table, partition: str | None, schema: pa.Schema) -> pl.DataFrame:
    """No rows, of the types that a reader of the file will see, with the partition's column where it belongs."""
    plain = [(one.name, getattr(one.type, "value_type", one.type)) for one in schema]  # of a dictionary, what it holds
    empty = pl.DataFrame(pa.schema(plain).empty_table())
    if contract.partition_by is None or partition is None:
        return empty
    place = min(list(contract.columns).index(contract.partition_by), empty.width)
    return empty.insert_column(place, pl.Series(contract.partition_by, [], dtype=pl.String))


def _aside(lake: Lake, contract: Table, partition: str | None) -> Path:
    path = lake.table_path(contract.name) / folder_of(contract, partition) / f"part-{uuid.uuid4().hex}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _staged(lake: Lake, contract: Table, path: Path, content: Content) -> StagedFile:
    with path.open("rb") as stream:
        # Have the system begin to write it out, without waiting: `settle` waits, when much of it is done, and hears of faults.
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return StagedFile(path.relative_to(lake.table_path(contract.name)).as_posix(), path.stat().st_size, content)


def settle(table_path: Path, files: Iterable[str]) -> None:
    """Wait until files of a table, by their paths in it, are on the disk: no committed version may name bytes that a power cut took."""
    folders: set[Path] = set()
    for file in files:
        path = table_path / file
        with path.open("rb+") as stream:
            os.fsync(stream.fileno())
        folders.add(path.parent)
    for folder in folders:
        sync_folder(folder)


def folder_of(contract: Table, partition: str | None) -> str:
    """The folder of a partition, as Hive has it: Polars takes the partition's value from there, not from the log."""
    return "" if contract.partition_by is None else f"{contract.partition_by}={quote(partition or '', safe='')}"

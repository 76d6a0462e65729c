"""The one writer of Delta tables, and the one way to read them.

Nothing else in the project commits to a table. Two ways in, by what is known about the change:

- rows are compared by key with what is there, and one MERGE inside an explicit partition predicate carries exactly what
  changed into the Change Data Feed (`write_partition`, `apply`); equal rows make no version;
- a partition that is new, or that stands for a whole file of a dump, is laid down as Parquet files aside, by as many
  processes as like, and becomes visible in one commit (`stage`, `commit_staged`).

Partitions are locked on this machine while they are read, compared and written, because Delta lets two blind appends
to one partition both succeed. The lock goes with the process, however it ends.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction

from scholarlake.errors import ContractError, LakeError
from scholarlake.lake import known_content, locks
from scholarlake.lake.content import Content, Wanted, hashed, minus, total_of, wanted_rows
from scholarlake.lake.contracts import Table, table
from scholarlake.lake.fit import require_fit, require_unique_keys
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.lake.staging import StagedFile as StagedFile
from scholarlake.lake.staging import settle
from scholarlake.lake.staging import stage as stage
from scholarlake.lake.staging import stage_encoded as stage_encoded
from scholarlake.lake.table_files import TableFile, absent_columns, delta_schema, feed, files_of, open_version

ATTEMPTS = 5
_OPERATION = "__operation"
_CONFIGURATION = {
    # Time travel to a pinned version needs its log: releases, not days, decide how long history is kept.
    "delta.enableExpiredLogCleanup": "false",
    "delta.logRetentionDuration": "interval 36500 days",
}


@dataclass(frozen=True)
class Commit:
    """Who commits: goes into the commit's metadata."""

    run_id: str
    code_version: str
    inputs: Mapping[str, str] = field(default_factory=dict)

    def properties(self) -> CommitProperties:
        return CommitProperties(
            custom_metadata={
                "run_id": self.run_id,
                "code_version": self.code_version,
                "inputs": json.dumps(dict(self.inputs), sort_keys=True),
            }
        )


@dataclass(frozen=True)
class Written:
    """What a write did. `version` is the table's version after it, None where the table still does not exist."""

    version: int | None
    inserted: int
    updated: int
    deleted: int
    rows: int
    bytes: int
    content_version: str

    @property
    def changed(self) -> int:
        return self.inserted + self.updated + self.deleted


def combined(versions: Mapping[str, str]) -> str:
    """One content version for several partitions, whatever their order."""
    return digest(f"{key}={versions[key]}" for key in sorted(versions))


# -- reading ---------------------------------------------------------------------------------------------------------


def exists(lake: Lake, name: str) -> bool:
    return DeltaTable.is_deltatable(str(lake.table_path(name)))


def version(lake: Lake, name: str) -> int | None:
    """The newest version of a table, None where it was never written."""
    return _open(lake, table(name)).version() if exists(lake, name) else None


def count(lake: Lake, name: str) -> int:
    """Rows of a table's newest version, from its log. 0 where it was never written."""
    return sum(file.rows for file in _files(lake, table(name))) if exists(lake, name) else 0


def size(lake: Lake, name: str) -> int:
    """Bytes of the files of a table's newest version. 0 where it was never written."""
    return sum(file.bytes for file in _files(lake, table(name))) if exists(lake, name) else 0


def scan(lake: Lake, name: str, at: int | None = None) -> pl.LazyFrame:
    """A table as a lazy frame in the contract's column order; empty and typed where it was never written."""
    contract = table(name)
    if at is None and not exists(lake, name):
        return pl.LazyFrame(schema=contract.schema)
    return scan_path(lake.table_path(name), contract, at)


def scan_path(path: Path, contract: Table, at: int | None = None) -> pl.LazyFrame:
    """The same for a table at a given path; a column that it was made without is null. Raises LakeError where the table or the version
    is gone, or a column is of another type."""
    opened = open_version(path, contract, at)  # opened now: a version that is gone is felt here
    absent = [pl.lit(None, contract.schema[name]).alias(name) for name in absent_columns(opened, contract)]
    return pl.scan_delta(opened).with_columns(absent).select(list(contract.columns))


def changed_since(lake: Lake, name: str, partition: str | None, version: int) -> pl.DataFrame | None:
    """The rows of a partition that came or changed after a version of the table, as they are now, by the Change Data Feed: one that
    changed twice is there twice. None where the feed does not tell: the table has none, or its files are gone."""
    contract = table(name)
    newest = _open(lake, contract)
    if newest.version() < version:
        return None
    if newest.version() == version:
        return pl.DataFrame(schema=contract.schema)
    inside = " AND ".join(column.removeprefix("t.") for column in _inside(contract, partition))
    came = pl.col("_change_type").is_in(["insert", "update_postimage"])
    typed = [pl.col(column).cast(dtype) for column, dtype in contract.schema.items()]
    try:
        pieces = [rows.filter(came).select(typed) for rows in feed(newest, contract, version, inside or None)]
    except LakeError:
        return None
    return pl.concat(pieces) if pieces else pl.DataFrame(schema=contract.schema)


def partitions(lake: Lake, name: str) -> list[str]:
    """The partition values that a table holds, sorted."""
    contract = table(name)
    if contract.partition_by is None or not exists(lake, name):
        return []
    return sorted({str(file.partition) for file in _files(lake, contract)})


def partition_content(lake: Lake, name: str, partition: str | None) -> Content:
    """Rows and hash sum of what a partition holds now: as noted, else one file in memory at a time."""
    contract = table(name)
    if not exists(lake, name):
        return Content()
    return _content_of(_open(lake, contract), lake, contract, partition)


# -- writing ---------------------------------------------------------------------------------------------------------


def commit_staged(lake: Lake, name: str, partition: str | None, files: Sequence[StagedFile], run: Commit) -> Written:
    """Make staged files the whole content of a partition, in one commit; none where it already holds these rows."""
    contract = table(name)
    wanted = sum((file.content for file in files), Content())
    with _locked(lake, name, partition):
        delta = _open_or_create(lake, contract)
        old = [file.bytes for file in files_of(delta, contract) if _belongs(file, partition)]
        present = _content_of(delta, lake, contract, partition)
        if present == wanted and (files or not old):
            _discard(lake, name, files)
            return Written(delta.version(), 0, 0, 0, wanted.rows, sum(old), wanted.version)
        actions = [_add(contract, partition, file) for file in files if file.rows]
        _discard(lake, name, [file for file in files if not file.rows])
        _transact(lake, delta, contract, partition, actions, replace=bool(old), run=run)
        _remember(lake, delta, contract, partition, wanted)
    return Written(delta.version(), wanted.rows, 0, present.rows, wanted.rows, sum(file.bytes for file in files), wanted.version)


def commit_new(lake: Lake, name: str, staged: Mapping[str, Sequence[StagedFile]], run: Commit) -> dict[str, Written]:
    """Make staged files the content of partitions that are new, all in one commit: a commit costs as much as 100,000 rows.

    A partition that another writer made meanwhile is dealt with as commit_staged does.
    """
    contract = table(name)
    written: dict[str, Written] = {}
    with ExitStack() as held:
        for partition in sorted(staged):  # in one order everywhere, so that two writers can't wait for each other
            held.enter_context(_locked(lake, name, partition))
        delta = _open_or_create(lake, contract)
        taken = {file.partition for file in files_of(delta, contract)}
        new = {partition: files for partition, files in staged.items() if partition not in taken}
        for files in new.values():
            _discard(lake, name, [file for file in files if not file.rows])
        actions = [_add(contract, partition, file) for partition, files in new.items() for file in files if file.rows]
        if actions:
            _transact(lake, delta, contract, None, actions, replace=False, run=run)
        for partition, files in new.items():
            content = sum((file.content for file in files), Content())
            size = sum(file.bytes for file in files if file.rows)
            _remember(lake, delta, contract, partition, content)
            written[partition] = Written(delta.version(), content.rows, 0, 0, content.rows, size, content.version)
    late = {partition: commit_staged(lake, name, partition, staged[partition], run) for partition in staged if partition in taken}
    return {**written, **late}


def write_partition(lake: Lake, name: str, partition: str | None, frame: pl.DataFrame, run: Commit) -> Written:
    """Make a frame the whole content of a partition: insert, update and delete what differs, in one commit at most.

    Raises ContractError, before anything is written, where the frame does not fit the contract.
    """
    contract = table(name)
    require_fit(contract, partition, frame)
    require_unique_keys(contract, frame)
    return _attempt(lake, contract, partition, wanted_rows(contract, frame), None, run)


def write_wanted(lake: Lake, name: str, partition: str | None, wanted: Wanted, run: Commit) -> Written:
    """The same for rows known by their hashes: only those that are not there are made.

    Raises ContractError, before anything is written, where rows that are made do not fit the contract, or share a key.
    """
    return _attempt(lake, table(name), partition, wanted, None, run)


def apply(lake: Lake, name: str, partition: str | None, upserts: pl.DataFrame, deletes: pl.DataFrame, run: Commit) -> Written:
    """Carry known changes into a partition: rows to insert or update, and the keys of rows to delete.

    upserts has the contract's schema, deletes its key columns. Upserts equal to what is there are no change.
    """
    contract = table(name)
    require_fit(contract, partition, upserts)
    require_unique_keys(contract, upserts)
    if list(deletes.columns) != list(contract.key):
        raise ContractError(f"{name}: deletes must have the key columns {contract.key}, not {tuple(deletes.columns)}")
    deletes = deletes.join(upserts, on=list(contract.key), how="anti")  # an upsert wins over a delete of the same key
    return _attempt(lake, contract, partition, wanted_rows(contract, upserts), deletes, run)


def _attempt(lake: Lake, contract: Table, partition: str | None, wanted: Wanted, deletes: pl.DataFrame | None, run: Commit) -> Written:
    """Read, compare and write; all of it again where another writer came first."""
    for attempt in range(ATTEMPTS):
        with _locked(lake, contract.name, partition):
            try:
                return _compare_and_write(lake, contract, partition, wanted, deletes, run)
            except CommitFailedError as fault:
                if attempt == ATTEMPTS - 1:
                    raise LakeError(f"{contract.name}: other writers kept getting in first ({_one_line(fault)}); run it again") from fault
        time.sleep(0.05 * 2**attempt)
    raise AssertionError("unreachable")


def _compare_and_write(
    lake: Lake, contract: Table, partition: str | None, wanted: Wanted, deletes: pl.DataFrame | None, run: Commit
) -> Written:
    delta = _open_or_create(lake, contract)
    present = hashed(_touched(delta, lake, contract, partition, wanted, deletes), contract)
    key = list(contract.key)
    # Most rows are the same on both sides. That is told by hashes alone: keys of text are looked at only where they are not.
    numbered = pl.DataFrame({"hash": wanted.hashes}).with_row_index("at")
    other = numbered.join(present, on="hash", how="anti")["at"]
    frame = wanted.take(pl.repeat(False, len(wanted.hashes), eager=True).scatter(other, True))
    require_fit(contract, partition, frame)
    require_unique_keys(contract, frame)
    made = hashed(frame.lazy(), contract)
    known = present if deletes is not None else present.join(numbered, on="hash", how="anti")
    joined = made.join(known, on=key, how="left", suffix="_old")
    new = joined.filter(pl.col("hash_old").is_null()).select(key)
    changed = joined.filter(pl.col("hash_old").is_not_null()).select(key)
    if deletes is None:
        before = total_of(present)
        gone = known.join(made, on=key, how="anti").select(key)
        content = wanted.content
    else:
        before = _content_of(delta, lake, contract, partition)
        gone = known.join(deletes, on=key, how="semi").select(key)
        lost = present.join(pl.concat([changed, gone]), on=key, how="semi")
        content = minus(before, total_of(lost)) + total_of(made)

    if new.height + changed.height + gone.height:
        if before.rows == 0:
            staged = stage(lake, contract.name, partition, frame)
            _transact(lake, delta, contract, partition, [_add(contract, partition, staged)], replace=False, run=run)
        else:
            _merge(delta, contract, partition, frame, new, changed, gone, run)
        delta = _open(lake, contract)
        _remember(lake, delta, contract, partition, content)
    size = sum(file.bytes for file in files_of(delta, contract) if _belongs(file, partition))
    return Written(delta.version(), new.height, changed.height, gone.height, content.rows, size, content.version)


def _touched(
    delta: DeltaTable, lake: Lake, contract: Table, partition: str | None, wanted: Wanted, deletes: pl.DataFrame | None
) -> pl.LazyFrame:
    """The rows of a partition that a write may change: all, or, where only some are spoken of, those that have the first key of one."""
    rows = _read(delta, lake, contract, partition, contract.compared_columns)
    if deletes is None:
        return rows
    first = contract.key[0]
    if not len(wanted.hashes) and not deletes.height:
        return rows.clear()
    spoken_of = pl.concat([wanted.take(pl.repeat(True, len(wanted.hashes), eager=True))[first], deletes[first]]).unique()
    return rows.filter(pl.col(first).is_in(spoken_of.implode()))


def _merge(
    delta: DeltaTable,
    contract: Table,
    partition: str | None,
    frame: pl.DataFrame,
    new: pl.DataFrame,
    changed: pl.DataFrame,
    gone: pl.DataFrame,
    run: Commit,
) -> None:
    key = list(contract.key)
    upserts = frame.join(pl.concat([new, changed]), on=key, how="semi").with_columns(pl.lit("upsert").alias(_OPERATION))
    removals = gone.with_columns(pl.lit("delete").alias(_OPERATION))
    source = pl.concat([upserts, removals], how="diagonal").select([*contract.columns, _OPERATION])
    if contract.partition_by and partition is not None:
        source = source.with_columns(pl.lit(partition).alias(contract.partition_by))
    columns = {_quoted(name): f"s.{_quoted(name)}" for name in contract.columns}
    (
        delta.merge(
            source.to_arrow(compat_level=pl.CompatLevel.oldest()),
            predicate=" AND ".join([*_inside(contract, partition), *(f"t.{_quoted(name)} = s.{_quoted(name)}" for name in key)]),
            source_alias="s",
            target_alias="t",
            commit_properties=run.properties(),
        )
        .when_matched_delete(f"s.{_OPERATION} = 'delete'")
        .when_matched_update(columns, predicate=f"s.{_OPERATION} = 'upsert'")
        .when_not_matched_insert(columns, predicate=f"s.{_OPERATION} = 'upsert'")
        .execute()
    )


def _content_of(delta: DeltaTable, lake: Lake, contract: Table, partition: str | None) -> Content:
    files = [file for file in files_of(delta, contract) if _belongs(file, partition)]
    noted = known_content.known(lake, contract, partition, files) if _is_one(contract, partition) else None
    if noted is not None:
        return noted
    total = Content()
    for frame in _each_file(delta, lake, contract, partition, contract.compared_columns):
        total += total_of(hashed(frame, contract))
    return total


def _remember(lake: Lake, delta: DeltaTable, contract: Table, partition: str | None, content: Content) -> None:
    """Note what a partition that was just committed holds."""
    if _is_one(contract, partition):
        files = [file for file in files_of(delta, contract) if _belongs(file, partition)]
        known_content.remember(lake, contract, partition, files, content)


def _is_one(contract: Table, partition: str | None) -> bool:
    """Whether that is one partition, and not all of a table that has several."""
    return (partition is None) == (contract.partition_by is None)


# -- the table's files -----------------------------------------------------------------------------------------------


def _open(lake: Lake, contract: Table) -> DeltaTable:
    return open_version(lake.table_path(contract.name), contract)


def _open_or_create(lake: Lake, contract: Table) -> DeltaTable:
    """The table to write to. One that an earlier version made without some of the columns is given them, null in every row."""
    path = lake.table_path(contract.name)
    if not DeltaTable.is_deltatable(str(path)):
        path.mkdir(parents=True, exist_ok=True)
        DeltaTable.create(
            str(path),
            schema=delta_schema(contract),
            mode="ignore",
            partition_by=[contract.partition_by] if contract.partition_by else None,
            name=contract.name,
            description=contract.about,
            configuration={**_CONFIGURATION, **({"delta.enableChangeDataFeed": "true"} if contract.feed else {})},
        )
    opened = open_version(path, contract)
    if absent := absent_columns(opened, contract):
        opened.alter.add_columns([field for field in delta_schema(contract).fields if field.name in absent])
        opened = open_version(path, contract)
    return opened


def _files(lake: Lake, contract: Table) -> list[TableFile]:
    return files_of(_open(lake, contract), contract)


def _belongs(file: TableFile, partition: str | None) -> bool:
    return partition is None or file.partition == partition


def _each_file(delta: DeltaTable, lake: Lake, contract: Table, partition: str | None, columns: Sequence[str]) -> Iterator[pl.LazyFrame]:
    folder = lake.table_path(contract.name)
    by = contract.partition_by
    for file in files_of(delta, contract):
        if not _belongs(file, partition):
            continue
        frame = pl.scan_parquet(file.path(folder), hive_partitioning=False)
        there = pl.read_parquet_schema(file.path(folder))  # a file from before a column was thought of lacks it
        absent = [pl.lit(None, contract.schema[name]).alias(name) for name in columns if name != by and name not in there]
        if by is not None and by in columns:
            absent.append(pl.lit(file.partition).alias(by))
        yield frame.with_columns(absent).select(list(columns))


def _read(delta: DeltaTable, lake: Lake, contract: Table, partition: str | None, columns: Sequence[str]) -> pl.LazyFrame:
    frames = list(_each_file(delta, lake, contract, partition, columns))
    typed = pl.LazyFrame(schema={name: contract.schema[name] for name in columns})
    return pl.concat([typed, *frames]) if frames else typed


def _add(contract: Table, partition: str | None, file: StagedFile) -> AddAction:
    return AddAction(
        path=file.path,
        size=file.bytes,
        partition_values={contract.partition_by: partition} if contract.partition_by else {},
        modification_time=int(time.time() * 1000),
        data_change=True,
        stats=json.dumps({"numRecords": file.rows}),
    )


def _transact(
    lake: Lake, delta: DeltaTable, contract: Table, partition: str | None, actions: list[AddAction], *, replace: bool, run: Commit
) -> None:
    by = contract.partition_by
    settle(lake.table_path(contract.name), [action.path for action in actions])
    filters: Any = [(by, "=", partition)] if replace and by else None
    delta.create_write_transaction(
        [*actions],
        mode="overwrite" if replace else "append",
        schema=delta_schema(contract),
        partition_by=[by] if by else None,
        partition_filters=filters,
        commit_properties=run.properties(),
    )
    delta.update_incremental()


def _discard(lake: Lake, name: str, files: Sequence[StagedFile]) -> None:
    for file in files:
        (lake.table_path(name) / file.path).unlink(missing_ok=True)


def _inside(contract: Table, partition: str | None) -> list[str]:
    if contract.partition_by is None or partition is None:
        return []
    return [f"t.{_quoted(contract.partition_by)} = '{_escaped(partition)}'"]


def _escaped(value: str) -> str:
    return value.replace("'", "''")


def _quoted(name: str) -> str:
    return f"`{name}`"


def _one_line(fault: BaseException) -> str:
    return " ".join(str(fault).split())[:300]


def _locked(lake: Lake, name: str, partition: str | None) -> AbstractContextManager[None]:
    """Hold a table's partition against other writers on this machine."""
    return locks.hold(lake, name, f"={partition or ''}")

"""What differs between two versions of a table: the rows that came, went or changed, and in which fields.

Files that both versions name are not read, so that cost follows change. The rows of the others are met by the hash of what
they say; keys and fields are read only of those without an equal on the other side. Memory: some 40 bytes a row of the files
that differ in one partition, and the keys of the rows that differ in it. Where the Change Data Feed tells of a few rows, no file of the
table is read at all.

What does not belong here: which versions a release pins, and what a change means to a person (`differences.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow.parquet as pq

from scholarlake.errors import LakeError
from scholarlake.lake.content import row_hashes
from scholarlake.lake.contracts import Table
from scholarlake.lake.table_files import TableFile, feed, files_of, open_version

BATCH_ROWS = 20_000
"""Rows decoded at a time while they are hashed."""
BUCKET_ROWS = 4_000_000
"""Hashes of both sides that are met at a time."""
FED_ROWS = 200_000
"""Rows of a table's Change Data Feed that are held, at most: of more, the files are compared."""
COMPARED_ROWS = 200_000
"""Changed rows whose fields are compared at a time."""
AT, AT_BEFORE, FIELDS, NTH = "@at", "@at_before", "@fields", "@nth"
Hashes = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Version:
    """A table's folder and a Delta version of it."""

    folder: Path
    version: int


@dataclass(frozen=True)
class Side:
    """The rows of a partition that lie in files of one version alone, numbered from 0 in the order of the files."""

    contract: Table
    partition: str | None
    paths: tuple[Path, ...]
    sizes: tuple[int, ...]

    def hashes(self, columns: Sequence[str]) -> Hashes:
        """The hash of every row over some columns."""
        found = np.empty(sum(self.sizes), dtype=np.uint64)
        done = 0
        for path in self.paths:
            for batch in self._scan(path, columns).collect_batches(chunk_size=BATCH_ROWS, maintain_order=True):
                found[done : done + batch.height] = row_hashes(batch.select(columns)).to_numpy()
                done += batch.height
        return found

    def take(self, rows: pl.Series, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns of the rows of these numbers, in their order."""
        found = [pl.DataFrame(schema={AT: pl.Int64, **{name: self.contract.schema[name] for name in columns}})]
        for path, start, size in zip(self.paths, accumulate(self.sizes, initial=0), self.sizes, strict=False):
            here = rows.filter((rows >= start) & (rows < start + size)) - start
            if len(here):
                found += [batch.with_columns(pl.col(AT) + start) for batch in self._chosen(path, here.cast(pl.Int64).sort(), columns)]
        return rows.cast(pl.Int64).alias(AT).to_frame().join(pl.concat(found), on=AT, how="left", maintain_order="left").select(columns)

    def _chosen(self, path: Path, rows: pl.Series, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Some rows of a file, by sorted numbers, from no more of its row groups than have any."""
        metadata = pq.read_metadata(path)
        groups = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        for start, size in zip(accumulate(groups, initial=0), groups, strict=False):
            first, beyond = (int(rows.search_sorted(edge)) for edge in (start, start + size))
            if first == beyond:
                continue
            for batch in self._scan(path, columns).slice(start, size).collect_batches(chunk_size=BATCH_ROWS, maintain_order=True):
                wanted = rows[first:beyond].alias(AT).to_frame()
                chosen = batch.with_columns(pl.col(AT).cast(pl.Int64)).join(wanted, on=AT, how="semi")
                # Texts that are left of a batch hold on to the bytes of all of it: through Arrow they keep their own.
                yield pl.DataFrame(chosen.to_arrow(compat_level=pl.CompatLevel.oldest()), schema=chosen.schema)

    def _scan(self, path: Path, columns: Sequence[str]) -> pl.LazyFrame:
        """A file's columns with the number of each row in it. A column that the file was written without is null."""
        there = pl.read_parquet_schema(path)

        def value(name: str) -> pl.Expr:
            if name == self.contract.partition_by:
                return pl.lit(self.partition).alias(name)
            return pl.col(name) if name in there else pl.lit(None, self.contract.schema[name]).alias(name)

        return pl.scan_parquet(path, hive_partitioning=False, row_index_name=AT).select(AT, *(value(name) for name in columns))


@dataclass(frozen=True)
class FedSide:
    """The rows of a partition that one version alone has, as the Change Data Feed tells them, numbered from 0 in its order."""

    rows: pl.DataFrame

    def hashes(self, columns: Sequence[str]) -> Hashes:
        """The hash of every row over some columns."""
        return row_hashes(self.rows.select(columns)).to_numpy()

    def take(self, rows: pl.Series, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns of the rows of these numbers, in their order."""
        return self.rows.select(columns)[rows.cast(pl.Int64)]


@dataclass(frozen=True)
class Changes:
    """What differs in one partition.

    came, went: the key and @at, the number of the row on its side. changed: the key, @at, @at_before, and @fields, the names of
    the compared columns that differ.
    """

    came: pl.DataFrame
    went: pl.DataFrame
    changed: pl.DataFrame


@dataclass(frozen=True)
class Differing:
    """A partition whose files are not the same in both versions."""

    contract: Table
    partition: str | None
    before: Side | FedSide
    after: Side | FedSide

    def changes(self) -> Changes:
        """Compare the rows."""
        contract = self.contract
        moving = contract.key if contract.matched_by else ()
        compared = [name for name in contract.compared_columns if name not in moving]
        old, new = _without_equal(self.before.hashes(compared), self.after.hashes(compared))
        left, came = self._known(self.before, old), self._known(self.after, new)
        by = _matched(contract)
        pairs = came.join(left.select(*by, pl.col(AT).alias(AT_BEFORE)), on=by, how="inner", nulls_equal=True)
        went = left.join(pairs, on=by, how="anti", nulls_equal=True)
        came = came.join(pairs, on=by, how="anti", nulls_equal=True)
        fields = [self._fields(part, [name for name in compared if name not in by]) for part in pairs.iter_slices(COMPARED_ROWS)]
        changed = pairs.with_columns(pl.concat(fields) if fields else pl.Series(FIELDS, [], dtype=pl.List(pl.String)))
        key = list(contract.key)
        return Changes(came.select(*key, AT), went.select(*key, AT), changed.select(*key, AT, AT_BEFORE, FIELDS))

    def _known(self, side: Side | FedSide, rows: pl.Series) -> pl.DataFrame:
        """The rows of these numbers by what names them."""
        names = list(dict.fromkeys([*self.contract.key, *(self.contract.matched_by or ())]))
        frame = side.take(rows, names).with_columns(rows.cast(pl.Int64).alias(AT))
        return frame.with_columns(_nth(self.contract.matched_by)) if self.contract.matched_by else frame

    def _fields(self, pairs: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
        """Which columns differ between the two sides of each pair."""
        old, new = self.before.take(pairs[AT_BEFORE], columns), self.after.take(pairs[AT], columns)
        differ = pl.DataFrame([(row_hashes(old.select(name)) != row_hashes(new.select(name))).alias(name) for name in columns])
        names = [pl.when(name).then(pl.lit(name)) for name in columns]
        typed = pl.concat_list(names).list.drop_nulls() if names else pl.lit([], pl.List(pl.String))
        return differ.select(typed.alias(FIELDS)).to_series()


@dataclass(frozen=True)
class Comparison:
    """Two versions of a table. partitions: how many there are in either; differing: those to be read."""

    partitions: int
    differing: tuple[Differing, ...]


def compare(contract: Table, before: Version | None, after: Version | None) -> Comparison:
    """Find the partitions whose files differ; None stands for a table that did not exist. Reads logs alone, and where a table has a
    Change Data Feed that tells of no more than FED_ROWS rows, that.

    Raises LakeError where a version can't be opened.
    """
    old, new = _by_partition(contract, before), _by_partition(contract, after)
    if before and after and old != new and (fed := _fed(contract, before, after)) is not None:
        return Comparison(len({*old, *new}), fed)
    found = []
    for partition in sorted({*old, *new}, key=str):
        mine, theirs = old.get(partition, {}), new.get(partition, {})
        if mine.keys() != theirs.keys():
            sides = (
                _side(contract, partition, version, [file for name, file in files.items() if name not in other])
                for version, files, other in ((before, mine, theirs), (after, theirs, mine))
            )
            found.append(Differing(contract, partition, *sides))
    return Comparison(len({*old, *new}), tuple(found))


def _fed(contract: Table, before: Version, after: Version) -> tuple[Differing, ...] | None:
    """The partitions in which anything came, went or changed, with just those rows. None where there is no feed from the one version to
    the other, its files are gone, or it tells of more rows than it is worth to hold."""
    if before.folder != after.folder or before.version > after.version:
        return None
    newest = open_version(after.folder, contract, after.version)
    pieces, count = [], 0
    try:
        for piece in feed(newest, contract, before.version):
            pieces.append(piece)
            count += piece.height
            if count > FED_ROWS:
                return None
    except LakeError:
        return None
    if not pieces:
        return ()
    by, at = contract.partition_by, "_commit_version"
    key = list(dict.fromkeys([*contract.key, *([by] if by else [])]))  # a row that moves goes from one partition and comes to another
    rows = pl.concat(pieces).with_columns(pl.col(name).cast(dtype) for name, dtype in contract.schema.items())
    kind = pl.col("_change_type")
    # Of a row that changed more than once, what it was before the first change and what it is after the last.
    first = pl.col(at) == pl.col(at).min().over(key)
    last = pl.col(at) == pl.col(at).max().over(key)
    was = rows.filter(first & kind.is_in(["update_preimage", "delete"])).select(list(contract.columns))
    now = rows.filter(last & kind.is_in(["update_postimage", "insert"])).select(list(contract.columns))
    found = []
    for partition in sorted({*was[by], *now[by]}) if by else [None]:
        sides = [side.filter(pl.col(by) == partition) if by else side for side in (was, now)]
        found.append(Differing(contract, partition, FedSide(sides[0]), FedSide(sides[1])))
    return tuple(found)


def _by_partition(contract: Table, version: Version | None) -> dict[str | None, dict[str, TableFile]]:
    found: dict[str | None, dict[str, TableFile]] = {}
    if version is not None:
        for file in files_of(open_version(version.folder, contract, version.version), contract):
            found.setdefault(file.partition, {})[file.name] = file
    return found


def _side(contract: Table, partition: str | None, version: Version | None, files: Sequence[TableFile]) -> Side:
    folder = version.folder if version else Path()
    return Side(contract, partition, tuple(file.path(folder) for file in files), tuple(file.rows for file in files))


def _without_equal(old: Hashes, new: Hashes) -> tuple[pl.Series, pl.Series]:
    """The numbers of the rows of each side whose hash the other lacks. Of equal rows, as many are left over as are more than there."""
    buckets = 1 << ((len(old) + len(new)) // BUCKET_ROWS).bit_length()
    lonely: tuple[list[Rows], list[Rows]] = ([], [])
    for bucket in range(buckets):
        rows = [np.flatnonzero(hashes & np.uint64(buckets - 1) == bucket) for hashes in (old, new)]
        rows = [at[np.argsort(hashes[at])] for hashes, at in zip((old, new), rows, strict=True)]
        mine, theirs = old[rows[0]], new[rows[1]]
        lonely[0].append(rows[0][_surplus(mine, theirs)])
        lonely[1].append(rows[1][_surplus(theirs, mine)])
    left, right = (pl.Series(AT, np.sort(np.concatenate(found)), dtype=pl.Int64) for found in lonely)
    return left, right


def _surplus(mine: Hashes, theirs: Hashes) -> npt.NDArray[np.bool_]:
    """Which of some sorted hashes are more than the others have of the same."""
    nth = np.arange(len(mine)) - np.searchsorted(mine, mine, "left")
    there: npt.NDArray[np.int64] = np.searchsorted(theirs, mine, "right") - np.searchsorted(theirs, mine, "left")
    return nth >= there


def _nth(columns: Sequence[str]) -> pl.Expr:
    return pl.int_range(pl.len()).over(columns).alias(NTH)


def _matched(contract: Table) -> list[str]:
    return [*contract.matched_by, NTH] if contract.matched_by else list(contract.key)

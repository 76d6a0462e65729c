"""What rows a partition holds, as a number that does not depend on their order: how equal content is known as equal.

Row hashes are Polars's. They are compared only with hashes made by the same version of it, never kept as a key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from scholarlake.lake.contracts import Table

SEED = 20_220_401  # any fixed number: row hashes are compared only among those made with it


@dataclass(frozen=True)
class Content:
    """What rows a partition holds, independent of their order: their number and the wrapped sum of their hashes."""

    rows: int = 0
    total: int = 0

    def __add__(self, other: Content) -> Content:
        return Content(self.rows + other.rows, (self.total + other.total) % (1 << 64))

    @property
    def version(self) -> str:
        return f"{self.total:016x}-{self.rows}"


def content_of(contract: Table, frame: pl.DataFrame) -> Content:
    """Number and hash sum of a frame's rows, over the columns that the contract compares."""
    return total_of(hashed(frame.lazy(), contract))


def hashed(frame: pl.LazyFrame, contract: Table) -> pl.DataFrame:
    """Key columns and the hash of each row."""
    rows = frame.select(list(contract.compared_columns)).collect()
    ids = [id_hashes(rows[name]) for name in contract.key if rows.schema[name] == pl.String]
    return rows.select(contract.key).with_columns(rows.with_columns(ids).hash_rows(SEED).alias("hash"))


def row_hashes(frame: pl.DataFrame) -> pl.Series:
    """The hash of each row of a frame, over all its columns."""
    return frame.hash_rows(SEED)


def id_hashes(ids: pl.Series) -> pl.Series:
    """What stands for the text of a key column in the hash of a row: who has ids by number need hash each id only once."""
    return ids.hash(SEED)


def hashes_of_hashed(contract: Table, frame: pl.DataFrame) -> pl.Series:
    """The hash of each row, given the rows with id_hashes in place of the texts of their key."""
    return frame.select(list(contract.compared_columns)).hash_rows(SEED)


@dataclass(frozen=True)
class Wanted:
    """What a partition is to hold, known by the hashes of its rows: only those that it does not hold yet need be made.

    hashes: of every row, as `hashed` gives them. take: the rows where a mask of that length is true.
    """

    hashes: pl.Series
    take: Callable[[pl.Series], pl.DataFrame]

    @property
    def content(self) -> Content:
        return Content(len(self.hashes), int(self.hashes.to_numpy().sum(dtype=np.uint64)))


def wanted_rows(contract: Table, frame: pl.DataFrame) -> Wanted:
    """A frame as what is wanted."""
    return Wanted(hashed(frame.lazy(), contract)["hash"], frame.filter)


def wanted_of(contract: Table, pieces: Sequence[Wanted]) -> Wanted:
    """Several pieces as one."""

    def take(mask: pl.Series) -> pl.DataFrame:
        found, start = [pl.DataFrame(schema=contract.schema)], 0
        for piece in pieces:
            found.append(piece.take(mask.slice(start, len(piece.hashes))))
            start += len(piece.hashes)
        return pl.concat(found)

    return Wanted(pl.concat([pl.Series("hash", [], dtype=pl.UInt64), *(piece.hashes.alias("hash") for piece in pieces)]), take)


def total_of(hashed: pl.DataFrame) -> Content:
    return Content(hashed.height, int(hashed["hash"].to_numpy().sum(dtype=np.uint64)))


def minus(left: Content, right: Content) -> Content:
    return Content(left.rows - right.rows, (left.total - right.total) % (1 << 64))

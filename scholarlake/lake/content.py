"""What rows a partition holds, as a number that does not depend on their order: how equal content is known as equal.

Row hashes are Polars's. They are compared only with hashes made by the same version of it, never kept as a key.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from scholarlake.lake.contracts import Table

_SEED = 20_220_401  # any fixed number: row hashes are compared only among those made with it


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
    return rows.select(contract.key).with_columns(rows.hash_rows(_SEED).alias("hash"))


def total_of(hashed: pl.DataFrame) -> Content:
    return Content(hashed.height, int(hashed["hash"].to_numpy().sum(dtype=np.uint64)))


def minus(left: Content, right: Content) -> Content:
    return Content(left.rows - right.rows, (left.total - right.total) % (1 << 64))

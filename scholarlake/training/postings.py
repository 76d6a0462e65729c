"""Which papers have a value: of a field of all papers, the values in order, and the papers of each.

What does not belong here: which fields questions speak of (`corpus`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from scholarlake.corpus.keys import Indices
from scholarlake.training.graph import Nodes


@dataclass(frozen=True)
class Postings:
    """values: distinct, ascending, spelled as `spelled` does. The papers of value i are nodes[starts[i]:starts[i + 1]], ascending."""

    values: pl.Series
    starts: Indices
    nodes: Nodes

    @classmethod
    def of(cls, rows: pl.LazyFrame) -> Postings:
        """From pairs: node (unsigned 32 bits) and value (text). Null and empty values are left out."""
        said = pl.col("value").str.replace_all(r"\s+", " ").str.strip_chars(" ").str.to_lowercase()
        pairs = rows.select("node", value=said).filter(pl.col("value").str.len_bytes() > 0).unique().sort("value", "node").collect()
        runs = pairs["value"].rle().struct.unnest()
        starts = np.concatenate([[0], np.cumsum(runs["len"].to_numpy(), dtype=np.int64)]).astype(np.int64)
        return cls(runs["value"].rechunk(), starts, pairs["node"].to_numpy())

    def having(self, value: str) -> Nodes:
        """The papers that have a value, whatever its case and spaces."""
        wanted = spelled(value)
        place = self.values.search_sorted(wanted) if len(self.values) else 0
        if place == len(self.values) or self.values[place] != wanted:
            return np.empty(0, dtype=np.uint32)
        return self.nodes[int(self.starts[place]) : int(self.starts[place + 1])]


def spelled(value: str) -> str:
    """The one spelling of a value."""
    return " ".join(value.split()).lower()

"""Edges between numbered papers as rows of text ids.

Twenty million edges name a million papers: each id is hashed once and each file holds each id once, as a dictionary that its
rows point into. Made from plain text columns, the same file takes three times as long, nearly all of it to find out again
which ids are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import pyarrow as pa

from scholarlake.corpus.keys import Indices, Words, run_starts
from scholarlake.lake.content import Wanted, hashes_of_hashed, id_hashes
from scholarlake.lake.contracts import Table

_LOW = np.uint64(0xFFFFFFFF)
_UP = np.uint64(32)
_SPARSE = 8  # papers for each edge beyond which a table over all papers costs more than sorting the edges' ends


class PaperIds:
    """The ids of all papers, by number, and their hashes, made when first asked for."""

    def __init__(self, ids: pl.Series) -> None:
        self.ids = ids

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def hashes(self) -> pl.Series:
        return id_hashes(self.ids)


@dataclass(frozen=True)
class EdgeRows:
    """Some edges of a shard: citing << 32 | cited, ascending. Their rows have the columns citing_id, cited_id and shard."""

    papers: PaperIds
    edges: Words
    shard: str

    def __len__(self) -> int:
        return len(self.edges)

    def frame(self) -> pl.DataFrame:
        """The rows as text."""
        return self._by_number(self.papers.ids)

    def wanted(self, contract: Table) -> Wanted:
        """The rows by their hashes; as text only those that are asked for."""
        hashes = hashes_of_hashed(contract, self._by_number(self.papers.hashes))
        return Wanted(hashes, lambda mask: EdgeRows(self.papers, self.edges[mask.to_numpy()], self.shard).frame())

    def encoded(self) -> pa.Table:
        """The rows without the shard, ids as dictionaries."""
        citing = (self.edges >> _UP).astype(np.int64)
        starts = run_starts(citing)
        codes = np.repeat(np.arange(len(starts), dtype=np.int32), np.diff(np.append(starts, len(citing))))
        ends = {"citing_id": (citing[starts], codes), "cited_id": self._cited()}
        return pa.table({name: self._dictionary(*end) for name, end in ends.items()})

    def _cited(self) -> tuple[Indices, np.ndarray[tuple[int], np.dtype[np.int32]]]:
        """Distinct cited papers, ascending, and which of them each edge cites."""
        cited = (self.edges & _LOW).astype(np.int64)
        if len(self.papers) > _SPARSE * len(cited):
            distinct, codes = np.unique(cited, return_inverse=True)
            return distinct, codes.astype(np.int32)
        place = np.zeros(len(self.papers), dtype=np.int32)
        place[cited] = 1
        distinct = np.flatnonzero(place)
        place[distinct] = np.arange(len(distinct), dtype=np.int32)
        return distinct, place[cited]

    def _dictionary(self, numbers: Indices, codes: np.ndarray[tuple[int], np.dtype[np.int32]]) -> pa.DictionaryArray:
        ids = self.papers.ids.gather(pl.Series(numbers, dtype=pl.Int64)).to_arrow(compat_level=pl.CompatLevel.oldest())
        return pa.DictionaryArray.from_arrays(pa.array(codes), ids)

    def _by_number(self, values: pl.Series) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "citing_id": values.gather(pl.Series(self.edges >> _UP, dtype=pl.UInt64)),
                "cited_id": values.gather(pl.Series(self.edges & _LOW, dtype=pl.UInt64)),
                "shard": pl.repeat(self.shard, len(self.edges), dtype=pl.String, eager=True),
            }
        )

"""The core as arrays for walking: of every paper the papers that it cites or that cite it, each once.

Nodes are numbered by id, ascending, and a node's neighbours are ascending too: what a walk draws depends on ids alone, never on the
order of rows. What does not belong here: who may walk where.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
import xxhash
from numpy.typing import NDArray

from scholarlake.corpus.keys import Indices, Words, run_starts
from scholarlake.errors import LakeError
from scholarlake.lake.home import Lake

Nodes = NDArray[np.uint32]
Mask = NDArray[np.bool_]
_UP, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class CoreGraph:
    """n papers. ids: ascending, shape (n,). Node i has the neighbours targets[starts[i]:starts[i + 1]], ascending.

    works: shape (n,), a number that nodes share which are versions of one work.
    """

    ids: pl.Series
    starts: Indices
    targets: Nodes
    works: Indices

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def degrees(self) -> Indices:
        """How many neighbours every node has, shape (n,)."""
        return np.diff(self.starts)

    def among(self, kept: Mask) -> CoreGraph:
        """The graph with those edges only that have both ends in a mask, shape (n,). Nodes keep their numbers."""
        sources = np.repeat(np.arange(len(self), dtype=np.uint32), self.degrees)
        inside = kept[sources] & kept[self.targets]
        sizes = np.bincount(sources[inside], minlength=len(self))
        return CoreGraph(self.ids, _starts(sizes), self.targets[inside], self.works)

    def versions_of(self, nodes: Mask) -> Mask:
        """All versions of the works that some nodes are versions of, these among them. Shape (n,) both."""
        taken = np.zeros(len(self), dtype=bool)
        taken[self.works[nodes]] = True
        return taken[self.works]

    def digest(self) -> str:
        """What the graph is, as 32 hexadecimal digits."""
        state = xxhash.xxh3_128("\n".join(self.ids).encode())
        for array in (self.starts, self.targets, self.works):
            state.update(np.ascontiguousarray(array).data)
        return state.hexdigest()

    def save(self, folder: Path) -> None:
        """Lay the arrays down in a folder."""
        pl.DataFrame({"paper_id": self.ids}).write_ipc(folder / "ids.arrow")
        for name in ("starts", "targets", "works"):
            np.save(folder / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, folder: Path) -> CoreGraph:
        """What `save` laid down."""
        starts, targets, works = (np.load(folder / f"{name}.npy") for name in ("starts", "targets", "works"))
        return cls(pl.read_ipc(folder / "ids.arrow")["paper_id"], starts, targets, works)


def read_graph(lake: Lake) -> CoreGraph:
    """The graph of `core_papers` and `core_citations`. Raises LakeError where a citation has an end outside the core."""
    papers = lake.scan("core_papers").select("paper_id").collect().sort("paper_id")
    numbered = papers.with_row_index("node")
    citations = lake.scan("core_citations").select("citing_id", "cited_id").collect()
    ends = []
    for column in citations.columns:
        found = citations.select(paper_id=column).join(numbered, on="paper_id", how="left", maintain_order="left")["node"]
        if found.null_count():
            raise LakeError("core_citations names papers that are not in core_papers; run `scholarlake build --to core_citations`")
        ends.append(found.to_numpy().astype(np.uint64))
    del citations
    versions = lake.scan("work_versions").select("paper_id", "version_of").collect()
    works = papers.join(versions, on="paper_id", how="left", maintain_order="left").select(pl.coalesce("version_of", "paper_id"))
    return graph_of(papers["paper_id"], ends[0], ends[1], works.to_series().rank("dense").to_numpy().astype(np.int64) - 1)


def graph_of(ids: pl.Series, citing: Words, cited: Words, works: Indices) -> CoreGraph:
    """The graph of numbered citations, shape (edges,) each."""
    both = np.concatenate([(citing << _UP) | cited, (cited << _UP) | citing])
    both.sort()
    both = both[run_starts(both)]  # two papers that cite each other are neighbours once
    sizes = np.bincount((both >> _UP).astype(np.int64), minlength=len(ids))
    return CoreGraph(ids.rechunk(), _starts(sizes), (both & _LOW).astype(np.uint32), works)


def _starts(sizes: NDArray[np.int64]) -> Indices:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)

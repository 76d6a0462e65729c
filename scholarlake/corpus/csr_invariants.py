"""What must hold of a citation graph's arrays: every paper is a node, every citation an edge in both directions.

The arrays are read as `csr.py` lays them down, not through its reader, so that what is held to the tables is what lies on the disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from scholarlake.lake.findings import EXAMPLES, Finding, from_offenders, rows_of
from scholarlake.lake.home import Lake

EDGES_AT_ONCE = 4_000_000
_ODD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))  # fractions of the golden ratio and of a root of five

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class EdgeSum:
    """A set of edges as a number that is independent of their order: how many, and the wrapped sum of their hashes."""

    edges: int
    total: int


def every_paper_is_a_node(lake: Lake, folder: Path) -> Finding:
    """Nodes are the papers, with as many edges each way as their degrees say."""
    out_starts, in_starts = (np.load(folder / f"{way}_starts.npy", mmap_mode="r") for way in ("out", "in"))
    nodes = pl.LazyFrame({"paper_id": _ids(folder), "cited_by": np.diff(in_starts), "cites": np.diff(out_starts)})
    degrees = lake.scan("degrees").select("paper_id", "in_degree", "out_degree")
    offenders = (
        degrees.join(nodes, on="paper_id", how="full", coalesce=True)
        .filter(pl.col("in_degree").ne_missing(pl.col("cited_by")) | pl.col("out_degree").ne_missing(pl.col("cites")))
        .select("paper_id", "in_degree", "cited_by", "out_degree", "cites")
    )
    return from_offenders("every_paper_is_a_node", "the nodes of the graph are the papers, with their degrees", rows_of(degrees), offenders)


def every_citation_is_an_edge(lake: Lake, folder: Path) -> Finding:
    """The edges of the graph are the citations, in both directions.

    Compared by their number and an order-independent sum of hashes, shard by shard, so that no more of them are in memory than a shard has.
    """
    wanted = _sum_of_table(lake, folder)
    found = {way: _sum_of_arrays(folder, way) for way in ("out", "in")}
    wrong = [way for way, edges in found.items() if edges != wanted]
    examples = [{"direction": way, "citations": wanted.edges, "edges": found[way].edges, "same_edges": False} for way in wrong]
    return Finding(
        "every_citation_is_an_edge",
        "the graph holds every citation, in both directions, and no other",
        wanted.edges,
        sum(max(1, abs(found[way].edges - wanted.edges)) for way in wrong),
        tuple(examples[:EXAMPLES]),
        {"references": found["out"].edges, "citations": found["in"].edges},
    )


def _ids(folder: Path) -> pl.Series:
    starts = np.load(folder / "id_starts.npy").tolist()
    text = (folder / "ids.u8").read_bytes()
    return pl.Series([text[start:stop].decode() for start, stop in pairwise(starts)], dtype=pl.String)  # of no paper too


def _sum_of_table(lake: Lake, folder: Path) -> EdgeSum:
    """Of the citations, by node numbers. An end that is no node has the number of no node."""
    nodes = pl.DataFrame({"paper_id": _ids(folder)}).with_row_index("node").lazy()
    edges, total = 0, 0
    for shard in lake.shard_keys:
        numbered = lake.scan("citations").filter(pl.col("shard") == shard).select("citing_id", "cited_id")
        for end in ("citing", "cited"):
            numbered = numbered.join(nodes.rename({"node": end}), left_on=f"{end}_id", right_on="paper_id", how="left")
        ends = numbered.select(pl.col("citing", "cited").fill_null((1 << 32) - 1).cast(pl.UInt64)).collect()
        edges += ends.height
        total += _hash_sum(ends["citing"].to_numpy(), ends["cited"].to_numpy())
    return EdgeSum(edges, total % (1 << 64))


def _sum_of_arrays(folder: Path, way: str) -> EdgeSum:
    edges, total = 0, 0
    for owner, other in _pieces(folder, way):
        citing, cited = (owner, other) if way == "out" else (other, owner)
        edges += len(citing)
        total += _hash_sum(citing, cited)
    return EdgeSum(edges, total % (1 << 64))


def _pieces(folder: Path, way: str) -> Iterator[tuple[Words, Words]]:
    """The edges of one direction, some at a time: the node that the list is of, and the node in it."""
    starts, others = np.load(folder / f"{way}_starts.npy"), np.load(folder / f"{way}.npy", mmap_mode="r")
    size = int(starts[-1])  # the array is one number longer, because nothing can't be mapped
    for begin in range(0, size, EDGES_AT_ONCE):
        places = np.arange(begin, min(begin + EDGES_AT_ONCE, size))
        owner = np.searchsorted(starts, places, side="right") - 1
        yield owner.astype(np.uint64), np.asarray(others[places[0] : places[-1] + 1]).astype(np.uint64)


def _hash_sum(citing: Words, cited: Words) -> int:
    with np.errstate(over="ignore"):
        mixed = (citing * _ODD[0]) ^ (cited * _ODD[1] + np.uint64(1))
        mixed ^= mixed >> np.uint64(29)
        mixed *= _ODD[1]
        mixed ^= mixed >> np.uint64(32)
        return int(mixed.sum(dtype=np.uint64))

"""What must hold of a citation graph's arrays: every paper is a node, every citation an edge in both directions.

The arrays are read as `csr.py` lays them down, not through its reader, so that what is held to the tables is what lies on the disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from scholarlake.lake.findings import EXAMPLES, Finding, from_offenders, rows_of
from scholarlake.lake.home import Lake

EDGES_AT_ONCE = 4_000_000
_ODD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))  # fractions of the golden ratio and of a root of five

_SEED = 11  # of the hashes of ids, which live no longer than a check

Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]


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
    wanted = _sum_of_table(lake)
    ids = _ids(folder).hash(_SEED).to_numpy()
    found = {way: _sum_of_arrays(folder, way, ids) for way in ("out", "in")}
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
    """The ids of the nodes. Raises ValueError where they are no text."""
    starts, text = np.load(folder / "id_starts.npy"), (folder / "ids.u8").read_bytes()
    texts = pa.LargeStringArray.from_buffers(len(starts) - 1, pa.py_buffer(starts.astype(np.int64)), pa.py_buffer(text))
    texts.validate(full=True)
    return pl.Series(texts)


def _sum_of_table(lake: Lake) -> EdgeSum:
    """Of the citations, by the hashes of their ends' ids."""
    edges, total = 0, 0
    for shard in lake.shard_keys:
        ends = lake.scan("citations").filter(pl.col("shard") == shard).select(pl.col("citing_id", "cited_id").hash(_SEED)).collect()
        edges += ends.height
        total += _hash_sum(ends["citing_id"].to_numpy(), ends["cited_id"].to_numpy())
    return EdgeSum(edges, total % (1 << 64))


def _sum_of_arrays(folder: Path, way: str, ids: Words) -> EdgeSum:
    """Of the edges of one direction. ids: of every node, the hash of its id."""
    edges, total = 0, 0
    for owner, other in _pieces(folder, way):
        if other.size and int(other.max()) >= len(ids):
            return EdgeSum(-1, 0)  # an end that is no node
        citing, cited = (owner, other) if way == "out" else (other, owner)
        edges += len(citing)
        total += _hash_sum(ids[citing], ids[cited])
    return EdgeSum(edges, total % (1 << 64))


def _pieces(folder: Path, way: str) -> Iterator[tuple[Numbers, Numbers]]:
    """The edges of one direction, some at a time: the node that the list is of, and the node in it."""
    starts, others = np.load(folder / f"{way}_starts.npy"), np.load(folder / f"{way}.npy", mmap_mode="r")
    size = int(starts[-1])  # the array is one number longer, because nothing can't be mapped
    for begin in range(0, size, EDGES_AT_ONCE):
        end = min(begin + EDGES_AT_ONCE, size)
        first, last = np.searchsorted(starts, [begin, end - 1], side="right") - 1
        bounds = np.clip(starts[first : last + 2], begin, end)
        yield np.repeat(np.arange(first, last + 1), np.diff(bounds)), np.asarray(others[begin:end]).astype(np.int64)


def _hash_sum(citing: Words, cited: Words) -> int:
    with np.errstate(over="ignore"):
        mixed = (citing * _ODD[0]) ^ (cited * _ODD[1] + np.uint64(1))
        mixed ^= mixed >> np.uint64(29)
        mixed *= _ODD[1]
        mixed ^= mixed >> np.uint64(32)
        return int(mixed.sum(dtype=np.uint64))

"""The citation graph as memory-mapped arrays, both directions, for whoever walks it: opened in milliseconds, shared by processes.

Nodes are numbered by citations: number 0 is the most cited paper, equal ones by id. A node's neighbours are stored ascending, so the most
cited come first, every list has one order, and the first ten of two hundred thousand are the first ten read.

    ids.u8, id_starts.npy        ids as UTF-8, one after another: node i is ids[id_starts[i]:id_starts[i + 1]]
    keys.npy, key_nodes.npy      keys of the ids, ascending, and the node of each
    out_starts.npy, out.npy      references: node i cites out[out_starts[i]:out_starts[i + 1]]
    in_starts.npy, in.npy        citations, the same way

What does not belong here: resolving merged ids and titles (the reader of a release does that), metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from scholarlake.corpus import edges as edge_sets
from scholarlake.corpus.keys import Indices, Words, run_starts, unsigned
from scholarlake.corpus.progress import Progress, silent
from scholarlake.errors import IndexDamaged, LakeError, NotFound
from scholarlake.lake import delta
from scholarlake.lake.hashing import stable_key
from scholarlake.lake.home import Lake

CODE_VERSION = "csr-1"

EDGES_AT_ONCE = 16_000_000
"""Edges turned round at a time while building."""
MAX_TOUCHED = 50_000_000
"""Edges that one walk may follow before its total is a lower bound."""

Nodes = NDArray[np.uint32]
Along = Literal["references", "citations", "both"]
"""Which way a walk goes: to what a paper cites, to what cites it, or either way."""


# -- building --------------------------------------------------------------------------------------------------------


def build(folder: Path, lake: Lake, progress: Progress = silent) -> Mapping[str, Any]:
    """Lay down the graph of `degrees` (its nodes) and `citations` (its edges) in a folder. Returns facts for its manifest.

    Raises LakeError where either table is missing, or a citation has an end that `degrees` does not hold.
    """
    for name in ("degrees", "citations"):
        if not delta.exists(lake, name):
            raise LakeError(f"{name} has not been built; run `scholarlake build` to that stage first")
    ids = _by_citations(lake)
    count = len(ids)
    _write_ids(folder, ids)
    edges_of = _edges_reader(lake, ids)

    out_sizes, in_sizes = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for shard in range(lake.shards):
        progress(shard, lake.shards * 2, "counting citations")
        edges = edges_of(shard)
        out_sizes += np.bincount(edge_sets.source(edges), minlength=count)
        in_sizes += np.bincount(edge_sets.target(edges), minlength=count)
    out_starts, in_starts = _starts(out_sizes), _starts(in_sizes)
    np.save(folder / "out_starts.npy", out_starts)
    np.save(folder / "in_starts.npy", in_starts)
    out = _new_array(folder / "out.npy", int(out_starts[-1]))
    for shard in range(lake.shards):
        progress(lake.shards + shard, lake.shards * 2, "laying down references")
        edges = np.sort(edges_of(shard))  # a paper's references are all in its shard
        out[_places(edge_sets.source(edges), out_starts[:-1])] = edge_sets.target(edges)
    _turn_round(out, out_starts, in_starts, folder)
    out.flush()
    return {"nodes": count, "edges": int(out_starts[-1]), "max_in_degree": int(in_sizes.max(initial=0))}


def _by_citations(lake: Lake) -> pl.Series:
    """Ids of all papers in the order of the graph's nodes."""
    degrees = lake.scan("degrees").select("paper_id", "in_degree").collect()
    return degrees.sort("in_degree", "paper_id", descending=[True, False])["paper_id"].rechunk()


def _edges_reader(lake: Lake, ids: pl.Series) -> Callable[[int], Words]:
    """What gives the edges of a shard in the graph's numbers: from the integers kept beside `citations`, or from the table."""
    kept = edge_sets.kept(lake)
    nodes = pl.DataFrame({"id": ids}).with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("node"))

    def numbered(names: pl.Series) -> Indices:
        found = pl.DataFrame({"id": names}).join(nodes, on="id", how="left", maintain_order="left")["node"]
        if found.null_count():
            raise LakeError("citations names papers that degrees does not hold; build `degrees` again")
        return found.to_numpy()

    if kept is not None:
        node_of = numbered(kept.papers.ids)

        def from_integers(shard: int) -> Words:
            edges = np.asarray(kept.of_shard(shard))
            return _joined(node_of[edge_sets.source(edges)], node_of[edge_sets.target(edges)])

        return from_integers

    def from_table(shard: int) -> Words:
        table = lake.scan("citations").filter(pl.col("shard") == lake.shard_keys[shard]).select("citing_id", "cited_id").collect()
        return _joined(numbered(table["citing_id"]), numbered(table["cited_id"]))

    return from_table


def _joined(citing: Indices, cited: Indices) -> Words:
    return (citing.astype(np.uint64) << np.uint64(32)) | cited.astype(np.uint64)


def _write_ids(folder: Path, ids: pl.Series) -> None:
    lengths = ids.str.len_bytes().to_numpy().astype(np.int64)
    np.save(folder / "id_starts.npy", _starts(lengths))
    with (folder / "ids.u8").open("wb") as stream:
        for start in range(0, len(ids), 1_000_000):
            stream.write("".join(ids[start : start + 1_000_000].to_list()).encode())
    keys = np.fromiter((stable_key(paper_id) for paper_id in ids), dtype=np.int64, count=len(ids))
    order = np.argsort(unsigned(keys))
    np.save(folder / "keys.npy", keys[order])
    np.save(folder / "key_nodes.npy", order.astype(np.uint32))


def _starts(sizes: Indices) -> Indices:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _new_array(path: Path, size: int) -> np.memmap[Any, np.dtype[np.uint32]]:
    """A mapped array to be filled. One number longer than asked for, because nothing can't be mapped."""
    return np.lib.format.open_memmap(path, mode="w+", dtype=np.uint32, shape=(size + 1,))


def _places(rows: Indices, starts: Indices) -> Indices:
    """Where each entry goes: rows ascending, starts the first free place of every row."""
    firsts = run_starts(rows)
    lengths = np.diff(np.append(firsts, len(rows)))
    within = np.arange(len(rows), dtype=np.int64) - np.repeat(firsts, lengths)
    return starts[rows] + within


def _turn_round(out: NDArray[np.uint32], out_starts: Indices, in_starts: Indices, folder: Path) -> None:
    """Lay down citations: walk the references by citing node, so that every list of citing nodes ends up ascending."""
    into = _new_array(folder / "in.npy", int(in_starts[-1]))
    free = in_starts[:-1].copy()
    node, count = 0, len(free)
    while node < count:
        after = int(np.searchsorted(out_starts, out_starts[node] + EDGES_AT_ONCE, side="right")) - 1
        after = min(max(after, node + 1), count)
        cited = out[int(out_starts[node]) : int(out_starts[after])].astype(np.int64)
        citing = np.repeat(np.arange(node, after, dtype=np.uint32), np.diff(out_starts[node : after + 1]))
        order = np.argsort(cited, kind="stable")
        cited = cited[order]
        into[_places(cited, free)] = citing[order]
        firsts = run_starts(cited)
        free[cited[firsts]] += np.diff(np.append(firsts, len(cited)))
        node = after
    into.flush()


# -- walking ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Neighbour:
    """A paper that a walk reached: its id, its in-degree, and how many steps away it is."""

    paper_id: str
    in_degree: int
    hops: int


@dataclass(frozen=True)
class Walk:
    """What a walk found: at most `limit` papers, of `total`. exact: whether total is all there are, or only at least as many."""

    papers: tuple[Neighbour, ...]
    total: int
    exact: bool = True

    @property
    def capped(self) -> bool:
        return self.total > len(self.papers)


@dataclass(frozen=True)
class Route:
    """A shortest path of citations from one paper to another, both ends in it; empty where there is none.

    exact: False where a frontier was too wide to be followed whole: then a shorter path, or one at all, may have been missed.
    """

    papers: tuple[str, ...]
    exact: bool = True


class CitationGraph:
    """An opened citation graph. Nothing is read before it is asked for; safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        try:
            self._id_starts = _mapped(folder / "id_starts.npy")
            size = int(self._id_starts[-1])
            self._ids = np.memmap(folder / "ids.u8", dtype=np.uint8, mode="r").view(np.ndarray) if size else np.empty(0, dtype=np.uint8)
            self._keys = _mapped(folder / "keys.npy")
            self._key_nodes = _mapped(folder / "key_nodes.npy")
            self._out_starts = _mapped(folder / "out_starts.npy")
            self._in_starts = _mapped(folder / "in_starts.npy")
            self._out = _mapped(folder / "out.npy")
            self._in = _mapped(folder / "in.npy")
            self._ways = {"references": (self._out, self._out_starts), "citations": (self._in, self._in_starts)}
        except (OSError, ValueError, IndexError) as fault:
            raise IndexDamaged(f"the citation graph in {folder} can't be opened ({fault}); build it again") from fault

    @classmethod
    def open(cls, folder: Path) -> CitationGraph:
        """Open the graph in a folder. Raises IndexDamaged where a file is missing or no array."""
        return cls(folder)

    def __len__(self) -> int:
        """Number of papers."""
        return len(self._keys)

    def __contains__(self, paper_id: str) -> bool:
        return self._find(paper_id) is not None

    @property
    def edges(self) -> int:
        """Number of citations."""
        return int(self._out_starts[-1])

    def in_degree(self, paper_id: str) -> int:
        """Papers that cite it. Raises NotFound, as everything here does, where the graph has no such paper."""
        return self._in_degree(self._node(paper_id))

    def out_degree(self, paper_id: str) -> int:
        """Papers it cites."""
        node = self._node(paper_id)
        return int(self._out_starts[node + 1] - self._out_starts[node])

    def node(self, paper_id: str) -> int:
        """Number of a paper, for who asks of many: 0 is the most cited, equal ones are by id."""
        return self._node(paper_id)

    def reached(self, nodes: Nodes, along: Literal["references", "citations"], most: int | None = None) -> Nodes | None:
        """Numbers of the papers one step from any of some papers, ascending. None where more than `most` citations lead there."""
        targets, starts = self._ways[along]
        chosen = nodes.astype(np.int64)
        if most is not None and self._width_of(starts, chosen) > most:
            return None
        found: Nodes = np.unique(self._gather(targets, starts, chosen)) if len(chosen) else np.empty(0, dtype=np.uint32)
        return found

    def references(self, paper_id: str, limit: int | None = None) -> Walk:
        """Papers it cites, the most cited first, then by id."""
        return self._listed(self._cited_by(self._node(paper_id)), limit)

    def citations(self, paper_id: str, limit: int | None = None) -> Walk:
        """Papers that cite it, the most cited first, then by id."""
        return self._listed(self._citing(self._node(paper_id)), limit)

    def neighbours(self, paper_id: str, hops: int = 1, limit: int | None = 500, along: Along = "both", most: int | None = None) -> Walk:
        """Papers within so many steps along citations: nearer ones first, then the most cited, then by id.

        The total counts all of them, also those beyond the limit; past `most` citations followed (MAX_TOUCHED unless given) it is a
        lower bound.
        """
        start = self._node(paper_id)
        ways = [way for name, way in self._ways.items() if along in (name, "both")]
        left = MAX_TOUCHED if most is None else most
        seen = np.zeros(len(self), dtype=bool)
        seen[start] = True
        frontier = np.array([start], dtype=np.int64)
        found: list[Neighbour] = []
        total, exact = 0, True
        for hop in range(1, hops + 1):
            widths = sum((starts[frontier + 1] - starts[frontier] for _, starts in ways), np.zeros(len(frontier), dtype=np.int64))
            width = int(widths.sum())
            if width > left:
                # The most cited first, as far as it goes: the same ones every time.
                exact = False
                frontier = frontier[np.cumsum(widths) <= left]
            left -= width
            fresh = np.zeros(len(self), dtype=bool)
            for targets, starts in ways:
                fresh[self._gather(targets, starts, frontier)] = True
            fresh &= ~seen
            frontier = np.flatnonzero(fresh)
            seen |= fresh
            total += len(frontier)
            room = len(frontier) if limit is None else max(0, limit - len(found))
            found.extend(Neighbour(self._id(int(node)), self._in_degree(int(node)), hop) for node in frontier[:room])
            if not len(frontier) or not exact:
                break
        return Walk(tuple(found), total, exact)

    def shortest_path(self, start: str, end: str, max_depth: int = 5, frontier: int = 100_000) -> Route:
        """A shortest chain of citations from start to end, each citing the next, of at most max_depth steps.

        Searched from both ends; a side's next layer keeps its `frontier` most cited papers. Always the same path of several.
        """
        first, last = self._node(start), self._node(end)
        if first == last:
            return Route((start,))
        ahead, behind = self._unseen(), self._unseen()
        ahead[first], behind[last] = first + 1, last + 1
        front, back = np.array([first], dtype=np.int64), np.array([last], dtype=np.int64)
        exact = True
        for _ in range(max_depth):
            if not len(front) or not len(back):
                break
            if self._width_of(self._out_starts, front) <= self._width_of(self._in_starts, back):
                front, whole = self._layer(self._out, self._out_starts, front, ahead, frontier)
                met = front[behind[front] != 0]
            else:
                back, whole = self._layer(self._in, self._in_starts, back, behind, frontier)
                met = back[ahead[back] != 0]
            exact = exact and whole
            if len(met):
                nodes = [*reversed(_chain(ahead, int(met[0]))), *_chain(behind, int(met[0]))[1:]]
                return Route(tuple(self._id(node) for node in nodes), exact)
        return Route((), exact)

    def _unseen(self) -> Nodes:
        """For every node the number, plus one, of that from which a search came to it; 0 where it has not been there."""
        return np.zeros(len(self), dtype=np.uint32)

    def _layer(self, targets: Nodes, starts: Indices, nodes: Indices, parents: Nodes, limit: int) -> tuple[Indices, bool]:
        """The next layer of a search, ascending, and whether it is whole. Notes the first parent of every node in it."""
        reached = self._gather(targets, starts, nodes)
        parent = np.repeat((nodes + 1).astype(np.uint32), starts[nodes + 1] - starts[nodes])
        fresh = parents[reached] == 0
        reached, parent = reached[fresh], parent[fresh]
        parents[reached[::-1]] = parent[::-1]  # of several assignments the last holds: that of the first parent
        is_new = np.zeros(len(self), dtype=bool)
        is_new[reached] = True
        layer = np.flatnonzero(is_new)
        parents[layer[limit:]] = 0
        return layer[:limit], len(layer) <= limit

    def _find(self, paper_id: str) -> int | None:
        key = np.uint64(stable_key(paper_id) % (1 << 64))
        place = int(np.searchsorted(unsigned(self._keys), key))
        if place == len(self._keys) or unsigned(self._keys[place : place + 1])[0] != key:
            return None
        node = int(self._key_nodes[place])
        return node if self._id(node) == paper_id else None

    def _node(self, paper_id: str) -> int:
        node = self._find(paper_id)
        if node is None:
            raise NotFound(f"no paper {paper_id!r} in the citation graph; ask for it by the id that `paper` gives")
        return node

    def _id(self, node: int) -> str:
        return bytes(self._ids[int(self._id_starts[node]) : int(self._id_starts[node + 1])]).decode()

    def _in_degree(self, node: int) -> int:
        return int(self._in_starts[node + 1] - self._in_starts[node])

    def _cited_by(self, node: int) -> Nodes:
        return self._list(self._out, self._out_starts, node)

    def _citing(self, node: int) -> Nodes:
        return self._list(self._in, self._in_starts, node)

    @staticmethod
    def _list(targets: Nodes, starts: Indices, node: int) -> Nodes:
        return targets[int(starts[node]) : int(starts[node + 1])]

    def _listed(self, nodes: Nodes, limit: int | None) -> Walk:
        shown = nodes if limit is None else nodes[:limit]
        papers = tuple(Neighbour(self._id(int(node)), self._in_degree(int(node)), 1) for node in shown)
        return Walk(papers, len(nodes))

    @staticmethod
    def _width_of(starts: Indices, nodes: Indices) -> int:
        return int((starts[nodes + 1] - starts[nodes]).sum())

    @staticmethod
    def _gather(targets: Nodes, starts: Indices, nodes: Indices) -> Nodes:
        """The lists of some nodes, one after another."""
        if len(nodes) == 1:
            return CitationGraph._list(targets, starts, int(nodes[0]))
        first = starts[nodes]
        sizes = starts[nodes + 1] - first
        before = np.cumsum(sizes) - sizes
        return targets[np.repeat(first - before, sizes) + np.arange(int(sizes.sum()), dtype=np.int64)]


def _mapped(path: Path) -> NDArray[Any]:
    """An array in a file, mapped. As a plain array: NumPy's own class for mapped ones is three times as slow to take a number from."""
    array: NDArray[Any] = np.load(path, mmap_mode="r").view(np.ndarray)
    return array


def _chain(parents: Nodes, node: int) -> list[int]:
    """From a node back to where its search began."""
    nodes = [node]
    while (parent := int(parents[nodes[-1]]) - 1) != nodes[-1]:
        nodes.append(parent)
    return nodes

"""Who is held out: the seeds of test, validation and training, and the part of the core that each may walk on.

Test draws first, then validation on what is left, then training on what is left of that: a paper that was come to, and every other
version of its work, is closed to the splits after it (SciLENS, appendix E). Seeds are drawn uniformly: all splits take them in one
order, that of a hash of their ids. What does not belong here: how a walk goes (`walks`), what is written of it (`subgraphs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scholarlake.corpus.keys import Words, mix
from scholarlake.lake.hashing import stable_key
from scholarlake.training.graph import CoreGraph, Mask, Nodes
from scholarlake.training.walks import walk

ORDER = ("test", "validation", "train")
_AT_ONCE = 512  # seeds walked before it is looked how much of the core is taken


@dataclass(frozen=True)
class Drawing:
    """What is to be drawn. counts: split → subgraphs. held_out: most of the core that test and validation come to, each."""

    seed: int
    walks: int
    steps: int
    counts: Mapping[str, int]
    held_out: float


@dataclass(frozen=True)
class Split:
    """What a split got. open: shape (papers,), where its walks may go. seeds: in the order in which they were drawn.

    most: papers that it may come to at most, None without a limit. shortfall: why its seeds are fewer than wanted, None where not.
    """

    name: str
    wanted: int
    open: Mask
    seeds: Nodes
    most: int | None
    shortfall: str | None


def keys_of(graph: CoreGraph, seed: int) -> Words:
    """What all draws of a paper depend on, shape (papers,)."""
    return np.array([stable_key(f"{seed} {paper}") for paper in graph.ids], dtype=np.int64).view(np.uint64)


def draw(graph: CoreGraph, drawing: Drawing) -> dict[str, Split]:
    """The splits of a core. Fewer seeds than wanted, or none, where it is too small: with the reason."""
    keys = keys_of(graph, drawing.seed)
    order = np.argsort(keys, kind="stable").astype(np.uint32)
    open_ = np.ones(len(graph), dtype=bool)
    splits = {}
    for name in ORDER:
        most = None if name == "train" else int(drawing.held_out * len(graph))
        split, visited = _draw(name, graph.among(open_), open_, order, keys, drawing, most)
        splits[name] = split
        open_ = open_ & ~graph.versions_of(visited)
    return splits


def _draw(name: str, graph: CoreGraph, open_: Mask, order: Nodes, keys: Words, drawing: Drawing, most: int | None) -> tuple[Split, Mask]:
    """One split, and the papers that its walks come to. graph: what is open to it."""
    wanted = drawing.counts[name]
    candidates = order[graph.degrees[order] > 0]
    visited = np.zeros(len(graph), dtype=bool)
    if most is None:
        seeds = candidates[:wanted]
    else:
        seeds, visited = _within(graph, candidates[:wanted], keys, drawing, most)
    shortfall = None if len(seeds) == wanted else _why(graph, open_, len(candidates), len(seeds), most, drawing)
    return Split(name, wanted, open_, seeds, most, shortfall), visited


def _within(graph: CoreGraph, candidates: Nodes, keys: Words, drawing: Drawing, most: int) -> tuple[Nodes, Mask]:
    """As many of the first candidates as come to at most so many papers, and these papers."""
    visited = np.zeros(len(graph), dtype=bool)
    total = taken = 0
    for start in range(0, len(candidates), _AT_ONCE):
        part = candidates[start : start + _AT_ONCE]
        walked = walk(graph, part, mix(keys[part]), drawing.walks, drawing.steps).reshape(len(part), -1)
        nodes, first = np.unique(walked.ravel(), return_index=True)
        is_new = ~visited[nodes]
        new = np.bincount(first[is_new] // walked.shape[1], minlength=len(part))
        fitting = int(np.searchsorted(total + np.cumsum(new), most, side="right"))
        visited[walked[:fitting].ravel()] = True
        total += int(new[:fitting].sum())
        taken += fitting
        if fitting < len(part):
            break
    return candidates[:taken], visited


def _why(graph: CoreGraph, open_: Mask, candidates: int, made: int, most: int | None, drawing: Drawing) -> str:
    """Why there are no more seeds."""
    if not len(graph):
        return "the core has no papers"
    left = int(open_.sum())
    if candidates == made:
        return f"of the core's {len(graph):,} papers {left:,} are open, of which {candidates:,} cite another of these, or are cited by one"
    subgraph = f"a subgraph of {drawing.walks} walks of {drawing.steps} steps"
    return f"{subgraph} more would lead to more than {drawing.held_out:.0%} of the core's papers ({most:,} of {len(graph):,})"

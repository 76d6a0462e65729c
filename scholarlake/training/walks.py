"""Random walks from seed papers, all of them at once, and the papers that each subgraph's walks come to.

A draw is a hash of its seed paper, its walk and its step: it is the same in every process, whatever else is walked beside it.
What does not belong here: which papers are seeds, and which ones walks keep away from (`splits`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scholarlake.corpus.keys import Indices, Words, mix
from scholarlake.training.graph import CoreGraph, Nodes

_UP = np.uint64(32)
_WALK, _STEP = np.uint64(0x2545F4914F6CDD1D), np.uint64(0x9FB21C651E98DF25)  # odd: no two walks or steps share a draw


@dataclass(frozen=True)
class Visits:
    """What the walks of m seeds came to. papers: nodes, each once a seed, the seed first, then as they were come to; those of seed i
    are papers[starts[i]:starts[i + 1]]. places: shape (m, walks, steps + 1), every visit as a place among its seed's papers."""

    papers: Nodes
    starts: Indices
    places: NDArray[np.int32]


def walk(graph: CoreGraph, seeds: Nodes, keys: Words, walks: int, steps: int) -> Nodes:
    """Walks along citations, each step to a neighbour drawn uniformly: nodes of shape (seeds, walks, steps + 1).

    seeds: shape (m,), each with a neighbour. keys: shape (m,), what the draws of each seed depend on.
    """
    with np.errstate(over="ignore"):
        own = mix(keys[:, None] + np.arange(1, walks + 1, dtype=np.uint64) * _WALK).ravel()
    at = np.repeat(seeds.astype(np.int64), walks)
    visited = np.empty((len(at), steps + 1), dtype=np.uint32)
    visited[:, 0] = at
    for step in range(1, steps + 1):
        with np.errstate(over="ignore"):
            draws = mix(own + np.uint64(step) * _STEP)
        first = graph.starts[at]
        degrees = (graph.starts[at + 1] - first).astype(np.uint64)
        at = graph.targets[first + (((draws >> _UP) * degrees) >> _UP).astype(np.int64)].astype(np.int64)
        visited[:, step] = at
    return visited.reshape(len(seeds), walks, steps + 1)


def visits_of(walked: Nodes) -> Visits:
    """The distinct papers of every seed's walks, and the walks in terms of them. walked: as `walk` gives it."""
    count, width = len(walked), int(np.prod(walked.shape[1:], dtype=np.int64))
    if not count:
        return Visits(np.empty(0, np.uint32), np.zeros(1, np.int64), np.empty(walked.shape, np.int32))
    rows = np.repeat(np.arange(count, dtype=np.uint64), width)
    pairs, first, which = np.unique((rows << _UP) | walked.ravel().astype(np.uint64), return_index=True, return_inverse=True)
    order = np.argsort(first)  # row after row, as they were come to
    sizes = np.bincount((pairs >> _UP).astype(np.int64), minlength=count)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    place = np.empty(len(pairs), dtype=np.int64)
    place[order] = np.arange(len(pairs))
    places = (place[which.ravel()] - starts[rows.astype(np.int64)]).astype(np.int32)
    return Visits((pairs[order] & np.uint64(0xFFFFFFFF)).astype(np.uint32), starts, places.reshape(walked.shape))

"""Nearest papers by their vectors: the indices of all shards as one.

What does not belong here: turning a faiss id into a paper (`search_reader.py`), embedding a query (`models/answers.py`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import ArrayLike, NDArray

from scholarlake.dense.index import open_file
from scholarlake.errors import LakeError, ModelError
from scholarlake.lake import artifacts
from scholarlake.models.answers import embed_query
from scholarlake.models.config import require
from scholarlake.models.protocol import Embedder

_SHARE_IN_MEMORY = 0.5
"""Vectors that take less than this share of the machine's memory are taken to stay in it once they were read."""


@dataclass(frozen=True)
class VectorSearch:
    """Open indices of one model. Safe to use from several threads. Vectors are mapped from disk, not read into memory."""

    model: str
    dimension: int
    count: int
    indices: tuple[Any, ...]

    @classmethod
    def open(cls, folders: Iterable[Path], model: str) -> VectorSearch:
        """Open the published index of every shard, once its files have the checksums of its manifest.

        Raises IndexDamaged where they have not, ModelError where an index is of another model than `model` (a fingerprint).
        """
        indices: list[Any] = []
        dimension = count = size = 0
        for folder in folders:
            facts = artifacts.open_artifact(folder)["facts"]
            require(str(facts["model"]), model)
            index = open_file(folder)
            if index.ntotal != facts["count"] or index.d != facts["dimension"]:
                raise LakeError(f"{folder} holds {index.ntotal} vectors, its manifest says {facts['count']}; build it again")
            index.nprobe = int(facts["probes"])
            dimension, count = index.d, count + index.ntotal
            size += index.ntotal * index.d * 4
            indices.append(index)
        if size < _SHARE_IN_MEMORY * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
            for index in indices:
                _read_as_asked(index)
        return cls(model, dimension, count, tuple(indices))

    def search(self, queries: ArrayLike, k: int) -> list[list[tuple[int, float]]]:
        """For each query, shape (dimension,) or (n, dimension), the k nearest: faiss id and cosine similarity, nearest first.

        Ties go to the smaller id. Raises ModelError for a query that is not finite, is zero, or has another dimension.
        """
        rows = self._prepared(queries)
        if k <= 0 or not self.count:
            return [[] for _ in rows]
        found = [index.search(rows, min(k, index.ntotal)) for index in self.indices if index.ntotal]
        distances = np.concatenate([part for part, _ in found], axis=1)
        ids = np.concatenate([part for _, part in found], axis=1)
        return [_best(row_ids, row_distances, k) for row_ids, row_distances in zip(ids, distances, strict=True)]

    def nearest(self, embedder: Embedder, text: str, k: int) -> list[tuple[int, float]]:
        """The k nearest papers of a text. Raises ModelError where the embedder is not the one of the indices."""
        require(embedder.fingerprint, self.model)
        return self.search(embed_query(embedder, text), k)[0]

    def _prepared(self, queries: ArrayLike) -> NDArray[np.float32]:
        rows = np.atleast_2d(np.asarray(queries, np.float64))
        if rows.ndim != 2 or (self.indices and rows.shape[1] != self.dimension):
            raise ModelError(f"a query of shape {np.shape(queries)} does not fit vectors of {self.dimension} numbers")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or bool((lengths == 0).any()):
            raise ModelError("a query vector is zero or not finite; embed the query again")
        return np.ascontiguousarray(rows / lengths, np.float32)


def _read_as_asked(index: Any) -> None:
    """Have lists read when they are searched, not ahead by 32 threads that FAISS starts for every search of every index: where they are in
    memory already, these take fifty times what the search does."""
    lists = faiss.downcast_InvertedLists(index.invlists)
    if hasattr(lists, "prefetch_nthread"):
        lists.prefetch_nthread = 0


def _best(ids: NDArray[np.int64], distances: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
    found: Sequence[int] = np.flatnonzero(ids >= 0).tolist()  # FAISS fills up with -1
    order = sorted(found, key=lambda at: (float(distances[at]), int(ids[at])))[:k]
    return [(int(ids[at]), 1.0 - float(distances[at]) / 2) for at in order]  # of unit vectors: |a - b|² = 2 - 2 cos

"""Nearest papers by their stored vectors, exactly: every vector of the lake is looked at, some thousands at a time.

The indices are for readers in a hurry; a choice that knowledge rests on should not hang on which lists a query visits. What does not belong
here: the indices (`dense/search.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from scholarlake.corpus.selection.candidates import Candidates, Mask, Numbers, Values
from scholarlake.dense.vectors import as_matrix
from scholarlake.models.answers import embed_query
from scholarlake.models.config import require
from scholarlake.models.protocol import Embedder, Vectors

BATCH_ROWS = 16_384
DECIMALS = 6
"""Similarities are compared at so many: the same text embedded in another batch differs beyond them."""
SLACK = 1e-3
HELD_BYTES = 768 << 20
"""Vectors that are held in memory from one search to the next."""


def stored_vectors(candidates: Candidates, among: Mask) -> Iterator[tuple[Numbers, Vectors, str]]:
    """Numbers, vectors and the model's fingerprint of those of some papers that have a vector, some thousands at a time, in any order.

    As many as HELD_BYTES allow stay in memory with the candidates: several searches read them once.
    """
    if candidates.vectors is None:
        candidates.vectors = _held(candidates)
    if not candidates.vectors:
        yield from _read(candidates, among)
    for numbers, vectors, model in candidates.vectors:
        wanted = among[numbers]
        if wanted.all():
            yield numbers, vectors, model
        elif wanted.any():
            yield numbers[wanted], vectors[wanted], model


def _held(candidates: Candidates) -> list[tuple[Numbers, Vectors, str]]:
    """All vectors, none where they are too many to be held."""
    held, size = [], 0
    for lot in _read(candidates, np.ones(len(candidates), dtype=bool)):
        held.append(lot)
        size += lot[1].nbytes
        if size > HELD_BYTES:
            return []
    return held


def _read(candidates: Candidates, among: Mask) -> Iterator[tuple[Numbers, Vectors, str]]:
    for shard in candidates.lake.shard_keys:
        rows = candidates.lake.scan("embeddings").filter(pl.col("shard") == shard).select("paper_id", "vector", "model")
        wanted = rows.join(candidates.numbers_in(shard, among), on="paper_id", how="inner").select("number", "vector", "model")
        for batch in wanted.collect_batches(chunk_size=BATCH_ROWS, maintain_order=False, engine="streaming"):
            for (model,), part in batch.group_by("model"):
                yield part["number"].to_numpy(), as_matrix(part["vector"], int(part["vector"].list.len()[0])), str(model)


def nearest(candidates: Candidates, embedder: Embedder, queries: Sequence[str], k: int, among: Mask) -> list[Numbers]:
    """For each query the k nearest of some papers by cosine similarity, the nearest first, ties by number.

    Raises ModelError where the vectors are of another model than the embedder.
    """
    asked = np.stack([embed_query(embedder, query) for query in queries]) if queries else np.empty((0, 0), dtype=np.float32)
    best: list[tuple[Numbers, Values]] = [(np.empty(0, dtype=np.int64), np.empty(0)) for _ in queries]
    for numbers, vectors, model in stored_vectors(candidates, among):
        require(embedder.fingerprint, model)
        roughly = vectors @ asked.T
        for place, query in enumerate(asked.astype(np.float64)):
            likely = _likely(roughly[:, place], best[place][1], k)
            # Not a matrix product: its last digits hang on how many rows it is given.
            similar = np.round(np.einsum("ij,j->i", vectors[likely].astype(np.float64), query), DECIMALS)
            all_numbers, all_similar = np.concatenate([best[place][0], numbers[likely]]), np.concatenate([best[place][1], similar])
            order = np.lexsort((all_numbers, -all_similar))[:k]
            best[place] = all_numbers[order], all_similar[order]
    return [numbers for numbers, _ in best]


def _likely(roughly: Vectors, best: Values, k: int) -> Numbers:
    """Rows that may be among the k nearest: by similarity in single precision, which is off by far less than SLACK."""
    floor = float(best[-1]) if 0 < k <= len(best) else -np.inf
    if 0 < k < len(roughly):
        floor = max(floor, float(np.partition(roughly, len(roughly) - k)[len(roughly) - k]))
    return np.flatnonzero(roughly >= floor - SLACK)

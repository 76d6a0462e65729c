"""How well an index finds: its answers against exact search, for papers of the shard as queries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from scholarlake.dense.index import query_papers
from scholarlake.dense.search import VectorSearch
from scholarlake.dense.vectors import as_matrix
from scholarlake.lake import artifacts
from scholarlake.lake.home import Lake
from scholarlake.models.protocol import Vectors

ROWS_AT_ONCE = 16_384
_TIE = 1e-5  # float32 distances of equally near vectors differ by less


@dataclass(frozen=True)
class Recall:
    """recall: share of the k nearest papers that the index finds, over all queries; 1 where there was nothing to find."""

    k: int
    queries: int
    recall: float
    worst: float


def measure_recall(lake: Lake, shard: str, folder: Path, queries: int, k: int = 10) -> Recall:
    """Recall at k of the index in `folder` against exact search in the shard's embeddings.

    A paper is not counted as found for itself. Raises IndexDamaged where the index is not what its manifest says.
    """
    embeddings = lake.scan("embeddings").filter(pl.col("shard") == shard)
    chosen = query_papers(embeddings.select("faiss_id", "text_hash").collect(), queries)
    if chosen.height < 2:
        return Recall(k, chosen.height, 1.0, 1.0)
    dimension = int(artifacts.open_artifact(folder, verify=False)["facts"]["dimension"])
    sample = embeddings.select("faiss_id", "vector").join(chosen.lazy().select("faiss_id"), on="faiss_id", how="semi").collect()
    vectors, own = as_matrix(sample["vector"], dimension), sample["faiss_id"].to_numpy()

    exact = np.full((len(own), k), -np.inf, np.float32)
    for frame in embeddings.select("faiss_id", "vector").collect_batches(chunk_size=ROWS_AT_ONCE, engine="streaming"):
        exact = _merged(exact, vectors, own, as_matrix(frame["vector"], dimension), frame["faiss_id"].to_numpy(), k)

    search = VectorSearch.open([folder], str(artifacts.open_artifact(folder, verify=False)["facts"]["model"]))
    shares = []
    for row, answer in enumerate(search.search(vectors, k + 1)):
        scores = [score for faiss_id, score in answer if faiss_id != own[row]][:k]
        there_are = int(np.isfinite(exact[row]).sum())
        least = exact[row][:there_are].min()
        shares.append(sum(score >= least - _TIE for score in scores) / there_are)
    return Recall(k, len(shares), float(np.mean(shares)), float(min(shares)))


def _merged(best: Vectors, queries: Vectors, own: np.ndarray, vectors: Vectors, ids: np.ndarray, k: int) -> Vectors:
    """The k best similarities so far and in one more lot of vectors, best first, shape (queries, k)."""
    similar = queries @ vectors.T
    similar[own[:, None] == ids[None, :]] = -np.inf
    together = np.concatenate([best, similar], axis=1)
    top = np.partition(together, together.shape[1] - k, axis=1)[:, -k:]
    return np.asarray(-np.sort(-top, axis=1), np.float32)

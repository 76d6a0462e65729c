"""The embeddings of a shard in the plane: their two main axes. What does not belong here: the drawing (`pictures.py`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from scholarlake.dense.vectors import as_matrix
from scholarlake.lake.home import Lake


@dataclass(frozen=True)
class Plane:
    """points: shape (n, 2). labels: one a point, the paper's venue or year, empty where it has none. total: papers drawn from."""

    points: NDArray[np.float64]
    labels: tuple[str, ...]
    paper_ids: tuple[str, ...]
    total: int


def project(lake: Lake, shard: str | None = None, sample: int = 2_000, label: str = "venue") -> Plane:
    """A sample of the embeddings (of a shard, or of all) on their first two principal components.

    The sample is the papers of the smallest text hashes, so it stays the same while they do.
    """
    embeddings = lake.scan("embeddings")
    papers = lake.scan("papers").select("paper_id", pl.col(label).cast(pl.String).fill_null("").alias("label"), "shard")
    if shard is not None:
        embeddings, papers = embeddings.filter(pl.col("shard") == shard), papers.filter(pl.col("shard") == shard)
    keys = embeddings.select("paper_id", "text_hash").collect()
    sampled = _sample(keys, sample).lazy().join(papers.select("paper_id", "label"), on="paper_id", how="left")
    return _projected(embeddings, sampled, keys.height)


def project_chosen(lake: Lake, chosen: pl.DataFrame, background: int = 2_000, most: int = 5_000) -> Plane:
    """Papers with a label (paper_id, label) among a sample of all others, which have none. Of more than `most` a sample is drawn."""
    embeddings = lake.scan("embeddings")
    keys = embeddings.select("paper_id", "text_hash").collect()
    labelled = chosen.join(_sample(keys.join(chosen, on="paper_id", how="semi"), most), on="paper_id", how="semi")
    others = _sample(keys.join(chosen, on="paper_id", how="anti"), background).with_columns(label=pl.lit(""))
    return _projected(embeddings, pl.concat([labelled.select("paper_id", "label"), others]).lazy(), keys.height)


def _sample(keys: pl.DataFrame, size: int) -> pl.DataFrame:
    return keys.sort("text_hash", "paper_id").head(size).select("paper_id")


def _projected(embeddings: pl.LazyFrame, labelled: pl.LazyFrame, total: int) -> Plane:
    """Papers with their labels (paper_id, label) on their two main axes."""
    rows = embeddings.select("paper_id", "vector").join(labelled, on="paper_id", how="inner").sort("paper_id").collect()
    dimension = int(rows["vector"].list.len()[0]) if rows.height else 0
    points = plane_of(as_matrix(rows["vector"], dimension).astype(np.float64))
    return Plane(points, tuple(rows["label"].fill_null("").to_list()), tuple(rows["paper_id"].to_list()), total)


def plane_of(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Principal components of vectors, shape (n, dimension) to (n, 2). Signs are fixed: the largest loading is positive."""
    plane = np.zeros((len(vectors), 2))
    if len(vectors) < 2:
        return plane
    centred = vectors - vectors.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1].T[::-1][:2].copy()  # ascending eigenvalues: the main axes come last
    axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    plane[:, : len(axes)] = centred @ axes.T
    return plane

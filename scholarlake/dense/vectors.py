"""Vectors between numpy, where they are computed, and Polars, where they are lists of Float32 (Delta has no arrays)."""

from __future__ import annotations

import numpy as np
import polars as pl

from scholarlake.errors import LakeError
from scholarlake.models.protocol import Vectors


def as_series(vectors: Vectors, name: str = "vector") -> pl.Series:
    """Rows of a matrix, shape (n, dimension), as a column of lists."""
    if not len(vectors):
        return pl.Series(name, [], pl.List(pl.Float32))
    matrix = np.ascontiguousarray(vectors, np.float32)
    return pl.Series(name, matrix, pl.Array(pl.Float32, matrix.shape[1])).arr.to_list()


def as_matrix(column: pl.Series, dimension: int) -> Vectors:
    """A column of lists as a matrix, shape (n, dimension). Raises LakeError where a list has another length or a null."""
    if not len(column):
        return np.empty((0, dimension), np.float32)
    lengths = column.list.len()
    if lengths.null_count() or bool((lengths != dimension).any()):
        raise LakeError(f"stored vectors have {lengths.unique().to_list()[:3]} numbers, not {dimension}; build the embeddings again")
    flat = column.explode()
    return np.ascontiguousarray(flat.to_numpy().reshape(len(column), dimension), np.float32)

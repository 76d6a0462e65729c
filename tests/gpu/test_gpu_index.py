"""The vector index on a GPU: the same calls, the same answers. Run by `tests/gpu/run.py` on a machine that has one."""

from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
import pytest

from scholarlake.dense import index as indexing
from scholarlake.dense.recall import measure_recall
from scholarlake.dense.search import VectorSearch
from scholarlake.lake.home import Lake
from scholarlake.profile import Dense
from tests.unit.dense.test_vector_index import DIMENSION, MODEL, embed, vectors

GPUS = faiss.get_num_gpus() if hasattr(faiss, "get_num_gpus") else 0
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not GPUS, reason="FAISS sees no GPU here")]
DENSE = Dense(centroids=256, probes=256)  # type: ignore[call-arg]


def build(lake: Lake, previous: str | None = None) -> indexing.IndexReport:
    return indexing.build_index(lake, "00", MODEL, DIMENSION, DENSE, previous)


@pytest.mark.parametrize("count", [0, 1, 50, 20_000])
def test_shards_of_any_size_build_on_the_gpu_and_search_without_it(tmp_path: Path, count: int) -> None:
    lake = Lake.create(tmp_path, 1)
    ids = embed(lake, vectors(count))
    report = build(lake)
    assert report.on_gpu
    assert sorted(indexing.held_ids(report.artifact.folder(lake))) == ids.tolist()
    assert measure_recall(lake, "00", report.artifact.folder(lake), 100).recall == 1.0


def test_a_gpu_built_index_answers_as_one_built_on_the_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = Lake.create(tmp_path, 1)
    embed(lake, vectors(20_000))
    on_gpu = build(lake)
    monkeypatch.setattr(indexing, "_gpus", lambda: 0)
    on_processor = build(lake)
    queries = vectors(100, seed=5)
    both = [VectorSearch.open([report.artifact.folder(lake)], MODEL).search(queries, 10) for report in (on_gpu, on_processor)]
    for left, right in zip(*both, strict=True):
        np.testing.assert_allclose([score for _, score in left], [score for _, score in right], atol=1e-4)


def test_a_refresh_on_the_gpu_keeps_the_centroids(tmp_path: Path) -> None:
    lake = Lake.create(tmp_path, 1)
    embed(lake, vectors(20_000))
    before = build(lake)
    ids = embed(lake, np.concatenate([vectors(20_000)[100:], vectors(50, seed=8)]), first=100)
    after = build(lake, before.artifact.path)
    assert not after.retrained
    assert after.artifact.facts["centroids"] == before.artifact.facts["centroids"]
    assert sorted(indexing.held_ids(after.artifact.folder(lake))) == ids.tolist()

"""Claims about the vector index: traps 27 to 30 and 32, refreshes, recall, and the map of a shard."""

from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from scholarlake.dense import invariants
from scholarlake.dense.faiss_ids import IDS_PER_SHARD
from scholarlake.dense.index import FILE, IndexReport, build_index, held_ids, lists_for, require_sound
from scholarlake.dense.projection import plane_of, project
from scholarlake.dense.recall import measure_recall
from scholarlake.dense.search import VectorSearch
from scholarlake.dense.vectors import as_series
from scholarlake.errors import IndexDamaged, LakeError, ModelError
from scholarlake.lake import contracts, delta
from scholarlake.lake.home import Lake
from scholarlake.profile import Dense
from tests.unit.dense.small_corpus import DENSE, Scripted, lay_down
from tests.unit.small_lake import COMMIT

MODEL = "m" * 32
DIMENSION = 16


def vectors(count: int, seed: int = 0) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def embed(lake: Lake, rows: NDArray[np.float32], shard: str = "00", model: str = MODEL, first: int = 0) -> NDArray[np.int64]:
    """Make the shard's embeddings exactly these. Returns their ids."""
    ids = int(shard) * IDS_PER_SHARD + first + np.arange(len(rows), dtype=np.int64)
    frame = pl.DataFrame(
        {
            "paper_id": [f"p{i}" for i in ids],
            "shard": [shard] * len(ids),
            "faiss_id": ids,
            "text_hash": [row.tobytes().hex()[:32] for row in rows],
            "model": [model] * len(ids),
            "vector": as_series(rows),
            "code_version": ["0"] * len(ids),
        },
        contracts.EMBEDDINGS.schema,
    )
    delta.write_partition(lake, "embeddings", shard, frame, COMMIT)
    return ids


def index(lake: Lake, shard: str = "00", dense: Dense = DENSE, previous: IndexReport | None = None) -> IndexReport:
    return build_index(lake, shard, MODEL, DIMENSION, dense, previous.artifact.path if previous else None)


def opened(lake: Lake, *reports: IndexReport) -> VectorSearch:
    return VectorSearch.open([report.artifact.folder(lake) for report in reports], MODEL)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path, 2)


@pytest.mark.parametrize(("count", "lists"), [(0, 1), (1, 1), (50, 1), (100, 2), (5_000, 100)])
def test_shards_of_any_size_build_and_search(lake: Lake, count: int, lists: int) -> None:
    rows = vectors(count)
    ids = embed(lake, rows)
    report = index(lake)
    assert (report.count, report.lists, report.artifact.facts["factory"]) == (count, lists, f"IVF{lists},Flat")
    search = opened(lake, report)
    for row in range(0, count, 997):
        faiss_id, score = search.search(rows[row], 3)[0][0]
        assert faiss_id == ids[row]
        assert score == pytest.approx(1, abs=1e-5)
    assert len(search.search(vectors(1, seed=9), 10)[0]) == min(count, 10)
    assert invariants.indexed_is_embedded(lake, "00", report.artifact.folder(lake)).passed


def test_centroids_are_scaled_down_to_the_shard() -> None:
    assert [lists_for(count, 4_096) for count in (0, 38, 78, 39 * 4_096, 10**7)] == [1, 1, 2, 4_096, 4_096]


def test_the_same_embeddings_give_the_same_index(lake: Lake) -> None:
    embed(lake, vectors(500))
    assert index(lake).artifact.digest == index(lake).artifact.digest


def test_several_shards_answer_as_one_with_cosine_similarity(lake: Lake) -> None:
    rows = vectors(300)
    ids = np.concatenate([embed(lake, rows[:200], "00"), embed(lake, rows[200:], "01")])
    search = opened(lake, index(lake, "00"), index(lake, "01"))
    query = vectors(1, seed=7)[0] * 3  # a query needs no unit length
    exact = rows @ (query / np.linalg.norm(query))
    best = np.argsort(-exact)[:10]
    found = search.search(query, 10)[0]
    assert [faiss_id for faiss_id, _ in found] == ids[best].tolist()
    assert [score for _, score in found] == pytest.approx(exact[best].tolist(), abs=1e-5)
    assert search.count == 300


@pytest.mark.parametrize(
    ("fault", "said"), [("nan", "not finite"), ("zero", "unit length"), ("twice", "twice"), ("minus", "negative"), ("unsigned", "uint64")]
)
def test_unsound_vectors_and_ids_never_reach_faiss(fault: str, said: str) -> None:
    rows, ids = vectors(3), np.arange(3, dtype=np.int64)
    if fault == "nan":
        rows[1, 2] = np.nan
    if fault == "zero":
        rows[1] = 0
    if fault == "twice":
        ids[1] = 0
    if fault == "minus":
        ids[1] = -1
    given = ids.astype(np.uint64) if fault == "unsigned" else ids
    with pytest.raises(LakeError, match=said):
        require_sound(given, rows)


def test_a_stored_nan_stops_the_build_and_publishes_nothing(lake: Lake) -> None:
    rows = vectors(60)
    rows[5, 3] = np.nan
    embed(lake, rows)
    with pytest.raises(LakeError, match="not finite"):
        index(lake)
    assert not list(lake.artifacts.rglob("*.faiss"))


@pytest.mark.parametrize("query", [np.full(DIMENSION, np.nan), np.zeros(DIMENSION), np.ones(DIMENSION + 1)])
def test_an_unusable_query_is_refused(lake: Lake, query: NDArray[np.float64]) -> None:
    embed(lake, vectors(50))
    search = opened(lake, index(lake))
    with pytest.raises(ModelError, match="query"):
        search.search(query, 3)


@pytest.mark.parametrize("harm", ["truncate", "flip", "stale_manifest", "lose"])
def test_a_damaged_index_is_refused_when_opened(lake: Lake, harm: str) -> None:
    embed(lake, vectors(200))
    report = index(lake)
    path = report.artifact.folder(lake) / FILE
    data = bytearray(path.read_bytes())
    if harm == "truncate":
        path.write_bytes(data[: len(data) // 2])
    elif harm == "flip":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    elif harm == "lose":
        path.unlink()
    else:
        embed(lake, vectors(200, seed=1))
        newer = index(lake).artifact.folder(lake) / FILE
        path.write_bytes(newer.read_bytes())
    with pytest.raises(IndexDamaged, match="remove its folder"):
        opened(lake, report)


def test_lists_that_stay_in_memory_are_not_read_ahead(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    embed(lake, vectors(500))
    report = index(lake)

    def threads(search: VectorSearch) -> int:
        return int(faiss.downcast_InvertedLists(search.indices[0].invlists).prefetch_nthread)

    assert threads(opened(lake, report)) == 0
    monkeypatch.setattr("scholarlake.dense.search._SHARE_IN_MEMORY", 0)
    assert threads(opened(lake, report)) > 0, "from a disk, many threads are quicker"


def test_an_index_of_another_model_is_refused(lake: Lake) -> None:
    embed(lake, vectors(50))
    report = index(lake)
    with pytest.raises(ModelError, match="not the one"):
        VectorSearch.open([report.artifact.folder(lake)], "n" * 32)
    with pytest.raises(ModelError, match="another model"):
        build_index(lake, "00", "n" * 32, DIMENSION, DENSE)


def test_a_query_of_another_model_is_refused(lake: Lake) -> None:
    embed(lake, vectors(50))
    with pytest.raises(ModelError, match="not the one"):
        opened(lake, index(lake)).nearest(Scripted(), "anything", 3)


def test_a_refresh_keeps_the_centroids_and_finds_what_is_there_now(lake: Lake) -> None:
    rows = vectors(1_000)
    embed(lake, rows)
    before = index(lake)
    changed = rows.copy()
    changed[:20] = vectors(20, seed=3)
    ids = embed(lake, changed[:990])
    after = index(lake, previous=before)
    assert (after.added, after.removed, after.retrained, after.count) == (20, 30, False, 990)
    assert after.artifact.facts["centroids"] == before.artifact.facts["centroids"]
    assert after.drift == pytest.approx(0.05)
    rebuilt = index(lake)
    queries = vectors(50, seed=4)
    assert opened(lake, after).search(queries, 10) == opened(lake, rebuilt).search(queries, 10)  # all lists are probed
    assert sorted(held_ids(after.artifact.folder(lake))) == ids.tolist()


def test_a_refresh_of_nothing_is_the_same_artifact(lake: Lake) -> None:
    embed(lake, vectors(100))
    before = index(lake)
    after = index(lake, previous=before)
    assert (after.artifact, after.added, after.removed) == (before.artifact, 0, 0)


def test_past_the_drift_the_centroids_are_trained_anew(lake: Lake) -> None:
    embed(lake, vectors(1_000))
    before = index(lake)
    embed(lake, vectors(1_300))
    after = index(lake, previous=before)
    assert (after.retrained, after.drift, after.lists) == (True, 0.0, 33)
    assert after.artifact.facts["centroids"] != before.artifact.facts["centroids"]


def test_small_changes_add_up_to_a_drift(lake: Lake) -> None:
    embed(lake, vectors(100))
    report = index(lake)
    seen = []
    for count in (110, 120, 130):
        embed(lake, vectors(count))
        report = index(lake, previous=report)
        seen.append(report.retrained)
    assert seen == [False, False, True]


def test_recall_is_measured_against_exact_search(lake: Lake) -> None:
    embed(lake, vectors(4_000))
    folder = index(lake).artifact.folder(lake)
    poor = index(lake, dense=Dense(centroids=100, probes=1, min_recall=0)).artifact.folder(lake)  # type: ignore[call-arg]
    exhaustive, narrow = measure_recall(lake, "00", folder, 50), measure_recall(lake, "00", poor, 50)
    assert (exhaustive.queries, exhaustive.recall) == (50, 1.0)
    assert narrow.recall < 0.7
    assert measure_recall(lake, "00", poor, 50) == narrow


def test_lists_are_probed_until_the_recall_of_the_profile_is_reached(lake: Lake) -> None:
    embed(lake, vectors(4_000))
    report = index(lake, dense=Dense(centroids=100, probes=1, min_recall=0.8))  # type: ignore[call-arg]
    assert 1 < report.artifact.facts["probes"] < report.lists == 100
    assert measure_recall(lake, "00", report.artifact.folder(lake), 100).recall >= 0.8


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_recall_of_a_tiny_shard_is_whole(lake: Lake, count: int) -> None:
    embed(lake, vectors(count))
    assert measure_recall(lake, "00", index(lake).artifact.folder(lake), 100).recall == 1.0


def test_the_map_has_a_point_for_every_sampled_paper(tmp_path: Path) -> None:
    from scholarlake.dense.embed import embed_shard

    lake = lay_down(tmp_path / "map", [(f"p{i}", f"title {i}") for i in range(30)])
    embed_shard(lake, "00", Scripted(), DENSE, COMMIT)
    plane = project(lake, sample=20)
    assert (plane.points.shape, len(plane.labels), plane.total) == ((20, 2), 20, 30)
    assert project(lake, "00", sample=20).points == pytest.approx(plane.points)
    assert project(Lake.create(tmp_path / "empty", 1)).points.shape == (0, 2)


def test_the_map_spreads_what_differs() -> None:
    plane = plane_of(np.array([[5.0, 0, 0], [-5, 0, 0], [0, 1, 0], [0, -1, 0]]))
    assert np.abs(plane) == pytest.approx(np.array([[5, 0], [5, 0], [0, 1], [0, 1]]))
    assert plane_of(np.ones((1, 3))).tolist() == [[0, 0]]

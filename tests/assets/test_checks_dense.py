"""Embedded + failures = papers, vectors are sound, ids are handed out once, and the index holds just what is embedded."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np
import polars as pl
import pytest

from scholarlake.dense import invariants
from scholarlake.dense.index import FILE, build_index
from scholarlake.lake.findings import Finding
from scholarlake.lake.hashing import text_hash
from scholarlake.lake.home import Lake
from scholarlake.profile import Dense
from tests.assets.checked_lake import NOT_EMBEDDED, broken, frame_of, good_lake, replace

Claim = Callable[[Lake, str], Finding]
CLAIMS: tuple[Claim, ...] = (
    invariants.every_paper_embedded_or_listed,
    invariants.vectors_are_sound,
    invariants.one_model,
    invariants.vector_ids_are_handed_out_once,
)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return good_lake(tmp_path / "lake")


def vector(values: list[float]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Give p3 another vector, and another text hash: the writer doesn't read vectors to see whether a row changed."""
    return lambda rows: rows.with_columns(
        vector=pl.when(paper_id="p3").then(pl.lit(values, pl.List(pl.Float32))).otherwise("vector"),
        text_hash=pl.when(paper_id="p3").then(pl.lit("0" * 32)).otherwise("text_hash"),
    )


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_good_lake_passes(lake: Lake, claim: Claim) -> None:
    found = [claim(lake, shard) for shard in lake.shard_keys]
    assert all(finding.passed for finding in found), found
    assert sum(finding.counted for finding in found) > 0


def test_a_paper_without_vector_or_listed_failure_is_found(lake: Lake) -> None:
    broken(lake, "embedding_failures", lambda rows: rows.clear())
    found = invariants.every_paper_embedded_or_listed(lake, lake.shard_of(NOT_EMBEDDED))
    assert found.examples == ({"paper_id": NOT_EMBEDDED, "fault": "neither embedded nor listed"},)


def test_a_paper_both_embedded_and_listed_is_found(lake: Lake) -> None:
    row = {"paper_id": "p3", "shard": lake.shard_of("p3")}
    broken(lake, "embedding_failures", lambda rows: pl.concat([rows, frame_of("embedding_failures", [row])]))
    found = invariants.every_paper_embedded_or_listed(lake, lake.shard_of("p3"))
    assert {"paper_id": "p3", "fault": "embedded, and listed as a failure"} in found.examples


def test_a_vector_of_a_paper_that_is_gone_is_found(lake: Lake) -> None:
    broken(lake, "papers", lambda rows: rows.filter(pl.col("paper_id") != "p3"))
    found = invariants.every_paper_embedded_or_listed(lake, lake.shard_of("p3"))
    assert {"paper_id": "p3", "fault": "no paper of this shard"} in found.examples


@pytest.mark.parametrize(
    "values",
    [[math.nan, 0, 0, 1], [0, 0, 0, 0], [math.inf, 0, 0, 0], [1.0, 1.0, 0, 0], [], [1.0, 0.0]],
    ids=["nan", "zero", "infinite", "not unit", "empty", "another dimension"],
)
def test_a_vector_that_must_not_reach_the_index_is_found(lake: Lake, values: list[float]) -> None:
    # All papers of one shard, so that the usual dimension is that of the others.
    broken(lake, "embeddings", lambda rows: vector(values)(rows.with_columns(shard=pl.lit("00"))))
    found = invariants.vectors_are_sound(lake, "00")
    assert [row["paper_id"] for row in found.examples] == ["p3"]
    assert found.facts["dimension"] == 4


def test_a_second_model_of_the_same_dimension_is_found(lake: Lake) -> None:
    broken(lake, "embeddings", lambda rows: rows.with_columns(model=pl.when(paper_id="p3").then(pl.lit("other")).otherwise("model")))
    found = invariants.one_model(lake, None)
    assert found.examples == ({"model": "other", "vectors": 1},)


def test_an_id_outside_its_shard_or_unlike_the_ledger_or_twice_is_found(lake: Lake) -> None:
    shard = lake.shard_of("p3")
    broken(
        lake, "embeddings", lambda rows: rows.with_columns(faiss_id=pl.when(paper_id="p3").then(-1).otherwise("faiss_id").cast(pl.Int64))
    )
    found = invariants.vector_ids_are_handed_out_once(lake, shard)
    assert {"paper_id": "p3", "faiss_id": -1, "fault": "not what the ledger gave"} in found.examples

    first = int(shard) * 10**10
    broken(lake, "faiss_ids", lambda rows: rows.with_columns(faiss_id=pl.lit(first, pl.Int64)))
    faults = {row["fault"] for row in invariants.vector_ids_are_handed_out_once(lake, shard).examples}
    assert "handed out twice" in faults or lake.scan("faiss_ids").filter(pl.col("shard") == shard).collect().height == 1
    broken(lake, "faiss_ids", lambda rows: rows.with_columns(faiss_id=pl.lit(10**12, pl.Int64)))
    assert "outside the range of its shard" in {row["fault"] for row in invariants.vector_ids_are_handed_out_once(lake, shard).examples}


# -- the index -------------------------------------------------------------------------------------------------------


SHARD = "00"


def indexed(lake: Lake, count: int = 200) -> Path:
    """The index of one shard of so many vectors round a circle, and its folder."""
    angles = np.arange(count) * 2 * np.pi / count
    rows = [
        {
            "paper_id": f"q{n}",
            "shard": SHARD,
            "faiss_id": n,
            "text_hash": text_hash(str(n)),
            "model": "m",
            "vector": [math.cos(a), math.sin(a), 0, 0],
        }
        for n, a in enumerate(angles)
    ]
    replace(lake, "embeddings", frame_of("embeddings", rows))
    return build_index(lake, SHARD, "m", 4, Dense(centroids=5, probes=5)).artifact.folder(lake)


def without(condition: pl.Expr) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda rows: rows.filter(~condition)


def test_a_good_index_holds_what_is_embedded_is_of_its_model_and_finds_it(lake: Lake) -> None:
    folder = indexed(lake)
    assert invariants.indexed_is_embedded(lake, SHARD, folder).passed
    assert invariants.index_is_of_the_model(lake, SHARD, folder).passed
    found = invariants.recall_is_enough(lake, SHARD, folder, 50, 0.99)
    assert (found.passed, found.counted, found.facts["recall_at_10"]) == (True, 50, 1.0)


def test_an_index_that_lacks_a_vector_or_holds_one_too_many_is_found(lake: Lake) -> None:
    folder = indexed(lake)
    broken(lake, "embeddings", without(pl.col("faiss_id") == 7))
    assert invariants.indexed_is_embedded(lake, SHARD, folder).examples == ({"faiss_id": 7, "fault": "indexed but not embedded"},)
    broken(lake, "embeddings", lambda rows: rows.with_columns(faiss_id=pl.when(faiss_id=8).then(7).otherwise("faiss_id").cast(pl.Int64)))
    faults = {(row["faiss_id"], row["fault"]) for row in invariants.indexed_is_embedded(lake, SHARD, folder).examples}
    assert faults == {(8, "indexed but not embedded")}


def test_a_vector_added_twice_is_found_though_faiss_takes_it(lake: Lake) -> None:
    folder = indexed(lake)
    index = faiss.read_index(str(folder / FILE))
    index.add_with_ids(np.array([[1, 0, 0, 0]], np.float32), np.array([0], np.int64))
    faiss.write_index(index, str(folder / FILE))
    assert invariants.indexed_is_embedded(lake, SHARD, folder).examples == ({"faiss_id": 0, "fault": "indexed twice"},)


def test_an_index_of_another_model_of_the_same_dimension_is_found(lake: Lake) -> None:
    folder = indexed(lake)
    broken(lake, "embeddings", lambda rows: rows.with_columns(model=pl.lit("other")))
    found = invariants.index_is_of_the_model(lake, SHARD, folder)
    assert found.examples == ({"model": "other", "dimension": 4, "vectors": 200},)


def test_an_index_that_looks_into_too_few_lists_has_too_little_recall(lake: Lake) -> None:
    indexed(lake)
    folder = build_index(lake, SHARD, "m", 4, Dense(centroids=5, probes=1, min_recall=0.0)).artifact.folder(lake)
    found = invariants.recall_is_enough(lake, SHARD, folder, 200, 0.999)
    assert not found.passed
    assert 0 < float(str(found.facts["worst_query"])) < float(str(found.facts["recall_at_10"])) < 0.999


def test_an_empty_shard_has_a_sound_index(lake: Lake) -> None:
    folder = indexed(lake, 0)
    assert invariants.indexed_is_embedded(lake, SHARD, folder).passed
    assert invariants.recall_is_enough(lake, SHARD, folder, 50, 0.99).passed

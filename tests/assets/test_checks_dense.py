"""Embedded + failures = papers, vectors are sound, ids are handed out once, and the index holds just what is embedded."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from scholarlake.dense import invariants
from scholarlake.lake.findings import Finding
from scholarlake.lake.home import Lake
from tests.assets.checked_lake import NOT_EMBEDDED, VECTORS, broken, frame_of, good_lake

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


def test_an_index_that_lacks_a_vector_or_holds_one_twice_or_too_many_is_found(lake: Lake) -> None:
    broken(lake, "embeddings", lambda rows: rows.with_columns(shard=pl.lit("00")))
    ids = lake.scan("embeddings").collect()["faiss_id"].sort()
    assert invariants.indexed_is_embedded(lake, "00", ids).passed
    assert invariants.indexed_is_embedded(lake, "00", ids).counted == len(VECTORS)
    assert invariants.indexed_is_embedded(lake, "00", ids[:-1]).examples[0]["fault"] == "embedded but not indexed"
    assert invariants.indexed_is_embedded(lake, "00", pl.concat([ids, ids[:1]])).examples[0]["fault"] == "indexed twice"
    assert (
        invariants.indexed_is_embedded(lake, "00", pl.concat([ids, pl.Series([5 * 10**12])])).examples[0]["fault"]
        == "indexed but not embedded"
    )

"""Every invariant of collections holds on a good lake, and fails, naming what broke it, on a broken one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from scholarlake.corpus.selection import invariants
from scholarlake.lake.findings import Finding
from scholarlake.lake.home import Lake
from tests.assets.checked_lake import broken, frame_of, good_lake

Change = Callable[[pl.DataFrame], pl.DataFrame]
CLAIMS: tuple[Callable[[Lake], Finding], ...] = (
    invariants.members_are_papers,
    invariants.ranks_are_whole,
    invariants.one_version_of_a_work,
    invariants.nothing_missing_unsaid,
    invariants.quotas_are_met_or_explained,
    invariants.no_collection_is_empty,
    invariants.every_id_is_known,
)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return good_lake(tmp_path / "lake")


def only(name: str, **values: object) -> Change:
    """Change these columns of one collection's rows."""
    return lambda rows: rows.with_columns(
        pl.when(collection=name).then(pl.lit(value, rows.schema[column])).otherwise(column).alias(column)
        for column, value in values.items()
    )


def without(paper_id: str) -> Change:
    return lambda rows: rows.filter(pl.col("paper_id") != paper_id)


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_good_lake_passes(lake: Lake, claim: Callable[[Lake], Finding]) -> None:
    found = claim(lake)
    assert found.passed, found
    assert found.name == claim.__name__
    assert found.counted > 0


@pytest.mark.parametrize(
    ("claim", "table", "change", "example"),
    [
        (
            invariants.members_are_papers,
            "papers",
            without("p4"),
            {"collection": "by-topic", "paper_id": "p4", "fault": "is no paper"},
        ),
        (
            invariants.members_are_papers,
            "collections",
            only("some", shard="99"),
            {"collection": "some", "paper_id": "p1", "fault": "lies in another shard"},
        ),
        (
            invariants.members_are_papers,
            "papers",
            lambda rows: rows.with_columns(withdrawn=pl.col("withdrawn") | (pl.col("paper_id") == "p1")),
            {"collection": "some", "paper_id": "p1", "fault": "was withdrawn"},
        ),
        (
            invariants.one_version_of_a_work,
            "papers",
            lambda rows: rows.with_columns(version_of=pl.when(pl.col("paper_id") == "p1").then(pl.lit("p4")).otherwise("version_of")),
            {"collection": "some", "work": "p4", "paper_id": "p1, p4", "versions": 2},
        ),
        (
            invariants.ranks_are_whole,
            "collections",
            only("some", rank=1),
            {"collection": "some", "members": 2, "ranks": 1, "first": 1, "last": 1},
        ),
        (
            invariants.ranks_are_whole,
            "collections",
            lambda rows: rows.with_columns(rank=pl.col("rank") + 1).filter(collection="some"),
            {"collection": "some", "members": 2, "ranks": 2, "first": 2, "last": 3},
        ),
        (
            invariants.nothing_missing_unsaid,
            "collections",
            lambda rows: rows.filter(pl.col("collection") != "some"),
            {"collection": "some", "members": 0, "wanted": None, "fault": "has other members than collection_catalog says"},
        ),
        (
            invariants.nothing_missing_unsaid,
            "collection_catalog",
            lambda rows: rows.filter(collection="some"),
            {"collection": "by-topic", "members": 2, "wanted": None, "fault": "is not in collection_catalog"},
        ),
        (
            invariants.nothing_missing_unsaid,
            "collection_catalog",
            only("by-topic", wanted=3),
            {"collection": "by-topic", "members": 2, "wanted": 3, "fault": "has too few and does not say why"},
        ),
        (
            invariants.nothing_missing_unsaid,
            "collection_catalog",
            only("some", wanted=1),
            {"collection": "some", "members": 2, "wanted": 1, "fault": "has too many"},
        ),
        (
            invariants.quotas_are_met_or_explained,
            "collections",
            only("by-topic", topic="t"),
            {"collection": "by-topic", "topic": "t", "papers": 2, "quota": 1},
        ),
        (
            invariants.quotas_are_met_or_explained,
            "collections",
            without("p3"),
            {"collection": "by-topic", "topic": "t", "papers": 0, "quota": 1},
        ),
        (
            invariants.no_collection_is_empty,
            "collection_catalog",
            only("some", chosen=0, matched=7),
            {"collection": "some", "method": "conditions", "matched": 7, "chosen": 0},
        ),
        (
            invariants.every_id_is_known,
            "collection_catalog",
            only("some", unknown_ids=["nobody"]),
            {"collection": "some", "unknown_id": "nobody"},
        ),
    ],
)
def test_what_breaks_a_claim_is_named(
    lake: Lake, claim: Callable[[Lake], Finding], table: str, change: Change, example: dict[str, object]
) -> None:
    found = claim(broken(lake, table, change))
    assert not found.passed
    assert found.examples[0] == example


def test_a_lack_that_is_explained_is_none(lake: Lake) -> None:
    broken(lake, "collections", without("p3"))
    broken(lake, "collection_catalog", only("by-topic", chosen=1, shortfall="t: 0 of 1 (0 found, 0 of them with enough text)"))
    assert invariants.quotas_are_met_or_explained(lake).passed


def test_collections_without_topics_have_no_quotas(lake: Lake) -> None:
    broken(lake, "collection_catalog", lambda rows: rows.filter(collection="some"))
    found = invariants.quotas_are_met_or_explained(lake)
    assert (found.passed, found.counted) == (True, 0)


def test_a_lake_without_collections_passes(lake: Lake) -> None:
    broken(lake, "collections", lambda rows: rows.clear())
    broken(lake, "collection_catalog", lambda rows: frame_of("collection_catalog", []))
    assert all(claim(lake).passed for claim in CLAIMS)

"""Every invariant of the corpus holds on a good lake, and fails, naming what broke it, on a broken one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from scholarlake.corpus import invariants
from scholarlake.lake.findings import Finding
from scholarlake.lake.home import Lake
from tests.assets.checked_lake import OTHER, PROFILE, broken, frame_of, good_lake

CORE = PROFILE.core
WHOLE: dict[str, Callable[[Lake], Finding]] = {
    "every_record_has_a_paper": invariants.every_record_has_a_paper,
    "one_paper_per_record_id": invariants.one_paper_per_record_id,
    "one_paper_per_doi": invariants.one_paper_per_doi,
    "representative_is_a_member": invariants.representative_is_a_member,
    "papers_lie_in_their_shard": invariants.papers_lie_in_their_shard,
    "versions_lead_to_what_stands_for_the_work": invariants.versions_lead_to_what_stands_for_the_work,
    "withdrawals_and_notices_are_papers": invariants.withdrawals_and_notices_are_papers,
    "no_dangling_edge": invariants.no_dangling_edge,
    "no_self_edge": invariants.no_self_edge,
    "no_repeated_edge": invariants.no_repeated_edge,
    "degrees_of_every_paper": invariants.degrees_of_every_paper,
    "degrees_agree_with_citations": lambda lake: invariants.degrees_agree_with_citations(lake, CORE),
    "core_flags_agree_with_thresholds": lambda lake: invariants.core_flags_agree_with_thresholds(lake, CORE),
    "core_papers_are_the_core": invariants.core_papers_are_the_core,
    "core_citations_are_inside_the_core": invariants.core_citations_are_inside_the_core,
}
Change = Callable[[pl.DataFrame], pl.DataFrame]
VERSIONS, WITHDRAWALS = "versions_lead_to_what_stands_for_the_work", "withdrawals_and_notices_are_papers"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return good_lake(tmp_path / "lake")


def only(record: str, **values: object) -> Change:
    """Change these columns of one record, paper or citing paper."""

    def change(rows: pl.DataFrame) -> pl.DataFrame:
        name = next(column for column in ("record_id", "paper_id", "citing_id") if column in rows.columns)
        return rows.with_columns(
            pl.when(pl.col(name) == record).then(pl.lit(value, rows.schema[column])).otherwise(column).alias(column)
            for column, value in values.items()
        )

    return change


def without(column: str, value: str) -> Change:
    return lambda rows: rows.filter(pl.col(column) != value)


def plus(name: str, **row: object) -> Change:
    return lambda rows: pl.concat([rows, frame_of(name, [row])])


@pytest.mark.parametrize("name", WHOLE)
def test_a_good_lake_passes(lake: Lake, name: str) -> None:
    found = WHOLE[name](lake)
    assert found.passed, found
    assert found.name == name
    assert found.counted > 0


@pytest.mark.parametrize(
    ("name", "table", "change", "example"),
    [
        ("every_record_has_a_paper", "identities", without("record_id", "p3"), {"record_id": "p3", "lines": 1, "copies": 0}),
        ("every_record_has_a_paper", "records", without("record_id", "p3"), {"record_id": "p3", "lines": 0, "copies": 1}),
        ("every_record_has_a_paper", "dump_manifest", without("dump_part", OTHER), {"record_id": "p2", "lines": 0}),
        ("every_record_has_a_paper", "identities", only("p3", copies=2), {"record_id": "p3", "lines": 1, "copies": 2}),
        ("one_paper_per_record_id", "identities", only("p3", is_current=False), {"record_id": "p3", "current": 0}),
        (
            "one_paper_per_record_id",
            "identities",
            lambda rows: pl.concat(
                [
                    rows,
                    rows.filter(pl.col("record_id") == "p3").with_columns(
                        content_hash=pl.lit(7, pl.Int64), is_current=False, paper_key=pl.lit(9, pl.Int64)
                    ),
                ]
            ),
            {"record_id": "p3", "papers": 2},
        ),
        ("one_paper_per_doi", "identities", only("p2", paper_id="p2"), {"doi": "10.1/x", "papers": 2, "not_flagged": 2}),
        ("one_paper_per_doi", "identities", only("p4", flags=[]), {"doi": "10.1/book", "not_flagged": 1}),
        ("representative_is_a_member", "identities", without("record_id", "p1"), {"paper_id": "p1", "resolved": None}),
        (VERSIONS, "work_versions", only("p5", version_of="p2"), {"paper_id": "p5", "fault": "is a version of what is no paper"}),
        (VERSIONS, "work_versions", only("p5", version_of="p5"), {"paper_id": "p5", "fault": "is a version of itself"}),
        (VERSIONS, "work_versions", only("p5", paper_id="zz"), {"paper_id": "zz", "fault": "is no paper of this shard"}),
        (
            VERSIONS,
            "work_versions",
            lambda rows: pl.concat([rows, rows.with_columns(paper_id=pl.lit("p4"), version_of=pl.lit("p5"))]),
            {"paper_id": "p5", "fault": "is a version of a version"},
        ),
        (WITHDRAWALS, "withdrawals", only("p5", notice_id="p2"), {"paper_id": "p5", "fault": "its notice is no paper"}),
        (WITHDRAWALS, "withdrawals", only("p5", notice_id="p5"), {"paper_id": "p5", "fault": "is its own notice"}),
        (WITHDRAWALS, "withdrawals", only("p5", paper_id="p2"), {"paper_id": "p2", "fault": "is no paper of this shard"}),
        ("no_self_edge", "citations", only("p1", cited_id="p1"), {"citing_id": "p1"}),
        ("no_dangling_edge", "citations", only("p1", cited_id="p2"), {"cited_id": "p2", "fault": "the cited paper does not exist"}),
        (
            "no_dangling_edge",
            "citations",
            only("p5", citing_id="zz"),
            {"citing_id": "zz", "fault": "the citing paper is not in this shard"},
        ),
        ("no_repeated_edge", "citations", lambda rows: pl.concat([rows, rows.head(1)]), {"times": 2}),
        ("degrees_of_every_paper", "degrees", without("paper_id", "p4"), {"paper_id": "p4", "fault": "has no degrees"}),
        (
            "degrees_agree_with_citations",
            "degrees",
            only("p3", in_degree=4, total_degree=4),
            {"paper_id": "p3", "in_degree": 4, "cited_by": 3},
        ),
        ("degrees_agree_with_citations", "degrees", only("p3", total_degree=4), {"paper_id": "p3", "total_degree": 4}),
        ("degrees_agree_with_citations", "citations", without("citing_id", "p5"), {"paper_id": "p3", "in_degree": 3, "cited_by": 2}),
        ("core_flags_agree_with_thresholds", "degrees", only("p3", is_core=False), {"paper_id": "p3"}),
        ("core_flags_agree_with_thresholds", "degrees", only("p5", reason="low_in"), {"paper_id": "p5", "reason": "low_in"}),
        ("core_papers_are_the_core", "core_papers", without("paper_id", "p1"), {"paper_id": "p1", "fault": "is not in core_papers"}),
        ("core_papers_are_the_core", "core_papers", only("p3", in_degree=9), {"paper_id": "p3", "in_degree": 9}),
        ("core_citations_are_inside_the_core", "core_citations", without("citing_id", "p1"), {"fault": "is not in core_citations"}),
        (
            "core_citations_are_inside_the_core",
            "core_citations",
            only("p1", cited_id="p4"),
            {"cited_id": "p4", "fault": "does not join two core papers"},
        ),
    ],
)
def test_a_broken_lake_fails_and_says_where(lake: Lake, name: str, table: str, change: Change, example: dict[str, object]) -> None:
    found = WHOLE[name](broken(lake, table, change))
    assert not found.passed
    assert any(example.items() <= dict(row).items() for row in found.examples), found.examples


def test_a_paper_in_another_shard_than_its_ids_is_found(lake: Lake) -> None:
    other = next(key for key in lake.shard_keys if key != lake.shard_of("p3"))
    found = invariants.papers_lie_in_their_shard(broken(lake, "identities", only("p3", shard=other)))
    assert found.examples == ({"paper_id": "p3", "shard": other, "own": lake.shard_of("p3")},)


def test_one_doi_on_a_chapter_and_its_book_is_no_fault_once_both_are_flagged(lake: Lake) -> None:
    assert invariants.one_paper_per_doi(lake).facts["flagged_conflicts"] == 1


def test_records_without_doi_share_no_doi(lake: Lake) -> None:
    broken(lake, "records", lambda rows: rows.with_columns(doi=pl.lit(None, pl.String)))
    found = invariants.one_paper_per_doi(lake)
    assert (found.passed, found.counted) == (True, 0)


def test_a_shard_that_came_out_empty_fails_where_identities_gives_it_members(lake: Lake) -> None:
    shard = lake.shard_of("p3")
    assert invariants.papers_are_those_of_identities(lake, shard).passed
    broken(lake, "papers", without("shard", shard))
    found = invariants.papers_are_those_of_identities(lake, shard)
    assert found.failed == found.counted > 0
    assert {"paper_id": "p3", "fault": "is not in papers"} in found.examples


def test_an_empty_shard_that_identities_gives_no_members_is_no_fault(lake: Lake) -> None:
    shard = lake.shard_of("p3")
    for name in ("identities", "papers"):
        broken(lake, name, without("shard", shard))
    found = invariants.papers_are_those_of_identities(lake, shard)
    assert (found.passed, found.counted) == (True, 0)


def test_a_paper_that_identities_does_not_know_is_found(lake: Lake) -> None:
    shard = lake.shard_of("p3")
    broken(lake, "papers", plus("papers", paper_id="zz", shard=shard))
    assert invariants.papers_are_those_of_identities(lake, shard).examples == ({"paper_id": "zz", "fault": "is not in identities"},)


def test_a_merged_id_that_its_paper_forgot_is_found(lake: Lake) -> None:
    shard = lake.shard_of("p1")
    assert invariants.record_ids_resolve(lake, shard).passed
    broken(lake, "papers", only("p1", record_ids=["p1", "p9"]))
    faults = {(row["record_id"], row["fault"]) for row in invariants.record_ids_resolve(lake, shard).examples}
    assert faults == {("p2", "is not listed by the paper"), ("p9", "is not the paper's")}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"version_of": None}, "is a version of something else"),
        ({"version_of": "p1"}, "is a version of something else"),
        ({"withdrawal_notice": None}, "has another notice"),
        ({"withdrawn": False}, "does not say why it is withdrawn"),
        ({"withdrawn": False, "withdrawn_by": None}, "is not withdrawn, though a notice says so"),
    ],
)
def test_a_paper_that_does_not_bear_what_was_decided_is_found(lake: Lake, change: dict[str, object], fault: str) -> None:
    shard = lake.shard_of("p5")
    found = invariants.papers_bear_what_was_decided(lake, shard)
    assert (found.passed, found.facts["versions"], found.facts["withdrawn"]) == (True, 1, 1)
    broken(lake, "papers", only("p5", **change))
    assert invariants.papers_bear_what_was_decided(lake, shard).examples == ({"paper_id": "p5", "fault": fault},)


def test_outside_references_count_where_the_profile_says_so(lake: Lake) -> None:
    generous = CORE.model_copy(update={"count_outside_references": True})
    broken(lake, "degrees", only("p3", unresolved_references=5))
    assert not invariants.degrees_agree_with_citations(lake, generous).passed
    broken(lake, "degrees", only("p3", total_degree=8))
    assert invariants.degrees_agree_with_citations(lake, generous).passed

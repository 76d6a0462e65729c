"""The main job on the sample: what it makes, what it leaves alone, and what it does when the dump changes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import scholarlake
from scholarlake.errors import ScholarLakeError
from scholarlake.lake import receipts, releases
from scholarlake.lake.home import Lake
from scholarlake.lake.stages import STAGES
from tests.e2e.building import SAMPLE, contents, delta_versions, environment


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lake, Path]]:
    """The sample, built once for the tests that only look, and its dump folder."""
    folder = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCHOLARLAKE_MODELS", environment(folder)["SCHOLARLAKE_MODELS"])
        shutil.copytree(SAMPLE / "dumps", folder / "dumps")
        outcome = build(folder / "lake", folder / "dumps")
        assert not outcome.failed
        yield Lake.open(folder / "lake"), folder / "dumps"


def build(lake: Path, dumps: Path, **options: object):  # type: ignore[no-untyped-def]
    from pipelines import build as builder

    return builder.run(lake=lake, dumps=dumps, profile="sample", **options)  # type: ignore[arg-type]


def truth() -> dict:  # type: ignore[type-arg]
    return json.loads((SAMPLE / "truth.json").read_text())


def test_the_sample_becomes_what_its_generator_says_it_is(built: tuple[Lake, Path]) -> None:
    lake, _ = built
    counts = truth()["counts"]
    totals = lake.scan("degrees").select(pl.col("^.*_references$").sum()).collect().row(0, named=True)
    assert lake.scan("records").collect().height == counts["records"]
    assert lake.scan("rejects").collect().height == counts["rejects"]
    assert lake.scan("papers").collect().height == counts["papers"]
    assert lake.scan("citations").collect().height == counts["citations"]
    assert totals == {name: counts[name] for name in totals}
    core = truth()["core"][0]
    assert (core["min_total"], core["min_in"]) == (8, 3)
    assert lake.scan("core_papers").collect().height == core["papers"]
    assert lake.scan("core_citations").collect().height == core["citations"]


def test_every_true_cluster_is_one_paper(built: tuple[Lake, Path]) -> None:
    lake, _ = built
    identities = lake.scan("identities").collect()
    found = {(edition, record): paper for edition, record, paper in identities.select("edition", "record_id", "paper_id").iter_rows()}
    for cluster in truth()["clusters"]:
        assert {found[(edition, record)] for edition, record in cluster["records"]} == {cluster["paper_id"]}, cluster["kind"]
    for group in truth()["apart"]:
        assert len({paper for _, paper in found.items() if paper in group["papers"]}) == len(group["papers"]), group["kind"]
    flagged = set(identities.filter(pl.col("flags").list.contains("doi_conflict"))["paper_id"])
    assert flagged == {paper for conflict in truth()["doi_conflicts"] for paper in conflict["papers"]}


def test_the_release_can_be_read_through_its_door(built: tuple[Lake, Path]) -> None:
    lake, _ = built
    with scholarlake.open(lake.root) as reader:
        papers = reader.table("papers").collect()
        first = papers.row(0, named=True)
        assert reader.paper(first["paper_id"]).title == first["title"]
        assert reader.search(first["title"], k=1)[0].paper.paper_id == first["paper_id"]
        merged = papers.filter(pl.col("record_ids").list.len() > 1).row(0, named=True)
        assert {reader.paper(alias).paper_id for alias in merged["record_ids"]} == {merged["paper_id"]}


def test_all_blocking_checks_passed_on_what_is_released(built: tuple[Lake, Path]) -> None:
    lake, _ = built
    for name, stage in STAGES.items():
        for receipt in receipts.read_all(lake, name):
            outcomes = receipts.checks(lake, name, receipt.partition)
            assert {check for check in stage.blocking if not outcomes[check].passed} == set(), (name, receipt.partition)


def test_building_again_runs_nothing_and_writes_nothing(built: tuple[Lake, Path]) -> None:
    lake, dumps = built
    before = delta_versions(lake), releases.names(lake)
    again = build(lake.root, dumps)
    assert (again.ran, again.failed) == ([], [])
    assert (delta_versions(lake), releases.names(lake)) == before


def test_parts_changed_added_and_removed_end_in_the_lake_that_a_fresh_build_makes(built: tuple[Lake, Path], tmp_path: Path) -> None:
    source, source_dumps = built
    lake = tmp_path / "lake"
    shutil.copytree(source.root, lake)
    dumps = tmp_path / "dumps"
    shutil.copytree(source_dumps, dumps)
    old = scholarlake.open(lake, release="r0001")
    seen = old.table("papers").collect()

    edited = dumps / "v3.2" / "v3.2_oag_publication_1.json"
    lines = edited.read_bytes().splitlines(keepends=True)
    edited.write_bytes(
        b"".join(lines[:-5]) + b'{"id": "new-one", "title": "A paper that was not there before", "year": 2024, "references": []}\n'
    )
    (dumps / "v3.1" / "v3.1_oag_publication_2.json.zst").unlink()
    (dumps / "v3.2" / "more.json").write_bytes(b"".join(lines[-5:]))

    refreshed = build(lake, dumps)
    assert not refreshed.failed
    read = {step.partition for step in refreshed.ran if step.asset == "records"}
    assert read == {"v3.2/v3.2_oag_publication_1.json", "v3.2/more.json"}, "only parts whose bytes changed are read"

    fresh = build(tmp_path / "fresh", dumps)
    assert not fresh.failed
    assert contents(Lake.open(lake)) == contents(Lake.open(tmp_path / "fresh"))

    assert old.table("papers").collect().equals(seen), "a reader who had the old release open never notices"
    assert scholarlake.open(lake).release.previous == "r0001"


def test_a_dump_of_one_line_becomes_a_release(tmp_path: Path, built: tuple[Lake, Path]) -> None:
    (tmp_path / "dumps").mkdir()
    (tmp_path / "dumps" / "one.json").write_text(
        '{"id": 1, "title": "The only paper there is", "abstract": "It says little.", "year": 2020}'
    )
    outcome = build(tmp_path / "lake", tmp_path / "dumps")
    assert (outcome.failed, outcome.release) == ([], "r0001")
    with scholarlake.open(tmp_path / "lake") as reader:
        assert [hit.paper.paper_id for hit in reader.search("only paper", k=5)] == ["1"]
        assert len(reader.citations("1")) == 0


def test_a_part_that_is_cut_off_fails_alone_and_nothing_is_released(tmp_path: Path, built: tuple[Lake, Path]) -> None:
    dumps = tmp_path / "dumps"
    shutil.copytree(built[1], dumps)
    packed = dumps / "v3.1" / "v3.1_oag_publication_1.json.gz"
    packed.write_bytes(packed.read_bytes()[:-2_000])
    outcome = build(tmp_path / "lake", dumps)
    assert [failure.where for failure in outcome.failed] == ["records [v3.1/v3.1_oag_publication_1.json.gz]"]
    assert {step.partition for step in outcome.ran if step.asset == "records"} == {
        "v3.1/v3.1_oag_publication_2.json.zst",
        "v3.1/v3.1_oag_publication_3.json.gz",
        "v3.2/v3.2_oag_publication_1.json",
    }
    assert releases.names(Lake.open(tmp_path / "lake")) == []


def test_stopping_at_an_asset_makes_what_it_needs_and_no_more(tmp_path: Path, built: tuple[Lake, Path]) -> None:
    outcome = build(tmp_path / "lake", built[1], to="identities")
    assert {step.asset for step in outcome.ran} == {"dump_manifest", "records", "identities"}
    with pytest.raises(ScholarLakeError, match="no asset 'identitys'"):
        build(tmp_path / "lake", built[1], to="identitys")

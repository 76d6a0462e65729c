"""Collections in a whole lake: a new file is chosen alone, a bad one changes nothing, and the release holds what was chosen."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import scholarlake
from pipelines import build as builder
from pipelines.refresh import Refresh
from scholarlake.corpus.selection.definition import CollectionError
from scholarlake.lake import receipts, releases
from scholarlake.lake.home import Lake
from scholarlake.lake.stages import COLLECTION, STAGES
from tests.e2e.building import ROOT, SAMPLE, command, contents, delta_versions, environment

ORGANIZED = {name for name, stage in STAGES.items() if stage.partitions == COLLECTION and not stage.observed}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The sample, built with the project's own collections, in a folder beside a copy of their files."""
    folder = tmp_path_factory.mktemp("built")
    shutil.copytree(ROOT / "data" / "collections", folder / "collections")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCHOLARLAKE_MODELS", environment(folder)["SCHOLARLAKE_MODELS"])
        patch.setenv("SCHOLARLAKE_COLLECTIONS", str(folder / "collections"))
        assert not build(folder).failed
        yield folder


@pytest.fixture
def copied(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, to be changed by a test."""
    shutil.copytree(built / "lake", tmp_path / "lake")
    shutil.copytree(built / "collections", tmp_path / "collections")
    monkeypatch.setenv("SCHOLARLAKE_COLLECTIONS", str(tmp_path / "collections"))
    return tmp_path


def build(folder: Path) -> Refresh:
    return builder.run(lake=folder / "lake", dumps=SAMPLE / "dumps", profile="sample")


def made(outcome: Refresh) -> list[str]:
    assert not outcome.failed
    return [step.asset for step in outcome.ran]


def observed(lake: Lake, name: str) -> dict[str | None, str]:
    return {receipt.partition: receipt.data_version for receipt in receipts.read_all(lake, name)}


def test_the_release_holds_the_collections_of_the_project(built: Path) -> None:
    with scholarlake.open(built / "lake") as reader:
        catalog = reader.table("collection_catalog").collect()
        members = reader.table("collections").collect()
        titles = reader.table("papers").select("paper_id", "title").collect()
    assert catalog["chosen"].to_list() == [members.filter(collection=name).height for name in catalog["collection"]]
    assert catalog["shortfall"].null_count() == catalog.height
    panorama = members.filter(collection="panorama").sort("rank")
    assert panorama["role"].value_counts().sort("role").rows() == [("anchor", 18), ("representative", 72)]
    computing = members.filter(collection="computing", role="quota")
    assert set(computing["topic"].value_counts()["count"]) == {8}
    strings = members.filter(collection="strings").join(titles, on="paper_id").sort("rank")
    assert strings.height == 40
    assert strings["title"][0].lower().count("string") + strings["title"][0].lower().count("brane") > 0


def assert_only_what_follows(made: list[str]) -> None:
    """The collections, documents and facts of papers that were chosen or dropped, what is made and read of those, and a release."""
    first, *between, release, diff = made
    assert (first, release, diff) == ("collections", "release", "release_diff")
    of_facts = {"fact_catalog", *ORGANIZED, "syntheses", "knowledge_index", "registry", "questions", "rubrics"}
    assert set(between) <= {"documents", "sentences", "facts", *of_facts}


def test_a_new_file_is_chosen_alone_and_reported_to_its_shards_alone(copied: Path) -> None:
    lake = Lake.open(copied / "lake")
    before, shards = lake.scan("collections").collect(), observed(lake, "selected_papers")
    known = set(before["paper_id"])
    new = next(name for name in sorted(lake.scan("papers").collect()["paper_id"]) if name not in known)
    (copied / "collections" / "mine.yaml").write_text(f"title: Mine\nabout: One paper\nwhere: {{ids: ['{new}']}}\n")
    outcome = build(copied)
    assert_only_what_follows(made(outcome))
    assert [step.partition for step in outcome.ran if step.asset == "knowledge_index"] == ["mine"], "the other indices stay"
    after = lake.scan("collections").collect()
    assert after.filter(collection="mine")["paper_id"].to_list() == [new]
    assert after.filter(pl.col("collection") != "mine").sort("collection", "rank").equals(before.sort("collection", "rank"))
    changed = {shard for shard, version in observed(lake, "selected_papers").items() if shards[shard] != version}
    assert changed == {lake.shard_of(new)}
    assert set(observed(lake, "collection_members")) == {"computing", "mine", "panorama", "strings"}
    assert "chosen_anew" in str(receipts.read(lake, "collections").facts)  # type: ignore[union-attr]
    assert receipts.read(lake, "collections").facts["chosen_anew"] == ["mine"]  # type: ignore[union-attr]


def test_the_layers_of_a_collection_are_read_through_the_release(built: Path) -> None:
    with scholarlake.open(built / "lake") as reader:
        assert reader.collections == ("computing", "panorama", "strings")
        strings = reader.knowledge("strings", chain="e2e", stage="read")
        assert len(strings.papers) == 40
        facts = reader.table("facts").filter(pl.col("paper_id").is_in(list(strings.papers))).collect()
        assert strings.counts["fact"] == facts.height + reader.table("attended_facts").filter(collection="strings").collect().height
        view = strings.retrieve("string theory", 8, kinds=["fact"])
        assert len(view) == 8
        evidence = {name for item in view if item.kind == "fact" for name in item.evidence}
        assert evidence <= set(strings.expand(view, "evidence").ids)
        assert {one for claim in strings.synthesize(view).claims for one in claim.cites} <= set(view.ids)
        assert len(strings.compare(view).rows) == 8


def test_a_file_that_is_gone_takes_its_collection_along_and_an_old_release_keeps_it(copied: Path) -> None:
    lake = Lake.open(copied / "lake")
    old = scholarlake.open(copied / "lake")
    (copied / "collections" / "strings.yaml").unlink()
    assert_only_what_follows(made(build(copied)))
    assert set(lake.scan("collections").collect()["collection"]) == {"computing", "panorama"}
    assert set(observed(lake, "collection_members")) == {"computing", "panorama"}
    assert set(observed(lake, "collection_file")) == {"computing", "panorama"}
    assert old.table("collections").filter(collection="strings").collect().height == 40


def test_files_added_changed_and_removed_end_in_the_collections_of_a_fresh_build(copied: Path, tmp_path: Path) -> None:
    files = copied / "collections"
    (files / "computing.yaml").write_text((files / "computing.yaml").read_text().replace("quota: 8", "quota: 5"))
    (files / "strings.yaml").unlink()
    (files / "young.yaml").write_text("title: Young\nabout: x\nwhere: {years: {from: 2020}}\n")
    build(copied)
    shutil.rmtree(copied / "lake" / "spool")
    (tmp_path / "fresh").mkdir()
    assert not builder.run(lake=tmp_path / "fresh" / "lake", dumps=SAMPLE / "dumps", profile="sample").failed
    assert contents(Lake.open(copied / "lake")) == contents(Lake.open(tmp_path / "fresh" / "lake"))


def test_a_comment_in_a_file_is_looked_at_and_changes_nothing(copied: Path) -> None:
    lake = Lake.open(copied / "lake")
    before = delta_versions(lake)
    with (copied / "collections" / "strings.yaml").open("a") as file:
        file.write("# a comment\n")
    assert made(build(copied)) == ["collections"], "the release says the same"
    assert (delta_versions(lake), releases.names(lake)) == (before, ["r0001"])


def test_a_bad_file_is_refused_in_one_line_before_anything_is_changed(copied: Path, tmp_path: Path) -> None:
    lake = Lake.open(copied / "lake")
    before = (delta_versions(lake), observed(lake, "collection_file"))
    (copied / "collections" / "mine.yaml").write_text("title: Mine\nabout: x\nwhere: {years: {from: 1}}\n")
    with pytest.raises(CollectionError, match=r"mine.yaml: where.years.from: .*greater than or equal to 1000"):
        build(copied)
    assert (delta_versions(lake), observed(lake, "collection_file")) == before
    env = {**environment(tmp_path), "SCHOLARLAKE_COLLECTIONS": str(copied / "collections")}
    ended = command("build", "--lake", tmp_path / "new", "--dumps", SAMPLE / "dumps", env=env)
    assert (ended.code, len(ended.err.strip().splitlines())) == (1, 1)
    assert not list((tmp_path / "new").rglob("*.parquet"))


def test_the_command_line_lists_collections_and_what_was_chosen_for_one(built: Path, tmp_path: Path) -> None:
    env = environment(tmp_path)
    listed = json.loads(command("collections", "--lake", built / "lake", "--json", env=env).out)
    assert [one["collection"] for one in listed] == ["computing", "panorama", "strings"]
    one = json.loads(command("collections", "panorama", "-k", "3", "--lake", built / "lake", "--json", env=env).out)
    assert [paper["role"] for paper in one["papers"]] == ["representative", "representative", "anchor"]
    shown = command("collections", "panorama", "-k", "3", "--lake", built / "lake", env=env)
    assert "3 of 90 papers" in shown.out
    assert one["papers"][2]["title"][:40] in shown.out
    unknown = command("collections", "nothing", "--lake", built / "lake", env=env)
    assert (unknown.code, unknown.err.strip()) == (1, "error: no collection 'nothing'; there are: computing, panorama, strings")

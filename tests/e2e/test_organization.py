"""Layer two in a whole lake: the sample organized, released, refreshed at the cost of what changed, and undone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import scholarlake
from pipelines import build as builder
from pipelines.refresh import Refresh
from scholarlake.knowledge.organization.taxonomy_file import TaxonomyError
from scholarlake.lake.home import Lake
from scholarlake.lake.stages import COLLECTION, STAGES
from tests.e2e.building import ROOT, SAMPLE, delta_versions, environment

ORGANIZED = [name for name, stage in STAGES.items() if stage.partitions == COLLECTION and not stage.observed]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The sample, built with one supplied and two prepared taxonomies, in a folder beside copies of their files."""
    folder = tmp_path_factory.mktemp("built")
    for name in ("collections", "taxonomies"):
        shutil.copytree(ROOT / "data" / name, folder / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCHOLARLAKE_MODELS", environment(folder)["SCHOLARLAKE_MODELS"])
        patch.setenv("SCHOLARLAKE_COLLECTIONS", str(folder / "collections"))
        assert not build(folder).failed
        yield folder


@pytest.fixture
def copied(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("lake", "collections", "taxonomies"):
        shutil.copytree(built / name, tmp_path / name)
    monkeypatch.setenv("SCHOLARLAKE_COLLECTIONS", str(tmp_path / "collections"))
    return tmp_path


def build(folder: Path) -> Refresh:
    return builder.run(lake=folder / "lake", dumps=SAMPLE / "dumps", profile="sample")


def made(outcome: Refresh) -> set[tuple[str, str | None]]:
    assert not outcome.failed
    return {(step.asset, step.partition) for step in outcome.ran if step.asset in ORGANIZED}


def test_a_release_holds_every_collection_organized(built: Path) -> None:
    with scholarlake.open(built / "lake") as reader:
        taxonomies = reader.table("taxonomies").collect()
        origins = dict(taxonomies.select("collection", "origin").unique().rows())
        assert origins == {"computing": "supplied", "panorama": "prepared", "strings": "prepared"}
        networks = reader.table("entities").filter(pl.col("keys").list.contains("graph neural network")).collect()
        assert networks.filter(collection="computing")["type"].to_list() == ["method"]
        families = reader.table("assignments").filter(pl.col("subject") == "graph neural networks").collect()
        assert set(families.filter(collection="computing")["category_id"]) == {"method-family/learned-representations"}
        relations = reader.table("relations").collect()
        assert {"cites", "compared_against", "measured_by", "proposes"} <= set(relations["relation"])


def test_nothing_changed_is_nothing_made(copied: Path) -> None:
    before = delta_versions(Lake.open(copied / "lake"))
    assert made(build(copied)) == set()
    assert delta_versions(Lake.open(copied / "lake")) == before


def test_a_ruling_changes_its_collection_alone_and_taken_back_leaves_what_was_before(copied: Path) -> None:
    lake = Lake.open(copied / "lake")
    before = lake.scan("entities").collect().sort("entity_id")
    file = copied / "taxonomies" / "panorama.yaml"
    file.write_text("entities: {same: [[spatial regression, data assimilation]]}\n")
    stages = made(build(copied))
    assert {partition for _, partition in stages} == {"panorama"}
    merged = lake.scan("entities").filter(pl.col("rules").list.contains("ruling")).collect()
    assert merged["keys"].to_list() == [["data assimilation", "spatial regression"]]
    file.unlink()
    build(copied)
    assert lake.scan("entities").collect().sort("entity_id").equals(before)


def test_a_bad_taxonomy_is_refused_in_one_line_before_anything_is_changed(copied: Path) -> None:
    before = delta_versions(Lake.open(copied / "lake"))
    (copied / "taxonomies" / "strings.yaml").write_text("dimensions: [{name: theory, categories: [{name: gauge}]}]\n")
    with pytest.raises(TaxonomyError, match=r"^strings.yaml: dimension 'theory': category 'gauge': it has no criterion"):
        build(copied)
    assert delta_versions(Lake.open(copied / "lake")) == before


def test_a_collection_that_is_gone_leaves_nothing_organized(copied: Path) -> None:
    (copied / "collections" / "strings.yaml").unlink()
    build(copied)
    lake = Lake.open(copied / "lake")
    for name in ORGANIZED:
        for table in STAGES[name].tables:
            assert "strings" not in lake.scan(table).collect()["collection"].to_list(), table

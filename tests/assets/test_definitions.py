"""The code location: every stage is an asset with its words, versions and checks, and every number in its metadata is plain."""

from __future__ import annotations

import json
from pathlib import Path

import dagster as dg
import numpy as np
import pytest

from assets.stage import plain
from checks import ALL_CHECKS
from pipelines.definitions import definitions
from pipelines.project import DATA, Places
from scholarlake.lake import contracts
from scholarlake.lake.stages import BATCH, COLLECTION, PART, SHARD, STAGES


@pytest.fixture
def repository(tmp_path: Path) -> dg.RepositoryDefinition:
    return definitions(places(tmp_path)).get_repository_def()


def places(folder: Path, profile: str = "sample") -> Places:
    return Places(lake=folder / "lake", dumps=folder / "dumps", profile=profile, models=DATA / "models.yaml")


def test_every_stage_is_an_asset_and_every_asset_a_stage(repository: dg.RepositoryDefinition) -> None:
    graph = repository.asset_graph
    assert {key.to_user_string() for key in graph.get_all_asset_keys()} == set(STAGES)
    for name, stage in STAGES.items():
        node = graph.get(dg.AssetKey(name))
        assert {key.to_user_string() for key in node.parent_keys} == set(stage.deps)
        assert node.group_name == stage.group
        assert node.description
        assert node.owners
        assert node.is_materializable != stage.observed


def test_partitions_are_as_designed(repository: dg.RepositoryDefinition) -> None:
    for name, stage in STAGES.items():
        found = repository.asset_graph.get(dg.AssetKey(name)).partitions_def
        if stage.partitions in (PART, COLLECTION):
            assert isinstance(found, dg.DynamicPartitionsDefinition)
            assert found.name == stage.partitions
        elif stage.partitions == SHARD:
            assert found is not None
            assert found.get_partition_keys() == ["00", "01", "02", "03"]
        elif stage.partitions == BATCH:
            assert found is not None
            assert found.get_partition_keys() == ["test-00", "validation-00", "train-00", "train-01"]
        else:
            assert found is None


def test_every_table_is_written_by_one_stage_and_shows_its_columns(repository: dg.RepositoryDefinition) -> None:
    written = [table for stage in STAGES.values() for table in stage.tables]
    by_readers = ["kept_views"]  # whoever keeps a view writes it, beside all builds
    assert sorted([*written, *by_readers]) == sorted(contracts.TABLES)
    for stage in STAGES.values():
        if stage.tables:
            schema = repository.asset_graph.get(dg.AssetKey(stage.name)).metadata["dagster/column_schema"]
            assert [column.name for column in schema.columns] == list(contracts.table(stage.tables[0]).columns)


def test_a_changed_threshold_changes_the_code_version_of_what_depends_on_it_alone(tmp_path: Path) -> None:
    profile = tmp_path / "stricter.yaml"
    profile.write_text((DATA / "profiles" / "sample.yaml").read_text().replace("min_in: 3", "min_in: 4"))
    before, after = (definitions(places(tmp_path, name)).get_repository_def().asset_graph for name in ("sample", str(profile)))
    changed = {name for name in STAGES if before.get(dg.AssetKey(name)).code_version != after.get(dg.AssetKey(name)).code_version}
    assert changed == {"degrees"}


def test_there_is_a_job_for_every_stage_and_one_for_all(repository: dg.RepositoryDefinition) -> None:
    made = {f"make_{name}" for name, stage in STAGES.items() if not stage.observed}
    assert made | {"corpus_refresh"} <= {job.name for job in repository.get_all_jobs()}


def test_every_check_is_on_a_stage_and_blocks_as_the_graph_says(repository: dg.RepositoryDefinition) -> None:
    found = {(key.asset_key.to_user_string(), key.name) for key in repository.asset_graph.asset_check_keys}
    assert found == {(asset, check.name) for asset, checks in ALL_CHECKS.items() for check in checks}
    for name, stage in STAGES.items():
        assert stage.blocking == tuple(check.name for check in ALL_CHECKS.get(name, ()) if check.blocking)


def test_looking_at_the_definitions_makes_nothing(tmp_path: Path) -> None:
    definitions(places(tmp_path)).get_repository_def()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.int64(7), 7),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (float("nan"), None),
        (np.float64("inf"), None),
        ({"a": np.int32(1), "b": [np.nan, 2.0]}, {"a": 1, "b": [None, 2.0]}),
        ("text", "text"),
        (None, None),
    ],
)
def test_numbers_in_metadata_are_plain_and_finite_or_null(value: object, shown: object) -> None:
    assert plain(value) == shown
    assert type(plain(value)) is type(shown)
    json.dumps(plain(value), allow_nan=False)

"""What Dagster makes of the checks: a partition's failure stays its own, blocks what is below it, and is kept for the release."""

# No postponed annotations here: Dagster reads those of an asset as objects.

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from assets.partitions import partitions_of
from checks import ALL_CHECKS, all_checks, blocking
from checks.check import Check, Subject, checks_on, metadata_of, run_check
from resources.lake import LakeResource
from scholarlake.lake import receipts
from scholarlake.lake.contracts import TABLES
from scholarlake.lake.findings import Finding
from scholarlake.lake.home import Lake
from scholarlake.lake.stages import STAGES, Settings
from scholarlake.profile import Profile
from tests.assets.checked_lake import PROFILE, broken, good_lake

SETTINGS = Settings(PROFILE, "m")


class Given(LakeResource):
    """The lake of a test, with the profile of a test."""

    def profile(self) -> Profile:
        return PROFILE


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return good_lake(tmp_path / "lake")


def resource(lake: Lake) -> LakeResource:
    return Given(lake=str(lake.root), dumps="", profile_name="", profiles="", models="")


def made(lake: Lake, asset: str, partition: str | None, data_version: str = "v1", facts: dict[str, Any] | None = None) -> None:
    begun = receipts.begin(lake, asset, partition, code_version="1", inputs={}, run_id="run")
    receipts.finish(lake, begun, data_version=data_version, facts=facts)


def run(lake: Lake, instance: dg.DagsterInstance, shard: str, reached: list[str]) -> dg.ExecuteInProcessResult:
    """Papers (as they lie there), their checks, and something below them."""
    shards = partitions_of("shard", PROFILE)

    @dg.asset(name="papers", partitions_def=shards)
    def papers() -> None: ...

    @dg.asset(deps=["papers"], partitions_def=shards)
    def below(context: dg.AssetExecutionContext) -> None:
        reached.append(context.partition_key)

    checks = checks_on("papers", ALL_CHECKS["papers"], SETTINGS)
    return dg.materialize(
        [papers, below, checks], partition_key=shard, instance=instance, resources={"lake": resource(lake)}, raise_on_error=False
    )


def test_a_shard_that_fails_blocks_what_is_below_it_even_after_another_passed(lake: Lake) -> None:
    empty = lake.shard_of("p3")
    full = next(key for key in lake.shard_keys if key != empty)
    broken(lake, "papers", lambda rows: rows.filter(pl.col("shard") != empty))
    for shard in (empty, full):
        made(lake, "papers", shard)
    reached: list[str] = []
    with dg.DagsterInstance.ephemeral() as instance:
        first, second, third = (run(lake, instance, shard, reached) for shard in (empty, full, empty))
        said = {
            shard: instance.event_log_storage.get_asset_check_partition_info(
                [dg.AssetCheckKey(dg.AssetKey("papers"), "papers_are_those_of_identities")], partition_keys=[shard]
            )[0].latest_planned_run_id
            for shard in lake.shard_keys
        }
    assert (first.success, second.success, third.success) == (False, True, False)
    assert reached == [full]
    assert said == {empty: third.run_id, full: second.run_id}, "the newest result of one shard is no other's"
    evaluations = {found.asset_check_key.name: found for found in first.get_asset_check_evaluations()}
    failed = evaluations["papers_are_those_of_identities"]
    assert (failed.passed, failed.severity, failed.blocking, failed.partition) == (False, dg.AssetCheckSeverity.ERROR, True, empty)
    assert "is not in papers" in str(failed.metadata["examples"].value)


def test_an_outcome_is_kept_with_the_version_that_it_is_about(lake: Lake) -> None:
    shard = lake.shard_of("p3")
    made(lake, "papers", shard, "v7")
    with dg.DagsterInstance.ephemeral() as instance:
        assert run(lake, instance, shard, []).success
    kept = receipts.checks(lake, "papers", shard)
    assert set(kept) == {check.name for check in ALL_CHECKS["papers"]}
    assert {(outcome.passed, outcome.blocking, outcome.data_version) for outcome in kept.values()} == {(True, True, "v7")}


@pytest.mark.parametrize(
    ("facts", "passes"), [({"lines": 4, "uncompressed_bytes": 313}, True), ({"lines": 5, "uncompressed_bytes": 313}, False), ({}, False)]
)
def test_what_the_reader_counted_comes_from_the_receipt(lake: Lake, facts: dict[str, int], passes: bool) -> None:
    made(lake, "records", "a.jsonl", facts=facts)
    subject = Subject(lake, PROFILE, "records", "a.jsonl", receipts.read(lake, "records", "a.jsonl"))
    check = next(check for check in ALL_CHECKS["records"] if check.name == "nothing_lost")
    assert run_check(check, subject).passed is passes


def test_too_many_rejects_warn_and_only_far_too_many_block(lake: Lake) -> None:
    made(lake, "records", "a.jsonl")
    subject = Subject(lake, PROFILE, "records", "a.jsonl", receipts.read(lake, "records", "a.jsonl"))
    said = {
        check.name: run_check(check, subject) for check in ALL_CHECKS["records"] if check.name in ("few_rejects", "most_lines_are_records")
    }
    assert (said["few_rejects"].passed, said["few_rejects"].severity) == (False, dg.AssetCheckSeverity.WARN)
    assert said["most_lines_are_records"].passed
    assert "few_rejects" not in blocking("records")
    assert "most_lines_are_records" in blocking("records")


def test_metadata_is_plain_finite_numbers_and_a_table_that_no_value_can_break() -> None:
    pl_float = pl.Series([1.5]).to_numpy()[0]
    finding = Finding("n", "c", 3, 1, ({"id": "a|b\nc", "n": float("nan")},), {"share": float("nan"), "x": pl_float, "none": None})
    known = metadata_of(finding, 0.123456)
    assert known["share"] == known["none"] == dg.MetadataValue.null()
    assert type(known["x"]) is float
    assert known["examples"].value.splitlines()[2] == "| a\\|b c |  |"
    assert dg.AssetCheckResult(passed=True, metadata=known).metadata["counted"].value == 3


def test_every_table_has_its_suite_on_the_asset_that_writes_it() -> None:
    for table in TABLES:
        writers = [stage.name for stage in STAGES.values() if table in stage.tables]
        assert [asset for asset in ALL_CHECKS if f"{table}_contract" in {check.name for check in ALL_CHECKS[asset]}] == writers


def test_checks_are_on_known_assets_under_names_of_their_own() -> None:
    assert set(ALL_CHECKS) <= set(STAGES)
    for checks in ALL_CHECKS.values():
        assert len({check.name for check in checks}) == len(checks)


@pytest.mark.parametrize("asset", ALL_CHECKS)
def test_a_release_asks_for_every_blocking_check(asset: str) -> None:
    assert set(STAGES[asset].blocking) == set(blocking(asset))


def test_checks_of_partitioned_assets_are_partitioned() -> None:
    for checks in all_checks(SETTINGS):
        for spec in checks.check_specs:
            assert (spec.partitions_def is None) == (STAGES[spec.asset_key.to_user_string()].partitions is None)


def test_a_check_that_raises_is_no_pass(lake: Lake) -> None:
    def fault(_: Subject) -> Finding:
        raise ValueError("broken")

    raising: Callable[[Subject], Finding] = fault
    made(lake, "citations", None)

    @dg.asset(name="citations")
    def citations() -> None: ...

    checks = checks_on("citations", [Check("raises", "It raises.", raising)], SETTINGS)
    result = dg.materialize([citations, checks], resources={"lake": resource(lake)}, raise_on_error=False)
    assert not result.success
    assert receipts.checks(lake, "citations", None) == {}

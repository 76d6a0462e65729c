"""What a person sees of the rejects in Dagster: the reasons as a table and a picture, and checks that warn or block."""

from pathlib import Path

import dagster as dg
import pytest

from assets.sources import observe_dump
from assets.stage import asset_for
from checks import ALL_CHECKS
from checks.check import checks_on
from resources.lake import LakeResource
from scholarlake.lake.stages import STAGES
from tests.e2e.building import HASHING

GOOD = b'{"id": "%d", "title": "A good line, the %dth"}\n'
BAD = {b"<b>|`\x1b[31m": "not_json", b"": "blank", b'{"id": "x", "ti': "truncated"}


def made(folder: Path, good: int, bad: list[bytes], **reading: float) -> dg.ExecuteInProcessResult:
    """The records of a part of so many good lines and those bad ones, with their checks, by Dagster."""
    (folder / "dumps").mkdir()
    (folder / "dumps" / "a.jsonl").write_bytes(b"".join(GOOD % (n, n) for n in range(good)) + b"\n".join(bad))
    (folder / "models.yaml").write_text(HASHING)
    settings = ", ".join(f"{name}: {value}" for name, value in reading.items())
    (folder / "one.yaml").write_text(f"shards: 1\nreading: {{workers: 1, {settings}}}")
    places = {"lake": folder / "lake", "dumps": folder / "dumps", "profile_name": folder / "one.yaml", "profiles": folder}
    resource = LakeResource(**{name: str(place) for name, place in places.items()}, models=str(folder / "models.yaml"))
    assets = [asset_for(STAGES["records"], resource.settings(), dg.AutomationCondition.eager())]
    checks = checks_on("records", ALL_CHECKS["records"], resource.settings())
    with dg.DagsterInstance.ephemeral() as instance:
        observe_dump(instance, resource)
        return dg.materialize(
            [*assets, checks], partition_key="a.jsonl", instance=instance, resources={"lake": resource}, raise_on_error=False
        )


def test_the_reasons_are_shown_as_a_table_and_a_picture(tmp_path: Path) -> None:
    (records,) = made(tmp_path, 9, list(BAD), reject_warn=1.0, reject_block=1.0).asset_materializations_for_node("records")
    table = records.metadata["rejects_by_reason"].value
    assert isinstance(table, str)
    assert {line.split(" | ")[0].strip("| ") for line in table.splitlines()[2:]} == set(BAD.values())
    assert "| not_json | 1 | 8.33% |" in table
    assert "&lt;b>\\|\\`\\x1b[31m" in table, "an excerpt is text, whatever is in it"
    assert "data:image/png;base64," in str(records.metadata["rejects"].value)


def test_a_part_without_rejects_shows_none(tmp_path: Path) -> None:
    (records,) = made(tmp_path, 9, []).asset_materializations_for_node("records")
    assert "rejects" in records.metadata
    assert records.metadata["rejects"].value == 0


@pytest.mark.parametrize(
    ("warn", "block", "failed"), [(1.0, 1.0, set()), (0.1, 1.0, {"few_rejects"}), (0.0, 0.1, {"few_rejects", "most_lines_are_records"})]
)
def test_the_thresholds_of_the_profile_decide_what_warns_and_what_blocks(
    tmp_path: Path, warn: float, block: float, failed: set[str]
) -> None:
    done = made(tmp_path, 9, [b"x", b"y", b"{}"], reject_warn=warn, reject_block=block)
    found = {check.check_name: check for check in done.get_asset_check_evaluations()}
    assert {name for name, check in found.items() if not check.passed} == failed
    assert found["few_rejects"].severity == dg.AssetCheckSeverity.WARN
    assert found["most_lines_are_records"].severity == dg.AssetCheckSeverity.ERROR
    for name in failed:
        assert found[name].metadata["to_see_them"].value == "scholarlake rejects --working --part a.jsonl"


def test_a_part_that_breaks_off_warns(tmp_path: Path) -> None:
    done = made(tmp_path, 900, [b'{"id": "x", "ti'], reject_warn=1.0, reject_block=1.0)
    found = {check.check_name: check for check in done.get_asset_check_evaluations()}
    assert not found["does_not_break_off"].passed
    assert found["does_not_break_off"].severity == dg.AssetCheckSeverity.WARN
    assert found["nothing_lost"].passed

"""What the commands of the README say where there is one release only, and where a build has failed."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from pipelines.refresh import Refresh
from pipelines.runner import Failed
from scholarlake import cli
from scholarlake.lake.stages import STAGES
from tests.unit.small_lake import make_lake, paper, release


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    made = make_lake(tmp_path / "lake", [paper("a", "Deep Learning"), paper("b", "Learning")], [("a", "b")])
    release(made)
    return made.root


def test_after_the_first_build_there_is_nothing_to_compare_yet_and_that_is_no_error(lake: Path) -> None:
    done = CliRunner().invoke(cli.app, ["diff", "--lake", str(lake)])
    assert (done.exit_code, "nothing to compare it with yet" in " ".join(done.stdout.split())) == (0, True)
    told = CliRunner().invoke(cli.app, ["diff", "--lake", str(lake), "--json"])
    assert (told.exit_code, json.loads(told.stdout)["before"], json.loads(told.stdout)["after"]) == (0, None, "r0001")


def test_a_failure_of_a_build_is_said_once_and_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(**_: Any) -> Refresh:
        return Refresh(failed=[Failed("records [a.gz]", "a.gz breaks off at byte 7", "run")], seconds=1.0)

    monkeypatch.setattr(cli, "_project", lambda _: SimpleNamespace(run=run, run_backfill=lambda *_, **more: run()))
    for command in (["build"], ["backfill", "records"]):
        done = CliRunner().invoke(cli.app, command)
        assert (done.exit_code, done.output.count("breaks off"), done.output.count("records [a.gz]")) == (1, 1, 1)


def test_the_readme_names_every_asset() -> None:
    said = (Path(__file__).parents[2] / "README.md").read_text()
    table = said[said.index("## What is made") : said.index("## Settings")]
    assert [name for name in STAGES if f"`{name}`" not in table] == []

"""`scholarlake tool` and `scholarlake tools`: JSON for whoever calls, words where something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from scholarlake.cli import app
from scholarlake.errors import ScholarLakeError
from scholarlake.toolbox.dispatch import TOOLS, functions
from tests.unit.toolbox.lakes import small


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small(tmp_path_factory.mktemp("small") / "lake").root


def tool(lake: Path, *given: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["tool", *given, "--lake", str(lake)], input=stdin)


def test_a_tool_prints_its_answer(lake: Path) -> None:
    done = tool(lake, "PaperInfo", '{"id": "p1"}')
    assert (done.exit_code, json.loads(done.stdout)["result"]["title"]) == (0, "Deep Learning")
    read = tool(lake, "PaperInfo", "-", stdin='{"title": "深度学习综述"}')
    assert json.loads(read.stdout)["result"]["id"] == "s"


def test_an_error_is_an_answer_and_the_command_fails(lake: Path) -> None:
    for given in (("GetKhop", '{"id": "t", "k": 0}'), ("Nothing", "{}"), ("PaperInfo", '"p1"'), ("GetKhop", '{"id": "t", "k": NaN}')):
        done = tool(lake, *given)
        assert done.exit_code == 1
        assert json.loads(done.stdout)["error"]["advice"]
        assert json.loads(done.stdout)["tool_name"] == given[0]


def test_arguments_that_are_no_json_and_a_release_that_is_not_there_are_one_line(lake: Path, tmp_path: Path) -> None:
    for done in (tool(lake, "PaperInfo", "{id: p1}"), tool(tmp_path / "none", "PaperInfo", "{}"), tool(lake, "PaperInfo", "[" * 100_000)):
        assert done.exit_code == 1
        assert isinstance(done.exception, ScholarLakeError)
        assert "\n" not in str(done.exception)


def test_the_tools_are_listed_for_a_person_and_for_a_program() -> None:
    shown = CliRunner().invoke(app, ["tools"])
    assert all(name in shown.stdout for name in TOOLS)
    assert json.loads(CliRunner().invoke(app, ["tools", "--json"]).stdout) == functions()

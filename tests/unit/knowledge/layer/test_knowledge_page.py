"""What docs/knowledge.md shows runs, and what it lists is what there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import scholarlake
from scholarlake.cli import app
from scholarlake.knowledge.layer.contents import KINDS
from scholarlake.knowledge.layer.expanding import WAYS
from scholarlake.knowledge.layer.selecting import Constraints
from scholarlake.lake.home import Lake
from tests.unit.knowledge.layer.battery import all_tables, made, released

PAGE = (Path(__file__).parents[4] / "docs" / "knowledge.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with all_tables():
        yield released(made(tmp_path_factory.mktemp("page") / "lake"))


def test_the_session_of_the_page_runs(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"scholarlake": scholarlake}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block.replace('"data/lake"', repr(str(lake.root))), names)
    shown = capsys.readouterr().out
    assert "kept as 'peak temperatures' on r0001, opened on r0001; nothing in it changed since" in shown
    assert "| 1 | 2 C discharge | 41.5 °C |" in shown
    assert "[p2] Immersion cooling at high discharge rates (2020)" in shown


def test_the_commands_of_the_page_run(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```\n(scholarlake knowledge .*?)```", PAGE, re.DOTALL)
    for line in block.strip().splitlines():
        command, _, file = line.removeprefix("scholarlake ").partition(" > ")
        words = [quoted or word for quoted, word in re.findall(r'"([^"]*)"|(\S+)', command)]
        done = CliRunner().invoke(app, [*words, "--lake", str(lake.root)])
        assert done.exit_code == 0, (line, done.exception)
        if file:
            Path(file).write_text(done.stdout, encoding="utf-8")


def test_the_page_lists_all_kinds_constraints_and_ways() -> None:
    assert all(f"`{name}`" in PAGE for name in (*KINDS, *Constraints.model_fields, *WAYS))

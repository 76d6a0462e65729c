"""`scholarlake inspect` and `scholarlake rejects` as a person and a program meet them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scholarlake import cli
from scholarlake.lake.home import Lake
from tests.unit.sources.test_ingest import RUN, SMALL, ingest_part, lines_of, part_of

STEERING = b'\n{"id": "x", "title": "\x1b[31mred\x07", half'


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Ended]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """The command line in this process."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["scholarlake", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        told = capfd.readouterr()
        return Ended(int(ended.value.code or 0), told.out, told.err)

    return run


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    lake = Lake.create(tmp_path / "lake", 2)
    ingest_part(lake, part_of(tmp_path, lines_of(30) + STEERING, "v1/a.json"), SMALL, RUN)
    return lake.root


def test_a_file_is_shown_with_counts_fields_and_three_records(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(lines_of(30) + STEERING)
    ended = command("inspect", tmp_path / "a.json")
    assert (ended.code, ended.err) == (0, "")
    for said in ("oag-jsonl", "30 records and 4 rejects (11.8 %) of 34", "truncated", "Paper 2 on something", "references", "100 %"):
        assert said in ended.out
    assert "\\x1b[31mred\\x07" in ended.out
    assert "\x1b" not in ended.out
    found = command("inspect", tmp_path / "a.json", "--json").json
    assert [(one["kind"], one["records"], one["rejects"]) for one in found] == [("dump", 30, 4)]
    assert found[0]["fields"]["title"] == {"records": 30, "per_cent": 100.0, "items": None}
    assert len(found[0]["examples"]) == 3


def test_a_file_that_cannot_be_read_is_one_line_and_a_code(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(range(256)))
    for where in (tmp_path / "a.bin", tmp_path / "none", "ftp://x/y"):
        ended = command("inspect", where)
        assert (ended.code, ended.out, len(ended.err.strip().splitlines())) == (1, "", 1)


def test_a_folder_is_a_line_a_file_and_a_code_where_one_cannot_be_read(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(lines_of(5))
    (tmp_path / "b.md").write_text("# A title\n\n## Introduction\n\nSome text. And more of it.\n")
    (tmp_path / "c.bin").write_bytes(bytes(range(256)))
    ended = command("inspect", tmp_path)
    assert ended.code == 1
    assert "3 files; 5 records and 3 rejects in 1 of them; 1 document with 2 sentences in 1; 1 can't be read" in ended.out
    assert len(ended.err.strip().splitlines()) == 1


def test_rejects_of_the_tables_at_work_are_listed_and_cannot_steer_the_terminal(command: Command, lake: Path) -> None:
    ended = command("rejects", "--lake", lake, "--working")
    assert (ended.code, ended.err) == (0, "")
    assert "4 rejects of 34 lines (11.8 %)" in ended.out
    assert "\\x1b[31mred\\x07" in ended.out
    assert "\x1b" not in ended.out
    found = command("rejects", "--lake", lake, "--working", "--json", "--reason", "truncated", "--limit", "1").json
    assert (found["of"], found["total"], len(found["rows"])) == ("the tables at work", 2, 1)
    assert found["rows"][0]["excerpt"] == '{"id": "x", "tit'


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--working", "--part", "b"], "there are: v1/a.json"),
        (["--working", "--reason", "b"], "there are: array_not_closed"),
        ([], "--working"),
    ],
)
def test_what_is_not_there_is_one_line_and_a_code(command: Command, lake: Path, options: list[str], said: str) -> None:
    ended = command("rejects", "--lake", lake, *options)
    assert (ended.code, ended.out, len(ended.err.strip().splitlines())) == (1, "", 1)
    assert said in ended.err

"""The command line as a person meets it: one clear line where something is wrong, and nothing changed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scholarlake.lake.home import Lake
from tests.e2e.building import ROOT, SAMPLE, command, environment


def build(lake: Path, dumps: Path, profile: str = "sample") -> list[str]:
    return ["build", "--lake", str(lake), "--dumps", str(dumps), "--profile", profile]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing", "no dump folder"),
        ("empty", "no part of a dump"),
        ("unknown profile", "no profile 'nonsense'"),
        ("unknown format", "in no known format"),
    ],
)
def test_a_build_that_cannot_begin_says_so_in_one_line_and_changes_nothing(tmp_path: Path, name: str, said: str) -> None:
    dumps = tmp_path / "dumps"
    if name != "missing":
        dumps.mkdir()
    if name == "unknown profile":
        (dumps / "a.json").write_text('{"id": 1}\n')
    if name == "unknown format":
        (dumps / "a.bin").write_bytes(bytes(range(256)) * 40)
    profile = "nonsense" if name == "unknown profile" else "sample"
    ended = command(*build(tmp_path / "lake", dumps, profile), env=environment(tmp_path))
    assert ended.code == 1
    assert said in ended.err
    assert len(ended.err.strip().splitlines()) == 1
    assert not (tmp_path / "lake").exists() or not list((tmp_path / "lake").rglob("*.parquet"))


def test_a_lake_of_another_shard_count_is_left_as_it_is(tmp_path: Path) -> None:
    Lake.create(tmp_path / "lake", 7)
    before = sorted(path.name for path in (tmp_path / "lake").rglob("*"))
    ended = command(*build(tmp_path / "lake", SAMPLE / "dumps"), env=environment(tmp_path))
    assert (ended.code, len(ended.err.strip().splitlines())) == (1, 1)
    assert "was made with 7 shards, the profile says 4" in ended.err
    assert sorted(path.name for path in (tmp_path / "lake").rglob("*")) == before


@pytest.mark.parametrize("arguments", [["search", "graphs"], ["paper", "1"], ["releases"], ["status"]])
def test_reading_where_there_is_no_lake_says_how_to_make_one(tmp_path: Path, arguments: list[str]) -> None:
    ended = command(*arguments, "--lake", tmp_path / "none", env=environment(tmp_path))
    assert (ended.code, len(ended.err.strip().splitlines())) == (1, 1)
    assert "scholarlake build" in ended.err


def test_the_same_seed_writes_the_same_sample(tmp_path: Path) -> None:
    for name in ("a", "b"):
        ended = command("sample", tmp_path / name, "--papers", "60", "--parts", "3", "--seed", "11", "--json", env=environment(tmp_path))
        assert ended.code == 0, ended.err
    assert json.loads(ended.out)["papers"] == 60
    files = [sorted(path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*") if path.is_file()) for name in "ab"]
    assert files[0] == files[1]
    assert all((tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes() for path in files[0])


def test_the_workspace_loads_from_any_folder(tmp_path: Path) -> None:
    env = {**environment(tmp_path), "DAGSTER_HOME": str(tmp_path), "SCHOLARLAKE_LAKE": str(tmp_path / "lake")}
    env.pop("PYTHONPATH")
    done = subprocess.run(
        [sys.executable, "-m", "dagster", "definitions", "validate", "-w", str(ROOT / "workspace.yaml")],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "lake").exists(), "looking at the definitions makes no lake"

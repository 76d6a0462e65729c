"""Killed at any stage and started again: the same release, and nothing that was finished is made again."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import scholarlake
from scholarlake.lake import releases
from scholarlake.lake.home import Lake
from scholarlake.sample import generate
from tests.e2e.building import ROOT, contents, environment

_MADE = re.compile(r"made\s+(\S+(?: \[[^\]]+\])?)")
KILLED_AFTER = (
    "dump_manifest",
    "records",
    "identities",
    "papers",
    "degrees",
    "embeddings",
    "vector_index",
    "search_index",
    "citation_graph",
)


def start(lake: Path, dumps: Path, env: dict[str, str]) -> subprocess.Popen[str]:
    arguments = ["build", "--lake", str(lake), "--dumps", str(dumps), "--profile", "sample"]
    return subprocess.Popen(
        [sys.executable, "-m", "scholarlake.cli", *arguments],
        env=env,
        cwd=ROOT,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def run_until(process: subprocess.Popen[str], asset: str | None) -> list[str]:
    """What was made, until a partition of that asset was: then everything is killed while the next thing is being made."""
    made = []
    assert process.stderr is not None
    for line in process.stderr:
        if found := _MADE.match(line.strip()):
            made.append(found.group(1))
            if asset is not None and made[-1].split(" ")[0] == asset:
                os.killpg(process.pid, signal.SIGKILL)
                break
    process.wait()
    return made


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate(tmp_path_factory.mktemp("sample"), 300, 3, seed=5).dumps


def versions(lake: Lake) -> dict[str, str]:
    """What the newest release pins. A vector index is compared by its members and answers: its rows lie as they were finished."""
    return {where: version for where, version in releases.load(lake).data_versions.items() if not where.startswith("vector_index")}


def answers(lake: Lake) -> dict[str, list[str]]:
    """Members of every vector index, and what a search for each of some titles finds."""
    pins = releases.load(lake).artifacts["vector_index"]
    members = {
        shard: sorted(pl.read_parquet(lake.root / pin.path / "members.parquet")["text_hash"].to_list()) for shard, pin in pins.items()
    }
    with scholarlake.open(lake.root) as reader:
        titles = reader.table("papers").filter(pl.col("title").is_not_null()).sort("paper_id").head(20).collect()["title"]
        found = {title: [hit.paper.paper_id for hit in reader.search(title, k=5)] for title in titles}
    return {**members, **found}


def test_a_build_killed_at_every_stage_ends_in_the_release_of_one_that_was_not(dumps: Path, tmp_path: Path) -> None:
    env = environment(tmp_path)
    finished: list[str] = []
    for asset in (*KILLED_AFTER, None):
        process = start(tmp_path / "killed", dumps, env)
        made = run_until(process, asset)
        assert not set(made) & set(finished), "what was finished before the kill was made again"
        finished += made
        if process.returncode == 0:
            break
    assert process.returncode == 0
    whole = start(tmp_path / "whole", dumps, env)
    assert sorted(run_until(whole, None)) == sorted(finished)

    killed, untouched = Lake.open(tmp_path / "killed"), Lake.open(tmp_path / "whole")
    assert releases.names(killed) == ["r0001"]
    assert versions(killed) == versions(untouched)
    assert contents(killed) == contents(untouched)
    assert answers(killed) == answers(untouched)

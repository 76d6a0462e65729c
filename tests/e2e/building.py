"""Building whole lakes in tests: the real main job, with the embedder that costs nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from scholarlake.lake import contracts, delta
from scholarlake.lake.home import Lake

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "data" / "sample"

HASHING = """
roles: {embedder: hashing}
endpoints:
  hashing: {backend: hashing, model: word-and-trigram, revision: "1", dimension: 64, batch_size: 64}
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


def environment(folder: Path) -> dict[str, str]:
    """The process environment with the hashing embedder bound, its models file lying in folder."""
    models = folder / "models.yaml"
    models.write_text(HASHING)
    return {**os.environ, "SCHOLARLAKE_MODELS": str(models), "COLUMNS": "300", "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}


def command(*arguments: str | Path, env: dict[str, str], cwd: Path = ROOT) -> Ended:
    """Run the command line as a user does: in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "scholarlake.cli", *map(str, arguments)], env=env, cwd=cwd, capture_output=True, text=True, check=False
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def delta_versions(lake: Lake) -> dict[str, int | None]:
    return {name: delta.version(lake, name) for name in contracts.TABLES}


def contents(lake: Lake) -> dict[str, list[str]]:
    """Every table of the present state as a set of rows, by name. Vector ids are left out: no refresh takes back what was handed out."""
    found = {}
    for name, contract in contracts.TABLES.items():
        if contract.history:
            continue
        columns = [column for column in contract.compared_columns if column != "faiss_id"]
        rows = lake.scan(name).select(columns).collect()
        found[name] = sorted(rows.select(pl.struct(pl.all()).struct.json_encode()).to_series().to_list())
    return found

"""The house: imports run downward only, and every rule of it that a program can hold."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLOORS = ("scholarlake", "resources", "assets", "checks", "pipelines")  # from the ground up


def modules(package: str) -> Iterator[Path]:
    yield from sorted((ROOT / package).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Top-level packages that a file imports anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("floor", FLOORS)
def test_imports_run_downward_only(floor: str) -> None:
    above = set(FLOORS[FLOORS.index(floor) + 1 :])
    wrong = {str(path.relative_to(ROOT)): imported(path) & above for path in modules(floor) if imported(path) & above}
    assert not wrong


def test_the_library_never_imports_dagster() -> None:
    wrong = [str(path.relative_to(ROOT)) for path in modules("scholarlake") if any(name.startswith("dagster") for name in imported(path))]
    assert not wrong


def test_delta_is_written_in_one_place() -> None:
    writes = re.compile(r"\b(write_deltalake|write_delta|sink_delta|create_write_transaction)\b")
    wrong = [
        str(path.relative_to(ROOT))
        for package in FLOORS
        for path in modules(package)
        if path != ROOT / "scholarlake/lake/delta.py" and writes.search(path.read_text(encoding="utf-8"))
    ]
    assert not wrong


def test_every_package_says_what_belongs_there() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for package in FLOORS
        for path in modules(package)
        if path.read_text(encoding="utf-8").strip() and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not silent


def test_no_module_is_named_for_nothing() -> None:
    assert not [path for package in FLOORS for path in modules(package) if path.stem in ("utils", "util", "helpers", "common", "misc")]


def test_importing_the_library_costs_no_heavy_import() -> None:
    heavy = ("dagster", "great_expectations", "matplotlib", "faiss", "onnxruntime", "pandas", "sklearn", "mcp", "vl_convert", "uvicorn")
    code = f"import sys, scholarlake, scholarlake.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_every_file_of_tests_has_a_name_of_its_own() -> None:
    """pytest takes a file for the module of its name: of two of one name, it refuses the second."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []

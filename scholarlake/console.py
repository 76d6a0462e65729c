"""What the commands share: the console, the options that mean the same everywhere, printing JSON, a bar for long work.

What does not belong here: a command (`cli`), and what is shown (`terminal`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console, ConsoleDimensions
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

_WITHOUT_END = 10_000  # columns


class _Console(Console):
    """A console that, written to a file or a pipe, cuts and wraps nothing: what reads it there has no width."""

    @property
    def size(self) -> ConsoleDimensions:
        columns = os.environ.get("COLUMNS", "")  # as it is now: rich would look once, when the module is loaded
        if columns.isdigit():
            return ConsoleDimensions(int(columns), 25)
        return super().size if self.is_terminal else ConsoleDimensions(_WITHOUT_END, 25)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size


out = _Console(highlight=False)
err = _Console(stderr=True, highlight=False)

LakeOption = Annotated[Path | None, typer.Option("--lake", envvar="SCHOLARLAKE_LAKE", help="Folder of the lake.", show_default="data/lake")]
DumpsOption = Annotated[
    str | None, typer.Option("--dumps", envvar="SCHOLARLAKE_DUMPS", help="Folder with the dump's parts, or s3://bucket/prefix, gs://….")
]
DocumentsOption = Annotated[
    Path | None, typer.Option("--documents", envvar="SCHOLARLAKE_DOCUMENTS", help="Folder with the full texts of papers.")
]
ProfileOption = Annotated[str | None, typer.Option("--profile", envvar="SCHOLARLAKE_PROFILE", help="Profile: a name or a file.")]
ReleaseOption = Annotated[str, typer.Option("--release", help="Which release to read.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def escaped(text: str) -> str:
    """Text in which rich sees no markup."""
    return text.replace("[", "\\[")


def print_json(value: Any) -> None:
    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS, default=str) + b"\n")
    sys.stdout.buffer.flush()


def lake_path(lake: Path | None) -> Path:
    return lake if lake is not None else Path("data/lake")


def progress_columns() -> list[Any]:
    return [
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    ]


@contextmanager
def bar(what: str) -> Iterator[Any]:
    with Progress(*progress_columns(), console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task(what, total=None)

        def report(done: int, total: int | None, said: str) -> None:
            progress.update(task, completed=done, total=total, description=escaped(said))

        yield report

"""What became of a table since something was made from it: a mark to keep beside what was made, and the changes since that mark.

A version's number alone is no mark: of a table that was taken away and made again, another version bears it. What does not belong here:
comparing rows (`changes.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from scholarlake.errors import LakeError
from scholarlake.lake import delta
from scholarlake.lake.changes import Comparison, Version, compare
from scholarlake.lake.contracts import table
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.lake.table_files import files_of, open_version

Mark = Mapping[str, Any]


def mark(lake: Lake, name: str, version: int | None = None) -> Mark | None:
    """The newest version of a table, or a given one, and of which files it consists, as plain values. None where there is none."""
    if not delta.exists(lake, name):
        return None
    contract = table(name)
    try:
        opened = open_version(lake.table_path(name), contract, version)
    except LakeError:
        return None
    return {"version": opened.version(), "files": digest(sorted(file.name for file in files_of(opened, contract)))}


def since(lake: Lake, name: str, kept: Mark | None) -> Comparison | None:
    """How the table of now differs from the one that was marked. None where that can't be told: it is not the same table any more, or
    what tells of it was swept away."""
    now = mark(lake, name)
    if kept is None or now is None or kept["version"] > now["version"] or mark(lake, name, kept["version"]) != kept:
        return None
    folder = lake.table_path(name)
    try:
        return compare(table(name), Version(folder, kept["version"]), Version(folder, now["version"]))
    except LakeError:
        return None


def came_since(lake: Lake, name: str, partition: str | None, kept: Mark | None) -> pl.DataFrame | None:
    """The rows of a partition that came or changed since the mark; one that changed twice is there twice. None where that can't be told."""
    if kept is None or mark(lake, name, kept["version"]) != kept:
        return None
    return delta.changed_since(lake, name, partition, kept["version"])

"""What a partition's files hold in sum, noted when they were committed: who changes a few rows need not read all the others.

    spool/content/TABLE/=PARTITION.json

A note names the files that it is of, whose names are theirs for ever: one that speaks of others, or was made by other hashes, says
nothing. What does not belong here: the sums themselves (`content.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import orjson
import polars as pl

from scholarlake.lake.content import SEED, Content
from scholarlake.lake.contracts import Table
from scholarlake.lake.files import write_json
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.lake.table_files import TableFile


def known(lake: Lake, contract: Table, partition: str | None, files: Sequence[TableFile]) -> Content | None:
    """What these files, all of a partition, hold together; None where it was never noted."""
    try:
        note = orjson.loads(_path(lake, contract, partition).read_bytes())
        if note["of"] == _of(contract, files):
            return Content(int(note["rows"]), int(note["total"], 16))
    except (OSError, ValueError, KeyError, TypeError):  # never noted, or the note was cut by whatever befell the disk
        pass
    return None


def remember(lake: Lake, contract: Table, partition: str | None, files: Sequence[TableFile], content: Content) -> None:
    """Note it."""
    write_json(_path(lake, contract, partition), {"of": _of(contract, files), "rows": content.rows, "total": f"{content.total:x}"})


def _of(contract: Table, files: Sequence[TableFile]) -> str:
    return digest([pl.__version__, str(SEED), *contract.compared_columns, "", *sorted(file.name for file in files)])


def _path(lake: Lake, contract: Table, partition: str | None) -> Path:
    return lake.spool("content", contract.name, "all.json" if partition is None else f"={quote(partition, safe='')}.json")

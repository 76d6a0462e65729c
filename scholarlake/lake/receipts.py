"""Receipts: what each stage last made of each partition, from which inputs, and what its checks said.

    receipts/ASSET/PARTITION.json        the stage's
    receipts/ASSET/PARTITION.checks.json its checks'

Delta versions can't say it, because equal rows make no version though their inputs moved on. A receipt is marked as
running before a stage touches anything, and as done after its last commit: whatever is killed in between stays unfinished,
and neither a stage below nor a release builds on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from scholarlake.lake.artifacts import WHOLE
from scholarlake.lake.files import read_json, write_json
from scholarlake.lake.home import Lake

RUNNING, DONE = "running", "done"


@dataclass(frozen=True)
class Receipt:
    """One stage, one partition (None for the whole).

    inputs: dependency → the data version that was read. tables: table → Delta version after the write.
    artifact: path of the artifact below the lake's root. facts: counts worth keeping for checks and status.
    made_by: the code version that last finished here, which stays known while another is at work. fault: why it was not finished, where
    the stage itself could say.
    """

    asset: str
    partition: str | None
    status: str
    code_version: str
    inputs: Mapping[str, str]
    data_version: str = ""
    tables: Mapping[str, int] = field(default_factory=dict)
    artifact: str | None = None
    rows: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)
    run_id: str = ""
    at: str = ""
    made_by: str | None = None
    fault: str = ""

    @property
    def is_done(self) -> bool:
        return self.status == DONE


@dataclass(frozen=True)
class CheckOutcome:
    """What a check said of a partition's data version. looked_at: table → Delta version of the rows that it looked at; claims: digest of
    what it claims of them, where the next look may leave out what has not changed since."""

    name: str
    passed: bool
    blocking: bool
    data_version: str
    summary: str = ""
    looked_at: Mapping[str, int] = field(default_factory=dict)
    claims: str = ""


def read(lake: Lake, asset: str, partition: str | None = None) -> Receipt | None:
    path = _path(lake, asset, partition)
    return Receipt(**read_json(path)) if path.is_file() else None


def read_all(lake: Lake, asset: str) -> Iterator[Receipt]:
    """Every receipt of an asset, in the order of their file names."""
    for path in sorted((lake.receipts / asset).glob("*.json")):
        if not path.name.endswith(".checks.json"):
            yield Receipt(**read_json(path))


def begin(lake: Lake, asset: str, partition: str | None, *, code_version: str, inputs: Mapping[str, str], run_id: str) -> Receipt:
    """Mark a partition as being made. What was there before counts as unfinished from now on."""
    known = read(lake, asset, partition)
    receipt = Receipt(
        asset,
        partition,
        RUNNING,
        code_version,
        dict(inputs),
        artifact=known.artifact if known else None,  # an index is made from the one before it
        run_id=run_id,
        at=_now(),
        made_by=known.made_by if known else None,
    )
    write_json(_path(lake, asset, partition), asdict(receipt))
    return receipt


def finish(
    lake: Lake,
    begun: Receipt,
    *,
    data_version: str,
    tables: Mapping[str, int] | None = None,
    artifact: str | None = None,
    rows: int = 0,
    facts: Mapping[str, Any] | None = None,
) -> Receipt:
    """Mark a partition as made, after everything it wrote has been committed."""
    receipt = replace(
        begun,
        status=DONE,
        data_version=data_version,
        tables=tables or {},
        artifact=artifact,
        rows=rows,
        facts=facts or {},
        at=_now(),
        made_by=begun.code_version,
    )
    write_json(_path(lake, begun.asset, begun.partition), asdict(receipt))
    return receipt


def fail(lake: Lake, begun: Receipt, why: str) -> None:
    """Note why a partition could not be made. It stays unfinished."""
    write_json(_path(lake, begun.asset, begun.partition), asdict(replace(begun, fault=why)))


def forget(lake: Lake, asset: str, partition: str | None) -> None:
    """Remove what is known of a partition that no longer exists."""
    _path(lake, asset, partition).unlink(missing_ok=True)
    _checks_path(lake, asset, partition).unlink(missing_ok=True)


def record_check(lake: Lake, asset: str, partition: str | None, outcome: CheckOutcome) -> None:
    """Keep a check's newest outcome."""
    path = _checks_path(lake, asset, partition)
    known = read_json(path) if path.is_file() else {}
    write_json(path, {**known, outcome.name: asdict(outcome)})


def checks(lake: Lake, asset: str, partition: str | None) -> dict[str, CheckOutcome]:
    path = _checks_path(lake, asset, partition)
    return {name: CheckOutcome(**entry) for name, entry in read_json(path).items()} if path.is_file() else {}


def _path(lake: Lake, asset: str, partition: str | None) -> Path:
    return lake.receipts / asset / f"{_file_name(partition)}.json"


def _checks_path(lake: Lake, asset: str, partition: str | None) -> Path:
    return lake.receipts / asset / f"{_file_name(partition)}.checks.json"


def _file_name(partition: str | None) -> str:
    return WHOLE if partition is None else f"={quote(partition, safe='')}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

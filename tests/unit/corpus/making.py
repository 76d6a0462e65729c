"""Records made by hand, and lakes made of them: what the tests of the corpus stand on."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from scholarlake.lake import contracts, delta
from scholarlake.lake.hashing import stable_key
from scholarlake.lake.home import Lake

RUN = delta.Commit("test-run", "test-code")


def fingerprint(title: str | None) -> str | None:
    """The fingerprint of a plain title long enough to be a key."""
    folded = "".join(sign for sign in unicodedata.normalize("NFKC", title or "").casefold() if unicodedata.category(sign)[0] in "LMNS")
    return hashlib.md5(folded.encode()).hexdigest() if len(folded) >= 10 else None


def record(record_id: str, part: str = "a.jsonl", edition: str = "", *, authors: Iterable[str] = (), **values: Any) -> dict[str, Any]:
    """One row of `records`, by default without any key. Equal arguments, but for the part, are equal content."""
    content = repr((record_id, sorted(authors), sorted(values.items())))
    references = list(values.pop("references", ()))
    title = values.pop("title", None)
    row = dict.fromkeys(contracts.RECORDS.columns)
    row |= {
        "dump_part": part,
        "edition": edition,
        "byte_length": len(content),
        "record_id": record_id,
        "record_key": stable_key(record_id),
        "content_hash": stable_key(content),
        "title": title,
        "title_fingerprint": fingerprint(title),
        "authors": [{"id": None, "name": name, "org": None, "org_id": None} for name in authors],
        "author_keys": sorted({stable_key(name) for name in authors}),
        "keywords": [],
        "urls": [],
        "references": references,
        "reference_keys": [stable_key(reference) for reference in references],
        "flags": [],
        "method": "test",
        "code_version": "test-code",
    }
    return row | values


def put(lake: Lake, records: Iterable[dict[str, Any]]) -> None:
    """Make these the whole of `records`, parts that are not among them going, as a refresh of the dump would."""
    parts: dict[str, list[dict[str, Any]]] = {part: [] for part in delta.partitions(lake, "records")}
    for row in records:
        rows = parts.setdefault(row["dump_part"], [])
        rows.append(row | {"byte_offset": len(rows) * 1000})
    for part, rows in parts.items():
        frame = pl.DataFrame(rows, schema=contracts.RECORDS.schema, orient="row")
        staged = [delta.stage(lake, "records", part, frame)] if rows else []
        delta.commit_staged(lake, "records", part, staged, RUN)


def lake_of(folder: Path, records: Iterable[dict[str, Any]], shards: int = 3) -> Lake:
    """A new lake that holds these records and nothing else."""
    lake = Lake.create(folder, shards)
    put(lake, records)
    return lake


def rows(lake: Lake, name: str) -> list[tuple[Any, ...]]:
    """A table as a sorted list of rows, without the columns that tell who made them."""
    contract = contracts.table(name)
    frame = lake.scan(name).select(contract.compared_columns).collect()
    return sorted(frame.rows(), key=repr)

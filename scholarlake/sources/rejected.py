"""The rejects of a lake as a person works with them: how many of each part and reason, and the lines themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import polars as pl

from scholarlake.errors import NotFound
from scholarlake.sources.blocks import REASONS

_NAMED = 8  # parts in a message


@dataclass(frozen=True)
class Rejected:
    """Rejects that were asked for. total: how many there are, of how many lines in the parts that were looked at.

    counts: dump_part, reason, rejects, lines (of the part) and share, the most first. rows: dump_part, byte_offset, byte_length,
    reason, detail and excerpt, by part and offset, the first ones.
    """

    total: int
    lines: int
    counts: tuple[Mapping[str, Any], ...]
    rows: tuple[Mapping[str, Any], ...]


def rejected(rejects: pl.LazyFrame, records: pl.LazyFrame, part: str | None, reason: str | None, limit: int) -> Rejected:
    """The rejects of a part (a key, or a pattern of keys) and a reason; of all where none is given. limit: how many are listed.

    Raises NotFound, naming those that there are, for a part that the tables do not hold or a reason that does not exist.
    """
    if reason is not None and reason not in REASONS:
        raise NotFound(f"{reason!r} is no reason of a reject; there are: {', '.join(REASONS)}")
    lines = pl.concat([frame.group_by("dump_part").len("lines") for frame in (records, rejects)])
    of_part: dict[str, int] = dict(lines.group_by("dump_part").agg(pl.col("lines").sum()).collect(engine="streaming").iter_rows())
    chosen = sorted(key for key in of_part if part is None or key == part or fnmatchcase(key, part))
    if part is not None and not chosen:
        raise NotFound(f"no part {part!r} in the lake; there are: {_listed(sorted(of_part))}")
    mine = rejects.filter(pl.col("dump_part").is_in(chosen))
    if reason is not None:
        mine = mine.filter(pl.col("reason") == reason)
    counted = mine.group_by("dump_part", "reason").len("rejects").collect(engine="streaming")
    counted = counted.sort("rejects", "dump_part", "reason", descending=[True, False, False])
    counts = tuple(
        {**row, "lines": of_part[row["dump_part"]], "share": row["rejects"] / of_part[row["dump_part"]]}
        for row in counted.iter_rows(named=True)
    )
    shown = ("dump_part", "byte_offset", "byte_length", "reason", "detail", "excerpt")
    rows = mine.select(shown).sort("dump_part", "byte_offset").head(limit).collect(engine="streaming")
    return Rejected(int(counted["rejects"].sum()), sum(of_part[key] for key in chosen), counts, tuple(rows.iter_rows(named=True)))


def reasons_of(rejects: pl.LazyFrame, part: str, lines: int) -> list[dict[str, Any]]:
    """The reasons of a part's rejects, the most frequent first: how many of its lines, and the first of each.

    Rows for a person: reason, rejects, share in per cent, first at byte, what was said, how it begins.
    """
    first = [pl.col(name).sort_by("byte_offset").first() for name in ("byte_offset", "detail", "excerpt")]
    counted = rejects.filter(pl.col("dump_part") == part).group_by("reason").agg(pl.len().alias("rejects"), *first)
    rows = counted.sort("rejects", "reason", descending=[True, False]).collect(engine="streaming").iter_rows(named=True)
    return [
        {
            "reason": row["reason"],
            "rejects": row["rejects"],
            "share": f"{row['rejects'] / max(1, lines):.2%}",
            "first at byte": row["byte_offset"],
            "what was said": row["detail"],
            "how it begins": row["excerpt"],
        }
        for row in rows
    ]


def _listed(keys: list[str]) -> str:
    more = f" and {len(keys) - _NAMED:,} more" if len(keys) > _NAMED else ""
    return (", ".join(keys[:_NAMED]) or "none") + more

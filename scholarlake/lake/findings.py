"""What a check found: the value that every invariant and every suite returns, whoever shows it.

What does not belong here: how severe a finding is, and whether it blocks. That is decided where it is checked (`checks/`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

EXAMPLES = 5  # enough to see the kind of fault, few enough to read


@dataclass(frozen=True)
class Finding:
    """One claim about the lake, and whether it holds.

    claim: the claim as a sentence. counted: how many things were looked at. failed: how many broke it.
    examples: up to EXAMPLES of those that broke it, as rows of plain values. facts: further numbers worth showing.
    """

    name: str
    claim: str
    counted: int
    failed: int
    examples: tuple[Mapping[str, Any], ...] = ()
    facts: Mapping[str, int | float | str | None] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return self.failed == 0


def from_offenders(
    name: str, claim: str, counted: int, offenders: pl.LazyFrame, facts: Mapping[str, int | float | str | None] | None = None
) -> Finding:
    """A finding whose failures are the rows of a lazy frame: they are counted, and the first few in order are kept."""
    rows = offenders.collect(engine="streaming")
    shown = rows.sort(rows.columns, maintain_order=True).head(EXAMPLES) if rows.height and _sortable(rows) else rows.head(EXAMPLES)
    return Finding(name, claim, counted, rows.height, tuple(shown.iter_rows(named=True)), dict(facts or {}))


def rows_of(frame: pl.LazyFrame) -> int:
    """The number of rows of a lazy frame."""
    return int(frame.select(pl.len()).collect(engine="streaming").item())


def _sortable(rows: pl.DataFrame) -> bool:
    return not any(isinstance(dtype, (pl.List, pl.Struct, pl.Array, pl.Object)) for dtype in rows.dtypes)

"""Rows of MAG's table of papers many at once, those whose numbers are numbers; `mag.read_row` reads each of them to the same.

What does not belong here: what the columns are (`mag`), and how rows are cut into cells (`cells`).
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from scholarlake.sources.cells import Rows, rows_of
from scholarlake.sources.dialects.mag import COLUMNS, LEAST_COLUMNS, MOST_COLUMNS
from scholarlake.sources.plain import Mask, as_arrow, as_numpy, bounds_of
from scholarlake.sources.shape import Papers, papers_of, usual_only
from scholarlake.sources.units import Units

_NUMBER = "^[0-9]{0,15}$"  # what floats hold exactly


def read_rows(units: Units, last_year: int) -> list[Papers]:
    """The rows that can be read column by column."""
    rows = rows_of(units, LEAST_COLUMNS, MOST_COLUMNS)
    if rows is None:
        return []
    texts = {field: _first(rows, columns) for field, columns in COLUMNS.items()}
    odd = np.zeros(len(rows.places), dtype=bool)
    columns: dict[str, pa.Array] = {}
    for field, column in texts.items():
        if field in ("year", "n_citation"):
            columns[field], wrong = _numbers(column)
            odd |= wrong
        else:
            columns[field] = column
    papers = papers_of(rows.places, columns)
    if odd.any():
        papers = Papers(papers.places[~odd], papers.fields.filter(as_arrow(~odd)))
    papers = usual_only(papers, last_year)
    return [papers] if len(papers.places) else []


def _first(rows: Rows, columns: tuple[int, ...]) -> pa.LargeStringArray:
    """Of each row the first of some cells that is not empty."""
    found = rows.column(columns[0])
    for number in columns[1:]:
        empty = np.diff(bounds_of(found)[0]) == 0
        if empty.any():
            found = pc.if_else(as_arrow(empty), rows.column(number), found)
    return found


def _numbers(texts: pa.LargeStringArray) -> tuple[pa.DoubleArray, Mask]:
    """Whole numbers, null where nothing is said; and which texts are something else."""
    wrong = ~as_numpy(pc.match_substring_regex(texts, _NUMBER))
    values = pl.Series(texts).cast(pl.Float64, strict=False).to_arrow()
    return values, wrong

"""Collections as a reader sees them: the catalog, and the papers of one with their titles."""

from __future__ import annotations

from typing import Any

import polars as pl

from scholarlake.errors import NotFound


def catalog(table: pl.LazyFrame, name: str | None = None) -> list[dict[str, Any]]:
    """Rows of `collection_catalog` by name, or the one of that name. Raises NotFound, naming those there are."""
    rows = table.drop("code_version").sort("collection").collect().to_dicts()
    if name is None:
        return rows
    found = [row for row in rows if row["collection"] == name]
    if not found:
        raise NotFound(f"no collection {name!r}; there are: {', '.join(row['collection'] for row in rows) or 'none'}")
    return found


def members(table: pl.LazyFrame, papers: pl.LazyFrame, name: str, k: int) -> list[dict[str, Any]]:
    """The first k papers of a collection: rows of `collections` with title and year."""
    chosen = table.filter((pl.col("collection") == name) & (pl.col("rank") <= k)).drop("collection", "code_version")
    titled = chosen.join(papers.select("paper_id", "title", "year"), on="paper_id", how="left")
    return titled.sort("rank").collect(engine="streaming").to_dicts()

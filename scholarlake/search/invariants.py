"""What must hold of a search index: it has every paper, every id and every vector id of the tables, and leads to the right one.

Read from the SQLite file itself, as `search_index.py` lays it down.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import polars as pl

from scholarlake.lake.findings import Finding, from_offenders, rows_of
from scholarlake.lake.home import Lake
from scholarlake.search.index import FILE


def every_paper_is_found(lake: Lake, folder: Path) -> Finding:
    """The index has the papers, and no other, each with its degrees, and as many entries for keywords."""
    columns = ["paper_id", "in_degree", "total_degree", "is_core"]
    with _opened(folder) as index:
        held = _rows(index, f"SELECT {', '.join(columns)} FROM paper", dict.fromkeys(columns[1:], pl.Int64))
        entries = int(index.execute("SELECT count(*) FROM keyword").fetchone()[0])
    papers = lake.scan("papers").select("paper_id")
    counted = lake.scan("degrees").select("paper_id", "in_degree", "total_degree", pl.col("is_core").cast(pl.Int64))
    wanted = papers.join(counted, on="paper_id", how="left").with_columns(pl.col(columns[1:]).fill_null(0))
    offenders = pl.concat(
        [
            wanted.join(held, on=columns, how="anti").select("paper_id", fault=pl.lit("is not in the index, or with other degrees")),
            held.join(papers, on="paper_id", how="anti").select("paper_id", fault=pl.lit("is no paper")),
            pl.LazyFrame({"paper_id": [str(entries)], "fault": ["entries for keywords, not one a paper"]}).filter(
                pl.lit(entries != rows_of(held))
            ),
        ]
    )
    return from_offenders(
        "every_paper_is_found",
        "the index has every paper, with its degrees, and no other",
        rows_of(papers),
        offenders,
        {"indexed": rows_of(held)},
    )


def every_id_resolves(lake: Lake, folder: Path) -> Finding:
    """The id of every record leads to its paper."""
    with _opened(folder) as index:
        held = _resolved(index, "SELECT record_id, rank FROM alias", {})
    wanted = lake.scan("identities").select("record_id", "paper_id").unique()
    offenders = (
        wanted.join(held, on="record_id", how="full", coalesce=True)
        .filter(pl.col("paper_id").ne_missing(pl.col("resolved")))
        .select("record_id", "paper_id", "resolved")
    )
    return from_offenders("every_id_resolves", "the id of every record leads to its paper", rows_of(wanted), offenders)


def every_vector_leads_to_its_paper(lake: Lake, folder: Path) -> Finding:
    """Every vector id leads to the paper whose vector it is."""
    with _opened(folder) as index:
        held = _resolved(index, "SELECT faiss_id, rank FROM vector", {"faiss_id": pl.Int64})
    wanted = lake.scan("embeddings").select("faiss_id", "paper_id")
    offenders = wanted.join(held, on="faiss_id", how="full", coalesce=True).filter(pl.col("paper_id").ne_missing(pl.col("resolved")))
    return from_offenders("every_vector_leads_to_its_paper", "every vector id leads to its paper", rows_of(wanted), offenders)


def _resolved(index: sqlite3.Connection, query: str, numbers: dict[str, type[pl.Int64]]) -> pl.LazyFrame:
    """The rows of a query with the paper_id of their rank as `resolved`; a rank of no paper has none. Joined here: in rank's order SQLite
    would jump about in its largest table."""
    papers = _rows(index, "SELECT rank, paper_id AS resolved FROM paper", {"rank": pl.Int64})
    return _rows(index, query, {"rank": pl.Int64, **numbers}).join(papers, on="rank", how="left").drop("rank")


def _rows(index: sqlite3.Connection, query: str, numbers: dict[str, type[pl.Int64]]) -> pl.LazyFrame:
    """The rows of a query; columns are text unless named as numbers."""
    cursor = index.execute(query)
    schema = {column[0]: numbers.get(column[0], pl.String) for column in cursor.description}
    return pl.DataFrame(cursor.fetchall(), schema=schema, orient="row").lazy()


@contextmanager
def _opened(folder: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(f"file:{quote(str(folder / FILE))}?mode=ro&immutable=1", uri=True)
    try:
        yield connection
    finally:
        connection.close()

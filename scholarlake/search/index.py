"""The search index: one SQLite file with every paper's page, its ids and titles, and weighted keyword search; how it is built.

Papers are laid down in the order in which a keyword search lists them (in-degree, year, id), so that a row's number is its
rank and the ten best of half a million hits are the first ten that SQLite meets. The order is worked out over narrow
columns; the wide rows then pass once through buckets of ranks on disk, in bounded memory. Equal tables give equal bytes.

What does not belong here: bringing a file in line with a few changes (`revision.py`), reading it (`reader.py`), cutting text into words
(`text.py`).
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from scholarlake.corpus.progress import Progress, silent
from scholarlake.lake.hashing import stable_key
from scholarlake.lake.home import Lake
from scholarlake.search.text import TOKENIZER, index_text
from scholarlake.sources.folding import fold

FILE = "search.sqlite"
FORMAT = 1
KEYWORDS_WEIGHT = 10.0
TITLE_WEIGHT = 5.0
BATCH_ROWS = 20_000
"""Wide rows in memory at a time while they are sorted into buckets."""
BUCKET_ROWS = 50_000
MAX_BUCKETS = 32
SPREAD_FROM = 20_000
"""Papers from which ranks are laid out STEP apart, so that one that moves finds room between two others. Fewer are soon done anew."""
STEP = 1_024

SCHEMA = f"""
CREATE TABLE paper (
    rank INTEGER PRIMARY KEY,  -- the smaller the more cited: in_degree descending, year descending, paper_id
    paper_id TEXT NOT NULL, title TEXT, abstract TEXT, year INTEGER, venue TEXT, doi TEXT, lang TEXT, doc_type TEXT,
    in_degree INTEGER NOT NULL, out_degree INTEGER NOT NULL, total_degree INTEGER NOT NULL, is_core INTEGER NOT NULL,
    faiss_id INTEGER, details TEXT NOT NULL  -- JSON: authors, keywords, record_ids, flags and all else that a paper's page shows
);
CREATE TABLE alias (record_id TEXT PRIMARY KEY, rank INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE vector (faiss_id INTEGER PRIMARY KEY, rank INTEGER NOT NULL);
CREATE TABLE title_exact (hash INTEGER, rank INTEGER, PRIMARY KEY (hash, rank)) WITHOUT ROWID;
CREATE TABLE title_folded (hash INTEGER, rank INTEGER, PRIMARY KEY (hash, rank)) WITHOUT ROWID;
CREATE TABLE fact (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE VIRTUAL TABLE keyword USING fts5 (keywords, title, content='', tokenize="{TOKENIZER}");
"""
# Durability comes from publishing the finished folder; a build that dies is thrown away.
FAST = """
PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -131072; PRAGMA temp_store = MEMORY;
"""
_MERGE_EVERY_BYTES = 64 << 20  # FTS5 gathers this much before it writes a segment, not its default of one megabyte

_COLUMNS = ["paper_id", "title", "abstract", "year", "venue", "doi", "lang", "doc_type"]
_DETAILS = [
    "authors", "keywords", "venue_id", "volume", "issue", "page_start", "page_end", "issn", "isbn", "publisher", "pdf", "urls",
    "n_citation", "record_ids", "editions", "flags", "shard", "method", "version_of", "withdrawn", "withdrawn_by", "withdrawal_notice",
]  # fmt: skip
_NARROW = ["in_degree", "out_degree", "total_degree", "is_core", "faiss_id", "unresolved_references"]
WIDE = [*_COLUMNS, *_DETAILS]


def build_search_index(lake: Lake, folder: Path, progress: Progress | None = None) -> dict[str, Any]:
    """Write FILE into folder from papers, degrees, identities and embeddings as they stand. Returns the facts for its manifest.

    Papers without a row in degrees count as cited by nobody, those without an embedding have no faiss id.
    """
    say = progress or silent
    say(0, None, "ranking papers")
    ranked = _ranked(lake)
    total = ranked.height
    with tempfile.TemporaryDirectory(prefix=".buckets-", dir=folder) as spill:
        buckets = min(MAX_BUCKETS, -(-total // BUCKET_ROWS)) or 1
        bucket_rows = -(-total // buckets) or 1
        _spill(lake, ranked, Path(spill), bucket_rows, say)
        connection = sqlite3.connect(folder / FILE, isolation_level=None)
        try:
            connection.executescript(FAST + SCHEMA)
            connection.execute("BEGIN")
            connection.execute("INSERT INTO keyword(keyword, rank) VALUES ('hashsize', ?)", [_MERGE_EVERY_BYTES])
            done = 0
            titles: list[pl.DataFrame] = []
            for bucket in range(buckets):
                frame = _bucket(Path(spill), bucket)
                if frame is None:
                    continue
                titles.append(insert_papers(connection, frame))
                done += frame.height
                say(done, total, "papers indexed")
            say(total, total, "indexing ids and titles")
            facts = {"format": FORMAT, "papers": total, **_insert_lookups(connection, lake, ranked, titles)}
            connection.execute("INSERT INTO keyword(keyword) VALUES ('optimize')")
            connection.executemany("INSERT INTO fact VALUES (?, ?)", sorted(facts.items()))
            connection.execute("COMMIT")
        finally:
            connection.close()
    return manifest_facts(facts)


def manifest_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What the manifest of a file with these facts says."""
    return {**facts, "file": FILE, "sqlite": sqlite3.sqlite_version, "weights": {"keywords": KEYWORDS_WEIGHT, "title": TITLE_WEIGHT}}


def _ranked(lake: Lake) -> pl.DataFrame:
    """Narrow columns of every paper with its place, from 1, and its rank."""
    ranked = narrow(lake).sort("in_degree", "year", "paper_id", descending=[True, True, False], nulls_last=True).collect()
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    step = STEP if ranked.height >= SPREAD_FROM else 1
    return ranked.select((place * step).alias("rank"), place.alias("place"), "paper_id", "shard", *_NARROW)


def narrow(lake: Lake, among: pl.Series | None = None) -> pl.LazyFrame:
    """paper_id, year, shard and the narrow columns of every paper, or of those among some ids."""

    def rows(name: str) -> pl.LazyFrame:
        return lake.scan(name) if among is None else lake.scan(name).filter(pl.col("paper_id").is_in(among.implode()))

    degrees = rows("degrees").select("paper_id", *(name for name in _NARROW if name != "faiss_id"))
    vectors = rows("embeddings").select("paper_id", "faiss_id")
    counts = pl.col("in_degree", "out_degree", "total_degree", "unresolved_references")
    return (
        rows("papers")
        .select("paper_id", "year", "shard")
        .join(degrees, on="paper_id", how="left")
        .join(vectors, on="paper_id", how="left")
        .with_columns(counts.fill_null(0), pl.col("is_core").fill_null(False))
    )


def _spill(lake: Lake, ranked: pl.DataFrame, spill: Path, bucket_rows: int, say: Progress) -> None:
    """Send every paper's wide row to the bucket of its rank, a batch of rows in memory at a time."""
    done = 0
    of_work = versions_of_works(lake).collect()
    for key, part in sorted(ranked.partition_by("shard", as_dict=True).items()):
        wide = lake.scan("papers").filter(pl.col("shard") == key[0]).select(WIDE)
        for number, batch in enumerate(wide.collect_batches(chunk_size=BATCH_ROWS, maintain_order=False)):
            bucket = (pl.col("place") - 1) // bucket_rows
            rows = page_rows(batch, part.drop("shard"), of_work, bucket.alias("bucket"))
            for name, frame in rows.partition_by("bucket", as_dict=True, include_key=False).items():
                frame.write_ipc(spill / f"{name[0]:02d}-{key[0]}-{number:05d}.arrow", compression="lz4")
            done += batch.height
            say(done, ranked.height, "papers sorted")


def versions_of_works(lake: Lake) -> pl.LazyFrame:
    """paper_id of each work, and its versions."""
    versions = lake.scan("work_versions").select("version_of", "paper_id").sort("paper_id").group_by("version_of", maintain_order=True)
    return versions.agg(pl.col("paper_id").alias("versions")).rename({"version_of": "paper_id"})


def page_rows(wide: pl.DataFrame, ranked: pl.DataFrame, of_work: pl.DataFrame, *more: pl.Expr) -> pl.DataFrame:
    """The rows of the table paper, with their keywords as one text beside them, of papers whose wide and narrow rows are given."""
    return (
        wide.join(ranked, on="paper_id", how="inner")
        .join(of_work, on="paper_id", how="left")
        .select(
            "rank",
            *_COLUMNS,
            *(name for name in _NARROW if name != "unresolved_references"),
            pl.struct(*_DETAILS, "unresolved_references", "versions").struct.json_encode().alias("details"),
            pl.col("keywords").list.join("\n", ignore_nulls=True).alias("keywords"),
            *more,
        )
    )


def _bucket(spill: Path, bucket: int) -> pl.DataFrame | None:
    """The rows of a bucket by rank; None where it got none."""
    parts = sorted(spill.glob(f"{bucket:02d}-*.arrow"))
    if not parts:
        return None
    frame = pl.concat([pl.read_ipc(part) for part in parts]).sort("rank")
    for part in parts:
        part.unlink()
    return frame


def insert_papers(connection: sqlite3.Connection, frame: pl.DataFrame) -> pl.DataFrame:
    """Insert some papers by rank, rows and words; returns rank and hashes of their titles."""
    rows = frame.drop("keywords")
    connection.executemany(f"INSERT INTO paper VALUES ({', '.join('?' * rows.width)})", rows.iter_rows())
    titles = frame["title"].to_list()
    connection.executemany("INSERT INTO keyword(rowid, keywords, title) VALUES (?, ?, ?)", _words_of(frame, titles))
    return pl.DataFrame(
        {
            "rank": frame["rank"],
            "exact": pl.Series([exact_key(title) for title in titles], dtype=pl.Int64),
            "folded": pl.Series([folded_key(title) for title in titles], dtype=pl.Int64),
        }
    )


def _words_of(frame: pl.DataFrame, titles: list[str | None]) -> Iterator[tuple[int, str, str]]:
    for rank, keywords, title in zip(frame["rank"].to_list(), frame["keywords"].to_list(), titles, strict=True):
        yield rank, index_text(keywords), index_text(title)


def exact_key(title: str | None) -> int | None:
    """Hash under which a title is found as it is written."""
    return stable_key(title) if title else None


def folded_key(title: str | None) -> int | None:
    """Hash under which a title is found whatever its case, punctuation and spaces; None where nothing is left of it."""
    return stable_key(folded) if title and (folded := fold(title)) else None


def aliases_of(identities: pl.LazyFrame, ranks: pl.LazyFrame) -> pl.LazyFrame:
    """record_id and rank of every id that leads to some papers (paper_id, rank)."""
    members = identities.select("record_id", "paper_id").unique().join(ranks, on="paper_id", how="inner")
    themselves = ranks.select(pl.col("paper_id").alias("record_id"), "rank")
    # A paper's own id wins over a record's: an id never leads away from the paper that bears it.
    return (
        pl.concat([themselves.with_columns(own=pl.lit(0)), members.select("record_id", "rank", own=pl.lit(1))])
        .sort("record_id", "own", "rank")
        .unique("record_id", keep="first", maintain_order=True)
        .select("record_id", "rank")
    )


def _insert_lookups(connection: sqlite3.Connection, lake: Lake, ranked: pl.DataFrame, titles: list[pl.DataFrame]) -> dict[str, int]:
    """Fill the narrow tables, each in the order of its key."""
    ranks = ranked.select("paper_id", "rank")
    aliases = aliases_of(lake.scan("identities"), ranks.lazy()).collect()
    connection.executemany("INSERT INTO alias VALUES (?, ?)", aliases.iter_rows())
    vectors = ranked.select("faiss_id", "rank").drop_nulls().sort("faiss_id")
    connection.executemany("INSERT INTO vector VALUES (?, ?)", vectors.iter_rows())
    hashes = pl.concat(titles) if titles else pl.DataFrame(schema={"rank": pl.Int64, "exact": pl.Int64, "folded": pl.Int64})
    for table, column in (("title_exact", "exact"), ("title_folded", "folded")):
        rows = hashes.select(column, "rank").drop_nulls().sort(column, "rank")
        connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows.iter_rows())
    return {"aliases": aliases.height, "vectors": vectors.height, "titles": hashes["exact"].drop_nulls().n_unique()}

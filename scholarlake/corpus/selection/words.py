"""Words of titles, abstracts and keywords: who has a phrase, and BM25 (Robertson and Zaragoza, 2009), by SQLite's FTS5.

The words of all papers lie in one file, spooled beside the lake until `papers` changes: about as large as the texts. Title to abstract
weighs 4 to 1, as in ScholarStack's appendix B.1. Text is cut as the search index cuts it (`search/text.py`): every script, no syntax.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from scholarlake.corpus.progress import Progress, silent
from scholarlake.corpus.selection.candidates import Candidates, Mask, Numbers
from scholarlake.lake.files import build_folder
from scholarlake.lake.hashing import digest
from scholarlake.search.text import TOKENIZER, expression, index_text, terms_of

FILE = "words.sqlite"
VERSION = "1"
WEIGHTS = {"title": 4.0, "abstract": 1.0, "keywords": 4.0}
MAX_TOKENS = 40
"""Words of a query that are looked for."""
BATCH_ROWS = 20_000

_FAST = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;"
_COLUMNS = ("title", "abstract", "keywords")


class Words:
    """The words of a lake's papers. The file is made when something is first asked of it.

    papers_version: the data version of `papers`, under which the file is kept.
    """

    def __init__(self, candidates: Candidates, papers_version: str, progress: Progress = silent) -> None:
        self._candidates = candidates
        self._home = candidates.lake.spool("collections", "words")
        self._folder = self._home / digest([papers_version, VERSION, sqlite3.sqlite_version])
        self._progress = progress
        self._connection: sqlite3.Connection | None = None

    def having(self, phrases: Sequence[str], columns: Sequence[str] = _COLUMNS) -> Mask:
        """The papers that have any of some phrases in any of some columns."""
        found = np.zeros(len(self._candidates), dtype=bool)
        if (match := expression(phrases)) is not None:
            rows = self._open().execute("SELECT rowid FROM words WHERE words MATCH ?", [f"{{{' '.join(columns)}}} : ({match})"])
            found[np.fromiter((rowid - 1 for (rowid,) in rows), dtype=np.int64)] = True
        return found

    def best(self, query: str, k: int, among: Mask) -> Numbers:
        """The k best of some papers for a query: those with any of its words, by BM25 to six decimals, ties by number."""
        match = expression(terms_of(query)[:MAX_TOKENS])
        if match is None:
            return np.empty(0, dtype=np.int64)
        weights = ", ".join(str(WEIGHTS[name]) for name in _COLUMNS)
        rows = self._open().execute(f"SELECT rowid - 1, bm25(words, {weights}) FROM words WHERE words MATCH ?", [match])
        hits = np.fromiter(rows, dtype=np.dtype([("number", np.int64), ("score", np.float64)]))
        hits = hits[among[hits["number"]]]
        order = np.lexsort((hits["number"], np.round(hits["score"], 6)))  # SQLite's best is the smallest
        return np.asarray(hits["number"][order[:k]], dtype=np.int64)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            if not self._folder.exists():
                shutil.rmtree(self._home, ignore_errors=True)  # words of papers as they were before
                build_folder(self._folder, self._fill)
            self._connection = sqlite3.connect(self._folder / FILE)
        return self._connection

    def _fill(self, folder: Path) -> None:
        connection = sqlite3.connect(folder / FILE, isolation_level=None)
        try:
            connection.executescript(_FAST)
            connection.execute(f"CREATE VIRTUAL TABLE words USING fts5 ({', '.join(_COLUMNS)}, content='', tokenize=\"{TOKENIZER}\")")
            connection.execute("BEGIN")
            papers = self._candidates.lake.scan("papers").select(
                "paper_id", "title", "abstract", keywords=pl.col("keywords").list.join("\n", ignore_nulls=True)
            )
            done = 0
            for batch in papers.collect_batches(chunk_size=BATCH_ROWS, maintain_order=False, engine="streaming"):
                rows = self._candidates.numbered(batch).sort("number")  # FTS5 writes a segment wherever a number is less than the last
                texts = ([index_text(text) for text in rows[name]] for name in _COLUMNS)
                connection.executemany(
                    f"INSERT INTO words(rowid, {', '.join(_COLUMNS)}) VALUES (?, ?, ?, ?)",
                    zip((rows["number"] + 1).to_list(), *texts, strict=True),
                )
                done += batch.height
                self._progress(done, len(self._candidates), "papers read for words")
            connection.execute("COMMIT")
        finally:
            connection.close()

"""Words of titles, abstracts and keywords: who has a phrase, and BM25 (Robertson and Zaragoza, 2009), by SQLite's FTS5.

The words of all papers lie in one file, spooled beside the lake and about as large as the texts. When `papers` changes, the words of those
that changed are exchanged in it, unless papers came or went, which moves their numbers, or many changed. Title to abstract
weighs 4 to 1, as in ScholarStack's appendix B.1. Text is cut as the search index cuts it (`search/text.py`): every script, no syntax.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from scholarlake.corpus.progress import Progress, silent
from scholarlake.corpus.selection.candidates import Candidates, Mask, Numbers
from scholarlake.errors import LakeError
from scholarlake.lake import delta
from scholarlake.lake.changes import AT, AT_BEFORE, FIELDS, Version, compare
from scholarlake.lake.contracts import PAPERS
from scholarlake.lake.files import build_folder, read_json, write_json
from scholarlake.lake.hashing import digest
from scholarlake.search.text import TOKENIZER, expression, index_text, terms_of

FILE, STATE = "words.sqlite", "papers.json"
VERSION = "2"
FEW = 0.1
"""Share of the papers up to which their words are exchanged in the file that there is: of more, all are read again."""
WEIGHTS = {"title": 4.0, "abstract": 1.0, "keywords": 4.0}
MAX_TOKENS = 40
"""Words of a query that are looked for."""
BATCH_ROWS = 20_000

_FAST = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;"
_COLUMNS = ("title", "abstract", "keywords")
_TEXTS = ["paper_id", *_COLUMNS]


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
                kept = next(iter(self._home.glob(f"[!.]*/{STATE}")), None)
                swaps = self._swaps(read_json(kept)) if kept else None
                if kept is None or swaps is None:
                    shutil.rmtree(self._home, ignore_errors=True)
                    build_folder(self._folder, self._fill)
                else:
                    build_folder(self._folder, lambda folder: self._revise(kept.parent, folder, swaps))
                    shutil.rmtree(kept.parent)  # words of papers as they were before
            self._connection = sqlite3.connect(self._folder / FILE)
        return self._connection

    def _state(self) -> dict[str, Any]:
        """Which papers the words are of."""
        return {"made_by": digest([VERSION, sqlite3.sqlite_version]), "version": delta.version(self._candidates.lake, "papers")}

    def _swaps(self, kept: dict[str, Any]) -> list[tuple[pl.DataFrame, pl.DataFrame]] | None:
        """Papers whose texts changed since a file of words was made, as they were and as they are. None where it is of no use."""
        lake, now = self._candidates.lake, self._state()
        if kept["made_by"] != now["made_by"] or kept["version"] is None or kept["version"] > now["version"]:
            return None
        found, count = [], 0
        folder = lake.table_path("papers")
        try:
            differing = compare(PAPERS, Version(folder, kept["version"]), Version(folder, now["version"])).differing
            for one in differing:
                changes = one.changes()
                if changes.came.height or changes.went.height:
                    return None
                texts = changes.changed.filter(pl.col(FIELDS).list.set_intersection(list(_COLUMNS)).list.len() > 0)
                found.append(tuple(side.take(texts[at], _TEXTS) for side, at in ((one.before, AT_BEFORE), (one.after, AT))))
                count += texts.height
                if count > FEW * len(self._candidates):
                    return None
        except LakeError:  # the version that the words are of was swept away
            return None
        return found  # type: ignore[return-value]

    def _revise(self, kept: Path, folder: Path, swaps: list[tuple[pl.DataFrame, pl.DataFrame]]) -> None:
        """The file as it was, the words of some papers exchanged: FTS5 forgets a text without content by being told it."""
        shutil.copyfile(kept / FILE, folder / FILE)
        connection = sqlite3.connect(folder / FILE, isolation_level=None)
        try:
            connection.executescript(_FAST)
            connection.execute("BEGIN")
            columns = ", ".join(_COLUMNS)
            for was, now in swaps:
                connection.executemany(f"INSERT INTO words(words, rowid, {columns}) VALUES ('delete', ?, ?, ?, ?)", self._rows(was))
                connection.executemany(f"INSERT INTO words(rowid, {columns}) VALUES (?, ?, ?, ?)", self._rows(now))
            connection.execute("COMMIT")
        finally:
            connection.close()
        write_json(folder / STATE, self._state())

    def _rows(self, papers: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
        """Row number and indexed texts, by row number: FTS5 writes a segment wherever one is less than the last."""
        joined = papers.with_columns(pl.col("keywords").list.join("\n", ignore_nulls=True))
        rows = self._candidates.numbered(joined).sort("number")
        return zip((rows["number"] + 1).to_list(), *([index_text(text) for text in rows[name]] for name in _COLUMNS), strict=True)

    def _fill(self, folder: Path) -> None:
        connection = sqlite3.connect(folder / FILE, isolation_level=None)
        try:
            connection.executescript(_FAST)
            connection.execute(f"CREATE VIRTUAL TABLE words USING fts5 ({', '.join(_COLUMNS)}, content='', tokenize=\"{TOKENIZER}\")")
            connection.execute("BEGIN")
            papers = self._candidates.lake.scan("papers").select(_TEXTS)
            done = 0
            for batch in papers.collect_batches(chunk_size=BATCH_ROWS, maintain_order=False, engine="streaming"):
                connection.executemany(f"INSERT INTO words(rowid, {', '.join(_COLUMNS)}) VALUES (?, ?, ?, ?)", self._rows(batch))
                done += batch.height
                self._progress(done, len(self._candidates), "papers read for words")
            connection.execute("COMMIT")
        finally:
            connection.close()
        write_json(folder / STATE, self._state())

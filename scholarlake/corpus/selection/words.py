"""Words of titles, abstracts and keywords: who has a phrase, and BM25 (Robertson and Zaragoza, 2009), by SQLite's FTS5.

The words of all papers lie in one file, spooled beside the lake and about as large as the texts. When `papers` changes, the words of the
papers that came, went or changed are exchanged in it, in one transaction, unless they are many. A paper's row in the file is its own for
ever, whatever its number is by then. Title to abstract weighs 4 to 1, as in ScholarStack's appendix B.1. Text is cut as the search index
cuts it (`search/text.py`): every script, no syntax.
"""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from scholarlake.corpus.progress import Progress, silent
from scholarlake.corpus.selection.candidates import Candidates, Mask, Numbers
from scholarlake.errors import LakeError
from scholarlake.lake.changes import AT, AT_BEFORE, FIELDS
from scholarlake.lake.files import build_folder
from scholarlake.lake.hashing import digest
from scholarlake.lake.since import mark, since
from scholarlake.search.text import TOKENIZER, expression, index_text, terms_of

FILE = "words.sqlite"
VERSION = "3"
FEW = 0.1
"""Share of the papers up to which their words are exchanged in the file that there is: of more, all are read again."""
MOST_ROWS = 1.5
"""Rows of the file, for each paper that there is, beyond which all are read again: papers that went leave theirs empty."""
WEIGHTS = {"title": 4.0, "abstract": 1.0, "keywords": 4.0}
MAX_TOKENS = 40
"""Words of a query that are looked for."""
BATCH_ROWS = 20_000

_CACHE = "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;"
_ASIDE = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"  # a file that is thrown away if it is not finished
_COLUMNS = ("title", "abstract", "keywords")
_TEXTS = ["paper_id", *_COLUMNS]
_SCHEMA = f"""
CREATE VIRTUAL TABLE words USING fts5 ({", ".join(_COLUMNS)}, content='', tokenize="{TOKENIZER}");
CREATE TABLE papers (first INTEGER PRIMARY KEY, ids BLOB NOT NULL);  -- papers of the rows from the first on, as Arrow
CREATE TABLE state (made_by TEXT NOT NULL, papers TEXT NOT NULL);  -- which version of the table the words are of, as JSON
"""


@dataclass(frozen=True)
class _Swaps:
    """Texts of papers to be forgotten and to be learnt."""

    was: pl.DataFrame
    now: pl.DataFrame


class Words:
    """The words of a lake's papers as they stand. The file is made, or brought in line, when something is first asked of it."""

    def __init__(self, candidates: Candidates, progress: Progress = silent) -> None:
        self._candidates = candidates
        self._home = candidates.lake.spool("collections", "words")
        self._progress = progress
        self._connection: sqlite3.Connection | None = None
        self._number = np.empty(0, dtype=np.int64)  # of the paper of each row, −1 of those that went

    def having(self, phrases: Sequence[str], columns: Sequence[str] = _COLUMNS) -> Mask:
        """The papers that have any of some phrases in any of some columns."""
        found = np.zeros(len(self._candidates), dtype=bool)
        if (match := expression(phrases)) is not None:
            rows = self._open().execute("SELECT rowid FROM words WHERE words MATCH ?", [f"{{{' '.join(columns)}}} : ({match})"])
            found[self._number[np.fromiter((rowid for (rowid,) in rows), dtype=np.int64)]] = True
        return found

    def best(self, query: str, k: int, among: Mask) -> Numbers:
        """The k best of some papers for a query: those with any of its words, by BM25 to six decimals, ties by number."""
        match = expression(terms_of(query)[:MAX_TOKENS])
        if match is None:
            return np.empty(0, dtype=np.int64)
        weights = ", ".join(str(WEIGHTS[name]) for name in _COLUMNS)
        rows = self._open().execute(f"SELECT rowid, bm25(words, {weights}) FROM words WHERE words MATCH ?", [match])
        hits = np.fromiter(rows, dtype=np.dtype([("row", np.int64), ("score", np.float64)]))
        numbers = self._number[hits["row"]]
        numbers, scores = numbers[among[numbers]], hits["score"][among[numbers]]
        order = np.lexsort((numbers, np.round(scores, 6)))  # SQLite's best is the smallest
        return np.asarray(numbers[order[:k]], dtype=np.int64)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            folder = self._home / "papers"
            if not self._revised(folder / FILE):
                shutil.rmtree(self._home, ignore_errors=True)
                build_folder(folder, self._fill)
            self._connection = sqlite3.connect(folder / FILE)
            self._connection.executescript(_CACHE)
            rows = _rows_of_papers(self._connection)
            number = np.full(_rows_used(rows) + 1, -1, dtype=np.int64)
            known = self._candidates.numbered(rows.unique("paper_id", keep="last", maintain_order=True))
            number[known["row"].to_numpy()] = known["number"].to_numpy()
            self._number = number
        return self._connection

    def _state(self) -> tuple[str, str]:
        """What made the file, and which papers the words are of."""
        papers = mark(self._candidates.lake, "papers")
        return digest([VERSION, sqlite3.sqlite_version]), json.dumps(papers, sort_keys=True)

    def _revised(self, path: Path) -> bool:
        """Bring a file of words in line with the papers of now: those of papers that came, went or changed. False where it is of no use."""
        if not path.is_file():
            return False
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.executescript(_CACHE)
            kept = connection.execute("SELECT made_by, papers FROM state").fetchone()
            if kept == self._state():
                return True
            swaps = self._swaps(json.loads(kept[1])) if kept is not None and kept[0] == self._state()[0] else None
            rows = _rows_of_papers(connection)
            if swaps is None or rows.height + swaps.now.height > MOST_ROWS * len(self._candidates):
                return False
            self._exchange(connection, swaps, rows)
        except sqlite3.DatabaseError:  # damaged, or made by something else
            return False
        finally:
            connection.close()
        return True

    def _swaps(self, kept: dict[str, Any]) -> _Swaps | None:
        """What is to be exchanged since a version of the papers. None where it is not known, or much."""
        found = since(self._candidates.lake, "papers", kept)
        if found is None:
            return None
        nothing = pl.DataFrame(schema=dict.fromkeys(_TEXTS[:-1], pl.String) | {_TEXTS[-1]: pl.List(pl.String)})
        was, now = [nothing], [nothing]
        try:
            for one in found.differing:
                changes = one.changes()
                texts = changes.changed.filter(pl.col(FIELDS).list.set_intersection(list(_COLUMNS)).list.len() > 0)
                was += [one.before.take(changes.went[AT], _TEXTS), one.before.take(texts[AT_BEFORE], _TEXTS)]
                now += [one.after.take(changes.came[AT], _TEXTS), one.after.take(texts[AT], _TEXTS)]
                if sum(frame.height for frame in was + now) > FEW * len(self._candidates):
                    return None
        except LakeError:
            return None
        return _Swaps(pl.concat(was), pl.concat(now))

    def _exchange(self, connection: sqlite3.Connection, swaps: _Swaps, rows: pl.DataFrame) -> None:
        """FTS5 forgets a text without content by being told it. Killed half way, the file is what it was."""
        columns, free = ", ".join(_COLUMNS), _rows_used(rows) + 1
        rows = rows.unique("paper_id", keep="last")
        came = swaps.now.join(swaps.was, on="paper_id", how="anti").select("paper_id").with_row_index("row", free)
        connection.execute("BEGIN IMMEDIATE")
        was = swaps.was.join(rows, on="paper_id")
        connection.executemany(f"INSERT INTO words(words, rowid, {columns}) VALUES ('delete', ?, ?, ?, ?)", _indexed(was))
        now = swaps.now.join(
            pl.concat([rows.join(swaps.was, on="paper_id", how="semi"), came.cast(rows.schema).select(rows.columns)]), on="paper_id"
        )
        connection.executemany(f"INSERT INTO words(rowid, {columns}) VALUES (?, ?, ?, ?)", _indexed(now))
        if came.height:
            connection.execute("INSERT INTO papers VALUES (?, ?)", [free, _packed(came["paper_id"])])
        connection.execute("UPDATE state SET made_by = ?, papers = ?", self._state())
        connection.execute("COMMIT")

    def _fill(self, folder: Path) -> None:
        connection = sqlite3.connect(folder / FILE, isolation_level=None)
        try:
            connection.executescript(_ASIDE + _CACHE + _SCHEMA)
            connection.execute("BEGIN")
            papers = self._candidates.lake.scan("papers").select(_TEXTS)
            done = 0
            for batch in papers.collect_batches(chunk_size=BATCH_ROWS, maintain_order=False, engine="streaming"):
                if not batch.height:
                    continue
                numbered = batch.with_row_index("row", done + 1)
                connection.executemany(f"INSERT INTO words(rowid, {', '.join(_COLUMNS)}) VALUES (?, ?, ?, ?)", _indexed(numbered))
                connection.execute("INSERT INTO papers VALUES (?, ?)", [done + 1, _packed(batch["paper_id"])])
                done += batch.height
                self._progress(done, len(self._candidates), "papers read for words")
            connection.execute("INSERT INTO state VALUES (?, ?)", self._state())
            connection.execute("COMMIT")
        finally:
            connection.close()


def _indexed(papers: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Row and indexed texts, by row: FTS5 writes a segment wherever one is less than the last."""
    rows = papers.with_columns(pl.col("keywords").list.join("\n", ignore_nulls=True)).sort("row")
    return zip(rows["row"].to_list(), *([index_text(text) for text in rows[name]] for name in _COLUMNS), strict=True)


def _packed(ids: pl.Series) -> bytes:
    buffer = io.BytesIO()
    ids.to_frame().write_ipc(buffer, compression="lz4")
    return buffer.getvalue()


def _rows_of_papers(connection: sqlite3.Connection) -> pl.DataFrame:
    """paper_id and row, by row. The last row of a paper is its own: one that went and came back was given another."""
    stretches = [
        pl.read_ipc(io.BytesIO(ids)).with_row_index("row", first).select("paper_id", pl.col("row").cast(pl.Int64))
        for first, ids in connection.execute("SELECT first, ids FROM papers ORDER BY first")
    ]
    return pl.concat([pl.DataFrame(schema={"paper_id": pl.String, "row": pl.Int64}), *stretches])


def _rows_used(rows: pl.DataFrame) -> int:
    return int(rows["row"][-1]) if rows.height else 0

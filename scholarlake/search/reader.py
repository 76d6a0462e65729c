"""Reading the search index: papers by id, title and faiss id, and keyword search, from any thread, without locks.

What does not belong here: how the file is laid out and why (`search_index.py`), dense and fused search (`search.py`).
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from scholarlake.errors import IndexDamaged, LakeError
from scholarlake.lake.hashing import stable_key
from scholarlake.search.index import FILE, FORMAT, KEYWORDS_WEIGHT, TITLE_WEIGHT, folded_key
from scholarlake.search.paper import Author, Paper
from scholarlake.search.text import expression, parts_of, words

_PAGE = 500  # ids in one statement
_MAPPED_BYTES = 2 << 30
COMMON_SHARE = 0.05
"""A term in more of the papers than this says little about relevance."""
COMMON_LEAST = 20_000
SCORED = 50_000
"""So many of the matching papers are scored, the most cited ones: a bound on the time that a query can take."""
_INTEGER = range(-(1 << 63), 1 << 63)


class SearchIndex:
    """An open search index. The file is never changed once published, so it is opened as immutable; a connection per thread."""

    def __init__(self, folder: Path) -> None:
        """Open FILE in an artifact's folder. Raises IndexDamaged where it can't be read or has another format."""
        self.path = folder / FILE
        self._local = threading.local()
        self._all: weakref.WeakSet[_Handle] = weakref.WeakSet()
        self._guard = threading.Lock()
        self._closed = False
        self.facts: dict[str, Any] = dict(self._rows("SELECT name, value FROM fact"))
        if self.facts.get("format") != FORMAT:
            raise IndexDamaged(f"{self.path} has format {self.facts.get('format')}, this version reads {FORMAT}; build it again")

    def __len__(self) -> int:
        return int(self.facts["papers"])

    def close(self) -> None:
        """Close the connections of every thread."""
        with self._guard:
            self._closed = True
            for handle in self._all:
                handle.connection.close()

    # -- papers --------------------------------------------------------------------------------------------------

    def rank(self, record_id: str) -> int | None:
        """Rank of the paper that a paper id, or the id of any record merged into it, names."""
        return self.ranks([record_id]).get(record_id)

    def ranks(self, record_ids: Iterable[str]) -> dict[str, int]:
        """The same for many ids; those that name no paper are left out."""
        return dict(self._by_key("SELECT record_id, rank FROM alias WHERE record_id IN", [i for i in record_ids if is_text(i)]))

    def paper_ids(self, ranks: Iterable[int]) -> dict[int, str]:
        return dict(self._by_key("SELECT rank, paper_id FROM paper WHERE rank IN", ranks))

    def ranks_of_vectors(self, faiss_ids: Iterable[int]) -> dict[int, int]:
        """Ranks of the papers that faiss ids stand for; unknown ones are left out."""
        return dict(self._by_key("SELECT faiss_id, rank FROM vector WHERE faiss_id IN", (i for i in faiss_ids if i in _INTEGER)))

    def titled(self, title: str) -> list[int]:
        """Ranks of the papers of exactly this title, the most cited first; where there is none, of those that differ from it
        only in case, width, punctuation and spaces."""
        if not is_text(title):
            return []
        exact = self._rows(
            "SELECT p.rank FROM title_exact t JOIN paper p USING (rank) WHERE t.hash = ? AND p.title = ? ORDER BY p.rank",
            (stable_key(title), title),
        )
        if exact:
            return [rank for (rank,) in exact]
        return [rank for (rank,) in self._rows("SELECT rank FROM title_folded WHERE hash = ? ORDER BY rank", (folded_key(title),))]

    def papers(self, ranks: Sequence[int]) -> list[Paper]:
        """The papers of these ranks, in the order given."""
        names = "rank, paper_id, title, abstract, year, venue, doi, lang, doc_type, in_degree, out_degree, total_degree, is_core, faiss_id"
        rows = {row[0]: row for row in self._by_key(f"SELECT {names}, details FROM paper WHERE rank IN", ranks)}
        keys = names.split(", ")
        return [_paper(dict(zip(keys, rows[rank], strict=False)), rows[rank][-1]) for rank in ranks]

    # -- keywords ------------------------------------------------------------------------------------------------

    def most_cited(self, terms: Sequence[str], limit: int = 10) -> list[int]:
        """Ranks of the papers that have any of the terms in keywords or title, the most cited first.

        A term of several words is a phrase. Where no term is found, its single words are looked for. Any text is allowed;
        one without a letter or digit finds nothing.
        """
        for query in _queries(terms):
            rows = self._rows("SELECT rowid FROM keyword WHERE keyword MATCH ? ORDER BY rowid LIMIT ?", (query, limit))
            if rows:
                return [rank for (rank,) in rows]
        return []

    def most_relevant(self, terms: Sequence[str], limit: int = 10) -> list[tuple[int, float]]:
        """Ranks and BM25 scores (keywords weigh 10, title 5; larger is better), the best first, ties by rank.

        Terms that more than COMMON_SHARE of the papers have are left out where a rarer one is there. Where all are common,
        papers that have all of them come first. Of more than SCORED matches, only the most cited are scored.
        """
        for query in _queries(terms):
            parts = parts_of(query)
            rare = [part for part in parts if not self._is_common(part)]
            for choice in [" OR ".join(rare)] if rare else [" AND ".join(parts), query]:
                rows = self._rows(
                    f"SELECT rank, score FROM (SELECT rowid AS rank, bm25(keyword, {KEYWORDS_WEIGHT}, {TITLE_WEIGHT}) AS score "
                    "FROM keyword WHERE keyword MATCH ? ORDER BY rowid LIMIT ?) ORDER BY score, rank LIMIT ?",
                    (choice, SCORED, limit),
                )
                if len(rows) == limit or (rows and choice in (query, " OR ".join(rare))):
                    return [(rank, -score) for rank, score in rows]
        return []

    def _is_common(self, part: str) -> bool:
        bound = max(COMMON_LEAST, int(len(self) * COMMON_SHARE))
        rows = self._rows("SELECT count(*) FROM (SELECT 1 FROM keyword WHERE keyword MATCH ? LIMIT ?)", (part, bound + 1))
        return bool(rows[0][0] > bound)

    # -- SQLite --------------------------------------------------------------------------------------------------

    def _by_key(self, select: str, keys: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        distinct = list(dict.fromkeys(keys))
        for start in range(0, len(distinct), _PAGE):
            page = distinct[start : start + _PAGE]
            yield from self._rows(f"{select} ({', '.join('?' * len(page))})", page)

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connection().execute(sql, values).fetchall()
        except sqlite3.ProgrammingError as fault:  # closed by another thread
            raise LakeError("the search index was closed while it was read; open the release again") from fault
        except sqlite3.DatabaseError as fault:
            raise IndexDamaged(f"{self.path} can't be read ({fault}); build search_index again") from fault

    def _connection(self) -> sqlite3.Connection:
        if self._closed:
            raise LakeError("the search index is closed; open the release again")
        handle: _Handle | None = getattr(self._local, "handle", None)
        if handle is None or handle.process != os.getpid():
            handle = _Handle(sqlite3.connect(f"file:{quote(str(self.path))}?mode=ro&immutable=1", uri=True, check_same_thread=False))
            handle.connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}")
            with self._guard:
                self._all.add(handle)
            self._local.handle = handle
        return handle.connection


class _Handle:
    """A thread's connection: it goes with its thread, and must not cross a fork."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.process = os.getpid()


def _queries(terms: Sequence[str]) -> Iterator[str]:
    """The terms as phrases, then, where that is something else, as single words."""
    phrases = expression(terms)
    if phrases is None:
        return
    yield phrases
    single = expression(words(terms))
    if single is not None and single != phrases:
        yield single


def is_text(value: object) -> bool:
    """Whether SQLite can be asked for it: text without lone surrogates."""
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)


def _paper(row: dict[str, Any], details: str) -> Paper:
    more: dict[str, Any] = orjson.loads(details)
    row["is_core"] = bool(row["is_core"])
    more["authors"] = tuple(Author(**author) for author in more["authors"] or ())
    for name in ("keywords", "record_ids", "editions", "flags", "urls", "versions"):
        more[name] = tuple(more.get(name) or ())  # releases made before a field was known lack it
    return Paper(**row, **more)

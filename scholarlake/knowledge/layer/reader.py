"""Reading the index of a collection: objects by id and by what they rest on, and what is near a query by words or by meaning.

Ids of objects that are asked for and not there are left out: a kept view may name what a later release lacks. Safe to use from several
threads. What does not belong here: how the files are laid out (`index`), how two rankings become one (`retrieving`).
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import orjson
from numpy.typing import NDArray

from scholarlake.errors import IndexDamaged, LakeError
from scholarlake.knowledge.layer.contents import KINDS
from scholarlake.knowledge.layer.index import FILE, FORMAT, VECTORS
from scholarlake.models.config import require
from scholarlake.models.protocol import Vectors
from scholarlake.search.text import parts_of

COMMON_SHARE, COMMON_LEAST = 0.1, 2_000
"""A word that more of the objects have says little; it is not looked for where a rarer one is."""
_PAGE = 500  # ids in one statement
_MAPPED_BYTES = 1 << 30


@dataclass(frozen=True)
class Stored:
    """An object as the index has it. at: its place."""

    at: int
    object_id: str
    kind: str
    content: Mapping[str, Any]
    papers: tuple[str, ...]


@dataclass(frozen=True)
class Within:
    """What a search is narrowed to: kinds of objects, and the papers that they must be about (None: any)."""

    kinds: tuple[str, ...] = KINDS
    papers: frozenset[str] | None = None


EVERYTHING = Within()


@dataclass(frozen=True)
class Link:
    """An object rests on another, or on a paper or a category. dependent: id of the object; basis: of what; role: what it is to it."""

    dependent: str
    basis: str
    role: str


class KnowledgeIndex:
    """An open index. Its files are never changed once published; a connection per thread."""

    def __init__(self, folder: Path, model: str) -> None:
        """Open the files in an artifact's folder. Raises IndexDamaged where they can't be read or don't belong together, ModelError where
        they are of another embedding model than `model`, a fingerprint."""
        self.path = folder / FILE
        self._local = threading.local()
        self._all: weakref.WeakSet[_Handle] = weakref.WeakSet()
        self._guard = threading.Lock()
        self._closed = False
        self.facts: dict[str, Any] = dict(self._rows("SELECT name, value FROM fact"))
        if self.facts.get("format") != FORMAT:
            raise IndexDamaged(f"{self.path} has format {self.facts.get('format')}, this version reads {FORMAT}; build it again")
        require(str(self.facts["model"]), model)
        self.matrix: Vectors = _matrix(folder / VECTORS, int(self.facts["vectors"]), int(self.facts["dimension"]))
        self.categories: dict[str, dict[str, Any]] = {
            name: orjson.loads(content) for name, content in self._rows("SELECT category_id, content FROM category ORDER BY n")
        }
        self.papers: frozenset[str] = frozenset(paper for (paper,) in self._rows("SELECT paper_id FROM paper"))
        # Which object each row of the matrix is of, and of which kind: what a search is narrowed by before it is ranked.
        places = self._rows("SELECT at, kind FROM item WHERE vector IS NOT NULL ORDER BY vector")
        self._at = np.array([at for at, _ in places], np.int64)
        self._kind = np.array([KINDS.index(kind) for _, kind in places], np.int8)

    def __len__(self) -> int:
        return int(self.facts["objects"])

    def close(self) -> None:
        """Close the connections of every thread."""
        with self._guard:
            self._closed = True
            for handle in self._all:
                handle.connection.close()

    # -- objects -------------------------------------------------------------------------------------------------

    def objects(self, ids: Iterable[str]) -> list[Stored]:
        """Objects by their ids, in the order asked for."""
        wanted = list(dict.fromkeys(ids))
        found = {row[1]: row for row in self._by_key(f"SELECT {_STORED} FROM item WHERE object_id IN", wanted)}
        return [_stored(found[name]) for name in wanted if name in found]

    def at(self, places: Iterable[int]) -> list[Stored]:
        """Objects by their places, in the order asked for."""
        wanted = list(dict.fromkeys(places))
        found = {row[0]: row for row in self._by_key(f"SELECT {_STORED} FROM item WHERE at IN", wanted)}
        return [_stored(found[place]) for place in wanted if place in found]

    def places(self, within: Within = EVERYTHING) -> list[int]:
        """Places of objects, in order."""
        rows = self._rows(f"SELECT at FROM item WHERE {_kinds(within)} ORDER BY at", within.kinds)
        about = self._about(within)
        return [at for (at,) in rows if about is None or at in about]

    def links(self, dependents: Iterable[str], roles: Sequence[str] = ()) -> list[Link]:
        """What some objects rest on, in their order."""
        wanted = list(dict.fromkeys(dependents))
        rows = self._by_key(
            "SELECT i.object_id, l.basis, l.role FROM link l JOIN item i ON i.at = l.dependent WHERE i.object_id IN", wanted
        )
        return _ordered([Link(*row) for row in rows if not roles or row[2] in roles], [(name, "") for name in wanted])

    def dependents(self, bases: Iterable[str], roles: Sequence[str] = ()) -> list[Link]:
        """What rests on some objects, papers or categories, in their order."""
        wanted = list(dict.fromkeys(bases))
        rows = self._by_key(f"{_LINKS} WHERE l.basis IN", wanted)
        return _ordered([Link(*row) for row in rows if not roles or row[2] in roles], [("", name) for name in wanted])

    # -- search --------------------------------------------------------------------------------------------------

    def by_words(self, query: str, limit: int, within: Within = EVERYTHING) -> list[tuple[int, float]]:
        """Places and BM25 scores (larger is better) of the objects with any part of an FTS5 expression, the best first, ties by place.

        Parts that many of the objects have are left out where a rarer one is there.
        """
        parts = parts_of(query)
        rare = [part for part in parts if not self._is_common(part)]
        chosen, values = _kinds(within), [*within.kinds]
        if within.papers is not None:
            # The plus keeps SQLite from running the whole match again for each object of the papers.
            chosen += " AND +k.rowid IN (SELECT at FROM item_paper WHERE paper_id IN (SELECT value FROM json_each(?)))"
            values.append(orjson.dumps(sorted(within.papers)).decode())
        rows = self._rows(
            "SELECT k.rowid, bm25(keyword) AS score FROM keyword k JOIN item i ON i.at = k.rowid "
            f"WHERE keyword MATCH ? AND {chosen} ORDER BY score, k.rowid LIMIT ?",
            (" OR ".join(rare or parts), *values, limit),
        )
        return [(at, -score) for at, score in rows]

    def by_meaning(self, query: Vectors, limit: int, within: Within = EVERYTHING) -> list[tuple[int, float]]:
        """Places and cosine similarities of the objects nearest to a unit vector, the nearest first, ties by place."""
        if not len(self.matrix) or limit <= 0:
            return []
        # In one thread: as fast as many for so few rows, steady beside other work, and the same sums on every machine.
        scores = np.einsum("ij,j->i", self.matrix, query.astype(np.float32))
        chosen = np.isin(self._kind, [KINDS.index(kind) for kind in within.kinds if kind in KINDS])
        if (about := self._about(within)) is not None:
            chosen &= np.isin(self._at, list(about))
        return nearest(scores, self._at, chosen, limit)

    def matches(self, part: str) -> int:
        """How many objects have one part of an FTS5 expression."""
        return int(self._rows("SELECT count(*) FROM keyword WHERE keyword MATCH ?", (part,))[0][0])

    def _is_common(self, part: str) -> bool:
        bound = max(COMMON_LEAST, int(len(self) * COMMON_SHARE))
        rows = self._rows("SELECT count(*) FROM (SELECT 1 FROM keyword WHERE keyword MATCH ? LIMIT ?)", (part, bound + 1))
        return bool(rows[0][0] > bound)

    def _about(self, within: Within) -> set[int] | None:
        """Places of the objects about the papers; None where they may be about any."""
        if within.papers is None:
            return None
        return {at for (at,) in self._by_key("SELECT at FROM item_paper WHERE paper_id IN", sorted(within.papers))}

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
            raise LakeError("the knowledge index was closed while it was read; open the release again") from fault
        except sqlite3.DatabaseError as fault:
            raise IndexDamaged(f"{self.path} can't be read ({fault}); build knowledge_index again") from fault

    def _connection(self) -> sqlite3.Connection:
        if self._closed:
            raise LakeError("the knowledge index is closed; open the release again")
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


_STORED = "at, object_id, kind, content, papers"
_LINKS = "SELECT i.object_id, l.basis, l.role FROM link l JOIN item i ON i.at = l.dependent"


def nearest(scores: NDArray[np.float32], places: NDArray[np.int64], chosen: NDArray[np.bool_], limit: int) -> list[tuple[int, float]]:
    """The places with the largest scores among the chosen ones, the largest first, ties by place."""
    among = np.flatnonzero(chosen)
    if len(among) > limit:
        least = np.partition(scores[among], len(among) - limit)[len(among) - limit]
        among = among[scores[among] >= least]  # all that tie with the last: which of them are taken is for the place to say
    order = among[np.lexsort((places[among], -scores[among]))][:limit]
    return [(int(places[row]), float(scores[row])) for row in order]


def _matrix(path: Path, rows: int, dimension: int) -> Vectors:
    try:
        matrix: Vectors = np.load(path, mmap_mode="r" if rows else None)
    except (OSError, ValueError) as fault:
        raise IndexDamaged(f"{path} can't be read ({fault}); build knowledge_index again") from fault
    if matrix.shape != (rows, dimension) or matrix.dtype != np.float32:
        raise IndexDamaged(f"{path} holds {matrix.dtype} of shape {matrix.shape}, not {(rows, dimension)}; build knowledge_index again")
    return matrix


def _stored(row: tuple[Any, ...]) -> Stored:
    at, object_id, kind, content, papers = row
    return Stored(at, object_id, kind, orjson.loads(content), tuple(orjson.loads(papers)))


def _kinds(within: Within) -> str:
    return f"kind IN ({', '.join('?' * len(within.kinds))})"


def _ordered(links: list[Link], order: list[tuple[str, str]]) -> list[Link]:
    """Links by what was asked for, then by their own ids."""
    place = {(dependent, basis): at for at, (dependent, basis) in enumerate(order)}

    def key(link: Link) -> tuple[int, str, str, str]:
        at = place.get((link.dependent, ""), place.get(("", link.basis), len(order)))
        return at, link.dependent, link.basis, link.role

    return sorted(links, key=key)

"""Objects that tasks made, over a release: found by the same queries as what the release holds, as soon as they are registered.

They are few. Their words lie in a table in memory, and are weighed as if they lay in the release's index, so that their places among its
objects are fair. What does not belong here: whose they are and whether they stand (`register`).
"""

from __future__ import annotations

import math
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import orjson
import polars as pl

from scholarlake.knowledge.layer.contents import synthesis_text
from scholarlake.knowledge.layer.reader import KnowledgeIndex, Link, Stored, Within, nearest
from scholarlake.knowledge.layer.register import LIVE
from scholarlake.lake.contracts import PIPELINE
from scholarlake.lake.hashing import text_hash
from scholarlake.models.answers import Refused, embed_each
from scholarlake.models.protocol import Embedder, Vectors
from scholarlake.search.text import TOKENIZER, index_text, parts_of

KINDS = ("synthesis", "hypothesis", "note")
"""What tasks register."""
_MARKED = "SELECT rowid, highlight(keyword, 0, char(2), char(3)) FROM keyword WHERE keyword MATCH ?"
_K1, _B = 1.2, 0.75  # as SQLite's bm25 has them


class Overlay:
    """Task-made objects of a collection. Their places follow those of the index. Safe to use from several threads."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], index: KnowledgeIndex, vectors: Mapping[str, Vectors]) -> None:
        """rows: of the registry. vectors: of the texts that could be embedded, by their hash."""
        self._index = index
        self._guard = threading.Lock()
        first = len(index) + 1
        self._stored = [_stored(first + n, row) for n, row in enumerate(rows)]
        self._by_id = {one.object_id: one for one in self._stored}
        texts = [synthesis_text(one.content) for one in self._stored]
        self._words = sqlite3.connect(":memory:", check_same_thread=False)
        self._words.execute(f'CREATE VIRTUAL TABLE keyword USING fts5 (words, tokenize="{TOKENIZER}")')
        for one, text in zip(self._stored, texts, strict=True):
            self._words.execute("INSERT INTO keyword(rowid, words) VALUES (?, ?)", (one.at, index_text(text)))
        self._words.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, keyword, instance)")
        self._lengths = dict(self._words.execute("SELECT doc, count(*) FROM temp.vocabulary GROUP BY doc").fetchall())
        embedded = [(one.at, vectors[name]) for one, text in zip(self._stored, texts, strict=True) if (name := text_hash(text)) in vectors]
        self._at = np.array([at for at, _ in embedded], np.int64)
        self._matrix = np.array([vector for _, vector in embedded], np.float32)

    def __len__(self) -> int:
        return len(self._stored)

    def close(self) -> None:
        self._words.close()

    def objects(self, ids: Iterable[str]) -> list[Stored]:
        return [self._by_id[name] for name in dict.fromkeys(ids) if name in self._by_id]

    def at(self, places: Iterable[int]) -> list[Stored]:
        """Objects by their places; those of the index are left out."""
        first = len(self._index) + 1
        return [self._stored[place - first] for place in places if place >= first]

    def places(self, within: Within) -> list[int]:
        return [one.at for one in self._stored if _is_within(one, within)]

    def links(self, ids: Iterable[str]) -> list[Link]:
        """What some of these objects rest on."""
        return [link for one in self.objects(ids) for link in _links(one)]

    def dependents(self, bases: Iterable[str]) -> list[Link]:
        """What of these objects rests on some objects."""
        wanted = set(bases)
        return [link for one in self._stored for link in _links(one) if link.basis in wanted]

    def by_words(self, query: str, within: Within) -> list[tuple[int, float]]:
        """Places and BM25 scores of the objects with any part of an FTS5 expression, as the release's index would have them."""
        if not self._stored:
            return []
        total = len(self._index) + len(self)
        usual = max(1.0, int(self._index.facts["words"]) / max(1, int(self._index.facts["searched"])))
        scores: dict[int, float] = {}
        for part in parts_of(query):
            with self._guard:
                rows = self._words.execute(_MARKED, (part,))
                found = {at: marked.count("\x02") for at, marked in rows.fetchall()}
            having = self._index.matches(part) + len(found) if found else 0
            weight = max(1e-6, math.log((total - having + 0.5) / (having + 0.5))) if found else 0.0
            for at, times in found.items():
                length = _K1 * (1 - _B + _B * self._lengths.get(at, 0) / usual)
                scores[at] = scores.get(at, 0.0) + weight * times * (_K1 + 1) / (times + length)
        chosen = set(self.places(within))
        return sorted(((at, score) for at, score in scores.items() if at in chosen), key=lambda one: (-one[1], one[0]))

    def by_meaning(self, query: Vectors, limit: int, within: Within) -> list[tuple[int, float]]:
        """Places and cosine similarities of the objects nearest to a unit vector."""
        if not len(self._at):
            return []
        chosen = np.isin(self._at, self.places(within))
        return nearest(np.einsum("ij,j->i", self._matrix, query), self._at, chosen, limit)


def task_made(working: pl.LazyFrame, collection: str) -> list[dict[str, Any]]:
    """Rows of the registry at work: what tasks made in a collection and what stands of it, by id."""
    mine = (pl.col("chain") != PIPELINE) & (pl.col("collection") == collection) & pl.col("kind").is_in(KINDS)
    rows = working.filter(mine & pl.col("status").is_in(LIVE)).sort("object_id", "version")
    return rows.unique("object_id", keep="last", maintain_order=True).collect().to_dicts()


def embedded(rows: Sequence[Mapping[str, Any]], embedder: Embedder, known: Mapping[str, Vectors]) -> dict[str, Vectors]:
    """Vectors of what the rows say, by the hash of the text; only what is not known is asked for."""
    texts = {text_hash(text): text for row in rows for text in [synthesis_text(orjson.loads(row["content"]))]}
    found = {name: known[name] for name in texts if name in known}
    asked = [name for name in texts if name not in found]
    for result in embed_each(embedder, [texts[name] for name in asked]) if asked else ():
        if not isinstance(result, Refused):
            found.update((asked[place], vector) for place, vector in zip(result.positions, result.vectors, strict=True))
    return found


def _stored(at: int, row: Mapping[str, Any]) -> Stored:
    content = orjson.loads(row["content"])
    return Stored(at, row["object_id"], row["kind"], content, tuple(content.get("studies") or ()))


def _links(one: Stored) -> list[Link]:
    return [Link(one.object_id, entry["object_id"], entry["role"]) for entry in one.content["basis"]]


def _is_within(one: Stored, within: Within) -> bool:
    return one.kind in within.kinds and (within.papers is None or not within.papers.isdisjoint(one.papers))

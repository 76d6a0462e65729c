"""The index of a collection: one SQLite file with every object, its words and what it rests on, and one matrix of vectors; how it is built.

The matrix is searched exactly: a collection has some hundred thousand objects at most. A text that the index before had a vector of keeps
it, where the model is the same; what is finished of the others outlives a killed process in the spool. Equal tables and vectors give equal
bytes. What does not belong here: what an object is found by (`contents`), reading the files (`reader`).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import orjson

from scholarlake.corpus.progress import Progress, silent
from scholarlake.dense.spool import Spool
from scholarlake.errors import IndexDamaged
from scholarlake.knowledge.layer.contents import KINDS, LAYERS, Contents, Entry, contents, searched
from scholarlake.lake import artifacts
from scholarlake.lake.artifacts import Artifact
from scholarlake.lake.hashing import digest, text_hash
from scholarlake.lake.home import Lake
from scholarlake.models.answers import Refused, embed_each
from scholarlake.models.protocol import Embedder, Vectors
from scholarlake.search.text import TOKENIZER, index_text

ASSET = "knowledge_index"
FILE = "knowledge.sqlite"
VECTORS = "vectors.npy"
FORMAT = 1
SPOOL_SECONDS = 20.0
"""A slow model's finished work is spooled this often, even if no batch is full."""

SCHEMA = f"""
CREATE TABLE item (
    at INTEGER PRIMARY KEY,  -- from 1, by kind in the order of KINDS, then as the tables are sorted
    object_id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, layer INTEGER NOT NULL,
    text_hash TEXT,          -- of the text that it is found by; null where it is reached from other objects only
    vector INTEGER UNIQUE,   -- its row in the matrix; null where it has none
    content TEXT NOT NULL,   -- its row of its table, as JSON
    papers TEXT NOT NULL     -- a JSON list
);
CREATE INDEX item_kind ON item (kind, at);
CREATE TABLE item_paper (paper_id TEXT, at INTEGER, PRIMARY KEY (paper_id, at)) WITHOUT ROWID;
CREATE TABLE link (dependent INTEGER, basis TEXT, role TEXT, PRIMARY KEY (dependent, basis, role)) WITHOUT ROWID;
CREATE INDEX link_basis ON link (basis, role, dependent);
CREATE TABLE paper (paper_id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE category (n INTEGER PRIMARY KEY, category_id TEXT NOT NULL UNIQUE, content TEXT NOT NULL);
CREATE TABLE not_embedded (at INTEGER PRIMARY KEY, reason TEXT NOT NULL);
CREATE TABLE fact (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE VIRTUAL TABLE keyword USING fts5 (words, content='', tokenize="{TOKENIZER}");
"""
_Before = tuple[dict[str, int], Vectors]  # rows of texts in a matrix, and the matrix
# Durability comes from publishing the finished folder; a build that dies is thrown away.
_FAST = "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"


@dataclass(frozen=True)
class IndexReport:
    """What building an index did. kept: texts whose vector was there. resumed: texts found in the spool. embedded: texts computed now."""

    artifact: Artifact
    objects: int
    by_kind: dict[str, int]
    kept: int
    resumed: int
    embedded: int
    not_embedded: int


@dataclass(frozen=True)
class _Embedded:
    """Vectors of distinct texts, shape (n, dimension), and the row of each text's hash in it; reason of each text that has none."""

    vectors: Vectors
    rows: dict[str, int]
    refused: dict[str, str]
    kept: int = 0
    resumed: int = 0


def build_knowledge_index(
    lake: Lake, collection: str, embedder: Embedder, previous: str | None = None, progress: Progress = silent
) -> IndexReport:
    """Publish the index of a collection. previous: path of the index before, below the lake's root, if there is one.

    Raises ModelError where the endpoint is lost; finished vectors are kept, and the next call goes on from there.
    """
    held = contents(lake, collection)
    spool = Spool(lake, embedder.fingerprint, f"{ASSET}.{digest([collection])[:16]}", embedder.dimension)
    texts = {text_hash(text): text for _, text in searched(held.entries)}
    found = _embed(texts, embedder, spool, _vectors_before(lake, previous, embedder), progress)

    def build(folder: Path) -> dict[str, Any]:
        return _write(folder, held, found, embedder, progress)

    made = artifacts.publish(lake, ASSET, collection, build)
    spool.clear()
    counted = {kind: int(made.facts[kind]) for kind in KINDS}
    return IndexReport(
        artifact=made,
        objects=int(made.facts["objects"]),
        by_kind=counted,
        kept=found.kept,
        resumed=found.resumed,
        embedded=len(found.rows) - found.kept - found.resumed,
        not_embedded=int(made.facts["not_embedded"]),
    )


# -- vectors ---------------------------------------------------------------------------------------------------------


def _vectors_before(lake: Lake, previous: str | None, embedder: Embedder) -> _Before:
    """Rows of texts in the matrix of the index before, and the matrix; nothing where it is of another model or damaged."""
    nothing: _Before = ({}, np.empty((0, embedder.dimension), np.float32))
    if previous is None:
        return nothing
    folder = lake.root / previous
    try:
        facts = artifacts.open_artifact(folder)["facts"]
    except IndexDamaged:
        return nothing
    if (facts.get("format"), facts.get("model")) != (FORMAT, embedder.fingerprint):
        return nothing
    connection = sqlite3.connect(f"file:{quote(str(folder / FILE))}?mode=ro&immutable=1", uri=True)
    try:
        rows = dict(connection.execute("SELECT text_hash, vector FROM item WHERE vector IS NOT NULL").fetchall())
    finally:
        connection.close()
    return rows, np.load(folder / VECTORS, mmap_mode="r")


def _embed(texts: dict[str, str], embedder: Embedder, spool: Spool, before: _Before, progress: Progress) -> _Embedded:
    """Every text's vector or reason, each text once."""
    known, matrix = before
    kept = sorted(known.keys() & texts.keys())
    wanted = [name for name in texts if name not in known]
    spool.adopt(wanted)
    resumed = [name for name in wanted if name in spool]
    refused = _compute([name for name in wanted if name not in spool], texts, embedder, spool, progress)
    fresh = [name for name in wanted if name in spool]
    vectors = np.concatenate([np.asarray(matrix[[known[name] for name in kept]], np.float32), spool.read(fresh)])
    rows = {name: row for row, name in enumerate([*kept, *fresh])}
    return _Embedded(vectors, rows, refused, len(kept), len(resumed))


def _compute(missing: Sequence[str], texts: dict[str, str], embedder: Embedder, spool: Spool, progress: Progress) -> dict[str, str]:
    """Embed what is missing into the spool; the reason of each text that gets no vector."""
    refused: dict[str, str] = {name: "empty_text" for name in missing if not texts[name].strip()}
    asked = [name for name in missing if name not in refused]
    done: list[tuple[list[str], Vectors]] = []
    finished, spooled = 0, time.monotonic()
    try:
        for result in embed_each(embedder, [texts[name] for name in asked]) if asked else ():
            if isinstance(result, Refused):
                refused[asked[result.position]] = result.reason
                continue
            done.append(([asked[place] for place in result.positions], result.vectors))
            finished += len(result.positions)
            if time.monotonic() - spooled > SPOOL_SECONDS:
                _spool(spool, done)
                spooled = time.monotonic()
            progress(finished, len(asked), "texts embedded")
    finally:
        _spool(spool, done)
    return refused


def _spool(spool: Spool, done: list[tuple[list[str], Vectors]]) -> None:
    if done:
        spool.append([name for names, _ in done for name in names], np.concatenate([vectors for _, vectors in done]))
        done.clear()


# -- files -----------------------------------------------------------------------------------------------------------


def _write(folder: Path, held: Contents, found: _Embedded, embedder: Embedder, progress: Progress) -> dict[str, Any]:
    """Lay down both files; returns the facts for the manifest."""
    connection = sqlite3.connect(folder / FILE, isolation_level=None)
    order: list[int] = []
    not_embedded = 0
    try:
        connection.executescript(_FAST + SCHEMA)
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO paper VALUES (?)", [(paper,) for paper in held.papers])
        connection.executemany(
            "INSERT INTO category VALUES (?, ?, ?)", [(n, row["category_id"], as_json(row)) for n, row in enumerate(held.categories)]
        )
        for at, entry in enumerate(held.entries, 1):
            row = _insert(connection, at, entry, found, len(order))
            if row is not None:
                order.append(row)
            elif entry.text is not None:
                not_embedded += 1
            if at % 1_000 == 0:
                progress(at, len(held.entries), "objects indexed")
        facts = {**_facts(held, len(order), not_embedded, embedder), "words": count_words(connection)}
        connection.execute("INSERT INTO keyword(keyword) VALUES ('optimize')")
        connection.executemany("INSERT INTO fact VALUES (?, ?)", sorted(facts.items()))
        connection.execute("COMMIT")
    finally:
        connection.close()
    np.save(folder / VECTORS, np.ascontiguousarray(found.vectors[order], np.float32).reshape(len(order), embedder.dimension))
    return {**facts, "files": [FILE, VECTORS]}


def _insert(connection: sqlite3.Connection, at: int, entry: Entry, found: _Embedded, next_row: int) -> int | None:
    """One object into the file; the row of its text among the vectors, None where it has none."""
    named = None if entry.text is None else text_hash(entry.text)
    row = found.rows.get(named) if named else None
    vector = None if row is None else next_row
    connection.execute(
        "INSERT INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (at, entry.object_id, entry.kind, LAYERS[entry.kind], named, vector, as_json(entry.content), as_json(list(entry.papers))),
    )
    connection.executemany("INSERT INTO item_paper VALUES (?, ?)", [(paper, at) for paper in entry.papers])
    connection.executemany("INSERT OR IGNORE INTO link VALUES (?, ?, ?)", [(at, basis, role) for basis, role in entry.rests_on])
    if entry.text is not None:
        connection.execute("INSERT INTO keyword(rowid, words) VALUES (?, ?)", (at, index_text(entry.text)))
        if row is None:
            connection.execute("INSERT INTO not_embedded VALUES (?, ?)", (at, found.refused.get(str(named), "not embedded")))
    return row


def _facts(held: Contents, vectors: int, not_embedded: int, embedder: Embedder) -> dict[str, Any]:
    kinds = [entry.kind for entry in held.entries]
    return {
        "format": FORMAT,
        "papers": len(held.papers),
        "categories": len(held.categories),
        "objects": len(kinds),
        **{kind: kinds.count(kind) for kind in KINDS},
        "searched": sum(entry.text is not None for entry in held.entries),
        "vectors": vectors,
        "not_embedded": not_embedded,
        "model": embedder.fingerprint,
        "dimension": embedder.dimension,
    }


def count_words(connection: sqlite3.Connection) -> int:
    """Words of all that the keyword table of a connection holds."""
    connection.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, keyword, row)")
    return int(connection.execute("SELECT coalesce(sum(cnt), 0) FROM temp.vocabulary").fetchone()[0])


def as_json(value: Any) -> str:
    """JSON with sorted keys, so that equal values are equal bytes."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()

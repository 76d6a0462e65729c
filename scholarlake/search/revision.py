"""Publishing the search index: made anew, or the one before with the papers exchanged that came, went or changed.

A file is revised where a note tells of which versions of the tables it was made and few papers differ since. It answers as one made anew
would: a paper whose in-degree or year changed gets a rank between those that are its neighbours now. Where they leave no room, or a table's
history does not tell what changed, all is made anew. What does not belong here: how a file is laid out (`index.py`).
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from scholarlake.corpus.progress import Progress, silent
from scholarlake.errors import IndexDamaged, LakeError
from scholarlake.lake import artifacts, delta
from scholarlake.lake.artifacts import Artifact
from scholarlake.lake.changes import AT, AT_BEFORE, Differing
from scholarlake.lake.files import read_json, write_json
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.lake.since import Mark, mark, since
from scholarlake.search import index
from scholarlake.search.text import TOKENIZER, index_text

ASSET = "search_index"
FEW = 0.02
"""Share of the papers up to which they are exchanged: of more, the file is made anew sooner."""
_CODE = "1"  # to be raised where equal tables come to another file
_TABLES = {
    "papers": ("paper_id",),
    "degrees": ("paper_id",),
    "embeddings": ("paper_id",),
    "identities": ("paper_id",),
    "work_versions": ("paper_id", "version_of"),
}
"""What the file is made of, and which columns name the papers whose page or lookups a row is part of."""
_PAGE = 500


class _NoRoom(Exception):
    """Two ranks leave none between them."""


def publish(lake: Lake, previous: str | None, progress: Progress = silent) -> Artifact:
    """Publish the search index of the tables as they stand. previous: path of the one before, below the lake's root, if there is one."""
    marks = {name: mark(lake, name) for name in _TABLES}
    changed = _changed(lake, previous)
    made: Artifact | None = None
    if previous is not None and changed is not None:
        before = lake.root / previous
        try:
            made = artifacts.publish(lake, ASSET, None, lambda folder: revise(lake, before, folder, changed, progress))
        except (_NoRoom, sqlite3.DatabaseError, IndexDamaged):
            made = None
    if made is None:
        made = artifacts.publish(lake, ASSET, None, lambda folder: index.build_search_index(lake, folder, progress))
    write_json(_note(lake), {"artifact": made.path, "made_by": _made_by(), "marks": marks})
    return made


def _note(lake: Lake) -> Path:
    return lake.spool(ASSET, "made.json")


def _made_by() -> str:
    return digest([_CODE, str(index.FORMAT), index.SCHEMA, TOKENIZER, sqlite3.sqlite_version])


def _changed(lake: Lake, previous: str | None) -> pl.Series | None:
    """Ids of the papers that may have another page, rank or lookup than in the file before. None where it has to be made anew."""
    try:
        note: dict[str, Any] = read_json(_note(lake))
    except (OSError, ValueError):
        return None
    if previous is None or note.get("artifact") != previous or note.get("made_by") != _made_by():
        return None
    found: list[pl.Series] = []
    try:
        for name, columns in _TABLES.items():
            kept: Mark | None = note["marks"][name]
            if kept is None and mark(lake, name) is None:
                continue
            differs = since(lake, name, kept)
            if differs is None:
                return None
            found += [ids for one in differs.differing for ids in _named(one, columns)]
    except LakeError:
        return None
    ids = pl.concat([pl.Series("paper_id", [], dtype=pl.String), *found]).drop_nulls().unique().sort()
    papers = delta.count(lake, "papers")
    return ids if papers >= index.SPREAD_FROM and len(ids) <= FEW * papers else None


def _named(one: Differing, columns: tuple[str, ...]) -> Iterator[pl.Series]:
    """The papers that rows name which came, went or changed."""
    changes = one.changes()
    for side, rows in (
        (one.after, changes.came[AT]),
        (one.before, changes.went[AT]),
        (one.after, changes.changed[AT]),
        (one.before, changes.changed[AT_BEFORE]),
    ):
        frame = side.take(rows, columns)
        yield from (frame[name].alias("paper_id") for name in columns)


def revise(lake: Lake, before: Path, folder: Path, changed: pl.Series, progress: Progress = silent) -> dict[str, Any]:
    """Write the file of the folder before into another, the pages, words and lookups of some papers made anew. Returns the facts for its
    manifest.

    Raises IndexDamaged where the file before is not what its manifest says, _NoRoom where a paper can't be ranked.
    """
    progress(0, len(changed), "papers exchanged")
    artifacts.open_artifact(before)
    shutil.copyfile(before / index.FILE, folder / index.FILE)
    connection = sqlite3.connect(folder / index.FILE, isolation_level=None)
    try:
        connection.executescript(index.FAST)
        connection.execute("BEGIN")
        ranks = _taken_out(connection, changed.to_list())
        narrow = index.narrow(lake, changed).collect()
        _put_in(connection, lake, narrow, _ranked(connection, narrow, ranks))
        facts = _facts(connection)
        connection.executemany("UPDATE fact SET value = ?2 WHERE name = ?1", sorted(facts.items()))
        connection.execute("COMMIT")
    finally:
        connection.close()
    progress(len(changed), len(changed), "papers exchanged")
    return index.manifest_facts(facts)


# -- taking out ------------------------------------------------------------------------------------------------------

_Key = tuple[int, int | None]  # in-degree and year: with the id, what ranks a paper


def _taken_out(connection: sqlite3.Connection, ids: list[str]) -> dict[str, tuple[int, _Key]]:
    """Take out all that the file says of some papers. Returns by id the rank and what it was ranked by, of those that were there."""
    found: dict[str, tuple[int, _Key]] = {}
    for start in range(0, len(ids), _PAGE):
        page = ids[start : start + _PAGE]
        rows = connection.execute(
            "SELECT p.rank, p.paper_id, p.title, p.in_degree, p.year, p.faiss_id, p.details FROM alias a JOIN paper p USING (rank) "
            f"WHERE a.record_id = p.paper_id AND a.record_id IN ({', '.join('?' * len(page))}) ORDER BY p.rank",
            page,
        ).fetchall()
        for rank, paper_id, title, in_degree, year, faiss_id, details in rows:
            about = orjson.loads(details)
            keywords = "\n".join(word for word in about["keywords"] or () if word is not None)
            forgotten = (rank, index_text(keywords), index_text(title))
            connection.execute("INSERT INTO keyword(keyword, rowid, keywords, title) VALUES ('delete', ?, ?, ?)", forgotten)
            names = {paper_id, *(about["record_ids"] or ())}
            connection.executemany("DELETE FROM alias WHERE record_id = ? AND rank = ?", [(name, rank) for name in sorted(names)])
            connection.execute("DELETE FROM title_exact WHERE hash = ? AND rank = ?", (index.exact_key(title), rank))
            connection.execute("DELETE FROM title_folded WHERE hash = ? AND rank = ?", (index.folded_key(title), rank))
            connection.execute("DELETE FROM vector WHERE faiss_id = ?", (faiss_id,))
            connection.execute("DELETE FROM paper WHERE rank = ?", (rank,))
            found[paper_id] = rank, (in_degree, year)
    return found


# -- putting in ------------------------------------------------------------------------------------------------------


def _ranked(connection: sqlite3.Connection, narrow: pl.DataFrame, before: Mapping[str, tuple[int, _Key]]) -> pl.DataFrame:
    """paper_id and rank of papers that are to be put in: the rank before where what it rests on is the same, else one of those that the
    papers in the file, and those that keep theirs, leave free."""
    placed: dict[str, int] = {}
    held: list[tuple[int, _SortKey]] = []  # those that stay hold their places while the others look for theirs
    moved: list[_SortKey] = []
    for paper_id, in_degree, year in narrow.select("paper_id", "in_degree", "year").iter_rows():
        rank, ranked_by = before.get(paper_id, (0, None))
        if ranked_by == (in_degree, year):
            placed[paper_id] = rank
            held.append((rank, _sort_key(in_degree, year, paper_id)))
        else:
            moved.append(_sort_key(in_degree, year, paper_id))
    for key in sorted(moved):
        low, high = _neighbours(connection, key, held)
        rank = low + index.STEP if high is None else (low + high) // 2
        if rank == low:
            raise _NoRoom
        placed[key[-1]] = rank
        held.append((rank, key))
    return pl.DataFrame({"paper_id": list(placed), "rank": list(placed.values())}, schema={"paper_id": pl.String, "rank": pl.Int64})


_FROM = "SELECT rank, in_degree, year, paper_id FROM paper WHERE"
_SortKey = tuple[int, bool, int, str]


def _sort_key(in_degree: int, year: int | None, paper_id: str) -> _SortKey:
    """What sorts papers as `index` ranks them: most cited first, then the newest, those without a year last, then by id."""
    return -in_degree, year is None, -(year or 0), paper_id


def _neighbours(connection: sqlite3.Connection, key: _SortKey, held: list[tuple[int, _SortKey]]) -> tuple[int, int | None]:
    """The largest rank of a paper that comes before a key, 0 where none does, and the smallest of one that comes after, None where none
    does: among those in the file, by halving, and those held."""
    low, high = 0, int(connection.execute("SELECT coalesce(max(rank), 0) FROM paper").fetchone()[0]) + 1
    end = high
    while True:
        half = (low + high + 1) // 2
        middle = connection.execute(f"{_FROM} rank >= ? AND rank < ? ORDER BY rank LIMIT 1", (half, high)).fetchone()
        middle = middle or connection.execute(f"{_FROM} rank > ? AND rank < ? ORDER BY rank DESC LIMIT 1", (low, half)).fetchone()
        if middle is None:
            break
        if _sort_key(*middle[1:]) < key:
            low = middle[0]
        else:
            high = middle[0]
    before = [rank for rank, other in held if other < key]
    after = [rank for rank, other in held if other > key]
    above = [high] if high < end else []
    return max([low, *before]), min([*above, *after], default=None)


def _put_in(connection: sqlite3.Connection, lake: Lake, narrow: pl.DataFrame, ranks: pl.DataFrame) -> None:
    ranked = narrow.drop("year", "shard").join(ranks, on="paper_id")
    is_one = pl.col("paper_id").is_in(ranked["paper_id"].implode())
    wide = lake.scan("papers").filter(is_one).select(index.WIDE).collect()
    of_work = index.versions_of_works(lake).filter(is_one).collect()
    titles = index.insert_papers(connection, index.page_rows(wide, ranked, of_work).sort("rank"))
    aliases = index.aliases_of(lake.scan("identities").filter(is_one), ranks.lazy()).collect()
    connection.executemany("INSERT INTO alias VALUES (?, ?)", aliases.iter_rows())
    connection.executemany("INSERT INTO vector VALUES (?, ?)", ranked.select("faiss_id", "rank").drop_nulls().iter_rows())
    for table, column in (("title_exact", "exact"), ("title_folded", "folded")):
        connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", titles.select(column, "rank").drop_nulls().iter_rows())


def _facts(connection: sqlite3.Connection) -> dict[str, int]:
    counted = {
        "papers": "SELECT count(*) FROM paper",
        "aliases": "SELECT count(*) FROM alias",
        "vectors": "SELECT count(*) FROM vector",
        "titles": "SELECT count(DISTINCT hash) FROM title_exact",
    }
    return {"format": index.FORMAT, **{name: int(connection.execute(query).fetchone()[0]) for name, query in counted.items()}}

"""The file of words after any changes of `papers` says what one made from nothing says."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from scholarlake.corpus.selection import words
from scholarlake.corpus.selection.candidates import Candidates
from scholarlake.corpus.selection.words import Words
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from tests.unit.corpus.selection.choosing import lake_of
from tests.unit.small_lake import COMMIT, frame, paper

WORDS = ["graph", "graphs", "lattice", "gauge", "theory", "spin", "ε-net", "深度学习", "neural", "C++", "survey"]
QUERIES = ("graph", "lattice gauge theory", "深度学习", "neural survey of spin", "C++")


def text(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(0, 12)))


def row(lake: Lake, number: int, chance: random.Random) -> dict[str, Any]:
    name = f"p{number}"
    about = {"abstract": chance.choice([None, text(chance)]), "keywords": chance.sample(WORDS, 2), "year": chance.randint(1990, 2020)}
    return {**paper(name, text(chance) or None, **about), "shard": lake.shard_of(name), "paper_key": number}


def upsert(lake: Lake, rows: list[dict[str, Any]]) -> None:
    for shard in lake.shard_keys:
        changed = frame("papers", [one for one in rows if one["shard"] == shard])
        delta.apply(lake, "papers", shard, changed, changed.head(0).select("paper_id"), COMMIT)


def answers(lake: Lake) -> list[Any]:
    """Every hit of every query, scores to the last digit but two."""
    found = Words(Candidates(lake))
    try:
        rows = (
            found._open().execute("SELECT rowid, bm25(words, 4, 1, 4) FROM words WHERE words MATCH ?", [f'"{query}"']) for query in QUERIES
        )
        return [sorted((int(found._number[row]), round(score, 12)) for row, score in hits) for hits in rows]
    finally:
        found.close()


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(tmp_path / "lake", [paper(f"p{number}", "graph") for number in range(30)])


def remove(lake: Lake, number: int) -> None:
    gone = lake.scan("papers").filter(paper_id=f"p{number}").collect()
    delta.apply(lake, "papers", gone["shard"][0], gone.head(0), gone.select("paper_id"), COMMIT)


@pytest.fixture
def filled(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files of words that were made from nothing."""
    made: list[Path] = []
    fill = Words._fill
    monkeypatch.setattr(Words, "_fill", lambda self, folder: (made.append(folder), fill(self, folder))[1])
    return made


def test_words_that_were_exchanged_weigh_as_if_they_had_always_been_there(
    lake: Lake, filled: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "FEW", 2.0)
    monkeypatch.setattr(words, "MOST_ROWS", 100)
    chance = random.Random(5)
    answers(lake)
    for _ in range(12):
        upsert(lake, [row(lake, number, chance) for number in chance.sample(range(40), chance.randint(1, 6))])
        there = set(lake.scan("papers").select("paper_id").collect()["paper_id"])
        for number in chance.sample(range(40), 4):  # numbers of all others move with them; some come back later
            if f"p{number}" in there:
                remove(lake, number)
        del filled[:]
        exchanged = answers(lake)
        assert filled == [], "the file that there was is used"
        kept = lake.spool("collections", "words").rename(lake.spool("collections", "kept"))
        assert exchanged == answers(lake)
        assert len(filled) == 1
        shutil.rmtree(lake.spool("collections", "words"))
        kept.rename(lake.spool("collections", "words"))


@pytest.mark.parametrize(
    "change", ["many changed", "many rows are empty", "another program made it", "another table of that version", "damaged"]
)
def test_a_file_of_words_that_is_of_no_use_is_made_anew(
    lake: Lake, filled: list[Path], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(1)
    answers(lake)
    if change == "many changed":
        upsert(lake, [row(lake, number, chance) for number in range(20)])
    elif change == "many rows are empty":
        monkeypatch.setattr(words, "MOST_ROWS", 1.0)
        upsert(lake, [row(lake, 100, chance)])
        remove(lake, 7)
    elif change == "another program made it":
        upsert(lake, [row(lake, 3, chance)])
        monkeypatch.setattr(words, "VERSION", "another")
    elif change == "damaged":
        upsert(lake, [row(lake, 3, chance)])
        (lake.spool("collections", "words", "papers") / words.FILE).write_bytes(b"no database at all")
    else:
        version = delta.version(lake, "papers")
        shutil.rmtree(lake.table_path("papers"))
        while delta.version(lake, "papers") != version:
            upsert(lake, [row(lake, number, chance) for number in range(9)])
    del filled[:]
    found = answers(lake)
    assert len(filled) == 1
    shutil.rmtree(lake.spool("collections", "words"))
    assert found == answers(lake)


def test_words_of_a_run_that_died_while_it_exchanged_them_are_as_before(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(3)
    answers(lake)
    upsert(lake, [row(lake, 3, chance), row(lake, 200, chance)])
    packed = words._packed
    monkeypatch.setattr(words, "_packed", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        answers(lake)
    monkeypatch.setattr(words, "_packed", packed)
    found = answers(lake)
    shutil.rmtree(lake.spool("collections", "words"))
    assert found == answers(lake)

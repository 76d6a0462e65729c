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
    found = Words(Candidates(lake), str(delta.version(lake, "papers")))
    try:
        rows = (
            found._open().execute("SELECT rowid, bm25(words, 4, 1, 4) FROM words WHERE words MATCH ?", [f'"{query}"']) for query in QUERIES
        )
        return [sorted((number, round(score, 12)) for number, score in hits) for hits in rows]
    finally:
        found.close()


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(tmp_path / "lake", [paper(f"p{number}", "graph") for number in range(30)])


def test_words_that_were_exchanged_weigh_as_if_they_had_always_been_there(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "FEW", 1.0)
    filled: list[Path] = []
    fill = Words._fill
    monkeypatch.setattr(Words, "_fill", lambda self, folder: (filled.append(folder), fill(self, folder))[1])
    chance = random.Random(5)
    answers(lake)
    for _ in range(12):
        upsert(lake, [row(lake, number, chance) for number in chance.sample(range(30), chance.randint(1, 6))])
        del filled[:]
        exchanged = answers(lake)
        assert filled == [], "the file that there was is used"
        shutil.rmtree(lake.spool("collections", "words"))
        assert exchanged == answers(lake)
        assert len(filled) == 1


@pytest.mark.parametrize("change", ["a paper came", "a paper went", "many changed", "another program made it"])
def test_where_numbers_moved_or_much_changed_all_is_read_again(lake: Lake, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(1)
    answers(lake)
    if change == "a paper came":
        upsert(lake, [row(lake, 100, chance)])
    elif change == "a paper went":
        gone = lake.scan("papers").filter(paper_id="p7").collect()
        delta.apply(lake, "papers", gone["shard"][0], gone.head(0), gone.select("paper_id"), COMMIT)
    elif change == "many changed":
        upsert(lake, [row(lake, number, chance) for number in range(20)])
    else:
        upsert(lake, [row(lake, 3, chance)])
        monkeypatch.setattr(words, "VERSION", "another")
    monkeypatch.setattr(Words, "_revise", lambda *_: pytest.fail("the file that there was is of no use"))
    found = answers(lake)
    shutil.rmtree(lake.spool("collections", "words"))
    assert found == answers(lake)

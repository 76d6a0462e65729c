"""A search index in which papers were exchanged answers as one that is made anew."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from scholarlake.lake import artifacts
from scholarlake.lake.home import Lake
from scholarlake.search import index as layout
from scholarlake.search import revision
from scholarlake.search.index import FILE, build_search_index
from scholarlake.search.invariants import every_id_resolves, every_paper_is_found, every_vector_leads_to_its_paper
from scholarlake.search.reader import SearchIndex
from tests.unit.small_lake import make_lake, paper

WORDS = ["graph", "Graph", "lattice", "gauge", "theory", "spin", "ε-net", "深度学习", "neural", "C++", "survey"]


def corpus(chance: random.Random, numbers: list[int]) -> tuple[list[dict[str, Any]], list[tuple[str, str]], dict[str, Any]]:
    papers = [
        paper(
            f"p{number}",
            chance.choice([None, " ".join(chance.choices(WORDS, k=chance.randint(1, 3)))]),
            year=chance.choice([None, 1990, 2001]),
            keywords=chance.sample(WORDS, chance.randint(0, 2)),
            record_ids=[f"p{number}", *(f"r{number}-{copy}" for copy in range(chance.randint(0, 2)))],
            version_of=chance.choice([None, None, f"p{chance.choice(numbers)}"]),
        )
        for number in numbers
    ]
    citations = {(f"p{a}", f"p{b}") for a, b in zip(chance.choices(numbers, k=60), chance.choices(numbers, k=60), strict=True) if a != b}
    vectors = {f"p{number}": (number, [1.0, 0.0]) for number in numbers if chance.random() < 0.8}
    return papers, sorted(citations), vectors


def edited(chance: random.Random, before: tuple[Any, Any, Any], numbers: list[int]) -> tuple[Any, Any, Any]:
    """A few papers and citations of a corpus exchanged for others, some gone, some new."""
    papers, citations, vectors = before
    there = chance.sample(numbers, len(numbers) - 3)
    others, more, places = corpus(chance, numbers)
    changed = set(chance.sample([f"p{number}" for number in there], 4))
    names = {f"p{number}" for number in there}
    old = {row["paper_id"]: row for row in papers}
    rows = [row if row["paper_id"] in changed or row["paper_id"] not in old else old[row["paper_id"]] for row in others]
    kept = {edge for edge in citations if chance.random() < 0.95} | set(more[:3])
    faiss = {name: place for name, place in (vectors | dict(list(places.items())[:3])).items() if name in names}
    return (
        [row for row in rows if row["paper_id"] in names],
        sorted(edge for edge in kept if names.issuperset(edge)),
        faiss,
    )


def answers(folder: Path) -> dict[str, Any]:
    """All that a reader can find out."""
    index = SearchIndex(folder)
    connection = sqlite3.connect(folder / FILE)
    ranks = [rank for (rank,) in connection.execute("SELECT rank FROM paper ORDER BY rank")]
    name = index.paper_ids(ranks)
    found = {
        "papers": [{**asdict(one), "rank": 0} for one in index.papers(ranks)],
        "aliases": {record: name[rank] for record, rank in connection.execute("SELECT record_id, rank FROM alias")},
        "vectors": {faiss: name[rank] for faiss, rank in connection.execute("SELECT faiss_id, rank FROM vector")},
        "titled": {title: [name[rank] for rank in index.titled(title)] for title in (*WORDS, "graph graph", "lattice gauge")},
        "cited": {word: [name[rank] for rank in index.most_cited([word], 100)] for word in WORDS},
        "relevant": {word: [(name[rank], round(score, 9)) for rank, score in index.most_relevant([word, "spin"], 100)] for word in WORDS},
        "facts": dict(index.facts),
    }
    index.close()
    connection.close()
    return found


@pytest.fixture
def revised(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many papers were exchanged, each time a file was revised."""
    monkeypatch.setattr(layout, "SPREAD_FROM", 1)
    monkeypatch.setattr(revision, "FEW", 10.0)
    seen: list[int] = []
    revise = revision.revise
    monkeypatch.setattr(revision, "revise", lambda *given: (seen.append(len(given[3])), revise(*given))[1])
    return seen


def afresh(lake: Lake, folder: Path) -> Path:
    folder.mkdir()
    build_search_index(lake, folder)
    return folder


def test_after_any_changes_it_answers_as_one_made_anew(tmp_path: Path, revised: list[int]) -> None:
    for seed in range(6):
        chance, root, previous = random.Random(seed), tmp_path / f"lake-{seed}", None
        state = corpus(chance, list(range(30)))
        lake = make_lake(root, *state)
        for step in range(5):
            made = revision.publish(lake, previous)
            assert answers(made.folder(lake)) == answers(afresh(lake, tmp_path / f"{seed}-{step}"))
            for claim in (every_paper_is_found, every_id_resolves, every_vector_leads_to_its_paper):
                assert claim(lake, made.folder(lake)).passed
            previous = made.path
            state = edited(chance, state, list(range(34)))
            make_lake(root, *state)
    assert len(revised) == 6 * 4, "the first of each is made anew, no other is"


def test_papers_that_nothing_happened_to_are_left_alone(tmp_path: Path, revised: list[int]) -> None:
    papers = [paper(f"p{number}", "graph theory") for number in range(20)]
    lake = make_lake(tmp_path / "lake", papers, [("p1", "p2")])
    made = revision.publish(lake, None)
    papers[7] = paper("p7", "gauge theory")
    make_lake(tmp_path / "lake", papers, [("p1", "p2")])
    assert revision.publish(lake, made.path).path != made.path
    assert revised == [1]


@pytest.mark.parametrize("fault", ["no room", "many", "small", "damaged", "another program", "no note"])
def test_where_the_file_before_is_of_no_use_all_is_made_anew(
    tmp_path: Path, revised: list[int], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "no room":
        monkeypatch.setattr(layout, "STEP", 1)
    papers = [paper(f"p{number:02d}", f"graph {number}", year=2000) for number in range(20)]
    lake = make_lake(tmp_path / "lake", papers, [])
    made = revision.publish(lake, None)
    make_lake(tmp_path / "lake", papers, [("p01", "p12"), ("p03", "p12"), ("p01", "p15")])
    if fault == "many":
        monkeypatch.setattr(revision, "FEW", 0.1)
    elif fault == "small":
        monkeypatch.setattr(layout, "SPREAD_FROM", 21)
    elif fault == "damaged":
        file = made.folder(lake) / FILE
        file.write_bytes(file.read_bytes()[:-1] + b"x")
    elif fault == "another program":
        monkeypatch.setattr(revision, "_CODE", "0")
    elif fault == "no note":
        lake.spool("search_index", "made.json").unlink()
    again = revision.publish(lake, made.path)
    artifacts.open_artifact(again.folder(lake))
    assert answers(again.folder(lake)) == answers(afresh(lake, tmp_path / "anew"))
    assert not list(lake.artifacts.rglob("*.tmp"))

"""What changed between two releases: which papers came and went and why, who is cited more, what is core."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scholarlake.differences import Cited, Differences, Fates, RowChange, TableChange, difference
from scholarlake.errors import NotFound
from scholarlake.lake.contracts import TABLES
from scholarlake.lake.home import Lake
from tests.unit.small_lake import make_lake, paper, release

BEFORE = [
    paper("hub", "The hub"),
    paper("old", "Merged away"),
    paper("gone", "Leaves the dump"),
    paper("lost", "Own record leaves", record_ids=["lost", "heir"]),
    paper("both", "Two in one", record_ids=["both", "half"]),
    paper("edit", "To be edited", year=2000),
    paper("same", "Stays"),
]
AFTER = [
    paper("hub", "The hub", record_ids=["hub", "old"]),
    paper("heir", "Own record leaves"),
    paper("both", "Two in one"),
    paper("half", "Two in one"),
    paper("edit", "Edited", year=2001, abstract="New."),
    paper("same", "Stays"),
    paper("new", "Brand new"),
]
CITED_BEFORE = [("same", "hub"), ("edit", "hub"), ("same", "gone"), ("edit", "both")]
CITED_AFTER = [("same", "hub"), ("edit", "hub"), ("new", "hub"), ("new", "edit"), ("half", "edit")]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return made(tmp_path / "lake", BEFORE, CITED_BEFORE)


def made(root: Path, papers: list[dict[str, Any]], citations: list[tuple[str, str]]) -> Lake:
    return make_lake(root, papers, citations, {"same": (0, [1.0, 0.0])})


@pytest.fixture
def found(lake: Lake) -> Differences:
    return between(lake, AFTER, CITED_AFTER)


def between(lake: Lake, papers: list[dict[str, Any]], citations: list[tuple[str, str]], limit: int = 50, **options: Any) -> Differences:
    first = release(lake)
    make_lake(lake.root, papers, citations, {"same": (0, [1.0, 0.0])})
    return difference(lake, first, release(lake, "r0002"), limit, **options)


def table(found: Differences, name: str) -> TableChange:
    one = found.table(name)
    assert one is not None
    return one


def why(found: Differences, change: str) -> dict[str, str | None]:
    return {row.name: row.why for row in table(found, "papers").listed(change)}


def test_papers_that_went_are_told_with_the_reason(found: Differences) -> None:
    assert why(found, "went") == {
        "old": "merged into hub",
        "gone": "its records left",
        "lost": "its record left; the others are now heir",
    }
    assert (found.papers.merged, found.papers.removed) == (1, 2)


def test_papers_that_came_are_new_or_split_from_another_or_go_on_for_one_whose_record_left(found: Differences) -> None:
    assert why(found, "came") == {"new": None, "half": "split from both", "heir": "has the records of lost, whose own left"}
    assert found.papers == Fates(merged=1, removed=2, split=1, continued=1)


def test_changed_papers_are_listed_with_the_fields_that_differ(found: Differences) -> None:
    papers = table(found, "papers")
    assert {row.name: row.fields for row in papers.listed("changed")} == {
        "hub": ("record_ids",),
        "both": ("record_ids",),
        "edit": ("title", "abstract", "year"),
    }
    assert papers.fields == {"record_ids": 2, "abstract": 1, "title": 1, "year": 1}
    assert (papers.rows_before, papers.rows_after, papers.came, papers.went, papers.changed) == (7, 7, 3, 3, 3)


def test_the_most_cited_come_first_and_titles_are_shown(found: Differences) -> None:
    assert [(row.name, row.in_degree, row.title) for row in table(found, "papers").listed("changed")] == [
        ("hub", 3, "The hub"),
        ("edit", 2, "Edited"),
        ("both", 0, "Two in one"),
    ]
    assert table(found, "papers").listed("went")[0] == RowChange(
        ("gone",), "went", papers=("gone",), title="Leaves the dump", why="its records left", in_degree=1
    )
    edges = {row.name: row.title for row in table(found, "citations").rows}
    assert edges['["same","gone"]'] == "Stays → Leaves the dump"
    assert edges['["new","hub"]'] == "Brand new → The hub"


def test_who_gained_and_who_lost_citations_is_told(found: Differences) -> None:
    assert found.gained == (Cited("edit", 0, 2, "Edited"), Cited("hub", 2, 3, "The hub"))
    assert found.lost == (Cited("both", 1, 0, "Two in one"),)
    assert (table(found, "citations").came, table(found, "citations").went) == (3, 2)


def test_every_pinned_table_is_compared_and_one_that_is_the_same_is_not_read(found: Differences) -> None:
    assert [one.table for one in found.tables] == [
        name for name in TABLES if name in ("identities", "work_versions", "papers", "citations", "degrees", "embeddings")
    ]
    vectors = table(found, "embeddings")
    assert (vectors.total, vectors.partitions, vectors.compared) == (0, 1, 0)


def test_a_list_that_is_cut_says_so_and_keeps_the_whole_count(lake: Lake) -> None:
    found = between(lake, AFTER, CITED_AFTER, limit=1)
    papers = table(found, "papers")
    assert ([row.name for row in papers.rows], papers.total, papers.unlisted) == (["half", "gone", "hub"], 9, 6)
    assert found.papers == Fates(merged=1, removed=2, split=1, continued=1)
    assert [one.paper_id for one in found.gained] == ["edit"]


def test_one_table_can_be_asked_for_and_what_became_of_papers_is_known_all_the_same(lake: Lake) -> None:
    found = between(lake, AFTER, CITED_AFTER, tables=["papers"])
    assert [one.table for one in found.tables] == ["papers"]
    assert why(found, "went")["old"] == "merged into hub"
    with pytest.raises(NotFound, match="no table 'paper'"):
        between(lake, AFTER, CITED_AFTER, tables=["paper"])


def test_the_way_back_says_the_opposite(lake: Lake) -> None:
    first = release(lake)
    make_lake(lake.root, AFTER, CITED_AFTER, {"same": (0, [1.0, 0.0])})
    found = difference(lake, release(lake, "r0002"), first, 50)
    assert why(found, "went") == {
        "new": "its records left",
        "half": "merged into both",
        "heir": "merged into lost",
    }
    assert why(found, "came") == {"old": "split from hub", "gone": None, "lost": "split from heir"}


def test_equal_releases_differ_in_nothing_and_no_partition_is_read(lake: Lake) -> None:
    first = release(lake)
    found = difference(lake, first, release(lake, "r0002"), 50)
    assert found.is_nothing
    assert sum(one.compared for one in found.tables) == 0


def test_a_table_that_only_one_release_has_came_whole(lake: Lake) -> None:
    first = release(lake)
    without = {name: pin for name, pin in first.tables.items() if name != "embeddings"}
    found = difference(lake, replace(first, tables=without), first, 50)
    assert (table(found, "embeddings").came, table(found, "embeddings").rows_before) == (1, 0)


def test_settings_and_artifacts_that_differ_are_named(lake: Lake) -> None:
    first = replace(release(lake), profile={"core": {"min_in": 3}, "name": "a"}, embedder={"fingerprint": "x"})
    later = replace(first, profile={"core": {"min_in": 4}, "name": "a"}, embedder={"fingerprint": "y"}, artifacts={})
    found = difference(lake, first, later, 50)
    assert found.settings == {"core.min_in": (3, 4), "embedder": ("x", "y")}
    assert found.artifacts == {"citation_graph": 1, "search_index": 1}

"""Dense, keyword and fused search: which papers, in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from scholarlake.errors import ScholarLakeError
from scholarlake.search.index import build_search_index
from scholarlake.search.paper import Hit
from scholarlake.search.ranking import dense, fused, keywords, relevant, search
from scholarlake.search.reader import SearchIndex
from tests.unit.small_lake import make_lake, paper


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    folder = tmp_path_factory.mktemp("search")
    papers = [
        paper("a", "black holes"),
        paper("b", "entropy of horizons"),
        paper("c", "black holes and their entropy"),
        paper("d", "cooking"),
    ]
    vectors = {name: (number, [1.0, 0.0]) for number, name in enumerate("abcd")}
    build_search_index(make_lake(folder / "lake", papers, [("a", "d"), ("b", "d"), ("a", "b")], vectors), folder)
    return SearchIndex(folder)


def nearest(query: str, k: int) -> list[tuple[int, float]]:
    """Finds b, then c, then an id that no paper has."""
    return [(1, 0.9), (2, 0.8), (77, 0.7)][:k]


def ids(hits: list[Hit]) -> list[str]:
    return [hit.paper.paper_id for hit in hits]


def test_dense_search_keeps_the_order_and_the_similarities(index: SearchIndex) -> None:
    hits = dense(index, nearest, "horizons", 10)
    assert [(hit.place, hit.paper.paper_id, hit.score, hit.found_by) for hit in hits] == [
        (1, "b", 0.9, ("dense",)),
        (2, "c", 0.8, ("dense",)),
    ]


def test_keyword_search_is_in_the_order_of_citations_and_has_no_score(index: SearchIndex) -> None:
    hits = keywords(index, ["black holes", "entropy"])
    assert ids(hits) == ["b", "a", "c"]
    assert {hit.score for hit in hits} == {None}


def test_relevance_puts_what_has_more_of_the_terms_first(index: SearchIndex) -> None:
    assert ids(relevant(index, ["black", "holes", "entropy"]))[0] == "c"


def test_what_both_searches_find_comes_first_in_fused_search(index: SearchIndex) -> None:
    hits = fused(index, nearest, "black holes entropy", 3)
    assert ids(hits)[0] == "c"
    assert hits[0].found_by == ("dense", "keyword")
    assert hits[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert len(hits) == 3


def test_nothing_asked_is_nothing_found(index: SearchIndex) -> None:
    for mode in ("dense", "keyword", "relevance", "fused"):
        assert search(index, nearest, " ", mode=mode) == []
        assert search(index, nearest, "black", k=0, mode=mode) == []


def test_an_unknown_mode_is_refused_with_those_there_are(index: SearchIndex, tmp_path: Path) -> None:
    with pytest.raises(ScholarLakeError, match="dense, keyword, relevance, fused"):
        search(index, nearest, "x", mode="magic")

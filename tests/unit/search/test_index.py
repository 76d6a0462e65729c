"""The search index: papers by id, title and faiss id, and keyword search in the order of citations."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scholarlake.errors import IndexDamaged, LakeError
from scholarlake.lake.home import Lake
from scholarlake.search import index as search_index
from scholarlake.search.index import FILE, build_search_index
from scholarlake.search.reader import SearchIndex
from tests.unit.small_lake import make_lake, paper

PAPERS = [
    paper("a", "Deep Learning", year=2015, abstract="An abstract.", doi="10.1/a", venue="Nature", keywords=["representation", "COVID-19"],
          record_ids=["a", "a-old", "a-older"], authors=[{"id": "u1", "name": "Z. Öztürk", "org": None, "org_id": None}]),
    paper("b", "Deep Learning", year=2020),
    paper("c", "Learning to rank", year=2021, keywords=["C++"]),
    paper("d", "On the learning of the α-synuclein", year=2021),
    paper("e", "深度学习综述", year=2019),
    paper("f", "deep learning!", year=None),
    paper("g", None, year=1990),
]  # fmt: skip
CITATIONS = [("b", "a"), ("c", "a"), ("d", "a"), ("c", "b"), ("d", "b"), ("e", "c"), ("f", "d")]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    vectors = {"a": (3, [1.0, 0.0]), "b": (10_000_000_000, [0.0, 1.0])}
    return make_lake(tmp_path_factory.mktemp("lake") / "lake", PAPERS, CITATIONS, vectors)


@pytest.fixture(scope="module")
def index(lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    folder = tmp_path_factory.mktemp("a folder with ? and # and %20")
    build_search_index(lake, folder)
    return SearchIndex(folder)


def ids(index: SearchIndex, ranks: list[int]) -> list[str]:
    return [found.paper_id for found in index.papers(ranks)]


def test_every_id_of_a_paper_leads_to_it(index: SearchIndex) -> None:
    assert {index.rank(name) for name in ("a", "a-old", "a-older")} == {1}
    assert index.rank("nobody") is None
    assert index.rank("\ud835") is None


def test_papers_rank_by_in_degree_then_year_then_id(index: SearchIndex) -> None:
    assert ids(index, list(range(1, 8))) == ["a", "b", "c", "d", "e", "g", "f"]


def test_a_page_has_all_that_is_known_of_the_paper(index: SearchIndex) -> None:
    found = index.papers([1])[0]
    assert (found.title, found.abstract, found.doi, found.venue, found.year) == ("Deep Learning", "An abstract.", "10.1/a", "Nature", 2015)
    assert (found.in_degree, found.out_degree, found.total_degree, found.is_core, found.faiss_id) == (3, 0, 3, True, 3)
    assert found.record_ids == ("a", "a-old", "a-older")
    assert found.authors[0].name == "Z. Öztürk"
    assert found.keywords == ("representation", "COVID-19")


def test_an_exact_title_lists_the_most_cited_first(index: SearchIndex) -> None:
    assert ids(index, index.titled("Deep Learning")) == ["a", "b"]
    assert ids(index, index.titled("deep learning!")) == ["f"]


def test_a_title_typed_otherwise_is_found_where_no_paper_has_it_exactly(index: SearchIndex) -> None:
    assert ids(index, index.titled("DEEP   learning")) == ["a", "b", "f"]
    assert ids(index, index.titled("Ｌearning to Rank?")) == ["c"]
    assert index.titled("") == index.titled("?!") == index.titled("\ud835") == index.titled("Deep") == []


def test_a_faiss_id_leads_to_its_paper(index: SearchIndex) -> None:
    assert index.ranks_of_vectors([3, 10_000_000_000, 4, -1, 1 << 64]) == {3: 1, 10_000_000_000: 2}


def test_keywords_and_titles_are_searched_and_the_most_cited_come_first(index: SearchIndex) -> None:
    assert ids(index, index.most_cited(["learn"])) == ["a", "b", "c", "d", "f"]
    assert ids(index, index.most_cited(["learning"], 2)) == ["a", "b"]
    assert ids(index, index.most_cited(["COVID-19", "C++", "α-synuclein", "学习"])) == ["a", "c", "d", "e"]


def test_a_phrase_that_nobody_wrote_is_looked_for_word_by_word(index: SearchIndex) -> None:
    assert ids(index, index.most_cited(["deep rank"])) == ["a", "b", "c", "f"]


def test_relevance_prefers_keywords_to_titles_and_rare_words_to_common_ones(tmp_path: Path) -> None:
    papers = [
        paper("t", "graph theory of everything"),
        paper("k", "some other matter at hand", keywords=["graph"]),
        *(paper(f"x{number}", f"matter number {number}") for number in range(20)),
    ]
    build_search_index(make_lake(tmp_path / "lake", papers, [("k", "t"), ("x1", "x2"), ("x3", "x2")]), tmp_path)
    index = SearchIndex(tmp_path)
    assert ids(index, index.most_cited(["graph"])) == ["t", "k"]
    found = index.most_relevant(["graph", "matter"], 2)
    assert ids(index, [rank for rank, _ in found]) == ["k", "t"]
    assert found[0][1] > found[1][1] > 0


def test_a_common_word_does_not_crowd_out_a_rare_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scholarlake.search.reader.COMMON_LEAST", 3)
    papers = [paper(f"x{number}", "the same") for number in range(9)] + [paper("y", "the rare same")]
    build_search_index(make_lake(tmp_path / "lake", papers, [("x0", "x1")]), tmp_path)
    index = SearchIndex(tmp_path)
    assert ids(index, [rank for rank, _ in index.most_relevant(["the", "rare"])]) == ["y"]
    assert ids(index, [rank for rank, _ in index.most_relevant(["the", "same"], 1)]) == ["x1"]


@given(st.lists(st.text(max_size=30) | st.sampled_from(['"', "NEAR(", "a*", "^b", "title:", "C++", "-", "\x00", "O'Brien"]), max_size=5))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_query_gives_hits_or_none(index: SearchIndex, terms: list[str]) -> None:
    assert len(index.most_cited(terms)) <= 10
    assert len(index.most_relevant(terms)) <= 10
    assert isinstance(index.titled("".join(terms)), list)


def test_a_phrase_may_hold_the_words_of_the_query_language(index: SearchIndex) -> None:
    for term in ("this OR that", "a AND b", "NOT x", "x NEAR y"):
        assert index.most_relevant([term, "zzz"]) == index.most_relevant([term.lower(), "zzz"])


def test_equal_tables_give_equal_bytes_whatever_the_order_of_batches(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, batch, bucket in (("one", 20_000, 50_000), ("two", 2, 3)):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(search_index, "BATCH_ROWS", batch)
        monkeypatch.setattr(search_index, "BUCKET_ROWS", bucket)
        build_search_index(lake, tmp_path / name)
    rows = [sqlite3.connect(tmp_path / name / FILE).execute("SELECT * FROM paper ORDER BY rank").fetchall() for name in ("one", "two")]
    assert rows[0] == rows[1]
    assert (tmp_path / "one" / FILE).read_bytes() == (tmp_path / "two" / FILE).read_bytes()
    assert os.listdir(tmp_path / "two") == [FILE]


def test_a_lake_without_papers_has_an_index_that_finds_nothing(tmp_path: Path) -> None:
    facts = build_search_index(Lake.create(tmp_path / "lake", 1), tmp_path)
    index = SearchIndex(tmp_path)
    assert (facts["papers"], len(index)) == (0, 0)
    assert index.most_cited(["x"]) == index.most_relevant(["x"]) == index.titled("x") == []


def test_progress_reaches_the_number_of_papers(lake: Lake, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None, str]] = []
    build_search_index(lake, tmp_path, lambda *step: seen.append(step))
    assert (len(PAPERS), len(PAPERS), "papers indexed") in seen


def test_threads_read_at_once(index: SearchIndex) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: ids(index, index.most_cited(["learning"])), range(200)))
    assert all(one == ["a", "b", "c", "d", "f"] for one in found)


def test_a_closed_index_says_so_in_every_thread(lake: Lake, tmp_path: Path) -> None:
    build_search_index(lake, tmp_path)
    closed = SearchIndex(tmp_path)
    closed.rank("a")
    closed.close()
    with ThreadPoolExecutor(1) as pool:
        for call in (lambda: closed.rank("a"), lambda: pool.submit(closed.rank, "a").result()):
            with pytest.raises(LakeError, match="closed"):
                call()


def test_a_connection_goes_with_its_thread(lake: Lake, tmp_path: Path) -> None:
    build_search_index(lake, tmp_path)
    index = SearchIndex(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(index.rank, "a").result() == 1
    assert len(os.listdir("/proc/self/fd")) < before + 25  # a connection kept for each would be fifty


def test_a_file_that_is_no_index_is_called_damaged(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database, though long enough to be looked at" * 100)
    with pytest.raises(IndexDamaged, match="build"):
        SearchIndex(tmp_path)

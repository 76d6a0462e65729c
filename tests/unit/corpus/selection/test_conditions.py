"""Claims about `where` and `first`: conditions combine, queries look where the rest leaves them, ids resolve, order is stable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scholarlake.corpus.selection.choice import Choice, Tools
from scholarlake.corpus.selection.conditions import first
from scholarlake.corpus.selection.definition import First, Where
from scholarlake.corpus.selection.fusion import fused
from tests.unit.corpus.selection.choosing import ids, lake_of, tools_for
from tests.unit.small_lake import paper

PAPERS = [
    paper("a1", "Random networks and their clusters", year=1999, venue="Nature", keywords=["Networks", "graphs"]),
    paper("a2", "Random walks on networks", year=2004, venue="Nature Physics", abstract="Walkers on a random network."),
    paper("a3", "Clusters of galaxies", year=2004, venue="JHEP 0205 (2002) 049"),
    paper("a4", "COVID-19 and contact networks", year=2020, keywords=["epidemics"], record_ids=["a4", "older-a4"]),
    paper("a5", "深度学习综述", year=2021, abstract="A survey of deep learning in C++."),
    paper("a6", None, abstract="An abstract about O'Brien and α-synuclein without a title."),
]
CITATIONS = [("a2", "a1"), ("a4", "a1"), ("a4", "a2"), ("a5", "a4"), ("a3", "a5")]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    return tools_for(lake_of(tmp_path_factory.mktemp("lake") / "lake", PAPERS, CITATIONS))


def chosen(tools: Tools, where: dict[str, Any], **how: Any) -> Choice:
    return first(tools, Where.model_validate(where), First.model_validate(how))


def found(tools: Tools, where: dict[str, Any], **how: Any) -> list[str]:
    return ids(tools, chosen(tools, where, **{"by": "id", **how}))


@pytest.mark.parametrize(
    ("where", "papers"),
    [
        ({"years": {"from": 2004, "to": 2004}}, ["a2", "a3"]),
        ({"years": {"to": 2003}}, ["a1"]),  # a6 has no year, and so lies in no stretch of years
        ({"venues": ["nature"]}, ["a1"]),
        ({"venues": ["Nature*"]}, ["a1", "a2"]),
        ({"venues": ["JHEP*", "nature physics"]}, ["a2", "a3"]),
        ({"keywords": ["networks", "EPIDEMICS"]}, ["a1", "a4"]),
        ({"words": ["random network"]}, ["a1", "a2"]),  # by stems, in title, abstract or keywords
        ({"words": ["covid-19"]}, ["a4"]),
        ({"words": ["C++"]}, ["a5"]),
        ({"words": ["学习"]}, ["a5"]),
        ({"words": ["o'brien", "nothing of this"]}, ["a6"]),
        ({"words": ["α-synuclein"]}, ["a6"]),
        ({"cites": ["a1"]}, ["a2", "a4"]),
        ({"cited_by": ["a4"]}, ["a1", "a2"]),
        ({"cited_by": ["older-a4"]}, ["a1", "a2"]),
        ({"near": {"of": ["a1"]}}, ["a1", "a2", "a4"]),
        ({"near": {"of": ["a1"], "hops": 2}}, ["a1", "a2", "a4", "a5"]),
        ({"near": {"of": ["a1"], "hops": 3}}, ["a1", "a2", "a3", "a4", "a5"]),
        ({"in_degree": {"at_least": 2}}, ["a1"]),
        ({"in_degree": {"at_least": 1, "at_most": 1}}, ["a2", "a4", "a5"]),
        ({"out_degree": {"at_most": 0}}, ["a1", "a6"]),
        ({"total_degree": {"at_least": 3}}, ["a4"]),
        ({"ids": ["a6", "older-a4"]}, ["a4", "a6"]),
        ({"years": {"from": 2004}, "words": ["networks"]}, ["a2", "a4"]),
        ({"any_of": [{"words": ["galaxies"]}, {"cites": ["a4"]}]}, ["a3", "a5"]),
        ({"all_of": [{"words": ["networks"]}, {"none_of": [{"cites": ["a1"]}]}]}, ["a1"]),
        ({"years": {"from": 1900}, "none_of": [{"words": ["networks"]}, {"ids": ["a5"]}]}, ["a3"]),
        ({"any_of": [{"ids": ["a1"]}, {"years": {"from": 2020}}], "none_of": [{"venues": ["Nature"]}]}, ["a4", "a5"]),
    ],
)
def test_a_paper_is_chosen_if_all_conditions_hold(tools: Tools, where: dict[str, Any], papers: list[str]) -> None:
    assert found(tools, where) == papers


@pytest.mark.parametrize("mode", ["dense", "keyword", "fused"])
def test_a_query_brings_the_best_of_what_the_other_conditions_leave(tools: Tools, mode: str) -> None:
    query = {"text": "random networks and their clusters", "k": 1, "mode": mode}
    assert found(tools, {"query": query}) == ["a1"]
    assert found(tools, {"query": query, "years": {"from": 2004, "to": 2004}, "none_of": [{"words": ["galaxies"]}]}) == ["a2"]
    assert found(tools, {"years": {"from": 2000}, "any_of": [{"query": query, "words": ["networks"]}, {"ids": ["a6"]}]}) == ["a2"]


@pytest.mark.parametrize("text", ["COVID-19", "C++", "α-synuclein", "O'Brien", '"', "深度", "()", "AND OR NOT", "title:x*", "-"])
def test_no_query_that_people_type_is_an_error(tools: Tools, text: str) -> None:
    for mode in ("dense", "keyword", "fused"):
        assert len(found(tools, {"query": {"text": text, "k": 3, "mode": mode}})) <= 3
    assert len(found(tools, {"words": [text]})) < len(PAPERS)


def test_ids_that_nobody_knows_are_said_and_the_others_are_chosen(tools: Tools) -> None:
    choice = chosen(tools, {"any_of": [{"ids": ["a1", "nobody"]}, {"cites": ["gone"]}], "none_of": [{"ids": ["no-one"]}]})
    assert ids(tools, choice) == ["a1"]
    assert sorted(choice.unknown_ids) == ["gone", "no-one", "nobody"]


@pytest.mark.parametrize(
    ("by", "order"),
    [
        ("citations", ["a1", "a5", "a4", "a2", "a3", "a6"]),  # the newer of equally cited ones, without a year last
        ("newest", ["a5", "a4", "a2", "a3", "a1", "a6"]),  # the more cited of one year
        ("oldest", ["a1", "a2", "a3", "a4", "a5", "a6"]),
        ("id", ["a1", "a2", "a3", "a4", "a5", "a6"]),
        ("relevance", ["a1", "a5", "a4", "a2", "a3", "a6"]),  # nothing was searched for
    ],
)
def test_the_first_are_the_first_in_the_order_asked_for(tools: Tools, by: str, order: list[str]) -> None:
    everything = {"in_degree": {"at_least": 0}}
    assert found(tools, everything, by=by) == order
    choice = chosen(tools, everything, by=by, limit=2)
    assert ids(tools, choice) == order[:2]
    assert (choice.matched, choice.wanted, choice.shortfall) == (6, None, None)


def test_a_paper_that_two_queries_find_is_more_relevant_than_one_that_one_finds(tools: Tools) -> None:
    queries = [{"query": {"text": text, "k": 1, "mode": "keyword"}} for text in ("galaxies", "walkers", "walks on networks")]
    choice = chosen(tools, {"any_of": queries})
    assert ids(tools, choice) == ["a2", "a3"]
    assert choice.scores is not None
    assert choice.scores.tolist() == pytest.approx([2 / 61, 1 / 61])


def test_a_rule_says_which_conditions_a_paper_met_and_no_other(tools: Tools) -> None:
    where = {"years": {"from": 2000}, "any_of": [{"words": ["networks"], "cites": ["a1"]}, {"words": ["networks"]}, {"cites": ["a4"]}]}
    choice = chosen(tools, where, by="id")
    assert dict(zip(ids(tools, choice), choice.rules, strict=True)) == {
        "a2": "year 2000–; words networks; cites a1",
        "a4": "year 2000–; words networks; cites a1",
        "a5": "year 2000–; cites a4",
    }


def test_papers_of_equal_vectors_come_by_id_however_many_there_are(tmp_path: Path) -> None:
    alike = [paper(f"p{n:03d}", "One and the same title") for n in range(60)]
    tools = tools_for(lake_of(tmp_path / "lake", reversed(alike), shards=3))
    assert found(tools, {"query": {"text": "one title", "k": 5, "mode": "dense"}}, by="relevance") == [f"p{n:03d}" for n in range(5)]


def test_a_paper_without_a_vector_is_found_by_its_words(tmp_path: Path) -> None:
    tools = tools_for(lake_of(tmp_path / "lake", [paper("a", "Quarks", embedded=False), paper("b", "Gluons")]))
    assert found(tools, {"query": {"text": "quarks", "k": 1, "mode": "fused"}}) in (["a"], ["b"])
    assert found(tools, {"query": {"text": "quarks", "k": 1, "mode": "keyword"}}) == ["a"]
    assert found(tools, {"query": {"text": "quarks", "k": 9, "mode": "dense"}}) == ["b"]


def test_fusion_adds_the_reciprocal_ranks_and_counts_the_lists() -> None:
    one, two = np.array([7, 3, 5]), np.array([3, 9])
    result = fused([one, two])
    assert result.numbers.tolist() == [3, 7, 9, 5]
    assert result.scores.tolist() == pytest.approx([1 / 62 + 1 / 61, 1 / 61, 1 / 62, 1 / 63])
    assert result.lists.tolist() == [2, 1, 1, 1]


def test_nothing_to_choose_from_is_no_error(tmp_path: Path) -> None:
    tools = tools_for(lake_of(tmp_path / "lake", []))
    assert found(tools, {"query": {"text": "anything"}, "years": {"from": 1990}}) == []

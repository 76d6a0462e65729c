"""Claims about topic quotas (ScholarStack, appendix B.2): every topic its share, texts long enough, the best of the rest, lacks said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scholarlake.corpus.selection.choice import Choice, Tools
from scholarlake.corpus.selection.definition import Topics
from scholarlake.corpus.selection.topics import choose, in_turns
from tests.unit.corpus.selection.choosing import ids, lake_of, tools_for
from tests.unit.small_lake import paper

SUBJECTS = {"holes": "black hole entropy", "walks": "random walks on networks", "braids": "braid groups and knots"}
TOPICS = [{"name": name, "queries": [words, f"a study of {words}"]} for name, words in SUBJECTS.items()]


def abstract(words: str, sentences: int = 3) -> str:
    return " ".join(f"This is sentence number {n} about {words}." for n in range(1, sentences + 1))


def corpus(papers: int) -> list[dict[str, Any]]:
    """Papers of three subjects, in turns: p0 of the first, p1 of the second…"""
    words = list(SUBJECTS.values())
    return [paper(f"p{n:02d}", f"{words[n % 3]} {n}", abstract=abstract(words[n % 3]), year=2000) for n in range(papers)]


def settled(**how: Any) -> Topics:
    return Topics.model_validate({"topics": TOPICS, "text": "abstract", "min_characters": 1, "min_sentences": 1, "candidates": 10, **how})


def topics_of(tools: Tools, choice: Choice, role: str) -> dict[str, str | None]:
    rows = zip(ids(tools, choice), choice.topics or (), choice.roles, strict=True)
    return {name: topic for name, topic, its in rows if its == role}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    citations = [(f"p{n:02d}", "p20") for n in range(20)]
    return tools_for(lake_of(tmp_path_factory.mktemp("lake") / "lake", corpus(30), citations))


def test_every_topic_has_its_quota_and_the_topics_take_turns(tools: Tools) -> None:
    choice = choose(tools, None, settled(quota=4))
    assert list(choice.topics or ()) == ["holes", "walks", "braids"] * 4
    assert set(choice.roles) == {"quota"}
    for name, topic in topics_of(tools, choice, "quota").items():
        assert list(SUBJECTS)[int(name[1:]) % 3] == topic
    assert (choice.wanted, choice.shortfall) == (12, None)
    assert choice.rules[0] == "found by 4 of 4 searches"


def test_a_topic_takes_its_best_paper_that_is_left_in_every_round() -> None:
    ranked = {"a": [1, 2, 3, 4], "b": [2, 1, 5], "c": [2]}
    assert in_turns(ranked, 1) == {1: "a", 2: "b"}
    assert in_turns(ranked, 3) == {1: "a", 2: "b", 3: "a", 5: "b", 4: "a"}


def test_beyond_the_quotas_come_the_best_of_the_rest_by_all_signals(tools: Tools) -> None:
    choice = choose(tools, None, settled(quota=2, size=10))
    assert choice.roles == ["quota"] * 6 + ["ranked"] * 4
    taken = set(topics_of(tools, choice, "quota"))
    ranked = list(topics_of(tools, choice, "ranked"))
    assert "p20" in taken or ranked[0] == "p20", "the one that is cited goes before those that are found as well"
    assert choice.scores is not None
    assert choice.scores[6:].tolist() == sorted(choice.scores[6:].tolist(), reverse=True)


def test_signals_are_each_between_0_and_1_and_weigh_the_same(tmp_path: Path) -> None:
    whole = {"year": 2001, "venue": "V", "doi": "10.1/x", "authors": [{"id": None, "name": "A", "org": None, "org_id": None}]}
    rows = [paper("known", "quarks", abstract="quarks", **whole), paper("cited", "quarks", abstract="quarks", year=2001)]
    tools = tools_for(lake_of(tmp_path / "lake", rows, [("known", "cited")]))
    how = settled(topics=[{"name": "t", "queries": ["quarks"]}], quota=1, size=2)
    choice = choose(tools, None, how)
    scores = dict(zip(ids(tools, choice), choice.scores.tolist(), strict=True))  # type: ignore[union-attr]
    # found first or second by both searches; by the one topic; what is known of it; citations; no full text
    first, second = (1, 61 / 62) if ids(tools, choice)[0] == "cited" else (61 / 62, 1)
    assert scores["cited"] == pytest.approx((first + 1 + 1 / 4 + 1 + 0) / 5, abs=1e-6)
    assert scores["known"] == pytest.approx((second + 1 + 4 / 4 + 0 + 0) / 5, abs=1e-6)


@pytest.mark.parametrize(
    ("characters", "sentences", "chosen"), [(1_999, 10, False), (2_000, 10, True), (2_000, 9, False), (5_000, 11, True)]
)
def test_a_text_has_at_least_2000_characters_and_ten_sentences(tmp_path: Path, characters: int, sentences: int, chosen: bool) -> None:
    begun, last = abstract("knots", sentences - 1), " And the last one is about kn"
    text = f"{begun}{last}{'o' * (characters - len(begun) - len(last) - 3)}ts."
    tools = tools_for(lake_of(tmp_path / "lake", [paper("p", "Knots", abstract=f"  {text}\n")]))
    assert len(text) == characters
    how = Topics.model_validate({"topics": [{"name": "t", "queries": ["knots"]}], "text": "abstract", "quota": 1})
    assert ids(tools, choose(tools, None, how)) == (["p"] if chosen else [])


def test_a_topic_that_lacks_papers_says_how_many_were_found_and_had_enough_text(tmp_path: Path) -> None:
    short = [paper(f"s{n}", "braid groups and knots", abstract="Knots.") for n in range(3)]
    tools = tools_for(lake_of(tmp_path / "lake", [*corpus(5), *short]))
    choice = choose(tools, None, settled(quota=3, size=9, min_characters=20))
    said = "(8 found, 5 of them with enough text)"
    assert choice.shortfall == f"holes: 2 of 3 {said}; walks: 2 of 3 {said}; braids: 1 of 3 {said}"
    assert len(choice.numbers) == 5


def test_too_few_papers_beyond_the_quotas_are_said_too(tools: Tools) -> None:
    choice = choose(tools, None, settled(quota=2, size=40, candidates=3))
    assert choice.shortfall is not None
    assert choice.shortfall.startswith(f"the searches found only {len(choice.numbers)} papers")


def test_where_no_abstract_may_stand_for_it_nothing_without_full_text_is_chosen(tools: Tools) -> None:
    choice = choose(tools, None, settled(quota=2, text="full_text"))
    assert len(choice.numbers) == 0
    assert choice.shortfall is not None
    assert choice.shortfall.count("0 of 2") == 3


def test_neither_the_order_of_rows_nor_the_shards_decide(tools: Tools, tmp_path: Path) -> None:
    rows = corpus(30)
    mixed = [rows[n] for n in np.random.default_rng(5).permutation(30)]
    other = tools_for(lake_of(tmp_path / "lake", mixed, [(f"p{n:02d}", "p20") for n in range(20)], shards=5))
    one, another = (choose(found, None, settled(quota=3, size=14)) for found in (tools, other))
    assert ids(tools, one) == ids(other, another)
    assert one.scores.tolist() == another.scores.tolist()  # type: ignore[union-attr]

"""Retrieval joins two rankings by their places, is narrowed before it ranks, and says clearly what can't be asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import scholarlake
from scholarlake.errors import IndexDamaged, NotFound, ScholarLakeError
from scholarlake.knowledge.layer.items import FactItem
from scholarlake.knowledge.layer.knowledge import Knowledge
from scholarlake.knowledge.layer.retrieving import asked
from scholarlake.knowledge.layer.view import BadRequest
from tests.unit.knowledge.layer.battery import COLLECTION, IMMERSION, SYNTHESIS, all_tables, fact_id, made, object_id, released


@pytest.fixture(scope="module")
def cooling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Knowledge]:
    with all_tables():
        lake = released(made(tmp_path_factory.mktemp("retrieving") / "lake"))
        with scholarlake.open(lake.root) as reader:
            yield reader.knowledge(COLLECTION)


def test_places_in_both_rankings_add_up(cooling: Knowledge) -> None:
    view = cooling.retrieve("dielectric immersion", 5)
    first = view.items[0]
    assert first.object_id == IMMERSION
    assert first.why == ("dense 1, keyword 1",)
    assert first.score == round(2 / 61, 6)
    for item in view.items:
        places = [int(part.split()[1]) for part in item.why[0].split(", ")]
        assert item.score == round(sum(1 / (60 + place) for place in places), 6)
    scores = [item.score or 0 for item in view.items]
    assert scores == sorted(scores, reverse=True)


def test_what_was_found_by_meaning_alone_is_told_as_such(cooling: Knowledge) -> None:
    assert cooling.retrieve("zymurgy", 3).notes == ("no object has a word of the query: what was found is near it by meaning alone",)
    assert cooling.retrieve("wax", 3).notes == ()


def test_equal_questions_have_equal_answers(cooling: Knowledge) -> None:
    assert cooling.retrieve("peak temperature", 9) == cooling.retrieve("peak temperature", 9)


def test_a_sentence_gives_way_to_the_fact_that_was_read_off_it_unless_it_is_asked_for(cooling: Knowledge) -> None:
    view = cooling.retrieve("peak temperature at 2 C discharge", 6)
    cited = {name for item in view if isinstance(item, FactItem) for name in item.evidence}
    assert len(view) == 6
    assert cited
    assert cited.isdisjoint(view.ids)
    sentences = cooling.retrieve("peak temperature at 2 C discharge", 3, kinds=["sentence"])
    assert sentences.counts() == {"sentence": 3}
    assert set(sentences.ids) & cited


def test_what_is_searched_is_narrowed_by_kind_layer_and_paper(cooling: Knowledge) -> None:
    assert cooling.retrieve("cooling", 99, kinds=["entity"]).counts() == {"entity": 4}
    assert cooling.retrieve("cooling", 99, layers=[3]).ids == (SYNTHESIS,)
    assert cooling.retrieve("cooling", 99, layers=[0], papers=["p5"]).ids == ("p5:0", "p5:1")
    one = cooling.retrieve("peak temperature", 99, layers=[1], papers=["Channel cooling of pouch cells"])
    assert set(one.ids) == {fact_id(1), fact_id(2), fact_id(3)}
    assert [paper.paper_id for paper in one.papers] == ["p1"]


TYPED = ('"heat OR cold"', "C++", "深度学习", "α-synuclein", "O'Brien", '"', "AND OR NOT", "NEAR(x)", "*", "half \ud800 a sign", "\x00")


def test_any_query_that_somebody_types_is_answered(cooling: Knowledge) -> None:
    for query in (
        "C++",
        "深度学习",
        "α-synuclein",
        "O'Brien",
        '"',
        "AND OR NOT",
        "NEAR(x)",
        "*",
        "a" * 4_000,
        "half \ud800 a sign",
        "\x00",
    ):
        cooling.retrieve(query, 3)
    assert cooling.retrieve("深度学习", 1).ids == ("p5:1",)


def test_words_that_only_join_others_are_not_looked_for() -> None:
    assert asked("What is the peak of the load?") == asked("peak load")
    assert asked("the who") == '"the" OR "who"'
    assert asked("?!") == ""


@pytest.mark.parametrize(
    ("query", "given", "said"),
    [
        ("", {}, "empty query"),
        (" \n", {}, "empty query"),
        ("x" * 100_000, {}, "a query has 4,000 characters at most, this one has 100,000"),
        ("x", {"k": 0}, "no view of 0 objects; ask for 1 to 1,000"),
        ("x", {"k": -1}, "ask for 1 to 1,000"),
        ("x", {"k": 1_001}, "ask for 1 to 1,000"),
        ("x", {"kinds": ["poem"]}, "no kind 'poem' of objects; there are: fact, assignment"),
        ("x", {"layers": [4]}, "no layer 4; there are 0"),
        ("x", {"kinds": ["fact"], "layers": [3]}, "no fact lies in layer 3"),
    ],
)
def test_what_cannot_be_asked_is_refused(cooling: Knowledge, query: str, given: dict[str, object], said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        cooling.retrieve(query, **given)  # type: ignore[arg-type]


def test_a_paper_that_is_not_there_is_told(cooling: Knowledge) -> None:
    with pytest.raises(NotFound, match="no paper 'p99'"):
        cooling.retrieve("x", papers=["p99"])
    with pytest.raises(NotFound, match="no paper ''"):
        cooling.facts_of("")


def test_the_complete_facts_of_a_paper_come_in_the_order_of_its_text(cooling: Knowledge) -> None:
    assert cooling.facts_of("p3").ids == (fact_id(7), fact_id(8), fact_id(11))
    assert [item.papers for item in cooling.facts_of("Wax plates for battery packs")] == [("p3",)] * 3


def test_objects_are_had_by_their_ids_and_others_are_not_made_up(cooling: Knowledge) -> None:
    assert cooling.get([SYNTHESIS, "p1:0"]).ids == (SYNTHESIS, "p1:0")
    with pytest.raises(BadRequest, match="there is no object 'fact-7' in cooling"):
        cooling.get(["p1:0", "fact-7"])


def test_a_view_tells_how_it_came_about(cooling: Knowledge) -> None:
    view = cooling.retrieve("wax", 2, kinds=["fact"])
    assert [(one.operation, one.given()) for one in view.history] == [("retrieve", {"query": "wax", "k": 2, "kinds": ["fact"]})]
    assert (view.collection, view.release) == ("cooling", "r0001")
    expanded = cooling.expand(view, "evidence")
    assert [one.operation for one in expanded.history] == ["retrieve", "expand"]


def test_an_unknown_collection_is_told_with_those_there_are(tmp_path_factory: pytest.TempPathFactory) -> None:
    with all_tables():
        lake = released(made(tmp_path_factory.mktemp("unknown") / "lake"))
        with scholarlake.open(lake.root) as reader:
            with pytest.raises(NotFound, match="no collection 'heating' in r0001; there are: cooling"):
                reader.knowledge("heating")
            assert reader.collections == ("cooling",)


def test_a_damaged_index_is_refused_when_it_is_opened(tmp_path_factory: pytest.TempPathFactory) -> None:
    with all_tables():
        lake = released(made(tmp_path_factory.mktemp("damaged") / "lake"))
        path = next(lake.artifacts.glob("knowledge_index/*/*/vectors.npy"))
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
        with scholarlake.open(lake.root) as reader, pytest.raises(IndexDamaged, match="checksum"):
            reader.knowledge(COLLECTION)


def test_a_closed_release_says_so(tmp_path_factory: pytest.TempPathFactory) -> None:
    with all_tables():
        lake = released(made(tmp_path_factory.mktemp("closed") / "lake"))
        reader = scholarlake.open(lake.root)
        cooling = reader.knowledge(COLLECTION)
        cooling.retrieve("wax")
        reader.close()
        with pytest.raises(ScholarLakeError, match="closed"):
            cooling.retrieve("wax")


def test_an_assignment_is_read_with_its_category(cooling: Knowledge) -> None:
    item = cooling.get([object_id("assignment", 2)]).items[0]
    assert item.kind == "assignment"
    assert (item.category, item.dimension) == ("immersion", "method family")
    assert [row["name"] for row in cooling.categories] == ["liquid cooling", "immersion", "latent heat", "high load"]
    assert cooling.papers == ("p1", "p2", "p3", "p4", "p5")

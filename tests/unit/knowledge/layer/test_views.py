"""A view can't be changed, comes through JSON as it was, and as text never is longer than its budget, saying what it leaves out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import orjson
import pytest

import scholarlake
from scholarlake.knowledge.layer.items import FactItem, Origin, SentenceItem, Standing, SynthesisItem
from scholarlake.knowledge.layer.knowledge import Knowledge
from scholarlake.knowledge.layer.shown import window
from scholarlake.knowledge.layer.view import BadRequest, PaperRef, View
from tests.unit.knowledge.layer.battery import COLLECTION, SYNTHESIS, all_tables, fact_id, made, object_id, released


@pytest.fixture(scope="module")
def cooling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Knowledge]:
    with all_tables():
        lake = released(made(tmp_path_factory.mktemp("views") / "lake"))
        with scholarlake.open(lake.root) as reader:
            yield reader.knowledge(COLLECTION)


@pytest.fixture
def everything(cooling: Knowledge) -> View:
    kinds = ["fact", "assignment", "relation", "entity", "synthesis", "sentence"]
    return cooling.select(kind=kinds)


def sentence(text: str, n: int = 0) -> SentenceItem:
    return SentenceItem(object_id=f"p1:{n}", papers=("p1",), n=n, text=text, block="abstract")


def test_items_keep_all_that_their_tables_say(everything: View) -> None:
    assert everything.counts() == {"fact": 11, "assignment": 4, "relation": 5, "entity": 4, "synthesis": 1, "sentence": 12}
    fact = everything[fact_id(8)]
    assert isinstance(fact, FactItem)
    assert [(one.kind, one.text) for one in fact.conditions] == [("condition", "without any pump"), ("setting", "pack")]
    assert [(one.value, one.unit, one.metric) for one in fact.quantities] == [("45", "°C", "temperature"), ("20", "min", None)]
    assert (fact.evidence, fact.verification, fact.origin, fact.standing) == (
        ("p3:1",),
        "failed",
        Origin("pipeline", "facts"),
        Standing(),
    )
    assert everything[fact_id(11)].origin == Origin("pipeline", "attended_facts")
    account = everything[SYNTHESIS]
    assert isinstance(account, SynthesisItem)
    assert [(one.object_id, one.role) for one in account.basis][2:] == [
        (fact_id(6), "limiting"),
        (object_id("assignment", 2), "supporting"),
    ]
    assert (account.sources, account.review, account.synthesis_kind) == (2, "unreviewed", "context_difference")


def test_a_view_comes_through_json_as_it_was(everything: View) -> None:
    assert View.from_dict(orjson.loads(orjson.dumps(everything.to_dict()))) == everything


def test_nothing_of_a_view_can_be_changed(everything: View) -> None:
    for thing, name in ((everything, "items"), (everything.items[0], "statement"), (everything.items[0].origin, "chain")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, None)
    assert all(isinstance(value, tuple) for value in (everything.items, everything.papers, everything.history, everything.notes))
    assert isinstance(hash(everything), int), "all the way down there is nothing that could change"


NAMED = {"collection": "c", "release": "r0001"}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({}, "collection: Field required"),
        ({**NAMED, "items": [{"kind": "poem", "object_id": "x"}]}, "poem"),
        (
            {"collection": "c", "release": "r0001", "items": [{"kind": "fact", "object_id": "x", "papers": []}]},
            "items.0.fact.n: Field required",
        ),
        ([], "no view"),
        ("x", "no view"),
    ],
)
def test_what_is_no_view_is_refused_with_the_field_at_fault(value: object, said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        View.from_dict(value)


def test_a_view_is_asked_for_what_it_holds(everything: View) -> None:
    assert fact_id(3) in everything
    assert "fact-x" not in everything
    with pytest.raises(BadRequest, match="holds no object 'fact-x'"):
        everything["fact-x"]


# -- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [200, 300, 1_000, 3_000, 9_000, 100_000])
def test_text_keeps_its_budget_and_counts_what_it_leaves_out(everything: View, budget: int) -> None:
    for text, total, what in ((everything.text(budget), 37, "items"), (everything.catalog(budget), 5, "papers")):
        assert len(text) <= budget
        shown = text.count("\n[") + text.startswith("[")
        said = f"({total - shown} of {total} {what} not shown)"
        assert text.endswith(said) if shown < total else "not shown" not in text


def test_budgets_are_those_of_a_catalog_and_of_a_reading() -> None:
    long = View("c", "r0001", tuple(sentence(f"{n} " + "word " * 150, n) for n in range(99)), (PaperRef("p1", "T" * 300),))
    assert 8_000 < len(long.text()) <= 9_000
    papers = tuple(dataclasses.replace(sentence("word " * 99, n), papers=(f"p{n}",)) for n in range(40))
    catalog = View("c", "r0001", papers, tuple(PaperRef(f"p{n}", "Title " * 40) for n in range(40))).catalog()
    assert len(catalog) <= 3_000
    assert catalog.count("[p") == 10, "ten papers and no more"
    assert catalog.endswith("(30 of 40 papers not shown)")


def test_text_says_what_a_reader_must_know_to_cite(everything: View) -> None:
    text = View(everything.collection, everything.release, (everything[fact_id(6)],), everything.papers, notes=("be careful",)).text()
    assert text == (
        "note: be careful\n\n"
        f"[{fact_id(6)}] finding, unchecked, in Immersion cooling at high discharge rates (2020)\n"
        "At 5 C discharge the peak temperature rose to 321 K.\n"
        "under: condition: 5 C discharge\n"
        "about: immersion cooling\n"
        "numbers: peak temperature 321 K\n"
        "evidence: p2:2"
    )


def test_a_sentence_is_shown_with_the_section_that_it_stands_in() -> None:
    placed = dataclasses.replace(sentence("It rained."), sections=("Methods", "Weather"))
    assert View("c", "r0001", (placed,)).text() == "[p1:0] sentence, in p1, Methods > Weather\nIt rained."


def test_a_text_tells_of_unusual_standing_and_of_what_a_task_made(everything: View) -> None:
    item = dataclasses.replace(
        everything[SYNTHESIS], standing=Standing("a", 2, "needs_recheck", "a basis moved"), origin=Origin("review-7", "draft")
    )
    text = View("c", "r0001", (item,)).text()
    assert "synthesis, an interpretation of 2 sources, unreviewed" in text
    assert text.endswith("status: needs a recheck: a basis moved; made by review-7, draft")


def test_a_budget_that_holds_nothing_is_refused(everything: View) -> None:
    for ask in (everything.text, everything.catalog):
        with pytest.raises(BadRequest, match="a budget of 199 characters holds nothing; give 200 or more"):
            ask(199)


def test_the_empty_view_has_a_text() -> None:
    assert View("c", "r0001").text() == "no items"
    assert View("c", "r0001").catalog() == "no papers"


# -- the best window -------------------------------------------------------------------------------------------------

FILLER = "Nothing of note is said here at all. " * 60
TEXT = f"{FILLER}Graphene conducts heat. Its layers slide. {FILLER}Graphene layers conduct heat under strain. {FILLER}"


def test_the_window_has_most_of_the_query_and_whole_sentences() -> None:
    found = window(TEXT, "graphene strain heat")
    assert found.is_cut
    assert len(found.text) <= 1_200
    assert "Graphene layers conduct heat under strain." in found.text
    assert found.text.startswith("…")
    assert found.text.endswith("…")
    assert all(one.strip() in f"{TEXT}" for one in found.text.strip("…").split(". "))
    assert found.text.strip("…")[-1] == "."


def test_of_equal_windows_the_earliest_is_taken_and_without_a_query_the_beginning() -> None:
    assert "Its layers slide." in window(TEXT, "graphene").text
    assert TEXT.startswith(window(TEXT, None).text.rstrip("…"))
    assert TEXT.startswith(window(TEXT, "nowhere").text.rstrip("…"))


def test_a_short_text_is_not_cut_and_a_sentence_without_end_is_cut_inside() -> None:
    assert window("Short.", "short") == type(window("", None))("Short.", False)
    endless = "word " * 1_000 + "needle " + "word " * 1_000
    found = window(endless, "needle")
    assert "needle" in found.text
    assert len(found.text) <= 1_200


def test_a_reading_counts_the_texts_that_it_cuts() -> None:
    assert View("c", "r0001", (sentence(TEXT), sentence("Short.", 1))).text(query="strain").endswith("(1 text is cut)")

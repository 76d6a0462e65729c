"""Selection keeps what meets all constraints, says why nothing does, and refuses what nothing could meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import scholarlake
from scholarlake.errors import NotFound
from scholarlake.knowledge.layer.knowledge import Knowledge
from scholarlake.knowledge.layer.view import BadRequest
from tests.unit.knowledge.layer.battery import (
    CHANNEL,
    COLLECTION,
    IMMERSION,
    SYNTHESIS,
    WAX,
    all_tables,
    fact_id,
    made,
    object_id,
    released,
)


@pytest.fixture(scope="module")
def cooling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Knowledge]:
    with all_tables():
        lake = released(made(tmp_path_factory.mktemp("selecting") / "lake"))
        with scholarlake.open(lake.root) as reader:
            yield reader.knowledge(COLLECTION)


def facts(*numbers: int) -> tuple[str, ...]:
    return tuple(fact_id(number) for number in numbers)


@pytest.mark.parametrize(
    ("constraints", "found"),
    [
        ({"kind": "entity", "type": "material"}, (WAX,)),
        ({"type": ["definition", "limitation"]}, facts(3, 10)),
        ({"type": "compared_against"}, (object_id("relation", 2),)),
        ({"verification": "supported"}, facts(4)),
        ({"review": "unreviewed"}, (SYNTHESIS,)),
        ({"certainty": "confirmed", "kind": "assignment"}, (object_id("assignment", 3),)),
        ({"kind": "fact", "conditions": {"kind": "baseline"}}, facts(11)),
        ({"kind": "fact", "conditions": {"text": "2 c discharge"}}, facts(2, 5, 9)),
        ({"kind": "fact", "conditions": {"kind": "setting", "text": "discharge"}}, ()),
        ({"kind": "fact", "years": (None, 2019)}, facts(1, 2, 3, 9)),
        ({"kind": "fact", "years": (2021, 2021), "type": "finding"}, facts(8, 11)),
        ({"kind": "fact", "papers": "A survey of thermal runaway"}, facts(10)),
        ({"quantities": {"metric": "PEAK"}}, facts(2, 5, 6, 9)),
        ({"quantities": {"metric": "peak temperature", "unit": "°C", "minimum": 40}}, facts(2)),
        ({"quantities": {"unit": "K", "maximum": 400}}, facts(6)),
        ({"kind": "fact", "entity": "dielectric IMMERSION"}, facts(4, 5, 6, 9, 11)),
        ({"kind": "entity", "entity": WAX}, (WAX,)),
        ({"kind": ["assignment", "entity", "synthesis"], "category": "liquid cooling"}, None),
        ({"kind": "fact", "category": "load/high"}, facts(6)),
        ({"kind": "sentence", "category": "latent heat"}, ("p3:0", "p3:1")),
        ({"kind": "fact", "chain": "pipeline", "status": "current", "papers": "p5"}, facts(10)),
    ],
)
def test_each_constraint_selects_what_it_says(cooling: Knowledge, constraints: dict[str, Any], found: tuple[str, ...] | None) -> None:
    if found is None:  # what is in a category below counts
        found = (object_id("assignment", 1), object_id("assignment", 2), CHANNEL, IMMERSION, SYNTHESIS)
    assert cooling.select(**constraints).ids == found


def test_a_paper_is_sorted_by_one_of_its_results_and_its_others_are_not_taken_along(cooling: Knowledge) -> None:
    assert cooling.select(category="high load").ids == (fact_id(6), object_id("assignment", 4))


def test_a_view_is_narrowed_in_its_order_and_keeps_its_scores(cooling: Knowledge) -> None:
    view = cooling.retrieve("peak temperature", 12)
    narrowed = cooling.select(view, type="finding")
    assert list(narrowed.ids) == [item.object_id for item in view if getattr(item, "type", "") == "finding"]
    assert [narrowed[name].score for name in narrowed.ids] == [view[name].score for name in narrowed.ids]
    assert narrowed.items[0].why[-1] == "selected"


def test_an_empty_selection_says_which_constraint_left_nothing(cooling: Knowledge) -> None:
    view = cooling.select(kind="fact")
    assert cooling.select(view, review="supported").notes == ("nothing is selected: review 'supported' is met by none of the 11 items",)
    both = cooling.select(view, verification="supported", papers="p1")
    assert (both.items, both.notes) == (
        (),
        ("nothing is selected: papers 'p1' is met by none of the 1 items that meet verification 'supported', though by 3 of all 11",),
    )
    assert cooling.select(both, kind="fact").notes[-1] == "nothing is selected: there was nothing to select from"


@pytest.mark.parametrize(
    ("constraints", "fault", "said"),
    [
        ({}, BadRequest, "select by something: kind, type, category"),
        ({"colour": "red"}, BadRequest, "colour: there is no such constraint; there are: kind, type"),
        ({"kind": "poem"}, BadRequest, "kind: there is no 'poem'; there are: fact"),
        ({"verification": "true"}, BadRequest, "there are: supported, failed"),
        ({"status": ["current", "old"]}, BadRequest, "there is no 'old'"),
        ({"review": "good"}, BadRequest, "there are: unreviewed"),
        ({"certainty": "sure"}, BadRequest, "there are: confirmed"),
        ({"type": "poem"}, BadRequest, "type: there is no 'poem'"),
        ({"conditions": {"kind": "weather"}}, BadRequest, "conditions.kind: there is no 'weather'; there are: population"),
        ({"quantities": {"minimum": 2, "maximum": 1}}, BadRequest, "quantities.maximum: must not be less than the minimum, 2.0"),
        ({"years": (1, 2, 3)}, BadRequest, "years"),
        ({"years": "x"}, BadRequest, "years"),
        ({"papers": "p99"}, NotFound, "no paper 'p99'"),
        ({"category": "liquid cooler"}, NotFound, "no category 'liquid cooler' in cooling; near are: liquid cooling"),
        ({"category": "method-family/emersion"}, NotFound, "near are: method-family/immersion"),
        ({"category": "zzz"}, NotFound, "there are: high load"),
        ({"entity": "imersion cooling"}, NotFound, "no entity 'imersion cooling' in cooling; near are: immersion cooling"),
    ],
)
def test_what_nothing_can_meet_is_refused(cooling: Knowledge, constraints: dict[str, Any], fault: type[Exception], said: str) -> None:
    with pytest.raises(fault, match=said):
        cooling.select(**constraints)


def test_a_view_of_another_collection_is_refused(cooling: Knowledge) -> None:
    view = cooling.select(kind="fact")
    other = type(view)("heating", view.release, view.items)
    for ask in (lambda: cooling.select(other, kind="fact"), lambda: cooling.expand(other, "basis"), lambda: cooling.compare(other)):
        with pytest.raises(BadRequest, match="the view is of heating, not of cooling"):
            ask()

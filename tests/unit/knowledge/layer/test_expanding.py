"""Expansion leads from objects to what they rest on and back, hop by hop, and says what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import scholarlake
from scholarlake.knowledge.layer.knowledge import Knowledge
from scholarlake.knowledge.layer.view import BadRequest, View
from tests.unit.knowledge.layer.battery import (
    CHANNEL,
    COLLECTION,
    IMMERSION,
    PACK,
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
        lake = released(made(tmp_path_factory.mktemp("expanding") / "lake"))
        with scholarlake.open(lake.root) as reader:
            yield reader.knowledge(COLLECTION)


def added(cooling: Knowledge, start: str, along: str, **more: object) -> list[str]:
    """Ids that were added behind the one that it begins with."""
    view = cooling.expand(cooling.get([start]), along, **more)  # type: ignore[arg-type]
    assert view.ids[0] == start
    return list(view.ids[1:])


def fact(*numbers: int) -> list[str]:
    return [fact_id(number) for number in numbers]


def relation(*numbers: int) -> list[str]:
    return [object_id("relation", number) for number in numbers]


def assignment(*numbers: int) -> list[str]:
    return [object_id("assignment", number) for number in numbers]


@pytest.mark.parametrize(
    ("start", "along", "found"),
    [
        (fact_id(2), "evidence", ["p1:1"]),
        (SYNTHESIS, "evidence", ["p1:1", "p2:1", "p2:2", "p2:0"]),
        (IMMERSION, "evidence", ["p2:0", "p2:1", "p2:2", "p4:0", "p3:2"]),
        (SYNTHESIS, "basis", [*assignment(2), *fact(2, 5, 6)]),
        (IMMERSION, "basis", fact(4, 5, 6, 9, 11)),
        (fact_id(6), "dependents", [*assignment(4), IMMERSION, SYNTHESIS]),
        ("p2:0", "dependents", fact(4)),
        (object_id("assignment", 2), "dependents", [SYNTHESIS]),
        (object_id("assignment", 4), "siblings", []),
        (fact_id(4), "siblings", assignment(2)),
        (fact_id(8), "entities", [WAX, PACK]),
        (object_id("relation", 2), "entities", [IMMERSION, WAX]),
        (WAX, "relations", relation(1, 2)),
        (fact_id(11), "relations", relation(2)),
        (CHANNEL, "relations", []),
        (fact_id(4), "cited", relation(3)),
        (fact_id(4), "citing", relation(4, 5)),
        (fact_id(5), "neighbours", ["p2:0", "p2:2"]),
        ("p1:0", "neighbours", ["p1:1"]),
        ("p4:0", "neighbours", []),
        ("p1:1", "facts", fact(1, 2, 3)),
    ],
)
def test_each_way_leads_where_it_says(cooling: Knowledge, start: str, along: str, found: list[str]) -> None:
    assert added(cooling, start, along) == found


def test_relations_are_followed_by_type_and_direction(cooling: Knowledge) -> None:
    assert added(cooling, WAX, "relations", direction="out") == relation(1)
    assert added(cooling, WAX, "relations", direction="in") == relation(2)
    assert added(cooling, WAX, "relations", relations=["compared_against"]) == relation(2)
    assert added(cooling, WAX, "relations", relations=["uses"]) == []


def test_hops_go_on_from_what_was_found(cooling: Knowledge) -> None:
    assert added(cooling, object_id("assignment", 4), "dependents", hops=2) == []
    assert added(cooling, "p2:2", "dependents", hops=1) == fact(6)
    assert added(cooling, "p2:2", "dependents", hops=2) == [*fact(6), *assignment(4), IMMERSION, SYNTHESIS]
    assert added(cooling, fact_id(10), "cited", hops=1) == relation(5)
    assert added(cooling, fact_id(10), "cited", hops=2) == relation(5, 3), "from p5 to p2, and from p2 to p1"


def test_every_item_says_why_it_is_there(cooling: Knowledge) -> None:
    view = cooling.expand(cooling.get([SYNTHESIS]), "basis")
    assert view[fact_id(6)].why == (f"limiting of {SYNTHESIS}",)
    assert view[SYNTHESIS].why == ()


def test_a_cap_is_told_with_what_it_left_out(cooling: Knowledge) -> None:
    view = cooling.expand(cooling.get([IMMERSION]), "basis", limit=2)
    assert list(view.ids) == [IMMERSION, *fact(4, 5)]
    assert view.notes == ("capped: 2 of 5 objects along basis were added",)


def test_nothing_is_found_twice_and_finding_nothing_is_told(cooling: Knowledge) -> None:
    view = cooling.get([fact_id(2), "p1:1"])
    again = cooling.expand(view, "evidence")
    assert again.ids == view.ids
    assert again.notes == ("nothing lies along evidence",)
    assert cooling.expand(View(COLLECTION, "r0001"), "basis").ids == ()


@pytest.mark.parametrize(
    ("along", "more", "said"),
    [
        ("sideways", {}, "nothing leads along 'sideways'; there are: evidence, basis"),
        ("basis", {"hops": 0}, "0 hops lead nowhere; give 1 to 5"),
        ("basis", {"hops": 6}, "give 1 to 5"),
        ("basis", {"limit": 0}, "no expansion by 0 objects; give 1 to 1000"),
        ("relations", {"direction": "up"}, "no direction 'up'; there are: out, in, both"),
        ("relations", {"relations": ["loves"]}, "no relation 'loves'; there are: proposes"),
        ("basis", {"relations": ["uses"]}, "types and directions are those of relations, not of basis"),
    ],
)
def test_ways_that_there_are_not_are_refused(cooling: Knowledge, along: str, more: dict[str, object], said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        added(cooling, WAX, along, **more)

"""A view that was kept is opened as it was, and says what became of its objects; what tasks made is readable at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

import scholarlake
from scholarlake.errors import NotFound
from scholarlake.knowledge import registry
from scholarlake.knowledge.layer.items import Origin, Standing, TaskItem
from scholarlake.knowledge.layer.view import BadRequest, View
from scholarlake.knowledge.registry.build import build_registry
from scholarlake.lake import contracts, delta
from scholarlake.lake.home import Lake
from tests.unit.knowledge.layer.battery import (
    COLLECTION,
    FACTS,
    SYNTHESES,
    SYNTHESIS,
    all_tables,
    condition,
    fact_id,
    made,
    object_id,
    released,
    write,
)
from tests.unit.small_lake import COMMIT

NOW = datetime(2030, 1, 2, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with all_tables():
        yield released(made(tmp_path / "lake"))


def version(object_id: str, kind: str, number: int = 1, **more: Any) -> dict[str, Any]:
    """A row of the registry."""
    return {
        "asset_id": object_id,
        "version": number,
        "object_id": object_id,
        "kind": kind,
        "layer": 3 if kind in ("synthesis", "hypothesis", "note") else 1,
        "collection": COLLECTION,
        "title": "t",
        "content": "{}",
        "content_hash": "0" * 32,
        "status": "current",
        "reason": None,
        "verification": None,
        "review": None,
        "parent": None,
        "chain": "pipeline",
        "stage": f"{kind}s",
        "method": "test",
        "created_at": NOW,
        "changed_at": NOW,
        **more,
    }


def register(lake: Lake, *rows: dict[str, Any]) -> None:
    """Make rows all that the registry holds of their kinds."""
    for kind in {row["kind"] for row in rows}:
        frame = pl.DataFrame([row for row in rows if row["kind"] == kind], contracts.REGISTRY.schema)
        delta.write_partition(lake, "registry", kind, frame, COMMIT)


def account(number: int, kind: str = "synthesis", text: str = "Wax melts sooner under vibration.", **more: Any) -> dict[str, Any]:
    """What a task registered."""
    name = object_id(kind, number)
    content = {
        "synthesis_id": name,
        "collection": COLLECTION,
        "kind": "open_problem" if kind == "synthesis" else kind,
        "topic": "wax",
        "title": "Wax under vibration",
        "account": text,
        "claims": [{"text": text, "cites": [fact_id(7)]}],
        "conditions": [condition("vibration")],
        "studies": ["p3"],
        "sources": 1,
        "basis": [{"object_id": fact_id(7), "kind": "fact", "role": "supporting", "why": "it melts"}],
        "review": "unreviewed",
        "votes": [],
    }
    made_by = {"chain": "review-7", "stage": "draft", "review": "unreviewed"}
    return version(name, kind, content=orjson.dumps(content).decode(), **{**made_by, **more})


# -- kept views ------------------------------------------------------------------------------------------------------


def test_a_view_is_opened_as_it_was_by_name_and_by_id(lake: Lake) -> None:
    with scholarlake.open(lake.root) as reader:
        cooling = reader.knowledge(COLLECTION, chain="review-7", stage="search")
        view = cooling.retrieve("peak temperature", 5)
        kept = cooling.keep(view, "Peak temperatures")
        assert (kept.items, kept.release, kept.chain, kept.stage) == (5, "r0001", "review-7", "search")
        for name in ("Peak temperatures", kept.view_id):
            opened = cooling.open_view(name)
            assert opened.items == view.items
            assert opened.notes == ("kept as 'Peak temperatures' on r0001, opened on r0001; nothing in it changed since",)
            assert [one.operation for one in opened.history] == ["retrieve", "open"]
    with scholarlake.open(lake.root) as again:
        assert again.knowledge(COLLECTION).kept_views() == [kept], "it is there for whoever comes later"


def test_the_same_view_kept_again_is_one_and_a_name_means_its_newest_view(lake: Lake) -> None:
    with scholarlake.open(lake.root) as reader:
        cooling = reader.knowledge(COLLECTION)
        first = cooling.keep(cooling.select(kind="entity"), "mine")
        version = delta.version(lake, "kept_views")
        assert cooling.keep(cooling.select(kind="entity"), "mine") == first
        assert delta.version(lake, "kept_views") == version
        cooling.keep(cooling.select(kind="assignment"), "mine")
        assert len(cooling.kept_views()) == 2
        assert cooling.open_view("mine").counts() == {"assignment": 4}
        assert cooling.open_view(first.view_id).counts() == {"entity": 4}


def test_what_changed_since_is_told_object_by_object(lake: Lake) -> None:
    with scholarlake.open(lake.root) as reader:
        cooling = reader.knowledge(COLLECTION)
        cooling.keep(cooling.get([fact_id(1), fact_id(2), fact_id(4), SYNTHESIS]), "before")
    changed = fact_id(99)
    facts = [{**row, "fact_id": changed} if row["fact_id"] == fact_id(2) else row for row in FACTS]
    write(lake, "facts", [row for row in facts if row["fact_id"] != fact_id(1)])
    write(lake, "syntheses", [])
    write(lake, "assignments", [])
    register(
        lake,
        version(fact_id(1), "fact", status="retracted", reason="its paper was withdrawn"),
        version(fact_id(2), "fact", status="superseded", reason="its sentence changed"),
        {**version(fact_id(2), "fact", 2, parent=1), "object_id": changed},
        version(SYNTHESIS, "synthesis", status="needs_recheck", reason="a basis was revised"),
    )
    released(lake, "r0002")
    with scholarlake.open(lake.root) as reader:
        opened = reader.knowledge(COLLECTION).open_view("before")
    assert opened.notes == (
        "kept as 'before' on r0001, opened on r0002; 3 of 4 objects changed since",
        f"{fact_id(1)} is retracted: its paper was withdrawn",
        f"{fact_id(2)} is superseded by {changed}: its sentence changed",
        f"{SYNTHESIS} needs a recheck: a basis was revised",
    )
    assert [item.standing.status for item in opened] == ["retracted", "superseded", "current", "needs_recheck"]
    assert opened[fact_id(1)].object_id == fact_id(1), "it still says what it said"


def test_an_object_that_is_gone_from_everywhere_is_told_too(lake: Lake) -> None:
    with scholarlake.open(lake.root) as reader:
        cooling = reader.knowledge(COLLECTION)
        cooling.keep(cooling.get([fact_id(10), "p5:0"]), "runaway")
    write(lake, "facts", FACTS[:-1])
    released(lake, "r0002")
    with scholarlake.open(lake.root) as reader:
        opened = reader.knowledge(COLLECTION).open_view("runaway")
    assert opened.notes[1:] == (f"{fact_id(10)} is retracted: it is not in r0002",)


def test_views_that_there_are_not_and_names_that_are_none_are_refused(lake: Lake) -> None:
    with scholarlake.open(lake.root) as reader:
        cooling = reader.knowledge(COLLECTION)
        with pytest.raises(NotFound, match="no view 'x' was kept of cooling; none was"):
            cooling.open_view("x")
        view = cooling.select(kind="entity")
        cooling.keep(view, "entities")
        with pytest.raises(NotFound, match="no view 'entitys' was kept of cooling; there are: entities"):
            cooling.open_view("entitys")
        for name in ("", " ", "x" * 201, " x"):
            with pytest.raises(BadRequest, match="by a name of 1 to 200 characters"):
                cooling.keep(view, name)
        with pytest.raises(BadRequest, match="the view is of heating"):
            cooling.keep(dataclasses.replace(view, collection="heating"), "x")


# -- the registry ----------------------------------------------------------------------------------------------------


def test_items_have_the_identity_and_the_standing_that_the_release_registered(lake: Lake) -> None:
    row = version(fact_id(2), "fact", 3, stage="facts", verification="supported")
    register(lake, {**row, "asset_id": "fact-first", "status": "needs_recheck", "reason": "its basis moved"})
    released(lake, "r0002")
    with scholarlake.open(lake.root) as reader:
        item = reader.knowledge(COLLECTION).get([fact_id(2)]).items[0]
    assert item.standing == Standing("fact-first", 3, "needs_recheck", "its basis moved")
    assert item.kind == "fact"
    assert item.verification == "supported", "a check may come to something after the object was made"


def test_an_object_that_was_retracted_is_told_as_such_by_its_id(lake: Lake) -> None:
    register(
        lake,
        version(fact_id(77), "fact", status="retracted", reason="its paper was withdrawn"),
        version(object_id("synthesis", 5), "synthesis", status="superseded", reason="narrowed"),
        {**version(object_id("synthesis", 5), "synthesis", 2, parent=1), "object_id": object_id("synthesis", 6)},
        {**version(object_id("synthesis", 7), "synthesis"), "collection": "heating"},
    )
    released(lake, "r0002")
    with scholarlake.open(lake.root) as reader:
        cooling = reader.knowledge(COLLECTION)
        for name, said in (
            (fact_id(77), r"is retracted \(its paper was withdrawn\)"),
            (object_id("synthesis", 5), rf"is superseded \(narrowed\); {object_id('synthesis', 6)} stands for it now"),
            (object_id("synthesis", 7), "it belongs to heating"),
        ):
            with pytest.raises(BadRequest, match=said):
                cooling.get([name])


# -- what tasks made -------------------------------------------------------------------------------------------------


def test_what_a_task_registers_is_found_at_once_by_words_and_by_meaning(lake: Lake) -> None:
    with scholarlake.open(lake.root) as reader:
        cooling = reader.knowledge(COLLECTION)
        assert cooling.select(kind=["synthesis", "hypothesis"]).ids == (SYNTHESIS,)
        register(lake, account(7), account(8, "hypothesis", "Vibration might shake wax loose."))
        view = cooling.retrieve("wax under vibration", 3)
        assert set(view.ids[:2]) == {object_id("synthesis", 7), object_id("hypothesis", 8)}
        first = view[object_id("synthesis", 7)]
        assert first.origin == Origin("review-7", "draft")
        assert (first.papers, first.conditions[0].text) == (("p3",), "vibration")
        assert "dense" in first.why[0]
        assert "keyword" in first.why[0]
        assert isinstance(view[object_id("hypothesis", 8)], TaskItem)
        assert View.from_dict(view.to_dict()) == view
        assert cooling.select(chain="review-7").ids == (object_id("hypothesis", 8), object_id("synthesis", 7))
        assert cooling.retrieve("vibration", 9, papers=["p1"], layers=[3]).ids == (SYNTHESIS,), "the task wrote of p3"


def test_a_candidate_is_registered_by_the_door_of_tasks_and_then_found(lake: Lake) -> None:
    build_registry(lake, COMMIT)
    released(lake, "r0002")
    with scholarlake.open(lake.root) as reader:
        cooling = reader.knowledge(COLLECTION)
        made = cooling.synthesize(cooling.get([fact_id(2), fact_id(5)]), "How warm do cells get?")
        done = registry.register(lake, made.proposal, chain="review-7", stage="draft")
        found = cooling.retrieve("how warm do cells get", 20, kinds=["synthesis"])
        item = found[done.object_id]
    assert item.origin == Origin("review-7", "draft")
    assert item.kind == "synthesis"
    assert [one.text for one in item.claims] == [one.text for one in made.claims]
    assert (item.review, item.standing) == ("unreviewed", Standing(done.asset_id, 1)), "a check of its basis is none of it"


def test_what_a_task_made_does_not_push_aside_what_fits_better(lake: Lake) -> None:
    register(lake, account(7, text="A pack needs care."))
    with scholarlake.open(lake.root) as reader:
        view = reader.knowledge(COLLECTION).retrieve("dielectric immersion of cells in a pack", 20)
    assert view.ids.index(object_id("synthesis", 7)) > 3


def test_expansion_leads_to_what_tasks_made_and_from_there_to_its_basis(lake: Lake) -> None:
    register(lake, account(7))
    with scholarlake.open(lake.root) as reader:
        cooling = reader.knowledge(COLLECTION)
        above = cooling.expand(cooling.get([fact_id(7)]), "dependents")
        assert object_id("synthesis", 7) in above
        below = cooling.expand(cooling.get([object_id("synthesis", 7)]), "evidence")
        assert below.ids == (object_id("synthesis", 7), "p3:0")


def test_what_a_task_took_back_or_made_elsewhere_is_not_there(lake: Lake) -> None:
    register(lake, account(7, status="retracted", reason="wrong"), {**account(9), "collection": "heating"}, account(8, "note"))
    with scholarlake.open(lake.root) as reader:
        cooling = reader.knowledge(COLLECTION)
        found = cooling.retrieve("wax under vibration", 20, layers=[3])
    assert set(found.ids) == {SYNTHESIS, object_id("note", 8)}


def test_an_account_that_a_task_revised_is_no_longer_retrieved_in_its_old_words(lake: Lake) -> None:
    old = version(SYNTHESIS, "synthesis", content=orjson.dumps(SYNTHESES[0]).decode())
    register(lake, old)
    released(lake, "r0002")
    with scholarlake.open(lake.root) as reader:
        cooling = reader.knowledge(COLLECTION)
        assert SYNTHESIS in cooling.retrieve("peak temperatures under liquid cooling", 20)
        newer = {**account(7), "asset_id": SYNTHESIS, "version": 2, "parent": 1}
        register(lake, {**old, "status": "superseded", "reason": "narrowed by new evidence"}, newer)
        view = cooling.retrieve("peak temperatures under liquid cooling", 40)
        assert SYNTHESIS not in view
        assert view[object_id("synthesis", 7)].standing == Standing(SYNTHESIS, 2)
        item = cooling.get([SYNTHESIS]).items[0]
        assert item.standing == Standing(SYNTHESIS, 1, "superseded", "narrowed by new evidence"), "it stays readable"

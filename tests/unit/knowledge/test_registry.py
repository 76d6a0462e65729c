"""The registry against the tables: new, revised, gone and back, each once and with its reason; nothing where nothing changed (trap 42)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from scholarlake.errors import NotFound
from scholarlake.knowledge.registry import Registry, invariants, journal
from scholarlake.knowledge.registry.build import TABLES, build_registry
from scholarlake.knowledge.registry.matching import Candidate, continued
from scholarlake.knowledge.registry.wording import numbers_changed
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from tests.unit.knowledge.layers import COLLECTION, FAMILY, RUN, Stated, World, assets, new_lake, registered

CLAIMS = (
    invariants.every_object_is_registered,
    invariants.versions_follow_each_other,
    invariants.dependencies_resolve,
    invariants.every_basis_is_a_dependency,
    invariants.every_change_was_told,
    invariants.nothing_rests_on_what_moved,
)
WORLD = World(
    papers={"p1": "Tables of gradients", "p2": "Saddles by tables", "p3": "A third paper"},
    facts=[
        Stated("table", "p1", "Tabgrad keeps a table of 12 gradients.", "Tabgrad", "method_description"),
        Stated("rate", "p1", "Tabgrad converges linearly.", "Tabgrad", "theoretical_result", (("assumption", "strongly convex"),), n=1),
        Stated("saddle", "p2", "Sadtab extends Tabgrad to saddle points.", "Sadtab", "method_description"),
        Stated("other", "p3", "Nothing is said of methods here.", "nothing"),
    ],
    entities={"Tabgrad": ("method", ("table", "rate", "saddle")), "Sadtab": ("method", ("saddle",))},
    members={"Tabgrad": ("table",), "Sadtab": ("saddle",)},
    relations=[("Sadtab", "extends", "Tabgrad", ("saddle",), ())],
)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    found = new_lake(tmp_path)
    registered(found, WORLD)
    return found


def versions(lake: Lake) -> dict[str, int | None]:
    return {name: delta.version(lake, name) for name in TABLES}


def sound(lake: Lake) -> None:
    for claim in CLAIMS:
        found = claim(lake)
        assert found.passed, found


def happened(lake: Lake, *events: str) -> list[tuple[str, str, str]]:
    rows = lake.scan("registry_events").filter(pl.col("event").is_in(events)).collect()
    return sorted(rows.select("kind", "event", "reason").iter_rows())


def test_all_that_the_layers_hold_is_registered_and_stands(lake: Lake) -> None:
    sound(lake)
    kinds = dict(lake.scan("registry").collect()["kind"].value_counts().iter_rows())
    assert kinds == {"fact": 4, "taxonomy": 1, "entity": 2, "assignment": 2, "relation": 1}
    assert set(assets(lake).values()) == {(1, "current")}


def test_nothing_new_writes_nothing(lake: Lake) -> None:
    before = versions(lake)
    report = registered(lake, WORLD)
    assert versions(lake) == before == report.versions
    assert report.counts == {}


def test_a_changed_number_is_a_new_version_of_the_fact_and_of_what_rests_on_it(lake: Lake) -> None:
    old = WORLD.fact("table").id
    new = WORLD.change("table", statement="Tabgrad keeps a table of 13 gradients.")
    registered(lake, new)
    sound(lake)
    registry = Registry.of(lake)
    first, second = registry.history(old)
    assert (first.status, first.content["statement"]) == ("superseded", "Tabgrad keeps a table of 12 gradients.")
    assert (second.status, second.parent, second.reason) == ("current", 1, "number changed from 12 to 13")
    assert second.object_id == new.fact("table").id
    above = registry.standing(WORLD.assignment("Tabgrad"))
    assert (above.version, above.parent) == (2, 1)
    assert above.reason == "a basis was revised (number changed from 12 to 13)"
    (told,) = [one for one in registry.events(above.asset_id) if one.event == "revised"]
    assert told.cause == old
    assert [one.version for one in registry.basis(above.asset_id, 1) if one.kind == "fact"] == [1]
    assert [one.version for one in registry.basis(above.asset_id, 2) if one.kind == "fact"] == [2]
    untouched = {WORLD.fact(name).id for name in ("rate", "saddle", "other")} | {WORLD.assignment("Sadtab"), WORLD.entity("Tabgrad")}
    assert {assets(lake)[one] for one in untouched} == {(1, "current")}


def test_what_is_back_is_restored_in_the_version_that_it_was(lake: Lake) -> None:
    before = assets(lake)
    registered(lake, WORLD.change("table", statement="Tabgrad keeps a table of 13 gradients."))
    registered(lake, WORLD)
    sound(lake)
    assert assets(lake) == before
    assert {reason for _, event, reason in happened(lake, "restored")} == {"it is back"}
    assert [one.status for one in Registry.of(lake).history(WORLD.fact("table").id)] == ["current", "superseded"]


def test_a_removed_paper_retracts_what_it_states_and_what_rests_on_it_until_it_is_back(lake: Lake) -> None:
    before = assets(lake)
    registered(lake, WORLD.without("p2"))
    sound(lake)
    gone = "paper p2 was removed"
    assert happened(lake, "retracted") == [
        ("assignment", "retracted", f"what it rested on is not as it was ({gone})"),
        ("entity", "retracted", "nothing mentions it any more"),
        ("fact", "retracted", gone),
        ("relation", "retracted", f"what it rested on is not as it was ({gone})"),
    ]
    assert Registry.of(lake).standing(WORLD.fact("saddle").id).content["statement"] == "Sadtab extends Tabgrad to saddle points."
    registered(lake, WORLD)
    sound(lake)
    assert assets(lake) == before


@pytest.mark.parametrize(
    ("world", "why"),
    [
        (replace(WORLD.without("p3"), papers={**WORLD.papers}, withdrawn={"p3"}), "paper p3 was withdrawn"),
        (replace(WORLD.without("p3"), papers=WORLD.papers), "paper p3 states it no longer"),
    ],
)
def test_why_a_fact_is_gone_is_said(lake: Lake, world: World, why: str) -> None:
    registered(lake, world)
    assert happened(lake, "retracted") == [("fact", "retracted", why)]


def test_votes_on_a_fact_are_no_other_version_of_it(lake: Lake) -> None:
    rows = lake.scan("facts").filter(pl.col("subject") == "nothing").collect()
    vote = {"verdict": "supported", "attribution": True, "qualifications": True, "reason": "r", "method": "m"}
    changed = pl.DataFrame([{**row, "verification": "supported", "votes": [vote]} for row in rows.to_dicts()], rows.schema)
    delta.apply(lake, "facts", rows["shard"][0], changed, rows.clear().select("fact_id"), RUN)
    build_registry(lake, RUN)
    sound(lake)
    found = Registry.of(lake).standing(WORLD.fact("other").id)
    assert (found.version, found.verification, found.content["votes"][0]["method"]) == (1, "supported", "m")
    assert happened(lake, "reviewed") == [("fact", "reviewed", "verification changed from unchecked to supported")]


def test_an_entity_of_another_name_is_another_version_and_one_of_other_sources_is_not(lake: Lake) -> None:
    entity = WORLD.entity("Tabgrad")
    registered(lake, WORLD.without("p2"))
    assert assets(lake)[entity] == (1, "current")
    rows = lake.scan("entities").filter(pl.col("entity_id") == entity).collect()
    renamed = pl.DataFrame([{**row, "name": "TabGrad", "keys": ["tabgrad", "table gradient"]} for row in rows.to_dicts()], rows.schema)
    delta.apply(lake, "entities", COLLECTION, renamed, rows.clear().select("entity_id"), RUN)
    build_registry(lake, RUN)
    sound(lake)
    assert Registry.of(lake).standing(entity).reason == 'named "TabGrad" instead of "Tabgrad"; "table gradient" is it as well'


def test_a_merged_entity_says_into_which(lake: Lake) -> None:
    merged = replace(WORLD, entities={"Tabgrad": WORLD.entities["Tabgrad"]}, members={"Tabgrad": ("table",)}, relations=[])
    merged.lay_down(lake)
    rows = lake.scan("entities").collect()
    both = pl.DataFrame([{**row, "keys": ["sadtab", "tabgrad"]} for row in rows.to_dicts()], rows.schema)
    delta.apply(lake, "entities", COLLECTION, both, rows.clear().select("entity_id"), RUN)
    build_registry(lake, RUN)
    sound(lake)
    assert ("entity", "retracted", 'merged into "Tabgrad"') in happened(lake, "retracted")
    registered(lake, WORLD)
    sound(lake)
    assert {status for _, status in assets(lake).values()} == {"current"}


def test_an_earlier_version_that_is_stated_beside_the_later_one_goes_its_own_way(lake: Lake) -> None:
    later = WORLD.change("table", statement="Tabgrad keeps a table of 13 gradients.")
    registered(lake, later)
    both = replace(later, facts=[*later.facts, replace(WORLD.fact("table"), name="again", n=2)])
    registered(lake, both)
    sound(lake)
    found = assets(lake)
    assert found[WORLD.fact("table").id] == (1, "current")
    assert found[later.fact("table").id] == (1, "current")


def test_the_order_in_which_changes_come_does_not_matter_for_what_stands(tmp_path: Path) -> None:
    steps = [WORLD, WORLD.without("p2"), WORLD.change("rate", context=(("assumption", "convex"),)), WORLD.without("p1")]
    for seed in range(2):
        lake = new_lake(tmp_path / str(seed))
        for world in random.Random(seed).sample(steps, len(steps)):
            registered(lake, world)
            sound(lake)
        registered(lake, WORLD)
        sound(lake)
        objects = lake.scan("registry").filter(pl.col("status") == "current").collect()["object_id"]
        fresh = new_lake(tmp_path / f"fresh-{seed}")
        registered(fresh, WORLD)
        assert sorted(objects) == sorted(fresh.scan("registry").collect()["object_id"])


@pytest.mark.parametrize("after", range(6))
def test_killed_between_any_two_commits_the_next_run_ends_where_it_would_have(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    new = WORLD.change("table", statement="Tabgrad keeps a table of 13 gradients.").without("p2")
    new.lay_down(lake)
    whole = delta.apply
    left = after

    def dies(*arguments: Any) -> delta.Written:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        return whole(*arguments)

    monkeypatch.setattr(journal.delta, "apply", dies)
    with pytest.raises(KeyboardInterrupt):
        build_registry(lake, RUN)
    monkeypatch.setattr(journal.delta, "apply", whole)
    registered(lake, new)
    sound(lake)
    before = versions(lake)
    registered(lake, new)
    assert versions(lake) == before
    assert not (lake.root / "registry" / "change").exists()
    other = new_lake(tmp_path / "other")
    registered(other, WORLD)
    registered(other, new)
    assert assets(lake) == assets(other)
    assert happened(lake, "revised", "retracted", "superseded") == happened(other, "revised", "retracted", "superseded")


def test_an_id_of_nothing_and_a_version_that_is_not_there_are_told(lake: Lake) -> None:
    registry = Registry.of(lake)
    with pytest.raises(NotFound, match="no object 'fact-x' is registered"):
        registry.find("fact-x")
    with pytest.raises(NotFound, match="has no version 7; it has 1"):
        registry.version(WORLD.fact("table").id, 7)


# -- what continues what -----------------------------------------------------------------------------------------------


def fact(statement: str, subject: str = "Tabgrad", evidence: str = "p1:0", type: str = "finding", paper: str = "p1") -> dict[str, Any]:
    return {"paper_id": paper, "type": type, "subject": subject, "statement": statement, "evidence": [evidence]}


@pytest.mark.parametrize(
    ("new", "same"),
    [
        (fact("Something else entirely is claimed."), True),  # of one subject, in the same place
        (fact("Tabgrad needs a table of 13 gradients.", evidence="p1:9"), True),  # much the same words elsewhere
        (fact("Something else entirely is claimed.", evidence="p1:9"), False),
        (fact("Something else entirely is claimed.", subject="Other"), False),
        (fact("Tabgrad needs a table of 12 gradients.", type="limitation"), False),
        (fact("Tabgrad needs a table of 12 gradients.", paper="p2"), False),
    ],
)
def test_a_fact_continues_one_of_its_paper_and_type_in_its_place_or_in_its_words(new: dict[str, Any], same: bool) -> None:
    old = fact("Tabgrad needs a table of 12 gradients.")
    assert (continued("fact", [Candidate("old", old)], [Candidate("new", new)], {}) == {"new": "old"}) is same


def test_each_object_continues_one_and_the_likest() -> None:
    old = {"a": fact("The table has 12 rows."), "b": fact("The rate is linear in the number of steps.")}
    new = {
        "x": fact("The rate is linear in the number of epochs."),
        "y": fact("The table has 13 rows."),
        "z": fact("Rows of any table may be many."),
    }
    for seed in range(5):
        order = random.Random(seed)
        sides = [[Candidate(*one) for one in order.sample(sorted(side.items()), len(side))] for side in (old, new)]
        assert continued("fact", *sides, {}) == {"y": "a", "x": "b"}


def test_an_assignment_continues_one_whose_basis_was_revised_and_none_on_other_grounds() -> None:
    def assignment(*basis: str) -> dict[str, Any]:
        return {"collection": COLLECTION, "subject_id": "e", "category_id": FAMILY, "basis": list(basis)}

    revised: Callable[[str], dict[str, str]] = lambda fact: continued(  # noqa: E731
        "assignment", [Candidate("old", assignment("f1"))], [Candidate("new", assignment(fact))], {"f1": "f1", "f2": "f1"}
    )
    assert revised("f2") == {"new": "old"}
    assert revised("f3") == {}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("It took 12 ms.", "It took 13 ms.", ["number changed from 12 to 13"]),
        ("It took 1,234 steps.", "It took 1234 steps.", []),
        ("It took 12 ms on 3 lists.", "It took 12 ms on 4 lists.", ["number changed from 3 to 4"]),
        ("It took 12 ms.", "It needed 13 ms.", []),
    ],
)
def test_numbers_that_changed_alone_are_told(old: str, new: str, told: list[str]) -> None:
    assert [one.replace("ms", "") for one in numbers_changed(old, new)] == told

"""What tasks register: the same checks, one identity, kept through builds, marked where its grounds move, settled by looking again."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from scholarlake.cli import app
from scholarlake.errors import NotFound, ScholarLakeError, SourceError
from scholarlake.knowledge.objects import Context
from scholarlake.knowledge.registry import Registered, RegistrationRefused, Registry, invariants, recheck, register, retract
from scholarlake.knowledge.registry.build import TABLES
from scholarlake.knowledge.syntheses.objects import Basis, Claim, Proposal
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from tests.misbehaving import Asked, Reply, error
from tests.unit.knowledge.layers import COLLECTION, Stated, World, assets, new_lake, registered
from tests.unit.knowledge.papers import at, verdict

WORLD = World(
    papers={"p1": "Tables of gradients", "p2": "Saddles by tables", "p2x": "A preprint of it", "p3": "Withdrawn"},
    versions={"p2x": "p2"},
    withdrawn={"p3"},
    facts=[
        Stated("table", "p1", "Tabgrad needs 12 passes over the data.", "Tabgrad", context=(("setting", "finite sums"),)),
        Stated("saddle", "p2", "Sadtab needs 20 passes over the data.", "Sadtab"),
        Stated("preprint", "p2x", "Sadtab needs 21 passes over the data.", "Sadtab"),
        Stated("bad", "p3", "Badtab needs 2 passes over the data.", "Badtab"),
    ],
)
ORIGIN = {"chain": "review-7", "stage": "literature review"}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    found = new_lake(tmp_path)
    registered(found, WORLD)
    return found


def proposal(
    *claims: tuple[str, str], kind: str = "family_overview", roles: tuple[str, ...] = (), title: str = "Passes of methods"
) -> Proposal:
    """Claims, each with the name of the fact that it cites."""
    named = list(dict.fromkeys(name for _, name in claims))
    by = dict(zip(named, (*roles, *["supporting"] * len(named)), strict=False))
    return Proposal(
        COLLECTION,
        kind,
        "passes over the data",
        title,
        tuple(Claim(text, (WORLD.fact(name).id,)) for text, name in claims),
        tuple(Basis(WORLD.fact(name).id, role, "it says how many") for name, role in by.items()),
    )


BOTH = proposal(("Tabgrad is said to need 12 passes.", "table"), ("Sadtab needs 20.", "saddle"))


def brought(lake: Lake, said: Proposal = BOTH) -> Registered:
    return register(lake, said, **ORIGIN)


def versions(lake: Lake) -> dict[str, int | None]:
    return {name: delta.version(lake, name) for name in TABLES}


def sound(lake: Lake) -> None:
    for claim in (
        invariants.every_object_is_registered,
        invariants.versions_follow_each_other,
        invariants.dependencies_resolve,
        invariants.every_change_was_told,
        invariants.nothing_rests_on_what_moved,
    ):
        found = claim(lake)
        assert found.passed, found


def test_an_account_is_registered_at_once_with_where_it_came_from_and_reviewed_by_nobody(lake: Lake) -> None:
    made = brought(lake)
    sound(lake)
    found = Registry.of(lake).find(made.object_id)
    assert (made.outcome, made.version, found.kind, found.status) == ("registered", 1, "synthesis", "current")
    assert (found.chain, found.stage, found.review) == ("review-7", "literature review", "unreviewed")
    assert (found.content["sources"], found.content["studies"]) == (2, ["p1", "p2"])
    assert [(one.asset_id, one.role) for one in Registry.of(lake).basis(made.asset_id, 1)] == [
        (id, "supporting") for id in sorted((WORLD.fact("table").id, WORLD.fact("saddle").id))
    ]


def test_what_says_the_same_is_reused_whatever_its_spelling_and_order(lake: Lake) -> None:
    first = brought(lake)
    again = brought(lake, replace(BOTH, basis=BOTH.basis[::-1]))
    spelt = brought(lake, replace(BOTH, claims=tuple(replace(one, text=one.text.upper() + " ") for one in BOTH.claims)))
    assert {one.asset_id for one in (first, again, spelt)} == {first.asset_id}
    assert [one.outcome for one in (again, spelt)] == ["reused", "reused"]
    assert [one.event for one in Registry.of(lake).events(first.asset_id)] == ["registered", "reused", "reused"]
    sound(lake)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (proposal(("Tabgrad needs 13 passes.", "table"), ("Sadtab needs 20.", "saddle")), "number_not_in_basis"),
        (proposal(("Tabgrad needs 20 passes.", "table"), ("Sadtab needs 20.", "saddle")), "number_not_in_basis"),
        (replace(BOTH, title="Passes, 40 at most"), "number_not_in_basis"),
        (replace(BOTH, conditions=(Context("setting", "at least 99 lists"),)), "number_not_in_basis"),
        (proposal(("Tabgrad needs 12 passes.", "table")), "one_source"),
        (proposal(("Sadtab needs 20.", "saddle"), ("Sadtab needs 21.", "preprint")), "one_source"),
        (proposal(("Tabgrad needs 12.", "table"), ("Badtab needs 2.", "bad")), "outside_scope"),
        (replace(BOTH, claims=(*BOTH.claims, Claim("Both are fast.", ()))), "claim_without_basis"),
        (replace(BOTH, claims=(*BOTH.claims, Claim("So it is.", ("fact-0",)))), "unresolved_basis"),
        (replace(BOTH, basis=(*BOTH.basis, Basis("fact-0", "supporting", "x"))), "unresolved_basis"),
        (replace(BOTH, basis=()), "no_basis"),
        (replace(BOTH, kind="fact"), "unknown_kind"),
        (replace(BOTH, topic=" "), "missing_field"),
        (replace(BOTH, basis=(*BOTH.basis, BOTH.basis[0])), "repeated"),
        (replace(BOTH, kind="disagreement"), "one_source"),
        (proposal(("They will meet at 30 passes.", "table"), kind="hypothesis"), "number_not_in_basis"),
        (replace(BOTH, kind="hypothesis", basis=()), "no_basis"),
    ],
)
def test_what_its_grounds_do_not_bear_is_refused_before_anything_is_written(lake: Lake, said: Proposal, reason: str) -> None:
    before = versions(lake)
    with pytest.raises(RegistrationRefused) as refused:
        brought(lake, said)
    assert refused.value.reason == reason
    assert versions(lake) == before


def test_a_ground_that_was_revised_is_none_and_it_is_said_what_became_of_it(lake: Lake) -> None:
    registered(lake, WORLD.change("table", statement="Tabgrad needs 13 passes over the data."))
    with pytest.raises(RegistrationRefused, match="superseded: number changed from 12 to 13"):
        brought(lake)


def test_a_statement_without_a_source_is_a_note_and_no_ground_of_anything(lake: Lake) -> None:
    idea = replace(BOTH, kind="note", basis=(), claims=(Claim("It may take 5 passes.", ()),))
    note = brought(lake, idea)
    assert (note.kind, Registry.of(lake).find(note.object_id).layer) == ("note", 3)
    with pytest.raises(RegistrationRefused, match="no object that stands"):
        brought(lake, replace(BOTH, basis=(*BOTH.basis, Basis(note.object_id, "supporting", "x"))))


def test_a_hypothesis_rests_on_one_source_and_an_account_may_rest_on_accounts_that_are_no_source(lake: Lake) -> None:
    guess = brought(lake, proposal(("Fewer than 12 passes may do.", "table"), kind="hypothesis"))
    assert (guess.kind, guess.outcome) == ("hypothesis", "registered")
    account = brought(lake)
    over = Basis(account.object_id, "supporting", "it sums up")
    with pytest.raises(RegistrationRefused, match="alone"):
        brought(lake, replace(BOTH, basis=(over,), claims=(Claim("So 12 and 20.", (account.object_id,)),)))


def test_what_a_task_made_survives_builds_and_a_build_of_nothing_new_writes_nothing(lake: Lake) -> None:
    made = brought(lake)
    before = versions(lake)
    registered(lake, WORLD)
    assert versions(lake) == before
    assert assets(lake)[made.asset_id] == (1, "current")


def test_what_rests_on_a_revised_fact_is_marked_through_all_layers_and_back_once_it_is_as_it_was(lake: Lake) -> None:
    made = brought(lake)
    over = brought(lake, replace(BOTH, topic="of both", basis=(*BOTH.basis[1:], Basis(made.object_id, "supporting", "x")),
        claims=(Claim("Both need passes.", (made.object_id, WORLD.fact("saddle").id)),), kind="hypothesis"))  # fmt: skip
    registered(lake, WORLD.change("table", statement="Tabgrad needs 13 passes over the data."))
    sound(lake)
    found = assets(lake)
    assert found[made.asset_id] == found[over.asset_id] == (1, "needs_recheck")
    (told,) = [one for one in Registry.of(lake).events(made.asset_id) if one.event == "needs_recheck"]
    assert (told.cause, told.reason) == (WORLD.fact("table").id, "a basis was revised: number changed from 12 to 13")
    assert Registry.of(lake).standing(over.asset_id).reason == "a basis has to be looked at again itself"
    registered(lake, WORLD)
    sound(lake)
    assert assets(lake)[made.asset_id] == assets(lake)[over.asset_id] == (1, "current")


def test_a_retracted_ground_marks_too(lake: Lake) -> None:
    made = brought(lake)
    registered(lake, WORLD.without("p2"))
    sound(lake)
    assert Registry.of(lake).standing(made.asset_id).reason == "a basis was retracted: paper p2 was removed"


def test_a_revision_keeps_the_old_version_and_marks_what_rests_on_it(lake: Lake) -> None:
    first = brought(lake)
    over = brought(lake, proposal(("Fewer than 12 passes may do.", "table"), kind="hypothesis"))
    narrowed = replace(BOTH, claims=(Claim("Tabgrad needs 12 passes on finite sums.", BOTH.claims[0].cites), BOTH.claims[1]))
    second = register(lake, narrowed, **ORIGIN, revises=first.asset_id, reason="only finite sums were studied")
    sound(lake)
    assert (second.asset_id, second.version, second.outcome) == (first.asset_id, 2, "revised")
    old, new = Registry.of(lake).history(first.asset_id)
    assert (old.status, old.content["account"]) == ("superseded", "Tabgrad is said to need 12 passes. Sadtab needs 20.")
    assert (new.parent, new.reason) == (1, "only finite sums were studied")
    assert assets(lake)[over.asset_id] == (1, "current")
    with pytest.raises(ScholarLakeError, match="give a reason"):
        register(lake, BOTH, **ORIGIN, revises=first.asset_id)
    with pytest.raises(ScholarLakeError, match="no synthesis can be a version"):
        register(lake, BOTH, **ORIGIN, revises=over.asset_id, reason="x")
    with pytest.raises(NotFound):
        register(lake, BOTH, **ORIGIN, revises="synthesis-0", reason="x")


def test_what_a_task_takes_back_stays_readable_and_what_a_stage_made_is_not_its_to_take(lake: Lake) -> None:
    made = brought(lake)
    retract(lake, made.asset_id, reason="it was wrong", **ORIGIN)
    sound(lake)
    found = Registry.of(lake).find(made.object_id)
    assert (found.status, found.reason, found.content["sources"]) == ("retracted", "it was wrong", 2)
    with pytest.raises(ScholarLakeError, match="was made by facts"):
        retract(lake, WORLD.fact("table").id, reason="x", **ORIGIN)
    again = brought(lake)
    assert (again.asset_id, again.version, again.outcome) == (made.asset_id, 2, "revised")


@pytest.mark.parametrize("chain", ["", "pipeline", " "])
def test_who_brings_something_says_who(lake: Lake, chain: str) -> None:
    with pytest.raises(ScholarLakeError, match="named by its chain"):
        register(lake, BOTH, chain=chain, stage="s")


def _register(root: Path, number: int) -> None:
    register(Lake.open(root), replace(BOTH, topic=f"topic {number % 3}"), chain=f"chain-{number}", stage="s")


def test_several_processes_register_at_once_and_nothing_is_lost_or_doubled(lake: Lake) -> None:
    at_once = [multiprocessing.get_context("spawn").Process(target=_register, args=(lake.root, number)) for number in range(6)]
    for one in at_once:
        one.start()
    for one in at_once:
        one.join()
    sound(lake)
    made = lake.scan("registry").filter(pl.col("kind") == "synthesis").collect()
    assert made.height == 3
    events = lake.scan("registry_events").filter(pl.col("kind") == "synthesis").collect()["event"].value_counts()
    assert dict(events.iter_rows()) == {"registered": 3, "reused": 3}


# -- looking again -------------------------------------------------------------------------------------------------------


def test_an_object_goes_on_where_its_grounds_say_the_same_of_what_it_cites(lake: Lake) -> None:
    made = brought(lake)
    registered(lake, WORLD.change("table", statement="Tabgrad still needs 12 passes over the data."))
    (outcome,) = recheck(lake)
    sound(lake)
    assert (outcome.settled, outcome.version) == (True, 2)
    old, new = Registry.of(lake).history(made.asset_id)
    assert (old.status, new.status, new.parent) == ("superseded", "current", 1)
    assert new.reason == "its grounds were revised, and say the same of what it cites"
    assert (new.chain, new.review) == ("review-7", "unreviewed")
    assert [one.event for one in Registry.of(lake).events(made.asset_id)] == [
        "registered",
        "needs_recheck",
        "superseded",
        "rechecked",
        "revised",
    ]
    assert recheck(lake) == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"statement": "Tabgrad needs 13 passes over the data."}, "12 stands in its basis no longer"),
        ({"context": (("setting", "two lists"),)}, 'setting "finite sums" went; setting "two lists" came'),
        ({"statement": "Tabgrad never needs 12 passes over the data."}, "only a review can tell"),
        ({"subject": "Othergrad"}, 'is about "Othergrad" now'),
    ],
)
def test_else_it_stays_marked_and_says_why_and_looking_again_at_nothing_new_writes_nothing(
    lake: Lake, change: dict[str, object], why: str
) -> None:
    made = brought(lake)
    registered(lake, WORLD.change("table", **change))
    (outcome,) = recheck(lake)
    sound(lake)
    assert not outcome.settled
    assert why in outcome.reason
    assert Registry.of(lake).standing(made.asset_id).reason == outcome.reason
    before = versions(lake)
    assert recheck(lake) == [outcome]
    assert versions(lake) == before


def test_what_rests_on_what_was_settled_is_settled_after_it(lake: Lake) -> None:
    made = brought(lake)
    guess = Claim("Both may need passes.", (made.object_id, WORLD.fact("saddle").id))
    over = brought(
        lake, replace(BOTH, kind="hypothesis", claims=(guess,), basis=(*BOTH.basis[1:], Basis(made.object_id, "supporting", "x")))
    )
    registered(lake, WORLD.change("table", statement="Tabgrad still needs 12 passes over the data."))
    assert [(one.asset_id, one.settled) for one in recheck(lake)] == sorted([(made.asset_id, True), (over.asset_id, True)])
    sound(lake)
    assert assets(lake)[over.asset_id] == (2, "current")


@pytest.mark.parametrize(
    ("reply", "settled", "review"),
    [
        (lambda asked: verdict(asked), True, "supported"),
        (lambda asked: verdict(asked, "no"), False, "unreviewed"),
        (lambda asked: error(400, "out of order"), False, "unreviewed"),
    ],
)
def test_a_verifier_may_find_that_what_is_put_differently_bears_it_out(
    lake: Lake, tmp_path: Path, reply: object, settled: bool, review: str
) -> None:
    made = brought(lake)
    registered(lake, WORLD.change("table", context=(("setting", "sums of two terms"),)))

    def behave(asked: Asked) -> Reply:
        assert "Sadtab needs 20" in asked.prompt
        answer: Reply = reply(asked)  # type: ignore[operator]
        return answer

    with at(behave, tmp_path / "models") as here, here.crew("verifier") as crew:
        (outcome,) = recheck(lake, crew.chat("verifier"))
    sound(lake)
    found = Registry.of(lake).standing(made.asset_id)
    assert (outcome.settled, found.review) == (settled, review)


# -- the command line ----------------------------------------------------------------------------------------------------


def run(lake: Lake, *arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["knowledge", *arguments, "--lake", str(lake.root)])
    assert done.exit_code == code, done.output
    return done.output


def test_the_command_line_registers_a_candidate_shows_its_history_and_looks_again(lake: Lake, tmp_path: Path) -> None:
    file = tmp_path / "candidate.json"
    file.write_text(BOTH.as_json())
    made = json.loads(run(lake, "register", str(file), "--chain", "c", "--stage", "s", "--json"))
    assert made["outcome"] == "registered"
    assert "reused" in run(lake, "register", str(file), "--chain", "d", "--stage", "s")
    assert "nothing has to be looked at again" in run(lake, "recheck")
    registered(lake, WORLD.change("table", statement="Tabgrad still needs 12 passes over the data."))
    assert "settled, version 2" in run(lake, "recheck")
    told = run(lake, "history", made["object_id"])
    assert "its grounds were revised, and say the same of what it cites" in told
    assert len(json.loads(run(lake, "history", made["object_id"], "--json"))["versions"]) == 2


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"collection": 1}', "no JSON"])
def test_a_file_that_is_no_candidate_is_told(lake: Lake, tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    before = versions(lake)
    done = CliRunner().invoke(
        app, ["knowledge", "register", str(tmp_path / "x.json"), "--chain", "c", "--stage", "s", "--lake", str(lake.root)]
    )
    assert isinstance(done.exception, SourceError)
    assert "is no candidate" in str(done.exception)
    assert versions(lake) == before

"""A worked example from a paper's sentences to an account across papers (ScholarStack, appendix A), and a revision that narrows it (F.5).

Method, theorem, family, dataset and account are of the shape that the appendix shows; all words and names are made up.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import scholarlake
from scholarlake.knowledge.registry import RegistrationRefused, Registry, Version, recheck, register
from scholarlake.knowledge.registry.build import TABLES
from scholarlake.knowledge.syntheses.build import build_syntheses
from scholarlake.knowledge.syntheses.objects import Basis, Claim, Proposal
from scholarlake.knowledge.trace.tree import Tracer
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from tests.unit.knowledge.layers import COLLECTION, FAMILY, RUN, Stated, World, new_lake, registered, released

CONDITIONS = (
    ("setting", "sums of many parts"),
    ("assumption", "every part is convex and its slope changes by no more than a fixed rate"),
    ("assumption", "the regulariser is convex and its proximal step is cheap"),
)
BOUND = "After k steps the mean gap of Ledgerstep is at most 4 n / k times what it was."
WORLD = World(
    papers={
        "led": "Ledgerstep: small steps with a ledger of slopes",
        "per": "Proximal steps with a sweep now and then",
        "sad": "Ledgers and sweeps for saddle problems",
    },
    facts=[
        Stated("start", "led", "All slopes are taken once at the beginning.", "slopes", "method_description", n=18, section="The method"),
        Stated(
            "ledger",
            "led",
            "Ledgerstep keeps a ledger of the last slope of every part and corrects each step by it, without bias.",
            "Ledgerstep",
            "method_description",
            n=19,
            section="The method",
        ),
        Stated("bound", "led", BOUND, "Ledgerstep", "theoretical_result", CONDITIONS, (("4", None, "gap"),), n=28, section="Theory"),
        Stated("digits", "led", "We ran Ledgerstep on Inkdigits, telling two classes apart.", "Ledgerstep", n=161, section="Experiments"),
        Stated(
            "sweep",
            "per",
            "Periodsweep takes the whole slope once in every sweep.",
            "Periodsweep",
            "method_description",
            n=7,
            section="2 Method",
        ),
        Stated(
            "saddle",
            "sad",
            "We carry Ledgerstep and Periodsweep over to problems with a convex and a concave side.",
            "Ledgerstep",
            "method_description",
            n=3,
            section="Introduction",
        ),
        Stated(
            "uniform",
            "sad",
            "With even sampling, Ledgerstep and Periodsweep may be slower than whole steps with momentum.",
            "even sampling",
            "limitation",
            (("setting", "the reported runs"),),
            n=90,
            section="Experiments",
        ),
    ],
    entities={
        "Ledgerstep": ("method", ("ledger", "bound", "digits", "saddle", "uniform")),
        "Periodsweep": ("method", ("sweep", "saddle", "uniform")),
        "Inkdigits": ("dataset", ("digits",)),
    },
    members={"Ledgerstep": ("ledger",), "Periodsweep": ("sweep",)},
    relations=[("Ledgerstep", "evaluated_on", "Inkdigits", ("digits",), (("task", "telling two classes apart"),))],
)
ORIGIN = {"chain": "saddle-review", "stage": "literature review"}


def made(lake: Lake, world: World) -> None:
    world.lay_down(lake)
    build_syntheses(lake, COLLECTION, RUN)
    registered(lake, world)
    released(lake)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    found = new_lake(tmp_path)
    made(found, WORLD)
    return found


def overview(lake: Lake) -> Version:
    (found,) = [row for row in lake.scan("syntheses").collect().to_dicts() if row["kind"] == "family_overview"]
    return Registry.of(lake).find(found["synthesis_id"])


def judgement(lake: Lake, text: str, **more: Any) -> Proposal:
    """What a task concludes of the bound and of what limits it."""
    grounds = {"bound": "supporting", "uniform": "limiting"}
    return Proposal(
        COLLECTION,
        "open_problem",
        "ledgers on saddle problems",
        "Ledgers on saddle problems",
        (Claim(text, tuple(WORLD.fact(name).id for name in grounds)),),
        tuple(Basis(WORLD.fact(name).id, role, "it says how far") for name, role in grounds.items()),
        **more,
    )


def test_l1_a_method_and_a_theorem_of_one_paper_are_two_facts_and_the_theorem_keeps_its_conditions(lake: Lake) -> None:
    method, theorem = (Registry.of(lake).find(WORLD.fact(name).id).content for name in ("ledger", "bound"))
    assert (method["type"], method["context"]) == ("method_description", [])
    assert (theorem["type"], theorem["statement"]) == ("theoretical_result", BOUND)
    assert [(one["kind"], one["text"]) for one in theorem["context"]] == list(CONDITIONS)
    assert theorem["verification"] == "unchecked"


def test_l2_the_family_rests_on_the_method_alone_and_the_dataset_relation_states_no_score(lake: Lake) -> None:
    registry = Registry.of(lake)
    family = registry.find(WORLD.assignment("Ledgerstep"))
    assert {(one.role, one.asset_id) for one in registry.basis(family.asset_id, 1) if one.kind != "taxonomy"} == {
        ("evidence", WORLD.fact("ledger").id),
        ("subject", WORLD.entity("Ledgerstep")),
    }
    assert (family.content["category_id"], family.content["inference"], family.content["conditions"]) == (FAMILY, "inferred", [])
    relation = registry.find(WORLD.relation(0)).content
    assert (relation["relation"], relation["payload"]) == ("evaluated_on", [{"name": "task", "value": "telling two classes apart"}])


def test_l3_the_overview_is_scoped_to_its_studies_and_says_what_limits_it(lake: Lake) -> None:
    found = overview(lake)
    content = found.content
    assert (content["studies"], content["sources"], found.review) == (["led", "per", "sad"], 3, "unreviewed")
    roles = {one["object_id"]: one["role"] for one in content["basis"]}
    assert {name for name in ("ledger", "bound", "sweep") if roles.get(WORLD.fact(name).id) == "supporting"} == {"ledger", "bound", "sweep"}
    assert roles[WORLD.fact("uniform").id] == "limiting"
    assert "opposing" not in roles.values()
    (theorem,) = [claim["text"] for claim in content["claims"] if BOUND in claim["text"]]
    assert all(text in theorem for _, text in CONDITIONS)  # a guarantee is read with its assumptions
    assert {one["text"] for one in content["conditions"]} == {text for _, text in CONDITIONS} | {"the reported runs"}


def test_the_account_leads_to_the_sentences_in_their_sections(lake: Lake) -> None:
    with scholarlake.open(lake.root) as reader:
        found = Tracer(reader).trace(overview(lake).object_id)
    theorem = next(one for one in found.node.basis if one.object.object_id == WORLD.fact("bound").id)
    assert [(one.section, one.sentences) for one in theorem.passages] == [(("Theory",), (("led:28", BOUND, True),))]
    method = next(one for one in found.node.basis if one.object.object_id == WORLD.fact("ledger").id)
    assert [(id, cited) for id, _, cited in method.passages[0].sentences] == [("led:18", False), ("led:19", True)]


def test_new_evidence_narrows_a_judgement_and_the_wider_one_stays_readable(lake: Lake) -> None:
    wide = register(lake, judgement(lake, "Ledgers are within 4 n / k, if sampling is not even."), **ORIGIN)
    with pytest.raises(RegistrationRefused, match="9"):
        register(lake, judgement(lake, "Ledgers are within 9 n / k."), **ORIGIN)
    narrow = judgement(lake, "The bound of 4 n / k was shown for sums of many parts alone; even sampling may be slower.")
    revised = register(
        lake,
        narrow,
        chain="saddle-novelty",
        stage="novelty assessment",
        revises=wide.asset_id,
        reason="no bound is given for saddle problems",
    )
    registry = Registry.of(lake)
    first, second = registry.history(wide.asset_id)
    assert (revised.asset_id, revised.version, second.parent) == (wide.asset_id, 2, 1)
    assert (first.status, first.content["account"]) == ("superseded", "Ledgers are within 4 n / k, if sampling is not even.")
    assert (second.chain, second.stage, second.reason) == (
        "saddle-novelty",
        "novelty assessment",
        "no bound is given for saddle problems",
    )
    assert [(one.event, one.chain) for one in registry.events(wide.asset_id)] == [
        ("registered", "saddle-review"),
        ("superseded", "saddle-novelty"),
        ("revised", "saddle-novelty"),
    ]


def test_a_corrected_bound_revises_what_rests_on_it_marks_what_a_task_made_and_touches_nothing_else(lake: Lake) -> None:
    account = overview(lake)
    task = register(lake, judgement(lake, "Ledgers are within 4 n / k, if sampling is not even."), **ORIGIN)
    before = {row["asset_id"]: row for row in lake.scan("registry").collect().to_dicts()}
    corrected = WORLD.change("bound", statement=BOUND.replace("4 n", "6 n"), quantities=(("6", None, "gap"),))
    made(lake, corrected)
    registry = Registry.of(lake)
    fact, second = registry.standing(WORLD.fact("bound").id), registry.standing(account.asset_id)
    assert (fact.version, fact.reason) == (2, "number changed from 4 to 6")
    assert (second.version, second.parent, second.reason) == (2, 1, "a basis was revised (number changed from 4 to 6)")
    assert BOUND in registry.version(account.asset_id, 1).content["account"]
    marked = registry.standing(task.asset_id)
    assert (marked.status, marked.reason) == ("needs_recheck", "a basis was revised: number changed from 4 to 6")
    moved = {WORLD.fact("bound").id, account.asset_id, task.asset_id}
    now = {(row["asset_id"], row["version"]): row for row in lake.scan("registry").collect().to_dicts()}
    for asset, row in before.items():
        assert (now[asset, row["version"]] == row) is (asset not in moved)
    assert {asset for asset, version in now if version > 1} == moved - {task.asset_id}
    (outcome,) = recheck(lake)
    assert (outcome.settled, outcome.reason) == (False, "4 stands in its basis no longer")
    versions = {name: delta.version(lake, name) for name in TABLES}
    made(lake, corrected)
    recheck(lake)
    assert {name: delta.version(lake, name) for name in TABLES} == versions

"""What belongs to which category: by name, by what authors say, by what is stated; conditions apart, the rest listed with its reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from scholarlake.knowledge import organization_invariants as invariants
from scholarlake.knowledge.organization.assignments import AssignmentsReport, Models, build_assignments
from scholarlake.knowledge.organization.entities import build_entities
from scholarlake.knowledge.organization.merging import Rulings
from scholarlake.knowledge.organization.sorting import Wordings
from scholarlake.knowledge.organization.taxonomies import build_taxonomy
from scholarlake.knowledge.organization.taxonomy import Category, Dimension, Taxonomy
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from tests.misbehaving import Asked, Reply, said
from tests.unit.knowledge.organization.collected import NAME, collected, rows
from tests.unit.knowledge.papers import at
from tests.unit.small_lake import COMMIT

TABLES = ("assignments", "unclassified_facts", "taxonomy_proposals")
CLAIMS = (
    invariants.assignments_rest_on_what_is_there,
    invariants.conditions_of_assignments_are_those_of_their_facts,
    invariants.every_fact_is_sorted_or_listed,
)
THEORY = Dimension(
    "theory",
    (
        Category("gauge theory", "It has a gauge symmetry.", terms=("Yang-Mills",)),
        Category("lattice gauge theory", "It lives on a lattice.", parent="gauge theory"),
        Category("gravity", "It bends.", positive_examples=("Regge calculus",)),
    ),
    subject_types=("theory", "model"),
)
REGIME = Dimension(
    "regime",
    (
        Category("thermal", "At a temperature.", terms=("finite temperature",)),
        Category("strong coupling", "Where the coupling is large."),
    ),
    compares=True,
)
SUPPLIED = Taxonomy((THEORY, REGIME), "supplied", "file")

PAPERS = {
    "a": "We prove that noncommutative gauge theory is finite at finite temperature.",
    "b": "We show that noncommutative gauge theory is unstable if the charge is small.",
    "c": "We prove that lattice gauge theory is finite at strong coupling.",
    "d": "We show that the Foo model is a gauge theory.",
    "e": "We find that the spectrum of the Bar model has no gap.",
}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake", 2)


def built(
    lake: Lake, papers: dict[str, str] = PAPERS, taxonomy: Taxonomy | None = SUPPLIED, models: Models | None = None
) -> AssignmentsReport:
    collected(lake, papers, titles={})
    build_taxonomy(lake, NAME, taxonomy, COMMIT)
    build_entities(lake, NAME, Rulings(), COMMIT)
    report = build_assignments(lake, NAME, COMMIT, models)
    for claim in CLAIMS:
        assert claim(lake, NAME).passed, claim(lake, NAME)
    return report


def found(lake: Lake, subject: str) -> list[dict[str, Any]]:
    return sorted(
        lake.scan("assignments").filter(pl.col("subject") == subject).collect().rows(named=True), key=lambda row: str(row["papers"])
    )


def test_a_name_says_what_kind_it_is_and_conditions_stay_apart(lake: Lake) -> None:
    built(lake)
    first, second = found(lake, "noncommutative gauge theory")
    assert {first["category_id"], second["category_id"]} == {"theory/gauge-theory"}
    assert (first["papers"], second["papers"]) == (["a"], ["b"])
    assert [one["text"] for one in second["conditions"]] == ["if the charge is small"]
    assert first["conditions"] != second["conditions"]
    assert (first["inference"], first["certainty"], first["method"]) == ("inferred", "confirmed", "rules")
    assert first["rationale"] == "by its name it is a kind of gauge theory"


def test_the_most_specific_category_is_taken(lake: Lake) -> None:
    built(lake)
    assert [row["category_id"] for row in found(lake, "lattice gauge theory")] == ["theory/lattice-gauge-theory"]


def test_what_authors_say_is_declared(lake: Lake) -> None:
    built(lake)
    [row] = found(lake, "Foo model")
    assert (row["category_id"], row["inference"], row["certainty"]) == ("theory/gauge-theory", "declared", "confirmed")
    assert row["rationale"] == "its authors say so: We show that the Foo model is a gauge theory."


def test_papers_are_sorted_by_what_their_facts_say_or_hold_under(lake: Lake) -> None:
    built(lake)
    sorted_ = lake.scan("assignments").filter(pl.col("subject_kind") == "paper").collect()
    assert sorted(sorted_.select("subject_id", "category_id").rows()) == [("a", "regime/thermal"), ("c", "regime/strong-coupling")]


def test_what_fits_nothing_is_listed_with_its_reason(lake: Lake) -> None:
    report = built(lake)
    listed = lake.scan("unclassified_facts").collect()
    reasons = {(row["paper_id"], row["dimension"]): row["reason"] for row in listed.rows(named=True)}
    assert reasons["e", "theory"] == "no_category"
    assert reasons["e", "regime"] == "no_category"
    assert 0 < report.classified < 1


def test_the_order_of_papers_is_all_one_and_nothing_changed_is_no_new_version(lake: Lake, tmp_path: Path) -> None:
    built(lake)
    before = {name: delta.version(lake, name) for name in TABLES}
    built(lake)
    assert {name: delta.version(lake, name) for name in TABLES} == before
    other = Lake.create(tmp_path / "other", 2)
    built(other, dict(reversed(PAPERS.items())))
    assert rows(lake, *TABLES) == rows(other, *TABLES)


def test_a_paper_that_is_gone_and_back_again_leaves_what_was_before(lake: Lake) -> None:
    built(lake)
    before = rows(lake, *TABLES)
    built(lake, {name: text for name, text in PAPERS.items() if name != "b"})
    assert [row["papers"] for row in found(lake, "noncommutative gauge theory")] == [["a"]]
    built(lake)
    assert rows(lake, *TABLES) == before


@pytest.mark.parametrize(("papers", "taxonomy"), [({}, SUPPLIED), ({"c": "No fact is here."}, SUPPLIED), ({"a": PAPERS["a"]}, None)])
def test_without_facts_or_categories_nothing_is_sorted(lake: Lake, papers: dict[str, str], taxonomy: Taxonomy | None) -> None:
    report = built(lake, papers, taxonomy)
    assert (report.rows, report.classified) == (0, 0.0)


def test_kinds_that_unclassified_facts_of_several_papers_share_are_proposed(lake: Lake) -> None:
    chains = {name: f"We show that the {name} spin chain is solvable in every case." for name in ("open", "closed", "long", "bent")}
    models = Taxonomy((Dimension("theory", (Category("gravity", "It bends."),), subject_types=("model",)),), "supplied", "file")
    built(lake, chains, models)
    [row] = lake.scan("taxonomy_proposals").collect().rows(named=True)
    assert (row["dimension"], row["name"], len(row["facts"])) == ("theory", "spin chain", 4)


def test_a_failed_fact_carries_nothing(lake: Lake) -> None:
    collected(lake, PAPERS, titles={})
    for shard in lake.shard_keys:
        rows_ = lake.scan("facts").filter(pl.col("shard") == shard).collect()
        delta.write_partition(lake, "facts", shard, rows_.with_columns(verification=pl.lit("failed")), COMMIT)
    build_taxonomy(lake, NAME, SUPPLIED, COMMIT)
    build_entities(lake, NAME, Rulings(), COMMIT)
    assert build_assignments(lake, NAME, COMMIT).rows == 0
    assert set(lake.scan("unclassified_facts").collect()["reason"]) == {"uncertain"}
    assert invariants.every_fact_is_sorted_or_listed(lake, NAME).passed


@pytest.mark.parametrize(
    ("text", "categories"),
    [
        ("It is no gauge theory.", []),
        ("a non-gauge theory", []),
        ("Yang-Mills fields", ["gauge theory"]),
        ("a lattice gauge theory", ["lattice gauge theory"]),
        ("gauge theories and gravity", ["gauge theory", "gravity"]),
    ],
)
def test_wordings_are_found_word_by_word_and_denials_are_not(text: str, categories: list[str]) -> None:
    assert [hit.category.name for hit in Wordings(THEORY).hits(text)] == categories


# -- by models ---------------------------------------------------------------------------------------------------------


def asked_as(asked: Asked) -> str:
    return "vote" if "support" in asked.body["response_format"]["json_schema"]["schema"]["properties"] else "sort"


def test_an_organizer_sorts_by_numbers_and_votes_judge_it(tmp_path: Path) -> None:
    def behave(asked: Asked) -> Reply:
        if asked_as(asked) == "vote":
            return said(json.dumps({"reason": "so it says", "support": "no" if "Bar model" in asked.prompt else "yes"}), asked)
        one = {"category": 3, "facts": [1], "reason": "it bends", "declared": False}
        return said(json.dumps({"categories": [one] if "Bar model\n" in asked.prompt else []}), asked)

    with at(behave, tmp_path) as there, there.crew("organizer", "verifier") as crew:
        built(there.lake, models=Models(crew.chat("organizer"), crew.chat("verifier"), 3))
    [row] = found(there.lake, "Bar model")
    assert (row["category_id"], row["rationale"], row["inference"]) == ("theory/gravity", "it bends", "inferred")
    assert (row["verification"], row["certainty"], len(row["votes"])) == ("failed", "uncertain", 3)
    assert row["method"].startswith("organizer:m prompt:")
    [other] = found(there.lake, "Foo model")
    assert (other["verification"], other["certainty"], other["method"]) == ("supported", "confirmed", "rules")


# -- what is broken is found -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (pl.lit("theory/lost").alias("category_id"), invariants.assignments_rest_on_what_is_there),
        (pl.lit("entity-x").alias("subject_id"), invariants.assignments_rest_on_what_is_there),
        (pl.lit(["fact-x"]).alias("basis"), invariants.assignments_rest_on_what_is_there),
        (pl.lit(["p"]).alias("papers"), invariants.assignments_rest_on_what_is_there),
        (pl.lit([{"kind": "setting", "text": "x"}]).alias("conditions"), invariants.conditions_of_assignments_are_those_of_their_facts),
        (pl.lit(["fact-x"]).alias("basis"), invariants.every_fact_is_sorted_or_listed),
    ],
)
def test_an_assignment_that_rests_on_nothing_is_found(lake: Lake, change: pl.Expr, claim: Any) -> None:
    built(lake)
    delta.write_partition(lake, "assignments", NAME, lake.scan("assignments").collect().with_columns(change), COMMIT)
    assert not claim(lake, NAME).passed

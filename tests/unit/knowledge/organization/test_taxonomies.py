"""Taxonomies of collections: supplied ones as they are, prepared ones from what the papers have in common, whatever their order."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from scholarlake.errors import ModelError
from scholarlake.knowledge import organization_invariants as invariants
from scholarlake.knowledge.organization.proposed import schema_of
from scholarlake.knowledge.organization.taxonomies import build_taxonomy
from scholarlake.knowledge.organization.taxonomy import Category, Dimension, Taxonomy, slug, taxonomy_of
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from scholarlake.lake.retirement import retire
from scholarlake.lake.stages import COLLECTION
from scholarlake.models.structured import shape_of
from tests.misbehaving import Asked, Reply, said
from tests.unit.knowledge.organization.collected import NAME, PAPERS, collected, rows
from tests.unit.knowledge.papers import at
from tests.unit.small_lake import COMMIT

SUPPLIED = Taxonomy(
    (
        Dimension(
            "theory", (Category("gauge theory", "It has a gauge symmetry."), Category("lattice", "On a lattice.", parent="gauge theory"))
        ),
        Dimension("regime", (Category("thermal", "At a temperature.", terms=("finite temperature",)),), compares=True),
    ),
    "supplied",
    "file",
)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake", 2)


def test_the_catalog_lists_every_collection_in_numbers(lake: Lake) -> None:
    report = collected(lake, members={NAME: list(PAPERS), "few": ["a"], "none": []})
    assert dict(report.facts) == {"few": 1, NAME: 5, "none": 0}
    assert lake.scan("fact_catalog").collect().sort("collection")["papers"].to_list() == [1, 5, 0]
    assert invariants.every_collection_is_listed(lake).passed


def test_only_a_collection_whose_papers_say_something_else_gets_another_version(lake: Lake) -> None:
    some = {NAME: list(PAPERS), "few": ["a", "b"]}
    before = dict(collected(lake, members=some).contents)
    assert dict(collected(lake, members=some).contents) == before
    changed = collected(lake, {**PAPERS, "e": "We show that the spin chain is stable."}, members=some)
    assert {name for name in some if changed.contents[name] != before[name]} == {NAME}


def test_what_is_supplied_is_kept_as_it_is(lake: Lake) -> None:
    collected(lake)
    report = build_taxonomy(lake, NAME, SUPPLIED, COMMIT)
    assert taxonomy_of(lake, NAME) == SUPPLIED
    assert taxonomy_of(lake, NAME).version == SUPPLIED.version
    assert report.written.rows == 3
    assert invariants.one_taxonomy_a_collection(lake, NAME).passed
    assert invariants.parents_are_of_their_dimension_and_no_loop(lake, NAME).passed


def test_one_is_prepared_from_names_and_outcomes_that_papers_share(lake: Lake) -> None:
    collected(lake)
    found = build_taxonomy(lake, NAME, None, COMMIT).taxonomy
    assert (found.origin, found.method) == ("prepared", "rules")
    theories = next(one for one in found.dimensions if one.name == "theory or model")
    assert [(one.name, one.parent) for one in theories.categories] == [
        ("gauge theory", None),
        ("noncommutative gauge theory", "gauge theory"),
    ]
    assert "noncommutative gauge theory" in theories.categories[0].positive_examples
    assert set(theories.subject_types) == {"theory", "model"}
    assert taxonomy_of(lake, NAME).version == found.version


def test_the_order_of_papers_is_all_one_and_equal_papers_write_nothing(lake: Lake, tmp_path: Path) -> None:
    collected(lake)
    build_taxonomy(lake, NAME, None, COMMIT)
    before = delta.version(lake, "taxonomies")
    build_taxonomy(lake, NAME, None, COMMIT)
    assert delta.version(lake, "taxonomies") == before
    other = Lake.create(tmp_path / "other", 2)
    collected(other, dict(reversed(PAPERS.items())))
    build_taxonomy(other, NAME, None, COMMIT)
    assert rows(lake, "taxonomies") == rows(other, "taxonomies")


@pytest.mark.parametrize("members", [[], ["a"]])
def test_too_few_papers_make_no_taxonomy_and_it_is_said(lake: Lake, members: list[str]) -> None:
    collected(lake, members={NAME: members})
    report = build_taxonomy(lake, NAME, None, COMMIT)
    assert report.taxonomy.dimensions == ()
    assert report.notes == ("no name and no kind of outcome is common to enough papers: nothing is sorted",)
    assert lake.scan("taxonomies").collect().height == 0
    assert invariants.one_taxonomy_a_collection(lake, NAME).passed
    assert taxonomy_of(lake, NAME) == Taxonomy()


def test_a_collection_that_is_gone_leaves_nothing(lake: Lake) -> None:
    collected(lake, members={NAME: list(PAPERS), "few": ["a", "b", "c"]})
    for name in (NAME, "few"):
        build_taxonomy(lake, name, SUPPLIED, COMMIT)
    assert retire(lake, COLLECTION, [NAME], COMMIT) == ["few"]
    assert lake.scan("taxonomies").collect()["collection"].unique().to_list() == [NAME]


def test_ids_are_of_plain_letters_whatever_the_script() -> None:
    assert slug("Méthode générale") == "methode-generale"
    assert slug("β-decay") == "beta-decay"
    assert slug("深度学习") != slug("图神经网络")


# -- by a model --------------------------------------------------------------------------------------------------------


def proposal(**category: object) -> str:
    one = {"name": "gauge theory", "criterion": "It has a gauge symmetry.", "examples": [2], "terms": ["gauge"], **category}
    dimension = {"name": "theory", "about": "Which?", "subject_types": ["theory"], "compares": False, "categories": [one]}
    return json.dumps({"dimensions": [dimension]})


def test_the_organizer_proposes_with_examples_that_the_papers_name(tmp_path: Path) -> None:
    asked: list[Asked] = []

    def behave(one: Asked) -> Reply:
        asked.append(one)
        return said(proposal(), one)

    with at(behave, tmp_path) as there, there.crew("organizer") as crew:
        collected(there.lake)
        report = build_taxonomy(there.lake, NAME, None, COMMIT, crew.chat("organizer"))
    [category] = report.taxonomy.dimensions[0].categories
    assert (category.name, report.taxonomy.origin) == ("gauge theory", "prepared")
    assert category.positive_examples == ("noncommutative gauge theory",)
    assert report.taxonomy.method.startswith("organizer:m prompt:")
    assert "2: theory: noncommutative gauge theory" in asked[0].prompt
    assert report.notes == ()


def test_what_breaks_the_rules_of_files_is_refused_and_rules_prepare_instead(tmp_path: Path) -> None:
    with at(lambda one: said(proposal(criterion=" "), one), tmp_path) as there, there.crew("organizer") as crew:
        collected(there.lake)
        report = build_taxonomy(there.lake, NAME, None, COMMIT, crew.chat("organizer"))
    assert report.taxonomy.method == "rules"
    assert report.notes[0].startswith(
        "the organizer's taxonomy was refused: dimension 'theory': category 'gauge theory': it has no criterion"
    )


def test_a_model_without_room_for_a_category_is_told_so(tmp_path: Path) -> None:
    with at(lambda one: said("{}", one), tmp_path, sampling={"max_tokens": 16}) as there, there.crew("organizer") as crew:
        collected(there.lake)
        with pytest.raises(ModelError, match="no room for one category in an answer; raise max_tokens of organizer"):
            build_taxonomy(there.lake, NAME, None, COMMIT, crew.chat("organizer"))


def test_an_answer_has_a_longest_form() -> None:
    assert shape_of(schema_of(80)).longest is not None


# -- what is broken is found -------------------------------------------------------------------------------------------


def broken(lake: Lake, change: pl.Expr) -> None:
    collected(lake)
    build_taxonomy(lake, NAME, SUPPLIED, COMMIT)
    delta.write_partition(lake, "taxonomies", NAME, lake.scan("taxonomies").collect().with_columns(change), COMMIT)


def test_a_category_of_another_version_is_found(lake: Lake) -> None:
    broken(lake, pl.lit("Another criterion.").alias("criterion"))
    assert not invariants.one_taxonomy_a_collection(lake, NAME).passed


def test_a_parent_that_is_none_and_a_loop_are_found(lake: Lake) -> None:
    broken(lake, pl.when(pl.col("name") == "lattice").then(pl.lit("theory/lost")).otherwise(pl.col("parent")).alias("parent"))
    found = invariants.parents_are_of_their_dimension_and_no_loop(lake, NAME)
    assert found.examples[0] == {"category_id": "theory/lattice", "fault": "its parent theory/lost is no category of its dimension"}
    broken(lake, pl.when(pl.col("dimension") == "theory").then(pl.lit("theory/lattice")).otherwise(None).alias("parent"))
    found = invariants.parents_are_of_their_dimension_and_no_loop(lake, NAME)
    assert "its parents lead back to itself" in str(found.examples[0])

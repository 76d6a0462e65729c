"""Relations: read off the wording between two names, with the fact's own numbers, and citations; nothing invented, nothing dangling."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from scholarlake.knowledge import organization_invariants as invariants
from scholarlake.knowledge.organization.entities import build_entities
from scholarlake.knowledge.organization.merging import Rulings
from scholarlake.knowledge.organization.relations import RelationsReport, build_relations
from scholarlake.knowledge.organization.taxonomies import build_taxonomy
from scholarlake.knowledge.organization.taxonomy import Category, Dimension, Taxonomy
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from tests.misbehaving import Asked, Reply, said
from tests.unit.knowledge.organization.collected import NAME, collected, rows
from tests.unit.knowledge.papers import at
from tests.unit.small_lake import COMMIT

CLAIMS = (
    invariants.relations_rest_on_what_is_there,
    invariants.numbers_of_relations_stand_in_their_facts,
    invariants.citations_of_the_collection_are_relations,
)
KNOWN = Taxonomy(
    (
        Dimension("m", (Category("solver", "It solves.", positive_examples=("SAGA", "SVRG", "FooNet")),), subject_types=("method",)),
        Dimension("d", (Category("digits", "Digits.", positive_examples=("MNIST",)),), subject_types=("dataset",)),
    ),
    "supplied",
    "file",
)


def built(lake: Lake, papers: dict[str, str], citations: list[tuple[str, str]] | None = None, organizer: Any = None) -> RelationsReport:
    collected(lake, papers, titles={}, citations=citations)
    build_taxonomy(lake, NAME, KNOWN, COMMIT)
    build_entities(lake, NAME, Rulings(), COMMIT)
    report = build_relations(lake, NAME, COMMIT, organizer)
    for claim in CLAIMS:
        assert claim(lake, NAME).passed, claim(lake, NAME)
    return report


def told(lake: Lake) -> list[tuple[Any, ...]]:
    found = lake.scan("relations").collect().rows(named=True)
    return sorted((row["source"] if row["source_kind"] == "entity" else "paper", row["relation"], row["target"]) for row in found)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake", 2)


@pytest.mark.parametrize(
    ("statement", "relation"),
    [
        ("We propose SAGA for sums of a great many functions.", ("paper", "proposes", "SAGA")),
        ("We use SAGA to find the minimum of the sum.", ("paper", "uses", "SAGA")),
        ("Using SAGA we find that the minimum is reached in 40 passes.", ("paper", "uses", "SAGA")),
        ("We find that FooNet has a low error when it is tested on MNIST.", ("FooNet", "evaluated_on", "MNIST")),
        ("We find that FooNet outperforms SVRG by 12% in all trials.", ("FooNet", "improves_on", "SVRG")),
        ("We find that SAGA is faster than SVRG in all of our trials.", ("SAGA", "improves_on", "SVRG")),
        ("We show that SAGA is a generalization of SVRG with a table.", ("SAGA", "extends", "SVRG")),
        ("We apply SAGA to MNIST and find that it converges quickly.", ("SAGA", "applied_to", "MNIST")),
        ("We find that the result is contrary to SAGA in all trials.", ("paper", "contradicts", "SAGA")),
        ("We find that the minimum is reached without using SAGA at all.", None),
    ],
)
def test_the_wording_between_two_names_says_how_they_are_related(lake: Lake, statement: str, relation: tuple[str, str, str] | None) -> None:
    built(lake, {"a": statement})
    if relation is None:
        assert told(lake) == []
    else:
        assert relation in told(lake)


def test_a_payload_reports_the_numbers_of_its_fact_as_written(lake: Lake) -> None:
    report = built(lake, {"a": "We find that FooNet outperforms SVRG by 12.5% in all trials."})
    [row] = lake.scan("relations").filter(pl.col("relation") == "improves_on").collect().rows(named=True)
    assert [(one["name"], one["value"]) for one in row["payload"]] == [("gain", "12.5"), ("unit", "%")]
    assert row["evidence"] == ["a:0"]
    assert len(row["basis"]) == 1
    assert report.with_numbers >= 1


def test_findings_that_go_opposite_ways_contradict_each_other_uncertainly(lake: Lake) -> None:
    papers = {
        "a": "We found that SAGA increased the MNIST loss significantly.",
        "b": "We found that SAGA decreased the MNIST loss significantly.",
        "c": "We found that SAGA did not increase the MNIST loss significantly.",
    }
    built(lake, papers)
    found = lake.scan("relations").filter(pl.col("relation") == "contradicts").collect().rows(named=True)
    assert [(row["source_id"], row["target_id"], row["certainty"], len(row["basis"])) for row in found] == [("a", "b", "uncertain", 2)]


def test_citations_inside_the_collection_are_relations_and_no_others(lake: Lake) -> None:
    collected(lake, {"a": "We use SAGA here and there.", "b": "We use SVRG here and there.", "c": "No fact."}, titles={})
    built(lake, {"a": "We use SAGA here and there.", "b": "We use SVRG here and there."}, citations=[("a", "b")])
    [row] = lake.scan("relations").filter(pl.col("relation") == "cites").collect().rows(named=True)
    assert (row["source_id"], row["target_id"], row["basis"], row["certainty"]) == ("a", "b", [], "confirmed")


def test_order_is_all_one_and_nothing_changed_is_no_new_version(lake: Lake, tmp_path: Path) -> None:
    papers = {"a": "We apply SAGA to MNIST and find that it converges.", "b": "We use SVRG to find the minimum of the sum."}
    built(lake, papers, [("a", "b")])
    before = delta.version(lake, "relations")
    built(lake, papers, [("a", "b")])
    assert delta.version(lake, "relations") == before
    other = Lake.create(tmp_path / "other", 2)
    built(other, dict(reversed(papers.items())), [("a", "b")])
    assert rows(lake, "relations") == rows(other, "relations")


def test_a_collection_of_nothing_has_no_relations(lake: Lake) -> None:
    assert built(lake, {}).written.rows == 0


def test_an_organizer_relates_by_numbers_what_a_fact_names_together(tmp_path: Path) -> None:
    def behave(asked: Asked) -> Reply:
        good = {"fact": 1, "source": 0, "target": 1, "relation": "uses"}
        return said(json.dumps({"relations": [good, {**good, "source": 1}]}), asked)

    with at(behave, tmp_path) as there, there.crew("organizer") as crew:
        built(there.lake, {"a": "We find that SAGA converges in 40 passes."}, organizer=crew.chat("organizer"))
    [row] = there.lake.scan("relations").collect().rows(named=True)
    assert (row["relation"], row["source_id"], row["target"], row["certainty"]) == ("uses", "a", "SAGA", "likely")
    assert row["method"].startswith("organizer:m prompt:")


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (pl.lit("entity-x").alias("target_id"), invariants.relations_rest_on_what_is_there),
        (pl.lit(["fact-x"]).alias("basis"), invariants.relations_rest_on_what_is_there),
        (pl.lit([], pl.List(pl.String)).alias("basis"), invariants.relations_rest_on_what_is_there),
        (pl.lit([{"name": "value", "value": "13"}]).alias("payload"), invariants.numbers_of_relations_stand_in_their_facts),
        (pl.lit("cites").alias("relation"), invariants.citations_of_the_collection_are_relations),
    ],
)
def test_a_relation_that_rests_on_nothing_is_found(lake: Lake, change: pl.Expr, claim: Any) -> None:
    built(lake, {"a": "We find that FooNet outperforms SVRG by 12.5% in all trials."})
    delta.write_partition(lake, "relations", NAME, lake.scan("relations").collect().with_columns(change), COMMIT)
    assert not claim(lake, NAME).passed


def test_what_a_metric_is_said_of_is_measured_by_it(lake: Lake) -> None:
    built(lake, {"a": "We found that the error rate of FooNet was 4.2% in all trials."})
    [row] = lake.scan("relations").filter(pl.col("relation") == "measured_by").collect().rows(named=True)
    assert (row["source"], row["target"]) == ("FooNet", "error rate")
    assert ("value", "4.2") in [(one["name"], one["value"]) for one in row["payload"]]

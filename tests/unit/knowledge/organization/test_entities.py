"""Entities of a collection: every mention kept, sources gone and back again, rulings and votes, and nothing written for nothing."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from scholarlake.knowledge import organization_invariants as invariants
from scholarlake.knowledge.organization.adjudication import Adjudicator
from scholarlake.knowledge.organization.entities import EntitiesReport, build_entities
from scholarlake.knowledge.organization.merging import Rulings
from scholarlake.knowledge.organization.taxonomies import build_taxonomy
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from tests.misbehaving import Asked, Reply, said
from tests.unit.knowledge.organization.collected import NAME, PAPERS, collected, rows
from tests.unit.knowledge.papers import at
from tests.unit.small_lake import COMMIT

TABLES = ("entities", "entity_mentions", "entity_decisions")
CLAIMS = (
    invariants.every_mention_is_of_a_fact_and_an_entity,
    invariants.sources_of_entities_are_their_mentions,
    invariants.what_is_ruled_holds,
)


def built(
    lake: Lake, papers: dict[str, str] = PAPERS, rulings: Rulings | None = None, adjudicator: Adjudicator | None = None
) -> EntitiesReport:
    collected(lake, papers)
    build_taxonomy(lake, NAME, None, COMMIT)
    report = build_entities(lake, NAME, rulings or Rulings(), COMMIT, adjudicator)
    for claim in CLAIMS:
        assert claim(lake, NAME).passed, claim(lake, NAME)
    return report


def entity(lake: Lake, key: str) -> dict[str, object]:
    return lake.scan("entities").filter(pl.col("keys").list.contains(key)).collect().row(0, named=True)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake", 2)


def test_what_several_papers_name_is_one_entity_with_all_of_them(lake: Lake) -> None:
    report = built(lake)
    found = entity(lake, "noncommutative gauge theory")
    assert (found["type"], found["papers"], found["mentions"]) == ("theory", ["a", "c", "d"], 3)
    assert found["name"] == "noncommutative gauge theory"
    assert report.by_type["theory"] >= 3
    assert report.shared >= 1


def test_nothing_changed_is_no_new_version(lake: Lake) -> None:
    built(lake)
    before = {name: delta.version(lake, name) for name in TABLES}
    built(lake)
    assert {name: delta.version(lake, name) for name in TABLES} == before


# TRAPS 40
def test_a_paper_that_is_gone_takes_only_its_mentions_along_and_back_again(lake: Lake) -> None:
    built(lake)
    before = rows(lake, *TABLES)
    built(lake, {name: text for name, text in PAPERS.items() if name != "c"})
    assert entity(lake, "noncommutative gauge theory")["papers"] == ["a", "d"]
    assert "c" not in lake.scan("entity_mentions").collect()["paper_id"].to_list()
    built(lake)
    assert rows(lake, *TABLES) == before


def test_one_changed_paper_rewrites_the_rows_that_it_changes_and_no_others(lake: Lake) -> None:
    many = {f"n{n}": f"We prove that the widget number {n} of family F{n}x is finite for small charge." for n in range(40)}
    built(lake, {**PAPERS, **many})
    report = built(lake, {**PAPERS, **many, "n7": "We prove that the gadget of family G7x is finite for small charge."})
    assert 0 < report.written["entities"].changed <= 4
    assert 0 < report.written["entity_mentions"].changed <= 6


def test_the_order_of_papers_is_all_one(lake: Lake, tmp_path: Path) -> None:
    built(lake)
    other = Lake.create(tmp_path / "other", 2)
    built(other, dict(reversed(PAPERS.items())))
    assert rows(lake, *TABLES) == rows(other, *TABLES)


def test_a_ruling_merges_and_taken_back_it_leaves_what_was_before(lake: Lake) -> None:
    built(lake)
    before = rows(lake, *TABLES)
    report = built(lake, rulings=Rulings(same=(("lattice gauge theory", "supersymmetric gauge theory"), ("nothing", "known"))))
    found = entity(lake, "lattice gauge theory")
    assert (found["papers"], found["rules"], found["certainty"]) == (["b", "e"], ["ruling"], "confirmed")
    assert report.unknown_rulings == 1
    built(lake)
    assert rows(lake, *TABLES) == before


@pytest.mark.parametrize("papers", [{}, {"a": "No fact is here."}])
def test_a_collection_without_facts_has_no_entities(lake: Lake, papers: dict[str, str]) -> None:
    report = built(lake, papers)
    assert (report.rows, report.mentions, dict(report.by_type)) == (0, 0, {})


NEAR = {
    "a": "We show that the sine-Gordon model is integrable at every coupling of the field.",
    "b": "We show that the sinh-Gordon model is integrable at every coupling of the field.",
}


def adjudged(folder: Path, *answers: str) -> tuple[Lake, EntitiesReport]:
    left = iter(answers)

    def behave(asked: Asked) -> Reply:
        return said(json.dumps({"reason": "so it seems", "same": next(left)}), asked)

    with at(behave, folder, concurrency=1) as there, there.crew("adjudicator") as crew:
        model = crew.chat("adjudicator")
        assert model is not None
        return there.lake, built(there.lake, NEAR, adjudicator=Adjudicator(model, 3))


def test_votes_that_agree_settle_a_doubtful_pair(tmp_path: Path) -> None:
    lake, report = adjudged(tmp_path, "yes", "yes", "yes")
    found = entity(lake, "sine gordon model")
    assert found["papers"] == ["a", "b"]
    assert (found["certainty"], str(found["method"])[:14]) == ("likely", "adjudicator:m ")
    [decision] = lake.scan("entity_decisions").filter(pl.col("rule") == "adjudicated").collect().rows(named=True)
    assert [vote["verdict"] for vote in decision["votes"]] == ["supported"] * 3
    assert report.doubtful == 0


@pytest.mark.parametrize(("answers", "verdict"), [(("yes", "no", "yes"), "doubtful"), (("no", "no", "no"), "different")])
def test_votes_that_differ_or_deny_leave_them_apart(tmp_path: Path, answers: tuple[str, ...], verdict: str) -> None:
    lake, _ = adjudged(tmp_path, *answers)
    assert entity(lake, "sine gordon model")["papers"] == ["a"]
    [decision] = lake.scan("entity_decisions").collect().rows(named=True)
    assert (decision["verdict"], len(decision["votes"])) == (verdict, 3)


def test_a_model_that_refuses_leaves_the_pair_doubtful(tmp_path: Path) -> None:
    with at(lambda asked: said(None, asked, refusal="I'd rather not."), tmp_path) as there, there.crew("adjudicator") as crew:
        model = crew.chat("adjudicator")
        assert model is not None
        report = built(there.lake, NEAR, adjudicator=Adjudicator(model, 3))
    assert report.doubtful == 1


# -- what is broken is found -------------------------------------------------------------------------------------------


def test_a_mention_of_a_fact_that_is_gone_is_found(lake: Lake) -> None:
    built(lake)
    for shard in lake.shard_keys:
        delta.write_partition(lake, "facts", shard, lake.scan("facts").collect().clear(), COMMIT)
    found = invariants.every_mention_is_of_a_fact_and_an_entity(lake, NAME)
    assert found.failed == lake.scan("entity_mentions").collect().height


def test_an_entity_with_a_source_too_few_is_found(lake: Lake) -> None:
    built(lake)
    fewer = lake.scan("entities").collect().with_columns(papers=pl.col("papers").list.head(1))
    delta.write_partition(lake, "entities", NAME, fewer, COMMIT)
    assert not invariants.sources_of_entities_are_their_mentions(lake, NAME).passed


def test_names_that_a_ruling_parts_and_one_entity_has_are_found(lake: Lake) -> None:
    built(lake)
    one = lake.scan("entities").collect().head(1).with_columns(keys=pl.lit(["x", "y"]))
    delta.write_partition(lake, "entities", NAME, one, COMMIT)
    said_so = {"collection": NAME, "type": "concept", "left": "x", "right": "y", "verdict": "different", "rule": "ruling", "reason": "r"}
    row = {**said_so, "votes": [], "method": "rules", "code_version": "0"}
    schema = lake.scan("entity_decisions").collect().schema
    delta.write_partition(lake, "entity_decisions", NAME, pl.DataFrame([row], schema=schema), COMMIT)
    assert not invariants.what_is_ruled_holds(lake, NAME).passed

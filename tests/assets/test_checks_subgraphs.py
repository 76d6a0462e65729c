"""Checks of subgraphs: what breaks one of their claims is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from scholarlake.lake.findings import Finding
from scholarlake.lake.home import Lake
from scholarlake.training import subgraph_invariants as invariants
from tests.assets.checked_lake import SUBGRAPH, broken, frame_of, good_lake

Claim = Callable[[Lake, str], Finding]
Change = Callable[[pl.DataFrame], pl.DataFrame]
CLAIMS: tuple[Claim, ...] = (
    invariants.walks_follow_citations,
    invariants.splits_share_nothing,
    invariants.little_is_held_out,
    invariants.no_subgraph_missing_unsaid,
)
BATCH = "train-00"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return good_lake(tmp_path / "lake")


def of_test(**values: object) -> Change:
    """Beside the subgraph to train on one to test on, with these values."""
    row = {"subgraph_batch": "test-00", "split": "test", "subgraph_id": f"subgraph-{'1' * 32}", "n": 0, "walks": [[0, 1]], **values}
    return lambda rows: pl.concat([rows, frame_of("subgraphs", [row])])


def setting(**values: object) -> Change:
    return lambda rows: rows.with_columns(pl.lit(value, rows.schema[name]).alias(name) for name, value in values.items())


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_good_batch_passes(lake: Lake, claim: Claim) -> None:
    found = claim(lake, BATCH)
    assert found.passed, found
    assert found.name == claim.__name__
    assert found.counted > 0


@pytest.mark.parametrize(
    ("claim", "table", "change", "example"),
    [
        (
            invariants.walks_follow_citations,
            "core_citations",
            lambda rows: rows.clear(),
            {"subgraph_id": SUBGRAPH, "fault": "takes a step that is no citation of the core"},
        ),
        (
            invariants.walks_follow_citations,
            "subgraphs",
            setting(seed_id="p3"),
            {"subgraph_id": SUBGRAPH, "fault": "begins elsewhere"},
        ),
        (invariants.splits_share_nothing, "subgraphs", of_test(seed_id="p3", papers=["p3", "p4"]), {"level": "paper", "shared": "p3"}),
        (invariants.splits_share_nothing, "subgraphs", of_test(seed_id="p1", papers=["p4", "p5"]), {"level": "seed", "shared": "p1"}),
        (
            invariants.splits_share_nothing,
            "subgraphs",
            of_test(seed_id="p4", papers=["p4", "p5"], subgraph_id=SUBGRAPH),
            {"level": "subgraph", "shared": SUBGRAPH},
        ),
        (
            invariants.little_is_held_out,
            "subgraph_batches",
            setting(papers=7),
            {"subgraph_batch": BATCH, "found": 2, "papers": 7, "most_papers": None, "fault": "has other papers than its row counts"},
        ),
        (
            invariants.little_is_held_out,
            "subgraph_batches",
            setting(most_papers=1),
            {"subgraph_batch": BATCH, "found": 2, "papers": 2, "most_papers": 1, "fault": "comes to too many papers"},
        ),
        (
            invariants.no_subgraph_missing_unsaid,
            "subgraph_batches",
            setting(wanted=3, shortfall=None),
            {"subgraph_batch": BATCH, "found": 1, "made": 1, "wanted": 3, "fault": "has too few and does not say why"},
        ),
        (
            invariants.no_subgraph_missing_unsaid,
            "subgraphs",
            lambda rows: rows.clear(),
            {"subgraph_batch": BATCH, "found": 0, "made": 1, "wanted": 1, "fault": "has other subgraphs than its row counts"},
        ),
        (
            invariants.no_subgraph_missing_unsaid,
            "subgraph_batches",
            lambda rows: rows.clear(),
            {"subgraph_batch": BATCH, "found": 1, "made": None, "wanted": None, "fault": "is not in subgraph_batches"},
        ),
    ],
)
def test_what_breaks_a_claim_is_named(lake: Lake, claim: Claim, table: str, change: Change, example: dict[str, object]) -> None:
    found = claim(broken(lake, table, change), BATCH)
    assert not found.passed
    assert example in found.examples


def test_all_five_levels_are_counted(lake: Lake) -> None:
    broken(lake, "subgraphs", of_test(seed_id="p3", papers=["p3", "p1"], subgraph_id=SUBGRAPH))
    facts = invariants.splits_share_nothing(lake, BATCH).facts
    shared = {level: facts[f"shared_{level}s"] for level in ("subgraph", "seed", "paper", "work", "citation")}
    assert shared == {"subgraph": 1, "seed": 2, "paper": 2, "work": 2, "citation": 1}


def test_a_paper_and_its_preprint_are_one_work(lake: Lake) -> None:
    broken(lake, "subgraphs", of_test(seed_id="p5", papers=["p5", "p6"]))
    assert invariants.splits_share_nothing(lake, BATCH).passed
    broken(lake, "work_versions", setting(version_of="p1"))
    assert invariants.splits_share_nothing(lake, BATCH).examples == ({"level": "work", "shared": "p1"},)


def test_a_batch_is_not_held_against_one_that_was_drawn_before_the_core_changed(lake: Lake) -> None:
    broken(lake, "subgraphs", of_test(seed_id="p3", papers=["p3", "p4"]))
    broken(
        lake,
        "subgraph_batches",
        lambda rows: rows.with_columns(drawn_from=pl.when(split="test").then(pl.lit("1" * 32)).otherwise("drawn_from")),
    )
    found = invariants.splits_share_nothing(lake, BATCH)
    assert (found.passed, found.facts["batches_compared"]) == (True, 0)

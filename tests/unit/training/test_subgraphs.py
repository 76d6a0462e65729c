"""Subgraphs: walks go along citations, splits share nothing, the seed decides all, and a small core gives fewer, with the reason."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from scholarlake.corpus.keys import mix
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from scholarlake.profile import Training
from scholarlake.training import subgraph_invariants as invariants
from scholarlake.training.graph import graph_of
from scholarlake.training.walks import visits_of, walk
from tests.unit.training.cores import build, core, named, random_edges, rows

TRAINING = Training(walks=3, steps=5, train=30, validation=4, test=4, held_out=0.2, train_batches=2)  # type: ignore[call-arg]
PAPERS = [named(number) for number in range(400)]
EDGES = random_edges(400, 2_000)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    lake = core(tmp_path_factory.mktemp("core") / "lake", PAPERS, EDGES)
    build(lake, TRAINING)
    return lake


def papers_of(lake: Lake, split: str) -> set[str]:
    return set(rows(lake).filter(split=split)["papers"].explode())


def test_every_walk_begins_at_its_seed_and_goes_along_citations(drawn: Lake) -> None:
    known = set(EDGES)
    for row in rows(drawn).iter_rows(named=True):
        assert len(row["walks"]) == 3
        assert row["papers"][0] == row["seed_id"]
        assert sorted({place for walked in row["walks"] for place in walked}) == list(range(len(row["papers"])))
        for walked in row["walks"]:
            assert (walked[0], len(walked)) == (0, 6)
            steps = [(row["papers"][a], row["papers"][b]) for a, b in pairwise(walked)]
            assert all((a, b) in known or (b, a) in known for a, b in steps)


def test_the_counts_are_those_of_the_profile_dealt_out_evenly(drawn: Lake) -> None:
    assert dict(rows(drawn).group_by("subgraph_batch").len().iter_rows()) == {
        "test-00": 4,
        "validation-00": 4,
        "train-00": 15,
        "train-01": 15,
    }
    assert rows(drawn)["seed_id"].n_unique() == 38


def test_no_paper_is_in_two_splits_and_little_is_held_out(drawn: Lake) -> None:
    test, validation, train = (papers_of(drawn, split) for split in ("test", "validation", "train"))
    assert not test & validation
    assert not (test | validation) & train
    assert max(len(test), len(validation)) <= 80
    for batch in drawn.batch_keys:
        found = invariants.splits_share_nothing(drawn, batch)
        assert found.passed
        assert found.facts["batches_compared"] == (2 if batch.startswith("train") else 3)


def test_another_version_of_a_held_out_work_is_closed_to_training(drawn: Lake, tmp_path: Path) -> None:
    held_out = sorted(papers_of(drawn, "test"))
    left = sorted(set(PAPERS) - papers_of(drawn, "test") - papers_of(drawn, "validation"))
    versions = dict(zip(left[:100], held_out * 5, strict=False))
    lake = core(tmp_path / "lake", PAPERS, EDGES, versions)
    build(lake, TRAINING)
    assert papers_of(lake, "test") == set(held_out)
    others = {paper for paper, of in versions.items() if of in held_out}
    assert others & papers_of(drawn, "train")
    assert not others & (papers_of(lake, "train") | papers_of(lake, "validation"))


def test_the_seed_decides_everything_in_every_process(drawn: Lake, tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from tests.unit.training.test_subgraphs import *\n"
        "lake = core(pathlib.Path(sys.argv[1]), list(reversed(PAPERS)), EDGES[::-1])\n"
        "build(lake, TRAINING)\n"
        "print(rows(lake).drop('code_version').write_json())\n"
    )
    said = {
        subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], capture_output=True, text=True, check=True).stdout
        for name in "ab"
    }
    assert said == {rows(drawn).drop("code_version").write_json() + "\n"}


def test_another_seed_draws_others(drawn: Lake, tmp_path: Path) -> None:
    lake = core(tmp_path / "lake", PAPERS, EDGES)
    build(lake, TRAINING.model_copy(update={"seed": 1}))
    assert set(rows(lake)["seed_id"]) != set(rows(drawn)["seed_id"])
    assert not set(rows(lake)["subgraph_id"]) & set(rows(drawn)["subgraph_id"])


def test_more_of_a_batch_leaves_what_was_there_as_it_was(drawn: Lake, tmp_path: Path) -> None:
    lake = core(tmp_path / "lake", PAPERS, EDGES)
    build(lake, TRAINING.model_copy(update={"train": 60}))
    kept = rows(drawn).select("subgraph_id", "papers", "walks")
    assert rows(lake).join(kept, on=["subgraph_id", "papers", "walks"], how="semi").height == kept.height


def test_drawing_again_writes_nothing(drawn: Lake) -> None:
    before = [delta.version(drawn, table) for table in ("subgraphs", "subgraph_batches")]
    build(drawn, TRAINING)
    assert [delta.version(drawn, table) for table in ("subgraphs", "subgraph_batches")] == before


@pytest.mark.parametrize(
    ("papers", "edges", "said"),
    [
        ([], [], "the core has no papers"),
        (["a", "b", "c"], [], "of the core's 3 papers 3 are open, of which 0 cite another of these, or are cited by one"),
        (["a", "b", "c"], [("a", "b"), ("b", "c")], "would lead to more than 20% of the core's papers (0 of 3)"),
    ],
)
def test_a_core_that_is_too_small_gives_none_to_test_on_and_says_why(
    tmp_path: Path, papers: list[str], edges: list[tuple[str, str]], said: str
) -> None:
    lake = core(tmp_path / "lake", papers, edges)
    made = build(lake, TRAINING)
    assert made["test-00"].rows == 0
    assert said in made["test-00"].summary["shortfall"]
    for batch in lake.batch_keys:
        for claim in (invariants.no_subgraph_missing_unsaid, invariants.splits_share_nothing, invariants.walks_follow_citations):
            assert claim(lake, batch).passed


def test_a_core_of_three_papers_trains_on_one_subgraph_a_paper_and_says_why_no_more(tmp_path: Path) -> None:
    lake = core(tmp_path / "lake", ["a", "b", "c"], [("a", "b"), ("b", "c")])
    made = build(lake, TRAINING)
    assert sorted(rows(lake)["seed_id"]) == ["a", "b", "c"]
    assert (
        made["train-00"].summary["shortfall"] == "of the core's 3 papers 3 are open, of which 3 cite another of these, or are cited by one"
    )
    assert made["train-00"].rows + made["train-01"].rows == 3


def test_neighbours_are_drawn_evenly_from_both_directions_each_once() -> None:
    ids = pl.Series([named(number) for number in range(5)])
    citing, cited = np.array([0, 0, 3, 1, 4], dtype=np.uint64), np.array([1, 2, 0, 0, 0], dtype=np.uint64)  # 0 and 1 cite each other
    graph = graph_of(ids, citing, cited, np.arange(5))
    assert graph.targets[graph.starts[0] : graph.starts[1]].tolist() == [1, 2, 3, 4]
    keys = mix(np.arange(2_000, dtype=np.uint64))
    first = walk(graph, np.zeros(2_000, dtype=np.uint32), keys, 4, 1)[:, :, 1]
    counts = np.bincount(first.ravel(), minlength=5)
    assert counts[0] == 0
    assert np.abs(counts[1:] - 2_000).max() < 200  # five standard deviations


def test_visits_are_in_the_order_in_which_papers_were_come_to() -> None:
    walked = np.array([[[5, 3, 5], [5, 9, 3]], [[1, 0, 1], [1, 0, 1]]], dtype=np.uint32)
    visits = visits_of(walked)
    assert visits.papers.tolist() == [5, 3, 9, 1, 0]
    assert visits.starts.tolist() == [0, 3, 5]
    assert visits.places.tolist() == [[[0, 1, 0], [0, 2, 1]], [[0, 1, 0], [0, 1, 0]]]

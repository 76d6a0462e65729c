"""Rubrics: weights sum to exactly 100, whatever the shares, and every criterion follows from the question."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from scholarlake.training import rubric_invariants as invariants
from scholarlake.training.rubrics import SHARES, build_rubrics, derived
from scholarlake.training.weights import whole_weights
from tests.unit.small_lake import COMMIT
from tests.unit.training.asking import replace
from tests.unit.training.test_questions import PAPERS, rows, with_questions


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    lake = with_questions(tmp_path_factory.mktemp("judged") / "lake")
    for batch in lake.batch_keys:
        build_rubrics(lake, batch, COMMIT)
    return lake


@pytest.mark.parametrize(
    ("shares", "weights"),
    [
        ([33.3] * 3, [34, 33, 33]),
        ([1 / 7] * 7, [15, 15, 14, 14, 14, 14, 14]),
        ([1], [100]),
        ([40, 30, 30], [40, 30, 30]),
        ([1e-9, 1], [1, 99]),
        ([1.0] * 100, [1] * 100),
        ([], []),
    ],
)
def test_weights_are_whole_and_sum_to_100(shares: list[float], weights: list[int]) -> None:
    assert whole_weights(shares) == weights


@given(st.lists(st.floats(min_value=1e-6, max_value=1e6), min_size=1, max_size=100))
def test_any_shares_sum_to_100_and_the_greater_gets_no_less(shares: list[float]) -> None:
    weights = whole_weights(shares)
    assert sum(weights) == 100
    assert min(weights) >= 1
    pairs = sorted(zip(shares, weights, strict=True))
    assert all(a[1] <= b[1] for a, b in pairwise(pairs) if a[0] < b[0])


@pytest.mark.parametrize("shares", [[0.0, 1.0], [-1.0], [float("nan")], [float("inf")], [1.0] * 101])
def test_shares_that_can_be_no_weights_are_refused(shares: list[float]) -> None:
    with pytest.raises(ValueError, match="can't be made whole numbers"):
        whole_weights(shares)


def test_every_question_has_a_rubric_whose_weights_are_those_of_its_dimensions(judged: Lake) -> None:
    criteria = judged.scan("rubrics").collect()
    assert criteria["question_id"].n_unique() == len(rows(judged))
    for _, rubric in criteria.group_by("question_id"):
        assert rubric["weight"].sum() == 100
        for dimension, share in SHARES.items():
            assert abs(rubric.filter(dimension=dimension)["weight"].sum() - share) <= rubric.height


def test_a_rubric_says_all_that_the_question_says_and_its_answer(judged: Lake) -> None:
    titles = {row["paper_id"]: row["title"] for row in PAPERS}
    for question in rows(judged):
        rubric = derived(question, titles.__getitem__)
        said = {dimension: " ".join(one.description for one in rubric if one.dimension == dimension) for dimension in SHARES}
        assert question["answer"] in said["answer"]
        for part in question["parts"]:
            word = titles[part["paper"]] if part["paper"] else {"1": "exactly one"}.get(part["value"], part["value"])
            assert word in said["planning"]
            assert word in said["grounding"]
        assert question["answer"] not in said["planning"] or question["answer_kind"] in ("citations", "year")


def test_no_criterion_asks_for_two_dimensions_or_is_empty(judged: Lake) -> None:
    for row in judged.scan("rubrics").collect().iter_rows(named=True):
        assert row["description"].endswith(".")
        assert ("tool response" in row["description"]) == (row["dimension"] == "grounding")
        assert ("<answer>" in row["description"]) <= (row["dimension"] == "answer")


def test_making_rubrics_again_writes_nothing(judged: Lake) -> None:
    before = delta.version(judged, "rubrics")
    build_rubrics(judged, "train-00", COMMIT)
    assert delta.version(judged, "rubrics") == before


CLAIMS = (invariants.every_question_has_a_rubric, invariants.weights_sum_to_100, invariants.no_criterion_twice)


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_checks_pass_on_what_was_made(judged: Lake, claim: Any) -> None:
    found = claim(judged, "train-00")
    assert found.passed, found
    assert (found.name, found.counted > 0) == (claim.__name__, True)


@pytest.mark.parametrize(
    ("claim", "change"),
    [
        (invariants.weights_sum_to_100, lambda found: [{**found[0], "weight": found[0]["weight"] + 1}, *found[1:]]),
        (invariants.every_question_has_a_rubric, lambda found: [one for one in found if one["question_id"] != found[0]["question_id"]]),
        (invariants.every_question_has_a_rubric, lambda found: found[1:]),
        (invariants.every_question_has_a_rubric, lambda found: [{**found[0], "question_id": f"question-{'0' * 32}"}, *found]),
        (invariants.no_criterion_twice, lambda found: [{**found[0], "description": found[1]["description"]}, *found[1:]]),
    ],
)
def test_what_breaks_a_claim_is_found(judged: Lake, tmp_path: Path, claim: Any, change: Any) -> None:
    import shutil

    copy = Lake.open(shutil.copytree(judged.root, tmp_path / "copy"))
    chart = next(row["question_id"] for row in rows(copy) if row["answer_kind"] == "chart" and row["subgraph_batch"] == "train-00")
    found = copy.scan("rubrics").collect().filter(subgraph_batch="train-00").sort("question_id", "n").to_dicts()
    found = [*(one for one in found if one["question_id"] == chart), *(one for one in found if one["question_id"] != chart)]
    replace(copy, "rubrics", change(found))
    assert claim(copy, "train-00").failed == 1

"""The agent with a real small model, which can't do it: it rambles, it calls nothing or anything. The loop must not fail for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import scholarlake
from scholarlake.agent import replay, trajectory
from scholarlake.agent.trajectory import Trajectory
from scholarlake.models.config import ModelsFile
from tests.engines.real import llama, needed
from tests.unit.agent.scripted import ask
from tests.unit.toolbox.lakes import small

pytestmark = [pytest.mark.engines, needed]
ROOM = 8_192  # the system prompt alone takes a good third of it
SHORT: dict[str, Any] = {"rounds": 2, "rerolls": 1, "vain": 2, "max_tokens": 32, "longest_observation": 2_000}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small(tmp_path_factory.mktemp("small") / "lake").root


def run(lake: Path, context_tokens: int, **settings: Any) -> Trajectory:
    described = {**llama(), "concurrency": 1}
    described["llama"] = {**described["llama"], "context_tokens": context_tokens}
    bound = ModelsFile.model_validate({"roles": {"agent": "here"}, "endpoints": {"here": described}})
    with scholarlake.open(lake) as reader:
        return ask(reader, bound, "Which papers cite the paper named Deep Learning?", **{**SHORT, **settings})


@pytest.mark.parametrize("calling", ["tags", "native"])
def test_a_model_that_cannot_do_it_ends_the_run_in_words_and_all_it_said_is_kept(lake: Path, tmp_path: Path, calling: str) -> None:
    ran = run(lake, ROOM, calling=calling)
    assert ran.outcome in ("answered", "rounds_spent", "stuck")
    assert ran.message
    assert 0 < len(ran.rounds) <= SHORT["rounds"]
    rolls = [roll for one in ran.rounds for roll in one.rolls]
    assert all(roll.text or roll.failure for roll in rolls)
    assert ran.totals.tokens_in > 0
    assert ran.totals.tokens_out > 0
    assert len({roll.seed for roll in ran.rounds[0].rolls}) == len(ran.rounds[0].rolls)
    ran.save(tmp_path / "run.json")
    with scholarlake.open(lake) as reader, reader.toolbox() as toolbox:
        assert all(one.is_same for one in replay.replay(trajectory.load(tmp_path / "run.json"), toolbox))
    again = run(lake, ROOM, calling=calling)
    assert [one.observation for one in again.rounds] == [one.observation for one in ran.rounds]
    assert again.totals.tokens_out <= ran.totals.tokens_out, "what was answered is kept; only what failed is asked again"


def test_a_context_that_the_prompt_does_not_fit_into_is_told_as_such(lake: Path) -> None:
    ran = run(lake, 1_024)
    assert (ran.outcome, "longer than the model's context" in ran.message) == ("context_full", True)

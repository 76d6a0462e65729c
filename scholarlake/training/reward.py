"""The reward of a rollout (SciLENS, equation 4): R = λ · S_format + (1 − λ) · S_rubric, and the doors by which trainers ask for it.

    verl:  custom_reward_function.path=…/scholarlake/training/reward.py, custom_reward_function.name=compute_score
    TRL:   GRPOTrainer(reward_funcs=[trl_reward(judge)], …), the dataset having the columns `question` and `rubric`

S_format is 1 where every turn is well-formed, every call parses and fits its tool, and the rollout ends with its one answer, else 0.
S_rubric is what the judge gives, 0 to 1. Without a judgement there is no reward: null, never 0. What does not belong here: what is
well-formed (`agent.parsing`), how a judge is asked (`judge`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from scholarlake.agent.parsing import rollout_flaws
from scholarlake.errors import ModelError
from scholarlake.lake.home import Lake
from scholarlake.models.chat import Tags
from scholarlake.models.config import ModelsFile
from scholarlake.models.crew import Crew
from scholarlake.training.judge import Case, Judge, Weighted, judged
from scholarlake.training.rollout import Rollout, turns_of

LAMBDA = 0.1
ROLE = "reward_judge"


@dataclass(frozen=True)
class Form:
    """S_format, 0 or 1. flaws: codes of what is wrong, where it is 0."""

    score: float
    flaws: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reward:
    """R and what it is made of; R and the rubric's score are null where there is no judgement. fault: then why."""

    score: float | None
    form: Form
    rubric: float | None
    scores: tuple[float, ...] = ()
    fault: str = ""


def format_score(rollout: Rollout) -> Form:
    """Whether a rollout is well-formed: tags closed and not nested, calls that parse and fit their tools, one answer, at its end."""
    flaws = tuple(dict.fromkeys(flaw.code for flaw in rollout_flaws(turns_of(rollout))))
    return Form(0.0 if flaws else 1.0, flaws)


def composite(form: float, rubric: float | None, lam: float = LAMBDA) -> float | None:
    """Equation 4; null where the rubric's score is. Raises ValueError where something is outside of 0 to 1."""
    for name, value in (("λ", lam), ("S_format", form), ("S_rubric", rubric)):
        if value is not None and not 0 <= value <= 1:
            raise ValueError(f"{name} is between 0 and 1, not {value}")
    return None if rubric is None else lam * form + (1 - lam) * rubric


def rewards(judge: Judge, cases: Sequence[Case], lam: float = LAMBDA) -> list[Reward]:
    """The rewards of some rollouts, in their order."""
    found = []
    for case, verdict in zip(cases, judged(judge, cases), strict=True):
        form = format_score(case.rollout)
        found.append(Reward(composite(form.score, verdict.score, lam), form, verdict.score, verdict.scores, verdict.fault))
    return found


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str | Mapping[str, Any],
    extra_info: Mapping[str, Any] | None = None,
    lam: float = LAMBDA,
    **settings: Any,
) -> dict[str, Any]:
    """verl's reward function. ground_truth: the row's, an object (or its JSON) of `question` and `rubric`, as the exports have it.

    extra_info: messages, where the rollout worker keeps them, are taken instead of the text. settings: models, the models file, and lake,
    the folder where judgements are kept, in place of SCHOLARLAKE_MODELS and SCHOLARLAKE_LAKE; judge, to bring one's own.
    Raises ModelError where no judge is bound, or where it gives no judgement: verl knows no missing reward.
    """
    truth = orjson.loads(ground_truth) if isinstance(ground_truth, str) else ground_truth
    rollout = (extra_info or {}).get("messages") or solution_str
    judge = settings.get("judge") or _bound_judge(*_places(settings))
    [reward] = rewards(judge, [case_of(truth["question"], rollout, truth["rubric"])], lam)
    if reward.score is None:
        raise ModelError(f"no judgement of a rollout of {data_source}: {reward.fault}")
    return {"score": reward.score, "format": reward.form.score, "rubric": reward.rubric, "flaws": ", ".join(reward.form.flaws)}


def trl_reward(judge: Judge, lam: float = LAMBDA) -> Callable[..., list[float | None]]:
    """TRL's reward function. A completion without a judgement has None, which TRL leaves out of the sum."""

    def scholarlake_reward(completions: Sequence[Rollout], question: Sequence[str], rubric: Sequence[Any], **_: Any) -> list[float | None]:
        cases = [case_of(*one) for one in zip(question, completions, rubric, strict=True)]
        return [reward.score for reward in rewards(judge, cases, lam)]

    return scholarlake_reward


def case_of(question: str, rollout: Rollout, rubric: str | Sequence[Mapping[str, Any]]) -> Case:
    """A case from what an export holds. rubric: criteria with `description` and `weight`, or their JSON. Raises ValueError."""
    criteria = orjson.loads(rubric) if isinstance(rubric, str) else rubric
    if any(one["weight"] != int(one["weight"]) for one in criteria):
        raise ValueError("the weights of a rubric are whole numbers")
    return Case(question, rollout, tuple(Weighted(str(one["description"]), int(one["weight"])) for one in criteria))


def _places(settings: Mapping[str, Any]) -> tuple[str, str]:
    models = settings.get("models") or os.environ.get("SCHOLARLAKE_MODELS")
    lake = settings.get("lake") or os.environ.get("SCHOLARLAKE_LAKE")
    if not models or not lake:
        raise ModelError("a reward needs a judge: set SCHOLARLAKE_MODELS and SCHOLARLAKE_LAKE, or the settings models and lake")
    return str(models), str(lake)


@lru_cache(maxsize=1)
def _bound_judge(models: str, lake: str) -> Judge:
    """The judge of a models file, open for as long as the process lasts: a trainer asks it for every rollout."""
    found = Crew(ModelsFile.load(Path(models)), Lake.open(Path(lake)), Tags("reward")).chat(ROLE)
    if found is None:
        raise ModelError(f"no endpoint is bound to {ROLE} in {models}; bind one")
    return found

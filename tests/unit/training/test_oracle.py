"""The oracle answers composed questions by calls that it really makes, or says why it can't; what it leaves behind is sound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import scholarlake
from scholarlake.agent.replay import replay
from scholarlake.agent.trajectory import Trajectory, load
from scholarlake.corpus import csr
from scholarlake.lake import artifacts, receipts
from scholarlake.lake.home import Lake
from scholarlake.profile import Training
from scholarlake.toolbox.dispatch import Toolbox
from scholarlake.training.messages import messages_of
from scholarlake.training.oracle import MOST_CALLS, Attempt, answered
from scholarlake.training.questions import build_questions
from scholarlake.training.reward import format_score
from scholarlake.training.subgraphs import build_subgraphs
from tests.unit.small_lake import COMMIT, searchable
from tests.unit.training.asking import made_up
from tests.unit.training.cores import core, random_edges

PAPERS, EDGES = made_up(400), random_edges(400, 2_400)
TITLES = {row["paper_id"]: row["title"] for row in PAPERS}
TRAINING = Training(walks=3, steps=5, train=28 * 40, validation=2, test=2, questions=2)  # type: ignore[call-arg]

Asked = tuple[dict[str, Any], Attempt]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    root = tmp_path_factory.mktemp("oracle") / "lake"
    made = searchable(root, PAPERS, EDGES, embedded=20)
    core(root, list(TITLES), EDGES, train_batches=made.train_batches)
    graph = artifacts.publish(made, "citation_graph", None, lambda folder: csr.build(folder, made))
    begun = receipts.begin(made, "citation_graph", None, code_version="1", inputs={}, run_id="test")
    receipts.finish(made, begun, data_version=graph.digest, artifact=graph.path)
    for batch in ("train-00", "train-01"):
        build_subgraphs(made, batch, TRAINING, COMMIT)
        build_questions(made, batch, TRAINING, COMMIT)
    return made


@pytest.fixture(scope="module")
def toolbox(lake: Lake) -> Iterator[Toolbox]:
    with scholarlake.open(lake.root) as reader, reader.toolbox() as tools:
        yield tools


@pytest.fixture(scope="module")
def attempts(lake: Lake, toolbox: Toolbox) -> list[Asked]:
    questions = lake.scan("questions").collect().sort("question_id").to_dicts()
    return [(question, answered(question, toolbox, TITLES.__getitem__)) for question in questions]


def solved(attempts: list[Asked]) -> list[tuple[dict[str, Any], Trajectory]]:
    return [(question, attempt.trajectory) for question, attempt in attempts if attempt.trajectory is not None]


def test_it_answers_most_questions_and_says_of_the_others_why_not(attempts: list[Asked]) -> None:
    why = Counter(attempt.why for _, attempt in attempts if attempt.trajectory is None)
    assert len(attempts) > 40
    assert len(solved(attempts)) > 0.8 * len(attempts), why
    assert set(why) <= {"a list is longer than a tool shows", f"it takes more than {MOST_CALLS} calls"}


def test_all_kinds_of_questions_are_answered_and_rightly(attempts: list[Asked]) -> None:
    kinds = set()
    for question, trajectory in solved(attempts):
        assert trajectory.answer is not None
        assert trajectory.answer.faults == []
        assert [one.paper_id for one in trajectory.answer.citations] == [question["answer_paper"]]
        assert all(one.seen for one in trajectory.answer.citations)
        if question["answer_kind"] == "chart":
            [chart] = trajectory.answer.charts
            data = chart["tool_args"]["data"]
            said = "; ".join(f"{label}: {value:g}" for label, value in zip(data["labels"], data["values"], strict=True))
            assert said == question["answer"]
        else:
            assert question["answer"] in trajectory.answer.text
        kinds.add(question["answer_kind"])
    assert kinds >= {"title", "year", "venue", "first_author", "citations", "chart"}


def test_every_trajectory_is_well_formed(attempts: list[Asked]) -> None:
    for _, trajectory in solved(attempts):
        messages = messages_of(trajectory)
        assert (format_score(messages).score, format_score(messages).flaws) == (1.0, ())
        assert [message["role"] for message in messages] == ["system", *["user", "assistant"] * len(trajectory.rounds)]
        assert messages[1]["content"] == trajectory.question


def test_every_call_done_again_gives_what_it_gave(attempts: list[Asked], toolbox: Toolbox) -> None:
    for _, trajectory in solved(attempts)[:20]:
        repeated = list(replay(trajectory, toolbox))
        assert len(repeated) == trajectory.totals.calls == len(trajectory.rounds) - 1
        assert all(one.is_same for one in repeated)


def test_the_answer_stands_in_no_thought_before_a_tool_has_told_it(attempts: list[Asked]) -> None:
    for question, trajectory in solved(attempts):
        if question["answer_kind"] in ("title", "first_author"):
            assert all(question["answer"] not in str(one.thought) for one in trajectory.rounds[:-1])


def test_what_the_tools_do_not_tell_it_does_not_make_up(attempts: list[Asked], toolbox: Toolbox) -> None:
    question, _ = next(pair for pair in solved(attempts) if pair[0]["answer_kind"] == "year")
    assert answered({**question, "answer": "1066"}, toolbox, TITLES.__getitem__).why == "the tools tell another answer"
    relation = next(part for part in question["parts"] if part["paper"])
    assert answered({**question, "parts": [relation]}, toolbox, TITLES.__getitem__).why == "several papers are left"
    number = {**relation, "kind": "quantity", "paper": None, "value": "relative error = 1"}
    assert (
        answered({**question, "parts": [relation, number]}, toolbox, TITLES.__getitem__).why
        == "no tool tells the numbers that papers report"
    )
    assert answered(question, toolbox, lambda _: "A title of no paper at all").why.startswith("a tool fails")


def test_a_trajectory_is_kept_and_read_as_an_agent_s(attempts: list[Asked], tmp_path: Path) -> None:
    _, trajectory = solved(attempts)[0]
    trajectory.save(tmp_path / "one.json")
    assert load(tmp_path / "one.json") == trajectory
    assert trajectory.model.role == "oracle", "nobody takes it for a model's"

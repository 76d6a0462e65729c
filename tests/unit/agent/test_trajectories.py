"""What is kept of a run, its calls done again, and `scholarlake ask`, by hand and for a program."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

import scholarlake
from scholarlake.agent import replay, trajectory
from scholarlake.agent.context import conversation
from scholarlake.agent.prompt import opening
from scholarlake.agent.settings import ContextMode
from scholarlake.cli import app
from scholarlake.errors import ModelError, ReleaseError, ScholarLakeError, SourceError
from tests.misbehaving import MODEL, Asked, Reply, said
from tests.unit.agent.scripted import Line, answer, call, play, playing
from tests.unit.small_lake import paper, release, searchable
from tests.unit.toolbox.lakes import SMALL, SMALL_CITATIONS, small

ROOT = Path(scholarlake.__file__).parents[1]
SCRIPT = (call("KeywordSearch", keywords=["learning"]), "<tool_call>{", call("PaperInfo", id="nobody"), answer("So \\cite{p3}."))
PIE = {"title": "Shares of two", "data": {"labels": ["a", "b"], "values": [1, 2]}}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small(tmp_path_factory.mktemp("small") / "lake").root


@pytest.fixture
def lake(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "lake")


# -- the file ----------------------------------------------------------------------------------------------------------


def test_a_trajectory_comes_back_from_its_file_with_all_that_was_said(lake: Path, tmp_path: Path) -> None:
    ran, played = play(lake, *SCRIPT)
    ran.save(tmp_path / "run.json")
    back = trajectory.load(tmp_path / "run.json")
    assert back == ran
    assert (back.release.name, back.model.model, back.run, back.system) == ("r0001", MODEL, "test", played.messages(1)[0]["content"])
    assert [roll.text for one in back.rounds for roll in one.rolls] == list(SCRIPT)
    assert [(roll.tokens_in > 0, roll.tokens_out > 0, roll.seconds > 0) for one in back.rounds for roll in one.rolls] == [(True,) * 3] * 4
    sent = [
        {"role": message.speaker, "content": message.content} for message in conversation(opening(back.question, "tags"), back.rounds[:3])
    ]
    assert sent == played.messages(4), "what the model was told can be told again from it"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"format": 1}', '{"format": 1, "question": 5}', "\udcff"],
    ids=["empty", "cut", "list", "null", "bare", "wrong", "bytes"],
)
def test_a_file_that_is_no_trajectory_is_refused_in_a_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text, errors="surrogateescape")
    for path in (tmp_path / "run.json", tmp_path / "none.json", tmp_path):
        with pytest.raises(SourceError) as raised:
            trajectory.load(path)
        assert "\n" not in str(raised.value)


# -- again -----------------------------------------------------------------------------------------------------------------


def test_the_calls_of_a_run_give_the_same_again_on_its_release(lake: Path) -> None:
    ran, _ = play(lake, *SCRIPT, longest_observation=600)
    with scholarlake.open(lake) as reader, reader.toolbox() as toolbox:
        done = list(replay.replay(ran, toolbox))
    assert [(one.round, one.tool_name, one.is_same) for one in done] == [(1, "KeywordSearch", True), (3, "PaperInfo", True)]


def test_a_call_that_gives_something_else_is_found(lake: Path) -> None:
    ran, _ = play(lake, *SCRIPT)
    ran.rounds[0].observation = str(ran.rounds[0].observation).replace("Deep", "Shallow")
    with scholarlake.open(lake) as reader, reader.toolbox() as toolbox:
        assert [one.is_same for one in replay.replay(ran, toolbox)] == [False, True]


def test_another_release_is_refused_before_anything_is_called(lake: Path, tmp_path: Path) -> None:
    ran, _ = play(lake, *SCRIPT)
    other = searchable(tmp_path / "other", [*SMALL, paper("new", "Newer")], SMALL_CITATIONS)
    with scholarlake.open(other.root) as reader, reader.toolbox() as toolbox, pytest.raises(ReleaseError, match="another lake's r0001"):
        replay.replay(ran, toolbox)
    again = scholarlake.open(other.root)
    ran, _ = play(other.root, *SCRIPT)
    release(again.lake, "r0002", embedder=again.release.embedder)
    with scholarlake.open(other.root) as reader, reader.toolbox() as toolbox, pytest.raises(ReleaseError, match="made on release r0001"):
        replay.replay(ran, toolbox)
    with scholarlake.open(other.root, release="r0001") as reader, reader.toolbox() as toolbox:
        assert all(one.is_same for one in replay.replay(ran, toolbox))


# -- the command -------------------------------------------------------------------------------------------------------


def bound(folder: Path, url: str, **endpoint: Any) -> Path:
    path = folder / "models.yaml"
    described = {"backend": "openai", "model": MODEL, "base_url": url, "attempts": 1, "patience_seconds": 0, **endpoint}
    path.write_text(yaml.safe_dump({"roles": {"agent": "here"}, "endpoints": {"here": described}}))
    return path


def asked(lake: Path, *given: str, lines: tuple[Line, ...] = SCRIPT) -> Result:
    """The command with a model that says these lines."""
    with playing(*lines) as (_, server):
        return CliRunner().invoke(app, ["ask", *given, "--lake", str(lake), "--models", str(bound(lake.parent, server.url))])


def placed(asked: Asked) -> Reply:
    mark = json.loads(asked.body["messages"][-1]["content"].splitlines()[1])["result"]["placeholder"]
    return said(answer(f"Two \\cite{{p1, p3}} and one \\cite{{nobody}}:\n\n{mark}\n\n`\\cite{{t}}`"), asked)


def test_it_shows_thoughts_calls_and_results_and_ends_with_the_cited_text(lake: Path) -> None:
    done = asked(lake, "What is it?", lines=(call("PaperInfo", "First a look.", id="p1"), "hm", call("PieChart", **PIE), placed))
    assert done.exit_code == 0, done.output
    shown = done.output
    places = [
        shown.index(part)
        for part in (
            "First a look.",
            'PaperInfo {"id":"p1"}',
            "→ Deep Learning",
            "again: it neither calls a tool nor answers",
            "PieChart",
            "     answers\n",
            "Two [1][1] and one [nobody?]:",
            '\n<chart id="pie-',
            "`\\cite{t}`",
            "```charts",
            "References",
            "[1] Deep Learning (2015)  p3",
            "[nobody?] no paper of this release",
            "3 rounds, 2 calls",
            "trajectory: ",
        )
    ]
    assert places == sorted(places)
    assert "warning: nobody is cited and no paper of the release" in shown
    (kept,) = (lake / "trajectories").glob("*.json")
    assert str(kept) in shown
    assert re.fullmatch(r"\d{8}T\d{6}-[0-9a-f]{8}\.json", kept.name)


def test_a_program_gets_json_and_nothing_else(lake: Path, tmp_path: Path) -> None:
    done = asked(lake, "What is it?", "--json", "--save", str(tmp_path / "mine" / "run.json"), "--seed", "3", "--context", "keep-20")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["outcome"], told["answer"]["text"], told["answer"]["document"]) == (
        0,
        "answered",
        "So \\cite{p3}.",
        "So \\cite{p3}.",
    )
    assert told["answer"]["citations"] == [{"id": "p3", "paper_id": "p3", "title": "Deep Learning", "year": 2015, "seen": True}]
    assert (told["settings"]["seed"], told["settings"]["context"], told["totals"]["rounds"]) == (3, "keep-20", 4)
    assert told["trajectory"] == str(tmp_path / "mine" / "run.json")
    assert trajectory.load(tmp_path / "mine" / "run.json").answer is not None
    assert not (lake / "trajectories").exists()


def test_an_answer_is_written_as_a_page_too(lake: Path, tmp_path: Path) -> None:
    lines: tuple[Line, ...] = (call("PieChart", **PIE), placed)
    done = asked(lake, "A page?", "-o", str(tmp_path / "out.html"), lines=lines)
    assert done.exit_code == 0
    html = (tmp_path / "out.html").read_text()
    assert "<svg" in html
    assert "Deep Learning" in html
    assert "(no paper of this release)" in html
    asked(lake, "A page?", "-o", str(tmp_path / "out.md"), lines=lines)
    assert "![Shares of two](out.charts/pie-" in (tmp_path / "out.md").read_text()
    refused = asked(lake, "A page?", "-o", str(tmp_path / "out.pdf"))
    assert isinstance(refused.exception, SourceError)


def test_where_there_is_no_answer_it_ends_with_one_line_and_what_was_done_is_kept(lake: Path) -> None:
    done = asked(lake, "Refused?", lines=(call("PaperInfo", id="p3"), lambda asked: said(None, asked, refusal="No.")))
    assert done.exit_code == 1
    assert isinstance(done.exception, ModelError)
    (kept,) = (lake / "trajectories").glob("*.json")
    assert str(done.exception) == f"the model refuses (No.); the run so far is kept ({kept})"
    assert trajectory.load(kept).totals.calls == 1
    program = asked(lake, "Refused?", "--json", lines=(lambda asked: said(None, asked, refusal="No."),))
    assert (program.exit_code, json.loads(program.stdout)["outcome"], json.loads(program.stdout)["answer"]) == (1, "refused", None)


@pytest.mark.parametrize("models", ["roles: {}\nendpoints: {}\n", None], ids=["bound to nothing", "no file"])
def test_with_no_model_bound_one_line_says_how_to_bind_one(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["ask", "What?", "--lake", str(lake)]
    if models is not None:
        (tmp_path / "models.yaml").write_text(models)
        given += ["--models", "models.yaml"]
    done = CliRunner().invoke(app, given)
    assert isinstance(done.exception, ModelError)
    assert "write `agent: NAME` under `roles`" in str(done.exception)
    assert "\n" not in str(done.exception)


@pytest.mark.parametrize(
    "given",
    [
        [],
        [" "],
        ["What?", "--replay", "x.json"],
        ["What?", "--context", "keep-7"],
        ["What?", "--calling", "loudly"],
        ["--replay", "none.json"],
    ],
)
def test_what_makes_no_sense_is_one_line(lake: Path, given: list[str]) -> None:
    done = asked(lake, *given)
    assert done.exit_code == 1
    assert isinstance(done.exception, ScholarLakeError)
    assert "\n" not in str(done.exception)
    assert not (lake / "trajectories").exists()


def test_calls_are_done_again_by_hand(lake: Path, tmp_path: Path) -> None:
    asked(lake, "What is it?", "--save", str(tmp_path / "run.json"))
    same = CliRunner().invoke(app, ["ask", "--replay", str(tmp_path / "run.json"), "--lake", str(lake)])
    assert (same.exit_code, same.stdout.strip()) == (0, "2 calls done again on r0001: the same")
    changed = json.loads((tmp_path / "run.json").read_text())
    changed["rounds"][0]["observation"] = changed["rounds"][0]["observation"].replace("Deep", "Shallow")
    (tmp_path / "run.json").write_text(json.dumps(changed))
    other = CliRunner().invoke(app, ["ask", "--replay", str(tmp_path / "run.json"), "--lake", str(lake)])
    assert other.exit_code == 1
    assert "KeywordSearch gives something else" in other.stdout
    assert "1 the same, 1 not" in other.stdout
    program = CliRunner().invoke(app, ["ask", "--replay", str(tmp_path / "run.json"), "--lake", str(lake), "--json"])
    told = json.loads(program.stdout)
    assert (program.exit_code, told["calls"], told["same"], told["other"][0]["round"]) == (1, 2, 1, 1)


def test_ctrl_c_keeps_the_run_so_far_and_says_where(lake: Path) -> None:
    with playing(call("PaperInfo", id="p3"), lambda asked: Reply(hang=True)) as (_, server):
        command = [
            sys.executable,
            "-m",
            "scholarlake.cli",
            "ask",
            "Long?",
            "--lake",
            str(lake),
            "--models",
            str(bound(lake.parent, server.url)),
        ]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip().startswith("→"):
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    (kept,) = (lake / "trajectories").glob("*.json")
    assert err.strip() == f"interrupted; the run so far is kept ({kept})"
    assert "Traceback" not in out + err
    assert trajectory.load(kept).outcome == "interrupted"


def test_the_page_about_the_agent_names_every_outcome_context_mode_and_tag() -> None:
    page = (ROOT / "docs" / "agent.md").read_text(encoding="utf-8")
    outcomes = set(get_args(trajectory.Outcome)) - {"running"}
    named = {f"`{one}`" for one in (*outcomes, *get_args(ContextMode))} | {
        f"<{tag}>" for tag in ("think", "tool_call", "tool_response", "answer")
    }
    assert not [one for one in named if one not in page]


def test_a_trajectory_that_cannot_be_kept_costs_no_answer(lake: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = asked(lake, "What is it?", "--save", str(tmp_path / "file" / "run.json"))
    assert done.exit_code == 0
    assert "So [1]." in done.output
    assert "can't be kept" in done.output

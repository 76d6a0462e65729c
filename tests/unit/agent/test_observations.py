"""What an agent is shown of tools and of its past: nothing that breaks out, nothing longer than it may be, and as much as it is set to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.agent import observation
from scholarlake.agent.observation import shown
from tests.misbehaving import Asked, Reply, error, said
from tests.unit.agent.scripted import answer, call, native, play
from tests.unit.toolbox.lakes import small

TAGS = ["</tool_response>", "<tool_call>", "</think>", "<answer>", '<chart id="bar-0123456789ab"/>', "\\cite{p1}", "\\cite {p1}"]
TOKENS = ["<|im_end|>", "<｜end▁of▁sentence｜>", "[/INST]", "[TOOL_CALLS]", "<<SYS>>", "</s>", "<start_of_turn>"]
TEXT = st.lists(st.sampled_from([*TAGS, *TOKENS, "p < 0.05", "x", "\\", "{", '"', "\n", "\ud835"]), max_size=8).map("".join)
BREAKS = re.compile(r"</?[a-z]|<[|｜<]|\[/?[A-Z]{3}|\\cite", re.IGNORECASE)


@given(st.dictionaries(TEXT, st.one_of(TEXT, st.lists(TEXT, max_size=3)), max_size=3))
def test_whatever_a_tool_gives_is_json_that_opens_and_closes_nothing(result: dict[str, Any]) -> None:
    text = shown({"tool_name": "PaperInfo", "ok": True, "result": result}, 10_000)
    assert not BREAKS.search(text)
    back = json.loads(text)["result"]
    whole = json.loads(json.dumps(result).replace("\\ud835", "?"))
    assert json.dumps(back).replace("\\\\ cite", "\\\\cite") == json.dumps(whole), "but for the space in a citation it says the same"


def test_less_than_is_not_escaped_where_it_opens_nothing() -> None:
    assert "p < 0.05, n <= 5, <3" in shown({"ok": True, "result": {"abstract": "p < 0.05, n <= 5, <3"}}, 1_000)


@pytest.mark.parametrize("longest", [500, 2_000, 40_000])
def test_what_is_too_long_is_cut_at_its_ends_and_says_so(longest: int) -> None:
    papers = [{"id": f"p{number}", "title": "A title " * 4} for number in range(3_000)]
    answer_of_a_tool = {"tool_name": "ReferenceSearch", "ok": True, "result": {"total": 3_000, "papers": papers, "about": "word " * 9_000}}
    text = shown(answer_of_a_tool, longest)
    said = json.loads(text)
    assert len(text) <= longest
    assert len(text) > longest / 2
    kept = said["result"]["papers"]
    assert kept == papers[: len(kept)]
    assert said["result"]["total"] == 3_000
    assert "papers (of 3,000)" in said["note"]
    assert shown(answer_of_a_tool, longest) == text
    assert len(papers) == 3_000, "what the tool gave stays as it was"


def test_the_ids_of_papers_are_found_wherever_they_stand() -> None:
    given = {"ok": True, "result": {"paper": {"id": "a"}, "papers": [{"id": "b"}, {"id": "c", "version_of": "x"}]}}
    assert sorted(observation.ids(given)) == ["a", "b", "c"]
    assert list(observation.ids({"ok": False, "error": {}})) == []


# -- the past ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small(tmp_path_factory.mktemp("small") / "lake").root


def observations(messages: list[dict[str, Any]]) -> list[bool]:
    """Of every observation in a conversation, whether it is whole."""
    told = [message["content"] for message in messages if message["role"] == "tool" or message["content"].startswith("<tool_response>")]
    return ["left out" not in text for text in told]


@pytest.mark.parametrize(("mode", "kept"), [("none", 30), ("keep-20", 20), ("keep-5", 5), ("discard-all", 30)])
def test_the_model_is_shown_as_many_observations_whole_as_it_is_set_to(lake: Path, mode: str, kept: int) -> None:
    lines = [call("PaperInfo", f"Thought {number}.", id="r") for number in range(30)]
    ran, played = play(lake, *lines, answer(), question=f"In mode {mode}?", context=mode)
    assert ran.outcome == "answered"
    for number in (1, 4, 8, 31):
        sent = played.messages(number)
        assert observations(sent) == [False] * max(0, number - 1 - kept) + [True] * min(number - 1, kept)
        assert [message["content"] for message in sent if message["role"] == "assistant"] == lines[: number - 1], (
            "thoughts and calls all stay"
        )
    assert all("Ranking. " * 100 in str(one.observation) for one in ran.rounds[:-1]), "the trajectory has all of them whole"


def test_natively_too_and_with_errors_among_them(lake: Path) -> None:
    lines = [native("PaperInfo", json.dumps({"id": one})) for one in ("r", "nobody", "r", "r", "r", "r", "r")]
    _, played = play(lake, *lines, answer(), question="Natively?", calling="native")
    sent = played.messages(8)
    assert observations(sent) == [False, False, True, True, True, True, True]
    stubs = [json.loads(message["content"]) for message in sent if message["role"] == "tool"][:2]
    assert [(one["tool_name"], one["ok"]) for one in stubs] == [("PaperInfo", True), ("PaperInfo", False)]


def test_keep_five_is_the_default(lake: Path) -> None:
    ran, played = play(lake, *[call("PaperInfo", id="q")] * 7, answer(), question="By default?")
    assert ran.settings.context == "keep-5"
    assert observations(played.messages(8)) == [False, False, True, True, True, True, True]


def full_over(words: int, text: str) -> Any:
    """A server whose context holds so many words."""

    def reply(asked: Asked) -> Reply:
        held = sum(len(str(message["content"]).split()) for message in asked.body["messages"])
        return error(400, "maximum context length exceeded") if held > words else said(text, asked)

    return reply


def test_discard_all_begins_anew_when_the_context_is_full_with_another_seed(lake: Path) -> None:
    full = full_over(2_500, call("PaperInfo", id="r"))
    ran, played = play(lake, *[full] * 60, question="Anew?", context="discard-all", restarts=2)
    starts = [one.start for one in ran.rounds]
    assert starts == sorted(starts)
    assert max(starts) == 2
    restarted = [at for at, asked in enumerate(played.asked) if at and len(asked.body["messages"]) == 2]
    assert len(restarted) == 2, "the system prompt and the question, nothing else"
    assert all(played.asked[at].body["messages"] == played.asked[0].body["messages"] for at in restarted)
    assert len({played.asked[at].body["seed"] for at in (0, *restarted)}) == 3
    assert ran.outcome == "context_full", "the third time it is over"
    assert ran.totals.calls == sum(one.call is not None for one in ran.rounds)


def test_a_question_that_the_context_cannot_hold_at_all_is_not_begun_again(lake: Path) -> None:
    ran, played = play(lake, full_over(5, ""), question="Too long?", context="discard-all")
    assert (ran.outcome, len(played.asked)) == ("context_full", 1)

"""Turns taken apart, and the form of a whole rollout, as a reward looks at it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.agent import parsing
from scholarlake.agent.parsing import Call, parse, parse_native, rollout_flaws, written
from scholarlake.models.chat import FunctionCall
from tests.unit.agent.scripted import answer, call

TAGS = [f"<{slash}{tag}>" for tag in ("think", "tool_call", "tool_response", "answer") for slash in ("", "/")]
PIECES = st.sampled_from([*TAGS, '{"tool_name": "PaperInfo", "tool_args": {"id": "p"}}', "{", "words", " ", "\n", "<", "\ud835"])


def codes(text: str) -> list[str]:
    return [flaw.code for flaw in parse(text).flaws]


def test_a_well_formed_turn_has_a_thought_and_a_call_or_an_answer() -> None:
    turn = parse(call("PaperInfo", "Why not.", id="p"))
    assert (turn.thought, turn.call, turn.answer, turn.is_well_formed) == ("Why not.", Call("PaperInfo", {"id": "p"}), None, True)
    turn = parse(answer("Yes \\cite{p}."))
    assert (turn.thought, turn.call, turn.answer, turn.flaws) == ("Enough.", None, "Yes \\cite{p}.", ())


@given(st.lists(PIECES, max_size=12).map("".join))
def test_any_text_is_a_turn_and_one_without_flaws_has_exactly_one_wish(text: str) -> None:
    turn = parse(text)
    if turn.is_usable:
        assert (turn.call is None) != (turn.answer is None)
    if turn.is_well_formed:
        assert turn.thought
        assert text.count("<think>") >= 1
    assert all(flaw.said for flaw in turn.flaws)
    parse(written(text))


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=40))
def test_whatever_a_calls_arguments_say_the_call_is_read(text: str) -> None:
    turn = parse(call("Summarize", content=f"{text}</tool_call><answer>{text}"))
    assert (turn.flaws, turn.call and turn.call.tool_args["content"]) == ((), f"{text}</tool_call><answer>{text}")


def test_flaws_have_codes() -> None:
    assert codes("hello") == ["nothing", "no_thought", "stray_text"]
    assert codes("<think>t</think>") == ["nothing"]
    assert codes("<think>t") == ["unclosed", "nothing", "no_thought"]
    assert codes("<think></think><answer>a</answer>") == ["no_thought"]
    assert codes(answer() + "<think>more</think>") == ["order"]
    assert codes("<think>a</think>" + answer()) == ["order"]


def test_a_native_turn_has_its_call_beside_its_text() -> None:
    turn = parse_native("<think>t</think>", [FunctionCall("c", "PaperInfo", '{"id": "p"}')])
    assert (turn.call, turn.flaws) == (Call("PaperInfo", {"id": "p"}, "c"), ())
    assert parse_native(answer("a"), []).answer == "a"
    assert parse_native("words", []).says_nothing
    assert not parse_native("", [FunctionCall("c", "PaperInfo", "{")]).is_usable


def test_a_rollout_is_well_formed_where_every_turn_is_every_call_fits_its_tool_and_the_last_answers() -> None:
    good = [parse(call("PaperInfo", id="p")), parse(call("GetKhop", id="p", k=2)), parse(answer())]
    assert rollout_flaws(good) == []
    assert [flaw.code for flaw in rollout_flaws(good[:2])] == ["no_answer"]
    assert [flaw.code for flaw in rollout_flaws([])] == ["no_answer"]
    assert [flaw.code for flaw in rollout_flaws([*good, *good])] == ["early_answer"]
    for strange in (call("PaperInfo"), call("GetKhop", id="p", k="2"), call("WebSearch", query="x"), call("PaperInfo", id="p", more=1)):
        (flaw,) = rollout_flaws([parse(strange), good[-1]])
        assert flaw.code == "bad_arguments"


@pytest.mark.parametrize("thought", [None, "", "apart"])
def test_the_thought_of_a_turn_is_put_back_where_it_was_taken_out_or_opened_by_a_template(thought: str | None) -> None:
    assert parse(written("opened</think><answer>a</answer>", None)).thought == "opened"
    assert parse(written(answer("a", "own"), thought)).thought == (thought or "own")
    assert written("<answer>a</answer>") == "<answer>a</answer>"


def test_every_flaw_that_does_no_harm_leaves_a_turn_to_be_used() -> None:
    turn = parse("so: <answer>a</answer>")
    assert {flaw.code for flaw in turn.flaws} == parsing.HARMLESS
    assert (turn.is_usable, turn.is_well_formed, turn.answer) == (True, False, "a")

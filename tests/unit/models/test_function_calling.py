"""Requests whose whole message counts: functions that a model may call, its calls, and a thought that a server tells apart."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from scholarlake.models.chat import Call, Fault, FunctionCall, Message, Sampling, cache_key
from scholarlake.models.config import ChatEndpoint
from scholarlake.models.openai_chat import reply_of, spoken
from scholarlake.models.vllm_chat import VllmChat
from tests.misbehaving import Asked, Reply, said, serving
from tests.unit.models.asking import model, request, results

FUNCTIONS = ({"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}},)
CALLS = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": '}}]


def calling(asked: Asked) -> Reply:
    return said(None, asked, "tool_calls", tool_calls=CALLS, reasoning_content="I should look.")


def test_calls_and_thoughts_come_back_and_are_kept(tmp_path: Path) -> None:
    with serving(calling) as server, model(server.url, tmp_path) as asked:
        (first,) = results(asked, [request("a paper", functions=FUNCTIONS)])
        (again,) = results(asked, [request("a paper", functions=FUNCTIONS)])
    assert (server.number, first.cached, again.cached) == (1, False, True)
    for one in (first, again):
        assert (one.failure, one.text, one.thought, one.calls) == (None, "", "I should look.", (FunctionCall("c1", "look", '{"at": '),))
    assert server.seen[0].body["tools"] == list(FUNCTIONS)


def test_without_functions_none_are_offered_but_the_thought_is_kept(tmp_path: Path) -> None:
    with serving(lambda asked: said("text", asked, reasoning="why")) as server, model(server.url, tmp_path) as asked:
        (whole,) = results(asked, [request("a paper", functions=())])
        (text,) = results(asked, [request("a paper")])
    assert "tools" not in server.seen[0].body
    assert (whole.text, whole.thought, text.text, text.thought) == ("text", "why", "text", None)
    assert server.number == 2, "what is kept of one is not what the other asks for"


def test_a_call_where_none_was_offered_is_no_answer(tmp_path: Path) -> None:
    with serving(calling) as server, model(server.url, tmp_path) as asked:
        (result,) = results(asked, [request("a paper")])
    assert result.failure is not None
    assert (result.failure.kind, server.number) == ("invalid", 1), "and no JSON is asked for where there is no schema"


def test_what_was_asked_before_there_were_functions_is_still_found() -> None:
    messages = (Message("system", "You read papers."), Message("user", "a paper"))
    plain = Call(messages, None, Sampling.model_validate({"seed": 1}))
    assert cache_key({"model": "m"}, plain).hex() == "6a2b030befec3d2c6cb09727a7240ef7"
    keys = {
        cache_key({"model": "m"}, one)
        for one in (
            plain,
            Call(messages, None, plain.sampling, ()),
            Call(messages, None, plain.sampling, FUNCTIONS),
            Call((*messages, Message("assistant", "", (FunctionCall("c", "look", "{}"),))), None, plain.sampling),
            Call((*messages, Message("assistant", "", (FunctionCall("c", "look", '{"at": 1}'),))), None, plain.sampling),
            Call((*messages, Message("tool", "", answers="c")), None, plain.sampling),
        )
    }
    assert len(keys) == 6


def test_an_engine_in_process_says_that_it_calls_no_functions(tmp_path: Path) -> None:
    described = ChatEndpoint.model_validate({"backend": "vllm", "model": "m"})
    call = Call((Message("user", "a paper"),), None, Sampling.model_validate({}), FUNCTIONS)
    fault = asyncio.run(VllmChat(described, "here", tmp_path).ask(call))
    assert isinstance(fault, Fault)
    assert (fault.trouble, "calls written in tags" in fault.reason) == ("rejected", True)


def test_calls_and_their_results_are_sent_as_the_protocol_has_them() -> None:
    assert spoken((Message("assistant", "so", (FunctionCall("c1", "look", "{}"),)), Message("tool", "seen", answers="c1"))) == [
        {
            "role": "assistant",
            "content": "so",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "seen", "tool_call_id": "c1"},
    ]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ({"name": "f", "arguments": {"a": 1}}, '{"a":1}'),
        ({"name": "f", "arguments": None}, "{}"),
        ({"name": "f"}, "{}"),
        ({"name": "f", "arguments": "x"}, "x"),
    ],
)
def test_arguments_are_text_whatever_a_server_makes_of_them(function: dict[str, Any], arguments: str) -> None:
    reply = reply_of({"choices": [{"message": {"content": None, "tool_calls": [{"function": function}]}, "finish_reason": "tool_calls"}]})
    assert (reply.finish, reply.calls) == ("stop", (FunctionCall("", "f", arguments),))  # type: ignore[union-attr]


@pytest.mark.parametrize("calls", [[None], [{}], [{"function": {}}], ["f"], 5, [{"function": "f"}]])
def test_calls_of_another_shape_are_a_fault(calls: Any) -> None:
    reply = reply_of(json.loads(json.dumps({"choices": [{"message": {"content": None, "tool_calls": calls}}]})))
    assert "no chat completion" in reply.reason  # type: ignore[union-attr]

"""What every back end does alike, whatever model is behind it. A test module imports these and has a fixture `back_end`.

The same claims hold for the misbehaving server and the stand-ins, always, and for the real engines, by `make test-engines`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from scholarlake.errors import ModelError
from scholarlake.lake.home import Lake
from scholarlake.models.answers import embed_each
from scholarlake.models.chat import ChatRequest, ChatResult, Message, Sampling, Tags
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.config import ModelsFile
from scholarlake.models.crew import Crew

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["finding", "method", "dataset"]},
        "words": {"type": "string", "maxLength": 24},
        "count": {"type": "integer", "minimum": 0, "maximum": 9},
    },
    "required": ["kind", "words", "count"],
}
LONGEST = 96  # characters of an answer to it, at most
BLANKS: dict[str, Any] = {"type": "object", "properties": {"words": {"type": "string", "pattern": "^( {80}){66}$"}}, "required": ["words"]}
"""What has a real model write white space, however good it is: in 80 tokens, of which some are 64 blanks, more than 64 and not all of it.
The others are told by the prompt.
"""


@dataclass(frozen=True)
class BackEnd:
    """An endpoint as the models file describes it. words: how many of them no prompt can hold."""

    endpoint: dict[str, Any]
    folder: Path
    words: int

    @contextmanager
    def model(self, lake: Lake, **changes: Any) -> Iterator[ChatModel]:
        described = {**self.endpoint, "concurrency": 4, **changes}
        models = ModelsFile.model_validate({"roles": {"extractor": "here"}, "endpoints": {"here": described}, "folder": self.folder})
        with Crew(models, lake, Tags("facts", "00", "run")) as crew:
            asked = crew.chat("extractor")
            assert asked is not None
            yield asked


def ask(text: str, **more: Any) -> ChatRequest:
    return ChatRequest((Message("system", "Answer in one short sentence."), Message("user", text)), **more)


def all_of(asked: ChatModel, requests: list[ChatRequest]) -> list[ChatResult]:
    return sorted(asked.ask(requests), key=lambda result: result.position)


def short(**more: Any) -> Sampling:
    return Sampling(max_tokens=more.pop("max_tokens", 12), **more)


def test_every_request_is_answered_once_counted_and_kept(back_end: BackEnd, tmp_path: Path) -> None:
    lake = Lake.create(tmp_path, 1)
    texts = [f"Graph number {i} has how many nodes?" for i in range(12)]
    with back_end.model(lake, max_output_tokens=64) as asked:
        found = all_of(asked, [ask(text, sampling=short(max_tokens=64, stop=("\n",))) for text in texts])
        again = all_of(asked, [ask(text, sampling=short(max_tokens=64, stop=("\n",))) for text in texts])
        facts = asked.tally.facts()
        (line,) = asked._ledger.costs(["asset", "partition", "run", "role"])
    assert [one.position for one in found] == list(range(12))
    answered = [one for one in found if one.failure is None]
    assert all(one.failure is None or one.failure.kind in ("truncated", "invalid") for one in found)
    assert all(one.spent.tokens_in > 5 and one.spent.tokens_out > 0 and one.spent.seconds > 0 for one in found)
    assert [one.text for one in again if one.cached] == [one.text for one in answered]
    assert facts["cache_hits"] == len(answered) == line.hits
    assert line.requests == facts["requests"] >= 12
    assert line.tokens_in == facts["tokens_in"]
    assert line.group == {"asset": "facts", "partition": "00", "run": "run", "role": "extractor"}


def test_a_bounded_schema_with_room_for_its_longest_answer_is_always_met(back_end: BackEnd, tmp_path: Path) -> None:
    lake = Lake.create(tmp_path, 1)
    with back_end.model(lake) as asked:
        found = all_of(asked, [ask(f"What does paper {i} find?", schema=SCHEMA, sampling=short(max_tokens=LONGEST)) for i in range(8)])
    assert [one.failure for one in found] == [None] * 8
    for one in found:
        assert set(one.value) == {"kind", "words", "count"}
        assert one.value["kind"] in SCHEMA["properties"]["kind"]["enum"]
        assert len(one.value["words"]) <= 24


def test_an_answer_that_needs_more_room_than_it_was_given_gets_all_that_its_schema_can_take(back_end: BackEnd, tmp_path: Path) -> None:
    lake = Lake.create(tmp_path, 1)
    with back_end.model(lake) as asked:
        found = all_of(asked, [ask(f"What does paper {i} use?", schema=SCHEMA, sampling=short(max_tokens=4)) for i in range(4)])
    assert [(one.failure, one.spent.requests) for one in found] == [(None, 2)] * 4
    assert all(set(one.value) == {"kind", "words", "count"} for one in found)


def test_an_answer_without_room_is_truncated_and_not_kept(back_end: BackEnd, tmp_path: Path) -> None:
    lake = Lake.create(tmp_path, 1)
    request = ask("Say everything about graphs that you know.", sampling=short(max_tokens=2))
    with back_end.model(lake, max_output_tokens=3) as asked:
        first = all_of(asked, [request])
        second = all_of(asked, [request])
    for (one,) in (first, second):
        assert one.failure is not None
        assert one.failure.kind == "truncated"
        assert one.spent.requests == 2
        assert one.text is None


def test_white_space_without_end_is_no_answer_that_needs_more_room(back_end: BackEnd, tmp_path: Path) -> None:
    lake = Lake.create(tmp_path, 1)
    with back_end.model(lake) as asked:
        (one,) = all_of(asked, [ask("Say nothing. [[blanks]]", schema=BLANKS, sampling=short(max_tokens=80))])
    assert one.failure is not None
    assert (one.failure.kind, one.failure.reason) == ("invalid", "it ends in white space without end")
    assert one.spent.requests == 2
    assert one.spent.tokens_out <= 2 * 80  # no more room was given


def test_a_control_character_in_a_bounded_string_is_no_part_of_an_answer(back_end: BackEnd, tmp_path: Path) -> None:
    """Engines let them pass, raw or escaped; here one is asked for."""
    lake = Lake.create(tmp_path, 1)
    schema = {"type": "object", "properties": {"words": {"const": "a\u0007b"}}, "required": ["words"]}
    with back_end.model(lake) as asked:
        (one,) = all_of(asked, [ask("Say it.", schema=schema, sampling=short(max_tokens=LONGEST))])
    assert one.failure is not None
    assert (one.failure.kind, one.value, one.spent.requests) == ("invalid", None, 2)
    assert "ontrol character" in one.failure.reason


def test_a_schema_whose_longest_answer_finds_no_room_is_refused_before_anything_is_sent(back_end: BackEnd, tmp_path: Path) -> None:
    lake = Lake.create(tmp_path, 1)
    room = short(max_tokens=LONGEST // 2)
    with back_end.model(lake, max_output_tokens=LONGEST - 40) as asked:
        with pytest.raises(ModelError, match="longest answer that the schema allows") as raised:
            all_of(asked, [ask("What does the paper find?", schema=SCHEMA, sampling=room)])
        assert asked.tally.facts()["requests"] == 0
    assert "\n" not in str(raised.value)


def test_what_chats_does_not_embed_and_says_so(back_end: BackEnd) -> None:
    """Vectors come from a server of their own."""
    with pytest.raises(ValidationError, match="which chats"):
        ModelsFile.model_validate({"roles": {"embedder": "here"}, "endpoints": {"here": back_end.endpoint}, "folder": back_end.folder})
    if address := back_end.endpoint.get("base_url"):
        embeds = {"backend": "openai", "model": back_end.endpoint["model"], "base_url": address, "dimension": 8, "attempts": 1}
        models = ModelsFile.model_validate({"roles": {"embedder": "here"}, "endpoints": {"here": embeds}})
        with pytest.raises(ModelError) as raised:
            list(embed_each(models.embedder(), ["a text"]))
        assert "\n" not in str(raised.value)


def test_a_prompt_that_is_too_long_costs_itself_only(back_end: BackEnd, tmp_path: Path) -> None:
    lake = Lake.create(tmp_path, 1)
    requests = [ask("a short one", sampling=short()), ask("word " * back_end.words, sampling=short()), ask("one more", sampling=short())]
    with back_end.model(lake, max_output_tokens=12) as asked:
        found = all_of(asked, requests)
    assert found[1].failure is not None
    assert (found[1].failure.kind, found[1].failure.reason) == ("permanent", "too_long")
    assert all(one.failure is None or one.failure.kind == "truncated" for one in (found[0], found[2]))


def test_a_caller_who_has_enough_can_stop_and_ask_again(back_end: BackEnd, tmp_path: Path) -> None:
    lake = Lake.create(tmp_path, 1)
    requests = [ask(f"Name graph {i}.", schema=SCHEMA, sampling=short(max_tokens=LONGEST)) for i in range(10)]
    with back_end.model(lake) as asked:
        stream = asked.ask(requests)
        seen = next(stream)
        stream.close()
        found = all_of(asked, requests)
    assert found[seen.position].cached
    assert [one.failure for one in found] == [None] * 10

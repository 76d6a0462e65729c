"""What every back end does alike, whatever model is behind it. A test module imports these and has a fixture `back_end`.

The same claims hold for the misbehaving server and the stand-ins, always, and for the real engines, by `make test-engines`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scholarlake.lake.home import Lake
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

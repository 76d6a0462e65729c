"""Whatever is sent, a toolbox answers: a result that has something in it, or an error that says what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scholarlake
from scholarlake.toolbox import faults
from scholarlake.toolbox.dispatch import TOOLS, Toolbox
from tests.unit.toolbox.lakes import SMALL, small

NAMES = sorted({name for tool in TOOLS.values() for name in tool.takes.model_fields} | {"labels", "values", "datasets", "points", "more"})
WORDS = st.sampled_from([*(one["paper_id"] for one in SMALL), *(one["title"] for one in SMALL), "learning", "both", "", "\ud835"])
NUMBERS = st.one_of(st.integers(-3, 9), st.integers(), st.floats())
LEAVES = st.one_of(st.none(), st.booleans(), NUMBERS, WORDS, st.text(max_size=30))
JSON = st.recursive(
    LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)), max_leaves=12
)
ARGUMENTS = st.one_of(st.dictionaries(st.sampled_from(NAMES), JSON, max_size=5), JSON)
CLOSE = st.fixed_dictionaries(
    {},
    optional={
        "id": WORDS,
        "title": WORDS,
        "k": st.integers(0, 6),
        "direction": WORDS,
        "query": WORDS,
        "keywords": st.lists(WORDS, max_size=3),
        "content": st.text(max_size=200),
        "start_id": WORDS,
        "end_id": WORDS,
        "max_depth": st.integers(0, 6),
        "x_label": WORDS,
        "y_label": WORDS,
    },
)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolbox]:
    with scholarlake.open(small(tmp_path_factory.mktemp("small")).root) as reader:
        yield reader.toolbox()


def check(name: str, answer: dict[str, Any]) -> None:
    assert json.loads(orjson.dumps(answer)) == answer
    if answer["ok"]:
        jsonschema.validate(answer["result"], TOOLS[name].results)
        assert answer["result"].get("papers", ["something"])
    else:
        assert answer["error"]["code"] in set(faults.CODES) - {"internal", "release_unusable"}, answer
        assert answer["error"]["message"]
        assert answer["error"]["advice"]


@settings(max_examples=300)
@given(name=st.sampled_from(sorted(TOOLS)), arguments=ARGUMENTS)
def test_any_arguments_are_answered(tools: Toolbox, name: str, arguments: Any) -> None:
    check(name, tools.call({"tool_name": name, "tool_args": arguments}))


@settings(max_examples=300)
@given(name=st.sampled_from(sorted(TOOLS)), arguments=CLOSE)
def test_arguments_that_nearly_fit_are_answered(tools: Toolbox, name: str, arguments: dict[str, Any]) -> None:
    known = TOOLS[name].takes.model_fields
    check(name, tools.call({"tool_name": name, "tool_args": {key: value for key, value in arguments.items() if key in known}}))


@settings(max_examples=100)
@given(
    payload=st.one_of(
        JSON, st.text(max_size=60), st.binary(max_size=60), st.dictionaries(st.sampled_from(["tool_name", "tool_args", "\ud835"]), JSON)
    )
)
def test_any_payload_is_answered(tools: Toolbox, payload: Any) -> None:
    check(str(payload), tools.call(payload))

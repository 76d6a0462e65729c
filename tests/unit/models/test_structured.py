"""Schemas: closed, and bounded where they can be. What an answer may not be is tried over HTTP, in test_chat_model.py."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.models.structured import Invalid, runs_away, shape_of, strict_json

FACT = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["finding", "dataset"]},
        "statement": {"type": "string", "maxLength": 10},
        "evidence": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 99}, "maxItems": 3},
        "sure": {"type": ["boolean", "null"]},
    },
    "required": ["kind", "evidence"],
}


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def test_every_object_of_a_schema_is_closed_unless_it_says_otherwise() -> None:
    schema = {
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
            "open": {"type": "object", "properties": {}, "additionalProperties": True},
            "either": {"anyOf": [{"$ref": "#/$defs/d"}, {"type": "null"}]},
        },
        "$defs": {"d": {"type": "object", "properties": {"properties": {"type": "string"}}}},
    }
    shape = shape_of(schema)
    assert shape.parse('{"list": [{"a": "x"}], "open": {"b": 1}, "either": {"properties": "y"}}')
    for text in ('{"z": 1}', '{"list": [{"b": 1}]}', '{"either": {"q": 1}}'):
        with pytest.raises(Invalid):
            shape.parse(text)
    assert "additionalProperties" not in schema


def test_a_fault_says_where_it_is() -> None:
    with pytest.raises(Invalid, match=r"^at evidence\[1\]: "):
        shape_of(FACT).parse('{"kind": "finding", "evidence": [1, "2"]}')


def test_bounds_are_those_of_the_shortest_and_the_longest_answer() -> None:
    shape = shape_of(FACT)
    shortest = {"kind": "finding", "evidence": []}
    longest = {"kind": "finding", "statement": "x" * 10, "evidence": [99] * 3, "sure": False}
    assert shape.shortest == len(compact(shortest))
    assert shape.longest == len(compact(longest))


@given(
    st.fixed_dictionaries(
        {"kind": st.sampled_from(["finding", "dataset"]), "evidence": st.lists(st.integers(0, 99), max_size=3)},
        optional={"statement": st.text("abc ", max_size=10), "sure": st.sampled_from([True, False, None])},
    )
)
def test_no_valid_answer_is_outside_the_bounds(value: dict[str, Any]) -> None:
    shape = shape_of(FACT)
    assert shape.parse(compact(value)) == value
    assert shape.longest is not None
    assert shape.shortest <= len(compact(value)) <= shape.longest


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"},
        {"type": "number"},
        {"type": "integer", "minimum": 0},
        {"type": "array", "items": {"type": "null"}},
        {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": True},
        {"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}, "maxItems": 1}}, "$ref": "#/$defs/t"},
        {"anyOf": [{"type": "null"}, {"type": "string"}]},
    ],
)
def test_what_has_no_longest_answer_has_none(schema: dict[str, Any]) -> None:
    assert shape_of(schema).longest is None


def test_a_reference_is_followed_and_leads_nowhere_outside() -> None:
    assert shape_of({"$defs": {"n": {"const": "abc"}}, "$ref": "#/$defs/n"}).longest == 5
    with pytest.raises(Exception, match="Unresolvable"):
        shape_of({"$ref": "http://127.0.0.1:1/schema.json"}).parse("1")


def test_line_ends_and_every_script_are_fine() -> None:
    assert strict_json('["a\\nb\\tc", "\\ud835\\udd38", "深度", "á"]') == ["a\nb\tc", "𝔸", "深度", "á"]


def test_only_white_space_without_end_runs_away() -> None:
    assert runs_away('{"a":' + "\n " * 40)
    assert not runs_away('{"a": "' + "word " * 100)

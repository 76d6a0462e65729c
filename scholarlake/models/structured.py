"""Answers that must fit a JSON schema: what is asked for, and whether what came is just that.

Nothing is repaired: a text that is not one strict JSON value that the schema allows is an error, in words that a model can
be shown. Strict means what RFC 8259 leaves open too: no key twice, no empty key, no number that is none, no control characters.
What does not belong here: asking again (`chat_model.py`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import orjson
from jsonschema import Draft202012Validator, SchemaError, TypeChecker, validators
from referencing import Registry

from scholarlake.errors import ModelError

RUNAWAY = 64
"""Characters of white space in a row at the end of an answer after which a model is taken to write nothing else."""
_SAID = 300  # characters of an error that a model or a person is shown
_UNSOUND = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")  # all but tab and line ends
_CONTAINERS = ("properties", "$defs", "patternProperties", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLES = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_CHARACTERS_A_TOKEN = 16  # no tokenizer does better on JSON
_SCALARS = {"null": (4, 4), "boolean": (4, 5)}  # characters of the shortest and the longest


class Invalid(ValueError):
    """A text that is not what the schema has it be. The message says why, without line breaks."""


class Shape:
    """What an answer must look like. schema: the one asked for, with every object that names its properties closed to others,
    unless it says so itself. shortest, longest: characters of a compact answer; no longest where the schema has no bound.

    A token is at least a character, but for escapes and for scripts that a tokenizer has no words of; so `longest` bounds the
    tokens of plain text. Raises ModelError where the schema is none.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema: dict[str, Any] = _closed(schema)
        try:
            Draft202012Validator.check_schema(self.schema)
        except SchemaError as fault:
            raise ModelError(f"the schema that a request asks for is none: {_short(fault.message)}") from fault
        self.shortest, self.longest = _bounds(self.schema, self.schema, 0)
        self._validator = _STRICT(self.schema, registry=Registry())  # an empty registry: a reference leads nowhere outside

    def no_room(self, max_tokens: int, most: int | None) -> str | None:
        """Why an answer might never be whole, in one line; None where each that the schema allows has room.

        max_tokens: of the first try; most: of the second, after one that was cut off; none where that has no limit.
        """
        if self.shortest > max_tokens * _CHARACTERS_A_TOKEN:
            return (
                f"max_tokens of {max_tokens} can't hold even the shortest answer that the schema allows ({self.shortest} characters); "
                "raise max_tokens"
            )
        room = None if most is None else max(most, max_tokens)
        if room is None or self.longest is None or self.longest <= room:
            return None
        return (
            f"the longest answer that the schema allows can take {self.longest} tokens, and {room} is all it can get; "
            "raise max_output_tokens (and the context of the model), or allow shorter strings and lists"
        )

    def parse(self, text: str) -> Any:
        """The value of an answer. Raises Invalid, with the first thing that is wrong."""
        value = strict_json(text)
        found = next(self._validator.iter_errors(value), None)
        if found is not None:
            where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in found.absolute_path).lstrip(".")
            raise Invalid(f"at {where or 'the top'}: {_short(found.message)}")
        return value


def shape_of(schema: Mapping[str, Any]) -> Shape:
    """The shape of a schema, made once for all requests that ask for it."""
    return _shape_of(orjson.dumps(schema))


@lru_cache(maxsize=256)
def _shape_of(schema: bytes) -> Shape:
    return Shape(orjson.loads(schema))


def strict_json(text: str) -> Any:
    """One JSON value and nothing else. Raises Invalid."""
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number, parse_float=_finite)
    except Invalid:
        raise
    except RecursionError as fault:
        raise Invalid("nested too deeply") from fault
    except ValueError as fault:  # also an integer of more digits than Python reads
        raise Invalid(f"not JSON: {_short(str(fault))}") from fault
    for string in _strings(value):
        if _UNSOUND.search(string):
            raise Invalid(f"a string holds a control character or half a character: {_short(ascii(string))}")
    return value


def runs_away(text: str) -> bool:
    """Whether a cut-off answer was writing nothing but white space when it was cut: more room would not help."""
    return len(text) - len(text.rstrip()) >= RUNAWAY


def _integer(_: TypeChecker, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)  # 1.0 is no integer here


_TYPES = Draft202012Validator.TYPE_CHECKER.redefine("integer", _integer)
_STRICT: Any = validators.extend(Draft202012Validator, type_checker=_TYPES)  # type: ignore[no-untyped-call]


def _closed(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _CONTAINERS and isinstance(value, Mapping):
            made[key] = {name: _closed(entry) for name, entry in value.items()}
        elif key in _LISTS and isinstance(value, list | tuple):
            made[key] = [_closed(entry) for entry in value]
        else:
            made[key] = _closed(value) if key in _SINGLES else value
    if "properties" in made:
        made.setdefault("additionalProperties", False)
    return made


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Invalid(f"key {_short(repr(twice))} stands twice in one object")
    if "" in made:
        raise Invalid("an object has an empty key")
    return made


def _no_number(name: str) -> Any:
    raise Invalid(f"{name} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Invalid(f"{_short(text)} is too large for a number")
    return value


def _strings(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            yield from one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SAID else line[:_SAID] + "…"


# -- how long an answer can get ------------------------------------------------------------------------------------------


def _bounds(schema: Any, root: Mapping[str, Any], depth: int) -> tuple[int, int | None]:
    if not isinstance(schema, Mapping) or depth > 32:  # true, or a schema that refers to itself
        return 1, None
    if "$ref" in schema:
        return _bounds(_resolved(str(schema["$ref"]), root), root, depth + 1)
    if "const" in schema:
        return _of_values([schema["const"]])
    if "enum" in schema:
        return _of_values(schema["enum"])
    for name in ("anyOf", "oneOf"):
        if name in schema:
            return _widest([_bounds(entry, root, depth + 1) for entry in schema[name]])
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return _widest([_bounds({**schema, "type": kind}, root, depth + 1) for kind in kinds])
    if kinds in _SCALARS:
        return _SCALARS[kinds]
    if kinds == "string":
        longest = schema.get("maxLength")
        return 2 + int(schema.get("minLength", 0)), None if longest is None else 2 + int(longest)
    if kinds == "integer":
        ends = [schema.get("minimum"), schema.get("maximum")]
        return 1, None if None in ends else max(len(str(int(end))) for end in ends if end is not None)
    if kinds == "array":
        return _array(schema, root, depth)
    if kinds == "object":
        return _members(schema, root, depth)
    return 1, None


def _array(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> tuple[int, int | None]:
    least, most = _bounds(schema.get("items"), root, depth + 1)
    fewest, longest = int(schema.get("minItems", 0)), schema.get("maxItems")
    shortest = 2 + fewest * least + max(0, fewest - 1)
    if longest == 0:
        return 2, 2
    return shortest, None if longest is None or most is None else 1 + int(longest) * (most + 1)


def _members(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> tuple[int, int | None]:
    members = {name: _bounds(entry, root, depth + 1) for name, entry in schema.get("properties", {}).items()}
    required = [name for name in schema.get("required", ()) if name in members]
    shortest = 2 + sum(len(json.dumps(name)) + 1 + members[name][0] for name in required) + max(0, len(required) - 1)
    longest = 1
    for name, (_, most) in members.items():
        if most is None:
            return shortest, None
        longest += len(json.dumps(name)) + 1 + most + 1
    return shortest, max(2, longest) if schema.get("additionalProperties") is False else None


def _of_values(values: Any) -> tuple[int, int | None]:
    lengths = [len(json.dumps(value, separators=(",", ":"), ensure_ascii=False)) for value in values]
    return min(lengths, default=1), max(lengths, default=1)


def _widest(found: list[tuple[int, int | None]]) -> tuple[int, int | None]:
    most = [longest for _, longest in found]
    return min((least for least, _ in found), default=1), None if None in most or not most else max(one for one in most if one is not None)


def _resolved(reference: str, root: Mapping[str, Any]) -> Any:
    found: Any = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) and step else found
    return found

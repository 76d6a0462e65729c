"""JSON as dumps have it: strict and fast first, then exact and lenient for the lines that need it.

The lenient parser takes NaN and Infinity (read as null), raw tabs in strings, lone surrogates and integers of any
length, and keeps every digit (decimals as Decimal). The fast one turns integers beyond 64 bits into floats.

MongoDB's Extended JSON writes a value as an object that names its type, `{"$numberInt": "2007"}`: it is read as what it wraps.
Source: the specification of MongoDB Extended JSON, version 2.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import orjson

_SURROGATE = re.compile("[\ud800-\udfff]")
_NEAR_THE_END = 4_096  # characters before the end of a text in which what is not whole may have begun
_MOST_DIGITS = 4_000  # Python refuses to convert longer ones; such a number is kept as text


#: What stands in every text that has a value of Extended JSON.
EXTENDED = b'"$'
_WRAPPING = frozenset({"$oid", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$date", "$symbol", "$uuid"})
_NUMBERS = frozenset({"$numberInt", "$numberLong", "$numberDouble", "$numberDecimal"})
_NOT_FINITE = frozenset({"NaN", "Infinity", "-Infinity"})


class NotJson(ValueError):
    """The text is no JSON. `reason` is a reject code, the message what the parser said."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def parse_json(text: str) -> Any:
    """Parse JSON that lies inside a string. Raises NotJson."""
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, RecursionError):
        return parse_leniently(text)


def parse_leniently(text: str) -> Any:
    """Parse with Python's own parser, exactly. Raises NotJson with the reason truncated, not_json or too_deep."""
    try:
        return _LENIENT.decode(text.strip())
    except RecursionError:
        raise NotJson("too_deep", "objects or lists nested too deep") from None
    except json.JSONDecodeError as fault:
        body = text.strip()
        cut = body.startswith("{") and (not body.endswith("}") or fault.pos >= len(body))
        raise NotJson("truncated" if cut else "not_json", f"{fault.msg} at character {fault.pos}") from None


class Attempt(NamedTuple):
    """What reading an object came to. value: the object, None where there is none. stop: where it ends, or where reading failed.

    is_cut: whether it may have failed only because the text ends there. is_deep: whether it is nested too deeply.
    """

    value: dict[str, Any] | None
    stop: int
    is_cut: bool = False
    is_deep: bool = False


def object_at(text: str, place: int) -> Attempt:
    """Read the object that begins at a place of a text."""
    try:
        value, stop = _LENIENT.raw_decode(text, place)
    except RecursionError:
        return Attempt(None, place, is_deep=True)
    except json.JSONDecodeError as fault:
        return Attempt(None, fault.pos, is_cut=fault.msg.startswith("Unterminated") or fault.pos > len(text) - _NEAR_THE_END)
    return Attempt(value if isinstance(value, dict) else None, stop)


def replace_surrogates(value: Any) -> Any:
    """The same value with U+FFFD for every lone surrogate, in keys too: no table can hold one."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [replace_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {replace_surrogates(name): replace_surrogates(item) for name, item in value.items()}
    return value


def unwrap_extended(value: Any) -> Any:
    """The same value with what Extended JSON wraps in place of what wraps it."""
    if isinstance(value, list):
        return [unwrap_extended(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and (name := next(iter(value))) in _WRAPPING:
        inside = unwrap_extended(value[name])
        return _number(inside) if name in _NUMBERS and isinstance(inside, str) else inside
    return {name: unwrap_extended(item) for name, item in value.items()}


def _number(text: str) -> Any:
    """What the parser would have made of the number, had it stood there; a text that is no number of JSON as it is."""
    if text in _NOT_FINITE:
        return None
    try:
        value, stop = _LENIENT.raw_decode(text)
    except json.JSONDecodeError:
        return text
    return value if stop == len(text) and isinstance(value, int | Decimal) and not isinstance(value, bool) else text


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) < _MOST_DIGITS else digits


def _decimal(digits: str) -> Decimal | str:
    try:
        return Decimal(digits)
    except InvalidOperation:  # an exponent of more digits than Decimal takes
        return digits


_LENIENT = json.JSONDecoder(strict=False, parse_constant=lambda _: None, parse_int=_integer, parse_float=_decimal)

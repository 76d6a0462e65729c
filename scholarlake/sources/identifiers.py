"""Identifiers as text, whatever a dump wrote them as, and the reference lists that name them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from scholarlake.sources.text import NULLS_AND_NONE, strip_invisible

_LONGEST_NULL = max(map(len, NULLS_AND_NONE))
_NO_IDS = NULLS_AND_NONE | {""}
_MOST_DIGITS = 400


class InexactNumber(ValueError):
    """The fast parser read a number as a float, which may have cost digits of an id: the line must be parsed exactly."""


def identifier(value: Any) -> str | None:
    """An id as text: 1 and "1" are one. None where there is none.

    Raises InexactNumber for a float: 18446744073709551616 comes as one from the fast parser (Decimal from the exact one).
    """
    if type(value) is str:
        if not value.isprintable():
            value = strip_invisible(value)
        value = value.strip()
        return None if not value or (len(value) <= _LONGEST_NULL and value in NULLS_AND_NONE) else value
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        raise InexactNumber
    if isinstance(value, Decimal):
        whole = value.is_finite() and value.adjusted() < _MOST_DIGITS and value == value.to_integral_value()
        return str(int(value)) if whole else str(value)
    return None


def read_references(value: Any) -> tuple[list[str], bool]:
    """Ids that a reference list names, in order, repeats kept; and whether a part of it had a shape that names none.

    Shapes: `["a"]`, `[1]`, `[{"id": "c"}]`, `"a"`, `{"id": "c"}`, null.
    """
    if type(value) is list:
        try:  # nearly all are lists of clean texts, and join says so fastest
            joined = "".join(value)
        except TypeError:
            return _reference_items(value)
        if " " not in joined and joined.isprintable() and _NO_IDS.isdisjoint(value):
            return value, False
        return _reference_items(value)
    return _reference_items([value])


def _reference_items(items: list[Any]) -> tuple[list[str], bool]:
    found: list[str] = []
    odd = False
    for item in items:
        if isinstance(item, dict):
            given = item.get("id", item.get("_id", item.get("paper_id")))
            name = identifier(given)
            odd = odd or name is None
        else:
            name = identifier(item)
            odd = odd or (name is None and item is not None and not isinstance(item, str))
        if name is not None:
            found.append(name)
    return found, odd

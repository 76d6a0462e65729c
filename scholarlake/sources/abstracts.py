"""Abstracts: plain text, or text laid out as an inverted index, as an object or as JSON inside a string."""

from __future__ import annotations

from typing import Any

from scholarlake.sources.jsontext import NotJson, parse_json
from scholarlake.sources.text import full_text

_INVERTED_FIELDS = ("indexed_abstract", "abstract_inverted_index")
_FIELDS = ("abstract", *_INVERTED_FIELDS)
_MAY_BEGIN_AN_OBJECT = ("{", " ", "")


def read_abstract(record: dict[str, Any]) -> tuple[str | None, bool]:
    """The abstract as plain text, and whether one was given in a shape that says nothing."""
    given = record.get("abstract")
    if type(given) is str and given[:1] not in _MAY_BEGIN_AN_OBJECT and (found := full_text(given)) is not None:
        return found, False
    odd = False
    for name in _FIELDS:
        given = record.get(name)
        if not given:
            continue
        found, strange = _read(given, inverted=name in _INVERTED_FIELDS)
        if found is not None:
            return found, False
        odd = odd or strange
    return None, odd


def _read(given: Any, *, inverted: bool) -> tuple[str | None, bool]:
    if type(given) is str:
        if not (inverted or given.lstrip().startswith("{")):
            return full_text(given), False
        try:
            parsed = parse_json(given)
        except NotJson:
            return full_text(given), False  # a sentence that begins with a brace, or plain text in the wrong field
        if not isinstance(parsed, dict):
            return (full_text(given), False) if isinstance(parsed, str) else (None, parsed is not None)
        given = parsed
    if isinstance(given, dict):
        index = given.get("InvertedIndex", given)
        if not isinstance(index, dict):
            return None, True
        laid_out = from_inverted_index(index)
        return (full_text(laid_out), False) if laid_out else (None, bool(index))
    return full_text(given), not isinstance(given, (str, list))


def from_inverted_index(index: dict[str, Any]) -> str:
    """Lay out `{word: [positions]}` as text. Gaps close up, positions that are no whole numbers from 0 are left out.

    Words are sorted, not placed, so that a position of 10**12 costs no more than one of 12.
    """
    placed: list[tuple[int, str]] = []
    for word, positions in index.items():
        for position in positions if isinstance(positions, list) else (positions,):
            if type(position) is int and position >= 0:
                placed.append((position, word))
    placed.sort()
    return " ".join(word for _, word in placed)

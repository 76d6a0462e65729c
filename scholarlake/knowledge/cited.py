"""Whether a number, with its unit and the sign before it, stands in some sentences.

What does not belong here: what a number in a text is (`numerals`), what a candidate is refused for (`grounding`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

from scholarlake.knowledge.numerals import MEASURE, SET, Numeral, chained, level, numerals

#: Signs of comparison, each with the one that it is read as.
COMPARATORS = {
    **{sign: sign for sign in "<>≤≥=≈±"},
    "<=": "≤",
    "=<": "≤",
    "≦": "≤",
    ">=": "≥",
    "=>": "≥",
    "≧": "≥",
    "~": "≈",
    "+/-": "±",
    "+-": "±",
    "≪": "<",
    "≫": ">",
}
_SIGN_BEFORE = re.compile(r"(<=|>=|=<|=>|\+/-|\+-|[<>≤≥≦≧≪≫=≈~±])[\s$\u2009{]*[+-]?[\s$\u2009]*\Z")
_OF = re.compile(r"\s*of(?:\s+(?:the|these|those|all|our))?\s*\Z", re.IGNORECASE)
_WINDOW = 8  # words within which what is counted follows its number
_IS_WORD = re.compile(r"[a-z]{3}\Z|\A(?:hr|yr|wk)s?\Z")  # what has a plural: "day", not "m", whose would be "ms"
_LEAST_NOUN = 4  # letters of a unit that is taken for a word


class Cited:
    """Sentences that numbers are looked for in. text: all of them."""

    def __init__(self, texts: Iterable[str]) -> None:
        known = list(texts)
        self.text = " ".join(known)
        self._found = [(level(text), tuple(one for one in numerals(text) if one.name is None or not one.name)) for text in known]
        self._values = {value for _, some in self._found for one in some for reading in one.readings for value in reading}
        self._written = {one.written for _, some in self._found for one in some}

    def has(self, one: Numeral, unit: str = "") -> bool:
        """Whether a number of another text stands here, with its unit where one is given."""
        if not one.readings:  # too long or too large to be read as one
            return one.written in self._written
        return any(
            all(value in self._values and (not unit or self._has_with(value, unit)) for value in reading) for reading in one.readings
        )

    def _has_with(self, value: Decimal, unit: str) -> bool:
        return any(_stands_with(text, some, at, unit) for text, some, at in self._places(value))

    def measures(self, one: Numeral) -> bool:
        """Whether the number stands here, and everywhere with a unit of measure."""
        places = [text[some[at].end :] for reading in one.readings[:1] for value in reading[-1:] for text, some, at in self._places(value)]
        return bool(places) and all(MEASURE.match(tail) for tail in places)

    def compares(self, one: Numeral, comparator: str) -> bool:
        """Whether the number stands behind a sign of comparison here."""
        wanted = COMPARATORS[comparator]
        for reading in one.readings:
            for text, some, at in self._places(reading[0]):
                before = _SIGN_BEFORE.search(text, max(0, some[at].start - 8), some[at].start)
                if before and COMPARATORS[before[1]] == wanted:
                    return True
        return False

    def _places(self, value: Decimal) -> Iterator[tuple[str, tuple[Numeral, ...], int]]:
        for text, some in self._found:
            for at, one in enumerate(some):
                if any(value in reading for reading in one.readings):
                    yield text, some, at


def _stands_with(text: str, some: tuple[Numeral, ...], at: int, unit: str) -> bool:
    """Whether a unit stands at a number: behind it, behind one that shares its unit, or, as a currency does, before it."""
    wanted = level(unit)
    if some[at].unit == wanted:
        return True
    spelt = SET.join(re.escape(sign) for sign in re.sub(SET, "", wanted) or wanted)
    if not wanted.islower() and re.search(rf"{spelt}{SET}[+-]?{SET}\Z", text[max(0, some[at].start - 16) : some[at].start]):
        return True
    plural = "(?:s|es)?" if _IS_WORD.search(wanted) else ""
    if plural and wanted.endswith("s"):
        spelt = spelt[:-1] + "s?"
    pattern = re.compile(spelt + plural + (r"(?![^\W\d_])" if wanted[-1:].isalpha() else ""))
    behind = re.compile(rf"{SET}[-.)]?{SET}{pattern.pattern}")
    while True:
        if behind.match(text, some[at].end) or (len(wanted) >= _LEAST_NOUN and wanted[0].isalpha() and _counts(text, some, at, pattern)):
            return True
        if at + 1 >= len(some) or not chained(text, some[at], some[at + 1]):
            return False
        at += 1


def _counts(text: str, some: tuple[Numeral, ...], at: int, noun: re.Pattern[str]) -> bool:
    """Whether a noun follows a number within its clause, as in "37 of the 50 enrolled patients"."""
    end = len(text)
    for one, other in zip(some[at:], some[at + 1 :], strict=False):
        if not _OF.match(text[one.end : other.start]):
            end = other.start
            break
    window = re.split(r"[;:.!?]\s", text[some[at].end : end], maxsplit=1)[0]
    words = re.match(rf"(?:\s*\S+){{0,{_WINDOW}}}", window)
    return words is not None and re.search(rf"(?<![^\W\d_]){noun.pattern}", words[0]) is not None

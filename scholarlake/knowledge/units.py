"""Whether letters behind a number are a unit: pint says, for what people write behind numbers.

What does not belong here: where numbers stand (`quantities`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from scholarlake.knowledge.cues import lexicon

_LETTERS = r"A-Za-zµμΩÅ"
#: The stretch behind a number that may be a unit: mg/kg, m s^-1, km per hour.
STRETCH = re.compile(
    r"\s?(?P<sign>%|percent\b|per cent\b|percentage points?\b|‰)"
    r"|[\s~-]?(?P<degrees>°\s?[CFK]?|º\s?C|degrees?(?:\s(?:Celsius|C|Fahrenheit))?\b)"
    rf"|(?P<space>[\s~-]|\\,|\\;|\\ )?(?P<name>\\?[{_LETTERS}]+(?:\s?[/·.]\s?[{_LETTERS}]+)?(?:\s?\^?\{{?[−-]?\d\}}?|[²³⁻¹]+)?"
    rf"(?:\s?/\s?[{_LETTERS}]+\d?)?(?:\sper\s[A-Za-z]+)?)"
)
_PREFIXES = frozenset(("", "milli", "micro", "nano", "pico", "kilo", "mega", "giga", "tera", "centi", "deci", "femto", "peta"))
_PARTED = re.compile(r"\s?[/·]\s?|\sper\s")
_SHORT = 2  # letters of a word that is none without being in the lexicon


def unit_at(text: str, at: int) -> str | None:
    """The unit that stands there, as written; None where none does."""
    found = STRETCH.match(text, at)
    if found is None:
        return None
    if re.match(r"\s?=", text[found.end() :]):
        return None  # "d=4" follows
    if found["sign"] or found["degrees"]:
        return str(found["sign"] or found["degrees"]).strip()
    name, is_apart = found["name"], bool(found["space"])
    for wanted in (name, re.split(r"[\s/^{]", name)[0]):
        if _is_unit(wanted, is_apart):
            return str(wanted).strip()
    return None


@lru_cache(1 << 14)
def _is_unit(name: str, is_apart: bool) -> bool:
    """Whether a name is a unit where a blank does, or does not, part it from its number."""
    known = lexicon().units
    if name in known.units:
        return True
    if len(name) == 1:
        return name in (known.letters_apart if is_apart else known.letters)
    if name.lower() in known.words or (len(name) <= _SHORT and name.islower()):
        return False
    if _PARTED.search(name):
        return all(_is_unit(part, False) for part in _PARTED.split(name) if part)
    return all(_is_usual(word) for word in re.findall(rf"[{_LETTERS}]+", name))


def _is_usual(word: str) -> bool:
    """Whether pint reads a word as one unit with at most one prefix, and as more than a chance of letters."""
    readings = _registry().parse_unit_name(word.replace("μ", "µ"))
    if not readings:
        return False
    prefix, unit, _ = readings[0]
    if word.islower() and len(word) > 3:  # spelt out: the unit's own name, maybe in the plural; "cats" is no atomic second
        return bool(word.rstrip("s").endswith(unit.rstrip("s")))
    return prefix in _PREFIXES


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry()

"""Year, citation count, venue, keywords and addresses, in the shapes that dumps have them.

Each reader gives the value, or None, and says whether something was given that could not be used.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

from scholarlake.sources.identifiers import identifier
from scholarlake.sources.text import NULLS_AND_NONE, full_text, strip_invisible

MIN_YEAR = 1000
MOST_CITATIONS = (1 << 63) - 1
_YEAR = re.compile(r"[0-9]{1,6}(?:\.0*)?")
_COUNT = re.compile(r"[0-9]{1,18}(?:\.0*)?")
_RAW_CHARACTERS = 200
_LIST_MARKS = (";", "|", ",")


def read_year(value: Any, last_year: int) -> tuple[int | None, str | None, bool]:
    """Year, the value as given where it is not the same number, and whether it is unusable.

    Usable: a whole number from 1000 to last_year, also as text ("2007", "2007.0"). 0, 9999 and "c. 1990" are not.
    """
    if value is None:
        return None, None, False
    if type(value) is int and MIN_YEAR <= value <= last_year:
        return value, None, False
    year = _whole(value, _YEAR)
    if year is not None and MIN_YEAR <= year <= last_year:
        return year, None, False
    if isinstance(value, float) and not math.isfinite(value):
        return None, None, False
    raw = strip_invisible(str(value))[:_RAW_CHARACTERS]
    if not raw.strip() or raw.strip() in NULLS_AND_NONE:
        return None, None, False
    return None, raw, True


def read_count(value: Any) -> tuple[int | None, bool]:
    """A count from 0, also as text, and whether one was given that is none."""
    if type(value) is int and 0 <= value <= MOST_CITATIONS:
        return value, False
    if value is None or (isinstance(value, str) and (not value.strip() or value.strip() in NULLS_AND_NONE)):
        return None, False
    count = _whole(value, _COUNT)
    return (count, False) if count is not None and 0 <= count <= MOST_CITATIONS else (None, True)


def _whole(value: Any, pattern: re.Pattern[str]) -> int | None:
    """A whole number out of a number or its text; True is no number, 2002.7 no whole one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 1e15 else None
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value.adjusted() < 15 and value == value.to_integral_value() else None
    if isinstance(value, str):
        text = value.strip()
        return int(text.partition(".")[0]) if pattern.fullmatch(text) else None
    return None


def read_venue(venue: Any, venue_id: Any) -> tuple[str | None, str | None, bool]:
    """Venue as text, its id, and whether it had a shape that says nothing.

    Shapes: text, `{id, raw}`, `{id, name}`, `{_id, raw, raw_zh}`, null; a `venue_id` beside it wins over the id inside.
    """
    key = None if venue_id is None else identifier(venue_id)
    if venue is None:
        return None, key, False
    if type(venue) is str:
        return full_text(venue), key, False
    if isinstance(venue, list):
        venue = next((item for item in venue if item), None)
        if venue is None or isinstance(venue, str):
            return full_text(venue), key, False
    if not isinstance(venue, dict):
        return full_text(venue), key, isinstance(venue, bool)
    get = venue.get
    name = None
    for field in ("raw", "name", "raw_zh", "DisplayName", "name_d", "title"):
        if (given := get(field)) and (name := full_text(given)):
            break
    if key is None:
        given = get("id")
        given = get("_id") if given is None else given
        key = identifier(given) if given is not None else None
    # DBLP V13 writes {type: 0} where it knows no venue.
    return name, key, name is None and key is None and any(venue.values())


def read_texts(value: Any) -> tuple[list[str], bool]:
    """A list of texts as given, empty ones left out; a lone text is one (addresses)."""
    if not value:
        return [], False
    if type(value) is not list:
        value = [value]
    found: list[str] = []
    odd = False
    for item in value:
        if item is None:
            continue
        said = full_text(item.get("name") if isinstance(item, dict) else item)
        if said is not None:
            found.append(said)
        elif not isinstance(item, str):
            odd = True
    return found, odd


def read_keywords(value: Any) -> tuple[list[str], bool]:
    """Keywords as given; one text is cut at semicolons, bars or else commas."""
    if type(value) is str:
        mark = next((mark for mark in _LIST_MARKS if mark in value), None)
        value = value.split(mark) if mark else [value]
    return read_texts(value)

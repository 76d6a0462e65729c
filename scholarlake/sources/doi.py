"""Digital object identifiers: one spelling for each, or none where the value is no DOI.

Source of the pattern: the DOI Handbook, 2.2 (prefix `10.` and a registrant code of four digits or more, a slash, a suffix).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any
from urllib.parse import unquote

from scholarlake.sources.text import NULLS_AND_NONE, decode_entities, strip_invisible

_PREFIX = re.compile(r"(?:(?:https?:?/{0,2})?(?:www\.|dx\.)*doi\.org[:/]+|info:doi/|urn:doi:|doi[\s:.=]+|hdl:|<)+(?=.*10\.)", re.IGNORECASE)
_VALID = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/[^\s/][^\s]*")
#: A DOI in its one spelling, as nearly all are; in the syntax that Python and RE2 share.
PLAIN_DOI = r"10\.[0-9]{4,9}/[a-z0-9][a-z0-9./_-]*[a-z0-9]"
_PLAIN = re.compile(PLAIN_DOI)
_TRAILING = ".,;:'\"`!?*\u201d\u2019\u3002\uff0c"
_CLOSING = {")": "(", "]": "[", "}": "{"}


def normalise_doi(raw: str) -> str | None:
    """The DOI's one spelling: lower-cased, unquoted, without resolver, `doi:` or trailing punctuation. None where it is none.

    SICI forms with `<>`, `%3C%3E` or `&lt;&gt;` come out alike.
    """
    value = raw
    if "&" in value:
        value = decode_entities(value)
    for _ in range(2):  # %253C occurs
        if "%" not in value:
            break
        value = unquote(value, errors="replace")
    if not value.isascii():
        value = unicodedata.normalize("NFKC", value).replace("\u2010", "-").replace("\u2011", "-")
    value = strip_invisible(value).strip().lower()
    opened = value.startswith("<")
    value = _PREFIX.sub("", value, count=1) if not value.startswith("10.") else value
    value = value.strip()
    if opened:  # <https://doi.org/10…>
        value = value.removesuffix(">")
    value = _without_trailing(value)
    return value if _VALID.fullmatch(value) and "\ufffd" not in value else None


def _without_trailing(value: str) -> str:
    """Drop sentence punctuation and brackets that nothing opened; `10.1016/0010-7824(73)90031-9` keeps its own."""
    while value:
        last = value[-1]
        opening = _CLOSING.get(last)
        if last not in _TRAILING and not (opening and value.count(last) > value.count(opening)):
            break
        value = value[:-1].rstrip()
    return value


def read_doi(value: Any) -> tuple[str | None, str | None, bool]:
    """DOI, the value as given where it differs, and whether something was given that is no DOI."""
    if not value:
        return None, None, False
    if type(value) is str and _PLAIN.fullmatch(value):
        return value, None, False
    if isinstance(value, list):
        found = [read_doi(item) for item in value]
        return next((item for item in found if item[0]), found[0] if found else (None, None, False))
    raw = strip_invisible(value) if isinstance(value, str) else str(value)
    if not raw.strip() or raw.strip() in NULLS_AND_NONE:
        return None, None, False
    doi = normalise_doi(raw)
    given = raw if isinstance(value, str) and raw == value else str(value).replace("\x00", "")
    return doi, None if given == doi else given, doi is None

"""Digital object identifiers: one spelling for each, or none where the value is no DOI.

Source of the pattern: the DOI Handbook, 2.2 (prefix `10.` and a registrant code of four digits or more, a slash, a suffix).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any
from urllib.parse import unquote

from scholarlake.sources.text import NULLS_AND_NONE, decode_entities, strip_invisible

_STEM = r"10\.[0-9]{4,9}(?:\.[0-9]+)*"
_PREFIX = re.compile(
    r"(?:(?:https?:?/{0,2})?(?:www\.|dx\.)*doi\.org[:/]+|info:doi/|urn:doi:|doi(?:\s+n(?:umber|ame|o\.?))?[\s:.=]*+|hdl:|[\[({<\"'\u201c\u2018\s])++(?=10\.)"
)
_VALID = re.compile(rf"{_STEM}/[^\s/]\S*")
#: A DOI in its one spelling, as nearly all are; in the syntax that Python and RE2 share.
PLAIN_DOI = r"10\.[0-9]{4,9}/[a-z0-9](?:/?(?:[a-z0-9._-]|\([a-z0-9.-]+\)))*/?[a-z0-9]"
_PLAIN = re.compile(PLAIN_DOI)
_TRAILING = ".,;:'\"`!?*/\\|\u201d\u2019\u3002\uff0c"
_CLOSING = {")": "(", "]": "[", "}": "{", ">": "<"}
_DASHES = dict.fromkeys((*range(0x2010, 0x2016), 0x2212), "-")
_ROUNDS = 8  # of decoding what is encoded more than once
_LONGEST = 2048  # characters of a DOI as given, with all that may stand around it

# An address with a DOI in it, a publisher's or a resolver's: what stands before the DOI, the query and the page behind it are none of it.
_ADDRESS = re.compile(rf"(?:https?:|www\.).*?(?:[/=:]|%2f|%3a)(?={_STEM}(?:/|%2f))")
_BEHIND = re.compile(r"\?|(?<!;2-)#")  # a SICI may end in ";2-#"
_PAGE = re.compile(
    r"(?:/(?:abs|abstract|citations?|download|e?pdf|pdfdirect|figures|full|full-?text|html|meta|references|summary|tables)|\.(?:x?html?|pdf|xml))+/?$"
)
# Behind the DOI bioRxiv's addresses name a version, and those of Oxford a number of their own.
_LONGER = re.compile(r"(10\.1101/(?:[0-9]{4}\.[0-9]{2}\.[0-9]{2}\.)?[0-9]{6,})v[0-9]+(?:\..*)?|(10\.1093/[^/]+/[^/]+)/[0-9]+/?")
_NEXT = re.compile(rf"[\s;,|]+(?:and\s+)?(?=(?:https?:|doi[\s:.]|{_STEM}/))|(?<=.)(?=https?://)")
_BROKEN = re.compile(r"(10\.)\s*([0-9]{4,9}(?:\.[0-9]+)*)\s*/[\s/]*")
_REMARK = re.compile(r"\s+(?:[\[(<](?=[a-z]{3})(?!sici)|accessed\b|epub\b|pii\b|pmc?id\b|retrieved\b).*", re.DOTALL)


def normalise_doi(raw: str) -> str | None:
    """The DOI's one spelling: lower-cased, unquoted, without resolver, `doi:`, query or trailing punctuation. None where it is none.

    SICI forms with `<>`, `%3C%3E` or `&lt;&gt;` come out alike. Of several DOIs in one field the first is taken.
    """
    if len(raw) > _LONGEST:
        return None
    value = raw
    for _ in range(_ROUNDS):
        given, value = value, _spelt(value)
        if value == given:
            return value if _VALID.fullmatch(value) and "\ufffd" not in value else None
    return None


def _spelt(value: str) -> str:
    """One round of what `normalise_doi` does; a normal DOI stays as it is."""
    if not value.isascii():
        value = unicodedata.normalize("NFKC", value).translate(_DASHES)
    value = strip_invisible(decode_entities(value) if "&" in value else value).strip().lower()
    if found := _ADDRESS.match(value):
        value, is_query = value[found.end() :], "?" in found.group()
        value = (value.partition("&")[0] if is_query else _BEHIND.split(value, maxsplit=1)[0]).rstrip()
    if "%" in value:
        value = unquote(value, errors="replace").lower()
    if found and "doi.org" not in found.group():
        value = _without_page(value)
    if prefix := _PREFIX.match(value):
        value = value[prefix.end() :]
    value = _BROKEN.sub(r"\1\2/", _NEXT.split(value, maxsplit=1)[0], count=1)
    return _without_trailing(_REMARK.sub("", value).partition("</")[0].strip())


def _without_page(value: str) -> str:
    """The DOI in a publisher's address without the name of the page: `/full`, `.pdf`."""
    if found := _LONGER.fullmatch(value):
        return found[1] or found[2]
    shorter = _PAGE.sub("", value)
    return shorter if "/" in shorter else value


def _without_trailing(value: str) -> str:
    """Drop sentence punctuation and brackets that nothing opened; `10.1016/0010-7824(73)90031-9` keeps its own.

    A trailing slash goes too.
    """
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
    if type(value) is str and _PLAIN.fullmatch(lower := value.lower()):
        return lower, None if lower == value else value, False
    if isinstance(value, list):
        found = [read_doi(item) for item in value]
        return next((item for item in found if item[0]), found[0] if found else (None, None, False))
    raw = strip_invisible(value) if isinstance(value, str) else str(value)
    if not raw.strip() or raw.strip() in NULLS_AND_NONE:
        return None, None, False
    doi = normalise_doi(raw)
    given = raw if isinstance(value, str) and raw == value else str(value).replace("\x00", "")
    return doi, None if given == doi else given, doi is None

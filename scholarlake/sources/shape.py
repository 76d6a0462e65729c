"""The usual shape of a paper in dumps v2.1, v3.1 and v3.2, and the lines that have it.

A line that fits is decoded straight into it, several times faster than into dictionaries. One that does not (another type,
another spelling of a field, bad JSON) is left to `record`, which takes every shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, Struct, field

from scholarlake.sources.fields import MIN_YEAR, MOST_CITATIONS
from scholarlake.sources.identifiers import identifier
from scholarlake.sources.text import NULLS_AND_NONE

# The parser of `record` takes 1,024 levels, and a line has at least two brackets a level.
_MOST_OPENED = 1000
_DEEP_BYTES = 2 * _MOST_OPENED
_NO_IDS = NULLS_AND_NONE | {""}


# A field typed None may be absent or null: said otherwise, `record` would take its value, so that the line is not usual.
class Person(Struct, gc=False):
    """An author."""

    id: str | None = None
    name: str | None = None
    org: str | None = None
    org_id: str | None = None
    other_id: None = field(default=None, name="_id")
    name_zh: None = None
    orgs: None = None
    orgid: None = None


class Place(Struct, gc=False):
    """A venue as v2.1 has it."""

    id: str | None = None
    raw: str | None = None
    other_id: None = field(default=None, name="_id")
    name: None = None
    raw_zh: None = None
    display_name: None = field(default=None, name="DisplayName")
    name_d: None = None
    title: None = None


class Paper(Struct, gc=False):
    """A paper. Fields that `record` does not read may be there too."""

    id: str
    title: str
    abstract: str | None = None
    year: Annotated[int, Meta(ge=MIN_YEAR)] | None = None
    doi: str | None = None
    venue: str | Place | None = None
    venue_id: str | None = None
    authors: list[Person] | None = None
    keywords: list[str] | None = None
    lang: str | None = None
    doc_type: str | None = None
    volume: str | None = None
    issue: str | None = None
    page_start: str | None = None
    page_end: str | None = None
    issn: str | None = None
    isbn: str | None = None
    publisher: str | None = None
    pdf: str | None = None
    url: list[str] | None = None
    n_citation: Annotated[int, Meta(ge=0, le=MOST_CITATIONS)] | None = None
    references: list[str] | None = None
    other_id: None = field(default=None, name="_id")
    indexed_abstract: None = None
    abstract_inverted_index: None = None
    page_stat: None = None
    urls: None = None


_decode = msgspec.json.Decoder(Paper).decode


def usual_papers(lines: Sequence[bytes], valid_utf8: bool, last_year: int) -> list[Paper | None]:
    """Each line's paper, or None where the line must be read with care.

    valid_utf8: whether the lines are known to be valid UTF-8, which the decoder looks at only where it makes text.
    """
    papers: list[Paper | None] = []
    rest = iter(lines)
    while True:
        try:
            papers.extend(map(_decode, rest))  # on a fault, what came before it stays, and the line at fault is used up
            break
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            papers.append(None)
    return [
        paper
        if paper is not None
        and ((key := paper.id).isalnum() or identifier(key) == key)
        and ((year := paper.year) is None or year <= last_year)
        and (type(venue := paper.venue) is not Place or (paper.venue_id is None and bool(venue.id or venue.raw)))
        and (len(line) < _DEEP_BYTES or line.count(b"[") + line.count(b"{") < _MOST_OPENED)
        and (valid_utf8 or _is_utf8(line))
        and key not in _NO_IDS
        else None
        for paper, line in zip(papers, lines, strict=True)
    ]


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True

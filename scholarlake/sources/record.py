"""One record of an OAG dump, as v2.1, v3.1 and v3.2 have them: from a JSON object to the fields of `records`.

What does not belong here: bytes, lines and offsets (`lines`), and how a single field is read (its own module).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from scholarlake.sources.abstracts import read_abstract
from scholarlake.sources.authors import AuthorRow, author_keys, read_authors
from scholarlake.sources.doi import read_doi
from scholarlake.sources.fields import read_count, read_keywords, read_texts, read_venue, read_year
from scholarlake.sources.identifiers import identifier, read_references
from scholarlake.sources.text import full_text
from scholarlake.sources.titles import fingerprint, read_title

#: Everything that `flags` of `records` may hold.
FLAGS = (
    "abstract_shape",
    "author_shape",
    "citation_count_unusable",
    "doi_invalid",
    "keyword_shape",
    "lone_surrogate",
    "reference_shape",
    "url_shape",
    "venue_shape",
    "year_unusable",
)

# Fields of the other files of a dump (authors, venues, organisations), which also have ids but are no papers.
_OTHER_ENTITY = ("DisplayName", "NormalizedName", "normalized_name", "n_pubs", "pubs")


# Fields that whole releases lack: one look tells whether a record has any.
_RARER = frozenset({"doc_type", "volume", "issue", "page_start", "page_stat", "page_end", "issn", "isbn", "publisher", "pdf"})
_NOT_PRINTED: tuple[str | None, ...] = (None,) * 9


class RecordRow(NamedTuple):
    """The fields of a record that come from its object, in the order of the contract's columns of the same names."""

    record_id: str
    title: str | None
    abstract: str | None
    year: int | None
    doi: str | None
    venue: str | None
    venue_id: str | None
    authors: list[AuthorRow]
    keywords: list[str]
    lang: str | None
    doc_type: str | None
    volume: str | None
    issue: str | None
    page_start: str | None
    page_end: str | None
    issn: str | None
    isbn: str | None
    publisher: str | None
    pdf: str | None
    urls: list[str]
    n_citation: int | None
    references: list[str]
    title_raw: str | None
    doi_raw: str | None
    year_raw: str | None
    title_fingerprint: str | None
    author_keys: list[int]
    flags: list[str]


_new = tuple.__new__  # four times as fast as the named tuple's own constructor, which matters at a million rows


class NoRecord(ValueError):
    """The object is no record. `reason` is a reject code."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def record_id_of(record: dict[str, Any]) -> str:
    """The record's id. Raises NoRecord, or InexactNumber where the id came as a float."""
    given = record.get("id")
    if given is None:
        given = record.get("_id")
    found = identifier(given) if given is not None else None
    if found is None:
        raise NoRecord("no_id", "neither id nor _id names the record" if given is None else f"the id is {str(given)[:80]!r}")
    return found


def read_record(record: dict[str, Any], last_year: int) -> RecordRow:
    """Normalise one object. last_year is the latest year that counts as usable.

    Raises NoRecord where it has no id or is no paper, InexactNumber where an id came as a float.
    """
    get = record.get
    record_id = record_id_of(record)
    flags: list[str] = []
    given_title = get("title")
    if given_title is None and any(name in record for name in _OTHER_ENTITY):
        raise NoRecord("not_a_paper", "no title, and fields of an author, venue or organisation")
    title, title_raw = read_title(given_title)
    abstract, odd = read_abstract(record)
    if odd:
        flags.append("abstract_shape")
    authors, odd = read_authors(get("authors"))
    if odd:
        flags.append("author_shape")
    n_citation, odd = read_count(get("n_citation"))
    if odd:
        flags.append("citation_count_unusable")
    doi, doi_raw, odd = read_doi(get("doi"))
    if odd:
        flags.append("doi_invalid")
    keywords, odd = read_keywords(get("keywords"))
    if odd:
        flags.append("keyword_shape")
    references, odd = read_references(given) if (given := get("references")) else ([], False)
    if odd:
        flags.append("reference_shape")
    urls, odd = read_texts(given) if (given := get("url") or get("urls")) else ([], False)
    if odd:
        flags.append("url_shape")
    venue, venue_id, odd = read_venue(get("venue"), get("venue_id"))
    if odd:
        flags.append("venue_shape")
    year, year_raw, odd = read_year(get("year"), last_year)
    if odd:
        flags.append("year_unusable")
    if _RARER.isdisjoint(record):
        printed = _NOT_PRINTED
    else:
        first = get("page_start")
        printed = tuple(map(full_text, (
            get("doc_type"), get("volume"), get("issue"), get("page_stat") if first is None else first, get("page_end"), get("issn"),
            get("isbn"), get("publisher"), get("pdf"),
        )))  # fmt: skip
    return _new(RecordRow, (
        record_id, title, abstract, year, doi, venue, venue_id, authors, keywords, full_text(get("lang")), *printed,
        urls, n_citation, references, title_raw, doi_raw, year_raw, fingerprint(title), author_keys(authors), flags,
    ))  # fmt: skip

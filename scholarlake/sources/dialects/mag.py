"""Papers with the capitalised names of the Microsoft Academic Graph, as JSON; and MAG's own table of papers, without names.

Names count without case and underscores, so that PaperId, paper_id and PaperID are one. MAG's table `Papers.txt` has neither
authors, nor references, nor abstracts: these lie in tables beside it, which nothing here joins.
Source: the schema of MAG's entities, "Microsoft Academic Graph data schema", stream `Papers`.
"""

from __future__ import annotations

import re
from typing import Any

from scholarlake.sources.dialects.shapes import first
from scholarlake.sources.record import NoRecord, RecordRow, read_record

NAME = "mag"

_SIGNS = frozenset({"PaperId", "PaperID", "PaperTitle", "OriginalTitle"})
_ID_AND_TITLE = ({"Id", "ID"}, {"Title", "DisplayName"})
_OF_A_PAPER = frozenset({"Authors", "Year", "References", "Abstract", "Doi", "DOI", "Venue", "IndexedAbstract", "CitationCount"})

LEAST_COLUMNS, MOST_COLUMNS = 21, 25  # later editions have FamilyId, FamilyRank, DocSubTypes and CreatedDate
_TYPES = "|Journal|Conference|Patent|Book|BookChapter|Thesis|Repository|Dataset"
_NUMBER, _ANY, _YEAR, _DATE = "[0-9]*", r"[^\t]*", "(?:[0-9]{1,4})?", r"[0-9/.:\- APM]*"
_ROW = re.compile(
    "\t".join(("[0-9]+", _NUMBER, _ANY, f"(?:{_TYPES})", _ANY, _ANY, _ANY, _YEAR, _DATE, _ANY, _NUMBER, _NUMBER, _NUMBER))
    + rf"(?:\t{_ANY}){{{LEAST_COLUMNS - 13},{MOST_COLUMNS - 13}}}\r?"
)
#: Of each field the cells that may hold it, the first that says anything: original before plain title and venue before book, and of the
#: venue's ids the journal's, the series' or the meeting's.
COLUMNS = {
    "id": (0,),
    "title": (5, 4),
    "year": (7,),
    "doi": (2,),
    "venue": (20, 6),
    "venue_id": (10, 11, 12),
    "doc_type": (3,),
    "volume": (13,),
    "issue": (14,),
    "page_start": (15,),
    "page_end": (16,),
    "publisher": (9,),
    "n_citation": (18,),
}


def fits(record: dict[str, Any]) -> bool:
    names = record.keys()
    said = all(not wanted.isdisjoint(names) for wanted in _ID_AND_TITLE) and not _OF_A_PAPER.isdisjoint(names)
    return said or not _SIGNS.isdisjoint(names)


def is_row(line: str) -> bool:
    """Whether a line is a row of MAG's table of papers: numbers, a document type and a year where they belong."""
    return _ROW.fullmatch(line) is not None


def read(paper: dict[str, Any], last_year: int) -> RecordRow:
    """Raises NoRecord where the paper has no id."""
    given = {_plain(name): value for name, value in paper.items()}
    authors, references = (
        first(given, "authors", "paperauthoraffiliations"),
        first(given, "references", "paperreferences", "referencedpapers"),
    )
    return read_record(
        {
            "id": first(given, "paperid", "id"),
            "title": first(given, "originaltitle", "title", "displayname", "papertitle"),
            "abstract": given.get("abstract"),
            "indexed_abstract": first(given, "indexedabstract", "abstractinvertedindex", "invertedabstract", "invertedindex"),
            "year": first(given, "year", "publicationyear"),
            "doi": given.get("doi"),
            "venue": first(given, "originalvenue", "venue", "journal", "journalname", "conferencename", "booktitle"),
            "venue_id": first(given, "venueid", "journalid", "conferenceseriesid", "conferenceinstanceid"),
            "authors": [_author(one) for one in authors] if isinstance(authors, list) else authors,
            "keywords": first(given, "keywords") or _subjects(first(given, "fieldsofstudy", "fos")),
            "lang": first(given, "language", "languagecode", "lang"),
            "doc_type": first(given, "doctype", "type"),
            "volume": given.get("volume"),
            "issue": given.get("issue"),
            "page_start": first(given, "firstpage", "pagestart"),
            "page_end": first(given, "lastpage", "pageend"),
            "issn": given.get("issn"),
            "isbn": given.get("isbn"),
            "publisher": given.get("publisher"),
            "pdf": first(given, "pdf", "pdfurl"),
            "url": _addresses(first(given, "urls", "url", "sourceurls", "sourceurl")),
            "n_citation": first(given, "citationcount", "ncitation", "estimatedcitation"),
            "references": [_reference(one) for one in references] if isinstance(references, list) else references,
        },
        last_year,
    )


def read_row(text: bytes, last_year: int) -> RecordRow:
    """A row of MAG's table of papers. Raises NoRecord where it is none."""
    if not text.strip():
        raise NoRecord("blank", "nothing but white space")
    if b"\x00" in text:
        raise NoRecord("nul_byte", f"a NUL at byte {text.index(0)}")
    try:
        values = text.decode().removeprefix("\ufeff").split("\t")
    except UnicodeDecodeError as fault:
        raise NoRecord("invalid_utf8", f"{fault.reason} at byte {fault.start}") from None
    if not LEAST_COLUMNS <= len(values) <= MOST_COLUMNS:
        raise NoRecord("wrong_columns", f"{len(values)} columns, not {LEAST_COLUMNS} to {MOST_COLUMNS}")
    return read_record({field: next(filter(None, map(values.__getitem__, columns)), "") for field, columns in COLUMNS.items()}, last_year)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _author(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    said = {_plain(name): value for name, value in given.items()}
    return {
        "id": first(said, "authorid", "id"),
        "name": first(said, "originalauthor", "displayname", "authorname", "name", "normalizedname"),
        "org": first(said, "originalaffiliation", "affiliation", "affiliationname", "org", "orgs"),
        "org_id": first(said, "affiliationid", "orgid"),
    }


def _reference(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    said = {_plain(name): value for name, value in given.items()}
    return first(said, "paperreferenceid", "paperid", "id")


def _subjects(given: Any) -> Any:
    if not isinstance(given, list):
        return given
    return [_name(one) if isinstance(one, dict) else one for one in given]


def _name(subject: dict[str, Any]) -> Any:
    said = {_plain(name): value for name, value in subject.items()}
    return first(said, "displayname", "name", "fieldofstudyname", "normalizedname")


def _addresses(given: Any) -> Any:
    if not isinstance(given, list):
        return given
    return [
        first({_plain(name): value for name, value in one.items()}, "sourceurl", "url") if isinstance(one, dict) else one for one in given
    ]

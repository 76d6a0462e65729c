"""OAG v1 to v3.2, AMiner papers, and DBLP V10 to V18: one family, whose fields are those that `record` reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NAME = "oag"

_IDS = frozenset({"id", "_id"})
#: Fields of which a paper has one at least. Fields of people and venues are not among them.
_OF_A_PAPER = frozenset({
    "title", "abstract", "indexed_abstract", "authors", "references", "doi", "year", "venue", "keywords", "n_citation", "doc_type", "fos",
})  # fmt: skip


#: How the issues of the family are told from one another: the first whose sign a record bears.
_ISSUES: tuple[tuple[str, Callable[[dict[str, Any]], bool]], ...] = (
    ("OAG v1", lambda record: "page_stat" in record),
    ("DBLP V13", lambda record: "_id" in record),
    ("DBLP V11 or V12", lambda record: isinstance(record.get("indexed_abstract"), dict)),
    ("OAG v2 or v2.1, papers of MAG", lambda record: isinstance(record.get("indexed_abstract"), str)),
    ("OAG v3.1 or v3.2", lambda record: "venue_id" in record and not isinstance(record.get("venue"), dict)),
    ("OAG v2, papers of AMiner, or DBLP V14 and later", lambda record: isinstance(record.get("venue"), dict) and "raw" in record["venue"]),
    ("OAG v2 or v2.1, papers of MAG", lambda record: isinstance(record.get("venue"), dict)),
    ("DBLP V10", lambda record: bool(authors := record.get("authors")) and isinstance(authors, list) and isinstance(authors[0], str)),
)


def issue_of(record: dict[str, Any]) -> str | None:
    """The issue of a dump that spells papers as this one is spelled, None where several do."""
    return next((issue for issue, bears in _ISSUES if bears(record)), None)


def fits(record: dict[str, Any]) -> bool:
    """Whether an object has an id, and a field of a paper or none else: of people and venues, `entities` has been asked."""
    names = record.keys()
    return not _IDS.isdisjoint(names) and (not _OF_A_PAPER.isdisjoint(names) or names <= _IDS)

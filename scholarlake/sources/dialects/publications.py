"""Lists of publications without ids: a title, and beside it or in an object `original` what else is known, as reference managers export it.

What names the record is made of what it says: the same title, DOI and address are the same record, in any file. Which records are
one paper is for `corpus` to say, which keeps two works of one DOI apart.
"""

from __future__ import annotations

from typing import Any

import xxhash

from scholarlake.sources.dialects.shapes import first, mapping
from scholarlake.sources.record import NoRecord, RecordRow, read_record

NAME = "publications"

_SIGNS = frozenset({"doi", "DOI", "journal", "authors", "year", "pubyear"})
_IDS = frozenset({"id", "_id", "paper_id", "PaperId", "corpusid"})


def fits(record: dict[str, Any]) -> bool:
    told = record.keys() | mapping(record.get("original")).keys()
    return "title" in record and _IDS.isdisjoint(record) and not _SIGNS.isdisjoint(told)


def read(publication: dict[str, Any], last_year: int) -> RecordRow:
    """Raises NoRecord where the publication has neither title, nor DOI, nor address."""
    told = [*mapping(publication.get("original")).items(), *publication.items()]
    given = {name.strip().lower(): value for name, value in told if value is not None}
    doi, title, url = given.get("doi"), given.get("title"), given.get("url")
    named = ["" if value is None else str(value) for value in (doi, title, url)]
    if not any(named):
        raise NoRecord("no_id", "neither title, DOI nor address names the record")
    start, _, end = str(given.get("pagination") or "").partition("-")
    return read_record(
        {
            **{name: given.get(name) for name in ("abstract", "volume", "issue", "issn", "isbn", "publisher", "pdf", "references")},
            "id": xxhash.xxh3_128_hexdigest("\n".join(named).encode("utf-8", "replace")),
            "title": title,
            "doi": doi,
            "url": url,
            "year": first(given, "year", "pubyear"),
            "venue": first(given, "journal", "source_title", "venue"),
            "authors": given.get("authors"),
            "keywords": first(given, "keywords"),
            "lang": first(given, "language", "lang"),
            "doc_type": first(given, "publication_type", "type"),
            "page_start": first(given, "page_start") or start or None,
            "page_end": first(given, "page_end") or end or None,
            "n_citation": first(given, "times_cited", "n_citation"),
        },
        last_year,
    )

"""OpenAlex works: ids that are addresses, abstracts as inverted indices, authors behind authorships, venues behind locations.

Source: the documentation of the Work object, docs.openalex.org.
"""

from __future__ import annotations

import re
from typing import Any

from scholarlake.sources.dialects.shapes import each, first, flagged, mapping
from scholarlake.sources.record import NoRecord, RecordRow, read_record

NAME = "openalex"

_ADDRESS = re.compile(r"\s*(?:https?://)?(?:api\.)?openalex\.org/(?:[a-z-]+/)?([A-Za-z][0-9]+)/?\s*")
_SHORT = re.compile(r"\s*([A-Za-z][0-9]+)\s*")


def fits(record: dict[str, Any]) -> bool:
    given = record.get("id")
    found = _ADDRESS.fullmatch(given) if isinstance(given, str) else None
    return found is not None and found[1][0] in "Ww"


def read(work: dict[str, Any], last_year: int) -> RecordRow:
    """Raises NoRecord where the work has no id, or is another entity."""
    get = work.get
    key = short(get("id"))
    if isinstance(key, str) and _SHORT.fullmatch(key) and key[0] != "W":
        raise NoRecord("not_a_paper", f"{key[:80]} is no work")
    source, host = _source(work), mapping(get("host_venue"))
    print_facts, access = mapping(get("biblio")), mapping(get("open_access"))
    places = [mapping(get("primary_location")), mapping(get("best_oa_location")), host]
    references = get("referenced_works")
    row = read_record(
        {
            "id": key,
            "title": first(work, "title", "display_name"),
            "abstract": get("abstract"),
            "abstract_inverted_index": get("abstract_inverted_index"),
            "year": get("publication_year"),
            "doi": get("doi") or mapping(get("ids")).get("doi"),
            "venue": first(source, "display_name") or mapping(get("primary_location")).get("raw_source_name"),
            "venue_id": short(source.get("id")),
            "authors": [_author(given) for given in each(get("authorships"))]
            if isinstance(get("authorships"), list)
            else get("authorships"),
            "keywords": _subjects(get("keywords")) or _subjects(get("concepts")),
            "lang": get("language"),
            "doc_type": first(work, "type", "type_crossref", "genre"),
            "volume": print_facts.get("volume"),
            "issue": print_facts.get("issue"),
            "page_start": print_facts.get("first_page"),
            "page_end": print_facts.get("last_page"),
            "issn": first(source, "issn_l", "issn"),
            "publisher": first(source, "host_organization_name", "publisher"),
            "pdf": next((found for place in places if (found := place.get("pdf_url"))), None),
            "url": _distinct([*(first(place, "landing_page_url", "url") for place in places), access.get("oa_url"), get("id")]),
            "n_citation": get("cited_by_count"),
            "references": [short(given) for given in references] if isinstance(references, list) else short(references),
        },
        last_year,
    )
    return flagged(row, "retracted") if get("is_retracted") is True else row


def short(given: Any) -> Any:
    """The id without its address, in capitals: W2741809807 for https://openalex.org/W2741809807. Anything else as it is."""
    found = (_ADDRESS.fullmatch(given) or _SHORT.fullmatch(given)) if isinstance(given, str) else None
    return found[1].upper() if found else given


def _source(work: dict[str, Any]) -> dict[str, Any]:
    """The venue: of the primary location, or where works before 2023 have it."""
    return mapping(mapping(work.get("primary_location")).get("source")) or mapping(work.get("host_venue"))


def _author(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    person = mapping(given.get("author"))
    institution = mapping(next(iter(each(given.get("institutions"))), None))
    return {
        "id": short(person.get("id")),
        "name": person.get("display_name") or given.get("raw_author_name"),
        "org": institution.get("display_name") or first(given, "raw_affiliation_string", "raw_affiliation_strings"),
        "org_id": short(institution.get("id")),
    }


def _subjects(given: Any) -> list[Any]:
    """Keywords and concepts: texts, or objects with a name."""
    return [first(subject, "display_name", "keyword") if isinstance(subject, dict) else subject for subject in each(given)]


def _distinct(values: list[Any]) -> list[Any]:
    return list(dict.fromkeys(value for value in values if isinstance(value, str) and value))

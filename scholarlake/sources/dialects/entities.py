"""The files that lie beside the papers of a dump and hold none: people, venues, organisations, subjects, pairs of ids.

They are known for what they are, and passed over: no table holds them, and each of their lines would be a reject.
"""

from __future__ import annotations

import re
from typing import Any

_NAMES = frozenset({"DisplayName", "NormalizedName", "normalized_name", "name", "display_name"})
_OF_A_PAPER = frozenset({"title", "abstract", "indexed_abstract", "references", "authors", "PaperTitle", "Title"})
_OF_A_PERSON = frozenset(
    {"n_pubs", "pubs", "h_index", "last_known_aff_id", "LastKnownAffiliationId", "position", "orgs", "org", "AuthorId"}
)
_OF_A_VENUE = frozenset({"JournalId", "ConferenceId", "ConferenceSeriesId", "ConferenceInstanceId", "Issn", "issn", "e_issn", "venue_id"})
_OF_A_PLACE = frozenset({
    "Latitude", "Longitude", "latitude", "longitude", "WikiPage", "OfficialPage", "GridId", "grid_id", "ror", "AffiliationId", "homepage",
})  # fmt: skip
_OPENALEX = re.compile(r"https?://openalex\.org/(?:[a-z-]+/)?([A-VX-Za-vx-z])[0-9]+")


def is_pair(record: dict[str, Any]) -> bool:
    """A row of OAG's linking tables: an id of MAG and one of AMiner."""
    return "mid" in record and "aid" in record and "title" not in record


def is_named(record: dict[str, Any]) -> bool:
    """Something with a name and nothing of a paper."""
    return not _NAMES.isdisjoint(record) and _OF_A_PAPER.isdisjoint(record)


def is_author(record: dict[str, Any]) -> bool:
    return is_named(record) and not _OF_A_PERSON.isdisjoint(record)


def is_venue(record: dict[str, Any]) -> bool:
    return is_named(record) and not _OF_A_VENUE.isdisjoint(record)


def is_affiliation(record: dict[str, Any]) -> bool:
    return is_named(record) and not _OF_A_PLACE.isdisjoint(record)


def is_openalex(record: dict[str, Any]) -> bool:
    """Anything of OpenAlex that is no work: authors, institutions, sources, topics…"""
    given = record.get("id")
    return isinstance(given, str) and _OPENALEX.fullmatch(given) is not None

"""OAG v1 to v3.2, AMiner papers, and DBLP V10 to V18: one family, whose fields are those that `record` reads."""

from __future__ import annotations

from typing import Any

NAME = "oag"

_IDS = frozenset({"id", "_id"})
#: Fields of which a paper has one at least. Fields of people and venues are not among them.
_OF_A_PAPER = frozenset({
    "title", "abstract", "indexed_abstract", "authors", "references", "doi", "year", "venue", "keywords", "n_citation", "doc_type", "fos",
})  # fmt: skip


def fits(record: dict[str, Any]) -> bool:
    """Whether an object has an id, and a field of a paper or none else: of people and venues, `entities` has been asked."""
    names = record.keys()
    return not _IDS.isdisjoint(names) and (not _OF_A_PAPER.isdisjoint(names) or names <= _IDS)

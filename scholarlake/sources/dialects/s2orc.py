"""S2ORC metadata: papers of Semantic Scholar, with names in pieces and citations in both directions.

Source: the S2ORC documentation, github.com/allenai/s2orc. Its full texts are documents, not records.
"""

from __future__ import annotations

from typing import Any

from scholarlake.sources.dialects.shapes import each, first
from scholarlake.sources.record import RecordRow, read_record

NAME = "s2orc"

_SIGNS = frozenset({
    "outbound_citations", "inbound_citations", "mag_field_of_study", "s2_url", "has_pdf_parse", "has_outbound_citations", "arxiv_id",
})  # fmt: skip


def fits(record: dict[str, Any]) -> bool:
    return "paper_id" in record and not _SIGNS.isdisjoint(record)


def read(paper: dict[str, Any], last_year: int) -> RecordRow:
    """Raises NoRecord where the paper has no id."""
    get = paper.get
    authors, cited_by, arxiv = get("authors"), get("inbound_citations"), get("arxiv_id")
    addresses = [get("s2_url"), f"https://arxiv.org/abs/{arxiv}" if isinstance(arxiv, str) and arxiv else None]
    return read_record(
        {
            "id": get("paper_id"),
            "title": get("title"),
            "abstract": get("abstract"),
            "year": get("year"),
            "doi": get("doi"),
            "venue": first(paper, "venue", "journal"),
            "authors": [_author(given) for given in authors] if isinstance(authors, list) else authors,
            "keywords": get("mag_field_of_study"),
            "url": [address for address in addresses if address],
            "n_citation": len(cited_by) if isinstance(cited_by, list) else None,
            "references": get("outbound_citations"),
        },
        last_year,
    )


def _author(given: Any) -> Any:
    """One name out of its pieces: first, middle names, last, suffix."""
    if not isinstance(given, dict) or "last" not in given:
        return given
    pieces = [given.get("first"), *each(given.get("middle")), given["last"], given.get("suffix")]
    return {"name": " ".join(piece for piece in pieces if isinstance(piece, str) and piece)}

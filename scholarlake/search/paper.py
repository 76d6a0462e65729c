"""A paper as a reader of a release sees it, and a paper as a search finds it. Values only; nothing here reads a file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Author:
    """An author as the paper names them."""

    name: str | None
    id: str | None = None
    org: str | None = None
    org_id: str | None = None


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper, merged from its records, with its degrees in the release it was read from.

    rank: orders all papers by in-degree, year and id: the smaller, the more cited. Larger lakes leave room between two ranks.
    same_title: ids of the other papers with exactly this title, the most cited first.
    unresolved_references: how many of its references lead outside the corpus.
    version_of: id of the paper that stands for the work, where this is a preprint of it. versions: ids of the preprints of this one.
    withdrawn_by: what says that it was withdrawn: "title", "doc_type", "abstract" or "notice"; withdrawal_notice: id of the notice.
    n_citation: the dump's own count; the degrees are counted from the citations of this release.
    """

    paper_id: str
    title: str | None
    abstract: str | None
    authors: tuple[Author, ...]
    year: int | None
    venue: str | None
    doi: str | None
    keywords: tuple[str, ...]
    in_degree: int
    out_degree: int
    total_degree: int
    is_core: bool
    rank: int
    record_ids: tuple[str, ...]
    editions: tuple[str, ...]
    flags: tuple[str, ...]
    urls: tuple[str, ...]
    shard: str
    method: str
    faiss_id: int | None = None
    venue_id: str | None = None
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
    n_citation: int | None = None
    unresolved_references: int = 0
    same_title: tuple[str, ...] = ()
    version_of: str | None = None
    versions: tuple[str, ...] = ()
    withdrawn: bool = False
    withdrawn_by: str | None = None
    withdrawal_notice: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Hit:
    """A paper that a search found.

    place: 1 for the best. found_by: the searches that found it ("dense", "keyword").
    score: cosine similarity for dense search, BM25 for relevance, the fused score for fused search: larger is better. None
    where the order is that of citations.
    """

    place: int
    paper: Paper
    score: float | None
    found_by: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"place": self.place, "score": self.score, "found_by": list(self.found_by), "paper": self.paper.to_dict()}

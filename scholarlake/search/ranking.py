"""Dense, keyword and fused search over a release: which papers, in which order.

What does not belong here: reading the search index (`search_reader.py`), embedding a query and searching vectors
(`scholarlake/dense`), opening a release (`door.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scholarlake.errors import ScholarLakeError
from scholarlake.search.paper import Hit
from scholarlake.search.reader import SearchIndex
from scholarlake.search.text import terms_of

Nearest = Callable[[str, int], Sequence[tuple[int, float]]]
"""The k nearest papers of a text: faiss ids and similarities, the nearest first."""

MODES = ("dense", "keyword", "relevance", "fused")
FUSION_CONSTANT = 60
"""Reciprocal rank fusion adds 1 / (60 + place) over the searches (Cormack, Clarke and Büttcher, 2009)."""
FUSION_DEPTH = 100
"""Results of each search that take part in the fusion, at least."""


def search(index: SearchIndex, nearest: Nearest, query: str, k: int = 10, mode: str = "dense") -> list[Hit]:
    """The k best papers for a query that somebody typed. Raises ScholarLakeError for a mode that is none of MODES."""
    if mode not in MODES:
        raise ScholarLakeError(f"no search mode {mode!r}; there are: {', '.join(MODES)}")
    if mode == "dense":
        return dense(index, nearest, query, k)
    if mode == "fused":
        return fused(index, nearest, query, k)
    return (keywords if mode == "keyword" else relevant)(index, terms_of(query), k)


def keywords(index: SearchIndex, terms: Sequence[str], k: int = 10) -> list[Hit]:
    """Papers with any of the terms in keywords or title, the most cited first (in-degree, year, id)."""
    ranks = index.most_cited(terms, k) if k > 0 else []
    return _hits(index, [(rank, None, ("keyword",)) for rank in ranks])


def relevant(index: SearchIndex, terms: Sequence[str], k: int = 10) -> list[Hit]:
    """Papers with any of the terms, by BM25 with keywords weighing 10 and title 5."""
    found = index.most_relevant(terms, k) if k > 0 else []
    return _hits(index, [(rank, score, ("keyword",)) for rank, score in found])


def dense(index: SearchIndex, nearest: Nearest, query: str, k: int = 10) -> list[Hit]:
    """Papers whose embeddings are nearest to the query's."""
    return _hits(index, [(rank, score, ("dense",)) for rank, score in _nearest(index, nearest, query, k)])


def fused(index: SearchIndex, nearest: Nearest, query: str, k: int = 10) -> list[Hit]:
    """Dense search and keyword relevance, fused by reciprocal rank; ties go to the more cited paper."""
    depth = max(FUSION_DEPTH, k)
    lists = {
        "dense": [rank for rank, _ in _nearest(index, nearest, query, depth)],
        "keyword": [rank for rank, _ in index.most_relevant(terms_of(query), depth)],
    }
    scores: dict[int, float] = {}
    found_by: dict[int, tuple[str, ...]] = {}
    for name, ranks in lists.items():
        for place, rank in enumerate(ranks, start=1):
            scores[rank] = scores.get(rank, 0.0) + 1 / (FUSION_CONSTANT + place)
            found_by[rank] = (*found_by.get(rank, ()), name)
    best = sorted(scores, key=lambda rank: (-scores[rank], rank))[: max(k, 0)]
    return _hits(index, [(rank, scores[rank], found_by[rank]) for rank in best])


def _nearest(index: SearchIndex, nearest: Nearest, query: str, k: int) -> list[tuple[int, float]]:
    if k <= 0 or not query.strip():
        return []
    found = nearest(query, k)
    ranks = index.ranks_of_vectors(faiss_id for faiss_id, _ in found)
    return [(ranks[faiss_id], score) for faiss_id, score in found if faiss_id in ranks]


def _hits(index: SearchIndex, found: Sequence[tuple[int, float | None, tuple[str, ...]]]) -> list[Hit]:
    papers = index.papers([rank for rank, _, _ in found])
    return [
        Hit(place, paper, score, found_by) for place, (paper, (_, score, found_by)) in enumerate(zip(papers, found, strict=True), start=1)
    ]

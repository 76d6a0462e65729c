"""Hybrid retrieval: what is near a query by meaning and by words, as one ranking.

Two rankings become one by reciprocal rank fusion with the constant 60, as in paper search. What does not belong here: how either is
searched (`reader`, `overlay`), what becomes of the objects (`knowledge`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scholarlake.knowledge.layer.overlay import Overlay
from scholarlake.knowledge.layer.reader import KnowledgeIndex, Within
from scholarlake.models.protocol import Vectors
from scholarlake.search.ranking import FUSION_CONSTANT, FUSION_DEPTH
from scholarlake.search.text import expression, terms_of

_WORDS = "a an and are as at be by do does for from how in is it of on or that the to was were what when which who why with"
_JOINING = frozenset(_WORDS.split())


@dataclass(frozen=True)
class Ranked:
    """An object that was found. score: fused. found_by: which search found it, and at which place there."""

    at: int
    score: float
    found_by: tuple[str, ...]


def ranked(index: KnowledgeIndex, overlay: Overlay, query: str, vector: Vectors, k: int, within: Within) -> list[Ranked]:
    """The k best objects for a query, ties by place."""
    depth = max(FUSION_DEPTH, k)
    dense = [*index.by_meaning(vector, depth, within), *overlay.by_meaning(vector, depth, within)]
    said = asked(query)
    keyword = [*index.by_words(said, depth, within), *overlay.by_words(said, within)] if said else []
    lists = {"dense": _best(dense, depth), "keyword": _best(keyword, depth)}
    scores: dict[int, float] = {}
    found_by: dict[int, tuple[str, ...]] = {}
    for name, places in lists.items():
        for rank, at in enumerate(places, 1):
            scores[at] = scores.get(at, 0.0) + 1 / (FUSION_CONSTANT + rank)
            found_by[at] = (*found_by.get(at, ()), f"{name} {rank}")
    best = sorted(scores, key=lambda at: (-scores[at], at))[:k]
    return [Ranked(at, scores[at], found_by[at]) for at in best]


def asked(query: str) -> str:
    """A query as an FTS5 expression for objects with any of its words or quoted phrases; words that only join others are left out where
    there are others. Empty where no word is left."""
    terms = terms_of(query)
    telling = [term for term in terms if term.strip(".,;:?!()").casefold() not in _JOINING]
    return expression(telling or terms) or ""


def _best(found: Sequence[tuple[int, float]], depth: int) -> list[int]:
    return [at for at, _ in sorted(found, key=lambda one: (-one[1], one[0]))][:depth]

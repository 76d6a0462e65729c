"""The parts of a question: each says one thing of the paper that is asked about, in words, and which papers of the corpus that is true of.

What does not belong here: which parts make a question (`composition`), how they become sentences (`wording`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from scholarlake.training.corpus import Corpus
from scholarlake.training.graph import Nodes

Way = Literal["references", "citations"]
Kind = Literal[
    "cites",
    "cited_by",
    "cites_one_citing",
    "cited_by_one_cited_by",
    "shares_reference",
    "cited_together",
    "year",
    "venue",
    "author",
    "keyword",
    "cited_times",
    "quantity",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: How to come from the paper that a part names to those that the part is true of.
WAYS: dict[str, tuple[Way, ...]] = {
    "cites": ("citations",),
    "cited_by": ("references",),
    "cites_one_citing": ("citations", "citations"),
    "cited_by_one_cited_by": ("references", "references"),
    "shares_reference": ("references", "citations"),
    "cited_together": ("citations", "references"),
}
MOST_FOLLOWED = 2_000_000
"""Citations that are followed for one part; a part that needs more is not said."""


@dataclass(frozen=True)
class Part:
    """One thing that is said. paper: id of the paper that it names, for relations. value: for the other kinds.

    year, venue: of the paper in between, for relations over two citations; null where nothing is said of it.
    """

    kind: Kind
    value: str = ""
    paper: str | None = None
    year: int | None = None
    venue: str | None = None

    @property
    def hops(self) -> int:
        """Citations between the paper that it names and the one asked about; 0 where it names none."""
        return len(WAYS.get(self.kind, ()))


def satisfying(corpus: Corpus, part: Part) -> Nodes | None:
    """The papers of the whole corpus that a part is true of, ascending. None where it would take too long to tell."""
    if part.paper is None:
        return _having(corpus, part)
    ways = WAYS[part.kind]
    named = corpus.nodes([part.paper])
    found = corpus.graph.reached(named, ways[0], MOST_FOLLOWED)
    if found is None or len(ways) == 1:
        return found
    for value, postings in ((part.year, corpus.by_year), (part.venue, corpus.by_venue)):
        if value is not None:
            found = np.intersect1d(found, postings.having(str(value)), assume_unique=True)
    ends = corpus.graph.reached(found, ways[1], MOST_FOLLOWED)
    return None if ends is None else np.setdiff1d(ends, named, assume_unique=True)


def answers(corpus: Corpus, parts: Iterable[Part]) -> Nodes:
    """The papers that all parts are true of: the query that a question is, run on the whole corpus."""
    found: Nodes | None = None
    for part in parts:
        true = satisfying(corpus, part)
        if true is not None:
            found = true if found is None else np.intersect1d(found, true, assume_unique=True)
    return np.empty(0, dtype=np.uint32) if found is None else found


def _having(corpus: Corpus, part: Part) -> Nodes:
    postings = {
        "year": lambda: corpus.by_year,
        "venue": lambda: corpus.by_venue,
        "author": lambda: corpus.by_author,
        "keyword": lambda: corpus.by_keyword,
        "cited_times": lambda: corpus.by_citations,
        "quantity": lambda: corpus.by_quantity,
    }[part.kind]()
    return postings.having(part.value)

"""Several ranked lists as one, by reciprocal rank (Cormack, Clarke and Büttcher, 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scholarlake.corpus.selection.candidates import Mask, Numbers, Values

CONSTANT = 60


@dataclass(frozen=True)
class Fused:
    """Papers, the best first. Shapes (n,). scores: the sum of 1 / (60 + place) over the lists that have the paper. lists: how many do."""

    numbers: Numbers
    scores: Values
    lists: Numbers

    def only(self, among: Mask) -> Fused:
        """The same without papers that are not among some."""
        kept = among[self.numbers]
        return Fused(self.numbers[kept], self.scores[kept], self.lists[kept])


def fused(lists: Sequence[Numbers]) -> Fused:
    """Ranked lists as one; ties by number."""
    numbers = np.concatenate(lists)
    shares = np.concatenate([1 / (CONSTANT + np.arange(1, len(one) + 1)) for one in lists])
    distinct, where = np.unique(numbers, return_inverse=True)
    scores = np.asarray(np.round(np.bincount(where, shares, len(distinct)), 12), dtype=np.float64)
    order = np.lexsort((distinct, -scores))
    return Fused(distinct[order], scores[order], np.bincount(where, minlength=len(distinct))[order])

"""Weights as whole numbers that sum to exactly what they are to sum to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

WHOLE = 100


def whole_weights(shares: Sequence[float], total: int = WHOLE) -> list[int]:
    """Shares of any size as whole numbers that sum to total, by largest remainder: the first of equal ones is rounded up.

    None gets nothing. Raises ValueError where a share is no number above 0, or there are more of them than the total.
    """
    if any(not math.isfinite(share) or share <= 0 for share in shares) or len(shares) > total:
        raise ValueError(f"{len(shares)} shares can't be made whole numbers above 0 that sum to {total}: {list(shares)[:5]}")
    if not shares:
        return []
    exact = [Fraction(share) for share in shares]
    free = total - len(shares)  # each has 1 to begin with
    wanted = [one * total / sum(exact) for one in exact]
    over = [max(one - 1, Fraction(0)) for one in wanted]
    scale = Fraction(free) / sum(over) if sum(over) else Fraction(0)
    parts = [one * scale for one in over]
    weights = [1 + math.floor(one) for one in parts]
    by_remainder = sorted(range(len(parts)), key=lambda place: (math.floor(parts[place]) - parts[place], place))
    for place in by_remainder[: total - sum(weights)]:
        weights[place] += 1
    return weights

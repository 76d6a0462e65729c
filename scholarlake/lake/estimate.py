"""What making a partition will take: rows, items for a model, and their price. A guess says that it is one.

What does not belong here: how it is guessed, which each stage's own room knows.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """rows: to be read or written. texts: to be embedded, none of them cached. prompts: to be sent, none of them cached. tokens: of
    both. cost: in the currency of the prices in the models file, None where they name none. exact: whether counted, not guessed."""

    rows: int = 0
    texts: int = 0
    prompts: int = 0
    tokens: int = 0
    cost: float | None = None
    exact: bool = False

    def __add__(self, other: Estimate) -> Estimate:
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Estimate(
            self.rows + other.rows,
            self.texts + other.texts,
            self.prompts + other.prompts,
            self.tokens + other.tokens,
            sum(known) if known else None,
            self.exact and other.exact,
        )

"""Money that a run may spend: nothing is sent that could cost more than is left.

What is under way is counted at the most it can cost, and at what it did cost once it is done. What does not belong here:
what a request can cost at most (`chat_model.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from scholarlake.errors import ModelError


class BudgetSpent(ModelError):
    """A run would spend more than it may. All that was answered is kept; nothing more was sent."""


class Budget:
    """A limit over everything that a run does in this process, on top of what is already spent. For several threads."""

    def __init__(self, name: str, limit: float, spent: Callable[[], float] = lambda: 0.0) -> None:
        self.name = name
        self.limit = limit
        self._spent = spent()
        self._held = 0.0
        self._guard = threading.Lock()

    def hold(self, most: float) -> bool:
        """Set aside the most that something can cost. False, and nothing is set aside, where that is more than is left."""
        with self._guard:
            if self._spent + self._held + most > self.limit:
                return False
            self._held += most
            return True

    def settle(self, most: float, cost: float) -> None:
        """Give back what was set aside, and count what it was."""
        with self._guard:
            self._held -= most
            self._spent += cost

    def said(self, most: float) -> str:
        """Why nothing more is sent, in one line."""
        return (
            f"{self.name} may cost {self.limit:g} and has cost {self._spent:.6g}; the next request could cost {most:.6g} and was not sent. "
            "What was answered is kept: raise the budget and start again"
        )


def hold_all(budgets: Sequence[Budget], most: float) -> Budget | None:
    """Set the same aside in all of them, or in none. Returns one that has too little left."""
    for number, budget in enumerate(budgets):
        if not budget.hold(most):
            for other in budgets[:number]:
                other.settle(most, 0.0)
            return budget
    return None

"""Money that a run may spend, in all its processes: nothing is sent that could cost more than is left.

What is under way is counted at the most it can cost, and at what it did cost once it is done. What does not belong here:
what a request can cost at most (`chat_model.py`), and how processes share what is left (`purse.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from scholarlake.errors import ModelError
from scholarlake.models.purse import Purse

WAIT_SECONDS = 0.5
"""How often it is looked whether others have given back what they did not need."""
_AT_ONCE = 64  # requests that money is set aside for in one go: doing it for each would cost more than the request


class BudgetSpent(ModelError):
    """A run would spend more than it may. All that was answered is kept; nothing more was sent."""


class Budget:
    """A limit over everything that a run does, or one role in it. For several threads."""

    def __init__(self, name: str, limit: float, purse: Purse) -> None:
        self.name = name
        self.limit = limit
        self._purse = purse
        self._free = 0.0  # set aside, for nothing yet
        self._held = 0  # attempts under way
        self._guard = threading.Lock()

    def hold(self, most: float) -> bool:
        """Set aside the most that something can cost. False, and nothing is set aside, where that is more than is left."""
        with self._guard:
            if self._free < most:
                self._free += self._purse.draw(most - self._free, _AT_ONCE * most, self.limit)
            if self._free < most:
                self._let_go()
                return False
            self._free -= most
            self._held += 1
            return True

    def settle(self, most: float, cost: float) -> None:
        """Give back what was set aside but for what it did cost, which is the ledger's to count."""
        with self._guard:
            self._held -= 1
            self._free += most - cost
            if not self._held:
                self._let_go()

    def may_get_more(self) -> bool:
        """Whether something is under way, here or in another process, that may cost less than it could."""
        with self._guard:
            return self._held > 0 or self._purse.others_hold()

    def said(self, most: float) -> str:
        """Why nothing more is sent, in one line."""
        return (
            f"{self.name} may cost {self.limit:g} and has cost {self._purse.spent():.6g}; the next request could cost {most:.6g} and was "
            "not sent. What was answered is kept: raise the budget and start again"
        )

    def _let_go(self) -> None:
        if self._free > 0:  # below 0 where something did cost more than it could: that is the ledger's to count
            self._purse.give_back(self._free)
        self._free = 0.0


def hold_all(budgets: Sequence[Budget], most: float) -> Budget | None:
    """Set the same aside in all of them, or in none. Returns one that has too little left."""
    for number, budget in enumerate(budgets):
        if not budget.hold(most):
            for other in budgets[:number]:
                other.settle(most, 0.0)
            return budget
    return None

"""What the processes of a run may still spend together: money is set aside in the ledger before it is spent.

    advances    process, run, role ('' for the whole run), amount: what that process has set aside and the ledger has not counted as spent

Spent and set aside together never exceed a limit, whichever process of a run asks first. The ledger takes a cost off its process's
advance in the transaction that keeps the cost, so that the sum is right at every moment. What a process had set aside when
it was killed is free again: each holds a lock on a file as long as it lives.

What does not belong here: how much a request can cost (`chat_model.py`), and what is spent in answer to a refusal (`budget.py`).
"""

from __future__ import annotations

import fcntl
import sqlite3
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

SHARE = 0.125
"""Of what is left, a process sets aside no more than this at once, unless a single request can cost more: others are there too."""
_TABLE = """
CREATE TABLE IF NOT EXISTS advances (
    process TEXT NOT NULL, run TEXT NOT NULL, role TEXT NOT NULL, amount REAL NOT NULL, PRIMARY KEY (process, run, role)
)"""


class Holder:
    """The process, or the part of it, that one ledger belongs to. For several threads."""

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self.name = uuid.uuid4().hex
        self._folder = path.parent / "holders"
        self._folder.mkdir(exist_ok=True)
        self._lock: IO[str] = self._file(self.name).open("a")
        fcntl.flock(self._lock, fcntl.LOCK_EX)  # let go with the process, however it ends
        self._guard = threading.Lock()
        self._connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False)
        # An advance need not outlive the machine's power: the processes do not either.
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute(_TABLE)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        with self._guard, self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    def drop_the_dead(self, connection: sqlite3.Connection) -> None:
        """Free what processes that are gone had set aside."""
        for (name,) in connection.execute("SELECT DISTINCT process FROM advances WHERE process != ?", (self.name,)).fetchall():
            if self._is_dead(name):
                connection.execute("DELETE FROM advances WHERE process = ?", (name,))
                self._file(name).unlink(missing_ok=True)

    def close(self) -> None:
        """Free what is still set aside."""
        with self.writing() as connection:
            connection.execute("DELETE FROM advances WHERE process = ?", (self.name,))
        self._connection.close()
        self._file(self.name).unlink(missing_ok=True)
        self._lock.close()

    def _is_dead(self, name: str) -> bool:
        try:
            with self._file(name).open() as handle:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return True
        except BlockingIOError:
            return False
        return True

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.lock"


class Purse:
    """The money of a run, or of one role in it, as one holder has to do with it."""

    def __init__(self, holder: Holder, run: str, role: str | None = None) -> None:
        self._holder = holder
        self._run = run
        self._role = role
        self._spent = 0.0
        self._counted = 0  # lines of the ledger that are in it

    def draw(self, least: float, wanted: float, limit: float) -> float:
        """Set money aside: what is wanted, or less where others may need it. 0 where not even the least is left of the limit."""
        with self._holder.writing() as connection:
            self._holder.drop_the_dead(connection)
            left = limit - self._spent_so_far(connection) - self._set_aside(connection)
            if left < least:
                return 0.0
            amount = max(least, min(wanted, left * SHARE))
            connection.execute(
                "INSERT INTO advances VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET amount = amount + excluded.amount",
                (self._holder.name, self._run, self._role or "", amount),
            )
            return amount

    def give_back(self, amount: float) -> None:
        """Free what was set aside and is not needed."""
        with self._holder.writing() as connection:
            take_off(connection, self._holder.name, {(self._run, self._role or ""): amount})

    def spent(self) -> float:
        """What was spent so far, by all."""
        with self._holder.writing() as connection:
            return self._spent_so_far(connection)

    def others_hold(self) -> bool:
        """Whether another process that is alive has set money aside, some of which may come back."""
        with self._holder.writing() as connection:
            self._holder.drop_the_dead(connection)
            return self._set_aside(connection, but=self._holder.name) > 1e-9  # sums of fractions are not exact

    def _spent_so_far(self, connection: sqlite3.Connection) -> float:
        """The lines of the ledger are never changed: only those that came since are looked at."""
        newest = connection.execute("SELECT coalesce(max(rowid), 0) FROM work").fetchone()[0]
        # The plus keeps SQLite from going through all of a run's lines by their index, where only the newest are wanted.
        which = "+run = ? AND rowid > ?" if self._counted else "run = ? AND rowid > ?"
        narrower = "" if self._role is None else " AND role = ?"
        values = (self._run, self._counted, *(() if self._role is None else (self._role,)))
        since = connection.execute(f"SELECT coalesce(sum(cost), 0.0) FROM work WHERE {which}{narrower}", values).fetchone()[0]
        self._spent, self._counted = self._spent + float(since), int(newest)
        return self._spent

    def _set_aside(self, connection: sqlite3.Connection, but: str = "") -> float:
        row = connection.execute(
            "SELECT coalesce(sum(amount), 0.0) FROM advances WHERE run = ? AND role = ? AND process != ?",
            (self._run, self._role or "", but),
        ).fetchone()
        return float(row[0])


def take_off(connection: sqlite3.Connection, process: str, amounts: Mapping[tuple[str, str], float]) -> None:
    """Make a process's advances less by what is given for each run and role ('' for the whole run)."""
    connection.executemany(
        "UPDATE advances SET amount = max(amount - ?, 0.0) WHERE process = ? AND run = ? AND role = ?",
        [(amount, process, run, role) for (run, role), amount in amounts.items() if amount],
    )

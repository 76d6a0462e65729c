"""What models answered, and what it cost: one SQLite file in the lake, written by several processes at once.

    models/ledger.sqlite    answers: text by key        work: a row for each attempt, batch of vectors, or count of cache hits
                            advances: money set aside (`purse.py`)

A finished item and its cost are one transaction, on disk before the caller sees the answer. What nobody waits for is written within a
twentieth of a second, what is waited for at once, with all that came while the last transaction was written (group commit): who puts
much puts it together. Failures are in `work` and never in `answers`.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal

from scholarlake.errors import LakeError, ModelError
from scholarlake.lake.files import sync_folder
from scholarlake.lake.home import Lake
from scholarlake.models.chat import Tags
from scholarlake.models.purse import Holder, Purse, take_off

FORMAT = 1
BUSY_SECONDS = 120.0  # how long a writer waits for the others
GATHERING_SECONDS = 0.05  # between one transaction and the next, unless somebody waits for it
KEYS_AT_ONCE = 500
_ROWS_AT_ONCE = 64
_FILE = "ledger.sqlite"
Grouping = Literal["asset", "partition", "run", "role", "model", "day"]
GROUPINGS: tuple[Grouping, ...] = ("asset", "partition", "run", "role", "model", "day")

_SCHEMA = f"""
PRAGMA journal_mode = WAL;
CREATE TABLE answers (
    key BLOB PRIMARY KEY, role TEXT NOT NULL, model TEXT NOT NULL, text TEXT NOT NULL,
    tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, at REAL NOT NULL
);
CREATE TABLE work (
    at REAL NOT NULL, run TEXT NOT NULL, asset TEXT NOT NULL, partition TEXT NOT NULL, role TEXT NOT NULL, endpoint TEXT NOT NULL,
    model TEXT NOT NULL, outcome TEXT NOT NULL, requests INTEGER NOT NULL, hits INTEGER NOT NULL, tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL, seconds REAL NOT NULL, cost REAL
);
CREATE INDEX work_by_run ON work (run, role);
PRAGMA user_version = {FORMAT};
"""


@dataclass(frozen=True)
class Answer:
    """A finished answer, under the key of everything that could have changed it."""

    key: bytes
    role: str
    model: str
    text: str
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True)
class Work:
    """Something that was done, or found done. outcome: answered, hit, or what went wrong. cost: null where prices are not known."""

    tags: Tags
    role: str
    endpoint: str
    model: str
    outcome: str
    requests: int = 1
    hits: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cost: float | None = None


@dataclass(frozen=True)
class Cost:
    """A line of what models cost. group: its names, as they were asked for. unpriced: requests to endpoints without prices."""

    group: dict[str, str]
    requests: int
    hits: int
    failed: int
    tokens_in: int
    tokens_out: int
    seconds: float
    cost: float
    unpriced: int


class Ledger:
    """Answers and work of a lake. Safe to use from several threads; every process opens its own."""

    def __init__(self, path: Path) -> None:
        """Raises LakeError where the file is damaged, or of another version."""
        self.path = path
        _create(path)
        self._local = threading.local()
        self._guard = threading.Lock()
        self._writer: _Writer | None = None
        self._holder: Holder | None = None
        with self._reading() as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version != FORMAT:
            raise LakeError(f"{path} has format {version}, this version reads {FORMAT}; use the version that made it, or move it away")

    @classmethod
    def of(cls, lake: Lake) -> Ledger:
        return cls(lake.models / _FILE)

    @staticmethod
    def is_there(lake: Lake) -> bool:
        """Whether any model was ever asked anything for a lake."""
        return (lake.models / _FILE).is_file()

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Answer]:
        """The stored answers among these keys."""
        found: dict[bytes, Answer] = {}
        with self._reading() as connection:
            for start in range(0, len(keys), KEYS_AT_ONCE):
                part = keys[start : start + KEYS_AT_ONCE]
                marks = ",".join("?" * len(part))
                rows = connection.execute(f"SELECT key, role, model, text, tokens_in, tokens_out FROM answers WHERE key IN ({marks})", part)
                found.update((row[0], Answer(*row)) for row in rows)
        return found

    def put(
        self,
        answers: Sequence[Answer],
        work: Sequence[Work],
        then: Callable[[BaseException | None], object] | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        """Keep answers and what they took, soon. `then` is called, in another thread, once that is on disk or has failed.

        at_once: wait for no others to share the transaction.
        """
        with self._guard:
            if self._writer is None:
                self._writer = _Writer(self.path, lambda: self._holder)
            self._writer.put((answers, work, then), at_once)

    def flush(self) -> None:
        """Return when all that was put is on disk. Raises LakeError where it can't be."""
        done: SimpleQueue[BaseException | None] = SimpleQueue()
        self.put((), (), done.put, at_once=True)
        fault = done.get()
        if fault is not None:
            raise _said(self.path, fault) from fault

    def purse(self, run: str, role: str | None = None) -> Purse:
        """What may still be spent in a run, or in one of its roles, as it is set aside and given back through this ledger."""
        try:
            with self._guard:
                if self._holder is None:
                    self._holder = Holder(self.path, BUSY_SECONDS)
        except sqlite3.DatabaseError as fault:
            raise _said(self.path, fault) from fault
        return Purse(self._holder, run, role)

    def costs(self, by: Sequence[Grouping], run: str | None = None) -> list[Cost]:
        """What all work cost, summed over everything but these columns, the dearest first."""
        names = [f"date(at, 'unixepoch') AS {name}" if name == "day" else name for name in by]
        counted = (
            "sum(requests), sum(hits), sum(CASE WHEN outcome IN ('answered', 'hit') THEN 0 ELSE requests END), sum(tokens_in),"
            " sum(tokens_out), sum(seconds), coalesce(sum(cost), 0.0) AS total, sum(CASE WHEN cost IS NULL THEN requests ELSE 0 END)"
        )
        grouped = f" GROUP BY {', '.join(by)}" if by else ""
        chosen = "" if run is None else " WHERE run = ?"
        with self._reading() as connection:
            rows = connection.execute(
                f"SELECT {', '.join([*names, counted])} FROM work{chosen}{grouped} ORDER BY total DESC, sum(tokens_in) DESC",
                () if run is None else (run,),
            ).fetchall()
        return [Cost(dict(zip(by, row, strict=False)), *row[len(by) :]) for row in rows if row[-1] is not None]

    def close(self) -> None:
        """Write what is left and let go of the file."""
        with self._guard:
            writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()
        if self._holder is not None:  # only now: until its costs are kept they are set aside
            self._holder.close()
            self._holder = None
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection. Not one of before a fork: SQLite's locks do not survive that."""
        if getattr(self._local, "process", None) != os.getpid():
            self._local.connection, self._local.process = None, os.getpid()
        try:
            if self._local.connection is None:
                self._local.connection = _connect(self.path)
            yield self._local.connection
        except sqlite3.DatabaseError as fault:
            raise _said(self.path, fault) from fault


_Put = tuple[Sequence[Answer], Sequence[Work], Callable[[BaseException | None], object] | None]


class _Writer:
    """The one thread of this process that writes. Whatever waits when it is free goes into one transaction."""

    def __init__(self, path: Path, holder: Callable[[], Holder | None]) -> None:
        self._path = path
        self._holder = holder
        self._queue: SimpleQueue[_Put | None] = SimpleQueue()
        self._wanted = threading.Event()  # somebody waits for what is in the queue
        self._thread = threading.Thread(target=self._run, name="ledger", daemon=True)
        self._thread.start()

    def put(self, item: _Put | None, at_once: bool) -> None:
        self._queue.put(item)
        if at_once:
            self._wanted.set()

    def close(self) -> None:
        self.put(None, at_once=True)
        self._thread.join()

    def _run(self) -> None:
        connection: sqlite3.Connection | None = None
        going, last = True, -GATHERING_SECONDS
        while going:
            waiting = [self._queue.get()]
            self._wanted.wait(max(0.0, last + GATHERING_SECONDS - time.monotonic()))
            self._wanted.clear()  # before the queue is looked at: what is put from now on sets it again
            waiting += [self._queue.get() for _ in range(self._queue.qsize())]  # nobody else takes from it
            last = time.monotonic()
            going = None not in waiting
            items = [item for item in waiting if item is not None]
            fault: BaseException | None = None
            try:
                connection = connection or _connect(self._path)
                _write(connection, items, self._holder())
            except Exception as error:  # told to everyone who waits for it
                fault = _said(self._path, error)
            for _, _, then in items:
                if then is not None:
                    then(fault)
        if connection is not None:
            connection.close()


def _write(connection: sqlite3.Connection, items: Sequence[_Put], holder: Holder | None) -> None:
    now = time.time()
    answers = [(one.key, one.role, one.model, one.text, one.tokens_in, one.tokens_out, now) for some, _, _ in items for one in some]
    works = [(now, *_row(work)) for _, some, _ in items for work in some]
    if not answers and not works:
        return
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        # Another process may have been quicker: the first answer stays, so that nobody sees two.
        _insert(connection, "INSERT OR IGNORE INTO answers VALUES ", answers)
        _insert(connection, "INSERT INTO work VALUES ", works)
        if holder is not None:
            take_off(connection, holder.name, _costs(items))


def _insert(connection: sqlite3.Connection, into: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Many rows by one statement. With one for each row, the threads of the process would take turns twice a row: SQLite runs a
    statement outside of Python, and whoever waits goes first when it comes back.
    """
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = rows[start : start + _ROWS_AT_ONCE]
        marks = f"({', '.join('?' * len(part[0]))})"
        connection.execute(into + ", ".join([marks] * len(part)), tuple(chain.from_iterable(part)))


def _costs(items: Sequence[_Put]) -> Mapping[tuple[str, str], float]:
    """What was spent in each run, and in each of its roles."""
    costs: dict[tuple[str, str], float] = defaultdict(float)
    for _, some, _ in items:
        for work in some:
            for role in ("", work.role):
                costs[work.tags.run, role] += work.cost or 0.0
    return costs


def _row(work: Work) -> tuple[Any, ...]:
    tags = work.tags
    facts = (work.outcome, work.requests, work.hits, work.tokens_in, work.tokens_out, work.seconds, work.cost)
    return (tags.run, tags.asset, tags.partition, work.role, work.endpoint, work.model, *facts)


def _connect(path: Path) -> sqlite3.Connection:
    statements = 4 * _ROWS_AT_ONCE  # that are kept ready: one for each number of rows
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=statements)
    connection.execute("PRAGMA synchronous = FULL")  # a commit is on disk when it returns, in WAL mode too
    return connection


def _create(path: Path) -> None:
    """Make the file where there is none: aside, then linked to its place, so that of several processes one is first."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    connection = sqlite3.connect(aside)
    try:
        connection.executescript(_SCHEMA)
        connection.close()
        os.link(aside, path)
    except FileExistsError:
        pass
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(path.parent)


def _said(path: Path, fault: BaseException) -> Exception:
    if isinstance(fault, ModelError | LakeError):
        return fault
    if isinstance(fault, sqlite3.OperationalError) and "locked" in str(fault):
        return ModelError(f"{path} is being written by another process for more than {BUSY_SECONDS:.0f} s; see what hangs there")
    return LakeError(f"{path} can't be used ({' '.join(str(fault).split())}); if it is damaged, move it away: answers are asked for anew")


def as_dict(cost: Cost) -> dict[str, Any]:
    """A line of costs as plain values, its names first."""
    facts = asdict(cost)
    return {**facts.pop("group"), **facts}

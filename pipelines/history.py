"""Dagster's own record, for a process that makes many short runs: the files of Dagster's SQLite storage, opened once.

Dagster opens and closes a database for every event, and lays one down for every run, going through all its migrations: most of what a run
costs that makes little. The files and what is in them are the same: the UI reads them through Dagster's own classes, beside this. What does
not belong here: where they lie (`project.py`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME, SqliteEventLogStorage
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._serdes import ConfigurableClassData
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

from scholarlake.lake.files import write_atomically

_KEPT = 3  # databases of runs held open: the one at work, and those that a failure or a check looks back at


class _Open:
    """Connections to SQLite databases by their addresses, each held open, one user at a time."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._lock = RLock()
        self._connections: dict[str, Connection] = {}

    @contextmanager
    def transaction(self, address: str) -> Iterator[Connection]:
        with self._lock:
            connection = self._connections.pop(address, None) or _connected(address)
            try:
                if connection.in_transaction():  # asked for again inside itself
                    yield connection
                else:
                    with connection.begin():
                        yield connection
            except BaseException:
                connection.close()  # whatever it was: the next one starts afresh, as with Dagster's own
                raise
            self._connections[address] = connection  # the newest stands last
            for oldest in list(self._connections)[: -self._kept]:
                self._connections.pop(oldest).close()

    def close(self) -> None:
        with self._lock:
            while self._connections:
                self._connections.popitem()[1].close()


def _connected(address: str) -> Connection:
    settings = {"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False}
    connection = create_engine(address, poolclass=NullPool, connect_args=settings).connect()
    # Every commit reaches the system at once, so that a process may be killed; only the machine's own end may lose the last ones.
    connection.execute(text("PRAGMA synchronous = NORMAL"))
    connection.rollback()
    return connection


class EventLog(SqliteEventLogStorage):
    """Dagster's event log, its databases held open."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._open = _Open(_KEPT + 1)
        self._empty: bytes | None = None  # a run's database without an event
        super().__init__(base_dir, inst_data)

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> EventLog:
        return cls(inst_data=inst_data, **config_value)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        if shard not in self._initialized_dbs:
            self._lay_down(shard)
        with self._open.transaction(self.conn_string_for_shard(shard)) as connection:
            yield connection

    def _lay_down(self, shard: str) -> None:
        """Make the database: Dagster's own way the first time, after that as a copy of what came of it."""
        path = Path(self.path_for_shard(shard))
        is_new = not path.exists() and shard != INDEX_SHARD_NAME
        if is_new and self._empty is not None:
            write_atomically(path, self._empty)
            self._initialized_dbs.add(shard)
            return
        with super()._connect(shard) as connection:
            connection.execute(text("SELECT 1"))
        if is_new:
            with closing(sqlite3.connect(path)) as made:
                self._empty = made.serialize()

    def dispose(self) -> None:
        self._open.close()
        super().dispose()


class Runs(SqliteRunStorage):
    """Dagster's list of runs, its database held open."""

    def __init__(self, conn_string: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._open = _Open(1)
        super().__init__(conn_string, inst_data)

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> Runs:
        return cls.from_local(inst_data=inst_data, **config_value)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        with self._open.transaction(self._conn_string) as connection:
            yield connection

    def dispose(self) -> None:
        self._open.close()
        super().dispose()


def storage(home: Path) -> dict[str, Any]:
    """How an instance of that Dagster home is told to use them."""
    module = EventLog.__module__
    return {
        "event_log_storage": {"module": module, "class": EventLog.__name__, "config": {"base_dir": str(home / "history" / "runs")}},
        "run_storage": {"module": module, "class": Runs.__name__, "config": {"base_dir": str(home / "history")}},
    }

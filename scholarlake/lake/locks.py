"""Locks of a lake: what one process does at a time. Held through the file system of this machine, and gone with the process,
however it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from scholarlake.errors import LakeError
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake


class Busy(LakeError):
    """Another process is at it."""


@contextmanager
def hold(lake: Lake, what: str, which: str = "") -> Iterator[None]:
    """Hold a lock, waiting for it as long as another process holds it. what and which name it."""
    with _file(lake, what, which) as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def take(lake: Lake, what: str) -> Iterator[None]:
    """Hold a lock, or raise Busy, saying which process holds it."""
    with _file(lake, what, "") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = handle.read().strip() or "unknown"
            raise Busy(f"a {what} of {lake.root} is under way already (process {holder}); wait for it to end, or stop it") from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield


@contextmanager
def at_work(lake: Lake) -> Iterator[None]:
    """Hold the lake, beside others, while files are laid down, read at their newest version or checked. Waits while things are
    taken away."""
    with _file(lake, "work", "") as handle:
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield


@contextmanager
def alone(lake: Lake) -> Iterator[None]:
    """Hold the lake against all that is at work. Raises Busy at once where something is."""
    with _file(lake, "work", "") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(f"a run is at work in {lake.root}; do it again when it has ended") from None
        yield


@contextmanager
def _file(lake: Lake, what: str, which: str) -> Iterator[IO[str]]:
    folder = lake.root / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{what}-{digest([which])}" if which else what
    # Closing the file lets the lock go.
    with (folder / f"{name}.lock").open("a+") as handle:
        handle.seek(0)
        yield handle

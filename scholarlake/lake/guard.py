"""Who may be in the lake: any number of steps at work, or one that takes things away, never both.

The lock is this machine's, and goes with the process, however it ends. What does not belong here: who writes a partition (`delta.py`).
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from scholarlake.errors import LakeError
from scholarlake.lake.home import Lake


@contextmanager
def at_work(lake: Lake) -> Iterator[None]:
    """Hold the lake while files are laid down, read at their newest version or checked. Waits while things are taken away."""
    with _held(lake, fcntl.LOCK_SH):
        yield


@contextmanager
def alone(lake: Lake) -> Iterator[None]:
    """Hold the lake against all that is at work. Raises LakeError at once where something is."""
    try:
        with _held(lake, fcntl.LOCK_EX | fcntl.LOCK_NB):
            yield
    except BlockingIOError:
        raise LakeError(f"a run is at work in {lake.root}; do it again when it has ended") from None


@contextmanager
def _held(lake: Lake, kind: int) -> Iterator[None]:
    folder = lake.root / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "work.lock").open("w") as handle:
        fcntl.flock(handle, kind)
        try:
            yield
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)

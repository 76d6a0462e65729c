"""What holds for every test: examples that hypothesis makes up are the same in every run, no example is timed, and lakes lie in memory.

Other examples: HYPOTHESIS_PROFILE=random. Lakes on the disk: PYTEST_DEBUG_TEMPROOT=/tmp.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# Every commit waits for the disk, many thousand times in all: no test is about that, and on a slow disk it is most of the time.
_MEMORY = Path("/dev/shm")
if "PYTEST_DEBUG_TEMPROOT" not in os.environ and _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > 6 << 30:
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(_MEMORY)

#: Files that take minutes, the longest first. They are given out one by one in the order in which they are collected: a long one that
#: begins last keeps one worker busy while the other has nothing left to do.
_LONGEST = (
    "tests/properties/test_refresh_through_dagster.py",
    "tests/properties/test_interrupted_refresh.py",
    "tests/e2e/test_killed.py",
    "tests/e2e/test_collections.py",
    "tests/properties/test_whole_refreshes.py",
    "tests/properties/test_refresh.py",
    "tests/e2e/test_killed_anywhere.py",
    "tests/e2e/test_release_history.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, the others as they are."""
    order = {name: place for place, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: order.get(item.nodeid.partition("::")[0], len(order)))

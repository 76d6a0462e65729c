"""What holds for every test: examples that hypothesis makes up are the same in every run, no example is timed, and lakes lie in memory.

Other examples: HYPOTHESIS_PROFILE=random. Lakes on the disk: PYTEST_DEBUG_TEMPROOT=/tmp.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# Every commit waits for the disk, many thousand times in all: no test is about that, and on a slow disk it is most of the time.
_MEMORY = Path("/dev/shm")
if "PYTEST_DEBUG_TEMPROOT" not in os.environ and _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > 6 << 30:
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(_MEMORY)

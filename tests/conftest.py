"""What holds for every test: examples that hypothesis makes up are the same in every run, and no example is timed.

Other examples: HYPOTHESIS_PROFILE=random.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("random", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

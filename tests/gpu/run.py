"""Run every test that needs a GPU, from anywhere: `python tests/gpu/run.py`. Says so, and fails, where FAISS sees none.

`make gpu-tests` makes the environment that it needs.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> int:
    import faiss
    import pytest

    if not getattr(faiss, "get_num_gpus", lambda: 0)():
        print("FAISS sees no GPU: run `make gpu-tests` on a machine that has one")
        return 2
    root = Path(__file__).resolve().parents[2]
    return int(pytest.main([str(root / "tests" / "gpu"), "-m", "gpu", "-v", f"--rootdir={root}", "-c", str(root / "pyproject.toml")]))


if __name__ == "__main__":
    sys.exit(main())

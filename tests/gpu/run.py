"""Run every test that needs a GPU, from anywhere: `python tests/gpu/run.py`. Says so, and fails, where FAISS sees none.

`make gpu-tests` makes the environment that it needs, the small models included. Ten minutes on one GPU, at most.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / ".venv-gpu" / "models"


def main() -> int:
    import faiss
    import pytest

    if not getattr(faiss, "get_num_gpus", lambda: 0)():
        print("FAISS sees no GPU: run `make gpu-tests` on a machine that has one")
        return 2
    if not (MODELS / "smollm2" / "config.json").is_file():
        script = ROOT / "tests" / "engines" / "make_models.py"
        subprocess.run([sys.executable, str(script), str(MODELS), str(ROOT / "README.md")], check=True)
    options = ["-m", "gpu", "-v", "--durations=10", f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml")]
    return int(pytest.main([str(ROOT / "tests" / "gpu"), *options]))


if __name__ == "__main__":
    sys.exit(main())

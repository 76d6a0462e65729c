"""`make ui`: the Dagster UI and daemon on a lake's own instance."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from pipelines.project import ROOT, Places, prepare_home


def main() -> int:
    """Run `dagster dev` on the workspace until it is stopped. Returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=3000)
    parser.add_argument("--host", default="127.0.0.1")
    options = parser.parse_args()
    places = Places.chosen()
    prepare_home(places.dagster_home)
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(places.dagster_home),
        "SCHOLARLAKE_LAKE": str(places.lake),
        "SCHOLARLAKE_DUMPS": str(places.dumps),
        "SCHOLARLAKE_PROFILE": places.profile,
        "SCHOLARLAKE_MODELS": str(places.models),
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")]),
    }
    command = [sys.executable, "-m", "dagster", "dev", "-w", str(ROOT / "workspace.yaml"), "-p", str(options.port), "-h", options.host]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

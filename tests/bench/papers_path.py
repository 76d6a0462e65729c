"""All `papers` of a lake that library_path.py made, through ScholarLake's own library, shard after shard.

    python tests/bench/papers_path.py LAKE

The DuckDB script has no such step, so this is no part of the comparison. Prints one line of JSON: counts, seconds.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from scholarlake.corpus.merge import build_papers
from scholarlake.lake import delta
from scholarlake.lake.home import Lake


def run(root: Path) -> dict[str, object]:
    """Merge the papers of every shard; how many, and the time it took."""
    lake = Lake.open(root)
    commit = delta.Commit("bench", "bench", {})
    began = time.perf_counter()
    papers = sum(build_papers(lake, shard, commit).papers for shard in lake.shard_keys)
    seconds = round(time.perf_counter() - began, 2)
    return {"counts": {"papers": papers}, "seconds": seconds, "steps": {"papers": seconds}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("lake", type=Path)
    print(json.dumps(run(parser.parse_args().lake)))


if __name__ == "__main__":
    main()

"""The corpus stage through ScholarLake's own library, without Dagster: raw JSON lines to core_citations, `papers` left out.

    python tests/bench/library_path.py DUMPS LAKE [--profile oag]

Prints one line of JSON: counts, seconds by step.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from pathlib import Path

from scholarlake import profile
from scholarlake.corpus.citations import build_citations, build_core_citations, build_core_papers, build_degrees
from scholarlake.corpus.identity import build_identities
from scholarlake.lake.delta import Commit
from scholarlake.lake.home import Lake
from scholarlake.sources.dumps import inspect_part, list_parts
from scholarlake.sources.files import folder_at
from scholarlake.sources.ingest import ingest_part

PROFILES = Path(__file__).parents[2] / "data" / "profiles"


def run(dumps: Path, root: Path, profile_name: str) -> dict[str, object]:
    """Build all tables in a new lake; counts and times."""
    settings = profile.load(profile_name, PROFILES)
    shutil.rmtree(root, ignore_errors=True)
    lake = Lake.create(root, settings.shards)
    commit = Commit("bench", "bench", {})
    began = last = time.perf_counter()
    seconds: dict[str, float] = {}

    def step(name: str) -> None:
        nonlocal last
        now = time.perf_counter()
        seconds[name], last = round(now - last, 2), now

    read = [ingest_part(lake, inspect_part(file), settings.reading, commit) for file in list_parts(folder_at(dumps))]
    step("records")
    identities = build_identities(lake, commit)
    step("identities")
    citations = build_citations(lake, commit)
    step("citations")
    build_degrees(lake, settings.core, commit)
    core_papers = build_core_papers(lake, commit)
    core_citations = build_core_citations(lake, commit)
    step("core")
    counts = {
        "records": sum(part.records for part in read),
        "rejects": sum(part.rejects for part in read),
        "distinct_records": identities.distinct_records,
        "record_ids": identities.record_ids,
        "papers": identities.papers,
        "citations": citations.rows,
        "self_references": citations.self_references,
        "repeated_references": citations.repeated_references,
        "unresolved_references": citations.unresolved_references,
        "core_papers": core_papers.rows,
        "core_citations": core_citations.rows,
    }
    return {"counts": counts, "seconds": round(time.perf_counter() - began, 2), "steps": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("dumps", type=Path)
    parser.add_argument("lake", type=Path)
    parser.add_argument("--profile", default="oag")
    given = parser.parse_args()
    print(json.dumps(run(given.dumps, given.lake, given.profile)))


if __name__ == "__main__":  # the reading processes import this module anew
    main()

"""Subgraphs of a core of the size of SciLENS's: nine million steps, and all thirty batches as tables.

    python -m tests.bench.subgraphs_bench [--papers 250000] [--citations 5000000]

Prints seconds by step and the peak of this process's memory. Exits with 1 where the core as arrays and nine million steps without
exclusion take longer than MOST_SECONDS, or the whole takes more than MOST_MEMORY.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from scholarlake.corpus.keys import mix
from scholarlake.lake import contracts, delta
from scholarlake.lake.delta import Commit
from scholarlake.lake.home import Lake
from scholarlake.profile import Training
from scholarlake.training.graph import read_graph
from scholarlake.training.splits import keys_of
from scholarlake.training.subgraphs import build_subgraphs
from scholarlake.training.walks import visits_of, walk

MOST_SECONDS = 180
MOST_MEMORY = 3 << 30  # bytes
SUBGRAPHS, AT_ONCE = 30_000, 1_000
RUN = Commit("bench", "1")


def lay_down(root: Path, papers: int, citations: int) -> Lake:
    """A lake with a core of made-up papers; how often one is cited is as uneven as in a citation graph."""
    lake = Lake.create(root, 16)
    draws = np.random.default_rng(0)
    ids = pl.Series([f"{value:024x}" for value in draws.permutation(papers)])
    shards = pl.Series([lake.shard_of(paper) for paper in ids])
    citing = draws.integers(0, papers, int(citations * 1.1), dtype=np.int64)
    cited = (papers * draws.random(len(citing)) ** 4).astype(np.int64)
    edges = np.unique((citing << 32 | cited)[citing != cited])
    edges = np.sort(draws.choice(edges, min(citations, len(edges)), replace=False))
    citing, cited = edges >> 32, edges & 0xFFFFFFFF
    degrees = {"in_degree": np.bincount(cited, minlength=papers), "out_degree": np.bincount(citing, minlength=papers)}
    core = pl.DataFrame({"paper_id": ids, "shard": shards, **degrees, "total_degree": sum(degrees.values())})
    pairs = pl.DataFrame({"citing_id": ids[citing], "cited_id": ids[cited], "shard": shards[citing]})
    for name, frame in (("core_papers", core), ("core_citations", pairs)):
        for shard in lake.shard_keys:
            part = frame.filter(pl.col("shard") == shard).select(list(contracts.table(name).columns))
            delta.commit_staged(lake, name, shard, [delta.stage(lake, name, shard, part)], RUN)
    return lake


def measure(lake: Lake, training: Training) -> dict[str, float]:
    """Seconds by step, and the memory that all of them took at most, in bytes."""
    seconds: dict[str, float] = {}
    last = time.perf_counter()

    def step(name: str) -> None:
        nonlocal last
        now = time.perf_counter()
        seconds[name], last = round(now - last, 2), now

    graph = read_graph(lake)
    keys = keys_of(graph, training.seed)
    step("core as arrays")
    seeds = np.argsort(keys).astype(np.uint32)
    seeds = seeds[graph.degrees[seeds] > 0][:SUBGRAPHS]
    papers = 0
    for start in range(0, len(seeds), AT_ONCE):
        part = seeds[start : start + AT_ONCE]
        papers += len(visits_of(walk(graph, part, mix(keys[part]), training.walks, training.steps)).papers)
    step("nine million steps")
    del graph
    made = sum(build_subgraphs(lake, batch, training, RUN).rows for batch in lake.batch_keys)
    step("thirty batches as tables")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {**seconds, "papers a subgraph": round(papers / len(seeds), 1), "subgraphs kept apart": made, "peak bytes": peak}


def main() -> int:
    """Lay down, then measure in a process of its own memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--papers", type=int, default=250_000)
    parser.add_argument("--citations", type=int, default=5_000_000)
    parser.add_argument("--lake", type=Path, help="one laid down before, to be measured")
    given = parser.parse_args()
    if given.lake is None:
        import subprocess

        folder = Path(tempfile.mkdtemp())
        try:
            lay_down(folder / "lake", given.papers, given.citations)
            command = [sys.executable, "-m", "tests.bench.subgraphs_bench", "--lake", str(folder / "lake")]
            return subprocess.run(command, check=False).returncode
        finally:
            shutil.rmtree(folder)
    found = measure(Lake.open(given.lake), Training())  # type: ignore[call-arg]
    print(json.dumps(found))
    return int(found["core as arrays"] + found["nine million steps"] > MOST_SECONDS or found["peak bytes"] > MOST_MEMORY)


if __name__ == "__main__":
    sys.exit(main())

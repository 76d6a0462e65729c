"""`make bench`: the library path against a plain DuckDB script, on the same generated papers, one after the other in one run.

    python -m tests.bench.bench [--papers 1000000] [--rounds 1] [--keep]

All end with the same tables in Parquet files compressed by zstd (see duckdb_baseline.py for what the script leaves out). The script runs
twice: as one that accounts for every line, which is the same work, and as one that trusts its dump, to show what the accounting costs.
The library's `papers`, which the script has not, are made and measured after that, apart.

Each runs as a process of its own and is measured from outside: wall time from start to exit, imports included, and peak memory of its
whole tree of processes. Memory is the sum of PSS (a page shared by n processes counts a nth in each) where the system tells it, else of
RSS, sampled every fifth of a second, so a shorter peak may be missed. Pages of mapped files count too. Exits with 1 where the two, or
the true answers, differ in a count.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from scholarlake.lake.hashing import digest
from scholarlake.sample import generate

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
CACHE = REPOSITORY / "data" / "bench"
MOST_MEMORY = 2 << 30  # bytes; what the library path may take at a million papers
SAMPLE_SECONDS = 0.2
PARTS, SEED = 4, 7
READERS = ("accounting", "trusting")  # of duckdb_baseline.py
COMPARED = ("records", "papers", "citations", "core_papers", "core_citations")


@dataclass(frozen=True)
class Measured:
    """One run. seconds: wall; peak: bytes, of the process tree; inside: seconds of the work itself, as the script counted them."""

    seconds: float
    peak: int
    inside: float
    counts: dict[str, int]
    steps: dict[str, float]


def dump_of(papers: int) -> Path:
    """The folder of a clean generated dump of that many papers, made where it is not there yet."""
    sources = sorted((REPOSITORY / "scholarlake" / "sample").glob("*.*"))
    generator = digest(path.read_text(encoding="utf-8") for path in sources)[:8]
    folder = CACHE / f"papers-{papers}-{generator}"
    truth = folder / "truth.json"
    if truth.is_file() and "counts" in json.loads(truth.read_bytes()):
        return folder
    for stale in CACHE.glob(f"papers-{papers}-*"):
        shutil.rmtree(stale)
    began = time.perf_counter()

    def progress(done: int, total: int | None, what: str) -> None:
        if sys.stderr.isatty():
            print(f"\r{what}: {done:,} of {total or 0:,} ", end="", file=sys.stderr, flush=True)

    facts = generate(folder, papers, PARTS, SEED, compression="none", faults=False, progress=progress)
    print(f"generated {facts.records:,} records, {facts.bytes / 1e9:.2f} GB, in {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return folder


def read_through(folder: Path) -> None:
    """Have the dump in the page cache, so that neither pays for the disk."""
    for path in sorted(folder.rglob("*.json")):
        with path.open("rb") as stream:
            while stream.read(1 << 24):
                pass


def tree_memory(root: psutil.Process) -> int:
    """Bytes that a process and all its children hold now."""
    total = 0
    try:
        processes = [root, *root.children(recursive=True)]
    except psutil.Error:
        return 0
    for process in processes:
        try:
            facts = process.memory_full_info()
            total += getattr(facts, "pss", 0) or facts.rss
        except psutil.Error:
            continue  # it has just ended
    return total


def measure(command: list[str]) -> Measured:
    """Run a script that prints one line of JSON. Raises SystemExit where it fails."""
    began = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, cwd=REPOSITORY, env=environment, text=True) as process:
        watched, peak = psutil.Process(process.pid), 0
        while True:
            peak = max(peak, tree_memory(watched))
            try:
                process.wait(SAMPLE_SECONDS)
                break
            except subprocess.TimeoutExpired:
                continue
        seconds = time.perf_counter() - began
        printed = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise SystemExit(f"{command[0]} failed with exit code {process.returncode}")
    answer: dict[str, Any] = json.loads(printed.strip().splitlines()[-1])
    return Measured(seconds, peak, float(answer["seconds"]), answer["counts"], answer["steps"])


def true_counts(folder: Path, min_total: int, min_in: int) -> dict[str, int]:
    truth = json.loads((folder / "truth.json").read_bytes())
    core = next(core for core in truth["core"] if (core["min_total"], core["min_in"]) == (min_total, min_in))
    counts = truth["counts"]
    found = {name: int(counts[name]) for name in ("records", "papers", "citations")}
    return {**found, "core_papers": int(core["papers"]), "core_citations": int(core["citations"])}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--papers", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1, help="how often each runs; the best of each counts")
    parser.add_argument("--keep", action="store_true", help="keep what both wrote under data/bench")
    given = parser.parse_args()
    folder = dump_of(given.papers)
    read_through(folder)
    dumps = str(folder / "dumps")
    work = Path(tempfile.mkdtemp(prefix="work-", dir=CACHE))
    try:
        library, merged = [], []
        scripts: dict[str, list[Measured]] = {reader: [] for reader in READERS}
        for _ in range(given.rounds):
            library.append(measure([str(HERE / "library_path.py"), dumps, str(work / "lake"), "--profile", "oag"]))
            for reader, runs in scripts.items():
                runs.append(measure([str(HERE / "duckdb_baseline.py"), dumps, str(work / "duckdb"), "--reader", reader]))
            merged.append(measure([str(HERE / "papers_path.py"), str(work / "lake")]))
    finally:
        if not given.keep:
            shutil.rmtree(work, ignore_errors=True)
    ours, papers = _best(library), _best(merged)
    return report(ours, {reader: _best(runs) for reader, runs in scripts.items()}, papers, true_counts(folder, 40, 10), given.papers)


def _best(runs: list[Measured]) -> Measured:
    return min(runs, key=lambda run: run.seconds)


def report(ours: Measured, scripts: dict[str, Measured], merged: Measured, truth: dict[str, int], papers: int) -> int:
    """Print the tables; 1 where a count differs."""
    print(f"\n{papers:,} papers, {os.cpu_count()} cores\n")
    names = [f"DuckDB, {reader}" for reader in scripts]
    print(f"{'':24}{'library path':>18}" + "".join(f"{name:>20}" for name in names) + f"{'truth':>14}")
    for count in COMPARED:
        found = "".join(f"{script.counts[count]:>20,}" for script in scripts.values())
        print(f"{count:24}{ours.counts[count]:>18,}{found}{truth[count]:>14,}")
    print()
    lines = [(f"  {step}", seconds, [script.steps[step] for script in scripts.values()], 1) for step, seconds in ours.steps.items()]
    lines.insert(0, ("seconds, whole process", ours.seconds, [script.seconds for script in scripts.values()], 1))
    lines.insert(1, ("seconds, work alone", ours.inside, [script.inside for script in scripts.values()], 1))
    lines.append(("peak memory, GB", ours.peak / 1e9, [script.peak / 1e9 for script in scripts.values()], 2))
    for name, mine, others, digits in lines:
        print(f"{name:24}{mine:>18.{digits}f}" + "".join(f"{f'{other:.{digits}f} ({mine / other:.2f})':>20}" for other in others))
    print("\nIn brackets: library path to script.")
    for name, script in zip(names, scripts.values(), strict=True):
        print(f"Wall time, library path to {name}: {ours.seconds / script.seconds:.2f}.")
    made = merged.counts["papers"]
    print(
        f"Not in the ratio: the library then merges {made:,} papers in {merged.seconds:.1f} s"
        f" ({made / merged.inside:,.0f}/s), peak {merged.peak / 1e9:.2f} GB."
    )
    if max(ours.peak, merged.peak) > MOST_MEMORY:
        print(f"The library path takes more than {MOST_MEMORY / 1e9:.2f} GB of memory.")
    wrong = [count for count in COMPARED if {truth[count]} != {one.counts[count] for one in (ours, *scripts.values())}]
    wrong += ["merged papers"] if made != truth["papers"] else []
    if wrong:
        print(f"Counts differ: {', '.join(wrong)}.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

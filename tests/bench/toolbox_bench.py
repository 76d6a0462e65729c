"""What the research tools take on a lake of a million papers and twenty million citations, embedded by hashing.

    python -m tests.bench.toolbox_bench [--papers 1000000] [--calls 200] [--seconds 20] [--keep]

The lake is made where it is not there yet (toolbox_lake.py), and removed again without --keep. In a fresh process the release is opened
and every index used once; shown are the seconds that takes, and the memory that is not mapped files. Then every tool is called with
arguments drawn alike in every run: papers at random, the commonest word, walks through a hub that a fifth of all papers cite, paths
between random papers and to and from the hub. Shown are p50 and p95 in milliseconds, by the clock and by the processor's time of the
process (beside other work the steadier of the two), and what each may take. Last, 32 readers (4 processes of 8 threads) call all tools in
turns for some seconds: calls a second, and what failed.

Exits with 1 where a call fails that should not, or, with a million papers and more, where a bound is passed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import scholarlake
from scholarlake.lake.hashing import digest
from scholarlake.toolbox.dispatch import Toolbox

REPOSITORY = Path(__file__).parents[2]
CACHE = REPOSITORY / "data" / "bench"
FULL_SIZE = 1_000_000
OPENING_SECONDS, OPENING_BYTES = 2.0, 300 << 20
PROCESSES, THREADS = 4, 8
WARMING = 20  # calls of each kind before it is measured
EXPECTED_FAULTS = {"nothing_found", "no_path", "same_paper"}  # true answers about papers drawn at random

COMMON = "study"

Call = tuple[str, dict[str, Any]]

#: What each kind of call may take at p95, in milliseconds.
BOUNDS = {
    "PaperInfo": 5,
    "PaperInfo, by title": 5,
    "ReferenceSearch": 5,
    "GetInDegree": 5,
    "GetInDegree, hub": 5,
    "KeywordSearch": 50,
    "KeywordSearch, commonest word": 50,
    "EmbeddingSearch": 50,
    "GetKhop, k 2": 100,
    "GetKhop, through the hub, both ways": 100,
    "GetKhop, of the hub, k 3, both ways": 100,
    "ShortestPath": 300,
    "ShortestPath, to the hub": 300,
    "ShortestPath, from the hub": 300,
}


def paper_id(number: int) -> str:
    return f"p{number:09d}"


def calls(toolbox: Toolbox, papers: int) -> Mapping[str, Callable[[random.Random], Call]]:
    """For each kind of call, what draws one."""
    hub = paper_id(0)
    answer = toolbox.call({"tool_name": "GetInDegree", "tool_args": {"id": hub}})
    fans = [one["id"] for one in answer["result"]["papers"]]

    def some(rng: random.Random) -> str:
        return paper_id(rng.randrange(papers))

    def title(rng: random.Random) -> str:
        return str(toolbox.reader.paper(some(rng)).title)

    def words(rng: random.Random, count: int) -> list[str]:
        return rng.sample(title(rng).split()[:-1], count)

    return {
        "PaperInfo": lambda rng: ("PaperInfo", {"id": some(rng)}),
        "PaperInfo, by title": lambda rng: ("PaperInfo", {"title": title(rng)}),
        "ReferenceSearch": lambda rng: ("ReferenceSearch", {"id": some(rng)}),
        "GetInDegree": lambda rng: ("GetInDegree", {"id": some(rng)}),
        "GetInDegree, hub": lambda rng: ("GetInDegree", {"id": hub}),
        "KeywordSearch": lambda rng: ("KeywordSearch", {"keywords": words(rng, 2)}),
        "KeywordSearch, commonest word": lambda rng: ("KeywordSearch", {"keywords": [COMMON, *words(rng, 1)]}),
        "EmbeddingSearch": lambda rng: ("EmbeddingSearch", {"query": " ".join(words(rng, 5))}),
        "GetKhop, k 2": lambda rng: ("GetKhop", {"id": some(rng), "k": 2}),
        "GetKhop, through the hub, both ways": lambda rng: ("GetKhop", {"id": rng.choice(fans), "k": 2, "direction": "both"}),
        "GetKhop, of the hub, k 3, both ways": lambda rng: ("GetKhop", {"id": hub, "k": 3, "direction": "both"}),
        "ShortestPath": lambda rng: ("ShortestPath", {"start_id": some(rng), "end_id": some(rng)}),
        "ShortestPath, to the hub": lambda rng: ("ShortestPath", {"start_id": some(rng), "end_id": hub}),
        "ShortestPath, from the hub": lambda rng: ("ShortestPath", {"start_id": hub, "end_id": some(rng)}),
    }


def asked(toolbox: Toolbox, call: Call) -> str | None:
    """Call a tool. What went wrong, where something did that should not."""
    answer = toolbox.call({"tool_name": call[0], "tool_args": call[1]})
    return None if answer["ok"] or answer["error"]["code"] in EXPECTED_FAULTS else f"{call}: {answer['error']['message']}"


def not_mapped() -> int:
    """Bytes of this process that are no pages of mapped files."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("Anonymous:"))


# -- what runs in processes of its own -----------------------------------------------------------------------------------


def measured(lake: Path, papers: int, count: int) -> dict[str, Any]:
    """One reader: opening, memory, and every kind of call."""
    before, began = not_mapped(), time.perf_counter()
    with scholarlake.open(lake) as reader, reader.toolbox() as toolbox:
        first: Sequence[Call] = (
            ("PaperInfo", {"id": paper_id(1)}),
            ("GetInDegree", {"id": paper_id(0)}),
            ("EmbeddingSearch", {"query": "opening"}),
        )
        faults = [fault for call in first if (fault := asked(toolbox, call))]
        opening, memory = time.perf_counter() - began, not_mapped() - before
        times = {}
        for kind, draw in calls(toolbox, papers).items():
            rng = random.Random(kind)
            taken, computed = [], []
            for number in range(WARMING + count):
                call = draw(rng)
                start, processor = time.perf_counter(), time.process_time()
                fault = asked(toolbox, call)
                if number >= WARMING:
                    taken.append(time.perf_counter() - start)
                    computed.append(time.process_time() - processor)
                faults += [fault] if fault else []
            times[kind] = (sorted(taken), sorted(computed))
        after = not_mapped() - before
    return {"opening": opening, "memory": memory, "memory_after": after, "times": times, "faults": faults}


def crowded(lake: Path, papers: int, seconds: float) -> dict[str, Any]:
    """Eight readers of one process, each going through all kinds of calls until the time is over."""
    with scholarlake.open(lake) as reader, reader.toolbox() as toolbox:
        kinds = calls(toolbox, papers)
        print("ready", flush=True)
        sys.stdin.readline()
        until = time.perf_counter() + seconds

        def read(number: int) -> tuple[int, list[str]]:
            rng, done, faults = random.Random(os.getpid() * THREADS + number), 0, list[str]()
            while time.perf_counter() < until:
                fault = asked(toolbox, rng.choice(list(kinds.values()))(rng))
                done, faults = done + 1, faults + ([fault] if fault else [])
            return done, faults

        with ThreadPoolExecutor(THREADS) as pool:
            results = list(pool.map(read, range(THREADS)))
    return {"calls": sum(done for done, _ in results), "faults": [fault for _, faults in results for fault in faults]}


# -- the whole ---------------------------------------------------------------------------------------------------------


def lake_of(papers: int) -> Path:
    """The lake of that many papers, made where it is not there yet."""
    maker = digest(path.read_text(encoding="utf-8") for path in (Path(__file__).with_name("toolbox_lake.py"),))[:8]
    root = CACHE / f"tools-{papers}-{maker}"
    if not list((root / "releases").glob("*.json")):
        from tests.bench.toolbox_lake import make  # half the library: what opens a release should not have it loaded

        shutil.rmtree(root, ignore_errors=True)
        make(root, papers, paper_id, COMMON)
    return root


def child(*given: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.bench.toolbox_bench", *map(str, given)]
    return subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def answer_of(process: subprocess.Popen[str]) -> dict[str, Any]:
    printed, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"a reader failed with exit code {process.returncode}")
    found: dict[str, Any] = json.loads(printed.strip().splitlines()[-1])
    return found


def report(one: Mapping[str, Any], many: Sequence[Mapping[str, Any]], seconds: float) -> Iterator[tuple[str, bool]]:
    """Lines to print, each with whether its bound holds."""
    opening, memory = float(one["opening"]), int(one["memory"])
    yield f"opening     {opening:8.2f} s    (may take {OPENING_SECONDS:.0f} s)", opening <= OPENING_SECONDS
    yield f"not mapped  {memory / 2**20:8.0f} MiB  (may be {OPENING_BYTES >> 20} MiB)", memory <= OPENING_BYTES
    yield f"after all   {one['memory_after'] / 2**20:8.0f} MiB", True
    yield f"\n{'milliseconds':38}{'p50':>8} {'p95':>8} {'bound':>8}    processor {'p50':>8} {'p95':>8}", True
    for kind, times in one["times"].items():
        middle, high, usual, most = (taken[int(len(taken) * share)] * 1e3 for taken in times for share in (0.5, 0.95))
        yield f"{kind:38}{middle:8.2f} {high:8.2f} {BOUNDS[kind]:8}    {'':9} {usual:8.2f} {most:8.2f}", high <= BOUNDS[kind]
    done = sum(int(part["calls"]) for part in many)
    yield f"\n{PROCESSES * THREADS} readers at once: {done / seconds:,.0f} calls a second, {done:,} in all", True
    for fault in [*one["faults"], *(fault for part in many for fault in part["faults"])][:10]:
        yield f"FAILED {fault}", False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--papers", type=int, default=FULL_SIZE)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--as", dest="part", choices=("one", "crowd"), help=argparse.SUPPRESS)
    parser.add_argument("--lake", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part == "one":
        print(json.dumps(measured(given.lake, given.papers, given.calls)))
        return
    if given.part == "crowd":
        print(json.dumps(crowded(given.lake, given.papers, given.seconds)))
        return
    root = lake_of(given.papers)
    size = sum(path.stat().st_size for path in (root / "artifacts").rglob("*") if path.is_file())
    print(f"{given.papers:,} papers, indices of {size / 1e9:.2f} GB")
    common = ("--papers", given.papers, "--lake", root)
    one = answer_of(child("--as", "one", "--calls", given.calls, *common))
    crowd = [child("--as", "crowd", "--seconds", given.seconds, *common) for _ in range(PROCESSES)]
    for process in crowd:
        assert process.stdout is not None
        process.stdout.readline()
    for process in crowd:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    failed = False
    for line, holds in report(one, [answer_of(process) for process in crowd], given.seconds):
        print(line if holds else f"{line}  !")
        failed = failed or (not holds and (given.papers >= FULL_SIZE or line.startswith("FAILED")))
    if not given.keep:
        shutil.rmtree(root)
    sys.exit(failed)


if __name__ == "__main__":
    main()

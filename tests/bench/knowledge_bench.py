"""What reading the layers of a collection takes: 50,000 objects of generated words, embedded by hashing into 384 coordinates.

    python -m tests.bench.knowledge_bench [--objects 50000] [--calls 100]

Shown are the seconds that indexing takes, anew and where nothing changed, those that opening takes, and p50 and p95 of every operation in
milliseconds, by the clock and by the processor's time of the process. Exits with 1 where a retrieval takes more than 100 ms at p95.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import scholarlake
from scholarlake.knowledge.layer.index import ASSET, build_knowledge_index
from scholarlake.knowledge.layer.knowledge import Knowledge
from scholarlake.lake.home import Lake
from scholarlake.models.config import Endpoint, open_embedder
from tests.unit.knowledge.layer.battery import COLLECTION, all_tables, condition, fact_id, quantity, write
from tests.unit.small_lake import make_lake, paper, release

EMBEDDER = Endpoint(backend="hashing", model="hashing", dimension=384, batch_size=4_096)
SENTENCES, FACTS = 16, 4  # of a paper
WORDS = 20_000
BOUND = 100.0  # milliseconds of a retrieval
COMMON = "w1 w2 w3"


def draw(rng: random.Random, words: int) -> str:
    """Words of a Zipf-like law: a few are nearly everywhere."""
    return " ".join(f"w{int(rng.paretovariate(0.9)) % WORDS}" for _ in range(words)) + "."


def made(root: Path, objects: int) -> Lake:
    rng = random.Random(7)
    names = [f"p{n}" for n in range(objects // (SENTENCES + FACTS))]
    lake = make_lake(root, [paper(name, draw(rng, 8), year=1990 + n % 30) for n, name in enumerate(names)])
    members = [{"paper_id": name, "rank": n, "role": "member", "method": "conditions"} for n, name in enumerate(names, 1)]
    write(lake, "collections", members)
    texts = {name: [draw(rng, 22) for _ in range(SENTENCES)] for name in names}
    write(
        lake, "sentences", ({"sentence_id": f"{name}:{n}", **_place(name, n, text)} for name in names for n, text in enumerate(texts[name]))
    )
    write(lake, "facts", (_fact(rng, number, name, n, texts[name][n]) for number, (name, n) in enumerate(_facts(names))))
    return lake


def _facts(names: list[str]) -> Iterator[tuple[str, int]]:
    return ((name, n) for name in names for n in range(FACTS))


def _place(name: str, n: int, text: str) -> dict[str, Any]:
    return {"paper_id": name, "n": n, "kind": "abstract", "text": text, "end": len(text)}


def _fact(rng: random.Random, number: int, name: str, n: int, text: str) -> dict[str, Any]:
    return {
        "fact_id": fact_id(number),
        "paper_id": name,
        "n": n,
        "type": "finding",
        "study_type": "quantitative",
        "subject": draw(rng, 2),
        "statement": text,
        "context": [condition(draw(rng, 3))],
        "quantities": [quantity(str(rng.randrange(100)), "%", f"w{rng.randrange(9)}")],
        "evidence": [f"{name}:{n}"],
        "evidence_hash": "0" * 32,
        "verification": "unchecked",
    }


def timed(call: Callable[[], object]) -> tuple[float, float]:
    clock, processor = time.perf_counter(), time.process_time()
    call()
    return (time.perf_counter() - clock) * 1e3, (time.process_time() - processor) * 1e3


def operations(layers: Knowledge, rng: random.Random) -> dict[str, Callable[[], object]]:
    view = layers.retrieve(draw(rng, 6), 20, kinds=["fact"])
    names = layers.papers
    return {
        "retrieve, ten words": lambda: layers.retrieve(draw(rng, 10)),
        "retrieve, a rare word": lambda: layers.retrieve(f"w{rng.randrange(5_000, WORDS)}"),
        "retrieve, the commonest words": lambda: layers.retrieve(COMMON),
        "retrieve, facts alone, k 100": lambda: layers.retrieve(draw(rng, 10), 100, kinds=["fact"]),
        "retrieve, of five papers": lambda: layers.retrieve(draw(rng, 10), papers=rng.sample(names, 5)),
        "facts of a paper": lambda: layers.facts_of(rng.choice(names)),
        "expand, evidence": lambda: layers.expand(view, "evidence"),
        "expand, neighbours": lambda: layers.expand(view, "neighbours"),
        "compare": lambda: layers.compare(view),
        "synthesize": lambda: layers.synthesize(view),
        "select from a view": lambda: layers.select(view, years=(2000, 2010)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--objects", type=int, default=50_000)
    parser.add_argument("--calls", type=int, default=100)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="knowledge-bench-"))
    embedder = open_embedder(EMBEDDER, "hashing")
    slow = False
    try:
        with all_tables():
            lake = made(folder / "lake", given.objects)
            started = time.perf_counter()
            report = build_knowledge_index(lake, COLLECTION, embedder)
            again = time.perf_counter()
            build_knowledge_index(lake, COLLECTION, embedder, report.artifact.path)
            print(f"{report.objects:,} objects indexed in {again - started:.1f} s, again in {time.perf_counter() - again:.1f} s; ", end="")
            print(f"{report.artifact.bytes / 1e6:.0f} MB")
            facts = {"name": "hashing", "fingerprint": embedder.fingerprint, "endpoint": EMBEDDER.model_dump(exclude_defaults=True)}
            release(lake, embedder=facts, **{ASSET: {COLLECTION: report.artifact}})
            rng = random.Random(11)
            with scholarlake.open(lake.root) as reader:
                opening, _ = timed(lambda: reader.knowledge(COLLECTION).retrieve("w9"))
                print(f"opened and first asked in {opening / 1e3:.2f} s")
                print(f"{'milliseconds':34}{'p50':>8}{'p95':>8}    processor {'p50':>8}{'p95':>8}")
                for name, call in operations(reader.knowledge(COLLECTION), rng).items():
                    call()
                    taken = [timed(call) for _ in range(given.calls)]
                    clock, processor = (sorted(column) for column in zip(*taken, strict=True))
                    middle, high = len(taken) // 2, int(len(taken) * 0.95)
                    over = name.startswith("retrieve") and clock[high] > BOUND
                    slow = slow or over
                    shown = f"{clock[middle]:8.1f}{clock[high]:8.1f}    {'':10}{processor[middle]:8.1f}{processor[high]:8.1f}"
                    print(f"{name:34}{shown}{'  !' if over else ''}")
    finally:
        shutil.rmtree(folder)
    sys.exit(slow)


if __name__ == "__main__":
    main()

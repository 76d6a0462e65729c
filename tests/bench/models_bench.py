"""`make bench`, second part: what the layer around a model costs, against a bare asyncio loop with the same client.

    python -m tests.bench.models_bench [--prompts 10000] [--in-flight 200] [--rounds 5]

A plain server that answers at once runs in a process of its own. In turns, each in a fresh process, as many prompts are sent to it:

    layer   ChatModel.ask: looked up first, and each answer and its cost on disk before it is handed out
    bare    as many coroutines as may be in flight, each sending one prompt after the other by one such client's `chat.completions.create`
    lean    the same by the client's `post`, which the layer uses, too; it has several clients of few connections each, which is quicker

Shown are the medians of the rounds, in prompts a second by the clock and by the processor's time of the asking process (all its threads;
on few cores, or beside other work, the steadier of the two), and the memory of that process as it goes on. Exits with 1 where an answer
is wrong or missing, or the layer reaches less than 95 % of the bare loop's throughput.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import orjson
import psutil

from scholarlake.models.chat import ChatRequest, Message, Tags
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.config import ChatEndpoint
from scholarlake.models.ledger import Ledger
from scholarlake.models.openai_chat import OpenAIChat, client_for, spoken
from tests.misbehaving import MODEL

REPOSITORY = Path(__file__).parents[2]
CACHE = REPOSITORY / "data" / "bench"  # on a real disk, and no part of the repository even where a run is killed
WAYS = ("layer", "bare", "lean")
SAMPLES = 10  # of memory, in a run
ENOUGH = 0.95  # of the bare loop's throughput
FILLER = "We study how often papers of a growing field cite each other, and what that says of the field. " * 10


@dataclass(frozen=True)
class Measured:
    """One way, once. seconds: by the clock; processor: of all threads; memory: bytes, as the run goes on; wrong: answers that are."""

    seconds: float
    processor: float
    memory: list[int]
    wrong: int


class Watch:
    """Counts answers, and looks at the memory of this process now and then."""

    def __init__(self, prompts: int) -> None:
        self.memory: list[int] = []
        self.right = 0
        self._every = max(1, prompts // SAMPLES)
        self._seen = 0
        self._process = psutil.Process()
        self._began, self._processor = time.perf_counter(), time.process_time()

    def count(self, number: int, text: str | None) -> None:
        self._seen += 1
        self.right += text == f"re: {text_of(number)}"
        if self._seen % self._every == 0:
            self.memory.append(self._process.memory_info().rss)

    def done(self, prompts: int) -> Measured:
        return Measured(time.perf_counter() - self._began, time.process_time() - self._processor, self.memory, prompts - self.right)


def text_of(number: int) -> str:
    return f"{FILLER}Paper {number}."


def request(number: int) -> ChatRequest:
    return ChatRequest((Message("system", "You read papers."), Message("user", text_of(number))))


def layer(url: str, prompts: int, in_flight: int, folder: Path) -> Measured:
    endpoint = ChatEndpoint.model_validate({"backend": "openai", "model": MODEL, "base_url": url, "concurrency": in_flight})
    ledger = Ledger(folder / "ledger.sqlite")
    with ChatModel(
        "extractor", "bench", endpoint, lambda: OpenAIChat(endpoint, url, "none"), ledger, tags=Tags("facts", "00", "run")
    ) as asked:
        watch = Watch(prompts)
        for result in asked.ask(request(number) for number in range(prompts)):
            watch.count(result.position, result.text)
        measured = watch.done(prompts)
    ledger.close()
    return measured


async def bare(url: str, prompts: int, in_flight: int, lean: bool) -> Measured:
    client: Any = client_for(url, "none", 300.0, in_flight)
    supply = iter(range(prompts))
    watch = Watch(prompts)

    async def one_after_the_other() -> None:
        for number in supply:
            asked = {"model": MODEL, "messages": spoken(request(number).messages), "max_tokens": 1_024, "temperature": 0.0, "top_p": 1.0}
            if lean:
                raw = await client.post("/chat/completions", body=asked, cast_to=httpx2.Response)
                text = orjson.loads(raw.content)["choices"][0]["message"]["content"]
            else:
                text = (await client.chat.completions.create(**asked)).choices[0].message.content
            watch.count(number, text)

    await asyncio.gather(*(one_after_the_other() for _ in range(in_flight)))
    measured = watch.done(prompts)
    await client.close()
    return measured


@contextmanager
def server() -> Iterator[str]:
    """The address of a plain server in a process of its own."""
    command = [sys.executable, "-m", "tests.misbehaving"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=REPOSITORY, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


def measured(way: str, url: str, prompts: int, in_flight: int) -> Measured:
    """One way in a fresh process."""
    command = [sys.executable, "-m", "tests.bench.models_bench", "--way", way, "--url", url]
    command += ["--prompts", str(prompts), "--in-flight", str(in_flight)]
    done = subprocess.run(command, stdout=subprocess.PIPE, cwd=REPOSITORY, text=True, check=True)
    return Measured(**json.loads(done.stdout))


def report(found: dict[str, list[Measured]], prompts: int, in_flight: int) -> int:
    """Print the tables; 1 where an answer is wrong, or the layer too slow."""
    print(f"\n{prompts:,} prompts, {in_flight} in flight, {len(found['layer'])} rounds, {os.cpu_count()} cores; medians\n")
    print(f"{'':10}{'prompts/s':>12}{'per s of processor':>22}{'memory, MB, as it goes on':>44}")
    for way, rounds in found.items():
        clock = statistics.median(prompts / one.seconds for one in rounds)
        processor = statistics.median(prompts / one.processor for one in rounds)
        memory = " ".join(f"{statistics.median(at) / 1e6:.0f}" for at in zip(*(one.memory for one in rounds), strict=True))
        print(f"{way:10}{clock:>12,.0f}{processor:>22,.0f}{memory:>44}")
    print()
    slow = False
    for other in WAYS[1:]:
        # Of each round by itself: what else the machine did then, it did to both.
        pairs = list(zip(found["layer"], found[other], strict=True))
        clock = statistics.median(theirs.seconds / ours.seconds for ours, theirs in pairs)
        processor = statistics.median(theirs.processor / ours.processor for ours, theirs in pairs)
        print(f"The layer reaches {clock:.1%} of the {other} loop's throughput by the clock, {processor:.1%} by processor time.")
        slow |= other == "bare" and clock < ENOUGH
    wrong = {way: sum(one.wrong for one in rounds) for way, rounds in found.items()}
    if any(wrong.values()):
        print(f"Answers are wrong or missing: {wrong}.")
    return int(slow or any(wrong.values()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--prompts", type=int, default=10_000)
    parser.add_argument("--in-flight", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way is not None:
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            if given.way == "layer":
                one = layer(given.url, given.prompts, given.in_flight, Path(folder))
            else:
                one = asyncio.run(bare(given.url, given.prompts, given.in_flight, given.way == "lean"))
        print(json.dumps(vars(one)))
        return 0
    found: dict[str, list[Measured]] = {way: [] for way in WAYS}
    with server() as url:
        for _ in range(given.rounds):
            for way in WAYS:
                found[way].append(measured(way, url, given.prompts, given.in_flight))
    return report(found, given.prompts, given.in_flight)


if __name__ == "__main__":
    sys.exit(main())

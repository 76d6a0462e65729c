"""Killed at moments that nobody chose, while somebody reads: nothing lost, nothing paid twice, nothing half-made ever seen."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import scholarlake
from scholarlake.lake import releases
from scholarlake.lake.home import Lake
from scholarlake.sample import generate
from tests.e2e.building import ROOT, contents
from tests.misbehaving import DIMENSION, MODEL, Server, serving

KILLS = int(os.environ.get("SCHOLARLAKE_KILLS", "5"))
BATCH = 16
LARGEST = 120_000  # bytes of a file that a full disk lets through
# a build is a process for every moment to be killed at
PROFILE = """
shards: 2
core: {min_total: 6, min_in: 2}
dense: {centroids: 8}
training: {walks: 2, steps: 3, train: 4, train_batches: 1}
"""
MODELS = """
roles: {{embedder: counted}}
endpoints:
  counted: {{backend: openai, model: {model}, dimension: {dimension}, base_url: "{url}", batch_size: {batch}, concurrency: 2}}
"""


@dataclass
class Readers:
    """Opens the newest release over and over while it is rebuilt, and holds on to the oldest."""

    lake: Path
    faults: list[str] = field(default_factory=list)
    looks: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        with scholarlake.open(self.lake, release="r0001") as first:
            expected = first.table("papers").collect().sort("paper_id")
            while not self._stop.wait(0.05):
                try:
                    self._look()
                    if not first.table("papers").collect().sort("paper_id").equals(expected):
                        self.faults.append("the release that was open has changed")
                except Exception as fault:
                    self.faults.append(repr(fault))
                self.looks += 1

    def _look(self) -> None:
        """A mixture would show: papers of one moment, an index or a graph of another."""
        with scholarlake.open(self.lake) as reader:
            ids = reader.table("papers").select("paper_id").collect()["paper_id"].sort().to_list()
            embedded = reader.table("embeddings").select("paper_id").collect()["paper_id"]
            if set(embedded) - set(ids):
                self.faults.append("a vector of no paper")
            for paper_id in ids[:: max(1, len(ids) // 10)]:
                cited = {paper.paper_id for paper in reader.references(paper_id)}
                if reader.paper(paper_id).paper_id != paper_id or cited - set(ids):
                    self.faults.append(f"{paper_id} is not of this release")

    def stop(self) -> None:
        self._stop.set()


def build(lake: Path, dumps: Path, env: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "scholarlake.cli", "build", "--lake", str(lake), "--dumps", str(dumps)]
    return subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def models(folder: Path, endpoint: Server) -> dict[str, str]:
    path = folder / "models.yaml"
    path.write_text(MODELS.format(model=MODEL, dimension=DIMENSION, url=endpoint.url, batch=BATCH))
    (folder / "two.yaml").write_text(PROFILE)
    return {
        **os.environ,
        "SCHOLARLAKE_MODELS": str(path),
        "SCHOLARLAKE_PROFILE": str(folder / "two.yaml"),
        "PYTHONPATH": str(ROOT),
        "NO_COLOR": "1",
    }


def test_killed_at_random_moments_a_refresh_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    before = generate(tmp_path / "before", 200, 3, seed=3).dumps
    after = generate(tmp_path / "after", 260, 4, seed=4).dumps
    chance = random.Random(11)
    with serving() as endpoint:
        env = models(tmp_path, endpoint)
        assert build(tmp_path / "lake", before, env).wait() == 0
        assert build(tmp_path / "whole", before, env).wait() == 0
        began = time.monotonic()
        assert build(tmp_path / "whole", after, env).wait() == 0
        whole = time.monotonic() - began

        endpoint.seen.clear()
        readers = Readers(tmp_path / "lake")
        thread = threading.Thread(target=readers.run)
        thread.start()
        try:
            for _ in range(KILLS):
                process = build(tmp_path / "lake", after, env)
                try:
                    if process.wait(timeout=chance.uniform(0.2, 1.0) * whole) == 0:
                        break
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            assert build(tmp_path / "lake", after, env).wait() == 0
        finally:
            readers.stop()
            thread.join()
        sent = Counter(text for asked in endpoint.seen for text in asked.texts)

    killed, untouched = Lake.open(tmp_path / "lake"), Lake.open(tmp_path / "whole")
    assert contents(killed) == contents(untouched)
    assert releases.names(killed) == ["r0001", "r0002"]
    assert readers.faults == []
    assert readers.looks > KILLS
    repeated = sum(count - 1 for count in sent.values())
    assert repeated <= KILLS * BATCH * 2, "more was sent again than was under way at the kills"


def test_a_full_disk_is_one_clear_line_and_nothing_is_lost(tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk: the system refuses the write in the same way."""
    dumps = generate(tmp_path / "sample", 200, 2, seed=3).dumps
    with serving() as endpoint:
        env = models(tmp_path, endpoint)
        assert build(tmp_path / "lake", dumps, env).wait() == 0
        state = contents(Lake.open(tmp_path / "lake"))
        more = generate(tmp_path / "more", 700, 2, seed=9, compression="none").dumps
        limited = (
            "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
            f"resource.setrlimit(resource.RLIMIT_FSIZE, ({LARGEST}, {LARGEST}));"
            "from scholarlake.cli import main; sys.argv[0] = 'scholarlake'; main()"
        )
        arguments = ["build", "--lake", str(tmp_path / "lake"), "--dumps", str(more)]
        ended = subprocess.run([sys.executable, "-c", limited, *arguments], env=env, cwd=ROOT, capture_output=True, text=True, check=False)
        assert ended.returncode == 1
        assert "Traceback" not in ended.stderr
        assert ended.stderr.strip().splitlines()[-1].startswith("error:")
        with scholarlake.open(tmp_path / "lake") as reader:
            assert reader.table("papers").collect().height == len(state["papers"])
        assert build(tmp_path / "lake", more, env).wait() == 0
        assert build(tmp_path / "whole", more, env).wait() == 0
    assert contents(Lake.open(tmp_path / "lake")) == contents(Lake.open(tmp_path / "whole"))

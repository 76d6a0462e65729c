"""One budget for all processes of a run, whatever becomes of them."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from scholarlake.models.budget import Budget, BudgetSpent
from scholarlake.models.chat import Sampling
from scholarlake.models.ledger import Ledger
from tests.misbehaving import Asked, Reply, obey, serving
from tests.unit.models.asking import TAGS, VirtualClock, model, request, results

ROOT = Path(__file__).parents[3]
PRICES = {"input": 10.0, "output": 100.0}
MOST = (10.0 * 100 + 100.0 * 10) / 1e6
"""What a short request with ten tokens of room can cost, at most, and a little more."""
ASKER = """
import sys
from pathlib import Path
from scholarlake.models.budget import BudgetSpent
from scholarlake.models.chat import Sampling
from scholarlake.models.chat_model import Clock
from tests.unit.models.asking import model, request

url, folder, name, limit, command = sys.argv[1], Path(sys.argv[2]), sys.argv[3], float(sys.argv[4]), sys.argv[5]
prices = {"input": 10.0, "output": 100.0}
with model(url, folder, limit=limit, prices=prices, sampling=Sampling(max_tokens=10), concurrency=3, clock=Clock()) as asked:
    try:
        for _ in asked.ask(request(f"{name}{number} {command}") for number in range(1_000)):
            pass
    except BudgetSpent:
        print("stopped")
"""


def asker(url: str, folder: Path, name: str, limit: float, command: str = "") -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", ASKER, url, str(folder), name, str(limit), command]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})


def costs(folder: Path) -> list[float]:
    with sqlite3.connect(folder / "models" / "ledger.sqlite") as connection:
        return [cost for (cost,) in connection.execute("SELECT cost FROM work")]


def set_aside(folder: Path) -> list[float]:
    with sqlite3.connect(folder / "models" / "ledger.sqlite") as connection:
        return [amount for (amount,) in connection.execute("SELECT amount FROM advances")]


def test_several_processes_of_a_run_spend_no_more_together_than_it_may(tmp_path: Path) -> None:
    limit = 0.05
    with serving() as server:
        askers = [asker(server.url, tmp_path, name, limit) for name in "abc"]
        said = [process.communicate()[0].strip() for process in askers]
    assert said == ["stopped"] * 3
    spent = costs(tmp_path)
    assert len(spent) == server.number < 3_000
    assert limit - 2 * MOST < sum(spent) <= limit
    assert set_aside(tmp_path) == []
    assert not list((tmp_path / "models" / "holders").iterdir())


def test_what_a_killed_process_had_set_aside_is_free_again(tmp_path: Path) -> None:
    victims: list[subprocess.Popen[str]] = []

    def behave(asked: Asked) -> Reply:
        if asked.number == 3:
            victims[0].send_signal(signal.SIGKILL)
        return obey(asked)

    limit = 3 * MOST  # three of a process at once, and nothing beside them
    with serving(behave) as server:
        victims.append(asker(server.url, tmp_path, "a", limit, "[[hang]]"))
        assert victims[0].wait() == -signal.SIGKILL
        assert sum(set_aside(tmp_path)) > limit - MOST
        with model(server.url, tmp_path, limit=limit, prices=PRICES, sampling=Sampling(max_tokens=10)) as asked:
            assert results(asked, [request("after")])[0].text == "re: after"
    assert set_aside(tmp_path) == []


def test_what_another_process_has_under_way_is_waited_for(tmp_path: Path) -> None:
    other = Ledger(tmp_path / "models" / "ledger.sqlite")
    elsewhere = Budget("the run", 1.5 * MOST, other.purse(TAGS.run))
    assert elsewhere.hold(MOST)

    class Clock(VirtualClock):
        async def sleep(self, seconds: float) -> None:
            await super().sleep(seconds)
            if len(self.waits) == 3:
                elsewhere.settle(MOST, 0.0)

    clock = Clock()
    sampling = Sampling(max_tokens=10)
    with serving() as server, model(server.url, tmp_path, limit=1.5 * MOST, prices=PRICES, sampling=sampling, clock=clock) as asked:
        assert results(asked, [request("paper")])[0].text == "re: paper"
        assert len(clock.waits) == 3
        assert elsewhere.hold(MOST)  # and never lets go again
        with pytest.raises(BudgetSpent):
            results(asked, [request("another paper")])
    assert clock.at >= 300.0  # as long as a server that is busy is waited for
    assert server.number == 1
    other.close()

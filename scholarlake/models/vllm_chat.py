"""vLLM in process: the engine itself, in a child process of its own interpreter, so that CUDA and its dependencies stay out of this one.

Requests join the batch that is being computed as they come; equal beginnings of prompts are computed once (prefix caching).
What does not belong here: the child's side (`vllm_child.py`), vLLM's own server, which is an OpenAI-compatible one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from scholarlake.errors import ModelError
from scholarlake.models.chat import Call, Fault, Reply
from scholarlake.models.child import Child, Wrapping, interpreter
from scholarlake.models.config import ChatEndpoint
from scholarlake.models.openai_chat import spoken
from scholarlake.models.troubles import rejection

READY_SECONDS = 3_600.0  # a large model takes its time to load
SCRIPT = Path(__file__).with_name("vllm_child.py")
_NO_FUNCTIONS = "vLLM in process calls no functions; have the calls written in tags, or serve the model by `scholarlake models serve`"


class VllmChat:
    """One model. Started again where it ends unasked; given up where it does so before it has answered anything."""

    def __init__(self, endpoint: ChatEndpoint, name: str, folder: Path, wrapping: Callable[[], Wrapping] = Wrapping) -> None:
        self.name = name
        self._endpoint = endpoint
        self._folder = folder
        self._wrapping = wrapping
        self._child: Child | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._waiting: dict[int, asyncio.Future[dict[str, Any] | None]] = {}
        self._number = 0
        self._answered = 0  # since it was last started

    async def __aenter__(self) -> Self:
        await self._start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._child is not None:
            await self._child.stop()
            self._child.close()
        if self._hearing is not None:
            await self._hearing

    async def ask(self, call: Call) -> Reply | Fault:
        """One request."""
        if call.functions:
            return Fault("rejected", _NO_FUNCTIONS)
        async with self._starting:
            assert self._child is not None
            if not self._child.runs:
                words = self._child.last_words()
                if not self._answered:
                    return Fault("closed", f"vLLM ends whenever it is asked: {words}")
                try:
                    await self._start()
                except ModelError as fault:
                    return Fault("closed", str(fault))
        child = self._child
        self._number += 1
        number = self._number
        answer: asyncio.Future[dict[str, Any] | None] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            await child.say({"id": number, **self._asked(call)})
            said = await asyncio.wait_for(answer, self._endpoint.timeout_seconds)
        except TimeoutError:
            await self._forget(child, number)
            return Fault("failed", f"no answer in {self._endpoint.timeout_seconds:g} seconds")
        except asyncio.CancelledError:
            await self._forget(child, number)
            raise
        except OSError:
            said = None
        finally:
            self._waiting.pop(number, None)
        if said is None:
            return Fault("gone", f"vLLM has ended: {child.last_words()}")
        if "error" in said:
            return Fault("rejected", rejection(str(said["error"])))
        self._answered += 1
        return Reply(said["text"], said["finish"], said["tokens_in"], said["tokens_out"])

    async def _start(self) -> None:
        vllm = self._endpoint.vllm
        if self._child is not None:
            self._child.close()
        wrapping = self._wrapping()
        command = wrapping.command(interpreter(vllm.python, self._folder), SCRIPT)
        self._child = Child(self.name, command, {**vllm.environment, **wrapping.environment})
        self._answered = 0
        configuration = {
            "model": model_path(self._endpoint.model, self._folder),
            "revision": self._endpoint.revision,
            "engine": engine_arguments(self._endpoint),
        }
        await self._child.start(configuration, READY_SECONDS)
        self._hearing = asyncio.get_running_loop().create_task(self._hear(self._child))

    async def _hear(self, child: Child) -> None:
        """Hand every answer to who waits for it; where the process ends, all of them are told."""
        while (said := await child.hear()) is not None:
            waiting = self._waiting.get(said["id"])
            if waiting is not None and not waiting.done():
                waiting.set_result(said)
        await child.stop()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(None)

    async def _forget(self, child: Child, number: int) -> None:
        with contextlib.suppress(OSError):  # it is gone, and has forgotten all
            await child.say({"forget": number})

    def _asked(self, call: Call) -> dict[str, Any]:
        extra = dict(self._endpoint.extra_body)
        template = extra.pop("chat_template_kwargs", None)
        return {
            "messages": spoken(call.messages),
            "schema": call.schema,
            "sampling": call.sampling.model_dump(),
            "template": template,
            "extra": extra,
        }


def engine_arguments(endpoint: ChatEndpoint) -> dict[str, Any]:
    """What vllm.LLM is made with."""
    vllm = endpoint.vllm
    chosen = {
        "tensor_parallel_size": vllm.tensor_parallel_size,
        "max_model_len": vllm.max_model_len,
        "gpu_memory_utilization": vllm.gpu_memory_utilization,
        "max_num_seqs": endpoint.concurrency,
        "enable_prefix_caching": True,
    }
    return {**{name: value for name, value in chosen.items() if value is not None}, **vllm.arguments}


def model_path(model: str, folder: Path) -> str:
    """A model's name, or the folder that it names relative to the models file."""
    path = folder / Path(model).expanduser()
    return str(path) if (path / "config.json").is_file() else os.path.expanduser(model)

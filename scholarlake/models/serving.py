"""Servers of one's own: vLLM's for an endpoint that is asked over HTTP, llama.cpp's for a GGUF file. On the loopback address only."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import orjson

from scholarlake.errors import ModelError
from scholarlake.models.child import interpreter
from scholarlake.models.config import ChatEndpoint, Endpoint, Llama, ModelsFile, secret
from scholarlake.models.llama_chat import LlamaChat
from scholarlake.models.vllm_chat import model_path


def serve(models: ModelsFile, name: str, say: Callable[[str], object]) -> int:
    """Serve the model of an endpoint until it is interrupted. Returns the exit code. Raises ModelError where it can't be served.

    vLLM's server takes the place of this process: whatever ends it ends the server, and its engine with it.
    """
    endpoint = models.endpoints.get(name)
    if endpoint is None:
        raise ModelError(f"there is no endpoint {name!r}; there are: {', '.join(sorted(models.endpoints))}")
    if isinstance(endpoint, ChatEndpoint) and endpoint.backend == "llama":
        return asyncio.run(_serve_gguf(endpoint, name, models.folder, 0, say))
    if endpoint.backend != "openai":
        raise ModelError(f"endpoint {name} has no server: backend {endpoint.backend} runs inside the work that needs it")
    command, environment = vllm_command(models, endpoint, name)
    say(f"vLLM serves {endpoint.model} at {endpoint.base_url} as soon as it has loaded it; stop it with Ctrl-C")
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execve(command[0], command, environment)
    except OSError as fault:
        raise ModelError(f"endpoint {name}: {command[0]} can't be run ({fault.strerror}); set `python` under `vllm`") from fault


def serve_gguf(gguf: Path, port: int, slots: int, context_tokens: int, say: Callable[[str], object]) -> int:
    """Serve any GGUF file, by this interpreter, until it is interrupted."""
    llama = Llama(gguf=str(gguf.absolute()), context_tokens=context_tokens)  # type: ignore[call-arg]
    endpoint = ChatEndpoint(backend="llama", model=gguf.stem, concurrency=slots, llama=llama)  # type: ignore[call-arg]
    return asyncio.run(_serve_gguf(endpoint, gguf.name, Path(), port, say))


def vllm_command(models: ModelsFile, endpoint: Endpoint | ChatEndpoint, name: str) -> tuple[list[str], dict[str, str]]:
    """How vLLM's server is started for an endpoint, and in which environment: a key is passed there, not where everyone sees it."""
    address = urlsplit(str(endpoint.base_url))
    if not _is_loopback(address.hostname or ""):
        raise ModelError(f"endpoint {name} is not on this machine ({address.hostname}); a server binds to 127.0.0.1 only")
    vllm = endpoint.vllm
    arguments = {
        "model": model_path(endpoint.model, models.folder),
        "served_model_name": endpoint.model,
        "host": "127.0.0.1",
        "port": address.port or 8000,
        "revision": endpoint.revision or None,
        "tensor_parallel_size": vllm.tensor_parallel_size,
        "max_model_len": vllm.max_model_len,
        "gpu_memory_utilization": vllm.gpu_memory_utilization,
        "runner": "pooling" if isinstance(endpoint, Endpoint) else None,
        **vllm.arguments,
    }
    command = [interpreter(vllm.python, models.folder), "-m", "vllm.entrypoints.openai.api_server"]
    for option, value in arguments.items():
        if value is None or value is False:
            continue
        command.append(f"--{option.replace('_', '-')}")
        if value is not True:
            command.append(orjson.dumps(value).decode() if isinstance(value, dict | list) else str(value))
    keys = {} if endpoint.api_key_env is None else {"VLLM_API_KEY": secret(endpoint, name)}
    return command, {**os.environ, **vllm.environment, **keys}


async def _serve_gguf(endpoint: ChatEndpoint, name: str, folder: Path, port: int, say: Callable[[str], object]) -> int:
    async with LlamaChat(endpoint, name, folder, port) as served:
        say(f"llama.cpp serves {endpoint.model} at {served.address}; stop it with Ctrl-C")
        try:
            await served.ended()
        except asyncio.CancelledError:  # Ctrl-C
            return 0
    return 1


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

"""Whether everything is there that the bound roles need: found before any work starts, a line for each thing that is not.

Nothing is asked of a model, and none is loaded. What does not belong here: what the models file itself refuses (`config.py`).
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from scholarlake.errors import ModelError
from scholarlake.models.child import interpreter
from scholarlake.models.config import EMBEDDER, ROLES, ChatEndpoint, Endpoint, ModelsFile, secret
from scholarlake.models.troubles import fault_of

LISTING_SECONDS = 10.0


@dataclass(frozen=True)
class Finding:
    """How a role stands. endpoint: None where the deterministic method plays it. fault: one line, or None where all is well."""

    role: str
    endpoint: str | None
    model: str | None
    fault: str | None


def check(models: ModelsFile) -> Iterator[Finding]:
    """Every role, in the order of the design. An endpoint of several roles is looked at once."""
    looked: dict[str, str | None] = {}
    for role in ROLES:
        bound = models.bindings(role)
        if not bound:
            yield Finding(role, None, None, "it has no endpoint; bind one that embeds" if role == EMBEDDER else None)
        for binding in bound:
            name = binding.endpoint
            endpoint = models.endpoints[name]
            if name not in looked:
                looked[name] = _fault(models, endpoint, name)
            fault = looked[name]
            if fault is None and binding.budget is not None and isinstance(endpoint, ChatEndpoint) and endpoint.priced() is None:
                fault = f"role {role} has a budget, but endpoint {name} has no prices; give `prices` for it"
            if fault is None and isinstance(endpoint, ChatEndpoint):
                fault = _no_room(role, models.sampling(binding).max_tokens, endpoint, name)
            yield Finding(role, name, endpoint.model, fault)


def _no_room(role: str, max_tokens: int, endpoint: ChatEndpoint, name: str) -> str | None:
    """Why a role's answers might find no room. Schemas are looked at when they are asked for, before anything is sent."""
    context, most = endpoint.context(), endpoint.max_output_tokens
    if context is not None and max_tokens >= context:
        return f"max_tokens of role {role} is {max_tokens}, but endpoint {name} takes {context} for prompt and answer together; lower it"
    if most is not None and most < max_tokens:
        return f"max_tokens of role {role} is {max_tokens}, but endpoint {name} gives an answer {most} (max_output_tokens); raise that"
    return None


def _fault(models: ModelsFile, endpoint: Endpoint | ChatEndpoint, name: str) -> str | None:
    try:
        if endpoint.backend == "openai":
            _look(endpoint, name)
        elif isinstance(endpoint, Endpoint):
            if endpoint.backend == "minilm":
                from scholarlake.models.minilm import weights_folder

                weights_folder()
        elif endpoint.llama is not None and endpoint.backend == "llama":
            from scholarlake.models.llama_chat import gguf_file

            gguf_file(endpoint.llama, models.folder)
            _has(interpreter(endpoint.llama.python, models.folder), "xllamacpp", name)
        else:
            _has(interpreter(endpoint.vllm.python, models.folder), "vllm", name)
    except ModelError as fault:
        return str(fault)
    return None


def _look(endpoint: Endpoint | ChatEndpoint, name: str) -> None:
    """Ask a server which models it has. Raises ModelError where it is down, lets nobody in or lacks the model."""
    import openai

    key, address = secret(endpoint, name), str(endpoint.base_url)
    try:
        with openai.OpenAI(base_url=address, api_key=key, max_retries=0, timeout=LISTING_SECONDS) as client:
            known = sorted(model.id for model in client.models.list())
    except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
        fault = fault_of(error, address, LISTING_SECONDS, key)
        raise ModelError(f"endpoint {name}: {fault.reason}; start its server, or mend base_url") from error
    if endpoint.model not in known:
        raise ModelError(
            f"endpoint {name}: the server at {address} does not have {endpoint.model}; it has: {', '.join(known[:10]) or 'none'}"
        )


def _has(python: str, package: str, name: str) -> None:
    """Whether an interpreter has a package. Raises ModelError where it is not there, or has not."""
    code = f"import importlib.util as u, sys; sys.exit(u.find_spec({package!r}) is None)"
    try:
        found = subprocess.run([python, "-c", code], capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise ModelError(f"endpoint {name}: {python} can't be run; set `python` of the endpoint") from fault
    if found.returncode:
        raise ModelError(f"endpoint {name}: {package} is not installed for {python}; install it there, or set `python` of the endpoint")

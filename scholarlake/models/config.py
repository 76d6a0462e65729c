"""Which model plays which role: `data/models.yaml`, checked, and turned into a back end when one is wanted.

Secrets are never in the file: an endpoint names the environment variable that holds its key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, field_validator, model_validator

from scholarlake.errors import ModelError
from scholarlake.models.chat import Sampling
from scholarlake.models.protocol import Embedder, fingerprint_of

EMBEDDER = "embedder"
POOL = "consensus_pool"

#: What models are asked to do. A role that is bound to nothing is played by its deterministic method.
ROLES = (
    EMBEDDER,
    "extractor",
    "verifier",
    "adjudicator",
    "organizer",
    "synthesizer",
    "question_writer",
    POOL,
    "teacher",
    "training_rubric_writer",
    "evaluation_rubric_writer",
    "reward_judge",
    "benchmark_judge",
    "summarizer",
    "agent",
)


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Prices(Section):
    """What tokens cost, for a million, in any one currency."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.input + tokens_out * self.output) / 1e6


class Vllm(Section):
    """How vLLM is run: in a child process of this interpreter, or as a server by `scholarlake models serve`."""

    python: str | None = Field(None, description="interpreter that has vLLM, relative to the models file; this one where not given")
    tensor_parallel_size: int = Field(1, ge=1, description="GPUs that the model is spread over")
    max_model_len: int | None = Field(None, ge=1, description="longest prompt and answer together, in tokens")
    gpu_memory_utilization: float | None = Field(None, gt=0, le=1, description="share of a GPU's memory that vLLM takes")
    arguments: dict[str, Any] = Field({}, description="other arguments of the engine, by their Python names")
    environment: dict[str, str] = Field({}, description="environment variables of the engine; no secrets")


class Llama(Section):
    """How a GGUF file is served by llama.cpp (the `llama` extra)."""

    python: str | None = Field(None, description="interpreter that has xllamacpp, relative to the models file; this one where not given")
    gguf: str | None = Field(None, description="the file, relative to the models file")
    package: str | None = Field(None, description="or an installed package that holds one")
    context_tokens: int = Field(4_096, ge=64, description="longest prompt and answer together, of each request")
    threads: int | None = Field(None, ge=1, description="threads; all cores where not given")
    gpu_layers: int = Field(0, ge=0, description="layers that are computed on a GPU")

    @model_validator(mode="after")
    def _has_a_file(self) -> Llama:
        if (self.gguf is None) == (self.package is None):
            raise ValueError("llama needs one of gguf (a file) and package (an installed one that holds it)")
        return self


def _loads_no_secret(address: str | None) -> str | None:
    if address is not None and (urlsplit(address).password or urlsplit(address).username):
        raise ValueError("base_url must not hold a name or a key; name an environment variable in api_key_env")
    return address


class ChatEndpoint(Section):
    """One language model behind one back end."""

    backend: Literal["openai", "vllm", "llama"]
    model: str = Field(description="name of the model, as the back end knows it")
    revision: str = Field("", description="its revision; another one is another model")
    base_url: str | None = Field(None, description="address of an OpenAI-compatible server, with its /v1")
    api_key_env: str | None = Field(None, description="environment variable that holds the key")
    sampling: Sampling = Sampling()  # type: ignore[call-arg]
    max_output_tokens: int | None = Field(None, ge=1, description="longest answer that a cut-off one is asked for again with")
    prices: Prices | None = Field(None, description="what a million tokens cost")
    concurrency: int = Field(16, ge=1, description="requests in flight at once")
    timeout_seconds: float = Field(300.0, gt=0, description="longest wait for one answer")
    attempts: int = Field(5, ge=1, description="times a request is sent that the endpoint breaks down over, at most")
    patience_seconds: float = Field(300.0, ge=0, description="how long a server that is gone or busy is waited for")
    extra_body: dict[str, Any] = Field({}, description="what else is sent with every request")
    vllm: Vllm = Vllm()  # type: ignore[call-arg]
    llama: Llama | None = None

    _address = field_validator("base_url")(_loads_no_secret)

    @model_validator(mode="after")
    def _is_complete(self) -> ChatEndpoint:
        if self.backend == "openai" and not self.base_url:
            raise ValueError("an openai endpoint needs base_url")
        if self.backend != "openai" and self.base_url:
            raise ValueError(f"backend {self.backend} starts its engine itself: leave base_url out, or take backend openai")
        if self.backend == "llama" and self.llama is None:
            raise ValueError("a llama endpoint needs `llama` with gguf or package")
        return self

    def identity(self) -> dict[str, Any]:
        """Everything of an endpoint that changes an answer; where it runs, how much at once and for what price does not."""
        return {"model": self.model, "revision": self.revision, "extra_body": self.extra_body}

    def longest_answer(self) -> int | None:
        """Tokens of the longest answer that it gives, as far as the file says."""
        return min((limit for limit in (self.max_output_tokens, self.context()) if limit is not None), default=None)

    def context(self) -> int | None:
        """Tokens of prompt and answer together, as far as the file says."""
        return self.llama.context_tokens if self.backend == "llama" and self.llama else self.vllm.max_model_len

    def priced(self) -> Prices | None:
        """Its prices; a model of one's own that this process starts costs nothing."""
        return self.prices or (None if self.backend == "openai" else Prices(input=0, output=0))


class Binding(Section):
    """A role's endpoint, and what this role has otherwise. budget: what a run may spend in this role."""

    endpoint: str
    sampling: Sampling = Sampling()  # type: ignore[call-arg]
    budget: float | None = Field(None, ge=0)


class Endpoint(BaseModel):
    """One embedding model behind one back end."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    backend: Literal["minilm", "hashing", "openai"]
    model: str = Field(description="name of the model, as the back end knows it")
    revision: str = Field("", description="its revision; another one is another model")
    dimension: int = Field(ge=1, description="length of a vector")
    max_tokens: int | None = Field(None, ge=1, description="longer texts are cut there, by the model")
    query_prefix: str = Field("", description="put before a query, such as an instruction")
    document_prefix: str = Field("", description="put before a document")
    batch_size: int = Field(256, ge=1, description="texts in one request")
    concurrency: int = Field(1, ge=1, description="requests under way at once, for a server")
    threads: int | None = Field(None, ge=1, description="threads of an embedded model; all cores where not given")
    base_url: str | None = Field(None, description="address of an OpenAI-compatible server, with its /v1")
    api_key_env: str | None = Field(None, description="environment variable that holds the key")
    timeout_seconds: float = Field(120.0, gt=0, description="longest wait for one request")
    attempts: int = Field(5, ge=1, description="times a request is sent, at most")
    price: float | None = Field(
        None, ge=0, description="what a million tokens cost, in the currency of all prices; embedded models are free"
    )
    vllm: Vllm = Vllm()  # type: ignore[call-arg]

    _address = field_validator("base_url")(_loads_no_secret)

    @model_validator(mode="after")
    def _has_address(self) -> Endpoint:
        if self.backend == "openai" and not self.base_url:
            raise ValueError("an openai endpoint needs base_url")
        return self

    def identity(self) -> dict[str, Any]:
        """Everything that changes a vector; addresses, keys, batches and threads do not."""
        kept = ("backend", "model", "revision", "dimension", "max_tokens", "query_prefix", "document_prefix")
        return {**{name: getattr(self, name) for name in kept}, "normalisation": "l2"}


def _kind(value: Any) -> str:
    if isinstance(value, BaseModel):
        return "embedding" if isinstance(value, Endpoint) else "chat"
    return "embedding" if isinstance(value, Mapping) and "dimension" in value else "chat"


AnyEndpoint = Annotated[Annotated[Endpoint, Tag("embedding")] | Annotated[ChatEndpoint, Tag("chat")], Discriminator(_kind)]


class ModelsFile(BaseModel):
    """Roles bound to endpoints. An endpoint with a dimension embeds, any other chats."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    roles: dict[str, tuple[Binding, ...]]
    endpoints: dict[str, AnyEndpoint]
    folder: Path = Field(Path(), exclude=True, description="what paths in the file are relative to")

    @field_validator("roles", mode="before")
    @classmethod
    def _spelt_out(cls, roles: Any) -> Any:
        """A role's value is nothing, the name of an endpoint, a binding, or a list of these."""
        if not isinstance(roles, Mapping):
            return roles
        several = {role: one if isinstance(one, list | tuple) else [] if one is None else [one] for role, one in roles.items()}
        return {role: [{"endpoint": one} if isinstance(one, str) else one for one in some] for role, some in several.items()}

    @model_validator(mode="after")
    def _roles_are_bound(self) -> ModelsFile:
        for role, bound in self.roles.items():
            if role not in ROLES:
                raise ValueError(f"there is no role {role!r}; there are: {', '.join(ROLES)}")
            if len(bound) > 1 and role != POOL:
                raise ValueError(f"role {role} is bound to several endpoints; only {POOL} can be")
            for binding in bound:
                name = binding.endpoint
                if name not in self.endpoints:
                    raise ValueError(
                        f"role {role} is bound to {name!r}, which is no endpoint; there are: {', '.join(sorted(self.endpoints))}"
                    )
                if isinstance(self.endpoints[name], Endpoint) != (role == EMBEDDER):
                    raise ValueError(f"role {role} is bound to {name}, which {'chats' if role == EMBEDDER else 'only embeds'}")
        return self

    @classmethod
    def load(cls, path: Path) -> ModelsFile:
        """Read a models file. Raises ModelError with the field at fault."""
        if not path.is_file():
            raise ModelError(f"no models file at {path}; copy data/models.yaml there, or name another")
        try:
            values: Any = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
            return cls.model_validate({**values, "folder": path.absolute().parent})
        except TypeError as fault:
            raise ModelError(f"{path.name} holds no `roles` and `endpoints`") from fault
        except yaml.YAMLError as fault:
            raise ModelError(f"{path.name} can't be read: {' '.join(str(fault).split())}") from fault
        except ValidationError as fault:
            first = fault.errors()[0]
            where = ".".join(str(step) for step in first["loc"] if step not in ("chat", "embedding", 0))
            raise ModelError(f"{path.name}: {where + ': ' if where else ''}{first['msg'].removeprefix('Value error, ')}") from fault

    def bindings(self, role: str) -> tuple[Binding, ...]:
        """What a role is bound to: none, one, or for the pool several. Raises ModelError where there is no such role."""
        if role not in ROLES:
            raise ModelError(f"there is no role {role!r}; there are: {', '.join(ROLES)}")
        return self.roles.get(role, ())

    def endpoint(self, role: str = EMBEDDER) -> Endpoint:
        """The embedding endpoint that a role is bound to. Raises ModelError where it has none."""
        for binding in self.bindings(role):
            found = self.endpoints[binding.endpoint]
            if isinstance(found, Endpoint):
                return found
        raise ModelError(f"role {role} has no endpoint; bind it under `roles` in the models file")

    def chat_endpoint(self, name: str) -> ChatEndpoint:
        """The chat endpoint of that name. Raises ModelError where there is none."""
        found = self.endpoints.get(name)
        if not isinstance(found, ChatEndpoint):
            chatting = sorted(name for name, one in self.endpoints.items() if isinstance(one, ChatEndpoint))
            raise ModelError(f"{name!r} is no endpoint that chats; there are: {', '.join(chatting) or 'none'}")
        return found

    def sampling(self, binding: Binding) -> Sampling:
        """How a role draws tokens, where a request says nothing else."""
        return binding.sampling.over(self.chat_endpoint(binding.endpoint).sampling)

    def fingerprints(self) -> dict[str, str]:
        """Of every role that a language model plays, a digest of all that changes its answers: for the code version of what asks it."""
        found = {}
        for role in ROLES:
            bound = () if role == EMBEDDER else self.bindings(role)
            said = [{**self.chat_endpoint(one.endpoint).identity(), "sampling": self.sampling(one).model_dump()} for one in bound]
            if said:
                found[role] = fingerprint_of({str(number): sorted(one.items()) for number, one in enumerate(said)})
        return found

    def embedder(self, role: str = EMBEDDER) -> Embedder:
        """The embedder of a role, loaded. Raises ModelError where it can't be."""
        return open_embedder(self.endpoint(role), self.bindings(role)[0].endpoint)

    def embedder_facts(self, role: str = EMBEDDER) -> dict[str, Any]:
        """What a release keeps, so that its readers embed queries as its papers were embedded. No secret; loads nothing."""
        endpoint = self.endpoint(role)
        return {
            "name": self.bindings(role)[0].endpoint,
            "fingerprint": fingerprint_of(endpoint.identity()),
            "endpoint": endpoint.model_dump(exclude_defaults=True, exclude={"vllm", "price"}),
        }


def embedder_from_facts(facts: Mapping[str, Any]) -> Embedder:
    """The embedder that a release was made with. Raises ModelError where this version would embed otherwise."""
    try:
        endpoint = Endpoint.model_validate(facts["endpoint"])
    except (KeyError, ValidationError) as fault:
        raise ModelError("the release does not say which model embeds its queries; build it again") from fault
    require(fingerprint_of(endpoint.identity()), str(facts.get("fingerprint")))
    return open_embedder(endpoint, str(facts.get("name", endpoint.model)))


def require(fingerprint: str, wanted: str) -> None:
    """Refuse vectors of one model where those of another are kept."""
    if fingerprint != wanted:
        raise ModelError(
            f"the embedding model ({fingerprint[:12]}) is not the one that the vectors were made with ({wanted[:12]}); "
            "bind that one in the models file, or build the embeddings again"
        )


def open_embedder(endpoint: Endpoint, name: str) -> Embedder:
    """Load a back end. Only the one that is wanted is imported."""
    if endpoint.backend == "minilm":
        from scholarlake.models.minilm import MiniLM

        return MiniLM(endpoint, name)
    if endpoint.backend == "hashing":
        from scholarlake.models.hashing_embedder import HashingEmbedder

        return HashingEmbedder(endpoint, name)
    from scholarlake.models.openai_embedder import OpenAIEmbedder

    return OpenAIEmbedder(endpoint, name, secret(endpoint, name))


def secret(endpoint: Endpoint | ChatEndpoint, name: str) -> str:
    """The key of an endpoint. Raises ModelError, naming the variable, where it is not in the environment."""
    if endpoint.api_key_env is None:
        return "none"  # servers of one's own mostly ask for no key; the client insists on sending one
    key = os.environ.get(endpoint.api_key_env)
    if not key:
        raise ModelError(f"endpoint {name} takes its key from the environment; set {endpoint.api_key_env}")
    return key

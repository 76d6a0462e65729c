"""Which model plays which role: `data/models.yaml`, checked, and turned into a back end when one is wanted.

Secrets are never in the file: an endpoint names the environment variable that holds its key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from scholarlake.errors import ModelError
from scholarlake.models.protocol import Embedder, fingerprint_of

EMBEDDER = "embedder"


class Endpoint(BaseModel):
    """One model behind one back end."""

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

    @model_validator(mode="after")
    def _has_address(self) -> Endpoint:
        if self.backend == "openai" and not self.base_url:
            raise ValueError("an openai endpoint needs base_url")
        return self

    def identity(self) -> dict[str, Any]:
        """Everything that changes a vector; addresses, keys, batches and threads do not."""
        kept = ("backend", "model", "revision", "dimension", "max_tokens", "query_prefix", "document_prefix")
        return {**{name: getattr(self, name) for name in kept}, "normalisation": "l2"}


class ModelsFile(BaseModel):
    """Roles bound to endpoints."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    roles: dict[str, str]
    endpoints: dict[str, Endpoint]

    @model_validator(mode="after")
    def _roles_are_bound(self) -> ModelsFile:
        for role, name in self.roles.items():
            if name not in self.endpoints:
                raise ValueError(f"role {role} is bound to {name!r}, which is no endpoint; there are: {', '.join(sorted(self.endpoints))}")
        return self

    @classmethod
    def load(cls, path: Path) -> ModelsFile:
        """Read a models file. Raises ModelError with the field at fault."""
        if not path.is_file():
            raise ModelError(f"no models file at {path}; copy data/models.yaml there, or name another")
        try:
            return cls.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")) or {})
        except yaml.YAMLError as fault:
            raise ModelError(f"{path.name} can't be read: {' '.join(str(fault).split())}") from fault
        except ValidationError as fault:
            first = fault.errors()[0]
            where = ".".join(str(step) for step in first["loc"])
            raise ModelError(f"{path.name}: {where + ': ' if where else ''}{first['msg'].removeprefix('Value error, ')}") from fault

    def endpoint(self, role: str = EMBEDDER) -> Endpoint:
        """The endpoint that a role is bound to. Raises ModelError where it has none."""
        if role not in self.roles:
            raise ModelError(f"role {role} has no endpoint; bind it under `roles` in the models file")
        return self.endpoints[self.roles[role]]

    def embedder(self, role: str = EMBEDDER) -> Embedder:
        """The embedder of a role, loaded. Raises ModelError where it can't be."""
        return open_embedder(self.endpoint(role), self.roles[role])

    def embedder_facts(self, role: str = EMBEDDER) -> dict[str, Any]:
        """What a release keeps, so that its readers embed queries as its papers were embedded. No secret; loads nothing."""
        endpoint = self.endpoint(role)
        return {
            "name": self.roles[role],
            "fingerprint": fingerprint_of(endpoint.identity()),
            "endpoint": endpoint.model_dump(exclude_defaults=True),
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

    return OpenAIEmbedder(endpoint, name, _secret(endpoint, name))


def _secret(endpoint: Endpoint, name: str) -> str:
    if endpoint.api_key_env is None:
        return "none"  # servers of one's own mostly ask for no key; the client insists on sending one
    key = os.environ.get(endpoint.api_key_env)
    if not key:
        raise ModelError(f"endpoint {name} takes its key from the environment; set {endpoint.api_key_env}")
    return key

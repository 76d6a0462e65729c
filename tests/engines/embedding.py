"""What a server that embeds does, whatever it runs on. A test module imports these and has a fixture `embedding`: its endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scholarlake.errors import ModelError
from scholarlake.lake.home import Lake
from scholarlake.models.answers import Sound, embed_each
from scholarlake.models.chat import ChatRequest, Message
from scholarlake.models.check import check
from scholarlake.models.config import ChatEndpoint, Endpoint, ModelsFile, open_embedder
from scholarlake.models.crew import Crew
from scholarlake.models.protocol import Vectors

DIMENSION = 384
TEXTS = [f"Graph {i} and its {i} nodes: {' '.join(['citations of papers'] * (i % 7))}" for i in range(40)]


def described(endpoint: dict[str, Any], **changes: Any) -> ModelsFile:
    return ModelsFile.model_validate({"roles": {"embedder": "here"}, "endpoints": {"here": {**endpoint, **changes}}})


def vectors_of(models: ModelsFile, texts: list[str]) -> tuple[Vectors, dict[int, str]]:
    """A row for each text, and why some have none."""
    rows, refused = np.zeros((len(texts), DIMENSION), np.float32), {}
    for result in embed_each(models.embedder(), texts):
        if isinstance(result, Sound):
            rows[result.positions] = result.vectors
        else:
            refused[result.position] = result.reason
    return rows, refused


def test_a_served_model_gives_the_vectors_of_the_embedded_one(embedding: dict[str, Any]) -> None:
    served, refused = vectors_of(described(embedding, batch_size=7, concurrency=3), TEXTS)
    assert refused == {}
    minilm = Endpoint.model_validate({"backend": "minilm", "model": "m", "dimension": DIMENSION})
    here = np.zeros_like(served)
    for result in embed_each(open_embedder(minilm, "minilm"), TEXTS):
        assert isinstance(result, Sound)
        here[result.positions] = result.vectors
    assert (served * here).sum(axis=1).min() > 0.999


def test_a_text_that_is_too_long_costs_itself_only(embedding: dict[str, Any]) -> None:
    rows, refused = vectors_of(described(embedding, batch_size=4), ["short", "word " * 2_000, "also short", "short again"])
    assert refused == {1: "too_long"}
    assert np.linalg.norm(rows, axis=1).round(3).tolist() == [1.0, 0.0, 1.0, 1.0]


def test_it_is_there_and_has_the_model(embedding: dict[str, Any]) -> None:
    assert [finding.fault for finding in check(described(embedding)) if finding.role == "embedder"] == [None]
    (fault,) = [finding.fault for finding in check(described(embedding, model="another")) if finding.role == "embedder"]
    assert "does not have another" in str(fault)


def test_it_does_not_chat_and_says_so(embedding: dict[str, Any], tmp_path: Path) -> None:
    """A server embeds or chats: both behind one address is a mistake that is found with the first request."""
    chat = ChatEndpoint(backend="openai", model=embedding["model"], base_url=embedding["base_url"])  # type: ignore[call-arg]
    models = ModelsFile.model_validate({"roles": {"extractor": "here"}, "endpoints": {"here": chat}})
    with Crew(models, Lake.create(tmp_path, 1)) as crew:
        asked = crew.chat("extractor")
        assert asked is not None
        with pytest.raises(ModelError) as raised:
            list(asked.ask([ChatRequest((Message("user", "Hello."),))]))
    assert "\n" not in str(raised.value)

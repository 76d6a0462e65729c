"""An OpenAI-compatible endpoint, well-behaved and not: traps 31, and 34 as far as it is about embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scholarlake.errors import ModelError
from scholarlake.models.answers import Sound, embed_each, embed_query
from scholarlake.models.config import Endpoint
from scholarlake.models.openai_embedder import OpenAIEmbedder
from tests.misbehaving import DIMENSION, Asked, Reply, embedded, error, serving, vector_of


def embedder(url: str, waits: list[float] | None = None, **settings: Any) -> OpenAIEmbedder:
    endpoint = Endpoint.model_validate(
        {"backend": "openai", "model": "m", "dimension": DIMENSION, "base_url": url, "batch_size": 8, "attempts": 3, **settings}
    )
    return OpenAIEmbedder(endpoint, "test", "secret", (waits if waits is not None else []).append)


def results(model: OpenAIEmbedder, texts: list[str]) -> tuple[dict[int, np.ndarray], dict[int, str]]:
    vectors: dict[int, np.ndarray] = {}
    refused: dict[int, str] = {}
    for result in embed_each(model, texts):
        if isinstance(result, Sound):
            vectors.update(zip(result.positions.tolist(), result.vectors, strict=True))
        else:
            refused[result.position] = result.reason
    return vectors, refused


def unit(text: str) -> np.ndarray:
    vector = np.array(vector_of(text), np.float64)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def test_answers_out_of_order_are_placed_by_their_index() -> None:
    texts = [f"text {'a' * i}" for i in range(20)]
    with serving(lambda asked: embedded(asked.texts)) as endpoint:
        vectors, refused = results(embedder(endpoint.url, concurrency=3), texts)
    assert refused == {}
    assert sorted(len(asked.texts) for asked in endpoint.seen) == [4, 8, 8]
    assert endpoint.seen[0].key == "Bearer secret"
    for i, text in enumerate(texts):
        np.testing.assert_allclose(vectors[i], unit(text), rtol=1e-6)


def test_one_bad_text_is_found_by_halving_and_nothing_is_sent_twice_unchanged() -> None:
    def behave(asked: Asked) -> Reply:
        return error(400, "this model's maximum context length is 8 tokens") if "long" in asked.texts else embedded(asked.texts)

    texts = ["a", "b", "c", "long", "d", "e", "f", "g"]
    with serving(behave) as endpoint:
        vectors, refused = results(embedder(endpoint.url), texts)
    assert refused == {3: "too_long"}
    assert sorted(vectors) == [0, 1, 2, 4, 5, 6, 7]
    assert max(endpoint.counts.values()) == 1
    assert endpoint.number == 7


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_fault_is_tried_again_after_the_time_the_server_asks_for(status: int) -> None:
    waits: list[float] = []
    with serving(lambda asked: error(status, "later", retry_after="0.25") if asked.number < 3 else embedded(asked.texts)) as endpoint:
        vectors, _ = results(embedder(endpoint.url, waits), ["a"])
    assert sorted(vectors) == [0]
    assert waits == [0.25, 0.25]
    assert endpoint.number == 3


def test_every_attempt_is_counted() -> None:
    with serving(lambda asked: error(500, "oops") if asked.number < 3 else embedded(asked.texts)) as endpoint:
        (answer,) = embedder(endpoint.url).embed(["a", "b"])
    assert (answer.usage.requests, answer.usage.tokens) == (3, 2)


def test_a_lost_endpoint_is_an_error_and_not_a_list_of_failed_papers() -> None:
    with serving(lambda _: Reply(reset=True)) as endpoint, pytest.raises(ModelError, match="can't be reached"):
        results(embedder(endpoint.url), ["a", "b"])
    assert endpoint.number == 3


def test_a_wrong_key_is_said_at_once() -> None:
    with serving(lambda _: error(401, "no such key")) as endpoint, pytest.raises(ModelError, match="no such key"):
        results(embedder(endpoint.url), ["a", "b"])
    assert endpoint.number == 1


def test_an_endpoint_that_breaks_down_over_everything_is_not_blamed_on_the_papers() -> None:
    with serving(lambda _: error(500, "out of memory")) as endpoint, pytest.raises(ModelError, match="breaks down over every text"):
        results(embedder(endpoint.url, attempts=1), [str(i) for i in range(8)])
    assert endpoint.number < 12


def test_too_few_vectors_are_detected_and_the_rest_is_found_by_halving() -> None:
    def behave(asked: Asked) -> Reply:
        reply = embedded(asked.texts)
        if len(asked.texts) > 2:
            reply.body["data"].pop()
        return reply

    with serving(behave) as endpoint:
        vectors, refused = results(embedder(endpoint.url), ["a", "b", "c", "d"])
    assert sorted(vectors) == [0, 1, 2, 3]
    assert refused == {}


def test_another_dimension_than_declared_is_refused() -> None:
    with serving(lambda asked: embedded(asked.texts)) as endpoint, pytest.raises(ModelError, match="dimension"):
        results(embedder(endpoint.url, dimension=5), ["a"])


def test_null_and_zero_vectors_cost_their_text_only() -> None:
    def behave(asked: Asked) -> Reply:
        reply = embedded(asked.texts)
        for item in reply.body["data"]:
            if asked.texts[item["index"]] == "zero":
                item["embedding"] = [0.0] * DIMENSION
            if asked.texts[item["index"]] == "null":
                item["embedding"][1] = None
        return reply

    with serving(behave) as endpoint:
        vectors, refused = results(embedder(endpoint.url), ["zero", "fine", "null"])
    assert sorted(vectors) == [1]
    assert refused == {0: "zero_vector", 2: "not_finite"}


def test_queries_and_documents_get_their_own_prefix() -> None:
    with serving(lambda asked: embedded(asked.texts)) as endpoint:
        model = embedder(endpoint.url, query_prefix="Query: ", document_prefix="Paper: ")
        np.testing.assert_allclose(embed_query(model, "x"), unit("Query: x"), rtol=1e-6)
        list(model.embed(["x"]))
    assert [asked.texts for asked in endpoint.seen] == [["Query: x"], ["Paper: x"]]


def test_a_query_that_is_refused_says_so() -> None:
    with serving(lambda _: error(400, "no")) as endpoint, pytest.raises(ModelError, match="query"):
        embed_query(embedder(endpoint.url), "x")

"""The embedded model and the hashing embedder, and what binds a role to one of them (trap 32)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from scholarlake.errors import ModelError
from scholarlake.models.answers import Sound, embed_each, embed_query
from scholarlake.models.config import Binding, Endpoint, ModelsFile, embedder_from_facts, require
from scholarlake.models.minilm import MiniLM, _load
from scholarlake.models.protocol import Embedder, fingerprint_of

DATA = Path(__file__).parents[3] / "data"
TEXTS = [
    "Black hole entropy and the area of the horizon",
    "a",
    "",
    "Deep residual learning. We ease the training of networks that are far deeper than those used before. " * 30,
    "深度学习综述",
    "Loop quantum gravity and spin foams",
    "The entropy of black holes is proportional to their area",
]


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    endpoint = ModelsFile.load(DATA / "models.yaml").endpoints["minilm"]
    return MiniLM(endpoint.model_copy(update={"threads": 1}))


def bound_to(endpoint: str) -> ModelsFile:
    """The project's models file with another embedder."""
    return ModelsFile(roles={"embedder": [Binding(endpoint=endpoint)]}, endpoints=ModelsFile.load(DATA / "models.yaml").endpoints)


def vectors(embedder: Embedder, texts: list[str]) -> NDArray[np.float32]:
    rows = np.zeros((len(texts), embedder.dimension), np.float32)
    for result in embed_each(embedder, texts):
        assert isinstance(result, Sound)
        rows[result.positions] = result.vectors
    return rows


def test_the_default_role_is_the_embedded_model() -> None:
    models = ModelsFile.load(DATA / "models.yaml")
    assert models.endpoint().backend == "minilm"
    assert models.embedder_facts()["fingerprint"] == fingerprint_of(models.endpoint().identity())
    assert models.endpoints["qwen3"].batch_size == 1024


def test_the_fast_graph_gives_the_vectors_of_the_published_model(minilm: MiniLM) -> None:
    expected = np.stack([_by_hand(minilm, text) for text in TEXTS])
    cosines = (vectors(minilm, TEXTS) * expected).sum(axis=1)
    assert cosines.min() > 0.9999


def test_vectors_are_of_unit_length_and_do_not_depend_on_their_neighbours(minilm: MiniLM) -> None:
    together = vectors(minilm, TEXTS)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(together[::-1], vectors(minilm, TEXTS[::-1]), atol=1e-6)
    np.testing.assert_allclose(embed_query(minilm, TEXTS[0]), together[0], atol=1e-6)


def test_meaning_brings_texts_together(minilm: MiniLM) -> None:
    rows = vectors(minilm, TEXTS)
    assert rows[0] @ rows[6] > 0.7 > 0.4 > rows[0] @ rows[3]


def hashing(**changes: object) -> Embedder:
    from scholarlake.models.hashing_embedder import HashingEmbedder

    return HashingEmbedder(Endpoint.model_validate({"backend": "hashing", "model": "w", "dimension": 64, **changes}))


def test_hashing_is_deterministic_of_unit_length_and_takes_any_text() -> None:
    texts = [*TEXTS, "?!", "\ud835", "C++"]
    rows = vectors(hashing(), texts)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(rows, vectors(hashing(batch_size=3), texts))
    assert rows[0].tolist() == pytest.approx(vectors(hashing(), [texts[0]])[0].tolist())


def test_hashing_brings_texts_of_shared_words_together() -> None:
    rows = vectors(hashing(dimension=128), TEXTS)
    assert rows[0] @ rows[6] > 0.3 > rows[0] @ rows[5]


@pytest.mark.parametrize(
    "change", [{"model": "v"}, {"revision": "2"}, {"query_prefix": "q: "}, {"document_prefix": "d: "}, {"max_tokens": 9}, {"dimension": 65}]
)
def test_whatever_changes_a_vector_changes_the_fingerprint(change: dict[str, object]) -> None:
    assert hashing(**change).fingerprint != hashing().fingerprint


def test_what_changes_no_vector_leaves_the_fingerprint() -> None:
    assert hashing(batch_size=7, concurrency=3, timeout_seconds=1).fingerprint == hashing().fingerprint


def test_a_release_gives_its_embedder_back_and_refuses_another() -> None:
    facts = bound_to("hashing").embedder_facts()
    assert embedder_from_facts(facts).fingerprint == facts["fingerprint"]
    with pytest.raises(ModelError, match="not the one"):
        embedder_from_facts({**facts, "fingerprint": "0" * 32})
    with pytest.raises(ModelError, match="not the one"):
        require("a", "b")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("roles: {embedder: x}\nendpoints: {}", "bound to 'x'"),
        ("roles: {}\nendpoints: {a: {backend: openai, model: m, dimension: 3}}", "base_url"),
        ("roles: {}\nendpoints: {a: {backend: hashing, model: m, dimension: 0}}", "endpoints.a.dimension"),
        ("roles: [", "can't be read"),
    ],
)
def test_a_bad_models_file_says_which_field(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(text)
    with pytest.raises(ModelError, match=said):
        ModelsFile.load(path)


def test_a_role_without_an_endpoint_and_a_missing_file_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="bind it"):
        ModelsFile(roles={}, endpoints={}).embedder()
    with pytest.raises(ModelError, match="no models file"):
        ModelsFile.load(tmp_path / "none.yaml")


def test_a_key_that_is_not_in_the_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCHOLARLAKE_EMBEDDING_KEY", raising=False)
    with pytest.raises(ModelError, match="SCHOLARLAKE_EMBEDDING_KEY"):
        bound_to("qwen3").embedder()


def _by_hand(minilm: MiniLM, text: str) -> NDArray[np.float64]:
    """The published model, written out in numpy: one text, double precision."""
    import json

    from safetensors.numpy import load_file
    from scipy.special import erf

    folder = minilm._folder
    weights = {
        name: value.astype(np.float64) for name, value in load_file(str(folder / "model.safetensors")).items() if value.dtype.kind == "f"
    }
    config = json.loads((folder / "config.json").read_text())
    heads, size = config["num_attention_heads"], config["hidden_size"] // config["num_attention_heads"]

    def linear(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        return np.asarray(x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"])

    def norm(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt(x.var(-1, keepdims=True) + config["layer_norm_eps"])
        return np.asarray(scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"])

    ids = _load(folder, minilm._max_tokens)[0].encode(text).ids
    places = weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(
        weights["embeddings.word_embeddings.weight"][ids] + places + weights["embeddings.token_type_embeddings.weight"][0],
        "embeddings.LayerNorm",
    )
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}."
        query, key, value = (
            linear(x, f"{at}attention.self.{part}").reshape(len(ids), heads, size).transpose(1, 0, 2) for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / size**0.5
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        mixed = (shares @ value).transpose(1, 0, 2).reshape(len(ids), -1)
        x = norm(x + linear(mixed, f"{at}attention.output.dense"), f"{at}attention.output.LayerNorm")
        inner = linear(x, f"{at}intermediate.dense")
        x = norm(x + linear(inner * 0.5 * (1 + erf(inner / 2**0.5)), f"{at}output.dense"), f"{at}output.LayerNorm")
    mean = x.mean(0)
    return np.asarray(mean / np.linalg.norm(mean))

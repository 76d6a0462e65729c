"""Claims about papers as vectors: the word statistics are scikit-learn's whatever the batches, and both halves weigh the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from scholarlake.corpus.progress import silent
from scholarlake.corpus.selection import features
from scholarlake.corpus.selection.features import Texts
from tests.unit.corpus.selection.choosing import EMBEDDER, lake_of, tools_for
from tests.unit.small_lake import paper

WORDS = ["gauge", "Gauge", "théorie", "theorie", "the", "of", "string", "strings", "brane", "branes", "black", "hole", "x", "2d", "and"]
texts_of_words = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=3, max_size=40)


def in_batches(texts: list[str], size: int, backwards: bool = False) -> Texts:
    starts = range(0, len(texts), size)
    for start in reversed(starts) if backwards else starts:
        part = texts[start : start + size]
        yield np.arange(start, start + len(part)), part


def matrix_of(texts: list[str], folder: Path, size: int = 1_000, backwards: bool = False):  # type: ignore[no-untyped-def]
    return features.tfidf(lambda: in_batches(texts, size, backwards), len(texts), folder, silent)


def by_scikit_learn(texts: list[str], max_features: int = 50_000):  # type: ignore[no-untyped-def]
    """What the paper describes, by the library it names, all texts at once."""
    return TfidfVectorizer(
        lowercase=True,
        strip_accents="unicode",
        stop_words="english",
        ngram_range=(1, 2),
        min_df=2,
        max_df=0.95,
        max_features=max_features,
        sublinear_tf=True,
    ).fit(texts)


@settings(max_examples=40, deadline=None)
@given(texts=texts_of_words, size=st.integers(1, 12))
def test_the_matrix_is_scikit_learn_s_whatever_the_batches_and_their_order(
    texts: list[str], size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("terms")
    found = matrix_of(texts, folder, size, backwards=True)
    try:
        wanted = by_scikit_learn(texts)
    except ValueError:  # scikit-learn refuses texts without a term, a corpus should not
        assert found.shape == (len(texts), 0)
        return
    assert found.shape == (len(texts), len(wanted.vocabulary_))
    assert np.allclose(found.toarray(), wanted.transform(texts).toarray(), atol=1e-6)
    assert (found != matrix_of(texts, folder)).nnz == 0
    assert list(folder.iterdir()) == [], "counts on disk are gone"


def test_counts_are_added_up_in_buckets_as_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(np.random.default_rng(n).choice(WORDS, 15)) for n in range(60)]
    whole = matrix_of(texts, tmp_path)
    monkeypatch.setattr(features, "BUCKET_ROWS", 300)
    assert (whole != matrix_of(texts, tmp_path, 7)).nnz == 0


def test_terms_are_words_and_pairs_of_at_least_two_papers_without_stop_words_case_and_accents(tmp_path: Path) -> None:
    texts = ["Théorie of the GAUGE", "theorie gauge", "gauge field", "gauge", "field gauge"]
    counted = list(features._counted(in_batches(texts, 2), len(texts), silent))
    # "gauge" is in every paper: more than 95 of a hundred. "gauge field" and "field gauge" are in one each.
    assert features.vocabulary(counted, len(texts), tmp_path) == ["field", "theorie", "theorie gauge"]


def test_of_too_many_terms_the_most_frequent_are_kept_and_of_equal_ones_the_first_by_the_alphabet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["delta delta beta", "delta alpha", "beta", "gamma alpha", "gamma"]
    counted = list(features._counted(in_batches(texts, 2), len(texts), silent))
    monkeypatch.setattr(features, "MAX_FEATURES", 3)
    assert features.vocabulary(counted, len(texts), tmp_path) == ["alpha", "beta", "delta"]
    monkeypatch.undo()
    assert features.MAX_FEATURES == 50_000


def test_words_and_meaning_are_normalised_scaled_by_the_root_of_one_half_and_joined() -> None:
    drawn = np.random.default_rng(1)
    words, meanings = (drawn.normal(size=(50, wide)).astype(np.float32) * 7 for wide in (128, 384))
    whole = features.joined(words, meanings)
    assert whole.shape == (50, 512)
    for half, given_half in ((whole[:, :128], words), (whole[:, 128:], meanings)):
        assert np.allclose(np.linalg.norm(half, axis=1), 0.5**0.5, atol=1e-6)
        assert np.allclose(
            half / np.linalg.norm(half, axis=1, keepdims=True), given_half / np.linalg.norm(given_half, axis=1, keepdims=True), atol=1e-6
        )
    assert np.allclose(np.linalg.norm(whole, axis=1), 1, atol=1e-6)


def test_a_half_that_is_missing_is_zero_and_not_nan() -> None:
    whole = features.joined(np.zeros((2, 3), np.float32), np.array([[3.0, 4.0], [0.0, 0.0]], np.float32))
    assert np.allclose(whole, [[0, 0, 0, 0.6 * 0.5**0.5, 0.8 * 0.5**0.5], [0, 0, 0, 0, 0]])


def test_words_are_reduced_to_128_dimensions_by_seven_iterations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sklearn.decomposition

    asked: list[dict[str, object]] = []

    class Watched(sklearn.decomposition.TruncatedSVD):  # type: ignore[misc]
        def fit_transform(self, *arguments):  # type: ignore[no-untyped-def]
            asked.append(self.get_params())
            return super().fit_transform(*arguments)

    monkeypatch.setattr(sklearn.decomposition, "TruncatedSVD", Watched)
    drawn = np.random.default_rng(2)
    texts = [" ".join(f"w{word}" for word in drawn.integers(0, 400, 40)) for _ in range(300)]
    found = features.word_vectors(lambda: in_batches(texts, 100), len(texts), 5, tmp_path, silent)
    assert found.shape == (300, 128)
    assert {name: asked[0][name] for name in ("n_components", "n_iter", "random_state", "algorithm")} == {
        "n_components": 128,
        "n_iter": 7,
        "random_state": 5,
        "algorithm": "randomized",
    }


def test_the_text_is_title_newline_abstract_with_nothing_for_what_is_missing(tmp_path: Path) -> None:
    rows = [paper("a", "A title", abstract="An abstract."), paper("b", "Alone"), paper("c", None, abstract="Only this.")]
    tools = tools_for(lake_of(tmp_path / "lake", rows, shards=3))
    read = {
        number: text
        for numbers, said in features.texts(tools.candidates, tools.candidates.present)
        for number, text in zip(numbers, said, strict=True)
    }
    assert read == {0: "A title\nAn abstract.", 1: "Alone\n", 2: "\nOnly this."}


def test_vectors_of_the_corpus_stand_at_their_paper_s_place(tmp_path: Path) -> None:
    rows = [paper(f"p{n}", f"title {n}", embedded=n != 2) for n in range(5)]
    tools = tools_for(lake_of(tmp_path / "lake", rows, shards=3))
    among = np.array([True, False, True, True, True])
    found = features.corpus_vectors(tools.candidates, among)
    wanted = next(iter(EMBEDDER.embed([f"title {n}\n" for n in (0, 2, 3, 4)]))).vectors
    assert wanted is not None
    wanted[1] = 0  # a paper without a vector
    assert np.allclose(found, wanted, atol=1e-6)


def test_a_text_is_embedded_once_whatever_run_it_comes_in(tmp_path: Path) -> None:
    rows = [paper("a", "One"), paper("b", "Two"), paper("c", "One")]
    tools = tools_for(lake_of(tmp_path / "lake", rows, shards=1))
    asked: list[list[str]] = []

    class Counting:
        name, identity, fingerprint, dimension, batch_size = "c", EMBEDDER.identity, EMBEDDER.fingerprint, EMBEDDER.dimension, 2

        def embed(self, texts: list[str], kind: str = "document") -> Iterator[object]:
            asked.append(list(texts))
            yield from EMBEDDER.embed(texts)

    everything = tools.candidates.present
    first = features.text_vectors(tools.candidates, everything, Counting(), silent)  # type: ignore[arg-type]
    again = features.text_vectors(tools.candidates, everything, Counting(), silent)  # type: ignore[arg-type]
    assert sorted(text for batch in asked for text in batch) == ["One\n", "Two\n"]
    assert np.array_equal(first, again)
    assert np.array_equal(first[0], first[2])
    assert not np.array_equal(first[0], first[1])


@pytest.mark.parametrize(("texts", "terms"), [(["Gauge", "gauge", "the"], 1), (["the", "of", "and"], 0)])
def test_texts_of_one_term_or_none_are_vectors_all_the_same(texts: list[str], terms: int, tmp_path: Path) -> None:
    found = features.word_vectors(lambda: in_batches(texts, 2), len(texts), 7, tmp_path, silent)
    assert found.shape == (3, terms)
    assert found.ravel().tolist() == [1.0, 1.0, 0.0][: 3 * terms]

"""Pictures are small PNGs, the same for the same numbers, and are drawn for an empty corpus too."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from scholarlake import pictures

DRAWN = np.random.default_rng(3)
DEGREES = DRAWN.zipf(1.9, 30_000).clip(max=5_000) - 1
CASES: dict[str, Callable[[], bytes]] = {
    "degrees": lambda: pictures.degree_distribution(DEGREES, DEGREES + 5, min_in=10, min_total=40),
    "no degrees": lambda: pictures.degree_distribution([], [], min_in=10, min_total=40),
    "nobody cited": lambda: pictures.degree_distribution([0, 0], [0, 0]),
    "years": lambda: pictures.papers_by_year([1650, *DRAWN.integers(1950, 2025, 10_000)], unknown=7),
    "one year": lambda: pictures.papers_by_year([1999]),
    "no years": lambda: pictures.papers_by_year([]),
    "map": lambda: pictures.embedding_map(np.random.default_rng(1).normal(size=(30_000, 2)), [f"venue {i % 40} $x" for i in range(30_000)]),
    "plain map": lambda: pictures.embedding_map([[0.0, 1.0]]),
    "no map": lambda: pictures.embedding_map(np.zeros((0, 2))),
    "rejects": lambda: pictures.rejects_by_reason({f"reason_{i}": i for i in range(30)}, lines=10_000_000),
    "no rejects": lambda: pictures.rejects_by_reason({}),
    "rules": lambda: pictures.identity_rules({"representative": 10**6, "same_doi": 3, "title": 0}),
    "recall": lambda: pictures.recall_per_shard({f"{i:02d}": 0.8 + i / 600 for i in range(99)}, least=0.9),
    "no recall": lambda: pictures.recall_per_shard({}, least=0.9),
    "formats": lambda: pictures.documents_by_format({"jats": 5, "markdown": 1}),
    "outcomes": lambda: pictures.documents_by_outcome({"taken": 5, "not_in_corpus": 100_000}),
    "sentences": lambda: pictures.sentences_per_document(DRAWN.integers(1, 900, 5_000)),
    "no sentences": lambda: pictures.sentences_per_document([]),
    "facts": lambda: pictures.facts_by_type({"finding": 12_000, "method_description": 3}),
    "no facts": lambda: pictures.facts_by_type({}),
    "sizes": lambda: pictures.shard_sizes({"00": 3, "01": 0}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_picture_is_a_png_of_at_most_a_hundred_kilobytes(name: str) -> None:
    png = CASES[name]()
    assert len(png) <= 100_000
    with Image.open(BytesIO(png)) as image:
        assert image.format == "PNG"
        assert image.width >= 600


@pytest.mark.parametrize("name", ["degrees", "map", "rules"])
def test_the_same_numbers_give_the_same_bytes(name: str) -> None:
    assert CASES[name]() == CASES[name]()

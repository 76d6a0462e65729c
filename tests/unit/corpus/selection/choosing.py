"""Lakes of a few papers to choose from, embedded by the hashing embedder, and what a choice is made with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scholarlake.corpus.selection.candidates import Candidates
from scholarlake.corpus.selection.choice import Choice, Tools
from scholarlake.corpus.selection.words import Words
from scholarlake.lake.home import Lake
from scholarlake.models.config import Endpoint
from scholarlake.models.hashing_embedder import HashingEmbedder
from tests.unit.small_lake import make_lake

EMBEDDER = HashingEmbedder(Endpoint(backend="hashing", model="word-and-trigram", revision="1", dimension=32))  # type: ignore[call-arg]


def lake_of(root: Path, papers: Iterable[Mapping[str, Any]], citations: Iterable[tuple[str, str]] = (), shards: int = 2) -> Lake:
    """A lake of papers that are embedded by title and abstract, but for those that say `embedded: False`."""
    rows = [dict(row) for row in papers]
    embedded = [row for row in rows if row.pop("embedded", True)]
    texts = [f"{row.get('title') or ''}\n{row.get('abstract') or ''}" for row in embedded]
    vectors = (
        np.concatenate([answer.vectors for answer in EMBEDDER.embed(texts) if answer.vectors is not None]) if texts else np.empty((0, 32))
    )
    known = {row["paper_id"]: (place, vector.tolist()) for place, (row, vector) in enumerate(zip(embedded, vectors, strict=True))}
    return make_lake(root, rows, citations, known, shards, model=EMBEDDER.fingerprint)


def tools_for(lake: Lake) -> Tools:
    candidates = Candidates(lake)
    return Tools(candidates, Words(candidates), lambda: EMBEDDER)


def ids(tools: Tools, choice: Choice) -> list[str]:
    """The chosen papers, in their order."""
    return tools.candidates.frame["paper_id"].gather(choice.numbers).to_list()

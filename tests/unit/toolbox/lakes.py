"""Lakes for the tools: a small one whose every answer is known, and one in which every list is longer than its cap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scholarlake.dense.index import build_index
from scholarlake.lake.home import Lake
from scholarlake.models.answers import embed_query
from scholarlake.models.config import Endpoint, open_embedder
from scholarlake.profile import Dense
from tests.unit.small_lake import make_lake, paper, release

EMBEDDER = Endpoint(backend="hashing", model="hashing", dimension=64)
CITING = 3_100

#: p1 was merged into p2 in one batch, p2 into p3 in the next. 1984 is a title, and the id of another paper.
SMALL = [
    paper("p3", "Deep Learning", year=2015, record_ids=["p1", "p2", "p3"], venue="Nature", doi="10.1/a", authors=[{"name": "A. One"}]),
    paper("q", "Deep Learning", year=2020),
    paper("r", "Learning to rank C++ α-synuclein", keywords=["retrieval", "COVID-19"], abstract="Ranking. " * 100),
    paper("s", "深度学习综述"),
    paper("t", "Far away"),
    paper("u", "Alone"),
    paper("w", "A preprint of that", version_of="u", withdrawn=True, withdrawn_by="title"),
    paper("1984", "Not the novel"),
    paper("novel", "1984"),
]
SMALL_CITATIONS = [("q", "p3"), ("r", "p3"), ("r", "q"), ("s", "r"), ("t", "s")]


def small(root: Path) -> Lake:
    return _released(root, SMALL, SMALL_CITATIONS)


def crowd(root: Path) -> Lake:
    """The hub is cited by CITING papers, and a survey cites all of these; c0001 is cited by c0002, which only a walk through it finds."""
    names = [f"c{number:04d}" for number in range(CITING)]
    papers = [paper("hub", "The hub"), paper("survey", "A survey of crowds"), *(paper(name, f"Crowd study {name}") for name in names)]
    citations = [(name, "hub") for name in names] + [("survey", name) for name in names] + [("c0002", "c0001")]
    return _released(root, papers, citations)


def _released(root: Path, papers: list[dict[str, Any]], citations: list[tuple[str, str]]) -> Lake:
    embedder, numbers = open_embedder(EMBEDDER, "hashing"), {"00": 0, "01": 0}
    lake = Lake.open_or_create(root, len(numbers))
    vectors = {}
    for row in papers[:20]:
        shard = lake.shard_of(row["paper_id"])
        vectors[row["paper_id"]] = (int(shard) * 10**10 + numbers[shard], embed_query(embedder, row["title"]).tolist())
        numbers[shard] += 1
    made = make_lake(root, papers, citations, vectors, model=embedder.fingerprint)
    indices = {shard: build_index(made, shard, embedder.fingerprint, embedder.dimension, Dense()).artifact for shard in made.shard_keys}
    facts = {"name": "hashing", "fingerprint": embedder.fingerprint, "endpoint": EMBEDDER.model_dump(exclude_defaults=True)}
    release(made, embedder=facts, vector_index=indices)
    return made

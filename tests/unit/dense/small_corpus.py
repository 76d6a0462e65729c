"""A lake with a few papers in it, and embedders that misbehave on command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from scholarlake.models.protocol import Answer, Fault, Kind, Usage, fingerprint_of
from scholarlake.profile import Dense
from tests.unit.small_lake import COMMIT, frame

DENSE = Dense(centroids=100, probes=100)  # type: ignore[call-arg]
DIMENSION = 8


def lay_down(root: Path, papers: Iterable[tuple[str, str | None]], shards: int = 1) -> Lake:
    """A lake whose papers are exactly these: id and title."""
    lake = Lake.open_or_create(root, shards)
    rows = [
        {"paper_id": paper_id, "title": title, "shard": lake.shard_of(paper_id), "method": "t", "code_version": "0"}
        for paper_id, title in papers
    ]
    for shard in lake.shard_keys:
        delta.write_partition(lake, "papers", shard, frame("papers", [row for row in rows if row["shard"] == shard]), COMMIT)
    return lake


def table(lake: Lake, name: str) -> pl.DataFrame:
    return lake.scan(name).sort("paper_id").collect()


class Scripted:
    """An embedder whose vectors tell of their text, that counts what it is asked.

    bad: texts that make their batch refused. dies_after: batches until the endpoint is lost. odd: text → vector it gets.
    """

    name = "scripted"
    batch_size = 4
    dimension = DIMENSION

    def __init__(
        self, bad: Sequence[str] = (), dies_after: int | None = None, odd: dict[str, list[float]] | None = None, **identity: Any
    ) -> None:
        self.identity = {"model": "scripted", **identity}
        self.fingerprint = fingerprint_of(self.identity)
        self.bad, self.dies_after, self.odd = set(bad), dies_after, odd or {}
        self.batches: list[list[str]] = []

    @property
    def asked(self) -> list[str]:
        return [text for batch in self.batches for text in batch]

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Iterator[Answer]:
        for start in range(0, len(texts), self.batch_size):
            batch = list(texts[start : start + self.batch_size])
            positions = np.arange(start, start + len(batch), dtype=np.int64)
            if self.dies_after is not None and len(self.batches) >= self.dies_after:
                yield Answer(positions, None, Fault("lost", "gone"))
                return
            self.batches.append(batch)
            if self.bad & set(batch):
                yield Answer(positions, None, Fault("refused", "rejected: 400"), Usage(1))
                continue
            order = np.arange(len(batch))[::-1]  # answered out of order
            rows = np.array([self.odd.get(batch[i], vector_of(batch[i])) for i in order], np.float32)
            yield Answer(positions[order], rows, usage=Usage(1, len(batch)))


def vector_of(text: str) -> list[float]:
    """Eight numbers that depend on the text alone; not of unit length."""
    from scholarlake.lake.hashing import stable_key

    return [float(x) for x in np.random.default_rng(stable_key(text) % (1 << 32)).standard_normal(DIMENSION)]


def unit(text: str) -> list[float]:
    vector = np.array(vector_of(text), np.float32).astype(np.float64)
    return [float(x) for x in vector / np.linalg.norm(vector)]

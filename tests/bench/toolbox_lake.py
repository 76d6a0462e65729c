"""A released lake of any size for measuring what reads it: made-up papers, twenty citations each, and a hub that every fifth paper cites.

Tables go through the one writer, indices through their own builders; only where the rows come from is made up. Popularity falls off as in
real corpora: a few papers are cited by thousands, most by some. One word is in a third of all titles.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from scholarlake.dense.index import build_index
from scholarlake.lake import contracts, delta
from scholarlake.lake.hashing import stable_key
from scholarlake.lake.home import Lake
from scholarlake.models.config import Endpoint, open_embedder
from scholarlake.models.hashing_embedder import hashed
from scholarlake.profile import Dense
from tests.unit.small_lake import release

SHARDS, SEED = 16, 11
CITED, HUB_SHARE = 20, 0.2
WORDS, TITLE_WORDS, ABSTRACT_WORDS = 20_000, 9, 110
COMMON_SHARE = 0.33
EMBEDDER = Endpoint(backend="hashing", model="word-and-trigram", revision="1", dimension=128)
RUN = delta.Commit("bench", "bench")


def make(root: Path, papers: int, paper_id: Callable[[int], str], common_word: str) -> Lake:
    """Make the lake and its release, and say how long each step took. paper_id: names papers; 0 is the hub."""
    began = time.perf_counter()

    def said(what: str) -> None:
        print(f"{time.perf_counter() - began:6.0f} s  {what}", file=sys.stderr, flush=True)

    lake = Lake.create(root, SHARDS)
    rng = np.random.default_rng(SEED)
    ids = pl.Series("paper_id", [paper_id(number) for number in range(papers)])
    shards = np.array([int(lake.shard_of(one)) for one in ids], dtype=np.int64)
    keys = np.array([stable_key(one) for one in ids], dtype=np.int64)
    edges = _edges(rng, papers)
    into, out = (np.bincount(ends, minlength=papers) for ends in (edges[1], edges[0]))
    vocabulary = np.array(_vocabulary(rng))
    said(f"{papers:,} papers and {edges.shape[1]:,} citations drawn")
    embedder = open_embedder(EMBEDDER, "hashing")
    indices = {}
    for number, shard in enumerate(lake.shard_keys):
        members = np.flatnonzero(shards == number)
        own = shards[edges[0]] == number
        names = ids.gather(members)
        titles, abstracts = _texts(rng, vocabulary, members, common_word)
        common = {"paper_id": names, "paper_key": keys[members], "shard": shard}
        texts = [f"{title}. {abstract[:200]}" for title, abstract in zip(titles, abstracts, strict=True)]
        vectors = np.concatenate([hashed(texts[at : at + 4_096], EMBEDDER.dimension) for at in range(0, len(texts), 4_096)])
        cites, cited = out[members], into[members]
        tables: dict[str, dict[str, Any]] = {
            "papers": {
                **common,
                "title": titles,
                "abstract": abstracts,
                "year": 1950 + members % 75,
                "venue": [f"Journal {at % 997}" for at in members],
                "record_ids": [[one] for one in names],
            },
            "identities": {**common, "record_id": names, "record_key": keys[members], "copies": 1, "is_current": True, "rule": "same_id"},
            "degrees": {**common, "in_degree": cited, "out_degree": cites, "total_degree": cited + cites, "is_core": cited >= 10},
            "citations": {"citing_id": ids.gather(edges[0][own]), "cited_id": ids.gather(edges[1][own]), "shard": shard},
            "embeddings": {
                **common,
                "faiss_id": number * 10**10 + np.arange(len(members)),
                "text_hash": names,
                "model": embedder.fingerprint,
                "vector": pl.Series(list(vectors)),
            },
        }
        for table, columns in tables.items():
            _write(lake, table, shard, columns)
        indices[shard] = build_index(lake, shard, embedder.fingerprint, EMBEDDER.dimension, Dense()).artifact  # type: ignore[call-arg]
        said(f"shard {shard}: {len(members):,} papers written and indexed")
    facts = {"name": "hashing", "fingerprint": embedder.fingerprint, "endpoint": EMBEDDER.model_dump(exclude_defaults=True)}
    release(lake, embedder=facts, vector_index=indices)
    said("search index and citation graph built")
    return lake


def _edges(rng: np.random.Generator, papers: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Distinct citations, shape (2, n): citing, cited. Paper 0 is the hub."""
    citing = rng.integers(0, papers, papers * CITED, dtype=np.int64)
    cited = (papers * rng.random(papers * CITED) ** 3).astype(np.int64)
    fans = rng.choice(papers, int(papers * HUB_SHARE), replace=False)
    joined = np.unique(np.concatenate([citing << 32 | cited, fans << 32]))
    ends = np.stack([joined >> 32, joined & 0xFFFFFFFF])
    return ends[:, ends[0] != ends[1]]


def _vocabulary(rng: np.random.Generator) -> list[str]:
    letters = np.array(list("etaoinshrdlucmfwypvbgkqjxz"))
    return ["".join(letters[(26 * rng.random(length) ** 2).astype(int)]) for length in rng.integers(4, 11, WORDS)]


def _texts(rng: np.random.Generator, vocabulary: Any, members: Any, common_word: str) -> tuple[list[str], list[str]]:
    def drawn(length: int) -> Any:
        return vocabulary[(WORDS * rng.random((len(members), length)) ** 4).astype(np.int64)].tolist()

    has_common = rng.random(len(members)) < COMMON_SHARE
    titles = [
        f"{' '.join(words)} {common_word if common else 'work'} {number}"
        for words, common, number in zip(drawn(TITLE_WORDS), has_common, members, strict=True)
    ]
    return titles, [" ".join(words) for words in drawn(ABSTRACT_WORDS)]


def _write(lake: Lake, table: str, shard: str, given: Mapping[str, Any]) -> None:
    """Write a shard of a table; what is not given is null, empty or 0."""
    contract = contracts.table(table)
    empty: dict[Any, Callable[[], Any]] = {pl.String: lambda: "", pl.Boolean: lambda: False}
    height = len(next(value for value in given.values() if not isinstance(value, str)))
    columns = []
    for name, column in contract.columns.items():
        value = given.get(name)
        if value is None and not column.nullable:
            value = [] if isinstance(column.dtype, pl.List) else empty.get(column.dtype, lambda: 0)()
        if isinstance(value, pl.Series | np.ndarray) or (isinstance(value, list) and value):
            columns.append(pl.Series(name, value).cast(column.dtype))
        else:
            columns.append(pl.Series(name, [value], column.dtype).new_from_index(0, height))
    delta.write_partition(lake, table, shard, pl.DataFrame(columns), RUN)

"""Cores of made-up papers, laid down through the one writer, for tests of what is drawn from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from scholarlake.profile import Training
from scholarlake.training.subgraphs import SubgraphsReport, build_subgraphs
from tests.unit.small_lake import COMMIT, frame

Edges = Iterable[tuple[str, str]]


def core(root: Path, papers: Iterable[str], citations: Edges, versions: Mapping[str, str] | None = None, train_batches: int = 2) -> Lake:
    """A lake whose core these papers are. versions: preprint → what stands for its work."""
    lake = Lake.open_or_create(root, 2, train_batches)
    tables: dict[str, list[dict[str, object]]] = {
        "core_papers": [{"paper_id": paper} for paper in papers],
        "core_citations": [{"citing_id": citing, "cited_id": cited} for citing, cited in citations],
        "work_versions": [{"paper_id": paper, "version_of": of, "rule": "title_and_author"} for paper, of in (versions or {}).items()],
    }
    for table, rows in tables.items():
        placed = [{**row, "shard": lake.shard_of(str(row.get("paper_id", row.get("citing_id"))))} for row in rows]
        for shard in lake.shard_keys:
            delta.write_partition(lake, table, shard, frame(table, [row for row in placed if row["shard"] == shard]), COMMIT)
    return lake


def random_edges(papers: int, citations: int, seed: int = 0) -> list[tuple[str, str]]:
    """Distinct citations between papers p0000, p0001…; the earlier ones are cited more."""
    draws = np.random.default_rng(seed)
    citing = draws.integers(1, papers, citations)
    cited = (citing * draws.random(citations) ** 2).astype(np.int64)
    return sorted({(named(int(a)), named(int(b))) for a, b in zip(citing, cited, strict=True)})


def named(number: int) -> str:
    return f"p{number:04d}"


def build(lake: Lake, training: Training) -> dict[str, SubgraphsReport]:
    """All batches, in the order of the lake's."""
    return {batch: build_subgraphs(lake, batch, training, COMMIT) for batch in lake.batch_keys}


def rows(lake: Lake) -> pl.DataFrame:
    return lake.scan("subgraphs").collect().sort("subgraph_batch", "n")

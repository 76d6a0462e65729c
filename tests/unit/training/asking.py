"""A corpus of made-up papers with subgraphs of its core, for tests of the questions that are composed of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scholarlake.corpus import csr
from scholarlake.lake import artifacts, contracts, delta, receipts
from scholarlake.lake.home import Lake
from tests.unit.small_lake import COMMIT, frame, make_lake, paper
from tests.unit.training.cores import Edges, core, named

_WORDS = ("spin", "glass", "neural", "graph", "protein", "flow", "kernel", "lattice", "signal", "market", "ocean", "orbit")
VENUES = ("Journal of Examples", "Letters on Cases", "Annals of Instances", "Proceedings of Samples")
PEOPLE = tuple(f"{first} {last}" for first in ("Ada", "Bo", "Cy", "Di") for last in ("Moor", "Ngo", "Ochs", "Pohl", "Quist"))


def made_up(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Papers p0000, p0001… with titles of their own and fields that many share."""
    draws = np.random.default_rng(seed)
    papers = []
    for number in range(count):
        words = " ".join(draws.choice(_WORDS, 3))
        papers.append(
            paper(
                named(number),
                f"On the {words} of kind {number}",
                year=int(draws.integers(1990, 2020)),
                venue=str(draws.choice(VENUES)),
                authors=[{"id": None, "name": str(name), "org": None, "org_id": None} for name in draws.choice(PEOPLE, 2, replace=False)],
                keywords=[str(word) for word in draws.choice(_WORDS, 2, replace=False)],
            )
        )
    return papers


def asked_lake(root: Path, papers: Sequence[Mapping[str, Any]], citations: Edges, train_batches: int = 2) -> Lake:
    """A lake with all that questions are made from but subgraphs, all its papers being core."""
    edges = list(citations)
    lake = core(root, [row["paper_id"] for row in papers], edges, train_batches=train_batches)
    make_lake(root, papers, edges, train_batches=train_batches)
    graph = artifacts.publish(lake, "citation_graph", None, lambda folder: csr.build(folder, lake))
    begun = receipts.begin(lake, "citation_graph", None, code_version="1", inputs={}, run_id="test")
    receipts.finish(lake, begun, data_version=graph.digest, artifact=graph.path)
    return lake


def replace(lake: Lake, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Make rows the whole content of a table that is partitioned by batch."""
    by = contracts.table(table).partition_by or ""
    for batch in lake.batch_keys:
        delta.write_partition(lake, table, batch, frame(table, [row for row in rows if row[by] == batch]), COMMIT)

"""The tables of subgraphs, batch by batch. What all batches share is worked out once and lies in the spool while they are made.

    spool/subgraphs/DIGEST/    the core as arrays, and the seeds and the open part of every split

What does not belong here: how seeds are drawn (`splits`) and walks go (`walks`).
"""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from scholarlake.corpus.keys import mix
from scholarlake.corpus.progress import Progress, silent
from scholarlake.lake import contracts, delta
from scholarlake.lake.delta import Commit
from scholarlake.lake.files import build_folder, read_json, write_json
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.profile import Training
from scholarlake.training.graph import CoreGraph, read_graph
from scholarlake.training.splits import ORDER, Drawing, Split, draw, keys_of
from scholarlake.training.walks import Visits, visits_of, walk

_READ = ("core_papers", "core_citations", "work_versions")


@dataclass(frozen=True)
class SubgraphsReport:
    """What was made of a batch: its row of `subgraph_batches`, and the tables' versions."""

    summary: dict[str, Any]
    rows: int
    versions: dict[str, int | None]
    content_version: str


@dataclass(frozen=True)
class Drawn:
    """The core and its splits. digest: of both, by what they hold."""

    graph: CoreGraph
    splits: dict[str, Split]
    digest: str


def drawing_of(training: Training) -> Drawing:
    """What a profile wants drawn."""
    counts = {split: int(getattr(training, split)) for split in ORDER}
    return Drawing(training.seed, training.walks, training.steps, counts, training.held_out)


def build_subgraphs(lake: Lake, batch: str, training: Training, run: Commit, progress: Progress = silent) -> SubgraphsReport:
    """Make the subgraphs of a batch, and say how many it has and why no more."""
    progress(0, None, "reading the core")
    drawn = drawn_of(lake, drawing_of(training))
    rows, summary = batch_of(drawn, batch, training, progress)
    code = pl.lit(run.code_version).alias("code_version")
    listed = pl.DataFrame([{**summary, "code_version": run.code_version}], schema=contracts.SUBGRAPH_BATCHES.schema)
    written = [
        delta.write_partition(lake, "subgraphs", batch, rows.with_columns(code), run),
        delta.write_partition(lake, "subgraph_batches", batch, listed, run),
    ]
    return SubgraphsReport(
        summary,
        rows.height,
        {"subgraphs": written[0].version, "subgraph_batches": written[1].version},
        digest([one.content_version for one in written]),
    )


def drawn_of(lake: Lake, drawing: Drawing) -> Drawn:
    """The splits of the core as it is now: from the spool, or drawn and spooled."""
    home = lake.spool("subgraphs")
    versions = [f"{name}={delta.version(lake, name)}" for name in _READ]
    folder = home / digest([*versions, repr(sorted(asdict(drawing).items()))])
    if not folder.is_dir():
        build_folder(folder, lambda aside: _spool(aside, lake, drawing))
        for other in home.iterdir():  # of a core or settings that are no more
            if other != folder:
                shutil.rmtree(other, ignore_errors=True)
    facts = read_json(folder / "facts.json")
    splits = {
        name: Split(
            name,
            drawing.counts[name],
            np.load(folder / f"{name}-open.npy"),
            np.load(folder / f"{name}-seeds.npy"),
            **facts["splits"][name],
        )
        for name in ORDER
    }
    return Drawn(CoreGraph.load(folder), splits, str(facts["digest"]))


def _spool(folder: Path, lake: Lake, drawing: Drawing) -> None:
    graph = read_graph(lake)
    splits = draw(graph, drawing)
    graph.save(folder)
    for name, split in splits.items():
        np.save(folder / f"{name}-open.npy", split.open)
        np.save(folder / f"{name}-seeds.npy", split.seeds)
    said = {name: {"most": split.most, "shortfall": split.shortfall} for name, split in splits.items()}
    write_json(folder / "facts.json", {"digest": digest([graph.digest(), repr(sorted(asdict(drawing).items()))]), "splits": said})


def batch_of(drawn: Drawn, batch: str, training: Training, progress: Progress = silent) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The rows of a batch, without their code version, and its row of `subgraph_batches`.

    Every batch of a split gets as many as the others, or one more: seeds are dealt out like cards.
    """
    name, _, number = batch.rpartition("-")
    split = drawn.splits[name]
    batches = training.train_batches if name == "train" else 1
    seeds = split.seeds[int(number) :: batches]
    progress(0, len(seeds), "walking")
    keys = mix(keys_of(drawn.graph, training.seed)[seeds])
    visits = visits_of(walk(drawn.graph.among(split.open), seeds, keys, training.walks, training.steps))
    ids = drawn.graph.ids
    rows = pl.DataFrame(
        {
            "subgraph_batch": pl.repeat(batch, len(seeds), dtype=pl.String, eager=True),
            "split": pl.repeat(name, len(seeds), dtype=pl.String, eager=True),
            "subgraph_id": pl.Series([f"subgraph-{digest([str(training.seed), seed])}" for seed in ids[seeds]], dtype=pl.String),
            "n": pl.int_range(len(seeds), dtype=pl.Int64, eager=True),
            "seed_id": ids[seeds],
            **_lists(ids, visits),
        }
    )
    wanted = len(range(int(number), split.wanted, batches))
    return rows, {
        "subgraph_batch": batch,
        "split": name,
        "wanted": wanted,
        "made": len(seeds),
        "papers": len(np.unique(visits.papers)),
        "core_papers": len(ids),
        "open_papers": int(split.open.sum()),
        "most_papers": split.most,
        "shortfall": split.shortfall if len(seeds) < wanted else None,
        "drawn_from": drawn.digest,
    }


def _lists(ids: pl.Series, visits: Visits) -> dict[str, pl.Series]:
    """Papers and walks as lists, a row a subgraph."""
    count, walks, length = visits.places.shape
    owners = pl.Series(np.repeat(np.arange(count, dtype=np.int64), np.diff(visits.starts)))
    papers = pl.DataFrame({"row": owners, "papers": ids[visits.papers]}).group_by("row", maintain_order=True).agg("papers")["papers"]
    places = pl.Series("walks", visits.places.reshape(count, walks * length), dtype=pl.Array(pl.Int32, walks * length))
    return {"papers": papers, "walks": places.reshape((count, walks, length)).arr.to_list().cast(pl.List(pl.List(pl.Int32)))}


def first_subgraph(lake: Lake, batch: str) -> tuple[list[str], list[list[int]]]:
    """The first subgraph of a batch, as an example: the titles of its papers, and its walks."""
    row = lake.scan("subgraphs").filter(pl.col("subgraph_batch") == batch).sort("n").head(1).collect().row(0, named=True)
    named = lake.scan("papers").filter(pl.col("paper_id").is_in(row["papers"])).select("paper_id", "title").collect()
    titles = dict(named.iter_rows())
    return [titles.get(paper) or paper for paper in row["papers"]], row["walks"]

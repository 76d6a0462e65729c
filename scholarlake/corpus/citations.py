"""The tables of the citation graph: `citations`, `degrees`, `core_papers`, `core_citations`, from the resolved edges.

How references become edges is in edges.py, how edges become rows of text ids in edge_rows.py, how shards are written in
shard_writer.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from scholarlake.corpus import edges as edge_sets
from scholarlake.corpus.edge_rows import EdgeRows, PaperIds
from scholarlake.corpus.keys import Words
from scholarlake.corpus.progress import Progress, silent
from scholarlake.corpus.shard_writer import Changed, ShardWriter, TableReport
from scholarlake.errors import LakeError
from scholarlake.lake import contracts, delta
from scholarlake.lake.home import Lake
from scholarlake.profile import Core

CODE_VERSION = "citations-1"

EDGES_AT_ONCE = 2_000_000
"""Edges that get their text ids, and a Parquet file, at a time."""

_REASONS = ("core", "low_total", "low_in", "low_both")


@dataclass(frozen=True)
class CitationsReport(TableReport):
    """references = rows + self_references + repeated_references + unresolved_references."""

    papers: int = 0
    references: int = 0
    self_references: int = 0
    repeated_references: int = 0
    unresolved_references: int = 0


@dataclass(frozen=True)
class DegreesReport(TableReport):
    """papers_by_reason: core, low_total, low_in, low_both. papers_by_degree: papers of each in-degree, in powers of two."""

    papers_by_reason: Mapping[str, int] | None = None
    papers_by_in_degree: Mapping[str, int] | None = None


def build_citations(lake: Lake, run: delta.Commit, progress: Progress = silent) -> CitationsReport:
    """Resolve all references and write `citations`: each pair of distinct papers once, in the shard of the citing one.

    Raises LakeError where `identities` is missing, or older than `records`.
    """
    before = edge_sets.kept(lake)
    edges = edge_sets.resolve(lake, progress)
    writer = ShardWriter(lake, "citations", run, progress)
    if before is None:
        ids = PaperIds(edges.papers.ids)
        report = writer.write((shard, _edge_rows(ids, edges.of_shard(number), shard)) for number, shard in enumerate(lake.shard_keys))
    else:
        report = writer.change(_edge_changes(lake, before, edges))
    edge_sets.keep_for(lake, edges, report.version)
    selves, repeated = int(edges.self_references.sum()), int(edges.repeated_references.sum())
    unresolved = int(edges.unresolved_references.sum())
    return CitationsReport(
        **vars(report),
        papers=len(edges.papers),
        references=edges.edges + selves + repeated + unresolved,
        self_references=selves,
        repeated_references=repeated,
        unresolved_references=unresolved,
    )


def build_degrees(lake: Lake, core: Core, run: delta.Commit, progress: Progress = silent) -> DegreesReport:
    """Count every paper's citations and references, say whether it is core, and write `degrees`."""
    edges = edge_sets.kept(lake) or edge_sets.resolve(lake, progress)
    in_degree, out_degree = edges.degrees()
    total = in_degree + out_degree
    if core.count_outside_references:
        total = total + edges.unresolved_references
    enough_total, enough_in = total >= core.min_total, in_degree >= core.min_in
    reason = np.where(enough_total, np.where(enough_in, 0, 2), np.where(enough_in, 1, 3))

    def rows(number: int, shard: str) -> Iterator[pl.DataFrame]:
        part = slice(int(edges.papers.bounds[number]), int(edges.papers.bounds[number + 1]))
        yield pl.DataFrame(
            {
                "paper_id": edges.papers.ids[part],
                "shard": pl.repeat(shard, part.stop - part.start, dtype=pl.String, eager=True),
                "in_degree": in_degree[part],
                "out_degree": out_degree[part],
                "total_degree": total[part],
                "self_references": edges.self_references[part],
                "repeated_references": edges.repeated_references[part],
                "unresolved_references": edges.unresolved_references[part],
                "is_core": reason[part] == 0,
                "reason": pl.Series(_REASONS, dtype=pl.String).gather(reason[part]),
            },
            schema=contracts.DEGREES.schema,
        )

    shards = ((shard, rows(number, shard)) for number, shard in enumerate(lake.shard_keys))
    report = ShardWriter(lake, "degrees", run, progress).write(shards)
    counts = np.bincount(reason, minlength=len(_REASONS))
    return DegreesReport(
        **vars(report),
        papers_by_reason={name: int(count) for name, count in zip(_REASONS, counts, strict=True)},
        papers_by_in_degree=_histogram(in_degree),
    )


def build_core_papers(lake: Lake, run: delta.Commit, progress: Progress = silent) -> TableReport:
    """Write `core_papers`: the papers that `degrees` says are core."""
    if not delta.exists(lake, "degrees"):
        raise LakeError("degrees has not been built; run `scholarlake build` to that stage first")
    core = lake.scan("degrees").filter("is_core").select(list(contracts.CORE_PAPERS.columns))

    def rows(shard: str) -> Iterator[pl.DataFrame]:
        yield core.filter(pl.col("shard") == shard).collect()

    return ShardWriter(lake, "core_papers", run, progress).write((shard, rows(shard)) for shard in lake.shard_keys)


def build_core_citations(lake: Lake, run: delta.Commit, progress: Progress = silent) -> TableReport:
    """Write `core_citations`: the citations whose two ends `core_papers` holds."""
    if not delta.exists(lake, "core_papers") or not delta.exists(lake, "citations"):
        raise LakeError("core_papers or citations has not been built; run `scholarlake build` to those stages first")
    core = lake.scan("core_papers").select("paper_id").collect()
    edges = edge_sets.kept(lake)
    writer = ShardWriter(lake, "core_citations", run, progress)
    if edges is None:
        return writer.write((shard, _joined(lake, core.lazy(), shard)) for shard in lake.shard_keys)
    is_core = np.zeros(len(edges.papers), dtype=bool)
    is_core[edges.papers.numbers(core["paper_id"])] = True
    ids = PaperIds(edges.papers.ids)
    return writer.write((shard, _edge_rows(ids, edges.of_shard(number), shard, is_core)) for number, shard in enumerate(lake.shard_keys))


def _joined(lake: Lake, core: pl.LazyFrame, shard: str) -> Iterator[pl.DataFrame]:
    """The same without numbered edges, by the text ids of the tables."""
    inside = lake.scan("citations").filter(pl.col("shard") == shard)
    for end in ("citing_id", "cited_id"):
        inside = inside.join(core, left_on=end, right_on="paper_id", how="semi")
    yield inside.collect()


def _edge_changes(lake: Lake, before: edge_sets.EdgeSet, edges: edge_sets.EdgeSet) -> Iterator[Changed]:
    """Of every shard the rows that are new to the table, and the keys of those that are not to be in it any more."""
    renumbered = edge_sets.Renumbering(before.papers, edges.papers)
    new, old = PaperIds(edges.papers.ids), PaperIds(before.papers.ids)
    for number, shard in enumerate(lake.shard_keys):
        changes = renumbered.changes(before.of_shard(number), edges.of_shard(number))
        key = list(contracts.CITATIONS.key)
        yield shard, EdgeRows(new, changes.came, shard).frame(), EdgeRows(old, changes.went, shard).frame().select(key)


def _edge_rows(
    papers: PaperIds, edges: Words, shard: str, among: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None
) -> Iterator[EdgeRows]:
    """Edges in pieces of EDGES_AT_ONCE before those are left out that have an end not `among` the papers. None where none is left."""
    for piece in edge_sets.pieces(edges, EDGES_AT_ONCE):
        kept = piece if among is None else piece[among[edge_sets.source(piece)] & among[edge_sets.target(piece)]]
        if len(kept):
            yield EdgeRows(papers, kept, shard)


def _histogram(degrees: edge_sets.Counts) -> dict[str, int]:
    """Papers by in-degree: 0, 1, 2–3, 4–7, …"""
    counts = np.bincount(np.ceil(np.log2(degrees + 1)).astype(np.int64))
    labels = ["0" if step == 0 else "1" if step == 1 else f"{1 << (step - 1)}–{(1 << step) - 1}" for step in range(len(counts))]
    return {label: int(count) for label, count in zip(labels, counts, strict=True) if count}

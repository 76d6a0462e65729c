"""The tables of the citation graph: `citations`, `degrees`, `core_papers`, `core_citations`, from the resolved edges.

How references become edges is in edges.py; here they get their text ids and are written, a shard at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from scholarlake.corpus import edges as edge_sets
from scholarlake.corpus.edges import EdgeSet, Papers
from scholarlake.corpus.keys import Words
from scholarlake.corpus.progress import Progress, silent
from scholarlake.errors import LakeError
from scholarlake.lake import contracts, delta
from scholarlake.lake.content import Content, content_of
from scholarlake.lake.home import Lake
from scholarlake.profile import Core

CODE_VERSION = "citations-1"

EDGES_AT_ONCE = 5_000_000
"""Edges that get their text ids, and a Parquet file, at a time."""

_REASONS = ("core", "low_total", "low_in", "low_both")


@dataclass(frozen=True)
class TableReport:
    """What a stage wrote. `content_versions`: by shard, every shard of the lake."""

    rows: int
    inserted: int
    updated: int
    deleted: int
    version: int | None
    content_versions: Mapping[str, str]

    @property
    def changed(self) -> int:
        return self.inserted + self.updated + self.deleted


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
    edges = edge_sets.resolve(lake, progress)
    writer = _Writer(lake, "citations", run, progress)
    for number, shard in enumerate(lake.shard_keys):
        writer.write(shard, _edge_frames(edges.papers, edges.of_shard(number), shard))
    report = writer.report()
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
    writer = _Writer(lake, "degrees", run, progress)
    for number, shard in enumerate(lake.shard_keys):
        part = slice(int(edges.papers.bounds[number]), int(edges.papers.bounds[number + 1]))
        frame = pl.DataFrame(
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
        writer.write(shard, iter([frame]))
    counts = np.bincount(reason, minlength=len(_REASONS))
    return DegreesReport(
        **vars(writer.report()),
        papers_by_reason={name: int(count) for name, count in zip(_REASONS, counts, strict=True)},
        papers_by_in_degree=_histogram(in_degree),
    )


def build_core_papers(lake: Lake, run: delta.Commit, progress: Progress = silent) -> TableReport:
    """Write `core_papers`: the papers that `degrees` says are core."""
    if not delta.exists(lake, "degrees"):
        raise LakeError("degrees has not been built; run `scholarlake build` to that stage first")
    writer = _Writer(lake, "core_papers", run, progress)
    for shard in lake.shard_keys:
        core = lake.scan("degrees").filter(pl.col("shard") == shard, pl.col("is_core")).select(list(contracts.CORE_PAPERS.columns))
        writer.write(shard, iter([core.collect()]))
    return writer.report()


def build_core_citations(lake: Lake, run: delta.Commit, progress: Progress = silent) -> TableReport:
    """Write `core_citations`: the citations whose two ends `core_papers` holds."""
    if not delta.exists(lake, "core_papers") or not delta.exists(lake, "citations"):
        raise LakeError("core_papers or citations has not been built; run `scholarlake build` to those stages first")
    core = lake.scan("core_papers").select("paper_id").collect()
    edges = edge_sets.kept(lake)
    writer = _Writer(lake, "core_citations", run, progress)
    if edges is None:
        ids = core.lazy()
        for shard in lake.shard_keys:
            inside = lake.scan("citations").filter(pl.col("shard") == shard)
            for end in ("citing_id", "cited_id"):
                inside = inside.join(ids, left_on=end, right_on="paper_id", how="semi")
            writer.write(shard, iter([inside.collect()]))
        return writer.report()
    is_core = np.zeros(len(edges.papers), dtype=bool)
    is_core[edges.papers.numbers(core["paper_id"])] = True
    for number, shard in enumerate(lake.shard_keys):
        writer.write(shard, _edge_frames(edges.papers, _inside(edges, number, is_core), shard))
    return writer.report()


def _inside(edges: EdgeSet, shard: int, is_core: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Words:
    kept = [
        piece[is_core[edge_sets.source(piece)] & is_core[edge_sets.target(piece)]] for piece in edge_sets.pieces(edges.of_shard(shard))
    ]
    return np.concatenate(kept) if kept else np.empty(0, dtype=np.uint64)


def _edge_frames(papers: Papers, edges: Words, shard: str) -> Iterator[pl.DataFrame]:
    """Edges as rows of text ids, at most EDGES_AT_ONCE to a frame, at least one frame."""
    for piece in edge_sets.pieces(edges, EDGES_AT_ONCE) if len(edges) else [edges]:
        yield pl.DataFrame(
            {
                "citing_id": papers.ids.gather(pl.Series(piece >> np.uint64(32), dtype=pl.UInt64)),
                "cited_id": papers.ids.gather(pl.Series(piece & np.uint64(0xFFFFFFFF), dtype=pl.UInt64)),
                "shard": pl.repeat(shard, len(piece), dtype=pl.String, eager=True),
            }
        )


def _histogram(degrees: edge_sets.Counts) -> dict[str, int]:
    """Papers by in-degree: 0, 1, 2–3, 4–7, …"""
    counts = Counter(int(step) for step in np.ceil(np.log2(degrees + 1)))
    labels = {step: "0" if step == 0 else "1" if step == 1 else f"{1 << (step - 1)}–{(1 << step) - 1}" for step in counts}
    return {labels[step]: counts[step] for step in sorted(counts)}


class _Writer:
    """Writes a table shard by shard: at once where a shard is new, by what differs where it is not."""

    def __init__(self, lake: Lake, name: str, run: delta.Commit, progress: Progress) -> None:
        self.lake, self.name, self.run, self.progress = lake, name, run, progress
        self.present = set(delta.partitions(lake, name))
        self.written: dict[str, delta.Written] = {}

    def write(self, shard: str, frames: Iterator[pl.DataFrame]) -> None:
        self.progress(len(self.written), self.lake.shards, f"writing {self.name}")
        if shard not in self.present:
            staged = [delta.stage(self.lake, self.name, shard, frame) for frame in frames]
            self.written[shard] = delta.commit_staged(self.lake, self.name, shard, staged, self.run)
            return
        held = list(frames)
        contract = contracts.table(self.name)
        wanted = sum((content_of(contract, frame) for frame in held), Content())
        if wanted == delta.partition_content(self.lake, self.name, shard):  # joining by text keys to learn that is ten times dearer
            self.written[shard] = delta.Written(delta.version(self.lake, self.name), 0, 0, 0, wanted.rows, 0, wanted.version)
        else:
            self.written[shard] = delta.write_partition(self.lake, self.name, shard, pl.concat(held), self.run)

    def report(self) -> TableReport:
        written = self.written.values()
        return TableReport(
            rows=sum(one.rows for one in written),
            inserted=sum(one.inserted for one in written),
            updated=sum(one.updated for one in written),
            deleted=sum(one.deleted for one in written),
            version=delta.version(self.lake, self.name),
            content_versions={shard: one.content_version for shard, one in self.written.items()},
        )

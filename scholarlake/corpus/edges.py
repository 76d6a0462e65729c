"""Resolved citations as integers: from `identities` and the hashed references of `records` to sorted edges on disk.

Papers are numbered by shard, then by id as text; an edge is one 64-bit number, citing paper above cited paper. Work goes by
batches of records, edges go to buckets of papers, and a bucket is sorted by itself, so memory is bounded by a bucket.

The reference list of a paper is the union of its distinct records' lists, each reference as often as it is in the list that
has it most often: a record that comes twice does not make its references repeats. Of that union, `self_references` resolve to
the paper itself, `unresolved_references` to none, and `repeated_references` are those beyond the first to the same other
paper; so out_degree + self + repeated + unresolved is the length of the union.

What does not belong here: tables (citations.py), the graph that readers open (csr.py).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from threading import Lock

import numpy as np
import polars as pl
from numpy.typing import NDArray

from scholarlake.corpus.keys import Indices, KeyIndex, Words, run_starts
from scholarlake.corpus.parallel import in_parallel
from scholarlake.corpus.progress import Progress, silent
from scholarlake.corpus.record_files import RecordFile, record_files
from scholarlake.errors import LakeError
from scholarlake.lake import delta
from scholarlake.lake.files import build_folder, read_json, write_json
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake

CODE_VERSION = "edges-1"

BATCH_ROWS = 100_000
"""Records whose references are in memory at a time."""
BUCKET_PAPERS = 1_000_000
"""Papers whose edges are sorted at a time."""
HELD_NUMBERS = 24_000_000
"""64-bit numbers held in memory before they go to disk."""

_LOW = np.uint64(0xFFFFFFFF)
_UP = np.uint64(32)
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Papers:
    """Papers numbered from 0 by (shard, id). ids: shape (n,); bounds: shard s holds numbers bounds[s] to bounds[s + 1]."""

    ids: pl.Series
    bounds: Indices

    def __len__(self) -> int:
        return len(self.ids)

    def numbers(self, paper_ids: pl.Series) -> Indices:
        """Numbers of some papers, in their order; those that are not there are left out."""
        mine = pl.DataFrame({"id": self.ids}).with_row_index("number")
        found = pl.DataFrame({"id": paper_ids}).join(mine, on="id", how="inner", maintain_order="left")
        return found["number"].to_numpy().astype(np.int64)


@dataclass(frozen=True)
class EdgeSet:
    """Resolved citations of a lake, on disk. Counts have shape (papers,)."""

    folder: Path
    papers: Papers
    self_references: Counts
    repeated_references: Counts
    unresolved_references: Counts
    edges: int

    def of_shard(self, shard: int) -> Words:
        """Edges whose citing paper is in the shard, ascending, distinct: citing << 32 | cited. Mapped, not read."""
        path = self.folder / f"edges-{shard:02d}.u64"
        if path.stat().st_size == 0:
            return np.empty(0, dtype=np.uint64)
        return np.memmap(path, dtype=np.uint64, mode="r")

    def degrees(self) -> tuple[Counts, Counts]:
        """In- and out-degree of every paper."""
        cited, citing = np.zeros(len(self.papers), dtype=np.int64), np.zeros(len(self.papers), dtype=np.int64)
        for shard in range(len(self.papers.bounds) - 1):
            low, high = int(self.papers.bounds[shard]), int(self.papers.bounds[shard + 1])
            for piece in pieces(self.of_shard(shard)):
                cited += np.bincount(target(piece), minlength=len(cited))
                citing[low:high] += np.bincount(source(piece) - low, minlength=high - low)
        return cited, citing


def source(edges: Words) -> Indices:
    """Numbers of the citing papers."""
    return (edges >> _UP).astype(np.int64)


def target(edges: Words) -> Indices:
    """Numbers of the cited papers."""
    return (edges & _LOW).astype(np.int64)


def pieces(edges: Words, size: int = 4_000_000) -> Iterator[Words]:
    """Stretches of an array of edges."""
    for start in range(0, len(edges), size):
        yield edges[start : start + size]


def resolve(lake: Lake, progress: Progress = silent) -> EdgeSet:
    """The edges of the lake's present records and identities, computed where they are not already spooled.

    Raises LakeError where `identities` was never built, or does not know a record that `records` holds.
    """
    versions = [str(delta.version(lake, "identities")), str(delta.version(lake, "records")), CODE_VERSION, str(lake.shards)]
    if "None" in versions[:2]:
        raise LakeError("identities has not been built; run `scholarlake build` to that stage first")
    home = lake.spool("citations")
    folder = home / digest(versions)
    if not folder.exists():
        standing = kept(lake)  # the edges that the table holds: what is new is told by them
        for old in home.iterdir() if home.is_dir() else ():
            if old.is_dir() and (standing is None or old != standing.folder):
                shutil.rmtree(old)
        build_folder(folder, lambda aside: _Resolver(lake, aside, progress).run())
    return open_edges(folder)


def open_edges(folder: Path) -> EdgeSet:
    """Edges spooled in a folder."""
    facts = json.loads((folder / "facts.json").read_bytes())
    # In one chunk: taking ids out of eight chunks by number is ten times slower.
    papers = Papers(pl.read_ipc(folder / "papers.arrow")["paper_id"].rechunk(), np.load(folder / "bounds.npy"))
    counts = [np.load(folder / f"{name}.npy") for name in ("self", "repeated", "unresolved")]
    return EdgeSet(folder, papers, counts[0], counts[1], counts[2], int(facts["edges"]))


def keep_for(lake: Lake, edges: EdgeSet, citations_version: int | None) -> None:
    """Remember that a version of `citations` holds just these edges: what comes after need not read the table. Others go."""
    home = lake.spool("citations")
    write_json(home / "kept.json", {"folder": edges.folder.name, "citations": citations_version})
    for old in home.iterdir():
        if old.is_dir() and old != edges.folder:
            shutil.rmtree(old)


def kept(lake: Lake) -> EdgeSet | None:
    """The spooled edges of `citations` as it is now, None where there are none."""
    note = lake.spool("citations") / "kept.json"
    if not note.is_file():
        return None
    facts = read_json(note)
    folder = lake.spool("citations") / str(facts["folder"])
    if facts["citations"] != delta.version(lake, "citations") or not folder.is_dir():
        return None
    return open_edges(folder)


@dataclass(frozen=True)
class EdgeChanges:
    """What differs between the edges of a shard then and now. came: in the numbers of now; went: in those of then. Ascending."""

    came: Words
    went: Words


class Renumbering:
    """How the papers of one set of edges are numbered in another."""

    def __init__(self, old: Papers, new: Papers) -> None:
        self._number: Indices | None = None  # None where all are the same
        if len(old) != len(new) or not old.ids.equals(new.ids):
            known = pl.DataFrame({"id": new.ids}).with_row_index("number")
            found = pl.DataFrame({"id": old.ids}).join(known, on="id", how="left", maintain_order="left")["number"]
            self._number = found.cast(pl.Int64).fill_null(-1).to_numpy()

    def changes(self, old: Words, new: Words) -> EdgeChanges:
        """Compare the edges of a shard: no text is looked at."""
        if self._number is None:
            known, moved = np.ones(len(old), dtype=bool), old
        else:
            citing, cited = self._number[source(old)], self._number[target(old)]
            known = (citing >= 0) & (cited >= 0)
            # Ascending as they were: papers are numbered by shard and id, then and now, so that whoever came or went moves no two past
            # each other.
            moved = (citing[known].astype(np.uint64) << _UP) | cited[known].astype(np.uint64)
        stays = _among(moved, new)
        went = np.zeros(len(old), dtype=bool)
        went[~known] = True
        went[np.flatnonzero(known)[~stays]] = True
        return EdgeChanges(np.asarray(new[~_among(new, moved)]), np.asarray(old[went]))


def _among(edges: Words, others: Words) -> NDArray[np.bool_]:
    """Which of some ascending edges are among others, ascending too."""
    if not len(others):
        return np.zeros(len(edges), dtype=bool)
    places = np.searchsorted(others, edges)
    return np.asarray(others[np.minimum(places, len(others) - 1)] == edges)


@dataclass
class _Buckets:
    """Numbers put into buckets, on disk beyond what may be held. Width: numbers to an entry."""

    folder: Path
    name: str
    bounds: Indices
    width: int = 1
    held: dict[int, list[Words]] = field(default_factory=dict)
    numbers: int = 0
    lock: Lock = field(default_factory=Lock)

    def put(self, citing: Indices, *columns: Words) -> None:
        """Distribute entries by citing paper. columns: `width` arrays of citing's length. Safe from threads."""
        bucket = np.searchsorted(self.bounds, citing, side="right") - 1
        order = np.argsort(bucket.astype(np.uint16), kind="stable")
        entries = np.stack(columns, axis=1)[order] if self.width > 1 else columns[0][order]
        ends = np.cumsum(np.bincount(bucket, minlength=len(self.bounds) - 1))
        with self.lock:
            start = 0
            for number, end in enumerate(ends):
                if end > start:
                    self.held.setdefault(number, []).append(entries[start:end])
                start = int(end)
            self.numbers += len(citing) * self.width
            if self.numbers >= HELD_NUMBERS:
                self._spill()

    def _spill(self) -> None:
        for number, parts in self.held.items():
            with self._path(number).open("ab") as stream:
                for part in parts:
                    part.tofile(stream)
        self.held.clear()
        self.numbers = 0

    def take(self, number: int) -> Words:
        """All entries of a bucket, which is empty then. Shape (entries,) or (entries, width)."""
        parts = self.held.pop(number, [])
        path = self._path(number)
        if path.exists():
            spilled = np.fromfile(path, dtype=np.uint64)
            parts.append(spilled.reshape(-1, self.width) if self.width > 1 else spilled)
            path.unlink()
        return np.concatenate(parts) if parts else np.empty((0, self.width) if self.width > 1 else 0, dtype=np.uint64)

    def _path(self, number: int) -> Path:
        return self.folder / f".{self.name}-{number:05d}"


class _Resolver:
    """One pass over the references of all records."""

    def __init__(self, lake: Lake, folder: Path, progress: Progress) -> None:
        self.lake, self.folder, self.progress = lake, folder, progress
        self._number_papers()
        spans = np.diff(self.papers.bounds)
        cuts = [
            np.linspace(low, low + span, int(-(-span // BUCKET_PAPERS)), endpoint=False, dtype=np.int64)
            for low, span in zip(self.papers.bounds[:-1], spans, strict=True)
            if span
        ]
        self.cuts = np.concatenate([*cuts, [len(self.papers)]]).astype(np.int64)
        self.edges = _Buckets(folder, "edges", self.cuts)
        self.lists = _Buckets(folder, "lists", self.cuts, width=3)
        count = len(self.papers)
        self.selves = np.zeros(count, dtype=np.int64)
        self.unresolved = np.zeros(count, dtype=np.int64)
        self.resolved = np.zeros(count, dtype=np.int64)

    def _number_papers(self) -> None:
        """Number the papers, index the records' keys, and find the papers that more than one line stands for."""
        columns = ["record_key", "paper_key", "copies", "is_current"]
        members = self.lake.scan("identities").select(columns).collect()
        named = self.lake.scan("identities").filter(pl.col("rule") == "representative").select("paper_id", "paper_key", "shard").collect()
        named = named.sort("shard", "paper_id")
        sizes = dict(named.group_by("shard").len().iter_rows())
        ends = np.cumsum([sizes.get(shard, 0) for shard in self.lake.shard_keys], dtype=np.int64)
        self.papers = Papers(named["paper_id"], np.concatenate([[0], ends]))
        numbered = named.select("paper_key").with_row_index("number")
        members = members.join(numbered, on="paper_key", how="left")
        if members["number"].null_count() or len(named) != numbered["paper_key"].n_unique():
            raise LakeError("identities does not name the paper of every record; build `identities` again")
        self.several = np.bincount(members["number"].to_numpy(), members["copies"].to_numpy(), len(named)) > 1
        current = members.filter("is_current").select("record_key", "number").sort(pl.col("record_key").reinterpret(signed=False))
        self.index = KeyIndex(current["record_key"].to_numpy())
        self.number = np.append(current["number"].to_numpy().astype(np.int32), np.int32(-1))  # found at −1: no paper

    def paper_of(self, keys: NDArray[np.int64]) -> NDArray[np.int32]:
        """Number of the paper that each record key resolves to, −1 where it leads outside."""
        return self.number[self.index.find(keys)]

    def run(self) -> None:
        files = record_files(self.lake)
        total = sum(file.rows for file in files)
        firsts = accumulate((file.rows for file in files), initial=0)
        batches = ((file, start, first) for file, first in zip(files, firsts, strict=False) for start in range(0, file.rows, BATCH_ROWS))
        done = 0
        for rows in in_parallel(self._read, batches):
            done += rows
            self.progress(done, total, "resolving references")
        edges = self._finish()
        pl.DataFrame({"paper_id": self.papers.ids}).write_ipc(self.folder / "papers.arrow")
        np.save(self.folder / "bounds.npy", self.papers.bounds)
        repeated = self.resolved - self.distinct
        for name, counts in (("self", self.selves), ("repeated", repeated), ("unresolved", self.unresolved)):
            np.save(self.folder / f"{name}.npy", counts)
        write_json(self.folder / "facts.json", {"edges": edges})

    def _read(self, batch: tuple[RecordFile, int, int]) -> int:
        """Add some rows of a file, the first of which is that line of all records. Returns how many. Called from threads."""
        file, start, first = batch
        rows = file.read(["record_key", "reference_keys"], start, BATCH_ROWS)
        self._add(rows, first + start)
        return rows.height

    def _add(self, batch: pl.DataFrame, line: int) -> None:
        """Put a batch's references where they belong: edges at once, the lists of papers with several lines aside."""
        row_paper = self.paper_of(batch["record_key"].to_numpy()).astype(np.int64)
        if (row_paper < 0).any():
            raise LakeError("records holds ids that identities does not know; refresh identities before citations")
        lengths = batch["reference_keys"].list.len().fill_null(0).to_numpy().astype(np.int64)
        keys = batch["reference_keys"].filter(pl.Series(lengths > 0)).explode().to_numpy()
        citing = np.repeat(row_paper, lengths)
        lines = self.several[row_paper]
        if lines.any():
            aside = np.repeat(lines, lengths)
            number = np.repeat(np.arange(line, line + batch.height, dtype=np.uint64), lengths)
            self.lists.put(citing[aside], citing[aside].astype(np.uint64), keys[aside].view(np.uint64), number[aside])
            citing, keys = citing[~aside], keys[~aside]
        self._resolve(citing, keys, np.ones(len(keys), dtype=np.int64))

    def _resolve(self, citing: Indices, keys: NDArray[np.int64], times: Counts) -> None:
        """Count what each reference is, and keep the edges. citing: equal papers stand together."""
        cited = self.paper_of(keys)
        outside = cited < 0
        own = cited == citing
        starts = run_starts(citing)
        if not len(starts):
            return
        # A paper stands in one run only, of one batch: no paper with several lines comes here line by line.
        paper = citing[starts]
        outside_times, own_times = np.where(outside, times, 0), np.where(own, times, 0)
        self.unresolved[paper] += np.add.reduceat(outside_times, starts)
        self.selves[paper] += np.add.reduceat(own_times, starts)
        self.resolved[paper] += np.add.reduceat(times - outside_times - own_times, starts)
        inside = ~(outside | own)
        citing = citing[inside]
        self.edges.put(citing, (citing.astype(np.uint64) << _UP) | cited[inside].astype(np.uint64))

    def _finish(self) -> int:
        """Bucket by bucket: unite the lists set aside, sort the edges, drop repeats, write. Returns the number of edges."""
        self.distinct = np.zeros(len(self.papers), dtype=np.int64)
        buckets = len(self.cuts) - 1
        for bucket in range(buckets):
            self._unite(self.lists.take(bucket))
        for shard in range(len(self.papers.bounds) - 1):
            (self.folder / f"edges-{shard:02d}.u64").touch()
        written = 0
        for bucket, edges in enumerate(in_parallel(self._sorted, range(buckets))):
            self.progress(bucket, buckets, "sorting edges")
            low, high = int(self.cuts[bucket]), int(self.cuts[bucket + 1])
            self.distinct[low:high] = np.bincount(source(edges) - low, minlength=high - low)
            shard = int(np.searchsorted(self.papers.bounds, low, side="right")) - 1
            with (self.folder / f"edges-{shard:02d}.u64").open("ab") as stream:
                edges.tofile(stream)
            written += len(edges)
        return written

    def _sorted(self, bucket: int) -> Words:
        """The edges of a bucket, ascending, distinct."""
        edges = self.edges.take(bucket)
        edges.sort()
        return edges[run_starts(edges)]

    def _unite(self, lists: Words) -> None:
        """The union of several lines' lists: each reference as often as in the line that has it most often."""
        if not len(lists):
            return
        frame = pl.DataFrame({"citing": lists[:, 0], "key": lists[:, 1], "line": lists[:, 2]})
        union = frame.group_by("citing", "key", "line").len("times").group_by("citing", "key").agg(pl.col("times").max()).sort("citing")
        keys = union["key"].to_numpy().view(np.int64)
        self._resolve(union["citing"].to_numpy().astype(np.int64), keys, union["times"].to_numpy().astype(np.int64))

"""The FAISS index of a shard: an inverted file over a flat L2 quantizer, with explicit 64-bit ids (SciLENS, appendix A, table 5).

Built from the rows of `embeddings` and published as an artifact. Centroids are trained on rows in the order of their text
hash, which is random and yet always the same; a refresh keeps them, takes out and adds what changed, and trains anew only
past the drift that the profile allows. Where a GPU is present it trains and adds, by the same calls. What does not belong
here: reading an index (`search.py`), measuring it (`recall.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import polars as pl
from numpy.typing import NDArray

from scholarlake.dense.faiss_ids import IDS_PER_SHARD
from scholarlake.dense.vectors import as_matrix
from scholarlake.errors import IndexDamaged, LakeError, ModelError
from scholarlake.lake import artifacts
from scholarlake.lake.artifacts import Artifact
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.models.protocol import Vectors
from scholarlake.profile import Dense

Progress = Callable[[int, int | None, str], None]

ASSET = "vector_index"
FILE = "vectors.faiss"
MEMBERS = "members.parquet"
SEED = 1_234
POINTS_PER_CENTROID = (39, 256)
"""Fewest and most training vectors for a centroid, as FAISS advises."""
ROWS_AT_ONCE = 16_384
_NEAREST = 10
_MARGIN = 0.02  # probes are chosen a little above the least recall, so that a small refresh does not fall below it
_TIE = 1e-5  # float32 distances of equally near vectors differ by less


@dataclass(frozen=True)
class IndexReport:
    """What building a shard's index did. added and removed: vectors, against the index before; a changed one counts as both."""

    artifact: Artifact
    count: int
    lists: int
    added: int
    removed: int
    retrained: bool
    drift: float
    on_gpu: bool


def build_index(
    lake: Lake, shard: str, model: str, dimension: int, dense: Dense, previous: str | None = None, progress: Progress | None = None
) -> IndexReport:
    """Publish the index of a shard's embeddings. previous: path of the index before, below the lake's root, if there is one.

    Raises ModelError where a vector is of another model, LakeError where one is unsound or an id is no id, before anything
    reaches FAISS.
    """
    members = _members(lake, shard, model)
    before = _reusable(lake, previous, model, dimension, dense)
    old = _members_of(lake, before) if before is not None else members.clear()
    same = ["faiss_id", "text_hash"]
    gone, new = old.join(members, on=same, how="anti"), members.join(old, on=same, how="anti")
    if before is not None and not gone.height and not new.height:
        return _report(before, 0, 0, retrained=False)

    trained_on = int(before.facts["trained_on"]) if before is not None else 0
    changed = (int(before.facts["changed_since_training"]) if before is not None else 0) + gone.height + new.height
    retrain = before is None or trained_on == 0 or changed / trained_on > dense.retrain_drift
    if retrain:
        trained_on, changed, gone, new = members.height, 0, old, members

    def build(folder: Path) -> dict[str, Any]:
        if retrain or before is None:
            index = _trained(lake, shard, members, dimension, dense)
        else:
            index = faiss.read_index(str(before.folder(lake) / FILE))
            if gone.height:
                index.remove_ids(faiss.IDSelectorBatch(gone["faiss_id"].to_numpy()))
        index = _filled(index, _rows(lake, shard, new, dimension), new.height, progress)
        index.nprobe = _enough_probes(index, _queries(lake, shard, members, dimension, dense), dense)
        if index.ntotal != members.height:
            raise LakeError(f"index of shard {shard} holds {index.ntotal} vectors, not {members.height}; build it again")
        faiss.write_index(index, str(folder / FILE))
        members.write_parquet(folder / MEMBERS)
        centroids = index.quantizer.reconstruct_n(0, index.nlist)
        return {
            "count": members.height,
            "dimension": dimension,
            "metric": "L2",
            "factory": f"IVF{index.nlist},Flat",
            "lists": index.nlist,
            "probes": index.nprobe,
            "model": model,
            "centroids": digest([centroids.tobytes().hex()]),
            "settings": _settings(dense),
            "trained_on": trained_on,
            "changed_since_training": changed,
            "drift": changed / trained_on if trained_on else 0.0,
        }

    return _report(artifacts.publish(lake, ASSET, shard, build), new.height, gone.height, retrained=retrain)


def held_ids(folder: Path) -> pl.Series:
    """The ids that an index really holds, out of its inverted lists, repeats kept. Int64."""
    index = open_file(folder)
    lists = index.invlists
    held = [faiss.rev_swig_ptr(lists.get_ids(i), lists.list_size(i)).copy() for i in range(index.nlist) if lists.list_size(i)]
    return pl.Series("faiss_id", np.concatenate(held) if held else [], pl.Int64)


def open_file(folder: Path) -> Any:
    """The FAISS index in an artifact's folder, its vectors mapped, not read. Checksums are the caller's."""
    try:
        return faiss.read_index(str(folder / FILE), faiss.IO_FLAG_MMAP)
    except RuntimeError as fault:
        raise LakeError(f"{folder / FILE} can't be opened ({' '.join(str(fault).split())[:120]}); build it again") from fault


def lists_for(count: int, centroids: int) -> int:
    """Inverted lists for so many vectors: the profile's number, scaled down so that each centroid has enough to learn from."""
    return max(1, min(centroids, count // POINTS_PER_CENTROID[0]))


def require_sound(ids: NDArray[Any], vectors: Vectors) -> None:
    """Refuse what FAISS would take and never find again. ids shape (n,), vectors shape (n, dimension). Raises LakeError."""
    if ids.dtype != np.int64:
        raise LakeError(f"vector ids are {ids.dtype}, not signed 64-bit integers; nothing was indexed")
    if len(ids) and int(ids.min()) < 0:
        raise LakeError(f"vector id {int(ids.min())} is negative; nothing was indexed")
    if len(np.unique(ids)) != len(ids):
        raise LakeError("a vector id occurs twice; nothing was indexed")
    if not np.isfinite(vectors).all():
        raise LakeError(f"the vector of id {int(ids[~np.isfinite(vectors).all(axis=1)][0])} is not finite; build the embeddings again")
    lengths = np.einsum("ij,ij->i", vectors, vectors)
    if bool((np.abs(lengths - 1) > 1e-2).any()):
        raise LakeError(f"the vector of id {int(ids[np.abs(lengths - 1) > 1e-2][0])} is not of unit length; build the embeddings again")


# -- members ---------------------------------------------------------------------------------------------------------


def _of(lake: Lake, shard: str) -> pl.LazyFrame:
    return lake.scan("embeddings").filter(pl.col("shard") == shard)


def _members(lake: Lake, shard: str, model: str) -> pl.DataFrame:
    """faiss_id and text_hash of the shard, in the order of text hashes. Raises where one is of another model or no id."""
    rows = _of(lake, shard).select("faiss_id", "text_hash", "model").collect()
    others = rows.filter(pl.col("model") != model)
    if others.height:
        raise ModelError(
            f"shard {shard} has {others.height} vectors of another model ({others['model'][0][:12]}); build the embeddings first"
        )
    ids = rows["faiss_id"]
    first = int(shard) * IDS_PER_SHARD
    if ids.n_unique() != len(ids) or not ids.is_between(first, first + IDS_PER_SHARD, closed="left").all():
        raise LakeError(f"shard {shard} has vector ids twice or out of its range; check the table faiss_ids")
    return rows.select("faiss_id", "text_hash").sort("text_hash", "faiss_id")


def _settings(dense: Dense) -> dict[str, int]:
    return {"centroids": dense.centroids, "probes": dense.probes}


def _reusable(lake: Lake, previous: str | None, model: str, dimension: int, dense: Dense) -> Artifact | None:
    """The previous index, where it is of the same model and settings."""
    if previous is None or not (lake.root / previous).is_dir():
        return None
    try:
        before = artifacts.load(lake, previous, verify=True)
    except IndexDamaged:  # nothing of it is to be built upon: all of it is made anew
        return None
    fits = (before.facts["model"], before.facts["dimension"], before.facts["settings"]) == (model, dimension, _settings(dense))
    return before if fits else None


def _members_of(lake: Lake, before: Artifact) -> pl.DataFrame:
    return pl.read_parquet(before.folder(lake) / MEMBERS)


def _report(artifact: Artifact, added: int, removed: int, *, retrained: bool) -> IndexReport:
    facts = artifact.facts
    return IndexReport(
        artifact=artifact,
        count=int(facts["count"]),
        lists=int(facts["lists"]),
        added=added,
        removed=removed,
        retrained=retrained,
        drift=float(facts["drift"]),
        on_gpu=_gpus() > 0,
    )


# -- FAISS -----------------------------------------------------------------------------------------------------------


def _rows(lake: Lake, shard: str, members: pl.DataFrame, dimension: int) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
    """Ids and vectors of these members, some thousands at a time, each lot proved sound."""
    if not members.height:
        return
    wanted = members.lazy().select("faiss_id")
    # In the table's order: the same table is the same file, to the byte.
    rows = _of(lake, shard).select("faiss_id", "vector").join(wanted, on="faiss_id", how="semi", maintain_order="left")
    for frame in rows.collect_batches(chunk_size=ROWS_AT_ONCE, maintain_order=True, engine="streaming"):
        ids, vectors = frame["faiss_id"].to_numpy(), as_matrix(frame["vector"], dimension)
        require_sound(ids, vectors)
        yield ids, vectors


def _trained(lake: Lake, shard: str, members: pl.DataFrame, dimension: int, dense: Dense) -> Any:
    """An empty index whose centroids are trained; members are in the order of text hashes."""
    lists = lists_for(members.height, dense.centroids)
    quantizer: Any = faiss.IndexFlatL2(dimension)
    index = faiss.IndexIVFFlat(quantizer, dimension, lists, faiss.METRIC_L2)
    index.own_fields = True
    quantizer.this.disown()  # the index frees its quantizer, also when it is read from a file
    index.cp.seed = SEED
    index.cp.min_points_per_centroid, index.cp.max_points_per_centroid = 1, POINTS_PER_CENTROID[1]
    if not members.height:
        quantizer.add(np.zeros((1, dimension), np.float32))
        index.is_trained = True
        return index
    sample = members.head(lists * POINTS_PER_CENTROID[1])
    lots = list(_rows(lake, shard, sample, dimension))
    place = {faiss_id: row for row, faiss_id in enumerate(sample["faiss_id"].to_list())}
    order = np.argsort([place[faiss_id] for ids, _ in lots for faiss_id in ids.tolist()])
    points = np.concatenate([vectors for _, vectors in lots])[order]
    return _with_gpu(index, lambda device: device.train(points))


def _filled(index: Any, lots: Iterator[tuple[NDArray[np.int64], Vectors]], total: int, progress: Progress | None) -> Any:
    """The index with these vectors added."""
    done = 0

    def fill(device: Any) -> None:
        nonlocal done
        for ids, vectors in lots:
            device.add_with_ids(vectors, ids)
            done += len(ids)
            if progress is not None:
                progress(done, total, "vectors indexed")

    return _with_gpu(index, fill) if total else index


def query_papers(members: pl.DataFrame, queries: int) -> pl.DataFrame:
    """The papers that stand for queries: those whose text hash, read from its end, is smallest. Always the same, and no special ones."""
    return members.sort(pl.col("text_hash").str.reverse(), "faiss_id").head(queries)


def _queries(lake: Lake, shard: str, members: pl.DataFrame, dimension: int, dense: Dense) -> Vectors:
    lots = [vectors for _, vectors in _rows(lake, shard, query_papers(members, dense.recall_queries), dimension)]
    return np.concatenate(lots) if lots else np.empty((0, dimension), np.float32)


def _enough_probes(index: Any, queries: Vectors, dense: Dense) -> int:
    """The profile's probes, doubled until the sampled queries find `min_recall` of what looking into every list finds.

    How many lists hold a query's neighbours depends on the model and the shard; the profile can't know it.
    """
    probes = min(dense.probes, index.nlist)
    if not len(queries):
        return int(probes)
    k = min(_NEAREST + 1, index.ntotal)  # each query finds itself
    index.nprobe = index.nlist
    least = index.search(queries, k)[0][:, -1:] + _TIE
    while probes < index.nlist:
        index.nprobe = probes
        distances = index.search(queries, k)[0]
        if float(((distances <= least).mean(axis=1) * k - 1).mean()) / max(1, k - 1) >= min(1.0, dense.min_recall + _MARGIN):
            break
        probes = min(2 * probes, index.nlist)
    return int(probes)


def _gpus() -> int:
    return int(faiss.get_num_gpus()) if hasattr(faiss, "get_num_gpus") else 0


def _with_gpu(index: Any, work: Callable[[Any], None]) -> Any:
    """Do work on the index where it is done fastest, and give back the index in main memory."""
    if not _gpus():
        work(index)
        return index
    resources = faiss.StandardGpuResources()
    device = faiss.index_cpu_to_gpu(resources, 0, index)
    work(device)
    return faiss.index_gpu_to_cpu(device)

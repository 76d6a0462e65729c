"""Embed a shard: only texts that have no vector yet, whatever paper, shard or run they come in.

A text is known by its hash and the model's fingerprint. Known texts are taken from the table or from the spool, equal ones
are embedded once, finished batches go to the spool at once, and the tables are written last: the ledger of vector ids, the
failures, then the vectors. What does not belong here: how a failed batch is halved (`models/answers.py`).

Memory: ids and text hashes of the whole shard, and CHUNK_BYTES of vectors. A shard of 750,000 papers needs some 250 MB and
that, whatever the dimension.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from scholarlake.dense.faiss_ids import hand_out
from scholarlake.dense.spool import Spool
from scholarlake.dense.text import shard_texts, text_hashes
from scholarlake.dense.vectors import as_matrix, as_series
from scholarlake.lake import contracts, delta
from scholarlake.lake.delta import Commit, Written
from scholarlake.lake.home import Lake
from scholarlake.models.answers import Refused, embed_each
from scholarlake.models.protocol import NO_COST, Embedder, Usage, Vectors
from scholarlake.profile import Dense

Progress = Callable[[int, int | None, str], None]

CHUNK_BYTES = 256 << 20
"""Vectors in memory at once while the table is written."""
SPOOL_SECONDS = 20.0
"""A slow model's finished work is spooled this often, even if no batch is full."""


@dataclass(frozen=True)
class EmbedReport:
    """What embedding a shard did, in papers unless it says texts. kept + reused + resumed + embedded are texts with a vector.

    kept: papers whose row stays. embedded: texts computed now. reused: texts found in the table, under another paper or shard.
    resumed: texts found in the spool. failures: papers without a vector. removed: rows taken out of `embeddings`.
    """

    papers: int
    kept: int
    embedded: int
    reused: int
    resumed: int
    failures: int
    removed: int
    requests: int
    tokens: int
    seconds: float  # spent on the model
    model: str
    dimension: int
    embeddings: Written
    embedding_failures: Written
    faiss_ids: Written

    @property
    def texts_per_second(self) -> float:
        return self.embedded / self.seconds if self.seconds else 0.0


@dataclass
class _Work:
    """What is found out on the way. refused: text hash → reason."""

    refused: dict[str, str] = field(default_factory=dict)
    embedded: int = 0
    usage: Usage = NO_COST
    seconds: float = 0.0


def embed_shard(lake: Lake, shard: str, embedder: Embedder, dense: Dense, run: Commit, progress: Progress | None = None) -> EmbedReport:
    """Bring `embeddings`, `embedding_failures` and `faiss_ids` of a shard in line with its papers.

    Raises ModelError where the endpoint is lost; finished batches are kept, and the next call goes on from there.
    """
    model = embedder.fingerprint
    texts = text_hashes(lake, shard, dense.max_characters)
    present = _of(lake, "embeddings", shard).select("paper_id", "text_hash", "model").collect()
    kept = texts.join(present.filter(pl.col("model") == model), on=["paper_id", "text_hash"], how="semi")
    open_texts = texts.join(kept, on="paper_id", how="anti")
    spool = Spool(lake, model, shard, embedder.dimension)

    work = _Work(refused=_refused_before(lake, shard, model, open_texts))
    wanted = open_texts.filter(~pl.col("is_empty") & ~pl.col("text_hash").is_in(list(work.refused)))["text_hash"].unique(
        maintain_order=True
    )
    resumed = sum(text_hash in spool for text_hash in wanted) + spool.adopt(wanted)
    reused = _reuse(lake, model, [text_hash for text_hash in wanted if text_hash not in spool], spool)
    missing = [text_hash for text_hash in wanted if text_hash not in spool]
    if missing:
        _compute(lake, shard, embedder, dense, open_texts.filter(pl.col("text_hash").is_in(missing)), spool, work, progress)

    fresh = _takeable(open_texts, work.refused)
    ids, ledger = hand_out(lake, shard, fresh["paper_id"], run)
    failed = _failures(open_texts, work.refused, shard, model, run)
    failures = delta.write_partition(lake, "embedding_failures", shard, failed, run)
    removed = present.join(pl.concat([kept, fresh], how="vertical"), on="paper_id", how="anti").select("paper_id")
    rows = fresh.join(ids, on="paper_id", how="inner", maintain_order="left")
    written = _write(lake, shard, embedder, rows, removed, spool, kept.height == 0, run)
    spool.clear()
    return EmbedReport(
        papers=texts.height,
        kept=kept.height,
        embedded=work.embedded,
        reused=reused,
        resumed=resumed,
        failures=failed.height,
        removed=removed.height,
        requests=work.usage.requests,
        tokens=work.usage.tokens,
        seconds=work.seconds,
        model=model,
        dimension=embedder.dimension,
        embeddings=written,
        embedding_failures=failures,
        faiss_ids=ledger,
    )


def _of(lake: Lake, name: str, shard: str) -> pl.LazyFrame:
    return lake.scan(name).filter(pl.col("shard") == shard)


def _takeable(texts: pl.DataFrame, refused: dict[str, str]) -> pl.DataFrame:
    """Papers with a text that no model has refused."""
    return texts.filter(~pl.col("is_empty") & ~pl.col("text_hash").is_in(list(refused)))


def _refused_before(lake: Lake, shard: str, model: str, texts: pl.DataFrame) -> dict[str, str]:
    """Texts that this model refused before: the answer would be the same. A lost endpoint leaves no such row."""
    listed = _of(lake, "embedding_failures", shard).filter(pl.col("model") == model).select("text_hash", "reason").collect()
    known = listed.join(texts.filter(~pl.col("is_empty")), on="text_hash", how="semi").filter(pl.col("reason") != "empty_text")
    return dict(zip(known["text_hash"].to_list(), known["reason"].to_list(), strict=True))


def _reuse(lake: Lake, model: str, hashes: list[str], spool: Spool) -> int:
    """Copy vectors of known texts out of the whole table into the spool. Returns how many texts."""
    if not hashes:
        return 0
    embeddings = lake.scan("embeddings").filter(pl.col("model") == model)
    wanted = pl.LazyFrame({"text_hash": hashes})
    # Narrow columns first: the vectors of a large lake are read only where there is something to take.
    found = embeddings.select("shard", "text_hash").join(wanted, on="text_hash", how="semi").unique("text_hash").collect(engine="streaming")
    for (shard,), part in found.group_by("shard"):
        rows = embeddings.filter((pl.col("shard") == shard) & pl.col("text_hash").is_in(part["text_hash"].to_list()))
        taken = rows.select("text_hash", "vector").unique("text_hash").collect(engine="streaming")
        spool.append(taken["text_hash"].to_list(), as_matrix(taken["vector"], spool.dimension))
    return found.height


def _compute(
    lake: Lake, shard: str, embedder: Embedder, dense: Dense, texts: pl.DataFrame, spool: Spool, work: _Work, progress: Progress | None
) -> None:
    """Embed what is missing, each text once, spooling as it finishes. Whatever is raised, finished vectors are spooled first."""
    total = texts["text_hash"].n_unique()
    seen: set[str] = set()
    for frame in shard_texts(lake, shard, dense.max_characters, only=texts):
        first = (
            frame.filter(~pl.col("text_hash").is_in(list(seen))).unique("text_hash", keep="first", maintain_order=True).sort("text_hash")
        )
        seen.update(first["text_hash"])
        hashes = first["text_hash"].to_list()
        done: list[tuple[list[str], Vectors]] = []
        began = spooled = time.monotonic()
        try:
            for result in embed_each(embedder, first["text"].to_list()):
                work.usage += result.usage
                if isinstance(result, Refused):
                    work.refused[hashes[result.position]] = result.reason
                else:
                    done.append(([hashes[i] for i in result.positions], result.vectors))
                    work.embedded += len(result.positions)
                if sum(len(names) for names, _ in done) >= embedder.batch_size or time.monotonic() - spooled > SPOOL_SECONDS:
                    _spool(spool, done)
                    spooled = time.monotonic()
                if progress is not None:
                    progress(work.embedded + len(work.refused), total, "texts embedded")
        finally:
            _spool(spool, done)
            work.seconds += time.monotonic() - began


def _spool(spool: Spool, done: list[tuple[list[str], Vectors]]) -> None:
    if done:
        spool.append([name for names, _ in done for name in names], np.concatenate([vectors for _, vectors in done]))
        done.clear()


def _failures(texts: pl.DataFrame, refused: dict[str, str], shard: str, model: str, run: Commit) -> pl.DataFrame:
    reasons = pl.DataFrame({"text_hash": list(refused), "reason": list(refused.values())}, {"text_hash": pl.String, "reason": pl.String})
    failed = texts.join(reasons, on="text_hash", how="left").with_columns(
        reason=pl.when("is_empty").then(pl.lit("empty_text")).otherwise(pl.col("reason")),
        shard=pl.lit(shard),
        model=pl.lit(model),
        code_version=pl.lit(run.code_version),
    )
    return failed.filter(pl.col("reason").is_not_null()).select(list(contracts.EMBEDDING_FAILURES.columns))


def _write(
    lake: Lake, shard: str, embedder: Embedder, rows: pl.DataFrame, removed: pl.DataFrame, spool: Spool, replace_all: bool, run: Commit
) -> Written:
    """Rows with their vectors into `embeddings`: one commit of files laid down aside where nothing stays, else merges of what changed."""
    frames = _with_vectors(rows, shard, embedder, spool, run)
    if replace_all:
        staged = [delta.stage(lake, "embeddings", shard, frame) for frame in frames]
        return delta.commit_staged(lake, "embeddings", shard, staged, run)
    nothing = pl.DataFrame(schema=contracts.EMBEDDINGS.schema)
    written = delta.apply(lake, "embeddings", shard, next(frames, nothing), removed, run)
    for frame in frames:  # each merge leaves right rows only; a reader sees none of them before the release
        more = delta.apply(lake, "embeddings", shard, frame, removed.clear(), run)
        written = replace(
            more,
            inserted=written.inserted + more.inserted,
            updated=written.updated + more.updated,
            deleted=written.deleted + more.deleted,
        )
    return written


def _with_vectors(rows: pl.DataFrame, shard: str, embedder: Embedder, spool: Spool, run: Commit) -> Iterator[pl.DataFrame]:
    rows = rows.sort(pl.Series(spool.laid_out(rows["text_hash"].to_list()), dtype=pl.String))
    size = max(1, CHUNK_BYTES // (4 * embedder.dimension))
    for part in rows.iter_slices(size):
        yield part.select(
            "paper_id",
            pl.lit(shard).alias("shard"),
            "faiss_id",
            "text_hash",
            pl.lit(embedder.fingerprint).alias("model"),
            as_series(spool.read(part["text_hash"].to_list())),
            pl.lit(run.code_version).alias("code_version"),
        )

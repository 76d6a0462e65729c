"""What must hold of a shard's embeddings and of its vector index."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from scholarlake.dense.faiss_ids import IDS_PER_SHARD
from scholarlake.dense.index import held_ids
from scholarlake.dense.recall import measure_recall
from scholarlake.lake.artifacts import open_artifact
from scholarlake.lake.findings import Finding, from_offenders, rows_of
from scholarlake.lake.home import Lake

ROWS_AT_ONCE = 16_384
LENGTH_TOLERANCE = 1e-3  # a unit vector rounded to float32, or once to half precision by a server, is well inside


def every_paper_embedded_or_listed(lake: Lake, shard: str) -> Finding:
    """A paper of the shard has a vector or a listed failure, never both, and nothing else has either."""
    papers, embedded, failed = (_of(lake, name, shard).select("paper_id") for name in ("papers", "embeddings", "embedding_failures"))
    offenders = pl.concat(
        [
            papers.join(pl.concat([embedded, failed]), on="paper_id", how="anti").with_columns(fault=pl.lit("neither embedded nor listed")),
            embedded.join(failed, on="paper_id", how="semi").with_columns(fault=pl.lit("embedded, and listed as a failure")),
            pl.concat([embedded, failed]).join(papers, on="paper_id", how="anti").with_columns(fault=pl.lit("no paper of this shard")),
        ]
    )
    return from_offenders(
        "every_paper_embedded_or_listed",
        f"embedded + failures = papers in shard {shard}",
        rows_of(papers),
        offenders,
        {"embedded": rows_of(embedded), "failures": rows_of(failed)},
    )


def vectors_are_sound(lake: Lake, shard: str, rows: pl.LazyFrame | None = None) -> Finding:
    """Vectors are finite, of unit length, and of one dimension. rows: those of the shard to look at, where the others had passed."""
    vectors = _of(lake, "embeddings", shard).select("paper_id", "vector")
    if rows is not None:  # one of those that had passed tells which dimension they have
        vectors = pl.concat([rows.select("paper_id", "vector"), vectors.head(1)])
    measured = [_measured(rows) for rows in vectors.collect_batches(chunk_size=ROWS_AT_ONCE, engine="streaming") if rows.height]
    nothing = pl.DataFrame(schema={"paper_id": pl.String, "dimension": pl.UInt32, "length": pl.Float32})
    looked_at = pl.concat([nothing, *measured])
    dimensions = looked_at["dimension"].value_counts(sort=True).sort("count", "dimension", descending=True)["dimension"]
    usual = int(dimensions[0]) if len(dimensions) else 0
    sound = pl.col("length").is_finite() & ((pl.col("length") - 1).abs() <= LENGTH_TOLERANCE) & (pl.col("dimension") == usual)
    offenders = looked_at.lazy().filter(~sound.fill_null(False))
    return from_offenders(
        "vectors_are_sound",
        f"vectors of shard {shard} are finite, of unit length and of one dimension",
        looked_at.height,
        offenders,
        {"dimension": usual},
    )


def _measured(rows: pl.DataFrame) -> pl.DataFrame:
    """Dimension and length of some vectors."""
    dimension = rows["vector"].list.len()
    if dimension.n_unique() == 1 and dimension[0]:
        numbers = rows["vector"].explode().to_numpy().reshape(rows.height, dimension[0])
        # NaN and infinity stay what they are in the sum, so that the length tells of them too.
        length = pl.Series("length", np.sqrt(np.einsum("ij,ij->i", numbers, numbers)), dtype=pl.Float32)
    else:
        length = rows["vector"].list.eval(pl.element() * pl.element()).list.sum().sqrt().cast(pl.Float32)
    return pl.DataFrame({"paper_id": rows["paper_id"], "dimension": dimension.cast(pl.UInt32), "length": length})


def one_model(lake: Lake, shard: str | None = None) -> Finding:
    """All vectors are of one model: of a shard, or (None) of the whole lake."""
    embeddings = lake.scan("embeddings") if shard is None else _of(lake, "embeddings", shard)
    models = embeddings.group_by("model").len("vectors").collect(engine="streaming").sort("vectors", "model", descending=True)
    return from_offenders(
        "one_model",
        f"all vectors of {'the lake' if shard is None else f'shard {shard}'} are of one model",
        int(models["vectors"].sum()),
        models.slice(1).lazy(),
        {"model": models["model"][0] if models.height else None},
    )


def vector_ids_are_handed_out_once(lake: Lake, shard: str) -> Finding:
    """Vector ids lie in the range of their shard, are unique in the ledger, and are those that the ledger gave the paper."""
    ledger, embeddings = _of(lake, "faiss_ids", shard), _of(lake, "embeddings", shard).select("paper_id", "faiss_id")
    first = int(shard) * IDS_PER_SHARD
    outside = pl.col("faiss_id").is_between(first, first + IDS_PER_SHARD, closed="left").not_().fill_null(True)
    pair = ["paper_id", "faiss_id"]
    given = ledger.select(pair)
    offenders = pl.concat(
        [
            given.filter(outside).with_columns(fault=pl.lit("outside the range of its shard")),
            given.filter(pl.col("faiss_id").is_duplicated()).with_columns(fault=pl.lit("handed out twice")),
            embeddings.filter(pl.col("faiss_id").is_duplicated()).with_columns(fault=pl.lit("two vectors of one id")),
            embeddings.join(given, on=pair, how="anti").with_columns(fault=pl.lit("not what the ledger gave")),
        ]
    )
    return from_offenders(
        "vector_ids_are_handed_out_once",
        f"vector ids of shard {shard} are unique, in its range, and the ledger's",
        rows_of(ledger),
        offenders,
    )


def indexed_is_embedded(lake: Lake, shard: str, folder: Path) -> Finding:
    """The index in this folder holds the shard's vectors, each once, by what lies in its inverted lists."""
    held = held_ids(folder)
    indexed, embedded = pl.LazyFrame({"faiss_id": held}), _of(lake, "embeddings", shard).select("faiss_id")
    offenders = pl.concat(
        [
            embedded.join(indexed, on="faiss_id", how="anti").with_columns(fault=pl.lit("embedded but not indexed")),
            indexed.join(embedded, on="faiss_id", how="anti").with_columns(fault=pl.lit("indexed but not embedded")),
            indexed.filter(pl.col("faiss_id").is_duplicated()).unique().with_columns(fault=pl.lit("indexed twice")),
        ]
    )
    claim = f"the index of shard {shard} holds its vectors, each once"
    return from_offenders("indexed_is_embedded", claim, rows_of(embedded), offenders, {"indexed": len(held)})


def index_is_of_the_model(lake: Lake, shard: str, folder: Path) -> Finding:
    """The manifest of the index names the model and the dimension that the vectors have: a query of another would find noise."""
    facts = open_artifact(folder, verify=False)["facts"]
    said: dict[str, int | float | str | None] = {"model": str(facts["model"]), "dimension": int(facts["dimension"])}
    kinds = _of(lake, "embeddings", shard).group_by("model").len("vectors").collect()
    if kinds.height == 1:  # all are of one dimension, or `vectors_are_sound` had stopped it: the first one tells
        first = _of(lake, "embeddings", shard).select(pl.col("vector").list.len().cast(pl.Int64).alias("dimension")).head(1).collect()
        known = pl.concat([kinds, first], how="horizontal").lazy()
    else:
        dimension = pl.col("vector").list.len().cast(pl.Int64).alias("dimension")
        known = _of(lake, "embeddings", shard).group_by("model", dimension).len("vectors")
    offenders = known.filter((pl.col("model") != said["model"]) | (pl.col("dimension") != said["dimension"]).fill_null(True))
    claim = f"the manifest of shard {shard} names the model and dimension of its vectors"
    return from_offenders("index_is_of_the_model", claim, rows_of(_of(lake, "embeddings", shard)), offenders, said)


def recall_is_enough(lake: Lake, shard: str, folder: Path, queries: int, least: float) -> Finding:
    """Recall@10 against exact search, for this many papers of the shard as queries, is `least` (0 to 1) or more."""
    measured = measure_recall(lake, shard, folder, queries)
    enough = measured.recall >= least
    facts = {"recall_at_10": measured.recall, "worst_query": measured.worst, "least": least}
    return Finding(
        "recall_is_enough",
        f"recall@{measured.k} of shard {shard} is {least:.2f} or more against exact search",
        counted=measured.queries,
        failed=0 if enough else 1,
        examples=() if enough else ({"shard": shard, **facts},),
        facts=facts,
    )


def _of(lake: Lake, name: str, shard: str) -> pl.LazyFrame:
    return lake.scan(name).filter(pl.col("shard") == shard)

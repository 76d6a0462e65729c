"""What must hold of a shard's embeddings and of its vector index.

What does not belong here: how well the index finds (`recall.py`).
"""

from __future__ import annotations

import polars as pl

from scholarlake.lake.findings import Finding, from_offenders, rows_of
from scholarlake.lake.home import Lake

IDS_PER_SHARD = 10**10
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


def vectors_are_sound(lake: Lake, shard: str) -> Finding:
    """Vectors are finite, of unit length, and of one dimension."""
    vectors = _of(lake, "embeddings", shard).select(
        "paper_id",
        pl.col("vector").list.len().alias("dimension"),
        # NaN and infinity stay what they are in the sum, so that the length tells of them too.
        pl.col("vector").list.eval(pl.element() * pl.element()).list.sum().sqrt().alias("length"),
    )
    looked_at = vectors.collect(engine="streaming")
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


def indexed_is_embedded(lake: Lake, shard: str, indexed: pl.Series) -> Finding:
    """The index holds the shard's vectors, each once. indexed: the ids that the index holds, Int64, repeats kept."""
    held = pl.LazyFrame({"faiss_id": indexed.cast(pl.Int64)})
    embedded = _of(lake, "embeddings", shard).select("faiss_id")
    offenders = pl.concat(
        [
            embedded.join(held, on="faiss_id", how="anti").with_columns(fault=pl.lit("embedded but not indexed")),
            held.join(embedded, on="faiss_id", how="anti").with_columns(fault=pl.lit("indexed but not embedded")),
            held.filter(pl.col("faiss_id").is_duplicated()).unique().with_columns(fault=pl.lit("indexed twice")),
        ]
    )
    return from_offenders(
        "indexed_is_embedded",
        f"the index of shard {shard} holds its vectors, each once",
        rows_of(embedded),
        offenders,
        {"indexed": len(indexed)},
    )


def _of(lake: Lake, name: str, shard: str) -> pl.LazyFrame:
    return lake.scan(name).filter(pl.col("shard") == shard)

"""The tables of vectors."""

from __future__ import annotations

import polars as pl

from scholarlake.lake.contracts.columns import CODE_VERSION, HEX_128, ID, Column, Table, Text, shard_column

EMBEDDINGS = Table(
    name="embeddings",
    about="The vector of every paper that could be embedded.",
    key=("paper_id",),
    provenance=("code_version",),
    compared=("paper_id", "shard", "faiss_id", "text_hash", "model"),
    columns={
        "paper_id": Column(Text, "the paper", pattern=ID),
        "shard": shard_column("shard of the paper"),
        "faiss_id": Column(pl.Int64(), "shard × 10¹⁰ + offset; offsets are handed out once", minimum=0),
        "text_hash": Column(Text, "XXH3-128 of the embedded text, hexadecimal", pattern=HEX_128),
        "model": Column(Text, "fingerprint of model, revision, prefix and normalisation"),
        "vector": Column(pl.List(pl.Float32()), "the vector, unit length"),
        "code_version": CODE_VERSION,
    },
)

EMBEDDING_FAILURES = Table(
    name="embedding_failures",
    about="Papers that could not be embedded, with the reason.",
    key=("paper_id",),
    provenance=("code_version",),
    columns={
        "paper_id": Column(Text, "the paper", pattern=ID),
        "shard": shard_column("shard of the paper"),
        "text_hash": Column(Text, "XXH3-128 of the text", pattern=HEX_128),
        "model": Column(Text, "fingerprint of the model that refused it"),
        "reason": Column(Text, "empty_text, too_long, rejected, not_finite, zero_vector or the endpoint's word"),
        "code_version": CODE_VERSION,
    },
)

FAISS_IDS = Table(
    name="faiss_ids",
    about="The ledger of vector ids: every id ever handed out, kept when its paper goes.",
    key=("paper_id",),
    history=True,
    columns={
        "paper_id": Column(Text, "the paper", pattern=ID),
        "shard": shard_column("shard of the paper"),
        "faiss_id": Column(pl.Int64(), "shard × 10¹⁰ + offset", minimum=0),
    },
)

"""What embedding a shard would send to the model: counted, before anything is sent."""

from __future__ import annotations

import polars as pl

from scholarlake.dense.spool import Spool
from scholarlake.dense.text import shard_texts
from scholarlake.lake.estimate import Estimate
from scholarlake.lake.home import Lake
from scholarlake.profile import Dense

CHARACTERS_PER_TOKEN = 4  # of English prose, in the vocabularies of today's models


def pending(lake: Lake, shard: str, model: str, dimension: int, dense: Dense) -> Estimate:
    """The texts of a shard's papers that have no vector of this model in any shard or in the spool, each counted once.

    model: the embedder's fingerprint. Tokens are a guess by length.
    """
    known = lake.scan("embeddings").filter(pl.col("model") == model).select("text_hash")
    refused = lake.scan("embedding_failures").filter(pl.col("model") == model).select("text_hash")
    spool = Spool(lake, model, shard, dimension)
    papers, characters = 0, dict[str, int]()
    for frame in shard_texts(lake, shard, dense.max_characters):
        papers += frame.height
        said = frame.lazy().filter(pl.col("text") != "").select("text_hash", length=pl.col("text").str.len_chars())
        missing = said.join(known, on="text_hash", how="anti").join(refused, on="text_hash", how="anti").collect(engine="streaming")
        characters.update((text_hash, length) for text_hash, length in missing.iter_rows() if text_hash not in spool)
    return Estimate(rows=papers, texts=len(characters), tokens=sum(characters.values()) // CHARACTERS_PER_TOKEN, exact=True)

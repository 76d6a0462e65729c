"""The ledger of vector ids: shard × 10¹⁰ + offset. An offset is handed out once; a paper that returns gets its own again."""

from __future__ import annotations

import numpy as np
import polars as pl

from scholarlake.errors import LakeError
from scholarlake.lake import delta
from scholarlake.lake.contracts import FAISS_IDS
from scholarlake.lake.delta import Commit, Written
from scholarlake.lake.home import Lake

IDS_PER_SHARD = 10**10


def hand_out(lake: Lake, shard: str, paper_ids: pl.Series, run: Commit) -> tuple[pl.DataFrame, Written]:
    """paper_id and faiss_id of these papers, new ids entered in the ledger. Committed when this returns.

    New papers get the next offsets in the order of their ids, above every offset ever given. Raises LakeError when they run out.
    """
    ledger = lake.scan("faiss_ids").filter(pl.col("shard") == shard).collect()
    first = int(shard) * IDS_PER_SHARD
    new = paper_ids.unique().sort()
    new = new.filter(~new.is_in(ledger["paper_id"].to_list()))
    highest = ledger["faiss_id"].max()
    start = first if highest is None else int(highest) + 1  # type: ignore[arg-type]
    if start + len(new) > first + IDS_PER_SHARD:
        raise LakeError(f"shard {shard} has no vector ids left; build the lake anew with more shards")
    entries = pl.DataFrame(
        {"paper_id": new, "shard": [shard] * len(new), "faiss_id": np.arange(start, start + len(new), dtype=np.int64)},
        schema=FAISS_IDS.schema,
    )
    written = delta.apply(lake, "faiss_ids", shard, entries, pl.DataFrame(schema={"paper_id": pl.String}), run)
    everyone = pl.concat([ledger, entries]).filter(pl.col("paper_id").is_in(paper_ids.to_list()))
    return everyone.select("paper_id", "faiss_id"), written

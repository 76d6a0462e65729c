"""The text that is embedded for a paper: title, venue, year and abstract, one a line, as plain text (SciLENS, appendix A)."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from scholarlake.lake.files import write_atomically
from scholarlake.lake.hashing import text_hash
from scholarlake.lake.home import Lake
from scholarlake.lake.since import came_since, mark

FIELDS = ("title", "venue", "year", "abstract")
PAPERS_AT_ONCE = 16_384
CODE_VERSION = "1"
"""To be raised where the same paper comes to another text: hashes that are kept were made of the old one."""
_KEPT = {"paper_id": pl.String, "text_hash": pl.String, "is_empty": pl.Boolean}


def embedding_text(max_characters: int) -> pl.Expr:
    """What there is of FIELDS, white space folded, joined by line ends, cut at max_characters; empty where there is nothing."""
    parts = []
    for name in FIELDS:
        plain = pl.col(name).cast(pl.String).str.replace_all(r"\s+", " ").str.strip_chars()
        parts.append(pl.when(plain != "").then(plain))
    return pl.concat_str(parts, separator="\n", ignore_nulls=True).str.slice(0, max_characters).str.strip_chars_end()


def shard_texts(lake: Lake, shard: str, max_characters: int, only: pl.DataFrame | None = None) -> Iterator[pl.DataFrame]:
    """paper_id, text and text_hash of a shard's papers (or of `only` those, by paper_id), some thousands at a time."""
    papers = lake.scan("papers").filter(pl.col("shard") == shard).select("paper_id", *FIELDS)
    if only is not None:  # by name, not by a join: the texts of the others are not decoded
        papers = papers.filter(pl.col("paper_id").is_in(only["paper_id"].unique().implode()))
    texts = papers.select("paper_id", text=embedding_text(max_characters).fill_null(""))
    for frame in texts.collect_batches(chunk_size=PAPERS_AT_ONCE, maintain_order=False, engine="streaming"):
        if frame.height:
            hashes = pl.Series("text_hash", [text_hash(text) for text in frame["text"]], pl.String)
            yield frame.with_columns(hashes)


def text_hashes(lake: Lake, shard: str, max_characters: int) -> pl.DataFrame:
    """paper_id, text_hash and is_empty of every paper of a shard, by paper_id.

    They are kept beside the lake with the version of `papers` that they are of: only papers that came or changed since are read.
    """
    made_by, now = [CODE_VERSION, max_characters], mark(lake, "papers")
    known, of = _kept(lake, shard, made_by)
    if known is not None and of == now:
        return known
    came = None if known is None else came_since(lake, "papers", shard, of)
    if came is None or known is None:
        found = [frame.select("paper_id", "text_hash", is_empty=pl.col("text") == "") for frame in shard_texts(lake, shard, max_characters)]
    else:
        there = lake.scan("papers").filter(pl.col("shard") == shard).select("paper_id").collect()
        still = known.join(there, on="paper_id", how="semi").join(came, on="paper_id", how="anti")
        changed = shard_texts(lake, shard, max_characters, only=there.join(still, on="paper_id", how="anti"))
        found = [still, *(frame.select("paper_id", "text_hash", is_empty=pl.col("text") == "") for frame in changed)]
    hashes = pl.concat([pl.DataFrame(schema=_KEPT), *found]).sort("paper_id")
    _keep(lake, shard, hashes, {"made_by": made_by, "papers": now})
    return hashes


def _kept(lake: Lake, shard: str, made_by: list[Any]) -> tuple[pl.DataFrame | None, Any]:
    """The hashes that were kept of a shard, and of which version of `papers`; None where there are none of use."""
    try:
        with pa.OSFile(str(_path(lake, shard))) as stream:
            table = pa.ipc.open_file(stream).read_all()
        about = json.loads(table.schema.metadata[b"about"])
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError):
        return None, None
    return (pl.DataFrame(table, schema=_KEPT), about["papers"]) if about["made_by"] == made_by else (None, None)


def _keep(lake: Lake, shard: str, hashes: pl.DataFrame, about: dict[str, Any]) -> None:
    table = hashes.to_arrow(compat_level=pl.CompatLevel.oldest()).replace_schema_metadata({"about": json.dumps(about)})
    buffer = io.BytesIO()
    with pa.ipc.new_file(buffer, table.schema) as writer:
        writer.write_table(table)
    write_atomically(_path(lake, shard), buffer.getvalue())


def _path(lake: Lake, shard: str) -> Path:
    return lake.spool("embeddings", "texts", f"{shard}.arrow")

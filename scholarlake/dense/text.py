"""The text that is embedded for a paper: title, venue, year and abstract, one a line, as plain text (SciLENS, appendix A)."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from scholarlake.lake.hashing import text_hash
from scholarlake.lake.home import Lake

FIELDS = ("title", "venue", "year", "abstract")
PAPERS_AT_ONCE = 16_384


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
    if only is not None:
        papers = papers.join(only.lazy().select("paper_id"), on="paper_id", how="semi")
    texts = papers.select("paper_id", text=embedding_text(max_characters).fill_null(""))
    for frame in texts.collect_batches(chunk_size=PAPERS_AT_ONCE, maintain_order=False, engine="streaming"):
        if frame.height:
            hashes = pl.Series("text_hash", [text_hash(text) for text in frame["text"]], pl.String)
            yield frame.with_columns(hashes)

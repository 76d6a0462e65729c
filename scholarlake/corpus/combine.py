"""Merging the records of a paper into one row, pure: what of which record survives.

References are the union of the records' lists, each as often as in the list that has it most often; the abstract is the longest;
every other field is the newest record's, gaps filled from the next. It is withdrawn where the newest record of any of its ids says
so, or a notice does. Ties break by content hash: neither parts nor offsets are even
in the frames that come here. What does not belong here: reading, routing, writing.
"""

from __future__ import annotations

import polars as pl

from scholarlake.corpus.withdrawal import own_signs
from scholarlake.lake import contracts
from scholarlake.lake.contracts import WITHDRAWN_BY

METHOD = "merge"

LISTS = ("authors", "keywords", "urls")
SCALARS = tuple(
    name
    for name in contracts.PAPERS.columns
    if name in contracts.RECORDS.columns and name not in (*LISTS, "abstract", "doi", "references", "flags", "method", "code_version")
)
WIDE = (*SCALARS, *LISTS, "abstract", "doi", "references", "flags")
"""Columns of `records` that a merge reads, besides those that name the record."""
RECORD_KEY = ("record_key", "edition", "content_hash")

_ORDER = ("edition_rank", "content_hash", "record_key")


def merge(members: pl.DataFrame, records: pl.DataFrame, code_version: str) -> pl.DataFrame:
    """One row a paper, in the contract's schema.

    members: a row a distinct record, with RECORD_KEY, record_id, paper_id, paper_key, shard, is_current, flags, edition_rank and the
    paper's members_hash, version_of and notice_id. records: RECORD_KEY and WIDE of all of them; copies of a record may come several times.
    """
    records = records.unique(list(RECORD_KEY), keep="any")
    named = members.select(*RECORD_KEY, "paper_id", "is_current", "edition_rank", pl.col("flags").alias("identity_flags"))
    rows = records.join(named, on=list(RECORD_KEY), how="inner").with_columns(
        # The DOI is a key: one that only a superseded record gives no longer says which work this is.
        pl.when("is_current").then("doi").alias("doi"),
        pl.concat_list("flags", "identity_flags").alias("flags"),
    )
    sizes = pl.len().over("paper_id")
    one = rows.filter(sizes == 1).select("paper_id", *WIDE)
    several = rows.filter(sizes > 1)
    combined = pl.concat([one, _several(several)]) if several.height else one
    merged = combined.with_columns(
        pl.col("flags").list.unique().list.sort(),
        *(pl.col(name).fill_null([]) for name in LISTS),
        pl.col("references").fill_null([]),
    )
    return (
        _named(members)
        .join(merged, on="paper_id", how="inner")
        .join(_own_withdrawals(rows), on="paper_id", how="left")
        .with_columns(pl.when(pl.col("withdrawal_notice").is_not_null()).then(pl.lit("notice")).alias("noticed"))
        .with_columns(pl.coalesce("withdrawn_by", "noticed").alias("withdrawn_by"))
        .with_columns(pl.col("withdrawn_by").is_not_null().alias("withdrawn"))
        .with_columns(pl.lit(METHOD).alias("method"), pl.lit(code_version).alias("code_version"))
        .select([pl.col(name).cast(dtype) for name, dtype in contracts.PAPERS.schema.items()])
        .sort("paper_id")
    )


def _named(members: pl.DataFrame) -> pl.DataFrame:
    """What a paper has from its members alone."""
    return members.group_by("paper_id").agg(
        pl.col("paper_key", "shard", "members_hash", "version_of").first(),
        pl.col("notice_id").first().alias("withdrawal_notice"),
        pl.col("record_id").unique().sort().alias("record_ids"),
        pl.col("edition").sort_by("edition_rank").unique(maintain_order=True).alias("editions"),
    )


def _own_withdrawals(rows: pl.DataFrame) -> pl.DataFrame:
    """paper_id and withdrawn_by of the papers that their own records say were withdrawn: the first of WITHDRAWN_BY that does."""
    current = rows.filter("is_current")
    said = current.select("paper_id", sign=own_signs(current)).drop_nulls().group_by("paper_id").agg(pl.col("sign").min())
    return said.select("paper_id", withdrawn_by=pl.Series(WITHDRAWN_BY, dtype=pl.String).gather(said["sign"]))


def _several(rows: pl.DataFrame) -> pl.DataFrame:
    """The combined columns of papers with several records."""
    newest = rows.sort(_ORDER, descending=True)
    fields = newest.group_by("paper_id").agg(
        *(pl.col(name).drop_nulls().first() for name in (*SCALARS, "doi")),
        *(pl.col(name).filter(pl.col(name).list.len() > 0).first() for name in LISTS),
        pl.col("abstract").sort_by(pl.col("abstract").str.len_chars(), descending=True, nulls_last=True, maintain_order=True).first(),
        pl.col("flags").list.explode(empty_as_null=False, keep_nulls=False).alias("flags"),
    )
    return fields.join(_united_references(newest), on="paper_id", how="left").select("paper_id", *WIDE)


def _united_references(newest: pl.DataFrame) -> pl.DataFrame:
    """paper_id and references: the union as multisets, in the order of the newest record, then of what the next ones add."""
    listed = (
        newest.select("paper_id", "references").with_row_index("line").filter(pl.col("references").list.len() > 0).explode("references")
    )
    # The second mention in one list meets the second mention in another, not the first: numbering them makes a multiset a set.
    numbered = listed.with_columns(pl.int_range(pl.len()).over("line", "references").alias("mention"))
    distinct = numbered.unique(["paper_id", "references", "mention"], keep="first", maintain_order=True)
    return distinct.group_by("paper_id", maintain_order=True).agg(pl.col("references"))

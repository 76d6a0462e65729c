"""What must hold of collections: their members are papers that may be chosen, ranks are whole, and what is missing is said."""

from __future__ import annotations

import polars as pl

from scholarlake.lake.findings import Finding, from_offenders, rows_of
from scholarlake.lake.home import Lake


def members_are_papers(lake: Lake) -> Finding:
    """Every member is a paper of the corpus, in the shard that it says, and was not withdrawn."""
    members = lake.scan("collections").select("collection", "paper_id", "shard")
    papers = lake.scan("papers").select("paper_id", own="shard", withdrawn="withdrawn")
    fault = (
        pl.when(pl.col("own").is_null()).then(pl.lit("is no paper")).when("withdrawn").then(pl.lit("was withdrawn"))
        .when(pl.col("own") != pl.col("shard")).then(pl.lit("lies in another shard"))
    )  # fmt: skip
    offenders = (
        members.join(papers, on="paper_id", how="left").select("collection", "paper_id", fault=fault).filter(pl.col("fault").is_not_null())
    )
    return from_offenders(
        "members_are_papers", "every member of a collection is a paper that was not withdrawn", rows_of(members), offenders
    )


def ranks_are_whole(lake: Lake) -> Finding:
    """The ranks of a collection are 1, 2, 3… to the number of its members."""
    ranks = lake.scan("collections").group_by("collection").agg(
        pl.len().cast(pl.Int64).alias("members"),
        pl.col("rank").n_unique().cast(pl.Int64).alias("ranks"),
        pl.col("rank").min().alias("first"),
        pl.col("rank").max().alias("last"),
    )  # fmt: skip
    whole = (pl.col("ranks") == pl.col("members")) & (pl.col("first") == 1) & (pl.col("last") == pl.col("members"))
    return from_offenders("ranks_are_whole", "the ranks of every collection run from 1 without a gap", rows_of(ranks), ranks.filter(~whole))


def one_version_of_a_work(lake: Lake) -> Finding:
    """Of a preprint and its published version a collection holds one, so that no synthesis counts them as two sources."""
    work = lake.scan("papers").select("paper_id", work=pl.coalesce("version_of", "paper_id"))
    members = lake.scan("collections").select("collection", "paper_id").join(work, on="paper_id", how="inner")
    several = (
        members.group_by("collection", "work")
        .agg(pl.col("paper_id").sort().str.join(", "), pl.len().alias("versions"))
        .filter(pl.col("versions") > 1)
    )
    return from_offenders("one_version_of_a_work", "a collection holds one version of a work", rows_of(members), several)


def nothing_missing_unsaid(lake: Lake) -> Finding:
    """Every collection is listed with the members it has, and says so where they are fewer than were asked for."""
    members = lake.scan("collections").group_by("collection").agg(pl.len().cast(pl.Int64).alias("members"))
    listed = lake.scan("collection_catalog").select("collection", "wanted", "chosen", "shortfall")
    both = listed.join(members, on="collection", how="full", coalesce=True).with_columns(pl.col("members").fill_null(0))
    fault = (
        pl.when(pl.col("chosen").is_null()).then(pl.lit("is not in collection_catalog"))
        .when(pl.col("chosen") != pl.col("members")).then(pl.lit("has other members than collection_catalog says"))
        .when((pl.col("members") < pl.col("wanted")) & pl.col("shortfall").is_null()).then(pl.lit("has too few and does not say why"))
        .when(pl.col("members") > pl.col("wanted")).then(pl.lit("has too many"))
    )  # fmt: skip
    offenders = both.with_columns(fault=fault).filter(pl.col("fault").is_not_null()).select("collection", "members", "wanted", "fault")
    return from_offenders(
        "nothing_missing_unsaid", "every collection has the papers asked for, or says what is missing", rows_of(both), offenders
    )


def quotas_are_met_or_explained(lake: Lake) -> Finding:
    """Every topic of a collection has its quota of papers, or the collection says that it has not."""
    listed = lake.scan("collection_catalog").filter(pl.col("method") == "topics")
    said = pl.col("definition").str.json_decode(_TOPICS).struct.field("topics")
    asked = (
        listed.select("collection", "shortfall", quota=said.struct.field("quota"), topic=said.struct.field("topics"))
        .explode("topic")
        .with_columns(pl.col("topic").struct.field("name").alias("topic"))
    )
    taken = (
        lake.scan("collections")
        .filter(pl.col("role") == "quota")
        .group_by("collection", "topic")
        .agg(pl.len().cast(pl.Int64).alias("papers"))
    )
    offenders = asked.join(taken, on=["collection", "topic"], how="left").with_columns(pl.col("papers").fill_null(0)).filter(
        (pl.col("papers") > pl.col("quota")) | ((pl.col("papers") < pl.col("quota")) & pl.col("shortfall").is_null())
    )  # fmt: skip
    return from_offenders(
        "quotas_are_met_or_explained",
        "every topic has its quota of papers, or the collection says that it has not",
        rows_of(asked),
        offenders.select("collection", "topic", "papers", "quota"),
    )


_TOPICS = pl.Struct({"topics": pl.Struct({"quota": pl.Int64, "topics": pl.List(pl.Struct({"name": pl.String}))})})


def no_collection_is_empty(lake: Lake) -> Finding:
    """Every collection chose a paper."""
    listed = lake.scan("collection_catalog").select("collection", "method", "matched", "chosen")
    return from_offenders("no_collection_is_empty", "every collection has a paper", rows_of(listed), listed.filter(pl.col("chosen") == 0))


def every_id_is_known(lake: Lake) -> Finding:
    """Every id that a collection's file names is a paper's or a record's."""
    listed = lake.scan("collection_catalog").select("collection", "unknown_ids")
    unknown = listed.explode("unknown_ids").filter(pl.col("unknown_ids").is_not_null()).rename({"unknown_ids": "unknown_id"})
    return from_offenders("every_id_is_known", "the corpus knows every id that a collection names", rows_of(listed), unknown)

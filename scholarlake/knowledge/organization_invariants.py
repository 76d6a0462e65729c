"""What must hold of L2: every collection is organized by one taxonomy, and everything in it rests on facts that are there."""

from __future__ import annotations

import polars as pl

from scholarlake.knowledge.organization.taxonomy import faults, from_rows
from scholarlake.lake.findings import EXAMPLES, Finding, from_offenders, rows_of
from scholarlake.lake.home import Lake


def every_collection_is_listed(lake: Lake) -> Finding:
    """The catalog has the collections there are, with the papers and facts that they have."""
    claim = "the catalog of facts lists every collection with its papers and their facts"
    there = lake.scan("collection_catalog").select("collection")
    members = lake.scan("collections").select("collection", "paper_id", "shard")
    facts = lake.scan("facts").select("paper_id", "shard", "fact_id")
    papers = members.group_by("collection").agg(pl.len().cast(pl.Int64).alias("papers_there"))
    stated = members.join(facts, on=["shard", "paper_id"]).group_by("collection").agg(pl.len().cast(pl.Int64).alias("facts_there"))
    known = there.join(papers, on="collection", how="left").join(stated, on="collection", how="left").fill_null(0)
    listed = lake.scan("fact_catalog").select("collection", "papers", "facts")
    joined = known.join(listed, on="collection", how="full", coalesce=True)
    agree = (pl.col("papers") == pl.col("papers_there")) & (pl.col("facts") == pl.col("facts_there"))
    return from_offenders("every_collection_is_listed", claim, rows_of(there), joined.filter(~agree.fill_null(False)))


# -- taxonomies --------------------------------------------------------------------------------------------------------


def one_taxonomy_a_collection(lake: Lake, collection: str) -> Finding:
    """All categories are of one version, which is the digest of what they say."""
    claim = f"the categories of {collection} are of one taxonomy, whose version is the digest of what it says"
    rows = lake.scan("taxonomies").filter(pl.col("collection") == collection).collect().sort("n")
    version = from_rows(list(rows.iter_rows(named=True))).version
    wrong = rows.filter(pl.col("taxonomy") != version).select("category_id", "taxonomy")
    return from_offenders("one_taxonomy_a_collection", claim, rows.height, wrong.lazy(), {"dimensions": rows["dimension"].n_unique()})


def parents_are_of_their_dimension_and_no_loop(lake: Lake, collection: str) -> Finding:
    """Parents are categories of the same dimension, and lead back to none of their parts."""
    name = "parents_are_of_their_dimension_and_no_loop"
    claim = f"parents of categories of {collection} are of the same dimension, and no category is above itself"
    rows = lake.scan("taxonomies").filter(pl.col("collection") == collection).collect().sort("n")
    ids = {row["category_id"]: row for row in rows.iter_rows(named=True)}
    wrong = [
        {"category_id": row["category_id"], "fault": f"its parent {row['parent']} is no category of its dimension"}
        for row in ids.values()
        if row["parent"] is not None and (row["parent"] not in ids or ids[row["parent"]]["dimension"] != row["dimension"])
    ]
    if not wrong and rows.height:
        wrong = [{"category_id": "", "fault": fault} for fault in faults(from_rows(list(ids.values())).dimensions)]
    return Finding(name, claim, rows.height, len(wrong), tuple(wrong[:EXAMPLES]))

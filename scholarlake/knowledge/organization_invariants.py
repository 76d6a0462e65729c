"""What must hold of L2: every collection is organized by one taxonomy, and everything in it rests on facts that are there."""

from __future__ import annotations

import polars as pl

from scholarlake.knowledge.objects import evidence_hash
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


# -- attended facts ----------------------------------------------------------------------------------------------------


def attended_facts_stand_in_their_sentences(lake: Lake, collection: str) -> Finding:
    """Every fact cites sentences of its paper, which say what they said when it was read off them."""
    claim = f"attended facts of {collection} cite sentences of their papers that are there, as they were when they were read"
    facts = lake.scan("attended_facts").filter(pl.col("collection") == collection).collect()
    papers = facts["paper_id"].unique().implode()
    shards = facts["shard"].unique().implode()
    said = lake.scan("sentences").filter(pl.col("shard").is_in(shards) & pl.col("paper_id").is_in(papers))
    texts = {(paper, sentence): text for paper, sentence, text in said.select("paper_id", "sentence_id", "text").collect().iter_rows()}
    wrong = [
        {"fact_id": fact["fact_id"], "evidence": ", ".join(fact["evidence"])}
        for fact in facts.iter_rows(named=True)
        if not fact["evidence"]
        or any((fact["paper_id"], one) not in texts for one in fact["evidence"])
        or evidence_hash([texts[fact["paper_id"], one] for one in fact["evidence"]]) != fact["evidence_hash"]
    ]
    return Finding("attended_facts_stand_in_their_sentences", claim, facts.height, len(wrong), tuple(wrong[:EXAMPLES]))


def attended_facts_are_of_the_taxonomy(lake: Lake, collection: str) -> Finding:
    """They were read under the taxonomy that the collection has, in papers of the collection."""
    claim = f"attended facts of {collection} were read in its papers, under its taxonomy"
    mine = pl.col("collection") == collection
    facts = lake.scan("attended_facts").filter(mine).select("fact_id", "paper_id", "taxonomy")
    members = lake.scan("collections").filter(mine)
    taxonomies = lake.scan("taxonomies").filter(mine)
    strange = facts.join(members, on="paper_id", how="anti")
    stale = facts.join(taxonomies, on="taxonomy", how="anti")
    return from_offenders("attended_facts_are_of_the_taxonomy", claim, rows_of(facts), pl.concat([strange, stale]).unique())


# -- entities ----------------------------------------------------------------------------------------------------------


def facts_in(lake: Lake, collection: str) -> pl.LazyFrame:
    """Ids and papers of the facts that a collection rests on, those that its taxonomy asked for included."""
    mine = pl.col("collection") == collection
    members = lake.scan("collections").filter(mine).select("paper_id", "shard")
    stated = lake.scan("facts").join(members, on=["shard", "paper_id"], how="semi").select("fact_id", "paper_id")
    return pl.concat([stated, lake.scan("attended_facts").filter(mine).select("fact_id", "paper_id")])


def every_mention_is_of_a_fact_and_an_entity(lake: Lake, collection: str) -> Finding:
    """Nothing is mentioned that is no entity, and nowhere but in facts of the collection."""
    claim = f"every mention of {collection} is of an entity, in a fact of the collection"
    mine = pl.col("collection") == collection
    mentions = lake.scan("entity_mentions").filter(mine)
    entities = lake.scan("entities").filter(mine)
    stray = mentions.join(facts_in(lake, collection), on=["fact_id", "paper_id"], how="anti")
    unknown = mentions.join(entities, on="entity_id", how="anti")
    silent = entities.join(mentions, on="entity_id", how="anti")
    wrong = [
        stray.select("entity_id", "fact_id", fault=pl.lit("there is no such fact")),
        unknown.select("entity_id", "fact_id", fault=pl.lit("there is no such entity")),
        silent.select("entity_id", fact_id=pl.lit(None, pl.String), fault=pl.lit("nothing mentions it")),
    ]
    facts = {"entities": rows_of(entities)}
    return from_offenders("every_mention_is_of_a_fact_and_an_entity", claim, rows_of(mentions), pl.concat(wrong), facts)


def sources_of_entities_are_their_mentions(lake: Lake, collection: str) -> Finding:
    """An entity has the papers and the names of its mentions: all of them, and no others."""
    claim = f"entities of {collection} have the papers and the names that their mentions have"
    mine = pl.col("collection") == collection
    papers = pl.col("paper_id").unique().sort().alias("papers_there")
    surfaces = pl.col("surface").unique().sort().alias("surfaces_there")
    mentions = lake.scan("entity_mentions").filter(mine).group_by("entity_id").agg(papers, surfaces)
    entities = lake.scan("entities").filter(mine)
    names = pl.concat_list("name", "aliases").list.unique().list.sort()
    joined = entities.join(mentions, on="entity_id", how="left").with_columns(names.alias("names"))
    wrong = joined.filter(~((pl.col("papers") == pl.col("papers_there")) & (pl.col("names") == pl.col("surfaces_there"))).fill_null(False))
    return from_offenders("sources_of_entities_are_their_mentions", claim, rows_of(entities), wrong.select("entity_id", "name"))


def what_is_ruled_holds(lake: Lake, collection: str) -> Finding:
    """Names that were taken for one are one entity, and those that a ruling keeps apart are two."""
    claim = f"names of {collection} that were taken for one are one entity, and those that are ruled to be two are two"
    mine = pl.col("collection") == collection
    entities = lake.scan("entities").filter(mine).select("entity_id", "keys").explode("keys")
    left = entities.rename({"entity_id": "left_entity", "keys": "left"})
    right = entities.rename({"entity_id": "right_entity", "keys": "right"})
    decisions = lake.scan("entity_decisions").filter(mine)
    joined = decisions.join(left, on="left", how="left").join(right, on="right", how="left")
    is_one = pl.col("left_entity") == pl.col("right_entity")
    holds = (
        pl.when(pl.col("verdict") == "same")
        .then(is_one)
        .when((pl.col("verdict") == "different") & (pl.col("rule") == "ruling"))
        .then(~is_one)
        .otherwise(True)
    )
    wrong = joined.filter(~holds.fill_null(False)).select("left", "right", "verdict", "rule")
    return from_offenders("what_is_ruled_holds", claim, rows_of(decisions), wrong)

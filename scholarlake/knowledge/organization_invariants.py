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


# -- assignments -------------------------------------------------------------------------------------------------------


def assignments_rest_on_what_is_there(lake: Lake, collection: str) -> Finding:
    """Subjects, categories, facts and papers of assignments are there, and the taxonomy is the one that the collection has."""
    claim = f"assignments of {collection} are of subjects and to categories that are there, on facts of the collection"
    mine = pl.col("collection") == collection
    assigned = lake.scan("assignments").filter(mine)
    categories = lake.scan("taxonomies").filter(mine).select("category_id", "taxonomy")
    facts = facts_in(lake, collection)
    subjects = pl.concat(
        [
            lake.scan("entities").filter(mine).select(subject_kind=pl.lit("entity"), subject_id="entity_id"),
            lake.scan("collections").filter(mine).select(subject_kind=pl.lit("paper"), subject_id="paper_id"),
        ]
    )
    cited = assigned.select("assignment_id", "basis", "papers").explode("basis").rename({"basis": "fact_id"})
    known = cited.join(facts, on="fact_id", how="left")
    key = pl.col("assignment_id")
    wrong = [
        assigned.join(categories, on=["category_id", "taxonomy"], how="anti").select(key, fault=pl.lit("there is no such category")),
        assigned.join(subjects, on=["subject_kind", "subject_id"], how="anti").select(key, fault=pl.lit("there is no such subject")),
        known.filter(pl.col("paper_id").is_null()).select(key, fault=pl.lit("it rests on a fact that is not there")),
        known.filter(~pl.col("papers").list.contains(pl.col("paper_id"))).select(key, fault=pl.lit("a paper of its facts is missing")),
    ]
    facts_ = {"facts": rows_of(cited.select("fact_id").unique())}
    return from_offenders("assignments_rest_on_what_is_there", claim, rows_of(assigned), pl.concat(wrong), facts_)


def conditions_of_assignments_are_those_of_their_facts(lake: Lake, collection: str) -> Finding:
    """Every fact of an assignment holds under just the conditions that the assignment has: none is lost, and none is added up."""
    name = "conditions_of_assignments_are_those_of_their_facts"
    claim = f"each assignment of {collection} has the conditions of every one of its facts, no more and no fewer"
    mine = pl.col("collection") == collection
    assigned = lake.scan("assignments").filter(mine).select("assignment_id", "basis", "conditions").collect()
    contexts = _contexts(lake, collection)
    wrong = [
        {"assignment_id": assignment_id, "fact_id": fact_id}
        for assignment_id, basis, conditions in assigned.iter_rows()
        for fact_id in basis
        if contexts.get(fact_id) != {(one["kind"], one["text"]) for one in conditions}
    ]
    return Finding(name, claim, assigned.height, len(wrong), tuple(wrong[:EXAMPLES]))


def _contexts(lake: Lake, collection: str) -> dict[str, set[tuple[str, str]]]:
    """fact → its conditions."""
    mine = pl.col("collection") == collection
    members = lake.scan("collections").filter(mine).select("paper_id", "shard")
    stated = lake.scan("facts").join(members, on=["shard", "paper_id"], how="semi").select("fact_id", "context")
    every = pl.concat([stated, lake.scan("attended_facts").filter(mine).select("fact_id", "context")]).collect()
    return {fact_id: {(one["kind"], one["text"]) for one in context} for fact_id, context in every.iter_rows()}


def every_fact_is_sorted_or_listed(lake: Lake, collection: str) -> Finding:
    """For every dimension a fact is in the basis of an assignment, or it is listed why not; never both."""
    claim = f"every fact of {collection} is sorted or listed as unclassified, dimension by dimension"
    mine = pl.col("collection") == collection
    dimensions = lake.scan("taxonomies").filter(mine).select("dimension", "category_id")
    wanted = facts_in(lake, collection).select("fact_id").join(dimensions.select("dimension").unique(), how="cross")
    assigned = lake.scan("assignments").filter(mine).join(dimensions, on="category_id").select("dimension", "basis").explode("basis")
    sorted_ = assigned.select(fact_id="basis", dimension="dimension").unique()
    listed = lake.scan("unclassified_facts").filter(mine).select("fact_id", "dimension")
    found = pl.concat([sorted_, listed])
    lost = wanted.join(found, on=["fact_id", "dimension"], how="anti").with_columns(fault=pl.lit("it is neither"))
    both = sorted_.join(listed, on=["fact_id", "dimension"], how="semi").with_columns(fault=pl.lit("it is both"))
    stray = listed.join(wanted, on=["fact_id", "dimension"], how="anti").with_columns(fault=pl.lit("there is no such fact or dimension"))
    facts = {"sorted": rows_of(sorted_), "listed": rows_of(listed)}
    return from_offenders("every_fact_is_sorted_or_listed", claim, rows_of(wanted), pl.concat([lost, both, stray]), facts)


# -- relations ---------------------------------------------------------------------------------------------------------


def relations_rest_on_what_is_there(lake: Lake, collection: str) -> Finding:
    """Both ends of a relation are there, and so are the facts and sentences that it rests on; only citations rest on none."""
    claim = f"relations of {collection} connect what is there, on facts of the collection"
    mine = pl.col("collection") == collection
    related = lake.scan("relations").filter(mine)
    ends = pl.concat(
        [
            lake.scan("entities").filter(mine).select(kind=pl.lit("entity"), id="entity_id"),
            lake.scan("collections").filter(mine).select(kind=pl.lit("paper"), id="paper_id"),
        ]
    )
    cited = related.select("relation_id", "basis").explode("basis").drop_nulls("basis").rename({"basis": "fact_id"})
    key = pl.col("relation_id")
    wrong = [
        related.join(ends, left_on=[f"{end}_kind", f"{end}_id"], right_on=["kind", "id"], how="anti").select(
            key, fault=pl.lit(f"its {end} is not there")
        )
        for end in ("source", "target")
    ]
    wrong.append(cited.join(facts_in(lake, collection), on="fact_id", how="anti").select(key, fault=pl.lit("there is no such fact")))
    bare = (pl.col("relation") != "cites") & ((pl.col("basis").list.len() == 0) | (pl.col("evidence").list.len() == 0))
    wrong.append(related.filter(bare).select(key, fault=pl.lit("it rests on nothing")))
    wrong.append(related.filter(pl.col("source_id") == pl.col("target_id")).select(key, fault=pl.lit("it leads to where it comes from")))
    counts = related.group_by("relation").agg(pl.len()).collect().sort("relation")
    return from_offenders("relations_rest_on_what_is_there", claim, rows_of(related), pl.concat(wrong), dict(counts.iter_rows()))


def numbers_of_relations_stand_in_their_facts(lake: Lake, collection: str) -> Finding:
    """Every value, gain, unit and metric of a payload is one of a quantity of its facts, as written there."""
    claim = f"what payloads of relations of {collection} report stands in the quantities of their facts"
    mine = pl.col("collection") == collection
    members = lake.scan("collections").filter(mine).select("paper_id", "shard")
    stated = lake.scan("facts").join(members, on=["shard", "paper_id"], how="semi").select("fact_id", "quantities")
    every = pl.concat([stated, lake.scan("attended_facts").filter(mine).select("fact_id", "quantities")]).collect()
    there = {fact_id: {str(one[name]) for one in some for name in ("value", "unit", "metric")} for fact_id, some in every.iter_rows()}
    related = lake.scan("relations").filter(mine).select("relation_id", "basis", "payload").collect()
    wrong = [
        {"relation_id": relation_id, "said": f"{one['name']} {one['value']}"}
        for relation_id, basis, payload in related.iter_rows()
        for one in payload
        if not any(one["value"] in there.get(fact_id, set()) for fact_id in basis)
    ]
    with_numbers = related.filter(pl.col("payload").list.len() > 0).height
    name = "numbers_of_relations_stand_in_their_facts"
    return Finding(name, claim, related.height, len(wrong), tuple(wrong[:EXAMPLES]), {"with_numbers": with_numbers})


def citations_of_the_collection_are_relations(lake: Lake, collection: str) -> Finding:
    """Citations between papers of the collection are relations, all of them and no others."""
    claim = f"the citations between papers of {collection} are relations of it"
    mine = pl.col("collection") == collection
    members = lake.scan("collections").filter(mine).select("paper_id", "shard")
    edges = lake.scan("citations").join(members, left_on=["shard", "citing_id"], right_on=["shard", "paper_id"], how="semi")
    inside = edges.join(members, left_on="cited_id", right_on="paper_id", how="semi").select("citing_id", "cited_id").unique()
    cites = lake.scan("relations").filter(mine & (pl.col("relation") == "cites"))
    said = cites.select(citing_id="source_id", cited_id="target_id")
    wrong = [inside.join(said, on=["citing_id", "cited_id"], how="anti"), said.join(inside, on=["citing_id", "cited_id"], how="anti")]
    return from_offenders("citations_of_the_collection_are_relations", claim, rows_of(inside), pl.concat(wrong))

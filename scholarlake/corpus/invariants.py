"""What must hold of identities, papers, citations, degrees and the core, as Polars expressions over the tables.

Each claim reads the table it is about and what lies above it, never what lies below. Claims about a shard read that shard
alone. What does not belong here: claims about the values of single columns; those are the contract's.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from scholarlake.lake.findings import Finding, from_offenders, rows_of
from scholarlake.lake.home import Lake
from scholarlake.profile import Core

RECORD = ["record_key", "edition", "content_hash"]
CONFLICT = "doi_conflict"


# -- identities ------------------------------------------------------------------------------------------------------


def every_record_has_a_paper(lake: Lake) -> Finding:
    """Every distinct record of the present parts is in identities, as often as it says, and nothing else is."""
    lines = _present_records(lake).group_by(RECORD).agg(pl.len().cast(pl.Int64).alias("lines"), pl.col("record_id").first())
    decided = lake.scan("identities").select(*RECORD, "record_id", "copies")
    offenders = (
        lines.join(decided, on=RECORD, how="full", coalesce=True)
        .filter(pl.col("lines").ne_missing(pl.col("copies")))
        .select(
            pl.coalesce("record_id", "record_id_right").alias("record_id"),
            "edition",
            pl.col("lines").fill_null(0),
            pl.col("copies").fill_null(0),
        )
    )
    return from_offenders(
        "every_record_has_a_paper",
        "identities decides every distinct record of the dump, with its number of copies, and no other",
        rows_of(decided),
        offenders,
    )


def one_paper_per_record_id(lake: Lake) -> Finding:
    """All records of one id are of one paper, and exactly one of them is current."""
    by_id = (
        lake.scan("identities")
        .group_by("record_key")
        .agg(
            pl.col("record_id").first(),
            pl.col("paper_key").n_unique().alias("papers"),
            pl.col("is_current").sum().cast(pl.Int64).alias("current"),
        )
    )
    offenders = by_id.filter((pl.col("papers") != 1) | (pl.col("current") != 1)).drop("record_key")
    return from_offenders(
        "one_paper_per_record_id", "records of one id are one paper, and one of them is current", rows_of(by_id), offenders
    )


def one_paper_per_doi(lake: Lake) -> Finding:
    """A DOI stands on one paper, but for works that have nothing in common: those are kept apart, and each is flagged.

    Only current records count: an older record of an id contributes no key.
    """
    current = (
        lake.scan("identities").filter("is_current").select(*RECORD, "paper_id", pl.col("flags").list.contains(CONFLICT).alias("flagged"))
    )
    doi = _present_records(lake).filter(pl.col("doi").is_not_null()).select(*RECORD, "doi").unique()
    papers = doi.join(current, on=RECORD).group_by("doi", "paper_id").agg(pl.col("flagged").any())
    shared = papers.group_by("doi").agg(
        pl.len().alias("papers"), (~pl.col("flagged")).sum().alias("not_flagged"), pl.col("paper_id").sort().head(3).str.join(", ")
    )
    several = shared.filter(pl.col("papers") > 1).collect(engine="streaming")
    return from_offenders(
        "one_paper_per_doi",
        "a DOI stands on one paper, or on several that are each flagged as a conflict",
        rows_of(shared),
        several.lazy().filter(pl.col("not_flagged") > 0),
        {"flagged_conflicts": several.filter(pl.col("not_flagged") == 0).height},
    )


def representative_is_a_member(lake: Lake) -> Finding:
    """A paper bears the id of one of its own records, and of no record of another paper."""
    papers = _papers_of_identities(lake)
    own = lake.scan("identities").select("record_id", resolved="paper_id").unique()
    offenders = (
        papers.join(own, left_on="paper_id", right_on="record_id", how="left")
        .filter(pl.col("resolved").ne_missing(pl.col("paper_id")))
        .select("paper_id", "resolved")
    )
    return from_offenders("representative_is_a_member", "every paper is named by one of its records", rows_of(papers), offenders)


def papers_lie_in_their_shard(lake: Lake) -> Finding:
    """The shard of a paper is the stable hash of its id, modulo the lake's number of shards."""
    decided = _papers_of_identities(lake).collect(engine="streaming")
    own = pl.Series("own", [lake.shard_of(paper_id) for paper_id in decided["paper_id"]], dtype=pl.String)
    offenders = decided.with_columns(own).filter(pl.col("shard") != pl.col("own"))
    return from_offenders("papers_lie_in_their_shard", "every paper lies in the shard of its id", decided.height, offenders.lazy())


def tombstones_are_of_papers_that_are_gone(lake: Lake) -> Finding:
    """A paper is there or has a tombstone, never both; where a tombstone leads to a paper, that paper is there."""
    stones = lake.scan("tombstones").select("paper_id", "reason", "into").collect()
    named = pl.concat([stones["paper_id"], stones["into"]]).unique()
    there = _papers_of_identities(lake).filter(pl.col("paper_id").is_in(named.implode())).select("paper_id").collect(engine="streaming")
    present = there["paper_id"].implode()
    is_back, leads_nowhere = pl.col("paper_id").is_in(present), ~pl.col("into").is_in(present).fill_null(True)
    offenders = stones.lazy().filter(is_back | leads_nowhere)
    return from_offenders(
        "tombstones_are_of_papers_that_are_gone",
        "no paper that is there has a tombstone, and a tombstone leads to a paper that is there",
        stones.height,
        offenders,
    )


def versions_lead_to_what_stands_for_the_work(lake: Lake) -> Finding:
    """A version and what it is a version of are papers, two of them, and the latter is a version of nothing itself: no chain, no circle."""
    versions = lake.scan("work_versions").select("paper_id", "shard", "version_of")
    there = _papers_of_identities(lake)
    stands = there.select("paper_id", stands=pl.lit(True))
    fault = (
        pl.when(pl.col("is_there").is_null()).then(pl.lit("is no paper of this shard"))
        .when(pl.col("stands").is_null()).then(pl.lit("is a version of what is no paper"))
        .when(pl.col("version_of") == pl.col("paper_id")).then(pl.lit("is a version of itself"))
        .when(pl.col("next").is_not_null()).then(pl.lit("is a version of a version"))
    )  # fmt: skip
    offenders = (
        versions.join(there.with_columns(is_there=pl.lit(True)), on=["paper_id", "shard"], how="left")
        .join(stands, left_on="version_of", right_on="paper_id", how="left")
        .join(versions.select("paper_id", next="version_of"), left_on="version_of", right_on="paper_id", how="left")
        .select("paper_id", "version_of", fault=fault)
        .filter(pl.col("fault").is_not_null())
    )
    return from_offenders(
        "versions_lead_to_what_stands_for_the_work",
        "every version leads to another paper, which is a version of none",
        rows_of(versions),
        offenders,
    )


def withdrawals_and_notices_are_papers(lake: Lake) -> Finding:
    """A paper that a notice is about and the notice are two papers."""
    withdrawals = lake.scan("withdrawals").select("paper_id", "shard", "notice_id")
    there = _papers_of_identities(lake)
    lost = withdrawals.join(there, on=["paper_id", "shard"], how="anti").with_columns(fault=pl.lit("is no paper of this shard"))
    dangling = withdrawals.join(there, left_on="notice_id", right_on="paper_id", how="anti")
    own = withdrawals.filter(pl.col("notice_id") == pl.col("paper_id"))
    offenders = pl.concat(
        [lost, dangling.with_columns(fault=pl.lit("its notice is no paper")), own.with_columns(fault=pl.lit("is its own notice"))]
    )
    return from_offenders(
        "withdrawals_and_notices_are_papers", "a withdrawn paper and its notice are two papers", rows_of(withdrawals), offenders
    )


# -- papers ----------------------------------------------------------------------------------------------------------


def papers_are_those_of_identities(lake: Lake, shard: str) -> Finding:
    """A shard holds every paper that identities puts there, and no other: above all, it is not empty where it has members."""
    wanted = _papers_of_identities(lake, shard).select("paper_id")
    merged = _in_shard(lake, "papers", shard).select("paper_id")
    return from_offenders(
        "papers_are_those_of_identities",
        f"shard {shard} of papers holds exactly the papers that identities puts there",
        rows_of(wanted),
        _difference(wanted, merged, ["paper_id"], "is not in papers", "is not in identities"),
        {"papers": rows_of(merged)},
    )


def record_ids_resolve(lake: Lake, shard: str) -> Finding:
    """The record ids that a paper lists are those that identities gives it."""
    pair = ["paper_id", "record_id"]
    wanted = _in_shard(lake, "identities", shard).select(pair).unique()
    listed = _in_shard(lake, "papers", shard).select("paper_id", pl.col("record_ids").alias("record_id")).explode("record_id").select(pair)
    return from_offenders(
        "record_ids_resolve",
        f"papers of shard {shard} list the record ids that identities gives them",
        rows_of(wanted),
        _difference(wanted, listed, pair, "is not listed by the paper", "is not the paper's"),
    )


def papers_bear_what_was_decided(lake: Lake, shard: str) -> Finding:
    """A paper names what it is a version of and the notice that is about it, just as decided; and says why, where it is withdrawn."""
    decided = (
        _papers_of_identities(lake, shard)
        .join(_in_shard(lake, "work_versions", shard).select("paper_id", stands="version_of"), on="paper_id", how="left")
        .join(_in_shard(lake, "withdrawals", shard).select("paper_id", notice="notice_id"), on="paper_id", how="left")
    )
    columns = ["paper_id", "version_of", "withdrawn", "withdrawn_by", "withdrawal_notice"]
    papers = _in_shard(lake, "papers", shard).select(columns)
    fault = (
        pl.when(pl.col("version_of").ne_missing(pl.col("stands"))).then(pl.lit("is a version of something else"))
        .when(pl.col("withdrawal_notice").ne_missing(pl.col("notice"))).then(pl.lit("has another notice"))
        .when(pl.col("withdrawn") != pl.col("withdrawn_by").is_not_null()).then(pl.lit("does not say why it is withdrawn"))
        .when(pl.col("notice").is_not_null() & ~pl.col("withdrawn")).then(pl.lit("is not withdrawn, though a notice says so"))
    )  # fmt: skip
    offenders = papers.join(decided, on="paper_id").select("paper_id", fault=fault).filter(pl.col("fault").is_not_null())
    return from_offenders(
        "papers_bear_what_was_decided",
        f"papers of shard {shard} are versions and withdrawn as decided",
        rows_of(papers),
        offenders,
        {"versions": rows_of(papers.filter(pl.col("version_of").is_not_null())), "withdrawn": rows_of(papers.filter("withdrawn"))},
    )


# -- citations -------------------------------------------------------------------------------------------------------


def no_dangling_edge(lake: Lake) -> Finding:
    """Both ends of a citation are papers, and it lies in the shard of the citing one."""
    edges = lake.scan("citations")
    papers = _papers_of_identities(lake)
    no_citing = edges.join(papers, left_on=["citing_id", "shard"], right_on=["paper_id", "shard"], how="anti")
    no_cited = edges.join(papers, left_on="cited_id", right_on="paper_id", how="anti")
    offenders = pl.concat(
        [
            no_citing.with_columns(fault=pl.lit("the citing paper is not in this shard")),
            no_cited.with_columns(fault=pl.lit("the cited paper does not exist")),
        ]
    )
    return from_offenders("no_dangling_edge", "both ends of every citation are papers", rows_of(edges), offenders)


def no_self_edge(lake: Lake, edges: pl.LazyFrame | None = None) -> Finding:
    """No paper cites itself, under whatever record id. edges: those to look at, if not all."""
    edges = lake.scan("citations") if edges is None else edges
    return from_offenders("no_self_edge", "no paper cites itself", rows_of(edges), edges.filter(pl.col("citing_id") == pl.col("cited_id")))


def no_repeated_edge(lake: Lake, edges: pl.LazyFrame | None = None) -> Finding:
    """A paper cites another once. edges: those to look at, if not all."""
    edges = lake.scan("citations") if edges is None else edges
    offenders = edges.group_by("citing_id", "cited_id").len("times").filter(pl.col("times") > 1)
    return from_offenders("no_repeated_edge", "every citation is there once", rows_of(edges), offenders)


# -- degrees and the core --------------------------------------------------------------------------------------------


def degrees_of_every_paper(lake: Lake) -> Finding:
    """degrees has a row for every paper, in its shard, and for nothing else."""
    wanted, counted = _papers_of_identities(lake), lake.scan("degrees").select("paper_id", "shard")
    return from_offenders(
        "degrees_of_every_paper",
        "every paper has its degrees, and nothing else has",
        rows_of(wanted),
        _difference(wanted, counted, ["paper_id", "shard"], "has no degrees", "is no paper of this shard"),
    )


def degrees_agree_with_citations(lake: Lake, core: Core) -> Finding:
    """In- and out-degree are the citations counted, and the total is their sum (and what leads outside, if the profile adds it)."""
    edges = lake.scan("citations")
    cited = edges.group_by(paper_id="cited_id").agg(pl.len().cast(pl.Int64).alias("cited_by"))
    citing = edges.group_by(paper_id="citing_id").agg(pl.len().cast(pl.Int64).alias("cites"))
    degrees = lake.scan("degrees")
    outside = pl.col("unresolved_references") if core.count_outside_references else pl.lit(0, pl.Int64)
    offenders = (
        degrees.join(cited, on="paper_id", how="left")
        .join(citing, on="paper_id", how="left")
        .with_columns(pl.col("cited_by", "cites").fill_null(0))
        .filter(
            (pl.col("in_degree") != pl.col("cited_by"))
            | (pl.col("out_degree") != pl.col("cites"))
            | (pl.col("total_degree") != pl.col("in_degree") + pl.col("out_degree") + outside)
        )
        .select("paper_id", "in_degree", "cited_by", "out_degree", "cites", "total_degree")
    )
    sums = degrees.select(pl.col("in_degree", "out_degree").sum()).collect(engine="streaming").row(0, named=True)
    return from_offenders(
        "degrees_agree_with_citations",
        "in- and out-degrees are the citations counted, and totals their sums",
        rows_of(degrees),
        offenders,
        {"citations": rows_of(edges), **sums},
    )


def core_flags_agree_with_thresholds(lake: Lake, core: Core) -> Finding:
    """is_core and its reason are what the profile's thresholds make of the degrees."""
    degrees = lake.scan("degrees")
    enough_total, enough_in = pl.col("total_degree") >= core.min_total, pl.col("in_degree") >= core.min_in
    reason = (
        pl.when(enough_total & enough_in)
        .then(pl.lit("core"))
        .when(enough_in)
        .then(pl.lit("low_total"))
        .when(enough_total)
        .then(pl.lit("low_in"))
        .otherwise(pl.lit("low_both"))
    )
    offenders = degrees.filter(pl.col("reason").ne_missing(reason) | pl.col("is_core").ne_missing(enough_total & enough_in)).select(
        "paper_id", "in_degree", "total_degree", "is_core", "reason"
    )
    return from_offenders(
        "core_flags_agree_with_thresholds",
        f"the core is what has a total of {core.min_total} or more and an in-degree of {core.min_in} or more",
        rows_of(degrees),
        offenders,
    )


def core_papers_are_the_core(lake: Lake) -> Finding:
    """core_papers holds exactly the papers flagged as core, with their degrees."""
    columns = list(lake.scan("core_papers").collect_schema().names())
    wanted, chosen = lake.scan("degrees").filter("is_core").select(columns), lake.scan("core_papers")
    return from_offenders(
        "core_papers_are_the_core",
        "core_papers holds the papers of the core with their degrees, and no other",
        rows_of(chosen),
        _difference(wanted, chosen, columns, "is not in core_papers", "is not in the core"),
    )


def core_citations_are_inside_the_core(lake: Lake) -> Finding:
    """core_citations holds exactly the citations with both ends in the core."""
    inside, edge = lake.scan("core_papers").select("paper_id"), ["citing_id", "cited_id", "shard"]
    wanted = lake.scan("citations").join(inside, left_on="citing_id", right_on="paper_id", how="semi")
    wanted = wanted.join(inside, left_on="cited_id", right_on="paper_id", how="semi")
    chosen = lake.scan("core_citations")
    return from_offenders(
        "core_citations_are_inside_the_core",
        "core_citations holds the citations with both ends in the core, and no other",
        rows_of(chosen),
        _difference(wanted, chosen, edge, "is not in core_citations", "does not join two core papers"),
    )


def _present_records(lake: Lake) -> pl.LazyFrame:
    """Records of the parts that the dump has now."""
    return lake.scan("records").join(lake.scan("dump_manifest").select("dump_part"), on="dump_part", how="semi")


def _papers_of_identities(lake: Lake, shard: str | None = None) -> pl.LazyFrame:
    decided = lake.scan("identities") if shard is None else _in_shard(lake, "identities", shard)
    return decided.select("paper_id", "shard").unique()


def _in_shard(lake: Lake, name: str, shard: str) -> pl.LazyFrame:
    return lake.scan(name).filter(pl.col("shard") == shard)


def _difference(wanted: pl.LazyFrame, found: pl.LazyFrame, on: Sequence[str], lacking: str, surplus: str) -> pl.LazyFrame:
    """Rows of one frame that the other lacks, both ways, each with its fault. Nulls match nulls."""
    return pl.concat(
        [
            wanted.join(found, on=list(on), how="anti", nulls_equal=True).with_columns(fault=pl.lit(lacking)),
            found.join(wanted, on=list(on), how="anti", nulls_equal=True).with_columns(fault=pl.lit(surplus)),
        ]
    )

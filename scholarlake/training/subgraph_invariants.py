"""What must hold of subgraphs: walks go along citations, splits share nothing, little is held out, and what is missing is said.

Batches are made one after another, so one is compared only with those that were drawn together with it: an older one is made anew
before anything builds on it.
"""

from __future__ import annotations

import polars as pl

from scholarlake.lake.findings import EXAMPLES, Finding, from_offenders, rows_of
from scholarlake.lake.home import Lake


def walks_follow_citations(lake: Lake, batch: str) -> Finding:
    """Every walk begins at the seed, and every step of it goes to a paper that cites the one before, or is cited by it."""
    rows = _rows(lake, batch).collect()
    walks = rows.select("subgraph_id", "seed_id", "papers", walk="walks").explode("walk")
    starts = walks.select("subgraph_id", "seed_id", first=pl.col("papers").list.get(pl.col("walk").list.get(0)))
    astray = starts.filter(pl.col("first").ne_missing(pl.col("seed_id"))).select("subgraph_id", fault=pl.lit("begins elsewhere"))
    steps = _steps(rows)
    citations = lake.scan("core_citations").select("citing_id", "cited_id")
    both = pl.concat([citations, citations.select(citing_id="cited_id", cited_id="citing_id")])
    unfounded = (
        steps.lazy().join(both, left_on=["from_id", "to_id"], right_on=["citing_id", "cited_id"], how="anti").select("subgraph_id").unique()
        .with_columns(fault=pl.lit("takes a step that is no citation of the core"))
    )  # fmt: skip
    offenders = pl.concat([astray.lazy(), unfounded])
    return from_offenders("walks_follow_citations", "every step of a walk goes along a citation of the core", steps.height, offenders)


def splits_share_nothing(lake: Lake, batch: str) -> Finding:
    """A batch shares no subgraph, seed, paper, work or citation with a batch of another split."""
    drawn = lake.scan("subgraph_batches").select("subgraph_batch", "split", "drawn_from")
    own = drawn.filter(pl.col("subgraph_batch") == batch).collect()
    columns = ["subgraph_batch", "split", "subgraph_id", "seed_id", "papers", "walks"]
    theirs = (
        lake.scan("subgraphs").select(columns)
        .join(drawn.select("subgraph_batch", "drawn_from"), on="subgraph_batch", how="inner")
        .filter(pl.col("drawn_from").is_in(own["drawn_from"].implode()), ~pl.col("split").is_in(own["split"].implode()))
        .collect()
    )  # fmt: skip
    mine = _rows(lake, batch).collect()
    works = lake.scan("work_versions").select("paper_id", "version_of").collect()
    counts: dict[str, int] = {"subgraphs_compared": theirs.height, "batches_compared": theirs["subgraph_batch"].n_unique()}
    papers = _shared(mine, theirs, "papers")
    found = {
        "subgraph": _shared(mine, theirs, "subgraph_id"),
        "seed": pl.concat([_shared_with(mine["seed_id"], _papers(theirs)), _shared_with(theirs["seed_id"], _papers(mine))]).unique(),
        "paper": papers,
        "work": _shared_with(_works(mine, works), _works(theirs, works)),
        # A citation that two subgraphs share has two papers that they share: only subgraphs with such a paper need be looked at.
        "citation": _shared_with(_edges(mine, papers), _edges(theirs, papers)),
    }
    counts |= {f"shared_{level}s": len(values) for level, values in found.items()}
    offenders = [{"level": level, "shared": value} for level, values in found.items() for value in values.sort()]
    claim = "no subgraph, seed, paper, work or citation is shared with another split"
    return Finding("splits_share_nothing", claim, mine.height, len(offenders), tuple(offenders[:EXAMPLES]), counts)


def little_is_held_out(lake: Lake, batch: str) -> Finding:
    """The subgraphs of a batch come to no more papers than their split may, and to those only that its row counts."""
    listed = lake.scan("subgraph_batches").filter(pl.col("subgraph_batch") == batch)
    papers = _rows(lake, batch).select("subgraph_batch", "papers").explode("papers").group_by("subgraph_batch").agg(
        pl.col("papers").n_unique().cast(pl.Int64).alias("found")
    )  # fmt: skip
    both = listed.join(papers, on="subgraph_batch", how="left").with_columns(pl.col("found").fill_null(0))
    fault = (
        pl.when(pl.col("found") != pl.col("papers")).then(pl.lit("has other papers than its row counts"))
        .when(pl.col("found") > pl.col("most_papers")).then(pl.lit("comes to too many papers"))
        .when(pl.col("found") > pl.col("open_papers")).then(pl.lit("comes to papers that were not open to it"))
    )  # fmt: skip
    offenders = both.with_columns(fault=fault).filter(pl.col("fault").is_not_null())
    return from_offenders(
        "little_is_held_out",
        "no more papers are held out of training than may be",
        rows_of(listed),
        offenders.select("subgraph_batch", "found", "papers", "most_papers", "fault"),
    )


def no_subgraph_missing_unsaid(lake: Lake, batch: str) -> Finding:
    """A batch has the subgraphs that its row counts: as many as were asked for, or it says why not."""
    rows = _rows(lake, batch).group_by("subgraph_batch").agg(pl.len().cast(pl.Int64).alias("found"))
    listed = lake.scan("subgraph_batches").filter(pl.col("subgraph_batch") == batch)
    asked = pl.LazyFrame({"subgraph_batch": [batch]}).join(listed, on="subgraph_batch", how="left")
    both = asked.join(rows, on="subgraph_batch", how="left").with_columns(pl.col("found").fill_null(0))
    fault = (
        pl.when(pl.col("made").is_null()).then(pl.lit("is not in subgraph_batches"))
        .when(pl.col("found") != pl.col("made")).then(pl.lit("has other subgraphs than its row counts"))
        .when((pl.col("made") < pl.col("wanted")) & pl.col("shortfall").is_null()).then(pl.lit("has too few and does not say why"))
        .when(pl.col("made") > pl.col("wanted")).then(pl.lit("has too many"))
    )  # fmt: skip
    offenders = both.with_columns(fault=fault).filter(pl.col("fault").is_not_null())
    return from_offenders(
        "no_subgraph_missing_unsaid",
        "every batch has the subgraphs asked for, or says why not",
        rows_of(asked),
        offenders.select("subgraph_batch", "found", "made", "wanted", "fault"),
    )


def _rows(lake: Lake, batch: str) -> pl.LazyFrame:
    return lake.scan("subgraphs").filter(pl.col("subgraph_batch") == batch)


def _steps(rows: pl.DataFrame) -> pl.DataFrame:
    """Every distinct step of every subgraph, as ids."""
    walks = rows.select("subgraph_id", "papers", walk="walks").explode("walk", keep_nulls=False, empty_as_null=False)
    places = walks.select(
        "subgraph_id",
        a=pl.col("walk").list.head(pl.col("walk").list.len().cast(pl.Int64) - 1),
        b=pl.col("walk").list.slice(1),
    )
    pairs = places.explode("a", "b", keep_nulls=False, empty_as_null=False).unique()
    return pairs.join(rows.select("subgraph_id", "papers"), on="subgraph_id").select(
        "subgraph_id",
        from_id=pl.col("papers").list.get(pl.col("a")),
        to_id=pl.col("papers").list.get(pl.col("b")),
    )


def _shared(mine: pl.DataFrame, theirs: pl.DataFrame, column: str) -> pl.Series:
    ours, others = (_papers(rows) if column == "papers" else rows[column] for rows in (mine, theirs))
    return _shared_with(ours, others)


def _papers(rows: pl.DataFrame) -> pl.Series:
    return rows["papers"].explode(keep_nulls=False, empty_as_null=False).unique()


def _shared_with(ours: pl.Series, others: pl.Series) -> pl.Series:
    """The values of one series that another has, each once."""
    return ours.to_frame("value").join(others.to_frame("value"), on="value", how="semi")["value"].unique()


def _works(rows: pl.DataFrame, versions: pl.DataFrame) -> pl.Series:
    """What stands for the works of some subgraphs' papers."""
    papers = _papers(rows).to_frame("paper_id")
    return papers.join(versions, on="paper_id", how="left").select(pl.coalesce("version_of", "paper_id")).to_series().unique()


def _edges(rows: pl.DataFrame, papers: pl.Series) -> pl.Series:
    """The steps of those subgraphs that have one of some papers, either way round the same."""
    chosen = rows.filter(pl.col("papers").list.set_intersection(papers.implode()).list.len() > 0) if len(papers) else rows.clear()
    steps = _steps(chosen)
    ends = pl.concat_list("from_id", "to_id").list.sort()
    return steps.select(ends.list.join(" – ")).to_series().unique()

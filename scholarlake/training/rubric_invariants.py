"""What must hold of rubrics: every question has one, of three dimensions, and its weights sum to exactly 100."""

from __future__ import annotations

import polars as pl

from scholarlake.lake.contracts.training import DIMENSIONS
from scholarlake.lake.findings import Finding, from_offenders, rows_of
from scholarlake.lake.home import Lake
from scholarlake.training.weights import WHOLE


def every_question_has_a_rubric(lake: Lake, batch: str) -> Finding:
    """Every question has criteria of all three dimensions, numbered without a gap, and every rubric is of a question."""
    questions = lake.scan("questions").filter(pl.col("subgraph_batch") == batch).select("question_id", asked=pl.lit(True))
    rubrics = _rows(lake, batch).group_by("question_id").agg(
        pl.col("dimension").n_unique().alias("dimensions"), pl.len().alias("criteria"), pl.col("n").max().alias("last")
    )  # fmt: skip
    both = questions.join(rubrics, on="question_id", how="full", coalesce=True)
    fault = (
        pl.when(pl.col("asked").is_null()).then(pl.lit("is of no question of the batch"))
        .when(pl.col("criteria").is_null()).then(pl.lit("has no rubric"))
        .when(pl.col("dimensions") != len(DIMENSIONS)).then(pl.lit("lacks a dimension"))
        .when(pl.col("last") != pl.col("criteria") - 1).then(pl.lit("has a gap in its numbers"))
    )  # fmt: skip
    offenders = both.select("question_id", fault=fault).filter(pl.col("fault").is_not_null())
    return from_offenders("every_question_has_a_rubric", "every question has a rubric of three dimensions", rows_of(questions), offenders)


def weights_sum_to_100(lake: Lake, batch: str) -> Finding:
    """The weights of every rubric sum to exactly 100."""
    sums = _rows(lake, batch).group_by("question_id").agg(pl.col("weight").sum().alias("total"))
    return from_offenders(
        "weights_sum_to_100", "the weights of every rubric sum to 100", rows_of(sums), sums.filter(pl.col("total") != WHOLE)
    )


def no_criterion_twice(lake: Lake, batch: str) -> Finding:
    """No rubric says the same twice."""
    rows = _rows(lake, batch)
    twice = rows.group_by("question_id", "description").agg(pl.len().alias("times")).filter(pl.col("times") > 1)
    return from_offenders("no_criterion_twice", "no rubric has a criterion twice", rows_of(rows), twice)


def _rows(lake: Lake, batch: str) -> pl.LazyFrame:
    return lake.scan("rubrics").filter(pl.col("subgraph_batch") == batch)

"""What must hold of questions: each has one answer in the whole corpus, does not tell it, and names papers of its own subgraph alone."""

from __future__ import annotations

from typing import Any

import polars as pl

from scholarlake.lake.findings import EXAMPLES, Finding, from_offenders, rows_of
from scholarlake.lake.home import Lake
from scholarlake.training.corpus import read_corpus
from scholarlake.training.parts import answers
from scholarlake.training.questions import parts_of
from scholarlake.training.similar import alike
from scholarlake.training.wording import is_given_away


def every_question_has_one_answer(lake: Lake, batch: str) -> Finding:
    """The query that a question's parts are, run on the whole corpus, finds the paper asked about and no other."""
    rows = _rows(lake, batch).sort("question_id").collect()
    offenders: list[dict[str, Any]] = []
    corpus = read_corpus(lake) if rows.height else None
    for row in rows.iter_rows(named=True):
        assert corpus is not None
        known = all(part.paper is None or part.paper in corpus.graph for part in parts_of(row))
        found = [str(corpus.papers["paper_id"][int(node)]) for node in answers(corpus, parts_of(row))[:EXAMPLES]] if known else []
        if found != [row["answer_paper"]]:
            offenders.append({"question_id": row["question_id"], "answer_paper": row["answer_paper"], "found": ", ".join(found)})
    claim = "every question fits one paper of the corpus, the one that it asks about"
    return Finding("every_question_has_one_answer", claim, rows.height, len(offenders), tuple(offenders[:EXAMPLES]))


def no_question_tells_its_answer(lake: Lake, batch: str) -> Finding:
    """No answer stands in its question, and no part of a question is true of one paper alone."""
    rows = _rows(lake, batch).sort("question_id").collect()
    offenders = []
    for row in rows.iter_rows(named=True):
        if is_given_away(row["answer_kind"], row["answer"], row["question"]):
            offenders.append({"question_id": row["question_id"], "fault": "the answer stands in the question"})
        elif min(part["alone"] for part in row["parts"]) < 2:
            offenders.append({"question_id": row["question_id"], "fault": "one part of it is true of one paper alone"})
    claim = "no question tells its answer, nor does one part of it"
    return Finding("no_question_tells_its_answer", claim, rows.height, len(offenders), tuple(offenders[:EXAMPLES]))


def questions_name_their_own_papers(lake: Lake, batch: str) -> Finding:
    """A question asks about the seed of its subgraph and names other papers of that subgraph alone: no paper of another split."""
    rows = _rows(lake, batch)
    own = lake.scan("subgraphs").filter(pl.col("subgraph_batch") == batch).select("subgraph_id", "seed_id", "papers")
    both = rows.join(own, on="subgraph_id", how="left")
    named = pl.col("parts").list.eval(pl.element().struct.field("paper").drop_nulls())
    fault = (
        pl.when(pl.col("seed_id").is_null()).then(pl.lit("is of no subgraph of its batch"))
        .when(pl.col("seed_id") != pl.col("answer_paper")).then(pl.lit("asks about another paper than the seed"))
        .when(named.list.set_difference("papers").list.len() > 0).then(pl.lit("names a paper outside its subgraph"))
        .when(named.list.contains(pl.col("answer_paper"))).then(pl.lit("names the paper that it asks about"))
    )  # fmt: skip
    offenders = both.select("question_id", fault=fault).filter(pl.col("fault").is_not_null())
    claim = "questions ask about the seed of their subgraph and name other papers of it alone"
    return from_offenders("questions_name_their_own_papers", claim, rows_of(rows), offenders)


def no_question_missing_unsaid(lake: Lake, batch: str) -> Finding:
    """A batch has the questions that its row counts: as many as were asked for, or it says why not."""
    rows = _rows(lake, batch).group_by("subgraph_batch").agg(pl.len().cast(pl.Int64).alias("found"))
    listed = lake.scan("question_batches").filter(pl.col("subgraph_batch") == batch)
    asked = pl.LazyFrame({"subgraph_batch": [batch]}).join(listed, on="subgraph_batch", how="left")
    both = asked.join(rows, on="subgraph_batch", how="left").with_columns(pl.col("found").fill_null(0))
    fault = (
        pl.when(pl.col("made").is_null()).then(pl.lit("is not in question_batches"))
        .when(pl.col("found") != pl.col("made")).then(pl.lit("has other questions than its row counts"))
        .when((pl.col("made") < pl.col("wanted")) & pl.col("shortfall").is_null()).then(pl.lit("has too few and does not say why"))
    )  # fmt: skip
    offenders = both.with_columns(fault=fault).filter(pl.col("fault").is_not_null())
    return from_offenders(
        "no_question_missing_unsaid",
        "every batch has the questions asked for, or says why not",
        rows_of(asked),
        offenders.select("subgraph_batch", "found", "made", "wanted", "fault"),
    )


def splits_ask_nothing_alike(lake: Lake, batch: str) -> Finding:
    """No question of the batch says nearly the same as one of another split, or exactly."""
    own = _rows(lake, batch).select("split", "question_id", "question").sort("question_id").collect()
    others = lake.scan("questions").select("split", "question_id", "question")
    theirs = others.filter(pl.col("split") != batch.rpartition("-")[0]).sort("question_id").collect()
    pairs = list(alike(own["question"].to_list(), theirs["question"].to_list()))
    examples = tuple(
        {"question_id": own["question_id"][pair.one], "other": theirs["question_id"][pair.other], "rouge_l": round(pair.rouge_l, 3)}
        for pair in pairs[:EXAMPLES]
    )
    exact = len(set(own["question"]) & set(theirs["question"]))
    claim = "no question is a near duplicate of one of another split (ROUGE-L over 0.85)"
    facts = {"compared": theirs.height, "exact_duplicates": exact, "near_duplicates": len(pairs)}
    return Finding("splits_ask_nothing_alike", claim, own.height, len({pair.one for pair in pairs}), examples, facts)


def _rows(lake: Lake, batch: str) -> pl.LazyFrame:
    return lake.scan("questions").filter(pl.col("subgraph_batch") == batch)

"""Rubrics: what a rollout that answers a question is judged by, in three dimensions, as atomic criteria with weights that sum to 100.

Derived here from how the question was composed: its answer, its parts, and nothing else, so that a criterion asks for what can be told from
the rollout alone. What does not belong here: who judges (`reward`), how benchmarks are judged (`evaluation`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from scholarlake.corpus.progress import Progress, silent
from scholarlake.lake import contracts, delta
from scholarlake.lake.delta import Commit
from scholarlake.lake.home import Lake
from scholarlake.training.questions import parts_of
from scholarlake.training.weights import WHOLE, whole_weights
from scholarlake.training.wording import Titles, predicate, quoted

METHOD = "derived"
Dimension = Literal["answer", "planning", "grounding"]
SHARES: Mapping[Dimension, int] = {"answer": 40, "planning": 30, "grounding": 30}
_NOUNS = {
    "title": "the title of the paper",
    "year": "the year of publication",
    "venue": "the venue",
    "first_author": "the first author",
    "citations": "the number of papers that cite it",
    "quantity": "the value",
    "chart": "the years of the papers that cite it",
}


@dataclass(frozen=True)
class Criterion:
    """One thing that is to hold of a rollout. weight: its share of 100."""

    dimension: Dimension
    description: str
    weight: int


@dataclass(frozen=True)
class RubricsReport:
    """What was made of a batch. questions: that have a rubric."""

    rows: int
    questions: int
    by_dimension: dict[str, int]
    version: int | None
    content_version: str


def build_rubrics(lake: Lake, batch: str, run: Commit, progress: Progress = silent) -> RubricsReport:
    """The rubric of every question of a batch."""
    questions = lake.scan("questions").filter(pl.col("subgraph_batch") == batch).sort("question_id").collect()
    named = questions.select(pl.col("parts").list.eval(pl.element().struct.field("paper"))).to_series()
    ids = named.explode(keep_nulls=False, empty_as_null=False).drop_nulls().unique().to_frame("paper_id")
    titles = dict(lake.scan("papers").select("paper_id", "title").join(ids.lazy(), on="paper_id", how="semi").collect().iter_rows())
    rows = []
    for done, question in enumerate(questions.iter_rows(named=True)):
        progress(done, questions.height, "deriving rubrics")
        for n, criterion in enumerate(derived(question, titles.__getitem__)):
            rows.append(
                {
                    **{name: question[name] for name in ("subgraph_batch", "split", "question_id")},
                    "n": n,
                    **vars(criterion),
                    "method": METHOD,
                    "code_version": run.code_version,
                }
            )
    frame = pl.DataFrame(rows, schema=contracts.RUBRICS.schema)
    written = delta.write_partition(lake, "rubrics", batch, frame, run)
    counts = dict(frame.group_by("dimension").len().sort("dimension").iter_rows())
    return RubricsReport(frame.height, questions.height, counts, written.version, written.content_version)


def derived(question: Mapping[str, Any], title_of: Titles) -> list[Criterion]:
    """The rubric of a question, from its row."""
    found: list[tuple[Dimension, str]] = [
        *(("answer", said) for said in _of_answer(question)),
        *(("planning", said) for said in _of_planning(question, title_of)),
        *(("grounding", said) for said in _of_grounding(question, title_of)),
    ]
    sizes = {dimension: sum(one == dimension for one, _ in found) for dimension in SHARES}
    weights = whole_weights([SHARES[dimension] / sizes[dimension] for dimension, _ in found], WHOLE)
    return [Criterion(dimension, said, weight) for (dimension, said), weight in zip(found, weights, strict=True)]


def _of_answer(question: Mapping[str, Any]) -> Iterator[str]:
    answer = question["answer"]
    if question["answer_kind"] == "chart":
        years = ", ".join(pair.partition(":")[0] for pair in answer.split("; "))
        yield f"The answer, between <answer> and </answer>, shows a bar chart with a bar for each of these years and no other: {years}."
        yield f"The numbers of the chart are these: {answer}."
    elif question["answer_kind"] == "title":
        yield f"The answer, between <answer> and </answer>, names the paper {quoted(answer)} and no other."
    else:
        noun = _NOUNS[question["answer_kind"]]
        yield f"The answer, between <answer> and </answer>, gives {noun} as {answer}, in whatever words, and no other."


def _of_planning(question: Mapping[str, Any], title_of: Titles) -> Iterator[str]:
    yield "Before the first tool is called, the thoughts take the question apart: where to begin, and what to narrow down by."
    for part in parts_of(question):
        yield f"The thoughts recognise as a condition that the paper in question {predicate(part, title_of)}."
    if question["answer_kind"] != "title":
        yield f"The thoughts tell finding the paper from looking up {_NOUNS[question['answer_kind']]}."


def _of_grounding(question: Mapping[str, Any], title_of: Titles) -> Iterator[str]:
    for part in parts_of(question):
        yield f"A tool response shows that the paper that the answer rests on {predicate(part, title_of)}."
    yield f"A tool response about that paper holds {_NOUNS[question['answer_kind']]} that the answer gives, or all that it is counted from."
    yield "Nothing that the answer rests on comes from memory: it uses no fact that no tool response holds."

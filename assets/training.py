"""Training: what training sets are made of, batch by batch."""

from __future__ import annotations

from assets.stage import Made, Step, makes
from scholarlake import pictures
from scholarlake.training.questions import build_questions
from scholarlake.training.rubrics import build_rubrics
from scholarlake.training.subgraphs import build_subgraphs, first_subgraph


@makes("subgraphs")
def subgraphs(step: Step) -> Made:
    """Test is drawn first, then validation, then training, and what one has come to is closed to the next. Where the core is too small
    for what was asked for, there are fewer, with the reason."""
    report = build_subgraphs(step.lake, step.key, step.profile.training, step.commit, step.progress)
    return Made(
        data_version=report.content_version,
        rows=report.rows,
        tables=report.versions,
        facts={name: value for name, value in report.summary.items() if name not in ("subgraph_batch", "split")},
        pictures={"a_subgraph": lambda: pictures.subgraph(*first_subgraph(step.lake, step.key))} if report.rows else {},
    )


@makes("questions")
def questions(step: Step) -> Made:
    """Parts are added until one paper of the corpus is left: what it cites and what cites it, year, venue, authors, keywords, numbers. That
    no other fits is found by running the question on the corpus, not supposed."""
    report = build_questions(step.lake, step.key, step.profile.training, step.commit, step.progress)
    return Made(
        data_version=report.content_version,
        rows=report.rows,
        tables=report.versions,
        facts={
            **{name: report.summary[name] for name in ("subgraphs", "wanted", "made", "shortfall")},
            "questions_by_answer": report.by_kind,
            "questions_by_hops": report.by_hops,
        },
        texts={"a_question": report.example} if report.rows else {},
    )


@makes("rubrics")
def rubrics(step: Step) -> Made:
    """Derived from how each question was composed: what it says must be recognised, and shown by what tools returned."""
    report = build_rubrics(step.lake, step.key, step.commit, step.progress)
    return Made(
        data_version=report.content_version,
        rows=report.rows,
        tables={"rubrics": report.version},
        facts={"questions": report.questions, "criteria_by_dimension": report.by_dimension},
    )

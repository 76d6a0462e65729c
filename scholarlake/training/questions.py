"""The tables of questions, batch by batch: the questions of every subgraph, and how many there are and why no more.

Splits ask nothing alike: what says nearly the same as a question of a split drawn before is left out. Those questions are composed again
for it, from the core and the corpus, instead of read from their own partitions, which may be about to be made anew.

What does not belong here: how a question is composed (`composition`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from scholarlake.corpus.progress import Progress, silent
from scholarlake.lake import contracts, delta
from scholarlake.lake.delta import Commit
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.profile import Training
from scholarlake.training.composition import METHOD, Question, chart_text, compose
from scholarlake.training.corpus import Corpus, read_corpus
from scholarlake.training.parts import Part
from scholarlake.training.similar import alike
from scholarlake.training.splits import ORDER
from scholarlake.training.subgraphs import batch_of, drawing_of, drawn_of


@dataclass(frozen=True)
class QuestionsReport:
    """What was made of a batch: its row of `question_batches`, questions by what they ask for and by hops, an example, and versions."""

    summary: dict[str, Any]
    by_kind: dict[str, int]
    by_hops: dict[str, int]
    example: str
    rows: int
    versions: dict[str, int | None]
    content_version: str


def build_questions(lake: Lake, batch: str, training: Training, run: Commit, progress: Progress = silent) -> QuestionsReport:
    """The questions of every subgraph of a batch. Raises LakeError where the corpus has no citation graph."""
    progress(0, None, "reading the corpus")
    corpus = read_corpus(lake)
    subgraphs = lake.scan("subgraphs").filter(pl.col("subgraph_batch") == batch).sort("n").select("subgraph_id", "papers").collect()
    others = _of_splits_before(lake, corpus, batch, training)
    rows, summary = questions_of(corpus, subgraphs, batch, training.questions, others, progress)
    code = {"code_version": run.code_version}
    frame = pl.DataFrame([{**row, **code} for row in rows], schema=contracts.QUESTIONS.schema)
    listed = pl.DataFrame([{**summary, **code}], schema=contracts.QUESTION_BATCHES.schema)
    written = [
        delta.write_partition(lake, "questions", batch, frame, run),
        delta.write_partition(lake, "question_batches", batch, listed, run),
    ]
    return QuestionsReport(
        summary,
        dict(Counter(str(row["answer_kind"]) for row in rows)),
        dict(sorted(Counter(str(row["hops"]) for row in rows).items())),
        f"{rows[0]['question']}\n\n{rows[0]['answer']}" if rows else "",
        len(rows),
        {"questions": written[0].version, "question_batches": written[1].version},
        digest([one.content_version for one in written]),
    )


def questions_of(
    corpus: Corpus, subgraphs: pl.DataFrame, batch: str, wanted: int, others: Sequence[str], progress: Progress = silent
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows of a batch, without their code version, and its row of `question_batches`. others: questions that none is to be like."""
    split = batch.rpartition("-")[0]
    composed, why = _composed(corpus, subgraphs, wanted, progress)
    near = {pair.one for pair in alike([question.question for _, question in composed], others)}
    why["a question of another split says nearly the same"] += len(near)
    kept = [one for place, one in enumerate(composed) if place not in near]
    numbers: Counter[str] = Counter()
    rows = []
    for subgraph, question in kept:
        rows.append(_row(batch, split, subgraph, numbers[subgraph], question))
        numbers[subgraph] += 1
    total = subgraphs.height * wanted
    return rows, {
        "subgraph_batch": batch,
        "split": split,
        "subgraphs": subgraphs.height,
        "wanted": total,
        "made": len(rows),
        "shortfall": _said(+why) if len(rows) < total else None,
    }


def _composed(
    corpus: Corpus, subgraphs: pl.DataFrame, wanted: int, progress: Progress = silent
) -> tuple[list[tuple[str, Question]], Counter[str]]:
    """The questions of some subgraphs, each with its subgraph's id, and why there are no more."""
    found: list[tuple[str, Question]] = []
    why: Counter[str] = Counter()
    for done, (subgraph, papers) in enumerate(subgraphs.select("subgraph_id", "papers").iter_rows()):
        progress(done, subgraphs.height, "composing questions")
        made, reasons = compose(corpus, subgraph, papers, wanted)
        found += [(subgraph, question) for question in made]
        why += reasons
    return found, why


def _of_splits_before(lake: Lake, corpus: Corpus, batch: str, training: Training) -> list[str]:
    """The questions of the splits that are drawn before a batch's."""
    before = ORDER[: ORDER.index(batch.rpartition("-")[0])]
    drawn = drawn_of(lake, drawing_of(training)) if before else None
    texts: list[str] = []
    for split in before:
        assert drawn is not None
        subgraphs, _ = batch_of(drawn, f"{split}-00", training)
        texts += [question.question for _, question in _composed(corpus, subgraphs, training.questions)[0]]
    return texts


def parts_of(row: Mapping[str, Any]) -> list[Part]:
    """The parts of a question, from its row."""
    return [Part(part["kind"], part["value"], part["paper"], part["year"], part["venue"]) for part in row["parts"]]


def _row(batch: str, split: str, subgraph: str, n: int, question: Question) -> dict[str, Any]:
    return {
        "subgraph_batch": batch,
        "split": split,
        "question_id": question.question_id,
        "subgraph_id": subgraph,
        "n": n,
        "answer_kind": question.kind,
        "question": question.question,
        "answer": question.answer,
        "answer_paper": question.answer_paper,
        "chart": chart_text(question.chart),
        "hops": question.hops,
        "parts": [{**asdict(proof.part), "alone": proof.alone, "left": proof.left} for proof in question.proofs],
        "history": [asdict(turn) for turn in question.turns],
        "method": METHOD,
    }


def _said(why: Counter[str]) -> str:
    """Reasons with how often each was met, the most frequent first."""
    return "; ".join(f"{reason} ({count:,})" for reason, count in sorted(why.items(), key=lambda item: (-item[1], item[0])))

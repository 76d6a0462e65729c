"""The tables of training: the subgraphs that questions are made of, and what is made of them."""

from __future__ import annotations

import polars as pl

from scholarlake.lake.contracts.columns import CODE_VERSION, ID, Column, Table, Text, Texts

SPLITS = ("train", "validation", "test")
BATCH_KEY = r"^(?:train|validation|test)-[0-9]{2}$"
SUBGRAPH_ID = r"^subgraph-[0-9a-f]{32}$"
DIGEST = r"^[0-9a-f]{32}$"


def batch_column() -> Column:
    return Column(Text, "batch of subgraphs: its split and a number", pattern=BATCH_KEY)


_SPLIT = Column(Text, "what it is for", values=SPLITS)

SUBGRAPHS = Table(
    name="subgraphs",
    about="Neighbourhoods of the core, walked at random from a seed paper along citations. No paper, nor another version of its work, is "
    "in subgraphs of two splits.",
    key=("subgraph_id",),
    partition_by="subgraph_batch",
    provenance=("code_version",),
    shown="seed_id",
    columns={
        "subgraph_batch": batch_column(),
        "split": _SPLIT,
        "subgraph_id": Column(Text, "named by its seed paper, whatever batch it is in", pattern=SUBGRAPH_ID),
        "n": Column(pl.Int64(), "place in its batch, from 0", minimum=0),
        "seed_id": Column(Text, "the paper where its walks begin", pattern=ID),
        "papers": Column(Texts, "the papers that its walks come to, each once, the seed first, then as they are come to"),
        "walks": Column(
            pl.List(pl.List(pl.Int32())),
            "the walks, as places in `papers`, from 0; each step goes to a paper that cites the one before, or is cited by it",
        ),
        "code_version": CODE_VERSION,
    },
)

SUBGRAPH_BATCHES = Table(
    name="subgraph_batches",
    about="What every batch of subgraphs was asked to have and has, out of which part of the core, and why it is fewer where it is.",
    key=("subgraph_batch",),
    partition_by="subgraph_batch",
    provenance=("code_version",),
    shown="split",
    columns={
        "subgraph_batch": batch_column(),
        "split": _SPLIT,
        "wanted": Column(pl.Int64(), "subgraphs asked for", minimum=0),
        "made": Column(pl.Int64(), "subgraphs that it has", minimum=0),
        "papers": Column(pl.Int64(), "distinct papers in them", minimum=0),
        "core_papers": Column(pl.Int64(), "papers of the core", minimum=0),
        "open_papers": Column(pl.Int64(), "of these, papers that test and validation, in this order, left to this split", minimum=0),
        "most_papers": Column(pl.Int64(), "papers that the split may come to; null where there is no limit", nullable=True),
        "shortfall": Column(Text, "why there are fewer than asked for; null where there are not", nullable=True),
        "drawn_from": Column(Text, "digest of the core and the settings; only batches of one digest were drawn together", pattern=DIGEST),
        "code_version": CODE_VERSION,
    },
)

ANSWER_KINDS = ("title", "year", "venue", "first_author", "citations", "quantity", "chart")
PART_KINDS = (
    "cites",
    "cited_by",
    "cites_one_citing",
    "cited_by_one_cited_by",
    "shares_reference",
    "cited_together",
    "year",
    "venue",
    "author",
    "keyword",
    "cited_times",
    "quantity",
)
QUESTION_ID = r"^question-[0-9a-f]{32}$"
PARTS = pl.List(
    pl.Struct(
        {
            "kind": pl.String(),
            "value": pl.String(),
            "paper": pl.String(),
            "year": pl.Int32(),
            "venue": pl.String(),
            "alone": pl.Int64(),
            "left": pl.Int64(),
        }
    )
)
TURNS = pl.List(pl.Struct({"edit": pl.String(), "question": pl.String(), "candidates": pl.Int64()}))

QUESTIONS = Table(
    name="questions",
    about="Questions about papers of the corpus, each with one answer, and how they came to be what they are.",
    key=("question_id",),
    partition_by="subgraph_batch",
    provenance=("code_version",),
    shown="question",
    columns={
        "subgraph_batch": batch_column(),
        "split": _SPLIT,
        "question_id": Column(Text, "named by its subgraph and what it asks for", pattern=QUESTION_ID),
        "subgraph_id": Column(Text, "the subgraph whose seed it asks about, and whose papers it names", pattern=SUBGRAPH_ID),
        "n": Column(pl.Int64(), "place among the questions of its subgraph, from 0", minimum=0),
        "answer_kind": Column(
            Text,
            "what it asks for: title, year, venue or first author of a paper, how many papers cite it, a number that it reports, a chart "
            "of the years of the papers that cite it",
            values=ANSWER_KINDS,
        ),
        "question": Column(Text, "the question", pattern=ID),
        "answer": Column(Text, "the answer; of a chart, its labels and values", pattern=ID),
        "answer_paper": Column(Text, "the paper asked about: the only one of the corpus that all parts are true of", pattern=ID),
        "chart": Column(Text, "the payload of the tool that draws the answer, as JSON; null where no chart is asked for", nullable=True),
        "hops": Column(pl.Int64(), "most citations between a paper that the question names and the one asked about", minimum=1),
        "parts": Column(
            PARTS,
            "what the question says, in the order in which it was added: kind; value, or the paper that it names, and year and venue of a "
            "paper in between; of how many papers of the corpus it alone is true; how many are left of all parts so far",
        ),
        "history": Column(TURNS, "every turn: what was done, the question that it gave, and how many papers of the corpus that one fits"),
        "method": Column(Text, "what made it", values=("graph_composed",)),
        "code_version": CODE_VERSION,
    },
)

QUESTION_BATCHES = Table(
    name="question_batches",
    about="How many questions every batch of subgraphs gave, and why no more.",
    key=("subgraph_batch",),
    partition_by="subgraph_batch",
    provenance=("code_version",),
    shown="split",
    columns={
        "subgraph_batch": batch_column(),
        "split": _SPLIT,
        "subgraphs": Column(pl.Int64(), "subgraphs of the batch", minimum=0),
        "wanted": Column(pl.Int64(), "questions asked for", minimum=0),
        "made": Column(pl.Int64(), "questions that it has", minimum=0),
        "shortfall": Column(Text, "why there are fewer than asked for, with counts; null where there are not", nullable=True),
        "code_version": CODE_VERSION,
    },
)

DIMENSIONS = ("answer", "planning", "grounding")

RUBRICS = Table(
    name="rubrics",
    about="What a rollout that answers a question is judged by: atomic criteria whose weights sum to 100 for every question.",
    key=("question_id", "n"),
    partition_by="subgraph_batch",
    provenance=("code_version",),
    shown="description",
    columns={
        "subgraph_batch": batch_column(),
        "split": _SPLIT,
        "question_id": Column(Text, "the question", pattern=QUESTION_ID),
        "n": Column(pl.Int64(), "place of the criterion in the rubric, from 0", minimum=0),
        "dimension": Column(
            Text,
            "answer: it is right; planning: the question was taken apart; grounding: what is said rests on what tools returned",
            values=DIMENSIONS,
        ),
        "description": Column(Text, "what is to hold of a rollout, judged by itself", pattern=ID),
        "weight": Column(pl.Int64(), "its share of 100", minimum=1, maximum=100),
        "method": Column(Text, "what made it", values=("derived",)),
        "code_version": CODE_VERSION,
    },
)

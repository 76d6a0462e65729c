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

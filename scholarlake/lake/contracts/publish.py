"""The tables of what changed between two releases."""

from __future__ import annotations

import polars as pl

from scholarlake.lake.contracts.columns import ID, RELEASE, Column, Table, Text, Texts

_PAIR: dict[str, Column] = {
    "release": Column(Text, "the later release", pattern=RELEASE),
    "previous": Column(Text, "the release it is compared with", pattern=RELEASE),
    "table": Column(Text, "the table", pattern=ID),
}

RELEASE_CHANGES = Table(
    name="release_changes",
    about="What changed between a release and the one before it, the most cited papers first; of many changes the first ones.",
    key=("release", "table", "change", "key"),
    partition_by="release",
    history=True,
    columns={
        **_PAIR,
        "change": Column(Text, "what became of the row", values=("came", "went", "changed")),
        "key": Column(Text, "the row's key; of several columns a JSON list"),
        "place": Column(pl.Int64(), "place in the list of its table and kind of change, from 1", minimum=1),
        "fields": Column(Texts, "the columns that differ, for a row that changed"),
        "title": Column(Text, "what tells a person which row it is: the title of its paper, for most tables", nullable=True),
        "why": Column(Text, "for papers: what it was merged into, split from…", nullable=True),
        "in_degree": Column(pl.Int64(), "papers that cite its paper, in the release that has it", nullable=True, minimum=0),
    },
)

RELEASE_CHANGE_COUNTS = Table(
    name="release_change_counts",
    about="How many rows of each table came, went and changed between a release and the one before it: all, listed or not.",
    key=("release", "table"),
    partition_by="release",
    history=True,
    columns={
        **_PAIR,
        "rows_before": Column(pl.Int64(), "rows in the earlier release", minimum=0),
        "rows_after": Column(pl.Int64(), "rows in the later release", minimum=0),
        "came": Column(pl.Int64(), "rows that only the later one has", minimum=0),
        "went": Column(pl.Int64(), "rows that only the earlier one has", minimum=0),
        "changed": Column(pl.Int64(), "rows that both have and that differ", minimum=0),
        "fields": Column(
            pl.List(pl.Struct({"name": pl.String(), "rows": pl.Int64()})), "how many of the changed rows differ in each column, most first"
        ),
        "listed": Column(pl.Int64(), "how many of the changes are in `release_changes`", minimum=0),
        "partitions": Column(pl.Int64(), "partitions of the table in either release", minimum=0),
        "compared": Column(pl.Int64(), "partitions whose files differ: no other was read", minimum=0),
    },
)

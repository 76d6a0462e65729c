"""The tables of collections: which papers get layers of knowledge, and why."""

from __future__ import annotations

import polars as pl

from scholarlake.lake.contracts.columns import CODE_VERSION, COLLECTION, ID, Column, Table, Text, Texts, shard_column

COLLECTION_METHODS = ("conditions", "representatives", "topics")
ROLES = ("member", "representative", "anchor", "quota", "ranked")

COLLECTIONS = Table(
    name="collections",
    about="Which papers belong to which collection, in which order, and why.",
    key=("collection", "paper_id"),
    partition_by="collection",
    provenance=("code_version",),
    columns={
        "collection": Column(Text, "name of the collection: its file's, without the ending", pattern=COLLECTION),
        "paper_id": Column(Text, "the paper", pattern=ID),
        "shard": shard_column("shard of the paper"),
        "rank": Column(pl.Int64(), "place of the paper in the collection, from 1", minimum=1),
        "role": Column(
            Text,
            "member (of what conditions leave), representative (of a cluster), anchor (much cited), quota (of a topic), ranked (the rest)",
            values=ROLES,
        ),
        "rule": Column(Text, "what chose it, in words; of a work of several versions also which others there are"),
        "score": Column(
            pl.Float64(), "what speaks for it: relevance, similarity to the cluster's centre, citations, signals; by role", nullable=True
        ),
        "topic": Column(Text, "the topic that found it best", nullable=True),
        "cluster": Column(pl.Int32(), "the cluster that it stands for; 1 is the largest", nullable=True, minimum=1),
        "method": Column(Text, "how the collection is chosen", values=COLLECTION_METHODS),
        "code_version": CODE_VERSION,
    },
)

COLLECTION_CATALOG = Table(
    name="collection_catalog",
    about="The collections there are: what each is for, how its papers are chosen, how many it got, and what is missing.",
    key=("collection",),
    partition_by=None,
    provenance=("code_version",),
    columns={
        "collection": Column(Text, "name of the collection", pattern=COLLECTION),
        "title": Column(Text, "its title"),
        "about": Column(Text, "what it is for"),
        "method": Column(Text, "how its papers are chosen", values=COLLECTION_METHODS),
        "definition": Column(Text, "how in detail: what its file says, with what it leaves to the profile, as JSON"),
        "wanted": Column(pl.Int64(), "papers asked for; null where only conditions decide", nullable=True, minimum=1),
        "matched": Column(pl.Int64(), "papers that could have been chosen", minimum=0),
        "chosen": Column(pl.Int64(), "papers that were", minimum=0),
        "shortfall": Column(Text, "what is missing of the papers asked for, and why; null where nothing is", nullable=True),
        "unknown_ids": Column(Texts, "ids that the file names and the corpus does not know"),
        "withdrawn_ids": Column(Texts, "papers that the file names, left out since they, or what they are versions of, were withdrawn"),
        "code_version": CODE_VERSION,
    },
)

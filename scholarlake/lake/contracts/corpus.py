"""The tables of the corpus: identity, papers, citations, degrees, the core."""

from __future__ import annotations

import polars as pl

from scholarlake.lake.contracts.bibliographic import BIBLIOGRAPHIC
from scholarlake.lake.contracts.columns import CODE_VERSION, ID, METHOD, Column, Key, Table, Text, Texts, shard_column

VERSION_RULES = ("title_and_author", "title", "other_preprint")
WITHDRAWN_BY = ("title", "doc_type", "abstract", "notice")

IDENTITY_RULES = ("representative", "same_id", "same_doi", "title_to_doi", "title")

IDENTITIES = Table(
    name="identities",
    about="Which paper each record belongs to, and the rule that decided. One row a distinct record (id, edition, content).",
    key=("record_id", "edition", "content_hash"),
    provenance=("code_version",),
    columns={
        "record_id": Column(Text, "the dump's id", pattern=ID),
        "record_key": Column(Key, "XXH3-64 of record_id"),
        "edition": Column(Text, "issue of the dump"),
        "content_hash": Column(Key, "hash of the record's bytes"),
        "copies": Column(pl.Int64(), "how many lines of the dump hold exactly this record", minimum=1),
        "is_current": Column(pl.Boolean(), "whether it is the newest record of its id: only that one contributes keys"),
        "paper_id": Column(Text, "record id of the paper's representative", pattern=ID),
        "paper_key": Column(Key, "XXH3-64 of paper_id"),
        "shard": shard_column("shard of the paper, two digits"),
        "rule": Column(Text, "the rule that joined the record to its paper", values=IDENTITY_RULES),
        "flags": Column(Texts, "doi_conflict: its DOI also stands on a work with nothing in common"),
        "code_version": CODE_VERSION,
    },
)

WORK_VERSIONS = Table(
    name="work_versions",
    about="Papers that are a version of another, which stands for the work: a preprint of what was published, or of its latest preprint.",
    key=("paper_id",),
    provenance=("code_version",),
    columns={
        "paper_id": Column(Text, "the preprint", pattern=ID),
        "shard": shard_column("shard of the preprint"),
        "version_of": Column(Text, "the paper that stands for the work; itself a version of none", pattern=ID),
        "rule": Column(
            Text,
            "title_and_author: they share both; title: authors are unknown, and no other paper has the title; other_preprint: a preprint "
            "of the same work leads there, or is the latest one",
            values=VERSION_RULES,
        ),
        "code_version": CODE_VERSION,
    },
)

WITHDRAWALS = Table(
    name="withdrawals",
    about="Papers that a notice of retraction or withdrawal is about, the notice being a paper of its own.",
    key=("paper_id",),
    provenance=("code_version",),
    columns={
        "paper_id": Column(Text, "the paper that was withdrawn", pattern=ID),
        "shard": shard_column("shard of that paper"),
        "notice_id": Column(Text, "the paper that says so; of several the first by id", pattern=ID),
        "code_version": CODE_VERSION,
    },
)

TOMBSTONES = Table(
    name="tombstones",
    about="Papers that an earlier state of the lake held and this one does not, and what became of them.",
    key=("paper_id",),
    provenance=("code_version",),
    history=True,
    columns={
        "paper_id": Column(Text, "the paper that is gone", pattern=ID),
        "shard": shard_column("shard it lay in"),
        "reason": Column(
            Text, "merged: its record is part of another paper; removed: no record of its id is left", values=("merged", "removed")
        ),
        "into": Column(
            Text,
            "the paper that has its record, or, where that was removed, the paper that has most of its other records",
            nullable=True,
            pattern=ID,
        ),
        "last_release": Column(Text, "the newest release there was when it went; null where there was none", nullable=True),
        "since": Column(Text, "when it was found gone, UTC, ISO 8601"),
        "code_version": CODE_VERSION,
    },
)

PAPERS = Table(
    name="papers",
    about="One row a paper, merged from its records.",
    key=("paper_id",),
    provenance=("code_version",),
    shown="title",
    columns={
        "paper_id": Column(Text, "record id of the representative", pattern=ID),
        "paper_key": Column(Key, "XXH3-64 of paper_id"),
        "shard": shard_column("stable_hash(paper_id) % n, two digits"),
        **BIBLIOGRAPHIC,
        "record_ids": Column(Texts, "ids of all its records, distinct, sorted; each resolves to this paper"),
        "editions": Column(Texts, "issues of the dump it occurs in, oldest first"),
        "flags": Column(Texts, "flags of its records and of its identity, distinct, sorted"),
        "version_of": Column(Text, "the paper that stands for the work, where this one is a preprint of it", nullable=True, pattern=ID),
        "withdrawn": Column(pl.Boolean(), "whether it was retracted or withdrawn"),
        "withdrawn_by": Column(
            Text,
            "what says so: title, doc_type or abstract of the newest record of one of its ids, or a notice",
            nullable=True,
            values=WITHDRAWN_BY,
        ),
        "withdrawal_notice": Column(Text, "the paper that is a notice of it", nullable=True, pattern=ID),
        "members_hash": Column(Key, "hash over its records' contents and the decisions about it: what the row was computed from"),
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

_EDGE: dict[str, Column] = {
    "citing_id": Column(Text, "paper that cites", pattern=ID),
    "cited_id": Column(Text, "paper that is cited", pattern=ID),
    "shard": shard_column("shard of the citing paper"),
}

CITATIONS = Table(
    name="citations",
    about="Resolved citations between distinct papers, each once.",
    key=("citing_id", "cited_id"),
    columns=_EDGE,
)

_DEGREES: dict[str, Column] = {
    "paper_id": Column(Text, "the paper", pattern=ID),
    "shard": shard_column("shard of the paper"),
    "in_degree": Column(pl.Int64(), "papers that cite it", minimum=0),
    "out_degree": Column(pl.Int64(), "papers it cites", minimum=0),
    "total_degree": Column(pl.Int64(), "in_degree + out_degree (plus outside references where the profile adds them)", minimum=0),
}

DEGREES = Table(
    name="degrees",
    about="Degrees of every paper, and whether it is in the core; where not, why not.",
    key=("paper_id",),
    columns={
        **_DEGREES,
        "self_references": Column(pl.Int64(), "references that resolve to the paper itself", minimum=0),
        "repeated_references": Column(pl.Int64(), "references beyond the first to the same paper", minimum=0),
        "unresolved_references": Column(pl.Int64(), "references that lead outside the corpus", minimum=0),
        "is_core": Column(pl.Boolean(), "whether both thresholds of the profile are met"),
        "reason": Column(Text, "core, low_total, low_in or low_both", values=("core", "low_total", "low_in", "low_both")),
    },
)

CORE_PAPERS = Table(
    name="core_papers",
    about="Papers whose degrees meet the profile's thresholds.",
    key=("paper_id",),
    columns=_DEGREES,
)

CORE_CITATIONS = Table(
    name="core_citations",
    about="Citations with both ends in the core.",
    key=("citing_id", "cited_id"),
    columns=_EDGE,
)

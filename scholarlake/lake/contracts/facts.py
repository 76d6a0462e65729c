"""The tables of L1: what papers state (ScholarStack, section 3.2.1)."""

from __future__ import annotations

import polars as pl

from scholarlake.lake.contracts.columns import CODE_VERSION, HEX_128, ID, METHOD, Column, Table, Text, Texts, shard_column

FACT_TYPES = ("finding", "method_description", "theoretical_result", "hypothesis", "limitation", "dataset", "definition")
STUDY_TYPES = ("quantitative", "qualitative", "theoretical")
CONTEXT_KINDS = ("population", "setting", "assumption", "condition", "baseline", "dataset", "method", "time", "place")
VERIFICATIONS = ("supported", "failed", "unresolved", "unchecked")
FACT_MARKS = ("subject_not_in_evidence", "quantity_without_unit")
#: What a candidate can lack: the reasons for which it is no fact.
FACT_FAULTS = (
    "missing_field",
    "unknown_type",
    "no_evidence",
    "unknown_evidence",
    "number_not_in_evidence",
    "unit_not_in_evidence",
    "statement_not_in_evidence",
    "repeated",
    "not_an_answer",
)
FACT_ID = r"^fact-[0-9a-f]{32}$"

CONTEXTS = pl.List(pl.Struct({"kind": pl.String(), "text": pl.String()}))
QUANTITIES = pl.List(
    pl.Struct({"value": pl.String(), "number": pl.Float64(), "unit": pl.String(), "metric": pl.String(), "comparator": pl.String()})
)
VOTES = pl.List(
    pl.Struct(
        {
            "verdict": pl.String(),
            "attribution": pl.Boolean(),
            "qualifications": pl.Boolean(),
            "reason": pl.String(),
            "method": pl.String(),
        }
    )
)

FACTS = Table(
    name="facts",
    about="L1: what a paper states, each with its conditions, its numbers and the sentences that say it. What the source asserts, "
    "not what is true.",
    key=("fact_id",),
    provenance=("code_version",),
    shown="statement",
    columns={
        "fact_id": Column(
            Text,
            "digest of paper, taxonomy, type, subject, statement, context, quantities and the text of its evidence: the same statement on "
            "the same grounds has the same id in every build",
            pattern=FACT_ID,
        ),
        "paper_id": Column(Text, "the paper that states it", pattern=ID),
        "shard": shard_column("shard of the paper"),
        "taxonomy": Column(
            Text, "version of the taxonomy that told what to attend to; null for what is read without one", nullable=True, pattern=HEX_128
        ),
        "n": Column(pl.Int64(), "place of the fact in its paper, by its first sentence, from 0", minimum=0),
        "type": Column(Text, "what kind of statement it is", values=FACT_TYPES),
        "study_type": Column(Text, "the schema it was read by, which says what conditions belong to it", values=STUDY_TYPES),
        "subject": Column(Text, "what it is about, as the paper calls it", pattern=ID),
        "statement": Column(Text, "what the paper reports about the subject", pattern=ID),
        "context": Column(CONTEXTS, "conditions under which it holds: kind and text"),
        "quantities": Column(
            QUANTITIES,
            "numbers as written, as read (null where it is no single number), their unit, what they measure, and what they are compared by",
        ),
        "evidence": Column(Texts, "ids of the sentences that say it, in reading order"),
        "evidence_hash": Column(Text, "digest of the texts of those sentences", pattern=HEX_128),
        "marks": Column(Texts, "what the structural checks noted without refusing it"),
        "verification": Column(
            Text,
            "whether its sentences were found to support it: supported, failed, unresolved (verdicts differ or say nothing), unchecked",
            values=VERIFICATIONS,
        ),
        "votes": Column(VOTES, "every verdict as it was given: attribution to the right subject and kept qualifications judged apart"),
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

FACT_REJECTS = Table(
    name="fact_rejects",
    about="What was proposed as a fact and is none, with the reason.",
    key=("paper_id", "n"),
    provenance=("code_version",),
    matched_by=("paper_id", "candidate"),
    shown="detail",
    columns={
        "paper_id": Column(Text, "the paper", pattern=ID),
        "n": Column(pl.Int64(), "place among the paper's refused candidates, from 0", minimum=0),
        "shard": shard_column("shard of the paper"),
        "reason": Column(Text, "reason code", values=FACT_FAULTS),
        "detail": Column(Text, "what exactly is wrong"),
        "candidate": Column(Text, "the candidate as it was proposed, as JSON"),
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

FACT_SOURCES = Table(
    name="fact_sources",
    about="Every document that facts were looked for in: how it was read, and how many facts it gave.",
    key=("paper_id",),
    provenance=("code_version",),
    columns={
        "paper_id": Column(Text, "the paper", pattern=ID),
        "shard": shard_column("shard of the paper"),
        "content_hash": Column(Text, "digest of the document as it was read: another is read again", pattern=HEX_128),
        "study_type": Column(Text, "what kind of study it was taken for", values=STUDY_TYPES),
        "sentences": Column(pl.Int64(), "sentences that were looked at", minimum=0),
        "candidates": Column(pl.Int64(), "facts proposed", minimum=0),
        "facts": Column(pl.Int64(), "facts kept", minimum=0),
        "rejects": Column(pl.Int64(), "candidates refused", minimum=0),
        "unread": Column(Text, "why nothing, or not all, could be read: a model that failed or refused; null where all was", nullable=True),
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

"""The tables of L3: scoped accounts across the papers of a collection (ScholarStack, section 3.2.3)."""

from __future__ import annotations

import polars as pl

from scholarlake.lake.contracts.columns import CODE_VERSION, ID, METHOD, Column, Table, Text, Texts, collection_column
from scholarlake.lake.contracts.facts import CONTEXTS, VOTES
from scholarlake.lake.contracts.organization import CATEGORY_ID

SYNTHESIS_KINDS = ("family_overview", "disagreement", "context_difference", "open_problem")
SYNTHESIS_ID = r"^synthesis-[0-9a-f]{32}$"
BASIS_ROLES = ("supporting", "opposing", "limiting")
CITABLE_KINDS = ("fact", "assignment", "relation")
REVIEWS = ("unreviewed", "supported", "disputed", "failed")
SYNTHESIS_FAULTS = (
    "missing_field",
    "unknown_kind",
    "no_basis",
    "unresolved_basis",
    "claim_without_basis",
    "number_not_in_basis",
    "one_source",
    "outside_scope",
    "repeated",
    "not_an_answer",
)
BASIS = pl.List(pl.Struct({"object_id": pl.String(), "kind": pl.String(), "role": pl.String(), "why": pl.String()}))
CLAIMS = pl.List(pl.Struct({"text": pl.String(), "cites": pl.List(pl.String())}))

SYNTHESES = Table(
    name="syntheses",
    about="L3: scoped accounts formed across papers, each claim citing registered objects. An interpretation, not a source.",
    key=("synthesis_id",),
    partition_by="collection",
    provenance=("code_version",),
    shown="title",
    columns={
        "synthesis_id": Column(Text, "digest of collection, kind, topic, claims, scope and basis", pattern=SYNTHESIS_ID),
        "collection": collection_column(),
        "kind": Column(Text, "what kind of account it is", values=SYNTHESIS_KINDS),
        "topic": Column(Text, "what it is about, the same through its revisions", pattern=ID),
        "category_id": Column(Text, "the category that it is about, where it is about one", nullable=True, pattern=CATEGORY_ID),
        "title": Column(Text, "how it is headed", pattern=ID),
        "account": Column(Text, "the interpretation: its claims, one behind the other", pattern=ID),
        "claims": Column(CLAIMS, "the account claim by claim, each with the ids of the objects that it cites; none cites nothing"),
        "conditions": Column(CONTEXTS, "conditions that the account is limited to"),
        "studies": Column(Texts, "papers considered, sorted"),
        "sources": Column(pl.Int64(), "studies, a preprint and what was published of it being one", minimum=1),
        "basis": Column(BASIS, "every cited object: its kind, whether it supports, opposes or limits the account, and why"),
        "review": Column(
            Text, "what a review of the account against its basis came to; nothing is inherited from the basis", values=REVIEWS
        ),
        "votes": Column(VOTES, "every verdict of that review"),
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

SYNTHESIS_REJECTS = Table(
    name="synthesis_rejects",
    about="What was proposed as a synthesis and is none, with the reason.",
    key=("collection", "n"),
    partition_by="collection",
    provenance=("code_version",),
    matched_by=("collection", "candidate"),
    shown="detail",
    columns={
        "collection": collection_column(),
        "n": Column(pl.Int64(), "place among the collection's refused candidates, from 0", minimum=0),
        "reason": Column(Text, "reason code", values=SYNTHESIS_FAULTS),
        "detail": Column(Text, "what exactly is wrong"),
        "candidate": Column(Text, "the candidate as it was proposed, as JSON"),
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

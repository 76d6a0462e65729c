"""The tables of the registry: every object's versions, what rests on what, and what happened (ScholarStack, section 3.2.4).

History: they remember what the present tables no longer hold, and a lake built afresh has none of it.
"""

from __future__ import annotations

import polars as pl

from scholarlake.lake.contracts.columns import COLLECTION, HEX_128, ID, METHOD, RELEASE, Column, Table, Text
from scholarlake.lake.contracts.facts import VERIFICATIONS
from scholarlake.lake.contracts.syntheses import BASIS_ROLES, REVIEWS

ASSET_KINDS = ("fact", "taxonomy", "entity", "assignment", "relation", "synthesis", "hypothesis", "note")
STATUSES = ("current", "superseded", "retracted", "needs_recheck")
DEPENDENCY_ROLES = (*BASIS_ROLES, "evidence", "subject", "category", "mention")
EVENTS = (
    "registered",
    "reused",
    "revised",
    "superseded",
    "retracted",
    "restored",
    "needs_recheck",
    "rechecked",
    "reviewed",
)
PIPELINE = "pipeline"

_KIND = Column(Text, "what kind of object it is", values=ASSET_KINDS)
_COLLECTION = Column(Text, "the collection; null for a fact, which belongs to its paper", nullable=True, pattern=COLLECTION)
_CHAIN = Column(Text, "pipeline, or the chain of tasks that it came from", pattern=ID)
_STAGE = Column(Text, "the asset that made it, or the stage of the chain", pattern=ID)
_AT = pl.Datetime("us", "UTC")

REGISTRY = Table(
    name="registry",
    about="Every registered object in every version that it had, old ones readable.",
    key=("asset_id", "version"),
    partition_by="kind",
    provenance=("changed_at",),
    shown="title",
    history=True,
    columns={
        "asset_id": Column(Text, "the object through all its versions: the id that its first version had", pattern=ID),
        "version": Column(pl.Int64(), "from 1", minimum=1),
        "object_id": Column(Text, "id of this version in its table: a digest of its content", pattern=ID),
        "kind": _KIND,
        "layer": Column(pl.Int64(), "1 facts, 2 organization, 3 syntheses and what tasks made", minimum=1, maximum=3),
        "collection": _COLLECTION,
        "title": Column(Text, "what a person knows it by", pattern=ID),
        "content": Column(Text, "all that it said, as JSON in the shape of its table"),
        "content_hash": Column(Text, "digest of that", pattern=HEX_128),
        "status": Column(Text, "lifecycle: current, superseded, retracted, needs_recheck", values=STATUSES),
        "reason": Column(Text, "why it has that status, where it is not current, or what the version revised", nullable=True),
        "verification": Column(Text, "of facts, assignments, relations: what votes said; else null", nullable=True, values=VERIFICATIONS),
        "review": Column(Text, "of syntheses and what tasks made: what a review came to; else null", nullable=True, values=REVIEWS),
        "parent": Column(pl.Int64(), "the version that this one revised", nullable=True, minimum=1),
        "chain": _CHAIN,
        "stage": _STAGE,
        "method": METHOD,
        "created_at": Column(_AT, "when it was registered"),
        "changed_at": Column(_AT, "when its status last changed"),
    },
)

REGISTRY_DEPENDENCIES = Table(
    name="registry_dependencies",
    about="What rests on what, version by version.",
    key=("dependent", "dependent_version", "basis", "role"),
    partition_by=None,
    shown="dependent",
    history=True,
    columns={
        "dependent": Column(Text, "asset that rests on the other", pattern=ID),
        "dependent_version": Column(pl.Int64(), "its version", minimum=1),
        "dependent_kind": _KIND,
        "basis": Column(Text, "asset that it rests on", pattern=ID),
        "basis_version": Column(pl.Int64(), "the version that it was made from", minimum=1),
        "basis_kind": _KIND,
        "role": Column(Text, "what it is to it", values=DEPENDENCY_ROLES),
    },
)

REGISTRY_EVENTS = Table(
    name="registry_events",
    about="What happened to every object, and because of what.",
    key=("event_id",),
    partition_by=None,
    shown="reason",
    history=True,
    columns={
        "event_id": Column(Text, "digest of what happened and when", pattern=ID),
        "asset_id": Column(Text, "the object", pattern=ID),
        "version": Column(pl.Int64(), "its version", minimum=1),
        "kind": _KIND,
        "event": Column(Text, "what happened", values=EVENTS),
        "reason": Column(Text, "why, in words"),
        "cause": Column(Text, "the object whose change brought it", nullable=True, pattern=ID),
        "chain": _CHAIN,
        "stage": _STAGE,
        "run_id": Column(Text, "the run or the session that did it", pattern=ID),
        "at": Column(_AT, "when"),
    },
)

KEPT_VIEWS = Table(
    name="kept_views",
    about="Views that somebody kept: what was asked, and exactly which versions of which objects it held.",
    key=("view_id",),
    partition_by=None,
    shown="name",
    history=True,
    columns={
        "view_id": Column(Text, "digest of its content", pattern=ID),
        "name": Column(Text, "name it was kept by", pattern=ID),
        "collection": Column(Text, "the collection", pattern=COLLECTION),
        "release": Column(Text, "the release that it was made on", pattern=RELEASE),
        "request": Column(Text, "the operations that made it, as JSON"),
        "items": Column(
            pl.List(pl.Struct({"object_id": pl.String(), "kind": pl.String(), "version": pl.Int64(), "score": pl.Float64()})),
            "what it held, in order",
        ),
        "content": Column(Text, "its items with conditions, evidence and verification as they were, as JSON"),
        "chain": _CHAIN,
        "stage": _STAGE,
        "kept_at": Column(_AT, "when"),
    },
)

"""The tables of L2: taxonomy, entities, assignments, typed relations of a collection (ScholarStack, section 3.2.2)."""

from __future__ import annotations

import polars as pl

from scholarlake.lake.contracts.columns import CODE_VERSION, HEX_128, ID, METHOD, Column, Table, Text, Texts, collection_column
from scholarlake.lake.contracts.facts import CONTEXTS, FACT_ID, FACTS, VERIFICATIONS, VOTES

ENTITY_TYPES = ("method", "dataset", "metric", "task", "material", "organism", "model", "theory", "instrument", "concept")
ENTITY_ID = r"^entity-[0-9a-f]{32}$"
ASSIGNMENT_ID = r"^assignment-[0-9a-f]{32}$"
RELATION_ID = r"^relation-[0-9a-f]{32}$"
PROPOSAL_ID = r"^proposal-[0-9a-f]{32}$"
CATEGORY_ID = r"^[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*$"
CERTAINTIES = ("confirmed", "likely", "uncertain")
INFERENCES = ("declared", "inferred")
TAXONOMY_ORIGINS = ("supplied", "prepared")
MENTION_ROLES = ("subject", "statement", "context", "metric", "baseline", "title", "keyword")
VERDICTS = ("same", "different", "doubtful")
UNCLASSIFIED_REASONS = ("no_entity", "no_category", "uncertain", "tie")
RELATIONS_OF_ENTITIES = (
    "proposes",
    "uses",
    "evaluated_on",
    "measured_by",
    "compared_against",
    "improves_on",
    "extends",
    "applied_to",
    "contradicts",
    "part_of",
)
RELATION_KINDS = (*RELATIONS_OF_ENTITIES, "cites")
END_KINDS = ("paper", "entity")

_FACTS = Column(Texts, "ids of the facts that it rests on, sorted; at least one")
_CONDITIONS = Column(CONTEXTS, "conditions of those facts, kept as they are: it holds under them, and says nothing of others")
_CERTAINTY = Column(
    Text,
    "confirmed (a rule that leaves no doubt, or all votes agree), likely, uncertain (kept as such, never forced)",
    values=CERTAINTIES,
)
_VERIFICATION = Column(Text, "what votes on it came to; unchecked where nobody was asked", values=VERIFICATIONS)
_VOTES = Column(VOTES, "every verdict as it was given")
PAYLOAD = pl.List(pl.Struct({"name": pl.String(), "value": pl.String()}))

FACT_CATALOG = Table(
    name="fact_catalog",
    about="What each collection has to be organized: its papers, how many were read, and their facts in numbers.",
    key=("collection",),
    partition_by=None,
    provenance=("code_version",),
    shown="collection",
    columns={
        "collection": collection_column(),
        "papers": Column(pl.Int64(), "papers of the collection", minimum=0),
        "documents": Column(pl.Int64(), "papers of it that have a text", minimum=0),
        "facts": Column(pl.Int64(), "facts of those papers", minimum=0),
        "by_type": Column(pl.List(pl.Struct({"type": pl.String(), "facts": pl.Int64()})), "facts by type, most first"),
        "content_hash": Column(Text, "digest of all members, their texts and their facts, votes included", pattern=HEX_128),
        "code_version": CODE_VERSION,
    },
)

TAXONOMIES = Table(
    name="taxonomies",
    about="The categories that a collection is organized by, each with its criterion, along dimensions that belong to the field.",
    key=("collection", "category_id"),
    partition_by="collection",
    provenance=("code_version",),
    shown="name",
    columns={
        "collection": collection_column(),
        "category_id": Column(Text, "slug of the dimension, a slash, slug of the category", pattern=CATEGORY_ID),
        "taxonomy": Column(Text, "version of the whole taxonomy: the digest of its content", pattern=HEX_128),
        "n": Column(pl.Int64(), "place of the category in the taxonomy, from 0", minimum=0),
        "dimension": Column(Text, "what the category is a value of, such as method family", pattern=ID),
        "dimension_about": Column(Text, "the question that the dimension answers", nullable=True),
        "name": Column(Text, "name of the category", pattern=ID),
        "criterion": Column(Text, "when something belongs to it", pattern=ID),
        "positive_examples": Column(Texts, "names of things that belong to it"),
        "terms": Column(Texts, "words and names by which rules find what belongs to it; its name is always one"),
        "subject_types": Column(Texts, "types of entities that the dimension sorts; empty where it sorts papers by their facts"),
        "parent": Column(Text, "category of the same dimension that this is part of", nullable=True, pattern=CATEGORY_ID),
        "compares": Column(pl.Boolean(), "whether findings are compared along its dimension"),
        "origin": Column(Text, "supplied (a file) or prepared (from the collection)", values=TAXONOMY_ORIGINS),
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

ATTENDED_FACTS = Table(
    name="attended_facts",
    about="L1 as well: what the taxonomy asks for in papers whose facts fit none of its categories. As `facts`, read under one taxonomy.",
    key=("collection", "fact_id"),
    partition_by="collection",
    provenance=("code_version",),
    shown="statement",
    columns={"collection": collection_column("the collection whose taxonomy told what to attend to"), **FACTS.columns},
)

ENTITIES = Table(
    name="entities",
    about="Canonical entities of a collection: one identity for all mentions of one research object.",
    key=("entity_id",),
    partition_by="collection",
    provenance=("code_version",),
    shown="name",
    columns={
        "entity_id": Column(Text, "digest of collection, type and the first of its keys", pattern=ENTITY_ID),
        "collection": collection_column(),
        "type": Column(Text, "what kind of object it is", values=ENTITY_TYPES),
        "name": Column(Text, "the name it is shown by: the commonest of its full forms", pattern=ID),
        "keys": Column(Texts, "normalised forms of its names, sorted"),
        "aliases": Column(Texts, "every other form that occurs, sorted"),
        "mentions": Column(pl.Int64(), "how often it is mentioned", minimum=1),
        "papers": Column(Texts, "papers that mention it, sorted"),
        "rules": Column(Texts, "what merged its forms, sorted; empty where there is one form"),
        "certainty": _CERTAINTY,
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

ENTITY_MENTIONS = Table(
    name="entity_mentions",
    about="Where entities are mentioned: every mention and source is kept, whatever was merged.",
    key=("entity_id", "fact_id", "role", "surface"),
    partition_by="collection",
    provenance=("code_version",),
    shown="surface",
    columns={
        "collection": collection_column(),
        "entity_id": Column(Text, "the entity", pattern=ENTITY_ID),
        "fact_id": Column(Text, "the fact that mentions it", pattern=FACT_ID),
        "paper_id": Column(Text, "the paper of the fact", pattern=ID),
        "role": Column(Text, "what it is in the fact", values=MENTION_ROLES),
        "surface": Column(Text, "the words as they stand there", pattern=ID),
        "key": Column(Text, "their normalised form", pattern=ID),
        "rule": Column(Text, "what led from the form to the entity", pattern=ID),
        "code_version": CODE_VERSION,
    },
)

ENTITY_DECISIONS = Table(
    name="entity_decisions",
    about="Which forms were taken for one object, and which were not: what a rule, a model or a ruling of the taxonomy file said.",
    key=("collection", "type", "left", "right"),
    partition_by="collection",
    provenance=("code_version",),
    shown="reason",
    columns={
        "collection": collection_column(),
        "type": Column(Text, "what kind of objects they are", values=ENTITY_TYPES),
        "left": Column(Text, "one normalised form, the smaller", pattern=ID),
        "right": Column(Text, "the other", pattern=ID),
        "verdict": Column(Text, "same, different, or doubtful: kept apart, for want of grounds", values=VERDICTS),
        "rule": Column(Text, "what decided", pattern=ID),
        "reason": Column(Text, "why, in words"),
        "votes": _VOTES,
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

ASSIGNMENTS = Table(
    name="assignments",
    about="What belongs to which category, on which facts, under which conditions. Assignments of different conditions stay apart: they "
    "are not one guarantee.",
    key=("assignment_id",),
    partition_by="collection",
    provenance=("code_version",),
    shown="rationale",
    columns={
        "assignment_id": Column(Text, "digest of collection, subject, category and facts", pattern=ASSIGNMENT_ID),
        "collection": collection_column(),
        "taxonomy": Column(Text, "version of the taxonomy", pattern=HEX_128),
        "category_id": Column(Text, "the category", pattern=CATEGORY_ID),
        "subject_kind": Column(Text, "entity, or paper where a dimension sorts papers", values=END_KINDS),
        "subject_id": Column(Text, "the entity or the paper", pattern=ID),
        "subject": Column(Text, "its name", pattern=ID),
        "basis": _FACTS,
        "papers": Column(Texts, "papers of those facts, sorted"),
        "conditions": _CONDITIONS,
        "rationale": Column(Text, "why it meets the criterion", pattern=ID),
        "inference": Column(Text, "declared by the authors, or inferred", values=INFERENCES),
        "certainty": _CERTAINTY,
        "verification": _VERIFICATION,
        "votes": _VOTES,
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

UNCLASSIFIED_FACTS = Table(
    name="unclassified_facts",
    about="Facts that fit no category of a dimension, and why: what prompts a look at the taxonomy, or at the paper.",
    key=("collection", "fact_id", "dimension"),
    partition_by="collection",
    provenance=("code_version",),
    shown="reason",
    columns={
        "collection": collection_column(),
        "fact_id": Column(Text, "the fact", pattern=FACT_ID),
        "paper_id": Column(Text, "its paper", pattern=ID),
        "dimension": Column(Text, "the dimension", pattern=ID),
        "taxonomy": Column(Text, "version of the taxonomy", pattern=HEX_128),
        "reason": Column(
            Text, "no_entity (nothing in it to sort), no_category, uncertain (too little for it), tie", values=UNCLASSIFIED_REASONS
        ),
        "nearest": Column(Text, "the category that it comes nearest to", nullable=True, pattern=CATEGORY_ID),
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

TAXONOMY_PROPOSALS = Table(
    name="taxonomy_proposals",
    about="Categories that unclassified facts suggest. Proposals only: a taxonomy is revised by its file.",
    key=("proposal_id",),
    partition_by="collection",
    provenance=("code_version",),
    shown="name",
    columns={
        "proposal_id": Column(Text, "digest of collection, dimension and name", pattern=PROPOSAL_ID),
        "collection": collection_column(),
        "taxonomy": Column(Text, "version of the taxonomy that it would revise", pattern=HEX_128),
        "dimension": Column(Text, "the dimension that it would belong to", pattern=ID),
        "name": Column(Text, "name of the category", pattern=ID),
        "criterion": Column(Text, "when something would belong to it", pattern=ID),
        "positive_examples": Column(Texts, "names of things that would belong to it"),
        "facts": _FACTS,
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

RELATIONS = Table(
    name="relations",
    about="Typed relations between the objects of a collection, anchored in the facts that connect them; and citations between its papers.",
    key=("relation_id",),
    partition_by="collection",
    provenance=("code_version",),
    shown="relation",
    columns={
        "relation_id": Column(Text, "digest of collection, both ends, relation, payload and facts", pattern=RELATION_ID),
        "collection": collection_column(),
        "relation": Column(Text, "what connects them, read from source to target", values=RELATION_KINDS),
        "source_kind": Column(Text, "paper or entity", values=END_KINDS),
        "source_id": Column(Text, "where it leads from", pattern=ID),
        "source": Column(Text, "its name or title", nullable=True),
        "target_kind": Column(Text, "paper or entity", values=END_KINDS),
        "target_id": Column(Text, "where it leads to", pattern=ID),
        "target": Column(Text, "its name or title", nullable=True),
        "payload": Column(PAYLOAD, "what is reported of it, as written: task, metric, value, gain …"),
        "basis": Column(Texts, "ids of the facts that connect the ends, sorted; empty for a citation alone"),
        "evidence": Column(Texts, "ids of their sentences, sorted; empty for a citation alone"),
        "conditions": _CONDITIONS,
        "certainty": _CERTAINTY,
        "verification": _VERIFICATION,
        "votes": _VOTES,
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

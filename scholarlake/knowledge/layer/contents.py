"""What of a collection goes into its index: every object of its layers, the text that it is found by, and what it rests on.

The one place that knows which tables the layers lie in. What does not belong here: how the index is laid out (`index`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from scholarlake.lake.home import Lake

KINDS = ("fact", "assignment", "relation", "entity", "synthesis", "sentence")
"""Kinds of objects that a collection's index has, in its order."""
LAYERS: Mapping[str, int] = {"sentence": 0, "fact": 1, "assignment": 2, "relation": 2, "entity": 2, "synthesis": 3}
"""The layer that a kind belongs to; sentences are the sources below them."""
IDS: Mapping[str, str] = {
    "fact": "fact_id",
    "assignment": "assignment_id",
    "relation": "relation_id",
    "entity": "entity_id",
    "synthesis": "synthesis_id",
    "sentence": "sentence_id",
}
CITES = "cites"
MAX_CHARACTERS = 8_000
"""Of the text that an object is found by."""

Row = Mapping[str, Any]

_NOT_SHOWN = {"shard", "code_version", "collection", "content_hash", "evidence_hash"}  # of every row: which is told elsewhere


@dataclass(frozen=True)
class Entry:
    """One object of a collection. text: what it is found by; None for what is reached from other objects only.

    content: its row, as its table has it. papers: that it is about, sorted. rests_on: ids of objects, and what each is to it.
    """

    object_id: str
    kind: str
    content: Row
    papers: tuple[str, ...]
    text: str | None
    rests_on: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Contents:
    """A collection's papers, the categories of its taxonomy, and its objects, in the order of KINDS."""

    papers: tuple[str, ...]
    categories: tuple[Row, ...]
    entries: tuple[Entry, ...]


def contents(lake: Lake, collection: str) -> Contents:
    """All that a collection holds now."""
    members = lake.scan("collections").filter(pl.col("collection") == collection).select("paper_id").collect()["paper_id"].sort()
    of_papers = pl.col("paper_id").is_in(members.to_list())
    of_collection = pl.col("collection") == collection

    def rows(name: str, where: pl.Expr, *order: str) -> list[dict[str, Any]]:
        kept = [column for column in lake.scan(name).collect_schema().names() if column not in _NOT_SHOWN]
        return lake.scan(name).filter(where).select(kept).sort(order).collect().to_dicts()

    categories = rows("taxonomies", of_collection, "n")
    names = {str(row["category_id"]): row for row in categories}
    mentioned: dict[str, set[str]] = {}
    for entity, fact in lake.scan("entity_mentions").filter(of_collection).select("entity_id", "fact_id").collect().iter_rows():
        mentioned.setdefault(entity, set()).add(fact)
    facts = [*rows("facts", of_papers, "paper_id", "n"), *rows("attended_facts", of_collection, "paper_id", "n", "fact_id")]
    paper_of = {str(row["fact_id"]): str(row["paper_id"]) for row in facts}
    entries = [
        *map(_fact, facts),
        *(_assignment(row, names) for row in rows("assignments", of_collection, "assignment_id")),
        *(_relation(row, paper_of) for row in rows("relations", of_collection, "relation_id")),
        *(_entity(row, mentioned.get(row["entity_id"], set())) for row in rows("entities", of_collection, "entity_id")),
        *map(_synthesis, rows("syntheses", of_collection, "synthesis_id")),
        *map(_sentence, rows("sentences", of_papers, "paper_id", "n")),
    ]
    return Contents(tuple(members), tuple(categories), tuple(entries))


# -- one kind each ---------------------------------------------------------------------------------------------------


def _fact(row: Row) -> Entry:
    evidence = tuple((sentence, "evidence") for sentence in row["evidence"])
    return Entry(row["fact_id"], "fact", row, (row["paper_id"],), fact_text(row), evidence)


def _assignment(row: Row, categories: Mapping[str, Row]) -> Entry:
    ends = [(row["subject_id"], "subject"), (row["category_id"], "category")]
    rests_on = (*ends, *((fact, "basis") for fact in row["basis"]))
    text = assignment_text(row, categories.get(row["category_id"]))
    return Entry(row["assignment_id"], "assignment", row, tuple(row["papers"]), text, rests_on)


def _relation(row: Row, paper_of: Mapping[str, str]) -> Entry:
    ends = [(row["source_id"], "source"), (row["target_id"], "target")]
    rests_on = [*ends, *((fact, "basis") for fact in row["basis"]), *((sentence, "evidence") for sentence in row["evidence"])]
    papers = {paper_of[fact] for fact in row["basis"] if fact in paper_of}
    papers |= {row[f"{end}_id"] for end in ("source", "target") if row[f"{end}_kind"] == "paper"}
    text = None if row["relation"] == CITES and not row["basis"] else relation_text(row)
    return Entry(row["relation_id"], "relation", row, tuple(sorted(papers)), text, tuple(rests_on))


def _entity(row: Row, facts: set[str]) -> Entry:
    return Entry(
        row["entity_id"], "entity", row, tuple(row["papers"]), entity_text(row), tuple((fact, "mention") for fact in sorted(facts))
    )


def _synthesis(row: Row) -> Entry:
    rests_on = tuple(dict.fromkeys((entry["object_id"], entry["role"]) for entry in row["basis"]))
    return Entry(row["synthesis_id"], "synthesis", row, tuple(row["studies"]), synthesis_text(row), rests_on)


def _sentence(row: Row) -> Entry:
    return Entry(row["sentence_id"], "sentence", row, (row["paper_id"],), _cut(row["text"]))


# -- texts -----------------------------------------------------------------------------------------------------------


def fact_text(row: Row) -> str:
    """A statement with its subject and the conditions that it does not say itself."""
    statement = str(row["statement"])
    said = statement.casefold()
    subject = str(row["subject"])
    lead = "" if subject.casefold() in said else f"{subject}: "
    return _cut(lead + statement + _under(row["context"], said))


def assignment_text(row: Row, category: Row | None) -> str:
    named = f"{category['name']} ({category['dimension']})" if category else str(row["category_id"])
    return _cut(f"{row['subject']}: {named}. {row['rationale']}{_under(row['conditions'], str(row['rationale']).casefold())}")


def relation_text(row: Row) -> str:
    reported = "; ".join(f"{entry['name']} {entry['value']}" for entry in row["payload"])
    ends = f"{row['source'] or row['source_id']} {str(row['relation']).replace('_', ' ')} {row['target'] or row['target_id']}"
    return _cut(ends + (f": {reported}" if reported else "") + _under(row["conditions"], ""))


def entity_text(row: Row) -> str:
    also = [alias for alias in row["aliases"] if alias != row["name"]]
    return _cut(f"{row['name']} ({row['type']})" + (f": {', '.join(also)}" if also else ""))


def synthesis_text(row: Row) -> str:
    return _cut(f"{row['title']}\n{row['account']}{_under(row['conditions'], '')}")


def _under(conditions: Sequence[Row], said: str) -> str:
    texts = [str(entry["text"]) for entry in conditions if str(entry["text"]).casefold() not in said]
    return f" ({'; '.join(texts)})" if texts else ""


def _cut(text: str) -> str:
    return text[:MAX_CHARACTERS]


def searched(entries: Sequence[Entry]) -> Iterator[tuple[Entry, str]]:
    """The objects that have a text to be found by, with it."""
    for entry in entries:
        if entry.text is not None:
            yield entry, entry.text

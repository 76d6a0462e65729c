"""What a collection has to be organized: its papers' facts and the short forms that their texts define.

What does not belong here: what is made of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from scholarlake.knowledge.acronyms import definitions
from scholarlake.knowledge.objects import Context, Quantity
from scholarlake.lake.home import Lake

_COLUMNS = ("fact_id", "paper_id", "type", "subject", "statement", "context", "quantities", "evidence", "verification")


@dataclass(frozen=True)
class Stated:
    """A registered fact, as organizing it needs it. evidence: ids of its sentences."""

    fact_id: str
    paper_id: str
    type: str
    subject: str
    statement: str
    context: tuple[Context, ...]
    quantities: tuple[Quantity, ...]
    evidence: tuple[str, ...]
    verification: str

    @property
    def supports(self) -> bool:
        """Whether something may rest on it: a fact that its sentences were found not to support carries nothing."""
        return self.verification != "failed"

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """Its conditions, each once, in order: what rests on it holds under these."""
        return tuple(sorted({(one.kind, one.text) for one in self.context}))


def members_of(lake: Lake, collection: str) -> pl.DataFrame:
    """The papers of a collection and their shards, by id."""
    mine = lake.scan("collections").filter(pl.col("collection") == collection)
    return mine.select("paper_id", "shard").collect().sort("paper_id")


def facts_of(lake: Lake, collection: str, *, attended: bool = True) -> list[Stated]:
    """The facts of a collection's papers, by paper and place; attended: with those that its taxonomy asked for."""
    members = members_of(lake, collection)
    shards = members["shard"].unique().to_list()
    mine = lake.scan("facts").filter(pl.col("shard").is_in(shards)).select(*_COLUMNS, "n").collect()
    parts = [mine.join(members, on="paper_id", how="semi")]
    if attended:
        parts.append(lake.scan("attended_facts").filter(pl.col("collection") == collection).select(*_COLUMNS, "n").collect())
    rows = pl.concat(parts).unique("fact_id").sort("paper_id", "n", "fact_id")
    return [_stated(row) for row in rows.iter_rows(named=True)]


def short_forms_of(lake: Lake, collection: str) -> dict[str, dict[str, str]]:
    """paper → the short forms that its text defines, each with its long form."""
    members = members_of(lake, collection)
    said = lake.scan("sentences").filter(pl.col("shard").is_in(members["shard"].unique().to_list()))
    bracketed = said.filter(pl.col("text").str.contains(r"[(\[]")).select("paper_id", "n", "text").collect()
    texts: dict[str, list[str]] = {}
    for paper_id, _, text in bracketed.join(members, on="paper_id", how="semi").sort("paper_id", "n").iter_rows():
        texts.setdefault(paper_id, []).append(text)
    return {paper_id: found for paper_id, some in texts.items() if (found := definitions(some))}


def titles_of(lake: Lake, collection: str) -> dict[str, str | None]:
    """The titles of a collection's papers that have a document."""
    members = members_of(lake, collection)
    known = lake.scan("documents").filter(pl.col("shard").is_in(members["shard"].unique().to_list())).select("paper_id", "title")
    return dict(known.collect().join(members, on="paper_id", how="semi").iter_rows())


def by_paper(facts: Sequence[Stated]) -> dict[str, list[Stated]]:
    found: dict[str, list[Stated]] = {}
    for fact in facts:
        found.setdefault(fact.paper_id, []).append(fact)
    return found


def _stated(row: Mapping[str, Any]) -> Stated:
    return Stated(
        row["fact_id"],
        row["paper_id"],
        row["type"],
        row["subject"],
        row["statement"],
        tuple(Context(**one) for one in row["context"]),
        tuple(Quantity(**one) for one in row["quantities"]),
        tuple(row["evidence"]),
        row["verification"],
    )

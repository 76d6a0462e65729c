"""Facts of a release as plain values, each with the sentences that say it: what a reader of the release looks up.

What does not belong here: how facts are made (`readers`), and views that choose among them for a question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from scholarlake.errors import NotFound

if TYPE_CHECKING:
    from scholarlake.door import ReleaseReader

_TOLD = ("fact_id", "paper_id", "type", "study_type", "subject", "statement", "context", "quantities", "evidence", "verification", "votes")


def facts_of(reader: ReleaseReader, paper_id: str) -> list[dict[str, Any]]:
    """What a paper states, in reading order. Raises NotFound where there is no such paper, or no fact of it."""
    paper = reader.paper(paper_id, "id")
    shard = reader.lake.shard_of(paper.paper_id)
    rows = reader.table("facts").filter(pl.col("shard") == shard, pl.col("paper_id") == paper.paper_id).sort("n").collect().to_dicts()
    if not rows:
        raise NotFound(
            f"release {reader.release.name} holds no facts of {paper.paper_id}; facts are looked for in papers of collections alone"
        )
    return _told(reader, shard, rows)


def fact(reader: ReleaseReader, fact_id: str) -> dict[str, Any]:
    """One fact. Raises NotFound where this release has none of that id."""
    rows = reader.table("facts").filter(pl.col("fact_id") == fact_id).collect().to_dicts()
    if not rows:
        raise NotFound(f"release {reader.release.name} holds no fact {fact_id[:80]!r}; take an id from the facts of a paper")
    return _told(reader, str(rows[0]["shard"]), rows)[0]


def _told(reader: ReleaseReader, shard: str, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Facts with the words of their evidence in place of its ids alone."""
    wanted = {sentence for row in rows for sentence in row["evidence"]}
    sentences = reader.table("sentences").filter(pl.col("shard") == shard, pl.col("sentence_id").is_in(wanted))
    texts = dict(sentences.select("sentence_id", "text").collect().iter_rows())
    return [
        {name: row[name] for name in _TOLD}
        | {"evidence": [{"id": one, "text": texts.get(one)} for one in row["evidence"]], "method": row["method"]}
        for row in rows
    ]

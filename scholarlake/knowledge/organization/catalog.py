"""`fact_catalog`: what each collection has to be organized, and in which version: what all of L2 of a collection is made from.

What does not belong here: choosing papers (`corpus.selection`), reading them (`facts`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import polars as pl

from scholarlake.lake import contracts, delta
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake


@dataclass(frozen=True)
class CatalogReport:
    """What there is. contents: collection → digest of all that its organization is made from."""

    contents: Mapping[str, str]
    facts: Mapping[str, int]
    written: delta.Written


def build_catalog(lake: Lake, run: delta.Commit) -> CatalogReport:
    """One row a collection, those of no papers included."""
    names = lake.scan("collection_catalog").select("collection").collect()["collection"].sort().to_list()
    members = lake.scan("collections").select("collection", "paper_id", "shard").collect().sort("collection", "paper_id")
    chosen = members.select("paper_id", "shard").unique()
    shards = pl.col("shard").is_in(chosen["shard"].unique().implode())
    read = lake.scan("fact_sources").filter(shards).select("paper_id", "content_hash").collect().join(chosen, on="paper_id", how="semi")
    columns = ["paper_id", "fact_id", "type", "verification", "votes"]
    stated = lake.scan("facts").filter(shards).select(columns).collect().join(chosen, on="paper_id", how="semi")
    documents = dict(read.iter_rows())
    facts: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for row in stated.sort("paper_id", "fact_id").iter_rows():
        facts[row[0]].append(row[1:])
    rows = []
    for name in names:
        papers = members.filter(pl.col("collection") == name)["paper_id"].to_list()
        mine = [fact for paper in papers for fact in facts[paper]]
        types = Counter(fact[1] for fact in mine)
        rows.append(
            {
                "collection": name,
                "papers": len(papers),
                "documents": sum(paper in documents for paper in papers),
                "facts": len(mine),
                "by_type": [{"type": type_, "facts": count} for type_, count in sorted(types.items(), key=lambda one: (-one[1], one[0]))],
                "content_hash": digest(_said_of(papers, documents, facts)),
                "code_version": run.code_version,
            }
        )
    written = delta.write_partition(lake, "fact_catalog", None, pl.DataFrame(rows, schema=contracts.FACT_CATALOG.schema), run)
    return CatalogReport(
        {row["collection"]: row["content_hash"] for row in rows}, {row["collection"]: row["facts"] for row in rows}, written
    )


def _said_of(papers: list[str], documents: Mapping[str, str], facts: Mapping[str, list[tuple[Any, ...]]]) -> list[str]:
    """All that counts of a collection, paper by paper."""
    said = []
    for paper in papers:
        said += ["paper", paper, documents.get(paper, "")]
        for fact_id, _, verification, votes in facts[paper]:
            said += [fact_id, verification, orjson.dumps(votes).decode() if votes else ""]
    return said

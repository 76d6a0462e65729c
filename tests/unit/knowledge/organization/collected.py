"""A collection of papers made by hand, read by the rules, ready to be organized."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from scholarlake.documents.maps import build_documents, build_sentences
from scholarlake.knowledge.extractive import Extractive, Limits
from scholarlake.knowledge.facts import build_facts
from scholarlake.knowledge.organization.catalog import CatalogReport, build_catalog
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from tests.unit.small_lake import COMMIT, frame, make_lake, paper

NAME = "mine"
BY_RULES = Extractive(Limits(of_full_text=30, of_abstract=8))

PAPERS = {
    "a": "We prove that noncommutative gauge theory is equivalent to ordinary gauge theory in the large N limit.",
    "b": "We show that supersymmetric gauge theory has an exact solution at finite temperature.",
    "c": "It is shown that the noncommutative gauge theory is unstable at finite temperature.",
    "d": "We show that noncommutative gauge theory admits a closed form solution if the charge is small.",
    "e": "We prove that lattice gauge theory is equivalent to a spin chain at finite temperature.",
}
TITLES = {name: f"On {name}s of gauge theory" for name in PAPERS}


def collected(
    lake: Lake,
    papers: Mapping[str, str] = PAPERS,
    *,
    members: Mapping[str, list[str]] | None = None,
    citations: list[tuple[str, str]] | None = None,
    titles: Mapping[str, str] | None = None,
) -> CatalogReport:
    """Make these abstracts the facts of the collections, one of all papers where none are given."""
    rows = [
        paper(name, (TITLES if titles is None else titles).get(name, f"A paper on {name}"), abstract=text) for name, text in papers.items()
    ]
    make_lake(lake.root, rows, citations or [], shards=lake.shards)
    chosen = members if members is not None else {NAME: list(papers)}
    of = [{"collection": name, "paper_id": one, "shard": lake.shard_of(one)} for name, some in chosen.items() for one in some]
    for name in {*chosen, *delta.partitions(lake, "collections")}:
        delta.write_partition(lake, "collections", name, frame("collections", [row for row in of if row["collection"] == name]), COMMIT)
    catalog = frame("collection_catalog", [{"collection": name} for name in chosen])
    delta.write_partition(lake, "collection_catalog", None, catalog, COMMIT)
    every = pl.DataFrame({"paper_id": list(papers)}, schema={"paper_id": pl.String})
    for shard in lake.shard_keys:
        build_documents(lake, shard, every, COMMIT)
        build_sentences(lake, shard, COMMIT)
        build_facts(lake, shard, BY_RULES, COMMIT)
    return build_catalog(lake, COMMIT)


def rows(lake: Lake, *tables: str) -> dict[str, list[str]]:
    """What tables hold, as sets of rows."""
    found = {}
    for name in tables:
        held = lake.scan(name).collect()
        found[name] = sorted(held.select(pl.struct(pl.all()).struct.json_encode()).to_series().to_list()) if held.height else []
    return found

"""Lakes of a few papers, laid down through the one writer, for tests of what reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from scholarlake.corpus import csr
from scholarlake.dense.index import build_index
from scholarlake.lake import artifacts, contracts, delta
from scholarlake.lake.files import write_json
from scholarlake.lake.hashing import shard_of, stable_key, text_hash
from scholarlake.lake.home import TRAIN_BATCHES, Lake
from scholarlake.lake.releases import PinnedArtifact, PinnedTable, Release
from scholarlake.models.answers import embed_query
from scholarlake.models.config import Endpoint, open_embedder
from scholarlake.profile import Dense
from scholarlake.search.index import build_search_index

COMMIT = delta.Commit("test", "0")
EMBEDDER = Endpoint(backend="hashing", model="hashing", dimension=64)
_PLAIN: dict[str, Any] = {"shard": "00", "method": "test", "code_version": "0"}


def paper(paper_id: str, title: str | None = None, **fields: Any) -> dict[str, Any]:
    """A row of papers with what matters to a test; its records are itself and those that `record_ids` names."""
    return {"paper_id": paper_id, "title": title, "record_ids": [paper_id], **fields}


def frame(table: str, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows of a contracted table; what a row leaves out is null, empty or 0."""
    contract = contracts.table(table)
    return pl.DataFrame([{name: _value(name, column, row) for name, column in contract.columns.items()} for row in rows], contract.schema)


def make_lake(
    root: Path,
    papers: Iterable[Mapping[str, Any]],
    citations: Iterable[tuple[str, str]] = (),
    vectors: Mapping[str, tuple[int, list[float]]] | None = None,
    shards: int = 2,
    model: str = "test",
    train_batches: int = TRAIN_BATCHES,
) -> Lake:
    """A lake with papers, identities, citations, degrees and embeddings that agree with each other."""
    lake = Lake.open_or_create(root, shards, train_batches)
    rows = [{**row, "shard": lake.shard_of(row["paper_id"]), "paper_key": stable_key(row["paper_id"])} for row in papers]
    edges = [{"citing_id": a, "cited_id": b, "shard": lake.shard_of(a)} for a, b in citations]
    cited, citing = Counter(edge["cited_id"] for edge in edges), Counter(edge["citing_id"] for edge in edges)
    tables: dict[str, list[dict[str, Any]]] = {
        "papers": rows,
        "identities": [
            {"record_id": record, "paper_id": row["paper_id"], "shard": row["shard"], "copies": 1, "is_current": True, "rule": "same_doi"}
            for row in rows
            for record in row["record_ids"]
        ],
        "work_versions": [{**row, "rule": "title_and_author"} for row in rows if row.get("version_of")],
        "citations": edges,
        "degrees": [
            {
                "paper_id": row["paper_id"],
                "shard": row["shard"],
                "in_degree": cited[row["paper_id"]],
                "out_degree": citing[row["paper_id"]],
                "total_degree": cited[row["paper_id"]] + citing[row["paper_id"]],
                "is_core": cited[row["paper_id"]] >= 2,
                "reason": "core",
            }
            for row in rows
        ],
        "embeddings": [
            {
                "paper_id": name,
                "shard": lake.shard_of(name),
                "faiss_id": number,
                "text_hash": text_hash(name),
                "model": model,
                "vector": vector,
            }
            for name, (number, vector) in (vectors or {}).items()
        ],
    }
    for table, found in tables.items():
        for shard in lake.shard_keys:
            delta.write_partition(lake, table, shard, frame(table, [row for row in found if row["shard"] == shard]), COMMIT)
    return lake


def _value(name: str, column: contracts.Column, row: Mapping[str, Any]) -> Any:
    if name in row:
        return row[name]
    if name in _PLAIN:
        return _PLAIN[name]
    if isinstance(column.dtype, pl.List):
        return []
    if column.nullable:
        return None
    return "" if column.dtype == pl.String else False if column.dtype == pl.Boolean else 0


def release(
    lake: Lake, name: str = "r0001", embedder: Mapping[str, Any] | None = None, **more: Mapping[str, artifacts.Artifact]
) -> Release:
    """A release of the lake as it stands, with its search index and citation graph, and what else is given."""
    made = {
        "search_index": {artifacts.WHOLE: artifacts.publish(lake, "search_index", None, lambda folder: build_search_index(lake, folder))},
        "citation_graph": {artifacts.WHOLE: artifacts.publish(lake, "citation_graph", None, lambda folder: csr.build(folder, lake))},
        **more,
    }
    pins = {
        asset: {partition: PinnedArtifact(one.path, one.digest, one.bytes, dict(one.facts)) for partition, one in parts.items()}
        for asset, parts in made.items()
    }
    tables = {
        table: PinnedTable(
            lake.table_path(table).relative_to(lake.root).as_posix(), version, lake.scan(table).select(pl.len()).collect().item()
        )
        for table in contracts.TABLES
        if (version := delta.version(lake, table)) is not None
    }
    found = Release(name, "2030-01-02T03:04:05+00:00", lake.shards, {}, dict(embedder or {}), tables, pins, {})
    write_json(lake.releases / f"{name}.json", asdict(found))
    return found


def searchable(root: Path, papers: Sequence[Mapping[str, Any]], citations: Iterable[tuple[str, str]], embedded: int | None = None) -> Lake:
    """A lake with one release and all its indices; the vectors of the first so many papers are made of their titles by EMBEDDER."""
    embedder, numbers = open_embedder(EMBEDDER, "hashing"), {"00": 0, "01": 0}
    vectors = {}
    for row in papers[:embedded]:
        shard = shard_of(row["paper_id"], len(numbers))
        vectors[row["paper_id"]] = (int(shard) * 10**10 + numbers[shard], embed_query(embedder, row["title"]).tolist())
        numbers[shard] += 1
    made = make_lake(root, papers, citations, vectors, model=embedder.fingerprint)
    indices = {shard: build_index(made, shard, embedder.fingerprint, embedder.dimension, Dense()).artifact for shard in made.shard_keys}
    facts = {"name": "hashing", "fingerprint": embedder.fingerprint, "endpoint": EMBEDDER.model_dump(exclude_defaults=True)}
    release(made, embedder=facts, vector_index=indices)
    return made

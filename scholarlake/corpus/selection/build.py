"""The tables of collections: what was chosen and why, made anew only for a collection whose file or corpus changed.

A collection's papers depend on its definition, on the code, and on those tables that its kind of choice reads. A note of these lies in the
spool beside the number of rows that they gave; where both still hold, the collection is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from scholarlake.corpus.progress import Progress, silent
from scholarlake.corpus.selection import conditions, representatives, topics
from scholarlake.corpus.selection.candidates import Candidates
from scholarlake.corpus.selection.choice import Choice, Tools
from scholarlake.corpus.selection.definition import Collection, First
from scholarlake.corpus.selection.words import Words
from scholarlake.lake import contracts, delta
from scholarlake.lake.content import Content
from scholarlake.lake.delta import Commit, Written, combined
from scholarlake.lake.files import read_json, write_json
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.models.protocol import Embedder


@dataclass(frozen=True)
class CollectionsReport:
    """What was made. collections: name → its row of `collection_catalog`. chosen_anew: those that were not left as they were.

    members, by_shard: collection or shard → version of what was chosen there. version: of `collections`.
    """

    collections: Mapping[str, Mapping[str, Any]]
    chosen_anew: tuple[str, ...]
    retired: tuple[str, ...]
    members: Mapping[str, str]
    by_shard: Mapping[str, str]
    rows: int
    inserted: int
    updated: int
    deleted: int
    content_version: str
    version: int | None
    catalog_version: int | None


def build_collections(
    lake: Lake, collections: Mapping[str, Collection], embedder: Callable[[], Embedder], run: Commit, progress: Progress = silent
) -> CollectionsReport:
    """Bring `collections` and `collection_catalog` in line with the definitions; collections that are none of them go.

    collections: by name, with nothing left to the profile. run: its inputs are the data versions of the assets that choices read.
    """
    candidates = Candidates(lake)
    words = Words(candidates, progress)
    tools = Tools(candidates, words, embedder, progress)
    written: dict[str, Written] = {}
    rows: dict[str, dict[str, Any]] = {}
    members: dict[str, str] = {}
    try:
        for name, collection in sorted(collections.items()):
            note = _Note(lake, name, _basis(collection, run))
            if (kept := note.kept()) is not None:
                rows[name], members[name] = kept, note.content
                continue
            choice = choose(tools, collection)
            written[name] = delta.write_partition(lake, "collections", name, _members(collection, choice, candidates, run), run)
            rows[name], members[name] = _summary(choice), written[name].content_version
            note.keep(members[name], rows[name])
    finally:
        words.close()
    retired = sorted(set(delta.partitions(lake, "collections")) - set(collections))
    for name in retired:
        empty = pl.DataFrame(schema=contracts.COLLECTIONS.schema)
        written[name] = delta.write_partition(lake, "collections", name, empty, run)
    catalog = {name: {**_about(collection), **rows[name]} for name, collection in sorted(collections.items())}
    listed = delta.write_partition(lake, "collection_catalog", None, _catalog(catalog, run), run)
    return CollectionsReport(
        collections=catalog,
        chosen_anew=tuple(name for name in written if name in collections),
        retired=tuple(retired),
        members=members,
        by_shard=_by_shard(lake),
        rows=sum(row["chosen"] for row in catalog.values()),
        inserted=sum(one.inserted for one in written.values()),
        updated=sum(one.updated for one in written.values()),
        deleted=sum(one.deleted for one in written.values()),
        content_version=digest([combined(members), listed.content_version]),
        version=delta.version(lake, "collections"),
        catalog_version=listed.version,
    )


def choose(tools: Tools, collection: Collection) -> Choice:
    """The papers of one collection, in whichever way it asks for."""
    if collection.representatives is not None:
        return representatives.choose(tools, collection.where, collection.representatives)
    if collection.topics is not None:
        return topics.choose(tools, collection.where, collection.topics)
    assert collection.where is not None, "a definition says one of the three"
    return conditions.first(tools, collection.where, collection.first or First())


def _members(collection: Collection, choice: Choice, candidates: Candidates, run: Commit) -> pl.DataFrame:
    """The rows of a collection."""
    chosen = candidates.frame[choice.numbers]
    return chosen.select(
        pl.lit(collection.name).alias("collection"),
        "paper_id",
        "shard",
        pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("rank"),
        pl.Series("role", choice.roles, pl.String),
        pl.Series("rule", _rules(choice, candidates), pl.String),
        pl.lit(None, pl.Float64).alias("score") if choice.scores is None else pl.Series("score", choice.scores, pl.Float64),
        pl.Series("topic", choice.topics or [None] * chosen.height, pl.String),
        pl.Series("cluster", choice.clusters or [None] * chosen.height, pl.Int32),
        pl.lit(collection.method).alias("method"),
        pl.lit(run.code_version).alias("code_version"),
    )


def _rules(choice: Choice, candidates: Candidates) -> list[str]:
    """What chose each paper, and why it and no other version of its work."""
    beside = candidates.versions_beside(choice.numbers)
    return [rule if others is None else f"{rule}; {others}" for rule, others in zip(choice.rules, beside, strict=True)]


def _about(collection: Collection) -> dict[str, Any]:
    return {
        "title": collection.title,
        "about": collection.about,
        "method": collection.method,
        "definition": collection.model_dump_json(exclude=_WORDS, exclude_none=True, by_alias=True),
    }


def _summary(choice: Choice) -> dict[str, Any]:
    return {
        "wanted": choice.wanted,
        "matched": choice.matched,
        "chosen": len(choice.numbers),
        "shortfall": choice.shortfall,
        "unknown_ids": sorted(set(choice.unknown_ids)),
        "withdrawn_ids": sorted(set(choice.withdrawn_ids)),
    }


def _catalog(catalog: Mapping[str, Mapping[str, Any]], run: Commit) -> pl.DataFrame:
    rows = [{"collection": name, **row, "code_version": run.code_version} for name, row in catalog.items()]
    return pl.DataFrame(rows, schema=contracts.COLLECTION_CATALOG.schema)


def _by_shard(lake: Lake) -> dict[str, str]:
    """Of each shard a digest of the papers that any collection chose."""
    chosen = lake.scan("collections").select("shard", "paper_id").unique().sort("paper_id").collect()
    found = {str(shard): digest(part["paper_id"]) for (shard,), part in chosen.group_by("shard", maintain_order=True)}
    return {shard: found.get(shard, digest([])) for shard in lake.shard_keys}


# -- what need not be chosen again -----------------------------------------------------------------------------------

_WORDS = {"name", "title", "about", "taxonomy"}  # what no paper is chosen by


def _basis(collection: Collection, run: Commit) -> str:
    """One name for all that a collection's papers depend on."""
    read = [f"{asset}={run.inputs.get(asset)}" for asset in sorted(collection.reads)]
    return digest([collection.model_dump_json(exclude=_WORDS), run.code_version, *read])


class _Note:
    """What a collection's rows were made from. content: the version of the rows that it speaks of."""

    def __init__(self, lake: Lake, name: str, basis: str) -> None:
        self._lake, self._name, self._basis = lake, name, basis
        self._path: Path = lake.spool("collections", f"{name}.json")
        self.content = ""

    def kept(self) -> dict[str, Any] | None:
        """The summary of the rows that are there, None where they are not known to be what the basis makes."""
        if not self._path.is_file():
            return None
        note = read_json(self._path)
        present: Content = delta.partition_content(self._lake, "collections", self._name)
        if note["basis"] != self._basis or note["content"] != present.version:
            return None
        self.content = present.version
        return dict(note["summary"])

    def keep(self, content: str, summary: Mapping[str, Any]) -> None:
        write_json(self._path, {"basis": self._basis, "content": content, "summary": dict(summary)})

"""An object of the registry with all that it rests on, down to the sentences of the papers.

What does not belong here: how that is shown (`lines`, `page`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from scholarlake.door import ReleaseReader
from scholarlake.errors import NotFound
from scholarlake.knowledge.objects import evidence_hash
from scholarlake.knowledge.registry.reading import Event, Registry, Version
from scholarlake.lake import releases

AROUND = 1  # sentences before and behind one that is cited
_OLDER = 10  # releases that are looked into for sentences that are others by now


@dataclass(frozen=True)
class Source:
    """A paper. notes: that it is a preprint of another, that it was withdrawn."""

    paper_id: str
    title: str | None
    year: int | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Passage:
    """Sentences of one section in their order. cited: whether the object rests on a sentence, or it only stands beside one that it does."""

    section: tuple[str, ...]
    sentences: tuple[tuple[str, str, bool], ...]  # id, text, cited


@dataclass(frozen=True)
class Node:
    """An object in the version that is meant. role, why: what it is to what rests on it. since: what became of it after that version.

    passages: of a fact, what its paper says; note: why there are none."""

    object: Version
    role: str | None = None
    why: str | None = None
    since: str | None = None
    source: Source | None = None
    passages: tuple[Passage, ...] = ()
    note: str | None = None
    basis: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Trace:
    """A traced object, with its versions and what happened to it. release: that was looked into."""

    node: Node
    versions: tuple[Version, ...]
    events: tuple[Event, ...]
    studies: tuple[Source, ...]
    release: str

    @property
    def object(self) -> Version:
        return self.node.object

    @property
    def gone(self) -> str | None:
        """Since when it does not stand, and why; None where it does."""
        one = self.object
        return None if one.stands else f"{one.status} since {one.changed_at:%Y-%m-%d %H:%M} UTC: {one.reason}"


class Tracer:
    """Traces objects of a release and what tasks made since. Its look at papers and sentences is kept from one trace to the next."""

    def __init__(self, reader: ReleaseReader) -> None:
        self._reader = reader
        self._registry = Registry.over(reader)
        self._sources: dict[str, Source] = {}
        self._texts: dict[str, dict[int, tuple[str, tuple[str, ...]]]] = {}

    def trace(self, id: str, version: int | None = None) -> Trace:
        """By the id of an object, or of an asset: in the version that is meant, or a given one. Raises NotFound where no such object, or
        version of it, was ever registered."""
        found = self._registry.find(id)
        if version is not None:
            found = self._registry.version(found.asset_id, version)
        node = self._node(found, None, None, {})
        studies = tuple(self._source(paper) for paper in found.content.get("studies", ()))
        history, events = self._registry.history(found.asset_id), self._registry.events(found.asset_id)
        return Trace(node, tuple(history), tuple(events), studies, self._reader.release.name)

    def accounts(self, collection: str | None = None) -> list[str]:
        """Ids of the accounts that stand, of a collection or of all, by kind and title. Raises NotFound for a collection of no account."""
        stand = pl.col("status").is_in(["current", "needs_recheck"]) & (pl.col("kind") == "synthesis")
        rows = self._registry.rows().filter(stand).select("collection", "title", "object_id").collect()
        there = sorted(set(rows["collection"]))
        if collection is not None and collection not in there:
            raise NotFound(f"no account of a collection {collection!r}; there are accounts of: {', '.join(there) or 'none'}")
        mine = rows if collection is None else rows.filter(pl.col("collection") == collection)
        return mine.sort("collection", "title", "object_id")["object_id"].to_list()

    def _node(self, one: Version, role: str | None, why: str | None, seen: Mapping[str, None]) -> Node:
        content = one.content
        below = {**seen, one.object_id: None}  # nothing rests on itself, whatever a table says
        if one.kind == "fact":
            source, passages, note = self._evidence(content)
            return Node(one, role, why, self._since(one), source, passages, note)
        named = [
            (entry["object_id"], entry["role"], entry["why"]) if isinstance(entry, Mapping) else (entry, "evidence", None)
            for entry in content.get("basis") or ()
        ]
        objects = self._registry.objects([id for id, *_ in named])
        basis = tuple(self._node(objects[id], of, because, below) for id, of, because in named if id in objects and id not in below)
        return Node(one, role, why, self._since(one), basis=basis)

    def _since(self, one: Version) -> str | None:
        if one.status == "current":
            return None
        return f"{one.status.replace('_', ' ')} since {one.changed_at:%Y-%m-%d}: {one.reason}"

    # -- papers --------------------------------------------------------------------------------------------------------

    def _evidence(self, content: Mapping[str, Any]) -> tuple[Source, tuple[Passage, ...], str | None]:
        """The paper of a fact and what it says around the sentences that are cited, as they were when the fact was read off them."""
        paper = content["paper_id"]
        wanted = [int(id.rsplit(":", 1)[1]) for id in content["evidence"]]
        source = self._source(paper)
        if self._fits(texts := self._sentences(paper), wanted, content["evidence_hash"]):
            return source, _passages(paper, texts, wanted), None
        for name in reversed(releases.names(self._reader.lake)[-_OLDER:]):
            texts = self._read(paper, name)
            if self._fits(texts, wanted, content["evidence_hash"]):
                return source, _passages(paper, texts, wanted), f"as release {name} has it; the paper says otherwise by now"
        return source, (), "the sentences that it was read off are not in any release that is kept"

    def _fits(self, texts: Mapping[int, tuple[str, tuple[str, ...]]], wanted: Iterable[int], digest: str) -> bool:
        places = list(wanted)
        return all(n in texts for n in places) and evidence_hash(texts[n][0] for n in places) == digest

    def _sentences(self, paper: str) -> dict[int, tuple[str, tuple[str, ...]]]:
        if paper not in self._texts:
            self._texts[paper] = self._read(paper, None)
        return self._texts[paper]

    def _read(self, paper: str, release: str | None) -> dict[int, tuple[str, tuple[str, ...]]]:
        reader = self._reader if release is None else ReleaseReader(self._reader.lake, releases.load(self._reader.lake, release))
        mine = (pl.col("shard") == reader.lake.shard_of(paper)) & (pl.col("paper_id") == paper)
        rows = reader.table("sentences").filter(mine).select("n", "text", "sections").collect()
        return {n: (text, tuple(sections)) for n, text, sections in rows.iter_rows()}

    def _source(self, paper: str) -> Source:
        if paper not in self._sources:
            mine = (pl.col("shard") == self._reader.lake.shard_of(paper)) & (pl.col("paper_id") == paper)
            columns = ["title", "year", "version_of", "withdrawn"]
            rows = self._reader.table("papers").filter(mine).select(columns).collect()
            if rows.is_empty():
                self._sources[paper] = Source(paper, None, None, ("not in this release",))
            else:
                title, year, version_of, withdrawn = rows.row(0)
                notes = (f"a version of {version_of}",) if version_of else ()
                self._sources[paper] = Source(paper, title, year, (*notes, *(("withdrawn",) if withdrawn else ())))
        return self._sources[paper]


def _passages(paper: str, texts: Mapping[int, tuple[str, tuple[str, ...]]], cited: Iterable[int]) -> tuple[Passage, ...]:
    """Cited sentences with those around them in the same section, run together where they touch."""
    wanted = set(cited)
    shown: set[int] = set()
    for n in wanted:
        section = texts[n][1]
        shown |= {at for at in range(n - AROUND, n + AROUND + 1) if at in texts and texts[at][1] == section}
    found: list[list[int]] = []
    for n in sorted(shown):
        if found and found[-1][-1] == n - 1 and texts[n - 1][1] == texts[n][1]:
            found[-1].append(n)
        else:
            found.append([n])
    return tuple(Passage(texts[run[0]][1], tuple((f"{paper}:{n}", texts[n][0], n in wanted) for n in run)) for run in found)

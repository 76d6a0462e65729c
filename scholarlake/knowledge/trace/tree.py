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
#: Place of a sentence in its paper → its text and the headings above it.
Texts = dict[int, tuple[str, tuple[str, ...]]]
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
    """Traces objects of a release and what tasks made since. Its look at papers and sentences is kept from one trace to the next.

    many: whether much of the registry will be traced, which is then held in memory.
    """

    def __init__(self, reader: ReleaseReader, *, many: bool = False) -> None:
        self._reader = reader
        self._registry = Registry.over(reader).held() if many else Registry.over(reader)
        self._objects: dict[str, Version] = {}
        self._sources: dict[str, Source] = {}
        self._texts: dict[str, Texts] = {}

    def trace(self, id: str, version: int | None = None) -> Trace:
        """By the id of an object, or of an asset: in the version that is meant, or a given one. Raises NotFound where no such object, or
        version of it, was ever registered."""
        found = self._registry.find(id)
        if version is not None:
            found = self._registry.version(found.asset_id, version)
        self._gather([found])
        node = self._node(found, None, None, {})
        studies = tuple(self._sources[paper] for paper in found.content.get("studies") or ())
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
        there = ((self._objects[id], of, because) for id, of, because in named if id in self._objects and id not in below)
        basis = tuple(self._node(*entry, below) for entry in there)
        return Node(one, role, why, self._since(one), basis=basis)

    def _since(self, one: Version) -> str | None:
        if one.status == "current":
            return None
        return f"{one.status.replace('_', ' ')} since {one.changed_at:%Y-%m-%d}: {one.reason}"

    def _gather(self, level: list[Version]) -> None:
        """Look up all that some objects rest on, level by level, and what papers say of it: each once."""
        papers: set[str] = set()
        while level:
            self._objects.update({one.object_id: one for one in level})
            papers.update(one.content["paper_id"] for one in level if one.kind == "fact")
            papers.update(paper for one in level for paper in one.content.get("studies") or ())
            named = {
                entry["object_id"] if isinstance(entry, Mapping) else entry for one in level for entry in one.content.get("basis") or ()
            }
            level = list(self._registry.objects(sorted(named - self._objects.keys())).values())
        self._look_up(papers)

    # -- papers --------------------------------------------------------------------------------------------------------

    def _look_up(self, papers: set[str]) -> None:
        if new := sorted(papers - self._sources.keys()):
            self._texts |= _texts(self._reader, new)
            self._sources |= _sources(self._reader, new)

    def _evidence(self, content: Mapping[str, Any]) -> tuple[Source, tuple[Passage, ...], str | None]:
        """The paper of a fact and what it says around the sentences that are cited, as they were when the fact was read off them."""
        paper = content["paper_id"]
        wanted = [int(id.rsplit(":", 1)[1]) for id in content["evidence"]]
        source, texts = self._sources[paper], self._texts.get(paper, {})
        if _fits(texts, wanted, content["evidence_hash"]):
            return source, _passages(paper, texts, wanted), None
        lake = self._reader.lake
        for name in reversed(releases.names(lake)[-_OLDER:]):
            texts = _texts(ReleaseReader(lake, releases.load(lake, name)), [paper]).get(paper, {})
            if _fits(texts, wanted, content["evidence_hash"]):
                return source, _passages(paper, texts, wanted), f"as release {name} has it; the paper says otherwise by now"
        return source, (), "the sentences that it was read off are not in any release that is kept"


def _of_papers(reader: ReleaseReader, table: str, papers: list[str], *columns: str) -> pl.DataFrame:
    shards = sorted({reader.lake.shard_of(paper) for paper in papers})
    mine = pl.col("shard").is_in(shards) & pl.col("paper_id").is_in(papers)
    return reader.table(table).filter(mine).select("paper_id", *columns).collect()


def _texts(reader: ReleaseReader, papers: list[str]) -> dict[str, Texts]:
    found: dict[str, Texts] = {}
    for paper, n, text, sections in _of_papers(reader, "sentences", papers, "n", "text", "sections").iter_rows():
        found.setdefault(paper, {})[n] = (text, tuple(sections))
    return found


def _sources(reader: ReleaseReader, papers: list[str]) -> dict[str, Source]:
    found = {paper: Source(paper, None, None, ("not in this release",)) for paper in papers}
    rows = _of_papers(reader, "papers", papers, "title", "year", "version_of", "withdrawn")
    for paper, title, year, version_of, withdrawn in rows.iter_rows():
        notes = (*((f"a version of {version_of}",) if version_of else ()), *(("withdrawn",) if withdrawn else ()))
        found[paper] = Source(paper, title, year, notes)
    return found


def _fits(texts: Texts, wanted: list[int], digest: str) -> bool:
    """Whether these are the sentences that a fact was read off."""
    return all(n in texts for n in wanted) and evidence_hash(texts[n][0] for n in wanted) == digest


def _passages(paper: str, texts: Texts, cited: Iterable[int]) -> tuple[Passage, ...]:
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

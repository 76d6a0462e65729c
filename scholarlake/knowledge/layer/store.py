"""The objects of a collection as items: read from the index and from what tasks made, with what the registry and the corpus know of them.

All operations read through this. What does not belong here: which objects an operation wants.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from scholarlake.knowledge.layer import overlay as overlays
from scholarlake.knowledge.layer.items import AnyItem, from_row
from scholarlake.knowledge.layer.overlay import Overlay
from scholarlake.knowledge.layer.reader import KnowledgeIndex, Link, Stored, Within
from scholarlake.knowledge.layer.register import STANDS, Known, Register
from scholarlake.knowledge.layer.view import BadRequest, PaperRef, Request, View
from scholarlake.lake import contracts, delta
from scholarlake.models.protocol import Embedder, Vectors

if TYPE_CHECKING:
    from scholarlake.door import ReleaseReader


@dataclass(frozen=True)
class _Working:
    """What the registry at work holds at one of its versions."""

    version: int | None
    register: Register
    overlay: Overlay


class Store:
    """A collection of a release. Safe to use from several threads."""

    def __init__(self, reader: ReleaseReader, collection: str, index: KnowledgeIndex) -> None:
        self.reader = reader
        self.collection = collection
        self.index = index
        self._guard = threading.RLock()
        self._working: _Working | None = None
        self._vectors: dict[str, Vectors] = {}

    def close(self) -> None:
        with self._guard:
            self.index.close()
            if self._working is not None:
                self._working.overlay.close()

    @property
    def embedder(self) -> Embedder:
        return self.reader.embedder

    @property
    def overlay(self) -> Overlay:
        """What tasks made, as it is now."""
        return self._now().overlay

    @property
    def register(self) -> Register:
        return self._now().register

    def view(self, items: Iterable[AnyItem], request: Request, *, after: View | None = None, notes: Iterable[str] = ()) -> View:
        """A view of some items, each once, made by an operation on another view or on the collection."""
        kept = tuple({item.object_id: item for item in items}.values())
        papers = self.papers(paper for item in kept for paper in (*item.papers, *_ends(item)))
        history = (*(after.history if after else ()), request)
        said = dict.fromkeys((*(after.notes if after else ()), *notes))
        return View(self.collection, self.reader.release.name, kept, tuple(papers[name] for name in sorted(papers)), history, tuple(said))

    # -- objects -------------------------------------------------------------------------------------------------

    def places(self, within: Within) -> list[int]:
        return [*self.index.places(within), *self.overlay.places(within)]

    def at(self, places: Sequence[int]) -> dict[int, AnyItem]:
        """Items by their places."""
        stored = [*self.index.at(places), *self.overlay.at(places)]
        return dict(zip((one.at for one in stored), self._items(stored), strict=True))

    def items(self, ids: Iterable[str]) -> list[AnyItem]:
        """Items by their ids, in the order asked for; those that are not there are left out."""
        wanted = list(dict.fromkeys(ids))
        found = {one.object_id: one for one in (*self.overlay.objects(wanted), *self.index.objects(wanted))}
        return self._items([found[name] for name in wanted if name in found])

    def required(self, ids: Iterable[str]) -> list[AnyItem]:
        """The same. Raises BadRequest for the first that is not there, saying what became of it."""
        wanted = list(dict.fromkeys(ids))
        found = self.items(wanted)
        there = {item.object_id for item in found}
        for name in wanted:
            if name not in there:
                raise BadRequest(f"there is no object {name!r} in {self.collection}{self._became(name)}")
        return found

    def links(self, ids: Iterable[str], roles: Sequence[str] = ()) -> list[Link]:
        """What some objects rest on."""
        wanted = list(ids)
        made = [link for link in self.overlay.links(wanted) if not roles or link.role in roles]
        return [*self.index.links(wanted, roles), *made]

    def dependents(self, ids: Iterable[str], roles: Sequence[str] = ()) -> list[Link]:
        """What rests on some objects, papers or categories."""
        wanted = list(ids)
        made = [link for link in self.overlay.dependents(wanted) if not roles or link.role in roles]
        return [*self.index.dependents(wanted, roles), *made]

    def papers(self, ids: Iterable[str]) -> dict[str, PaperRef]:
        """What a reader must know of some papers; of one that the release does not know, its id."""
        wanted = list(dict.fromkeys(ids))
        known = {
            one.paper_id: PaperRef(one.paper_id, one.title, one.year, one.version_of, one.withdrawn)
            for one in self.reader.known_papers(wanted)
        }
        return {name: known.get(name, PaperRef(name)) for name in wanted}

    # -- what is known of them -----------------------------------------------------------------------------------

    def _items(self, stored: Sequence[Stored]) -> list[AnyItem]:
        known = self.register.known(one.object_id for one in stored)
        return [self._item(one, known.get(one.object_id)) for one in stored]

    def _item(self, one: Stored, known: Known | None) -> AnyItem:
        more: dict[str, Any] = {}
        if one.kind == "assignment":
            category = self.index.categories.get(one.content["category_id"], {})
            more = {"category": category.get("name", one.content["category_id"]), "dimension": category.get("dimension", "")}
        if known is not None:
            more |= {"standing": known.standing, "origin": known.origin, **known.more}
        return from_row(one.kind, one.object_id, one.content, one.papers, **more)

    def _became(self, name: str) -> str:
        """What the registry says became of an object that is not there."""
        known = self.register.known([name]).get(name)
        if known is None:
            return "; `retrieve` finds what there is"
        standing = known.standing
        if known.collection not in (None, self.collection):
            return f"; it belongs to {known.collection}"
        said = f": it {STANDS[standing.status]}" + (f" ({standing.reason})" if standing.reason else "")
        now = self.register.behind([name]).get(name)
        return said + (f"; {now['object_id']} stands for it now" if now and now["object_id"] != name else "")

    def _now(self) -> _Working:
        """The registry at work, read again only where it has another version."""
        lake = self.reader.lake
        with self._guard:
            version = delta.version(lake, "registry")
            if self._working is None or self._working.version != version:
                working = _registry(None if version is None else lake.scan("registry", version))
                released = _registry(self.reader.table("registry") if "registry" in self.reader.tables else None)
                rows = overlays.task_made(working, self.collection)
                if rows:
                    self._vectors = overlays.embedded(rows, self.embedder, self._vectors)
                # What reads the old overlay goes on; it goes with its last reader.
                self._working = _Working(version, Register(released, working), Overlay(rows, self.index, self._vectors))
            return self._working


def _registry(rows: pl.LazyFrame | None) -> pl.LazyFrame:
    return pl.LazyFrame(schema=contracts.REGISTRY.schema) if rows is None else rows


def _ends(item: AnyItem) -> list[str]:
    """Papers that a relation connects, or an assignment sorts."""
    if item.kind == "relation":
        ends = ((item.source_kind, item.source_id), (item.target_kind, item.target_id))
        return [name for kind, name in ends if kind == "paper"]
    return [item.subject_id] if item.kind == "assignment" and item.subject_kind == "paper" else []

"""A view: what somebody chose of a collection's layers for a task, immutable, with all that is needed to judge and to cite it.

What does not belong here: how a view comes about (`knowledge`), how it is shown (`shown`), how it is kept (`keeping`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from scholarlake.errors import ScholarLakeError
from scholarlake.knowledge.layer.items import AnyItem, to_dict


class BadRequest(ScholarLakeError):
    """Something was asked of the layers that can't be answered; the message says what can."""


@dataclass(frozen=True)
class PaperRef:
    """What a reader must know of a paper to cite it. version_of: the paper that stands for the work, where this is a preprint of it."""

    paper_id: str
    title: str | None = None
    year: int | None = None
    version_of: str | None = None
    withdrawn: bool = False

    @property
    def source(self) -> str:
        """What it counts as: a preprint and what was published of it are one source."""
        return self.version_of or self.paper_id

    @property
    def named(self) -> str:
        """Title and year, or the id where there is none."""
        return f"{self.title or self.paper_id}" + (f" ({self.year})" if self.year else "")


@dataclass(frozen=True)
class Request:
    """One operation that made a view: its name, and what was asked, as sorted pairs of a name and a plain value's JSON."""

    operation: str
    arguments: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, operation: str, given: Mapping[str, Any]) -> Request:
        """A request of plain values; what is empty was not asked for."""
        kept = ((name, _json(value)) for name, value in sorted(given.items()) if value not in (None, [], "", {}))
        return cls(operation, tuple(kept))

    def given(self) -> dict[str, Any]:
        """What was asked, as plain values."""
        return {name: orjson.loads(value) for name, value in self.arguments}

    def to_dict(self) -> dict[str, Any]:
        return {"operation": self.operation, "arguments": [list(pair) for pair in self.arguments]}


@dataclass(frozen=True)
class View:
    """Objects of a collection in a release, in order, each once.

    papers: all that the items are about. history: the operations that made it, the first first. notes: what a reader must know of it:
    what was left out and why, what could not be found.
    """

    collection: str
    release: str
    items: tuple[AnyItem, ...] = ()
    papers: tuple[PaperRef, ...] = ()
    history: tuple[Request, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[AnyItem]:
        return iter(self.items)

    def __contains__(self, object_id: object) -> bool:
        return any(item.object_id == object_id for item in self.items)

    def __getitem__(self, object_id: str) -> AnyItem:
        """The item of that id. Raises BadRequest where the view has none."""
        for item in self.items:
            if item.object_id == object_id:
                return item
        raise BadRequest(f"the view holds no object {object_id!r}; it holds {', '.join(self.ids[:5]) or 'nothing'}")

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(item.object_id for item in self.items)

    def paper(self, paper_id: str) -> PaperRef:
        """What is known of a paper; its id alone where that is nothing."""
        return next((paper for paper in self.papers if paper.paper_id == paper_id), PaperRef(paper_id))

    def counts(self) -> dict[str, int]:
        """Items by kind."""
        return dict(Counter(item.kind for item in self.items))

    def noting(self, *notes: str) -> View:
        """The same view with more to be said of it."""
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *notes))))

    def text(self, budget: int | None = None, query: str | None = None) -> str:
        """The items as text for a prompt, at most `budget` characters (9,000 unless given); of long ones the window that has most of the
        query. What is cut is counted and said."""
        from scholarlake.knowledge.layer.shown import READ, read

        return read(self, READ if budget is None else budget, query)

    def catalog(self, budget: int | None = None) -> str:
        """The papers of the view, a few lines each, at most `budget` characters (3,000 unless given) and ten papers."""
        from scholarlake.knowledge.layer.shown import CATALOG, catalog

        return catalog(self, CATALOG if budget is None else budget)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "collection": self.collection,
            "release": self.release,
            "items": [to_dict(item) for item in self.items],
            "papers": [asdict(paper) for paper in self.papers],
            "history": [request.to_dict() for request in self.history],
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, value: Any) -> View:
        """The view that `to_dict` made plain. Raises BadRequest where it is none."""
        try:
            view: View = _VIEW.validate_python(value)
        except ValidationError as fault:
            first = fault.errors()[0]
            where = ".".join(str(step) for step in first["loc"])
            said = f"{where + ': ' if where else ''}{first['msg']}"
            raise BadRequest(f"this is no view: {said}; give what `--json` or to_dict() made") from fault
        return view


_VIEW = TypeAdapter(View)


def _json(value: Any) -> str:
    """JSON of what somebody typed: half a character becomes a question mark."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()

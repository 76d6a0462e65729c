"""Expansion: from the objects of a view to what they rest on, what rests on them, and what stands beside them.

A way is a function from items to ids of other objects, each with why. What does not belong here: which objects a view begins with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from scholarlake.knowledge.layer.contents import CITES
from scholarlake.knowledge.layer.items import AnyItem, AssignmentItem, EntityItem, FactItem, RelationItem, SentenceItem
from scholarlake.knowledge.layer.reader import Within
from scholarlake.knowledge.layer.store import Store
from scholarlake.knowledge.layer.view import BadRequest
from scholarlake.lake import contracts

Along = Literal["evidence", "basis", "dependents", "siblings", "entities", "relations", "citing", "cited", "neighbours", "facts"]
Direction = Literal["out", "in", "both"]
WAYS: tuple[str, ...] = get_args(Along)
DIRECTIONS: tuple[str, ...] = get_args(Direction)
MAX_HOPS = 5
MAX_LIMIT = 1_000

_GROUNDS = ("basis", "mention", *contracts.BASIS_ROLES)
_ENDS = ("source", "target")
_DEPTH = 6  # of bases below an account: an account may cite another

Found = list[tuple[str, str]]
"""Ids of objects, and why each."""


@dataclass(frozen=True)
class Step:
    """How far and where to. relations: types of relations to follow, all where none is named; direction: of these."""

    along: str
    relations: tuple[str, ...] = ()
    direction: str = "both"


@dataclass(frozen=True)
class Expanded:
    """Items that were found, each with why, and how many more there are."""

    items: tuple[AnyItem, ...]
    left_out: int


def step_of(along: str, relations: Sequence[str], direction: str) -> Step:
    """A step, once its words are known. Raises BadRequest, naming those there are."""
    if along not in WAYS:
        raise BadRequest(f"nothing leads along {along!r}; there are: {', '.join(WAYS)}")
    if direction not in DIRECTIONS:
        raise BadRequest(f"no direction {direction!r}; there are: {', '.join(DIRECTIONS)}")
    if unknown := [one for one in relations if one not in contracts.RELATION_KINDS]:
        raise BadRequest(f"no relation {unknown[0]!r}; there are: {', '.join(contracts.RELATION_KINDS)}")
    if (relations or direction != "both") and along != "relations":
        raise BadRequest(f"types and directions are those of relations, not of {along}; expand along relations")
    return Step(along, tuple(relations), direction)


def expanded(store: Store, items: Sequence[AnyItem], step: Step, hops: int, limit: int) -> Expanded:
    """What lies along a step from some items, so many times over: the nearer first. None of the items is found again."""
    if not 1 <= hops <= MAX_HOPS:
        raise BadRequest(f"{hops} hops lead nowhere; give 1 to {MAX_HOPS}")
    if not 1 <= limit <= MAX_LIMIT:
        raise BadRequest(f"no expansion by {limit} objects; give 1 to {MAX_LIMIT}")
    known = {item.object_id for item in items}
    frontier, added, left_out = list(items), list[AnyItem](), 0
    for _ in range(hops):
        reasons: dict[str, str] = {}
        for name, why in _WAYS[step.along](store, frontier, step):
            if name not in known:
                reasons.setdefault(name, why)
        found = [item.because(reasons[item.object_id]) for item in store.items(reasons)]
        known.update(item.object_id for item in found)
        room = limit - len(added)
        left_out += max(0, len(found) - room)
        frontier = found[:room]
        added += frontier
        if not frontier:
            break
    return Expanded(tuple(added), left_out)


# -- the ways --------------------------------------------------------------------------------------------------------


def _evidence(store: Store, items: Sequence[AnyItem], step: Step) -> Found:
    """The sentences below: of what an object cites itself, and of all that it rests on."""
    found: Found = []
    top = {item.object_id: item.object_id for item in items}  # object → the item above it
    for _ in range(_DEPTH):
        links = store.links(top)
        found += [(link.basis, f"evidence of {top[link.dependent]}") for link in links if link.role == "evidence"]
        below: dict[str, str] = {}
        for link in links:
            if link.role in _GROUNDS:
                below.setdefault(link.basis, top[link.dependent])
        top = below
        if not top:
            break
    return found


def _basis(store: Store, items: Sequence[AnyItem], step: Step) -> Found:
    """What an object cites: facts, and of an account assignments, relations and accounts too."""
    return [(link.basis, f"{link.role} of {link.dependent}") for link in store.links(_ids(items), _GROUNDS)]


def _dependents(store: Store, items: Sequence[AnyItem], step: Step) -> Found:
    """What cites an object."""
    links = store.dependents(_ids(items), ("evidence", *_GROUNDS))
    return [(link.dependent, f"rests on {link.basis} ({link.role})") for link in links]


def _siblings(store: Store, items: Sequence[AnyItem], step: Step) -> Found:
    """Assignments to the categories that the items are sorted into."""
    mine = {item.object_id: item.category_id for item in items if isinstance(item, AssignmentItem)}
    others = [item for item in items if isinstance(item, FactItem | EntityItem)]
    sorted_by = [link.dependent for link in store.dependents(_ids(others), ("basis", "subject"))]
    mine |= {item.object_id: item.category_id for item in store.items(sorted_by) if isinstance(item, AssignmentItem)}
    links = store.dependents(dict.fromkeys(mine.values()), ("category",))
    return [(link.dependent, f"also in {link.basis}") for link in links]


def _entities(store: Store, items: Sequence[AnyItem], step: Step) -> Found:
    """Entities that a fact mentions, an assignment sorts or a relation connects."""
    named = [(link.basis, f"{link.role} of {link.dependent}") for link in store.links(_ids(items), ("subject", *_ENDS))]
    facts = _ids(item for item in items if isinstance(item, FactItem))
    return [*named, *((link.dependent, f"mentioned by {link.basis}") for link in store.dependents(facts, ("mention",)))]


def _relations(store: Store, items: Sequence[AnyItem], step: Step) -> Found:
    """Relations of the entities that the items are, or are about."""
    entities = _ids(item for item in items if isinstance(item, EntityItem))
    ends = dict.fromkeys([*entities, *(name for name, _ in _entities(store, items, step))])
    roles = {"out": ("source",), "in": ("target",)}.get(step.direction, _ENDS)
    links = store.dependents(ends, roles)
    wanted = {
        item.object_id
        for item in store.items(link.dependent for link in links)
        if isinstance(item, RelationItem) and item.relation != CITES and (not step.relations or item.relation in step.relations)
    }
    return [(link.dependent, f"{link.role} is {link.basis}") for link in links if link.dependent in wanted]


def _cites(role: str, word: str) -> Callable[[Store, Sequence[AnyItem], Step], Found]:
    """Citations that lead from, or to, the papers of the items."""

    def way(store: Store, items: Sequence[AnyItem], step: Step) -> Found:
        papers = dict.fromkeys(paper for item in items for paper in _papers(item, role))
        links = store.dependents(papers, (role,))
        found = store.items(link.dependent for link in links)
        citations = {item.object_id for item in found if isinstance(item, RelationItem) and item.relation == CITES}
        return [(link.dependent, f"{word} {link.basis}") for link in links if link.dependent in citations]

    return way


def _papers(item: AnyItem, role: str) -> Sequence[str]:
    """The papers of an item; of a citation the one that it leads to, so that another step goes on from there."""
    if isinstance(item, RelationItem) and item.relation == CITES:
        return [item.target_id if role == "source" else item.source_id]
    return item.papers


def _neighbours(store: Store, items: Sequence[AnyItem], step: Step) -> Found:
    """The sentences before and behind those that the items are, or cite."""
    named = {item.object_id: (item.papers[0], item.n) for item in items if isinstance(item, SentenceItem)}
    cited = [name for name, _ in _evidence(store, [item for item in items if not isinstance(item, SentenceItem)], step)]
    named |= {item.object_id: (item.papers[0], item.n) for item in store.items(cited) if isinstance(item, SentenceItem)}
    return [(f"{paper}:{n + by}", f"beside {name}") for name, (paper, n) in named.items() for by in (-1, 1) if n + by >= 0]


def _facts(store: Store, items: Sequence[AnyItem], step: Step) -> Found:
    """All facts of the papers that the items are about."""
    papers = frozenset(paper for item in items for paper in item.papers)
    found = store.at(store.places(Within(("fact",), papers)))
    return [(item.object_id, f"fact of {item.papers[0]}") for item in found.values()]


def _ids(items: Iterable[AnyItem]) -> list[str]:
    return [item.object_id for item in items]


_WAYS: Mapping[str, Callable[[Store, Sequence[AnyItem], Step], Found]] = {
    "evidence": _evidence,
    "basis": _basis,
    "dependents": _dependents,
    "siblings": _siblings,
    "entities": _entities,
    "relations": _relations,
    "citing": _cites("target", "cites"),
    "cited": _cites("source", "cited by"),
    "neighbours": _neighbours,
    "facts": _facts,
}

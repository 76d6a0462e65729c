"""Selection: the objects of a view that meet all of some constraints; an empty selection says which constraint left nothing.

A value is one or several, of which any will do; different constraints must all be met. What an object does not have is met by nothing: a
sentence has no verification. What does not belong here: finding by words or meaning (`retrieving`).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from scholarlake.errors import NotFound
from scholarlake.knowledge.layer.items import Account, AnyItem, AssignmentItem, EntityItem, FactItem, Kind, RelationItem, Review, Status
from scholarlake.knowledge.layer.reader import Within
from scholarlake.knowledge.layer.store import Store
from scholarlake.knowledge.layer.view import BadRequest, PaperRef
from scholarlake.knowledge.quoting import holds
from scholarlake.lake import contracts

_CLOSE = 3  # names that come near to one that is not there
_SUBJECT = ("subject", "source", "target")

Several = tuple[str, ...]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ConditionIs(_Section):
    """A condition of a kind, or whose text holds a text, or both."""

    kind: str | None = None
    text: str | None = None

    @field_validator("kind")
    @classmethod
    def _is_known(cls, kind: str | None) -> str | None:
        return _known(kind, contracts.CONTEXT_KINDS)


class QuantityIs(_Section):
    """A number as reported: what it measures, its unit as written, and the range that the number lies in, in that unit. Nothing is
    converted, so a range needs a unit."""

    metric: str | None = None
    unit: str | None = None
    minimum: float | None = None
    maximum: float | None = None

    @field_validator("maximum")
    @classmethod
    def _is_a_range(cls, maximum: float | None, info: Any) -> float | None:
        least = info.data.get("minimum")
        if maximum is not None and least is not None and maximum < least:
            raise ValueError(f"must not be less than the minimum, {least}")
        return maximum


_SEVERAL = ("kind", "type", "category", "entity", "verification", "review", "status", "certainty", "papers", "chain")


class Constraints(_Section):
    """What an object must meet. years: from and to, inclusive, either of them null."""

    kind: Several = ()
    type: Several = Field((), description="type of a fact or an entity, kind of a synthesis, or the relation of a relation")
    category: Several = Field((), description="id or name of a category; what is in a category below it counts")
    entity: Several = Field((), description="id, name or alias of an entity")
    verification: Several = ()
    review: Several = ()
    status: Several = ()
    certainty: Several = ()
    conditions: ConditionIs | None = None
    years: tuple[int | None, int | None] | None = None
    papers: Several = ()
    quantities: QuantityIs | None = None
    chain: Several = Field((), description="chain that an object came from: pipeline, or a chain of tasks")

    @field_validator(*_SEVERAL, mode="before")
    @classmethod
    def _as_several(cls, value: Any) -> Any:
        return () if value is None else (value,) if isinstance(value, str) else value

    @field_validator("kind")
    @classmethod
    def _is_a_kind(cls, kinds: Several) -> Several:
        return _all_known(kinds, get_args(Kind))

    @field_validator("verification")
    @classmethod
    def _is_a_verification(cls, values: Several) -> Several:
        return _all_known(values, contracts.VERIFICATIONS)

    @field_validator("review")
    @classmethod
    def _is_a_review(cls, values: Several) -> Several:
        return _all_known(values, get_args(Review))

    @field_validator("status")
    @classmethod
    def _is_a_status(cls, values: Several) -> Several:
        return _all_known(values, get_args(Status))

    @field_validator("certainty")
    @classmethod
    def _is_a_certainty(cls, values: Several) -> Several:
        return _all_known(values, contracts.CERTAINTIES)

    @field_validator("type")
    @classmethod
    def _is_a_type(cls, values: Several) -> Several:
        return _all_known(values, (*contracts.FACT_TYPES, *contracts.ENTITY_TYPES, *contracts.RELATION_KINDS, *contracts.SYNTHESIS_KINDS))

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Constraints:
        """The constraints that somebody gives. Raises BadRequest, naming the one that can't be met by anything."""
        try:
            return cls.model_validate(given)
        except ValidationError as fault:
            first = fault.errors()[0]
            where = ".".join(str(step) for step in first["loc"])
            said = first["msg"].removeprefix("Value error, ")
            if first["type"] == "extra_forbidden":
                said = f"there is no such constraint; there are: {', '.join(cls.model_fields)}"
            raise BadRequest(f"{where}: {said}") from fault

    def given(self) -> dict[str, Any]:
        """Only those that were given."""
        return self.model_dump(exclude_defaults=True)


@dataclass(frozen=True)
class Selected:
    """What meets all constraints, in the order of before; why nothing does, where that is so."""

    items: tuple[AnyItem, ...]
    notes: tuple[str, ...] = ()


Test = Callable[[AnyItem], bool]


@dataclass(frozen=True)
class _Named:
    """One constraint as it is told and tested."""

    said: str
    test: Test


def selected(store: Store, items: Sequence[AnyItem], constraints: Constraints) -> Selected:
    """The items that meet all constraints. Raises NotFound for a category, entity or paper that the collection does not have."""
    tests = list(_tests(store, items, constraints))
    left = list(items)
    for number, one in enumerate(tests):
        kept = [item for item in left if one.test(item)]
        if left and not kept:
            alone = sum(one.test(item) for item in items)
            said = f"{one.said} is met by none of the {len(left)} items"
            if number and alone:
                said += f" that meet {' and '.join(before.said for before in tests[:number])}, though by {alone} of all {len(items)}"
            return Selected((), (f"nothing is selected: {said}",))
        left = kept
    if not items:
        return Selected((), ("nothing is selected: there was nothing to select from",))
    return Selected(tuple(left))


def _tests(store: Store, items: Sequence[AnyItem], wanted: Constraints) -> Iterable[_Named]:
    for name in ("kind", "certainty", "verification", "review"):
        if values := getattr(wanted, name):
            yield _Named(_said(name, values), _has(name, values))
    if wanted.status:
        yield _Named(_said("status", wanted.status), lambda item: item.standing.status in wanted.status)
    if wanted.chain:
        yield _Named(_said("chain", wanted.chain), lambda item: item.origin.chain in wanted.chain)
    if wanted.type:
        yield _Named(_said("type", wanted.type), lambda item: _type(item) in wanted.type)
    if wanted.papers:
        papers = {store.reader.paper(name).paper_id for name in wanted.papers}
        yield _Named(_said("papers", wanted.papers), lambda item: not papers.isdisjoint(item.papers))
    if wanted.category:
        categories = {name for one in wanted.category for name in category(store, one)}
        ids = _of_categories(store, categories)
        yield _Named(_said("category", wanted.category), lambda item: item.object_id in ids or _is_of(item, categories))
    if wanted.entity:
        entities = {name for one in wanted.entity for name in entity(store, one)}
        about = _of_entities(store, entities)
        yield _Named(_said("entity", wanted.entity), lambda item: item.object_id in about)
    if wanted.conditions is not None:
        condition = wanted.conditions
        yield _Named(f"conditions {_shown(condition)}", lambda item: _has_condition(item, condition))
    if wanted.quantities is not None:
        quantity = wanted.quantities
        yield _Named(f"quantities {_shown(quantity)}", lambda item: _has_quantity(item, quantity))
    if wanted.years is not None:
        first, last = wanted.years
        known = store.papers(paper for item in items for paper in item.papers)
        said = f"years {first if first is not None else '…'} to {last if last is not None else '…'}"
        yield _Named(said, lambda item: any(_in_years(known[paper], first, last) for paper in item.papers))


def _has(name: str, values: Several) -> Test:
    return lambda item: getattr(item, name, None) in values


def _said(name: str, values: Several) -> str:
    return f"{name} {' or '.join(repr(value) for value in values)}"


def _shown(section: BaseModel) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in section.model_dump(exclude_none=True).items())


def _type(item: AnyItem) -> str | None:
    if isinstance(item, FactItem | EntityItem):
        return item.type
    if isinstance(item, RelationItem):
        return item.relation
    return getattr(item, "synthesis_kind", None)


def _has_condition(item: AnyItem, wanted: ConditionIs) -> bool:
    return any(
        (wanted.kind is None or one.kind == wanted.kind) and (wanted.text is None or holds(one.text, wanted.text))
        for one in item.conditions
    )


def _has_quantity(item: AnyItem, wanted: QuantityIs) -> bool:
    if not isinstance(item, FactItem):
        return False
    for one in item.quantities:
        metric = wanted.metric is None or (one.metric is not None and wanted.metric.casefold() in one.metric.casefold())
        unit = wanted.unit is None or one.unit == wanted.unit
        low = wanted.minimum is None or (one.number is not None and one.number >= wanted.minimum)
        high = wanted.maximum is None or (one.number is not None and one.number <= wanted.maximum)
        if metric and unit and low and high:
            return True
    return False


def _in_years(paper: PaperRef, first: int | None, last: int | None) -> bool:
    return paper.year is not None and (first is None or paper.year >= first) and (last is None or paper.year <= last)


# -- categories and entities -----------------------------------------------------------------------------------------


def category(store: Store, name: str) -> set[str]:
    """Ids of a category, by its id or its name, and of all below it. Raises NotFound, naming the nearest."""
    known = store.index.categories
    found = {one for one, row in known.items() if name in (one, row["name"]) or name.casefold() == str(row["name"]).casefold()}
    if not found:
        names = [spelled for one, row in known.items() for spelled in (one, str(row["name"]))]
        raise NotFound(f"no category {name!r} in {store.collection}{_near(name, names)}")
    while more := {one for one, row in known.items() if row.get("parent") in found} - found:
        found |= more
    return found


def entity(store: Store, name: str) -> set[str]:
    """Ids of the entities of that id, name or alias. Raises NotFound, naming the nearest."""
    entities = [item for item in store.at(store.places(Within(("entity",)))).values() if isinstance(item, EntityItem)]
    folded = name.casefold()
    found = {one.object_id for one in entities if folded in (one.object_id, *(form.casefold() for form in (one.name, *one.aliases)))}
    if not found:
        names = [form for one in entities for form in (one.name, *one.aliases)]
        raise NotFound(f"no entity {name!r} in {store.collection}{_near(name, names)}")
    return found


def _near(name: str, names: Sequence[str]) -> str:
    spelled = {one.casefold(): one for one in names}
    near = difflib.get_close_matches(name.casefold(), list(spelled), _CLOSE, 0.5)
    if near:
        return f"; near are: {', '.join(spelled[one] for one in near)}"
    return f"; there are: {', '.join(sorted(set(names))[:10])}" if names else "; it has none"


def _of_categories(store: Store, categories: set[str]) -> set[str]:
    """What is in the categories: assignments, the facts they rest on, the entities they sort and the facts that mention these, with all
    their sentences; relations of these entities; accounts that cite such an assignment.

    Of a paper that is sorted, only the facts that it is sorted by: another result of it may not belong there.
    """
    assignments = {link.dependent for link in store.dependents(sorted(categories), ("category",))}
    held = [item for item in store.items(sorted(assignments)) if isinstance(item, AssignmentItem)]
    subjects = {item.subject_id for item in held if item.subject_kind == "entity"}
    facts = {link.basis for link in store.links(sorted(assignments), ("basis",))}
    accounts = {link.dependent for link in store.dependents(sorted(assignments), contracts.BASIS_ROLES)}
    return assignments | accounts | _with_sentences(store, facts) | (_of_entities(store, subjects) if subjects else set())


def _of_entities(store: Store, entities: set[str]) -> set[str]:
    """The entities, the facts that mention them with their sentences, assignments and relations of them, and accounts that cite any of
    these assignments and relations."""
    facts = {link.basis for link in store.links(sorted(entities), ("mention",))}
    others = {link.dependent for link in store.dependents(sorted(entities), _SUBJECT)}
    accounts = {link.dependent for link in store.dependents(sorted(others), contracts.BASIS_ROLES)}
    return entities | others | accounts | _with_sentences(store, facts)


def _with_sentences(store: Store, facts: set[str]) -> set[str]:
    return facts | {link.basis for link in store.links(sorted(facts), ("evidence",))}


def _is_of(item: AnyItem, categories: set[str]) -> bool:
    return isinstance(item, Account) and item.category_id in categories


def _known(value: str | None, values: Sequence[str]) -> str | None:
    if value is not None and value not in values:
        raise ValueError(f"there is no {value!r}; there are: {', '.join(values)}")
    return value


def _all_known(given: Several, values: Sequence[str]) -> Several:
    for value in given:
        _known(value, values)
    return given

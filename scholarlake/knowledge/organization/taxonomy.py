"""A taxonomy: dimensions that belong to a field, and their categories, each with the criterion by which something belongs to it.

What does not belong here: reading one from a file (`taxonomy_file`), preparing one (`preparing`, `proposed`), sorting by it (`sorting`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import polars as pl

from scholarlake.knowledge.extraction import Attention
from scholarlake.knowledge.extraction import Category as AttendedCategory
from scholarlake.knowledge.extraction import Dimension as AttendedDimension
from scholarlake.knowledge.organization.names import folded, key_of
from scholarlake.lake import contracts
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake

Origin = Literal["supplied", "prepared"]
RULES = "rules"


@dataclass(frozen=True)
class Category:
    """What belongs together, by a criterion. terms: further words that find it; parent: the name of the category that it is part of."""

    name: str
    criterion: str
    positive_examples: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    parent: str | None = None

    @property
    def wordings(self) -> tuple[str, ...]:
        """Its name and terms, each once, as the table has them."""
        return tuple(dict.fromkeys((self.name, *self.terms)))


@dataclass(frozen=True)
class Dimension:
    """A question that its categories answer. subject_types: of the entities that it sorts; none where it sorts papers by their facts.
    compares: whether findings are compared along it."""

    name: str
    categories: tuple[Category, ...]
    about: str | None = None
    subject_types: tuple[str, ...] = ()
    compares: bool = False

    def id_of(self, category: str) -> str:
        return f"{slug(self.name)}/{slug(category)}"


@dataclass(frozen=True)
class Taxonomy:
    """All dimensions. A taxonomy without any sorts nothing: what the papers gave did not suffice to prepare one."""

    dimensions: tuple[Dimension, ...] = ()
    origin: Origin = "prepared"
    method: str = field(default=RULES, compare=False)

    @cached_property
    def version(self) -> str:
        """Digest of its content, but for examples that only illustrate."""
        said: list[str] = []
        for dimension in self.dimensions:
            said += ["dimension", dimension.name, dimension.about or "", str(dimension.compares), *dimension.subject_types]
            for one in dimension.categories:
                examples = one.positive_examples if self.examples_decide else ()
                said += ["category", one.name, one.criterion, one.parent or "", "examples", *examples, "terms", *one.wordings]
        return digest(said)

    @property
    def examples_decide(self) -> bool:
        """Whether something belongs to a category for being an example of it. Those that rules prepare end in the name of their category
        anyway: they only show what it is, and another paper that brings others changes nothing."""
        return (self.origin, self.method) != ("prepared", RULES)

    @property
    def attention(self) -> Attention:
        """What it tells the reading of a paper to attend to."""
        return Attention(
            self.version,
            tuple(
                AttendedDimension(one.name, tuple(AttendedCategory(category.name, category.criterion) for category in one.categories))
                for one in self.dimensions
            ),
        )

    @property
    def known(self) -> dict[str, str]:
        """Keys of the examples that it names, with the type of what a dimension of one type sorts."""
        found: dict[str, str] = {}
        for dimension in self.dimensions if self.examples_decide else ():
            if dimension.subject_types:
                for category in dimension.categories:
                    for name in category.positive_examples:
                        if key := key_of(name):
                            found.setdefault(key, dimension.subject_types[0])
        return found

    def rows(self, collection: str, code_version: str) -> Iterator[dict[str, Any]]:
        """Its categories as the table has them."""
        places = ((dimension, category) for dimension in self.dimensions for category in dimension.categories)
        for n, (dimension, category) in enumerate(places):
            yield {
                "collection": collection,
                "category_id": dimension.id_of(category.name),
                "taxonomy": self.version,
                "n": n,
                "dimension": dimension.name,
                "dimension_about": dimension.about,
                "name": category.name,
                "criterion": category.criterion,
                "positive_examples": list(category.positive_examples),
                "terms": list(category.wordings),
                "subject_types": list(dimension.subject_types),
                "parent": None if category.parent is None else dimension.id_of(category.parent),
                "compares": dimension.compares,
                "origin": self.origin,
                "method": self.method,
                "code_version": code_version,
            }


def taxonomy_of(lake: Lake, collection: str) -> Taxonomy:
    """The taxonomy of a collection as its table has it."""
    rows = lake.scan("taxonomies").filter(pl.col("collection") == collection).collect().sort("n")
    return from_rows(list(rows.iter_rows(named=True)))


def from_rows(rows: Sequence[Mapping[str, Any]]) -> Taxonomy:
    """The taxonomy that some rows of the table are."""
    names = {row["category_id"]: row["name"] for row in rows}
    dimensions: dict[str, Dimension] = {}
    for row in rows:
        known = dimensions.get(row["dimension"]) or Dimension(
            row["dimension"], (), row["dimension_about"], tuple(row["subject_types"]), row["compares"]
        )
        parent = None if row["parent"] is None else names[row["parent"]]
        terms = tuple(term for term in row["terms"] if term != row["name"])
        one = Category(row["name"], row["criterion"], tuple(row["positive_examples"]), terms, parent)
        dimensions[row["dimension"]] = replace(known, categories=(*known.categories, one))
    if not rows:
        return Taxonomy()
    return Taxonomy(tuple(dimensions.values()), rows[0]["origin"], rows[0]["method"])


def frame_of(taxonomy: Taxonomy, collection: str, code_version: str) -> pl.DataFrame:
    return pl.DataFrame(list(taxonomy.rows(collection, code_version)), schema=contracts.TAXONOMIES.schema)


def slug(name: str) -> str:
    """A name as a part of an id: small letters and digits, with hyphens between. What no such letter spells gets a digest."""
    plain = unicodedata.normalize("NFKD", folded(name)).encode("ascii", "ignore").decode()
    found = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
    return found or digest([name])[:12]


# -- what must hold ----------------------------------------------------------------------------------------------------


def faults(dimensions: Iterable[Dimension]) -> Iterator[str]:
    """What is wrong with dimensions, each named with its dimension and category: whatever could not be sorted by."""
    places: dict[str, str] = {}
    found = list(dimensions)
    if not found:
        yield "it has no dimension; give at least one"
    homes: dict[str, set[str]] = {}
    for dimension in found:
        for category in dimension.categories:
            homes.setdefault(category.name, set()).add(dimension.name)
    for dimension in found:
        where = f"dimension {dimension.name!r}"
        if (other := places.get(slug(dimension.name))) is not None:
            yield f"{where}: there is one of that name already" if other == dimension.name else f"{where}: its name is too like {other!r}"
        places[slug(dimension.name)] = dimension.name
        if not dimension.categories:
            yield f"{where}: it has no category; give at least one"
        for type_ in dimension.subject_types:
            if type_ not in contracts.ENTITY_TYPES:
                yield f"{where}: subject_types: there is no type {type_!r}; there are: {', '.join(contracts.ENTITY_TYPES)}"
        yield from _faults_of_categories(dimension, where, homes)


def _faults_of_categories(dimension: Dimension, where: str, homes: Mapping[str, set[str]]) -> Iterator[str]:
    places: dict[str, str] = {}
    parents = {one.name: one.parent for one in dimension.categories}
    for category in dimension.categories:
        here = f"{where}: category {category.name!r}"
        if (other := places.get(slug(category.name))) is not None:
            yield f"{here}: there is one of that name already" if other == category.name else f"{here}: its name is too like {other!r}"
        places[slug(category.name)] = category.name
        if not category.criterion.strip():
            yield f"{here}: it has no criterion; say when something belongs to it"
        if category.parent is None:
            continue
        if category.parent not in parents:
            elsewhere = sorted(homes.get(category.parent, ()))
            yield (
                f"{here}: parent {category.parent!r} is a category of dimension {elsewhere[0]!r}; a parent is of the same dimension"
                if elsewhere
                else f"{here}: there is no category {category.parent!r} to be its parent"
            )
        elif (loop := _loop(category.name, parents)) is not None and category.name == min(loop):
            yield f"{here}: its parents lead back to itself: {' > '.join([*loop, loop[0]])}"


def _loop(name: str, parents: Mapping[str, str | None]) -> list[str] | None:
    """The categories of a loop that one is in."""
    seen, at = [name], parents.get(name)
    while at is not None and at not in seen:
        seen.append(at)
        at = parents.get(at)
    return seen if at == name else None

"""What a file of `data/taxonomies/` may say: dimensions with their categories, and rulings on entities; read strictly.

A fault is refused in one line that names file, dimension and category. What does not belong here: what a taxonomy is (`taxonomy`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from scholarlake import strict_yaml
from scholarlake.corpus.selection.definition import Collection, load
from scholarlake.errors import ScholarLakeError
from scholarlake.knowledge.organization import taxonomy as values
from scholarlake.knowledge.organization.merging import Rulings
from scholarlake.knowledge.organization.names import key_of
from scholarlake.knowledge.organization.taxonomy import Category, Dimension, Taxonomy
from scholarlake.lake.hashing import digest

NONE = "none"
"""The version of a file that is not there."""

_FILE = ("dimensions", "entities")
_DIMENSION = ("name", "about", "subject_types", "compares", "categories")
_CATEGORY = ("name", "criterion", "positive_examples", "terms", "parent")
_ENTITIES = ("same", "apart")


class TaxonomyError(ScholarLakeError):
    """A taxonomy file says something that can't be."""


@dataclass(frozen=True)
class Supplied:
    """One file. taxonomy: None where it only rules on entities, and the categories are to be prepared."""

    taxonomy: Taxonomy | None
    rulings: Rulings

    @property
    def version(self) -> str:
        """Digest of what it says; a comment changes nothing."""
        said = [self.taxonomy.version if self.taxonomy else NONE]
        return digest([*said, orjson.dumps([self.rulings.same, self.rulings.apart]).decode()])


def path_of(collection: Collection, folder: Path | None) -> Path | None:
    """The taxonomy file of a collection: the one that it names, else the one of its name; None where there is none.

    Raises TaxonomyError where one is named that is not there.
    """
    path = folder / f"{collection.taxonomy or collection.name}.yaml" if folder is not None else None
    if path is not None and path.is_file():
        return path
    if collection.taxonomy is not None:
        raise TaxonomyError(f"{collection.name}.yaml: taxonomy: there is no file {collection.taxonomy}.yaml in the folder of taxonomies")
    return None


def supplied_for(collection_file: Path, folder: Path | None) -> Supplied | None:
    """What the taxonomy file of a collection says; None where there is none. Raises TaxonomyError."""
    path = path_of(load(collection_file), folder)
    return None if path is None else read(path)


def versions(collection_files: Iterable[Path], folder: Path | None) -> dict[str, str]:
    """Collection → version of its taxonomy file. Raises TaxonomyError at the first that is at fault."""
    found = {path.stem: supplied_for(path, folder) for path in collection_files}
    return {name: NONE if said is None else said.version for name, said in found.items()}


def read(path: Path) -> Supplied:
    """Read one file. Raises TaxonomyError, in one line, with the file, the dimension and the category at fault."""
    try:
        return supplied(strict_yaml.read(path))
    except (strict_yaml.Unreadable, _Fault) as fault:
        raise TaxonomyError(f"{path.name}{' ' if isinstance(fault, strict_yaml.Unreadable) else ': '}{fault}") from fault


def supplied(said: Any) -> Supplied:
    """What a file's content comes to."""
    content = _mapping(said, _FILE, "")
    if not content:
        raise _Fault(f"it says nothing; give {' or '.join(_FILE)}")
    taxonomy = None
    if "dimensions" in content:
        dimensions = [_dimension(one, place) for place, one in enumerate(_list(content["dimensions"], "dimensions"), 1)]
        if (fault := next(values.faults(dimensions), None)) is not None:
            raise _Fault(fault)
        taxonomy = Taxonomy(tuple(dimensions), "supplied", "file")
    return Supplied(taxonomy, _rulings(content.get("entities")))


class _Fault(ValueError):
    """What is wrong, with its place in the file."""


def _dimension(said: Any, place: int) -> Dimension:
    where = f"dimension {place}"
    content = _mapping(said, _DIMENSION, where)
    where = f"dimension {_text(content, 'name', where)!r}"
    compares = content.get("compares", False)
    if not isinstance(compares, bool):
        raise _Fault(f"{where}: compares: give true or false")
    if "categories" not in content:
        raise _Fault(f"{where}: it has no category; give at least one")
    return Dimension(
        _text(content, "name", where),
        tuple(_category(one, f"{where}: category", n) for n, one in enumerate(_list(content["categories"], f"{where}: categories"), 1)),
        _text(content, "about", where) if content.get("about") is not None else None,
        _texts(content, "subject_types", where),
        compares,
    )


def _category(said: Any, where: str, place: int) -> Category:
    content = _mapping(said, _CATEGORY, f"{where} {place}")
    where = f"{where} {_text(content, 'name', f'{where} {place}')!r}"
    if "criterion" not in content or content["criterion"] in (None, ""):
        raise _Fault(f"{where}: it has no criterion; say when something belongs to it")
    return Category(
        _text(content, "name", where),
        _text(content, "criterion", where),
        _texts(content, "positive_examples", where),
        _texts(content, "terms", where),
        _text(content, "parent", where) if content.get("parent") is not None else None,
    )


def _rulings(said: Any) -> Rulings:
    content = _mapping(said if said is not None else {}, _ENTITIES, "entities")
    pairs = {name: _pairs(content.get(name, []), f"entities: {name}") for name in _ENTITIES}
    both = {frozenset(pair) for pair in pairs["same"]} & {frozenset(pair) for pair in pairs["apart"]}
    if both:
        raise _Fault(f"entities: {' and '.join(sorted(min(both, key=sorted)))} can't be the same and apart")
    return Rulings(pairs["same"], pairs["apart"])


def _pairs(said: Any, where: str) -> tuple[tuple[str, str], ...]:
    found = []
    for one in _list(said, where):
        if not (isinstance(one, list) and len(one) == 2 and all(isinstance(name, str) and key_of(name) for name in one)):
            raise _Fault(f"{where}: {one!r} is no pair of names")
        if one[0] == one[1]:
            raise _Fault(f"{where}: {one[0]!r} stands beside itself")
        found.append((one[0], one[1]))
    return tuple(sorted(set(found)))


def _mapping(said: Any, known: tuple[str, ...], where: str) -> Mapping[str, Any]:
    before = f"{where}: " if where else ""
    if not isinstance(said, dict):
        raise _Fault(f"{before}give a mapping with {', '.join(known)}")
    for name in said:
        if name not in known:
            raise _Fault(f"{before}{name}: {strict_yaml.no_such(str(name), known)}")
    return said


def _list(said: Any, where: str) -> list[Any]:
    if not isinstance(said, list):
        raise _Fault(f"{where}: give a list")
    return said


def _text(content: Mapping[str, Any], name: str, where: str) -> str:
    value = content.get(name)
    if not isinstance(value, str) or not value.strip():
        hint = "; put it in quotes" if isinstance(value, int | float) else ""
        raise _Fault(f"{where}: {name}: give a text{hint}")
    return " ".join(value.split())


def _texts(content: Mapping[str, Any], name: str, where: str) -> tuple[str, ...]:
    found = _list(content.get(name) or [], f"{where}: {name}")
    for value in found:
        if not isinstance(value, str) or not value.strip():
            raise _Fault(f"{where}: {name}: {value!r} is no text; put it in quotes")
    return tuple(dict.fromkeys(" ".join(value.split()) for value in found))

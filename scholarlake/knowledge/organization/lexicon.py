"""What words say of names: heads that tell a type, nouns that name nothing, words that tell nothing apart; read from `entities.yaml`.

What does not belong here: what is done with them (`mentions`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from scholarlake.lake import contracts


@dataclass(frozen=True)
class Names:
    """heads: singular noun → type; vague: nouns that name nothing; not_alone: those that do with others only; bound: words that no
    ending of a name begins with; verbs: that look like nouns; negating: that make of what follows something else; empty: words before a
    noun that tell nothing apart, but in phrases. genus, epithet: endings of the two words of a species; not_species: second words that
    only look like one. beside: type → what stands beside a name."""

    heads: Mapping[str, str]
    vague: frozenset[str]
    not_alone: frozenset[str]
    bound: frozenset[str]
    verbs: frozenset[str]
    negating: frozenset[str]
    phrases: tuple[str, ...]
    empty: frozenset[str]
    genus: re.Pattern[str]
    epithet: re.Pattern[str]
    not_species: frozenset[str]
    beside: Mapping[str, re.Pattern[str]]


@cache
def names() -> Names:
    """The lexicon of names."""
    said = read("entities.yaml")
    if unknown := set(said["heads"]) - set(contracts.ENTITY_TYPES):
        raise AssertionError(f"entities.yaml: there is no type {', '.join(sorted(unknown))}")
    return Names(
        heads={word: type_ for type_, words in said["heads"].items() for word in words.split()},
        vague=frozenset(said["vague"].split()),
        not_alone=frozenset(said["not_alone"].split()),
        bound=frozenset(said["bound"].split()),
        verbs=frozenset(said["verbs"].split()),
        negating=frozenset(str(said["negating"]).split()),
        phrases=tuple(phrase.strip() for phrase in said["phrases"].split("|")),
        empty=frozenset(said["empty"].split()),
        genus=re.compile(said["species"]["genus"] + r"\Z"),
        epithet=re.compile(said["species"]["epithet"] + r"\Z"),
        not_species=frozenset(said["not_species"].split()),
        beside={type_: re.compile(pattern, re.IGNORECASE) for type_, pattern in said["beside"].items()},
    )


def read(name: str) -> Mapping[str, Any]:
    """A file of words beside this one."""
    found: Mapping[str, Any] = yaml.safe_load(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
    return found

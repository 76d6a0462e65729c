"""The research topics of generated papers: each has methods, problems, objects, units, measures and venues of its own.

The words are in words.yaml, how they become titles and abstracts is in text.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

import yaml

Words = tuple[str, ...]


@dataclass(frozen=True)
class Topic:
    """One research topic. Eight methods, problems and objects each, so that titles can be numbered (see text.py)."""

    name: str
    field: str
    unit: str
    methods: Words
    problems: Words
    objects: Words
    measures: Words
    venues: Words


def _topic(given: dict[str, Any]) -> Topic:
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return Topic(**values)


_WORDS: Final[dict[str, Any]] = yaml.safe_load(resources.files(__package__).joinpath("words.yaml").read_text(encoding="utf-8"))

TOPICS: Final[tuple[Topic, ...]] = tuple(_topic(given) for given in _WORDS["topics"])
GIVEN_NAMES: Final[Words] = tuple(_WORDS["given_names"])
FAMILY_NAMES: Final[Words] = tuple(_WORDS["family_names"])
PLACES: Final[Words] = tuple(_WORDS["places"])
ORGANISATIONS: Final[Words] = tuple(_WORDS["organisations"])
MANNERS: Final[Words] = tuple(_WORDS["manners"])
SETTINGS: Final[Words] = tuple(_WORDS["settings"])
HAN: Final[tuple[Words, ...]] = tuple(tuple(words) for words in _WORDS["han"])
CYRILLIC: Final[tuple[Words, ...]] = tuple(tuple(words) for words in _WORDS["cyrillic"])
GREEK: Final[tuple[Words, ...]] = tuple(tuple(words) for words in _WORDS["greek"])

"""The lexicon of cues: what the wording of a sentence says of it, read from `cues.yaml` beside this file.

What does not belong here: what is done with a sentence once its cues are known (`extractive`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from scholarlake.knowledge.objects import ContextKind, FactType, StudyType

_FILE = "cues.yaml"


@dataclass(frozen=True)
class Cue:
    """A wording, and how strongly it speaks for something."""

    weight: float
    pattern: re.Pattern[str]


@dataclass(frozen=True)
class SectionKind:
    """What the headings of a kind say of the sentences below them. type: of a statement whose wording says nothing."""

    name: str
    pattern: re.Pattern[str]
    skip: bool = False
    type: FactType | None = None
    weight: float = 0.0


@dataclass(frozen=True)
class Opening:
    """What begins a condition. clause: it runs to the end of its clause, not only of its noun phrase."""

    kind: ContextKind
    pattern: re.Pattern[str]
    clause: bool


@dataclass(frozen=True)
class Units:
    """What is a unit, and what is none, whatever pint says. letters_apart: those that a blank may part from their number."""

    units: frozenset[str]
    letters: frozenset[str]
    letters_apart: frozenset[str]
    words: frozenset[str]


@dataclass(frozen=True)
class Lexicon:
    """All cues. generic: nouns of each group that say nothing of what a paper is about. number_labels: what before a number makes it the
    number of something, as patterns. wordings, words: by the names that the file gives them."""

    own: re.Pattern[str]
    not_statements: re.Pattern[str]
    background: re.Pattern[str]
    types: Mapping[FactType, tuple[Cue, ...]]
    sections: tuple[SectionKind, ...]
    study_types: Mapping[StudyType, tuple[Cue, ...]]
    generic: Mapping[str, frozenset[str]]
    openings: tuple[Opening, ...]
    number_labels: tuple[str, ...]
    units: Units
    wordings: Mapping[str, re.Pattern[str]]
    words: Mapping[str, frozenset[str]]

    @property
    def generic_nouns(self) -> frozenset[str]:
        return frozenset().union(*self.generic.values())


@cache
def lexicon() -> Lexicon:
    """The lexicon of the project."""
    said: Mapping[str, Any] = yaml.safe_load(resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8"))
    numbers = said["quantities"]
    macros: dict[str, str] = {}
    for name, text in said["macros"].items():
        macros[name] = _filled(text, macros)
    macros["places"] = said["places"]

    def either(patterns: Iterable[str]) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{_filled(pattern, macros)})" for pattern in patterns), re.IGNORECASE)

    def cues(entries: Iterable[Mapping[str, Any]]) -> tuple[Cue, ...]:
        return tuple(Cue(float(entry["weight"]), either([entry["pattern"]])) for entry in entries)

    return Lexicon(
        own=either(said["own"]),
        not_statements=either(said["not_statements"]),
        background=either(said["background"]),
        types={name: cues(entries) for name, entries in said["types"].items()},
        sections=tuple(SectionKind(**{**entry, "pattern": either([entry["pattern"]])}) for entry in said["sections"]),
        study_types={name: cues(entries) for name, entries in said["study_types"].items()},
        generic={name: frozenset(words) for name, words in said["generic"].items()},
        wordings={name: either(patterns) for name, patterns in said["wordings"].items()},
        words={name: frozenset(words) for name, words in said["words"].items()},
        number_labels=tuple(numbers["labels"].split()),
        units=Units(**{name: frozenset(numbers[name]) for name in ("units", "letters", "letters_apart", "words")}),
        openings=tuple(
            Opening(kind, either([_whole(pattern)]), clause)
            for clause, kinds in ((True, said["contexts"]["clauses"]), (False, said["contexts"]["phrases"]))
            for kind, patterns in kinds.items()
            for pattern in patterns
        ),
    )


def _whole(pattern: str) -> str:
    """A pattern of whole words. One that ends in a look ahead says itself what follows."""
    end = "" if pattern.endswith(")") else r"(?![\w-])"
    return rf"(?<![\w\\-])(?:{pattern}){end}"


def _filled(pattern: str, macros: Mapping[str, str]) -> str:
    """The pattern with its macros put in. Braces of repetition ({0,4}) are left alone."""
    return re.sub(r"\{([a-z]+)\}", lambda found: macros[found[1]], pattern)

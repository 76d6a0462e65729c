"""A taxonomy prepared from a collection by rules: what its facts name often, kind by kind, along dimensions that any field has.

A category is an ending that names of several papers share ("gauge theory" of "noncommutative gauge theory"), or a kind of outcome that
several papers state. How many is told by the size of the collection. What does not belong here: asking a model (`proposed`).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scholarlake.knowledge.organization.lexicon import names, read
from scholarlake.knowledge.organization.material import Stated
from scholarlake.knowledge.organization.mentions import Mention, mentions_of, terms_in
from scholarlake.knowledge.organization.merging import commonest
from scholarlake.knowledge.organization.names import key_of, singular, words_of
from scholarlake.knowledge.organization.sorting import Wordings
from scholarlake.knowledge.organization.taxonomy import Category, Dimension, Taxonomy, slug

_ROOTS, _PARTS = 12, 3  # categories of a dimension, and of each the parts
_EXAMPLES = 5
_LEAST_SHARE, _LEAST = 0.006, 3  # papers that a category needs: a share of all, and never fewer
_TAIL = 3  # words of an ending
_SAME_THING = 0.8  # share of an ending's papers at which a longer one stands for it
_PREPOSITION = re.compile(r"(?:in|at|for|with|on|under|among|within|during|over)\s", re.IGNORECASE)
_BEFORE_NAME = 16  # characters between a preposition and the name that it introduces
_CONDITIONS = ("population", "setting", "assumption", "condition")


@dataclass(frozen=True)
class _Kinds:
    """A dimension whose categories are kinds of entities of some types."""

    name: str
    about: str
    types: tuple[str, ...]


_OF_ENTITIES = (
    _Kinds("theory or model", "In which theory or model is it stated?", ("theory", "model")),
    _Kinds("method family", "By what kind of method was it found?", ("method", "instrument")),
    _Kinds("object of study", "What is it about?", ("concept", "material", "organism", "task")),
)


def prepared(facts: Sequence[Stated]) -> Taxonomy:
    """The taxonomy of a collection's facts; one without dimensions where they share nothing. The order of the facts is all one."""
    facts = [fact for fact in facts if fact.supports]
    papers = {fact.paper_id for fact in facts}
    least = max(_LEAST, math.ceil(_LEAST_SHARE * len(papers)))
    mentions = mentions_of(facts)
    types = _types(mentions)
    found = [
        Dimension(kinds.name, _kinds([one for one in mentions if types[one.key] in kinds.types], least), kinds.about, kinds.types)
        for kinds in _OF_ENTITIES
    ]
    found.append(Dimension("setting", _settings(facts, least), "Under which conditions does it hold?", compares=True))
    found.append(Dimension("outcome", _outcomes(facts, least), "What kind of outcome is stated?", compares=True))
    return Taxonomy(tuple(dimension for dimension in found if dimension.categories), "prepared", "rules")


def _types(mentions: Iterable[Mention]) -> dict[str, str]:
    """The type of every key: what most of its mentions speak for."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for one in mentions:
        votes[one.key][one.type or "concept"] += one.weight  # type: ignore[assignment]
    return {key: max(sorted(counted), key=lambda name: counted[name]) for key, counted in votes.items()}


def _settings(facts: Sequence[Stated], least: int) -> tuple[Category, ...]:
    """What facts of enough papers hold under, each with the word that introduces it: "at finite temperature"."""
    papers: dict[str, set[str]] = defaultdict(set)
    written: dict[str, Counter[str]] = defaultdict(Counter)
    for fact in facts:
        for one in fact.context:
            term = next(iter(terms_in(one.text)), None) if one.kind in _CONDITIONS else None
            begun = _PREPOSITION.match(one.text)
            if term is None or begun is None or term.start > begun.end() + _BEFORE_NAME:
                continue
            key = " ".join(words_of(one.text[: term.end]))
            papers[key].add(fact.paper_id)
            written[key][one.text[: term.end]] += 1
    shared = sorted((key for key, some in papers.items() if len(some) >= least), key=lambda key: (-len(papers[key]), key))
    found = []
    for key in sorted(shared[:_ROOTS]):
        name = " ".join(commonest(written[key]).split())
        name = name[0].lower() + name[1:]
        found.append(Category(name, f"It is said to hold {name}, or is studied so.", (), () if name.casefold() == key else (key,)))
    return _distinct(found)


# -- kinds -------------------------------------------------------------------------------------------------------------


def _kinds(mentions: Sequence[Mention], least: int) -> tuple[Category, ...]:
    """The commonest endings that names of enough papers share, by name, each before its parts: where they stand depends on no count."""
    papers: dict[str, set[str]] = defaultdict(set)
    for one in mentions:
        for tail in _tails(one.key):
            papers[tail].add(one.paper_id)
    shared = {tail: len(some) for tail, some in papers.items() if len(some) >= least and _names_a_kind(tail)}
    for tail in sorted(shared, key=lambda one: (len(one.split()), one)):
        longer = [other for other in shared if other.endswith(f" {tail}")]
        if any(shared[other] >= _SAME_THING * shared[tail] for other in longer):
            del shared[tail]
    surfaces = _surfaces(mentions)
    parents = {tail: _parent(tail, shared) for tail in shared}
    ordered = sorted(shared, key=lambda one: (-shared[one], one))
    found: list[Category] = []
    for root in sorted([tail for tail in ordered if parents[tail] is None][:_ROOTS]):
        found.append(_category(root, None, mentions, surfaces))
        parts = [tail for tail in ordered if parents[tail] == root][:_PARTS]
        found += [_category(tail, found_name(root, surfaces), mentions, surfaces) for tail in sorted(parts)]
    return _distinct(found)


def _tails(key: str) -> Iterable[str]:
    words = key.split()
    lengths = range(1, min(len(words), _TAIL) + 1)
    return {" ".join(words[-n:]) for n in lengths if n == len(words) or words[-n - 1] not in names().negating}


def _names_a_kind(tail: str) -> bool:
    words = tail.split()
    if len(words) == 1:
        return tail not in names().not_alone and tail not in names().vague and len(tail) > 3
    return words[0] not in names().empty and words[0] not in names().bound and not any(sign in tail for sign in "()[]{}")


def _parent(tail: str, shared: Mapping[str, int]) -> str | None:
    """The shortest ending of an ending that is one of those shared."""
    words = tail.split()
    return next((short for n in range(1, len(words)) if (short := " ".join(words[-n:])) in shared), None)


def _surfaces(mentions: Iterable[Mention]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for one in mentions:
        found[one.key][one.surface] += 1
    return found


def found_name(tail: str, surfaces: Mapping[str, Mapping[str, int]]) -> str:
    """What a category is called: the ending as it is written alone, in the singular, else as a key."""
    if tail not in surfaces:
        return tail
    most = commonest(surfaces[tail]).casefold()
    shown = min((one for one in surfaces[tail] if one.casefold() == most), key=lambda one: (sum(map(str.isupper, one)), one))
    if shown.endswith("s") and key_of(shown[:-1]) == tail:
        return shown[:-1]
    *before, last = shown.split()
    return " ".join([*before, singular(last) if last.islower() else last])


def _category(tail: str, parent: str | None, mentions: Sequence[Mention], surfaces: Mapping[str, Mapping[str, int]]) -> Category:
    papers: dict[str, set[str]] = defaultdict(set)
    for one in mentions:
        if one.key.endswith(f" {tail}"):
            papers[one.key].add(one.paper_id)
    best = sorted(papers, key=lambda key: (-len(papers[key]), key))[:_EXAMPLES]
    name = found_name(tail, surfaces)
    terms = (tail,) if tail != name.casefold() else ()
    return Category(
        name,
        f"Papers of the collection call it {name}, alone or with what tells its kinds apart.",
        tuple(dict.fromkeys(commonest(surfaces[key]) for key in best)),
        terms,
        parent,
    )


def _distinct(categories: Sequence[Category]) -> tuple[Category, ...]:
    """Those whose ids differ, the first of each."""
    found: dict[str, Category] = {}
    for one in categories:
        found.setdefault(slug(one.name), one)
    kept = {one.name for one in found.values()}
    return tuple(one for one in found.values() if one.parent is None or one.parent in kept)


# -- outcomes ----------------------------------------------------------------------------------------------------------


def _outcomes(facts: Sequence[Stated], least: int) -> tuple[Category, ...]:
    """The kinds of outcome that results of enough papers state."""
    said: Sequence[Mapping[str, Any]] = read("outcomes.yaml")["outcomes"]
    every = Dimension("outcome", tuple(Category(one["name"], one["criterion"], (), tuple(one["terms"])) for one in said))
    wordings, types = Wordings(every), {one["name"]: one["types"] for one in said if "types" in one}
    papers: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        for hit in wordings.hits(fact.statement):
            if fact.type not in types.get(hit.category.name, (fact.type,)):
                continue
            papers[hit.category.name].add(fact.paper_id)
    return tuple(one for one in every.categories if len(papers[one.name]) >= least)

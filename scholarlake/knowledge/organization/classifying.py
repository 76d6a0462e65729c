"""Which entities and papers belong to which category, on which facts: by their names, by what their authors say, by what is stated of them.

Every ground is a fact. Grounds under different conditions are never added up: they make assignments of their own. What does not belong
here: asking a model (`sorting_by_model`), rows (`assignments`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from scholarlake.knowledge.organization.lexicon import names
from scholarlake.knowledge.organization.material import Stated
from scholarlake.knowledge.organization.mentions import terms_in
from scholarlake.knowledge.organization.names import key_of, words_of
from scholarlake.knowledge.organization.sorting import Hit, Wordings

Certainty = Literal["confirmed", "likely", "uncertain"]
RULES = "rules"
_IS_A = re.compile(
    r"\s*(?:\([^()]*\)\s*)?(?:(?:is|are|was|were|as|being|becomes?)\s|,\s?(?:which (?:is|are)\s)?)(?:\w+ly\s)?"
    r"(?:an?\s|the\s|one of the\s)?\Z"
)
_CALLED = re.compile(r",?\s(?:called|named|termed|dubbed|known as|which we (?:call|name))\s(?:the\s)?[\"'“‘`]*\Z")
_STRENGTH: Mapping[Certainty, int] = {"confirmed": 0, "likely": 1, "uncertain": 2}


@dataclass(frozen=True)
class Object:
    """What can be sorted: an entity, or a paper. facts: that name it, or are its own; subjects: ids of those that are about it."""

    kind: Literal["entity", "paper"]
    id: str
    name: str
    type: str | None
    keys: tuple[str, ...]
    surfaces: tuple[str, ...]
    facts: tuple[Stated, ...]
    subjects: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Ground:
    """Why something belongs to a category: a fact, and what in it says so."""

    dimension: str
    category: str
    fact: Stated
    reason: str
    declared: bool
    certainty: Certainty


@dataclass(frozen=True)
class Assigned:
    """Something in a category, on facts that hold under the same conditions."""

    object: Object
    dimension: str
    category: str
    basis: tuple[Stated, ...]
    conditions: tuple[tuple[str, str], ...]
    rationale: str
    declared: bool
    certainty: Certainty
    method: str = RULES


def assigned(objects: Iterable[Object], wordings: Sequence[Wordings]) -> Iterator[Assigned]:
    """What rules assign, object by object, dimension by dimension."""
    for one in objects:
        for dimension in wordings:
            types = dimension.dimension.subject_types
            if one.kind == "entity" and one.type in types:
                yield from gathered(one, list(_of_entity(one, dimension)), RULES)
            elif one.kind == "paper" and not types:
                yield from gathered(one, list(_of_paper(one, dimension)), RULES)


def gathered(one: Object, grounds: Sequence[Ground], method: str) -> Iterator[Assigned]:
    """Grounds as assignments: one for each category and each set of conditions."""
    apart: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[Ground]] = defaultdict(list)
    for ground in grounds:
        apart[ground.dimension, ground.category, ground.fact.conditions].append(ground)
    for (dimension, category, conditions), some in sorted(apart.items()):
        best = min(some, key=lambda ground: (_STRENGTH[ground.certainty], not ground.declared, ground.fact.fact_id))
        basis = {ground.fact.fact_id: ground.fact for ground in some}
        facts = tuple(basis[name] for name in sorted(basis))
        yield Assigned(one, dimension, category, facts, conditions, best.reason, best.declared, best.certainty, method)


# -- entities ----------------------------------------------------------------------------------------------------------


def _of_entity(one: Object, wordings: Wordings) -> Iterator[Ground]:
    """By its name: it is of the kind that its name ends in, in every fact that is about it. Else by what a fact says that it is."""
    dimension = wordings.dimension.name
    facts = [fact for fact in one.facts if fact.supports]
    kinds = _kinds_of(one, wordings)
    about = [fact for fact in facts if fact.fact_id in one.subjects] or facts
    for hit in kinds.values():
        for fact in about:
            declared = _declares(fact.statement, one, hit)
            if hit.is_example:
                reason = f"the taxonomy names {hit.wording} as an example"
            else:
                reason = "it is called so" if key_of(one.name) == key_of(hit.wording) else f"by its name it is a kind of {hit.wording}"
            yield Ground(dimension, hit.category.name, fact, reason, declared, "confirmed")
    for fact in facts:
        for hit in wordings.hits(fact.statement):
            if hit.category.name not in kinds and _declares(fact.statement, one, hit):
                yield Ground(dimension, hit.category.name, fact, f"its authors say so: {_cut(fact.statement)}", True, "confirmed")


def _kinds_of(one: Object, wordings: Wordings) -> dict[str, Hit]:
    """The categories that any of its names says it belongs to."""
    found: dict[str, Hit] = {}
    for name in (one.name, *one.surfaces):
        for hit in wordings.kinds(name):
            found.setdefault(hit.category.name, hit)
    parents = {category.name: category.parent for category in wordings.dimension.categories}
    return {name: hit for name, hit in found.items() if not any(parents.get(other) == name for other in found)}


def _declares(statement: str, one: Object, hit: Hit) -> bool:
    """Whether the authors say that it is such: "SAGA is a variance reduction method", "a variance reduction method called SAGA"."""
    wanted = words_of(hit.wording)
    terms = terms_in(statement)
    for term, other in pairwise(terms):
        between = statement[term.end : other.start]
        if term.key in one.keys and _ends_in(other.key, wanted) and _IS_A.match(between):
            return True
        if other.key in one.keys and _ends_in(term.key, wanted) and _CALLED.match(between):
            return True
    return False


def _ends_in(key: str, wanted: tuple[str, ...]) -> bool:
    """Whether a name ends in a wording, but for words that only say its type."""
    words = words_of(key)
    while len(words) > len(wanted) and words[-1] in names().not_alone and words[-len(wanted) :] != wanted:
        words = words[:-1]
    return words[-len(wanted) :] == wanted


# -- papers ------------------------------------------------------------------------------------------------------------


def _of_paper(one: Object, wordings: Wordings) -> Iterator[Ground]:
    """By what its facts say, each for itself."""
    for fact in one.facts:
        if not fact.supports:
            continue
        seen: set[str] = set()
        for where, text in (("conditions", "; ".join(text for _, text in fact.conditions)), ("statement", fact.statement)):
            for hit in wordings.hits(text):
                if hit.category.name in seen:
                    continue
                seen.add(hit.category.name)
                said = "it holds under" if where == "conditions" else "it says"
                certainty: Certainty = "confirmed" if where == "conditions" else "likely"
                reason = f"{said} {hit.wording!r}: {_cut(fact.statement)}"
                yield Ground(wordings.dimension.name, hit.category.name, fact, reason, where == "statement", certainty)


def _cut(statement: str, most: int = 160) -> str:
    plain = " ".join(statement.split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


# -- what is left ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unclassified:
    """A fact that is in no assignment of a dimension. nearest: the category that its words come nearest to."""

    fact: Stated
    dimension: str
    reason: Literal["no_entity", "no_category", "uncertain", "tie"]
    nearest: str | None


def unclassified(
    facts: Iterable[Stated], found: Iterable[Assigned], types: Mapping[str, frozenset[str]], wordings: Sequence[Wordings]
) -> Iterator[Unclassified]:
    """For every fact and every dimension that does not sort it, why. types: fact → types of the entities that it mentions."""
    sorted_ = {(fact.fact_id, one.dimension) for one in found for fact in one.basis}
    for fact in facts:
        for one in wordings:
            dimension = one.dimension
            if (fact.fact_id, dimension.name) in sorted_:
                continue
            hits = one.hits(fact.statement)
            has_entity = not dimension.subject_types or bool(types.get(fact.fact_id, frozenset()) & set(dimension.subject_types))
            nearest = hits[0].category.name if len(hits) == 1 else None
            if not fact.supports:
                yield Unclassified(fact, dimension.name, "uncertain", nearest)
            elif not has_entity:
                yield Unclassified(fact, dimension.name, "no_entity", nearest)
            elif len(hits) > 1:
                yield Unclassified(fact, dimension.name, "tie", None)
            else:
                yield Unclassified(fact, dimension.name, "uncertain" if hits else "no_category", nearest)

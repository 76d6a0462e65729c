"""What goes into an account: which facts of different works belong together, why, and on which side they stand.

The organization selects: a category with its members, a question that findings share, an object about which something is left open. How it
is put into words is another matter (`wording` by rules, `synthesizer` by a model). Nothing here depends on the order of anything.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scholarlake.knowledge.registry.matching import folded
from scholarlake.knowledge.syntheses.directions import is_open, opposite
from scholarlake.knowledge.syntheses.material import Assigned, Entity, Material, Stated, in_order

LEAST = 2  # works
_IN = "in "  # what a finding is asked for that names no metric: "free energy in %"
#: Metrics that say how sure or how many: they belong to another number.
_SURENESS = re.compile(
    r"\b(?:CI|CrI|IQR|SD|SE|SEM|df)\b|confidence|credible|interval|\brange\b|standard (?:error|deviation)|^[pnNPtFZzr]$"
    r"|\bp[- ]value|\bFDR\b"
)


@dataclass(frozen=True)
class Limits:
    """How much is said. of_kind: accounts of each kind in a collection; members: of a category that are told apart; facts: of a member;
    findings: on one question or problem."""

    of_kind: int = 40
    members: int = 8
    facts: int = 3
    findings: int = 8


@dataclass(frozen=True)
class Item:
    """A fact in an account: what it is to it, and why. about: what it is told of."""

    fact: Stated
    role: str
    why: str
    about: str


@dataclass(frozen=True)
class Bundle:
    """What one account is made of. assigned: what says that things belong to its category; relations: ids of what connects the facts;
    differing: kinds of conditions in which its findings differ."""

    kind: str
    topic: str
    about: str
    items: tuple[Item, ...]
    category_id: str | None = None
    dimension: str | None = None
    assigned: tuple[Assigned, ...] = ()
    relations: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()


def bundles(material: Material, limits: Limits) -> list[Bundle]:
    """All that accounts are to be made of: of each kind those of most works first, as many as the limits have room for."""
    found: list[Bundle] = []
    for some in (_families(material, limits), _questions(material, limits), _open(material, limits)):
        by_kind: dict[str, dict[str, Bundle]] = defaultdict(dict)
        for one in some:
            by_kind[one.kind].setdefault(folded(one.topic), one)
        for kind in sorted(by_kind):
            ranked = sorted(by_kind[kind].values(), key=lambda one: (-_works(material, one), folded(one.topic)))
            found += ranked[: limits.of_kind]
    return found


def _works(material: Material, bundle: Bundle) -> int:
    return len(material.sources(item.fact.id for item in bundle.items))


# -- families ------------------------------------------------------------------------------------------------------------


def _families(material: Material, limits: Limits) -> Iterator[Bundle]:
    """The members of a category, what is said of each, and what limits it."""
    by_category: dict[str, list[Assigned]] = defaultdict(list)
    for one in material.assigned:
        if one.category in material.categories and any(fact in material.facts for fact in one.basis):
            by_category[one.category].append(one)
    for name in sorted(by_category):
        category, members = material.categories[name], _members(material, by_category[name])
        shown = members[: limits.members]
        items = _once(item for some in shown for item in _of_member(material, some, limits.facts))
        if len(material.sources(item.fact.id for item in items)) >= LEAST:
            yield Bundle(
                "family_overview",
                f"{category.name} ({category.dimension})",
                category.name,
                tuple(items),
                category.id,
                category.dimension,
                tuple(one for some in shown for one in some),
            )


def _members(material: Material, assigned: Sequence[Assigned]) -> list[list[Assigned]]:
    """Assignments by what they are of; what most works say belongs there first."""
    by_subject: dict[str, list[Assigned]] = defaultdict(list)
    for one in assigned:
        by_subject[one.subject_id].append(one)

    def rank(some: Sequence[Assigned]) -> tuple[int, str, str]:
        return -len(material.works.sources(paper for one in some for paper in one.papers)), folded(some[0].subject), some[0].subject_id

    return sorted(by_subject.values(), key=rank)


_SAID = ("definition", "method_description", "dataset")
_FOUND = ("theoretical_result", "finding")


def _of_member(material: Material, assigned: Sequence[Assigned], most: int) -> Iterator[Item]:
    subject = assigned[0]
    basis = [material.facts[fact] for one in assigned for fact in one.basis if fact in material.facts]
    if subject.subject_kind == "entity":
        about = [material.facts[fact] for fact in material.subjects.get(subject.subject_id, ())]
        # What restricts it may be said of more than it.
        about += [one for fact in material.mentions.get(subject.subject_id, ()) if (one := material.facts[fact]).type == "limitation"]
    else:  # whatever else a paper states is not why it belongs here
        about = [one for one in material.facts.values() if one.paper == subject.subject_id and one.type == "limitation"]
    every = list({one.id: one for one in [*in_order(basis), *in_order(about)]}.values())
    told = [one for one in every if one.type in _SAID][:1] + _of_different_works(material, (one for one in every if one.type in _FOUND))
    yield from (Item(one, "supporting", f"what is said of {subject.subject}", subject.subject) for one in told[:most])
    limiting = _of_different_works(material, (one for one in every if one.type == "limitation"))
    yield from (Item(one, "limiting", f"it limits what holds of {subject.subject}", subject.subject) for one in limiting[:1])


def _of_different_works(material: Material, facts: Iterable[Stated]) -> list[Stated]:
    """The first of each work, then the rest."""
    first: dict[str, Stated] = {}
    rest = []
    for one in facts:
        if first.setdefault(material.works.work(one.paper), one) is not one:
            rest.append(one)
    return [*first.values(), *rest]


def _once(items: Iterable[Item]) -> list[Item]:
    """Each statement once in each role, whichever version of a work states it."""
    return list({(item.role, folded(item.fact.statement)): item for item in reversed(list(items))}.values())[::-1]


# -- questions -----------------------------------------------------------------------------------------------------------


def _questions(material: Material, limits: Limits) -> Iterator[Bundle]:
    """Findings of different works on one question that don't agree: under the same conditions, or under others."""
    seen: set[tuple[str, frozenset[str]]] = set()
    for topic, about, facts in [*_declared(material), *_by_question(material)]:
        for kind, pairs in (("disagreement", True), ("context_difference", False)):
            conflicting = [(one, other) for one, other, comparable in _conflicts(material, facts) if comparable is pairs]
            if not conflicting:
                continue
            items = _sides(conflicting, kind, about)[: limits.findings]
            key = kind, frozenset(item.fact.id for item in items)
            if key in seen or len(material.sources(item.fact.id for item in items)) < LEAST:
                continue
            seen.add(key)
            relations = tuple(one.id for one in material.opposed if set(one.basis) <= key[1])
            differing = () if pairs else tuple(sorted({name for one, other in conflicting for name in _differing(one, other)}))
            yield Bundle(kind, topic, about, tuple(items), relations=relations, differing=differing)


def _declared(material: Material) -> Iterator[tuple[str, str, list[Stated]]]:
    """What relations say contradicts each other."""
    by_ends: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in material.opposed:
        by_ends[tuple(sorted((one.source, one.target)))].update(one.basis)  # type: ignore[index]
    for (left, right), facts in sorted(by_ends.items()):
        yield f"{left} against {right}", f"{left} and {right}", in_order(material.facts[fact] for fact in facts)


def _by_question(material: Material) -> Iterator[tuple[str, str, list[Stated]]]:
    """Findings about one thing that share another: a metric, or what else they mention."""
    others: dict[str, list[Entity]] = defaultdict(list)
    for entity in sorted(material.mentions):
        for fact in material.mentions[entity]:
            if entity in material.entities:
                others[fact].append(material.entities[entity])
    for entity in sorted(material.subjects):
        if entity not in material.entities:
            continue
        about = material.entities[entity].name
        by_other: dict[str, dict[str, Stated]] = defaultdict(dict)
        for one in (material.facts[id] for id in material.subjects[entity]):
            if one.type in _FOUND:
                for asked in _asked(one, [other for other in others[one.id] if other.id != entity]):
                    by_other[asked][one.id] = one
        for asked, some in sorted(by_other.items()):
            if len(material.sources(some)) >= LEAST:
                said = f"{about} {asked}" if asked.startswith(_IN) else f"{asked} of {about}"
                yield f"{about}: {asked}", said, in_order(some.values())


def _asked(fact: Stated, others: Iterable[Entity]) -> set[str]:
    """What a finding answers about its subject: its metrics, in which unit it is where no metric is named, and what else it mentions."""
    metrics = {folded(one["metric"]) if one["metric"] else f"{_IN}{one['unit']}" for one in fact.quantities if _is_measured(one)}
    return metrics | {folded(one.name) for one in others}


def _is_measured(entry: Mapping[str, Any]) -> bool:
    """Whether a number is a measurement of something, and not how sure or how many."""
    return bool(entry["unit"]) if not entry["metric"] else _SURENESS.search(entry["metric"]) is None


def _conflicts(material: Material, facts: Sequence[Stated]) -> Iterator[tuple[Stated, Stated, bool]]:
    """Pairs of findings of different works that say other things of one question, and whether their conditions are the same."""
    for place, one in enumerate(facts):
        for other in facts[place + 1 :]:
            if material.works.work(one.paper) == material.works.work(other.paper):
                continue
            same = one.conditions == other.conditions
            # Numbers without any condition may be of anything; that one rises and the other falls is told apart by what is stated alone.
            if opposite(one.statement, other.statement) or (_other_numbers(one, other) and (one.conditions or other.conditions)):
                yield one, other, same


def _other_numbers(one: Stated, other: Stated) -> bool:
    """Whether both give one number of one metric in one unit, and another."""
    left, right = ({_measured(entry): entry for entry in fact.quantities if _is_measured(entry)} for fact in (one, other))
    shared = left.keys() & right.keys()
    return any(_value(left[name]) != _value(right[name]) for name in shared)


def _measured(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    return folded(entry["metric"] or ""), entry["unit"] or "", entry["comparator"] or ""


def _value(entry: Mapping[str, Any]) -> Any:
    return entry["number"] if entry["number"] is not None else entry["value"]


def _sides(pairs: Sequence[tuple[Stated, Stated]], kind: str, about: str) -> list[Item]:
    """The findings of some pairs: of a disagreement, each against the first that it opposes."""
    roles: dict[str, tuple[Stated, str]] = {}
    for one, other in pairs:
        if kind == "context_difference":
            roles.setdefault(one.id, (one, "supporting"))
            roles.setdefault(other.id, (other, "supporting"))
            continue
        mine = roles.setdefault(one.id, (one, "supporting"))[1]
        roles.setdefault(other.id, (other, "opposing" if mine == "supporting" else "supporting"))
    why = {
        "supporting": f"a finding on {about}",
        "opposing": f"it says otherwise of {about}",
    }
    return [Item(fact, role, why[role], about) for fact, role in roles.values()]


def _differing(one: Stated, other: Stated) -> set[str]:
    """The kinds of conditions in which two findings differ."""
    return {kind for kind, _ in one.conditions ^ other.conditions}


# -- open problems -------------------------------------------------------------------------------------------------------


_LEAVING = {"limitation": "it limits what is known", "hypothesis": "it is supposed, not shown"}


def _open(material: Material, limits: Limits) -> Iterator[Bundle]:
    """What different works leave open about one thing. Of things of which the same is left open, the one that it is said of most."""
    seen: set[frozenset[str]] = set()
    for entity in sorted(material.mentions, key=lambda one: (-len(material.subjects.get(one, ())), one)):
        if entity not in material.entities:
            continue
        name = material.entities[entity].name
        facts = [material.facts[one] for one in material.mentions[entity]]
        left = [one for one in facts if one.type in _LEAVING or is_open(one.statement)]
        same = frozenset(one.id for one in left)
        if len(material.sources(same)) < LEAST or same in seen:
            continue
        seen.add(same)
        items = [
            Item(one, "supporting", _LEAVING.get(one.type, "it says that something is open"), name)
            for one in _of_different_works(material, left)[: limits.findings]
        ]
        known = [one for one in facts if one.type in _FOUND and one not in left and one.id in material.subjects.get(entity, ())]
        items += [Item(one, "limiting", "what was found so far", name) for one in _of_different_works(material, known)[:LEAST]]
        yield Bundle("open_problem", f"{name} ({material.entities[entity].type})", name, tuple(_once(items)))

"""How the objects of a collection are related, by the wording of the facts that name them together.

A relation leads from an entity or a paper to an entity, on one fact, with the numbers of that fact as they stand there; and between two
papers whose findings go opposite ways. What does not belong here: asking a model (`relating_by_model`), rows (`relations`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from scholarlake.knowledge.organization.lexicon import read
from scholarlake.knowledge.organization.material import Stated
from scholarlake.knowledge.organization.mentions import Term, terms_in
from scholarlake.knowledge.organization.names import words_of
from scholarlake.lake import contracts

RULES = "rules"
_BEFORE = 140  # characters before a name in which a wording may begin
_QUANTITIES = 4  # of a fact that a payload reports
_WITH_NUMBERS = frozenset(("evaluated_on", "measured_by", "compared_against", "improves_on"))


@dataclass(frozen=True)
class End:
    """An end of a relation."""

    kind: Literal["paper", "entity"]
    id: str
    name: str | None


@dataclass(frozen=True)
class Named:
    """An entity in a fact: what it is, and the keys and roles that it has there."""

    end: End
    type: str
    keys: frozenset[str]
    roles: frozenset[str]


@dataclass(frozen=True)
class Related:
    """A relation, and the facts that it rests on."""

    relation: str
    source: End
    target: End
    basis: tuple[Stated, ...]
    payload: tuple[tuple[str, str], ...] = ()
    certainty: Literal["confirmed", "likely", "uncertain"] = "confirmed"
    method: str = RULES

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        return tuple(sorted({one for fact in self.basis for one in fact.conditions}))


@dataclass(frozen=True)
class _Wording:
    relation: str
    source: str
    pattern: re.Pattern[str]
    types: frozenset[str]
    sure: bool


@dataclass(frozen=True)
class _Words:
    wordings: tuple[_Wording, ...]
    gain: re.Pattern[str]
    up: tuple[tuple[str, ...], ...]
    down: tuple[tuple[str, ...], ...]


@cache
def _words() -> _Words:
    said: Mapping[str, Any] = read("relations.yaml")
    wordings = []
    for one in said["wordings"]:
        if one["relation"] not in contracts.RELATIONS_OF_ENTITIES:
            raise AssertionError(f"relations.yaml: there is no relation {one['relation']}")
        pattern = one["pattern"].replace("{article}", said["article"]).replace("{we}", said["we"])
        types = frozenset(one.get("types", contracts.ENTITY_TYPES))
        wordings.append(_Wording(one["relation"], one["from"], re.compile(rf"(?:{pattern})\Z"), types, one["sure"]))
    ways = {name: tuple(words_of(one) for one in said[name]) for name in ("up", "down")}
    return _Words(tuple(wordings), re.compile(said["gain"]), ways["up"], ways["down"])


def related(facts: Iterable[Stated], named: Mapping[str, Sequence[Named]]) -> Iterator[Related]:
    """What each fact says of the entities that it names. named: fact → its entities."""
    for fact in facts:
        if fact.supports:
            yield from _of_fact(fact, named.get(fact.fact_id, ()))


def _of_fact(fact: Stated, some: Sequence[Named]) -> Iterator[Related]:
    by_key = {key: one for one in some for key in one.keys}
    placed = [(term, by_key[term.key]) for term in terms_in(fact.statement) if term.key in by_key]
    seen: set[tuple[str, str, str]] = set()
    for term, target in placed:
        for wording in _words().wordings:
            before = fact.statement[max(0, term.start - _BEFORE) : term.start]
            found = wording.pattern.search(before) if target.type in wording.types else None
            if found is None:
                continue
            begin = term.start - len(before) + found.start()
            source = _source(fact, wording, begin, term, placed, target)
            if source.id == target.end.id or (wording.relation, source.id, target.end.id) in seen:
                continue
            seen.add((wording.relation, source.id, target.end.id))
            payload = payload_of(fact) if wording.relation in _WITH_NUMBERS else ()
            yield Related(wording.relation, source, target.end, (fact,), payload, "confirmed" if wording.sure else "likely")
            break
    yield from _of_context(fact, some, seen)
    yield from _measured(fact, some)


def _of_context(fact: Stated, some: Sequence[Named], seen: set[tuple[str, str, str]]) -> Iterator[Related]:
    """What the conditions of a fact say: what it is compared with, and the data that it rests on."""
    for target in some:
        relation = (
            "compared_against"
            if "baseline" in target.roles
            else "evaluated_on"
            if "context" in target.roles and target.type == "dataset"
            else None
        )
        if relation is None:
            continue
        about = [one.end for one in some if "subject" in one.roles and one.end.id != target.end.id]
        source = about[0] if about else End("paper", fact.paper_id, None)
        if not any(known in (relation, "improves_on") and to == target.end.id for known, _, to in seen):
            yield Related(relation, source, target.end, (fact,), payload_of(fact), "likely")


def _source(fact: Stated, wording: _Wording, begin: int, target: Term, placed: Sequence[tuple[Term, Named]], named: Named) -> End:
    """Whose relation it is: the paper's, or that of an entity that stands where the wording has it, and the paper's where none does."""
    paper = End("paper", fact.paper_id, None)
    if wording.source == "paper":
        return paper
    if wording.source == "object":
        inside = [one for term, one in placed if begin <= term.start and term.end <= target.start]
        if inside:
            return inside[0].end
    before = [(term, one) for term, one in placed if term.end <= begin and one.end.id != named.end.id]
    about = [one for _, one in before if "subject" in one.roles]
    right_before = [one for term, one in before if re.fullmatch(r"\s(?:\w+ly\s|also\s)?", fact.statement[term.end : begin])]
    return next((one.end for one in (*about, *right_before)), paper)


def _measured(fact: Stated, some: Sequence[Named]) -> Iterator[Related]:
    """Metrics of the fact's quantities that the fact is about: what it says them of is measured by them."""
    about_it = {term.key for term in terms_in(fact.subject)}
    for metric in some:
        if metric.type != "metric" or not metric.keys & about_it:
            continue
        values = [one for one in fact.quantities if one.metric and any(term.key in metric.keys for term in terms_in(one.metric))]
        if not values:
            continue
        payload: list[tuple[str, str]] = []
        for one in values[:_QUANTITIES]:
            payload += _reported(one.metric, one.value, one.unit, "value")
        about = [one.end for one in some if "subject" in one.roles and one.end.id != metric.end.id and one.type != "metric"]
        source = about[0] if about else End("paper", fact.paper_id, None)
        yield Related("measured_by", source, metric.end, (fact,), tuple(payload), "confirmed" if about else "likely")


def payload_of(fact: Stated) -> tuple[tuple[str, str], ...]:
    """The numbers of a fact as it reports them."""
    payload: list[tuple[str, str]] = []
    for one in fact.quantities[:_QUANTITIES]:
        at = fact.statement.find(one.value)
        name = "gain" if at >= 0 and _words().gain.search(fact.statement[max(0, at - 60) : at]) else "value"
        payload += _reported(one.metric, one.value, one.unit, name)
    return tuple(payload)


def _reported(metric: str | None, value: str, unit: str | None, name: str) -> list[tuple[str, str]]:
    return [(kind, said) for kind, said in (("metric", metric), (name, value), ("unit", unit)) if said]


# -- findings that go opposite ways ------------------------------------------------------------------------------------


def opposed(facts: Sequence[Stated], named: Mapping[str, Sequence[Named]]) -> Iterator[Related]:
    """Papers whose findings on one subject and one measure go opposite ways, under the same conditions or where one names none."""
    ways: dict[tuple[str, str], list[tuple[int, Stated]]] = defaultdict(list)
    for fact in facts:
        way = _way(fact) if fact.supports and fact.type == "finding" else 0
        if not way:
            continue
        some = named.get(fact.fact_id, ())
        subjects = {one.end.id for one in some if "subject" in one.roles}
        others = {one.end.id for one in some if "metric" in one.roles or "statement" in one.roles}
        if len(subjects) == 1 and len(others) == 1:
            ways[min(subjects), min(others)].append((way, fact))
    for found in ways.values():
        for at, (way, fact) in enumerate(found):
            for other_way, other in found[at + 1 :]:
                comparable = fact.conditions == other.conditions or not fact.conditions or not other.conditions
                if way == other_way or fact.paper_id == other.paper_id or not comparable:
                    continue
                left, right = sorted((fact, other), key=lambda one: (one.paper_id, one.fact_id))
                ends = (End("paper", left.paper_id, None), End("paper", right.paper_id, None))
                yield Related("contradicts", *ends, (left, right), (), "uncertain")


def _way(fact: Stated) -> int:
    """1 where a finding goes up, -1 where it goes down, 0 where it says neither, or both."""
    words = words_of(fact.statement)
    found = {
        sign
        for sign, some in ((1, _words().up), (-1, _words().down))
        for wanted in some
        for at in range(len(words))
        if words[at : at + len(wanted)] == wanted and not {"no", "not", "without"} & set(words[max(0, at - 4) : at])
    }
    return found.pop() if len(found) == 1 else 0

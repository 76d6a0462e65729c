"""Who is who in a generated dump: every work's year, topic, kind and ids, before any line is written.

Works are numbered in the order of their years, from 0. Not here: references (graph.py), words (text.py), lines (records.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from scholarlake.sample.draws import ALIAS, WORK, Ints, hex_ids, uniform
from scholarlake.sample.kinds import KIND_NAMES, KINDS, LOOK_ALIKES
from scholarlake.sample.topics import TOPICS

FIRST_YEAR: Final = 1976
LAST_YEAR: Final = 2024
_GROWTH: Final = 0.055  # a year, of the number of works
_WHOLE_NUMBER_IDS: Final = 0.004
_FIRST_WHOLE_NUMBER: Final = 2_000_000_011
BEYOND_64_BITS: Final = 18446744073709551616
_OTHER_SCRIPTS: Final = 0.02
LATIN, HAN, CYRILLIC, GREEK = range(4)
SHORT_RECORDS_FROM: Final = 50_000  # from this many works on, fewer and shorter abstracts: 1.4 kB a record


@dataclass(frozen=True)
class Alike:
    """A work's place in a group of works that look alike."""

    kind: str
    leader: int  # the work whose title, authors and year the others borrow
    place: int  # 0 for the leader
    group: int  # number of the group within its kind


@dataclass(frozen=True)
class Plan:
    """The works of one dump. Arrays have shape (works,).

    ids: record id by number; the first ones are the works' own, the others' numbers begin at first_alias[work].
    rank: place of the work among those of its topic, in order of years.
    """

    works: int
    seed: int
    faults: bool
    year: Ints
    topic: Ints
    rank: Ints
    topic_sizes: Ints
    kind: npt.NDArray[np.uint8]
    has_doi: npt.NDArray[np.bool_]
    later_only: npt.NDArray[np.bool_]
    script: npt.NDArray[np.uint8]
    first_alias: Ints
    aliases: Ints
    ids: list[str]
    whole_number: frozenset[str] = frozenset()
    alike: dict[int, Alike] = field(default_factory=dict)

    @property
    def short(self) -> bool:
        return self.works >= SHORT_RECORDS_FROM

    def kind_name(self, work: int) -> str:
        return KIND_NAMES[int(self.kind[work])]


def _years(works: int) -> Ints:
    """Ascending years of a literature that grows exponentially."""
    place = (np.arange(works) + 0.5) / works
    span = LAST_YEAR + 1 - FIRST_YEAR
    years: Ints = (FIRST_YEAR + np.log1p(place * np.expm1(_GROWTH * span)) / _GROWTH).astype(np.int64)
    return np.clip(years, FIRST_YEAR, LAST_YEAR)


def _topics(works: int, seed: int) -> tuple[Ints, Ints, Ints]:
    """Topic of each work, its rank in it, and the sizes of the topics; the largest topic is four times the smallest."""
    weights = np.linspace(4.0, 1.0, len(TOPICS))
    order = np.argsort(uniform(len(TOPICS), seed, 1), kind="stable")
    edges = np.cumsum(weights[order] / weights.sum())
    topic = np.searchsorted(edges, uniform(works, seed, 2)).clip(0, len(TOPICS) - 1).astype(np.int64)
    rank = np.empty(works, dtype=np.int64)
    for number in range(len(TOPICS)):
        members = np.flatnonzero(topic == number)
        rank[members] = np.arange(len(members))
    return topic, rank, np.bincount(topic, minlength=len(TOPICS))


def _wanted(share: float, works: int, size: int = 1) -> int:
    """How many of a kind: by share, but a few at least where there is room for all kinds."""
    least = 3 if works >= 1000 else 2 if works >= 400 else 1 if works >= 150 else 0
    return max(round(share * works), least) if works >= 20 * size else 0


def make_plan(works: int, seed: int, *, faults: bool, later_edition: bool) -> Plan:
    """Decide about every work.

    faults: whether look-alikes, other scripts and odd ids occur. Without a later edition no kind that needs one does.
    """
    year = _years(works)
    topic, rank, sizes = _topics(works, seed)
    kind = np.zeros(works, dtype=np.uint8)
    script = np.zeros(works, dtype=np.uint8)
    has_doi = uniform(works, seed, 3) < 0.7
    later_only = (uniform(works, seed, 4) < 0.25) & (np.arange(works) >= works * 0.94) if later_edition else np.zeros(works, dtype=np.bool_)
    drawn = iter(np.argsort(uniform(works, seed, 5), kind="stable").tolist())

    for name, recipe in KINDS.items():
        if (faults or recipe.plain) and (later_edition or not any(copy.later for copy in recipe.copies)):
            for work in (next(drawn) for _ in range(_wanted(recipe.share, works))):
                kind[work] = KIND_NAMES.index(name)
                later_only[work] = False
                if recipe.doi is not None:
                    has_doi[work] = recipe.doi
    alike: dict[int, Alike] = {}
    whole: list[int] = []
    if faults:
        for name, group_recipe in LOOK_ALIKES.items():
            for group in range(_wanted(group_recipe.share, works, group_recipe.size)):
                members = sorted(next(drawn) for _ in range(group_recipe.size))
                for place, work in enumerate(members):
                    alike[work] = Alike(name, members[0], place, group)
                    has_doi[work] = group_recipe.dois[place]
                    year[work] = year[members[0]] - place * group_recipe.years_apart  # never later: a year to come is odd
        whole = [next(drawn) for _ in range(_wanted(_WHOLE_NUMBER_IDS, works))]
        whole += np.flatnonzero((kind == KIND_NAMES.index("revised")) & (rank % 12 == 0)).tolist()
        foreign = uniform(works, seed, 6)
        for work in np.flatnonzero(foreign < _OTHER_SCRIPTS).tolist():
            if work not in alike:
                script[work] = (HAN, CYRILLIC, GREEK)[int(foreign[work] / _OTHER_SCRIPTS * 3)]
    extra = np.array([max((copy.alias for copy in KINDS[name].copies), default=0) if name else 0 for name in KIND_NAMES], dtype=np.int64)
    aliases = extra[kind]
    ids = hex_ids(WORK, np.arange(works), seed) + hex_ids(ALIAS, np.arange(int(aliases.sum())), seed)
    for place, work in enumerate(whole):
        ids[work] = str(_FIRST_WHOLE_NUMBER + 7 * place) if place else str(BEYOND_64_BITS)
    return Plan(
        works=works,
        seed=seed,
        faults=faults,
        year=year,
        topic=topic,
        rank=rank,
        topic_sizes=sizes,
        kind=kind,
        has_doi=has_doi,
        later_only=later_only,
        script=script,
        first_alias=works + np.cumsum(aliases) - aliases,
        aliases=aliases,
        ids=ids,
        whole_number=frozenset(ids[work] for work in whole),
        alike=alike,
    )

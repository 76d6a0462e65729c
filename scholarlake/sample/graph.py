"""Who cites whom: references that prefer what is cited already, the same topic and older works.

A reference is either a work drawn at random or the target of a random earlier reference; copying gives a work a chance in
proportion to its citations without counting them (the copying model of preferential attachment), so that in-degrees are heavy-tailed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from scholarlake.sample.draws import Ints, uniform
from scholarlake.sample.plan import FIRST_YEAR, LAST_YEAR, Plan
from scholarlake.sample.topics import TOPICS

Targets = npt.NDArray[np.int32]

_SAME_TOPIC: Final = 0.86
_SAME_FIELD: Final = 0.95  # cumulative
_COPIED: Final = 0.72
_NO_LIST: Final = 0.1  # works whose record has no reference list
_MEAN_AT_FIRST, _MEAN_AT_LAST = 10.0, 27.0
_TO_ANY_YEAR: Final = 0.001
_SELF: Final = 0.004
_REPEATED: Final = 0.012
_TARGETS_AT_ONCE: Final = 1 << 20
_LEAST_BLOCK, _MOST_BLOCK = 24, 20_000


@dataclass(frozen=True)
class Graph:
    """Citations between distinct works, each once, and the references beside them.

    starts: (works + 1,) where each work's targets begin; targets: the works it cites, ascending.
    outside: (works,) references that lead outside the dump. selves, repeats: works that name themselves, or name their first target twice.
    """

    starts: Ints
    targets: Targets
    outside: Ints
    selves: npt.NDArray[np.bool_]
    repeats: npt.NDArray[np.bool_]

    @cached_property
    def in_degree(self) -> Ints:
        cited = np.zeros(len(self.outside), dtype=np.int64)
        for at in range(0, len(self.targets), _TARGETS_AT_ONCE):  # bincount widens what it counts to 64 bits
            cited += np.bincount(self.targets[at : at + _TARGETS_AT_ONCE], minlength=len(cited))
        return cited

    @property
    def out_degree(self) -> Ints:
        out: Ints = np.diff(self.starts)
        return out


def _list_lengths(plan: Plan) -> Ints:
    """How many references each work would give: log-normal around a mean that grows with the years, fewer where there is little to cite."""
    age = (plan.year.clip(FIRST_YEAR, LAST_YEAR) - FIRST_YEAR) / (LAST_YEAR - FIRST_YEAR)
    mean = _MEAN_AT_FIRST + age * (_MEAN_AT_LAST - _MEAN_AT_FIRST)
    mean = np.minimum(mean, 0.28 * np.sqrt(np.arange(plan.works)))
    first, second = uniform(plan.works, plan.seed, 20), uniform(plan.works, plan.seed, 21)
    normal = np.sqrt(-2 * np.log1p(-first)) * np.cos(2 * np.pi * second)
    lengths: Ints = np.rint(mean * np.exp(0.5 * normal - 0.125)).astype(np.int64).clip(0, 400)
    lengths[uniform(plan.works, plan.seed, 22) < _NO_LIST] = 0
    return lengths


def make_graph(plan: Plan) -> Graph:
    """Draw all references, block by block: a work cites works of earlier blocks (and, rarely, any)."""
    works, lengths = plan.works, _list_lengths(plan)
    members = [np.flatnonzero(plan.topic == number) for number in range(len(TOPICS))]
    siblings = [[at for at, other in enumerate(TOPICS) if other.field == topic.field] for topic in TOPICS]
    targets = np.empty(int(lengths.sum()), dtype=np.int32)
    starts = np.zeros(works + 1, dtype=np.int64)
    begin, filled, block = 0, 0, 0
    while begin < works:
        end = min(works, begin + min(_MOST_BLOCK, max(_LEAST_BLOCK, begin // 16)))
        citing = np.repeat(np.arange(begin, end), lengths[begin:end])
        if begin:
            draws = uniform(5 * len(citing), plan.seed, 30, block).reshape(5, -1)
            about = _cited_topics(plan.topic[citing], draws[0], draws[1], siblings)
            cited = _cited_works(about, draws[2:], begin, members, starts, targets)
            anywhere = np.flatnonzero(draws[4] < _TO_ANY_YEAR)
            cited[anywhere] = (draws[3][anywhere] * works).astype(np.int64)
            pairs = np.unique((citing.astype(np.int64) << 32 | cited)[citing != cited])
        else:
            pairs = np.empty(0, dtype=np.int64)
        targets[filled : filled + len(pairs)] = pairs & 0xFFFFFFFF
        counts = np.bincount((pairs >> 32) - begin, minlength=end - begin)
        starts[begin + 1 : end + 1] = filled + np.cumsum(counts)
        filled += len(pairs)
        begin, block = end, block + 1
    targets = targets[:filled]
    out = np.diff(starts)
    draws = uniform(3 * works, plan.seed, 31).reshape(3, -1)
    return Graph(
        starts=starts,
        targets=targets,
        outside=(draws[0] * 0.13 * out + draws[1] * 0.6).astype(np.int64),
        selves=(draws[2] < _SELF) & (out > 0),
        repeats=(draws[2] > 1 - _REPEATED) & (out > 0),
    )


def _cited_topics(own: Ints, draw: npt.NDArray[np.float64], pick: npt.NDArray[np.float64], siblings: list[list[int]]) -> Ints:
    about = own.copy()
    for number, near in enumerate(siblings):
        chosen = np.flatnonzero((own == number) & (draw >= _SAME_TOPIC) & (draw < _SAME_FIELD))
        about[chosen] = np.array(near)[(pick[chosen] * len(near)).astype(np.int64)]
    far = np.flatnonzero(draw >= _SAME_FIELD)
    about[far] = (pick[far] * len(siblings)).astype(np.int64)
    return about


def _cited_works(about: Ints, draws: npt.NDArray[np.float64], begin: int, members: list[Ints], starts: Ints, targets: Targets) -> Ints:
    """A work of the topic among those before begin, or the target of one of its references."""
    cited: Ints = (draws[0] * begin).astype(np.int64)  # where the topic has no earlier work
    for number, own in enumerate(members):
        earlier = int(np.searchsorted(own, begin))
        chosen = np.flatnonzero(about == number)
        if earlier and len(chosen):
            cited[chosen] = own[(np.sqrt(draws[0][chosen]) * earlier).astype(np.int64)]
    copied = np.flatnonzero(draws[1] < _COPIED)
    source = cited[copied]
    count = starts[source + 1] - starts[source]
    some = count > 0
    source, copied, count = source[some], copied[some], count[some]
    cited[copied] = targets[starts[source] + (draws[2][copied] * count).astype(np.int64)]
    return cited

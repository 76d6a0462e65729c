"""A quota of papers for every topic of a domain, then the best of the rest (ScholarStack, appendix B.2).

Every query of a topic is asked by meaning and by words. The topics take turns, each taking the best paper of its own that nobody has
taken, until all quotas are met; so no topic lives on what another would have needed. What ranks the rest is named there but not weighed:
here its five signals, each between 0 and 1, weigh the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from scholarlake.corpus.selection.candidates import Candidates, Mask, Values, ordered
from scholarlake.corpus.selection.choice import Choice, Tools
from scholarlake.corpus.selection.conditions import meets
from scholarlake.corpus.selection.definition import Topics, Where
from scholarlake.corpus.selection.fusion import CONSTANT, Fused, fused
from scholarlake.corpus.selection.nearest import nearest
from scholarlake.corpus.selection.texts import eligible, full_texts

Found = Mapping[str, Fused]
"""Topic → what its searches brought."""


def choose(tools: Tools, where: Where | None, how: Topics) -> Choice:
    """The quotas of all topics, in turns, then the rest by rank."""
    candidates = tools.candidates
    met = meets(tools, where)
    brought = _search(tools, how, met.mask)
    anything = np.zeros(len(candidates), dtype=bool)
    for found in brought.values():
        anything[found.numbers] = True
    able = candidates.one_of_each_work(eligible(candidates, how, anything, needs_abstract=False))
    usable = {name: found.only(able) for name, found in brought.items()}

    quotas = in_turns({name: found.numbers.tolist() for name, found in usable.items()}, how.quota)
    taken = np.array(list(quotas), dtype=np.int64)
    rest = np.setdiff1d(np.flatnonzero(able), taken, assume_unique=True)
    signals = _signals(candidates, how, usable)
    ranked = ordered(rest, (signals[rest], True), (candidates.column("in_degree")[rest], True))[: how.wanted - len(taken)]
    numbers = np.concatenate([taken, ranked])
    best = _best_topic(usable, len(candidates))
    topics = [*quotas.values(), *(list(usable)[place] for place in best[ranked].tolist())]
    lists = {name: dict(zip(found.numbers.tolist(), found.lists.tolist(), strict=True)) for name, found in usable.items()}
    asked = {topic.name: 2 * len(topic.queries) for topic in how.topics}
    return Choice(
        numbers=numbers,
        roles=["quota"] * len(taken) + ["ranked"] * len(ranked),
        rules=[
            f"found by {lists[topic][number]} of {asked[topic]} searches" for number, topic in zip(numbers.tolist(), topics, strict=True)
        ],
        scores=signals[numbers],
        topics=topics,
        matched=int(able.sum()),
        wanted=how.wanted,
        shortfall=_shortfall(how, brought, usable, list(quotas.values()), len(numbers)),
        unknown_ids=met.unknown_ids,
        withdrawn_ids=met.withdrawn_ids,
    )


def in_turns(ranked: Mapping[str, Sequence[int]], quota: int) -> dict[int, str]:
    """Paper → topic, in the order of taking: round after round each topic takes its best paper that is left, up to its quota."""
    taken: dict[int, str] = {}
    left = {name: iter(numbers) for name, numbers in ranked.items()}
    for _ in range(quota):
        for name, numbers in left.items():
            number = next((number for number in numbers if number not in taken), None)
            if number is not None:
                taken[number] = name
    return taken


def _search(tools: Tools, how: Topics, scope: Mask) -> dict[str, Fused]:
    """What every topic's searches bring out of a scope, by meaning and by words. The vectors are read once for all of them."""
    queries = [query for topic in how.topics for query in topic.queries]
    by_meaning = iter(nearest(tools.candidates, tools.embedder(), queries, how.candidates, scope))
    return {
        topic.name: fused(
            [found for query in topic.queries for found in (next(by_meaning), tools.words.best(query, how.candidates, scope))]
        )
        for topic in how.topics
    }


def _signals(candidates: Candidates, how: Topics, usable: Found) -> Values:
    """The mean of five signals of every paper found, each from 0 to 1: how well it was found by the topic that found it best, by how
    many topics, how much of year, venue, DOI and authors is known of it, how often it is cited (logarithmic), whether it has a full text.
    """
    count = len(candidates)
    provenance, topics = np.zeros(count), np.zeros(count)
    for topic in how.topics:
        found = usable[topic.name]
        highest = 2 * len(topic.queries) / (CONSTANT + 1)
        provenance[found.numbers] = np.maximum(provenance[found.numbers], found.scores / highest)
        topics[found.numbers] += 1
    able = topics > 0
    known = _known(candidates, able)
    cited = np.where(able, np.log1p(candidates.column("in_degree")), 0.0)
    characters, _ = full_texts(candidates)
    signals = (provenance, _scaled(topics), known, _scaled(cited), (characters > 0).astype(np.float64))
    return np.round(np.where(able, np.mean(signals, axis=0), 0.0), 6).astype(np.float64)


def _scaled(values: Values) -> Values:
    highest = values.max(initial=0.0)
    return values / highest if highest > 0 else values


def _known(candidates: Candidates, among: Mask) -> Values:
    """Share of year, venue, DOI and authors that some papers have; 0 for all others."""
    given = [pl.col(name).is_not_null() for name in ("year", "venue", "doi")] + [pl.col("authors").list.len() > 0]
    share = pl.mean_horizontal(*(one.cast(pl.Float64) for one in given))
    numbered = candidates.numbered(candidates.rows(among).select("paper_id", share=share).collect(engine="streaming"))
    known = np.zeros(len(candidates))
    known[numbered["number"].to_numpy()] = numbered["share"].to_numpy()
    return known


def _best_topic(usable: Found, count: int) -> NDArray[np.int64]:
    """For every paper the place of the topic that found it best, the first of equals."""
    best, place_of = np.zeros(count), np.zeros(count, dtype=np.int64)
    for place, found in enumerate(usable.values()):
        better = found.scores > best[found.numbers]
        best[found.numbers[better]] = found.scores[better]
        place_of[found.numbers[better]] = place
    return place_of


def _shortfall(how: Topics, brought: Found, usable: Found, takers: Sequence[str], chosen: int) -> str | None:
    short = [
        f"{name}: {takers.count(name)} of {how.quota} ({len(brought[name].numbers)} found, {len(found.numbers)} of them with enough text)"
        for name, found in usable.items()
        if takers.count(name) < how.quota
    ]
    if not short and chosen < how.wanted:
        return f"the searches found only {chosen:,} papers with enough text; raise `candidates` or add queries"
    return "; ".join(short) or None

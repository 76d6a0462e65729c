"""A set of papers that stands for a corpus whatever is asked of it: centres of clusters and citation anchors (ScholarStack, B.1).

Four of five papers are each the one nearest to the centre of its cluster, the fifth is among the most cited of the others. In which order
the representatives come is not said there: here the larger cluster comes first, so that any first part of the set stands for as much of
the corpus as it can.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from scholarlake.corpus.selection import features
from scholarlake.corpus.selection.candidates import Mask, Numbers, Values, ordered
from scholarlake.corpus.selection.choice import Choice, Tools
from scholarlake.corpus.selection.conditions import meets
from scholarlake.corpus.selection.definition import Representatives, Where
from scholarlake.corpus.selection.texts import eligible
from scholarlake.models.protocol import Vectors

BATCH_SIZE = 4_096
INITIALISATIONS = 3
MAX_ITERATIONS = 100
REASSIGNMENT_RATIO = 0.01
ROWS_AT_ONCE = 16_384


@dataclass(frozen=True)
class Centres:
    """The papers nearest to the centres of clusters, the largest cluster first. Shapes (clusters,).

    papers: rows of the vectors. sizes: papers of the cluster. similarities: cosine of paper and centre.
    """

    papers: Numbers
    sizes: Numbers
    similarities: Values


def choose(tools: Tools, where: Where | None, how: Representatives) -> Choice:
    """The representatives and anchors of the eligible papers that meet the conditions, interleaved."""
    met = meets(tools, where)
    able = tools.candidates.one_of_each_work(eligible(tools.candidates, how, met.mask, needs_abstract=True))
    numbers = np.flatnonzero(able)
    size = min(how.size, len(numbers))
    anchors = round(how.anchors * size)
    found = centres(_vectors(tools, able, how), size - anchors, how.seed)

    coverage = numbers[found.papers]
    in_degree = tools.candidates.column("in_degree")
    others = np.setdiff1d(numbers, coverage, assume_unique=True)
    cited = ordered(others, (in_degree[others], True))[:anchors]
    order = np.asarray(interleaved(coverage.tolist(), cited.tolist(), how.anchors), dtype=np.int64)
    places = {number: place for place, number in enumerate(coverage.tolist())}
    place_of = [places.get(number) for number in order.tolist()]
    return Choice(
        numbers=order,
        roles=["anchor" if place is None else "representative" for place in place_of],
        rules=[
            f"cited by {_papers(int(in_degree[number]))} of the corpus"
            if place is None
            else f"nearest to the centre of a cluster of {_papers(int(found.sizes[place]))}"
            for number, place in zip(order.tolist(), place_of, strict=True)
        ],
        scores=np.array(
            [in_degree[number] if place is None else found.similarities[place] for number, place in zip(order, place_of, strict=True)],
            dtype=np.float64,
        ),
        clusters=[None if place is None else place + 1 for place in place_of],
        matched=len(numbers),
        wanted=how.size,
        shortfall=f"only {len(numbers):,} papers are eligible" if size < how.size else None,
        unknown_ids=met.unknown_ids,
        withdrawn_ids=met.withdrawn_ids,
    )


def _papers(count: int) -> str:
    return "1 paper" if count == 1 else f"{count:,} papers"


def _vectors(tools: Tools, able: Mask, how: Representatives) -> Vectors:
    """Words and meaning of the eligible papers, shape (papers, dimensions), by number."""
    candidates = tools.candidates
    scratch = candidates.lake.spool()
    scratch.mkdir(parents=True, exist_ok=True)
    papers = int(able.sum())
    words = features.word_vectors(lambda: features.texts(candidates, able), papers, how.seed, scratch, tools.progress)
    if how.vectors == "corpus":
        meanings = features.corpus_vectors(candidates, able)
    else:
        meanings = features.text_vectors(candidates, able, tools.embedder(), tools.progress)
    return features.joined(words, meanings)


def centres(vectors: Vectors, clusters: int, seed: int) -> Centres:
    """Cluster vectors, shape (n, d), and find the paper nearest to each centre.

    No paper stands for two clusters: one that no paper fell to gets the nearest that is left. clusters is at most n. Runs on one thread,
    so that neither the machine's cores nor the order in which threads add up decide.
    """
    from sklearn.cluster import MiniBatchKMeans
    from threadpoolctl import threadpool_limits

    if clusters == 0:
        return Centres(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    with threadpool_limits(1):
        model = MiniBatchKMeans(
            clusters,
            batch_size=BATCH_SIZE,
            n_init=INITIALISATIONS,
            max_iter=MAX_ITERATIONS,
            reassignment_ratio=REASSIGNMENT_RATIO,
            random_state=seed,
        ).fit(vectors)
    middles, label = model.cluster_centers_.astype(np.float64), model.labels_.astype(np.int64)
    sizes = np.bincount(label, minlength=clusters)
    nearest = _nearest_members(vectors, middles, label)
    taken = set(nearest[nearest >= 0].tolist())
    for empty in np.flatnonzero(nearest < 0).tolist():
        distance = np.concatenate([np.square(part - middles[empty]).sum(axis=1) for part in _parts(vectors)])
        nearest[empty] = next(row for row in np.argsort(distance, kind="stable").tolist() if row not in taken)
        taken.add(int(nearest[empty]))
    lengths = np.linalg.norm(vectors[nearest], axis=1) * np.linalg.norm(middles, axis=1)
    similarities = np.einsum("ij,ij->i", vectors[nearest].astype(np.float64), middles) / np.where(lengths > 0, lengths, 1)
    order = np.lexsort((nearest, -sizes))
    return Centres(nearest[order], sizes[order], np.round(similarities[order], 6))


def _nearest_members(vectors: Vectors, middles: Values, label: Numbers) -> Numbers:
    """Of each cluster the member nearest to its centre, by squared distance to six decimals, ties by row; −1 of an empty one."""
    parts = zip(_parts(vectors), np.split(label, range(ROWS_AT_ONCE, len(label), ROWS_AT_ONCE)), strict=True)
    distance = np.round(np.concatenate([np.square(part - middles[own]).sum(axis=1) for part, own in parts]), 6)
    order = np.lexsort((distance, label))  # stable: of equal ones the first row comes first
    clusters, first = np.unique(label[order], return_index=True)
    nearest = np.full(len(middles), -1, dtype=np.int64)
    nearest[clusters] = order[first]
    return nearest


def _parts(vectors: Vectors) -> Iterator[Values]:
    for start in range(0, len(vectors), ROWS_AT_ONCE):
        yield vectors[start : start + ROWS_AT_ONCE].astype(np.float64)


def interleaved(coverage: Sequence[int], anchors: Sequence[int], share: float) -> list[int]:
    """Two lists as one in which round(share · r) of the first r are anchors, as Python rounds; what is chosen already is skipped.

    Where one list has run out the other goes on.
    """
    left = {"coverage": iter(coverage), "anchors": iter(anchors)}
    chosen: dict[int, None] = {}
    cited = 0
    while left:
        due = "anchors" if round(share * (len(chosen) + 1)) > cited else "coverage"
        source = due if due in left else next(iter(left))
        number = next((number for number in left[source] if number not in chosen), None)
        if number is None:
            del left[source]
            continue
        chosen[number] = None
        cited += source == "anchors"
    return list(chosen)

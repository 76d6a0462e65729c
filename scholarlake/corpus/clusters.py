"""The rules of identity, pure: which nodes are one paper. A node is a record id with the keys of its newest record.

In order: nodes of one DOI, but for titles with nothing in common and the chapters of a book under its DOI; a node without DOI joins
the one DOI cluster that has its title; nodes without DOI that share a title join each other. Nothing here depends on the order of the
nodes, and no step looks at all pairs: twenty thousand papers of one title take no longer than twenty thousand different ones.
What does not belong here: reading records, naming papers, writing tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from scholarlake.corpus.keys import Indices, Words, run_starts
from scholarlake.corpus.titles import content_tokens

Flags = NDArray[np.bool_]
NO_YEAR = np.iinfo(np.int32).min
YEARS_APART = 1
TITLES_OF_A_WORK = 5
"""Different titles that stand under one DOI, up to which they may be one work's: as given, shortened, with and without subtitle."""

Titles = Callable[[Indices], Sequence[str | None]]
"""Titles of the given nodes: asked only for those that stand under one DOI and have not all the same fingerprint."""


class Join(IntEnum):
    """What joined a node to its cluster. Values index contracts.IDENTITY_RULES."""

    ALONE = 0
    SAME_DOI = 2
    TITLE_TO_DOI = 3
    TITLE = 4


@dataclass(frozen=True)
class NodeKeys:
    """Keys of n nodes. A zero in doi or title is no key; NO_YEAR is no year.

    doi, title: shape (n,), hashes. year: shape (n,), int32. authors: all nodes' author keys one after another,
    node i's being authors[author_starts[i]:author_starts[i + 1]], distinct.
    """

    doi: Words
    title: Words
    year: NDArray[np.int32]
    authors: NDArray[np.int64]
    author_starts: Indices

    def __len__(self) -> int:
        return len(self.doi)


@dataclass(frozen=True)
class Clusters:
    """The decision: cluster of each node, what joined it there, and whether its DOI stands on works with nothing in common."""

    of_node: Indices
    join: NDArray[np.int8]
    conflict: Flags


def decide(keys: NodeKeys, titles: Titles) -> Clusters:
    """Put nodes together by the rules. of_node: shape (n,), one number a cluster, each below 3 n, not every number used."""
    count = len(keys)
    cluster = np.full(count, -1, dtype=np.int64)
    join = np.zeros(count, dtype=np.int8)
    conflict = np.zeros(count, dtype=bool)

    with_doi = np.flatnonzero(keys.doi != 0)
    cluster[with_doi], conflict[with_doi] = _doi_clusters(keys, with_doi, titles)
    clusters = int(cluster.max(initial=-1)) + 1
    sizes = np.bincount(cluster[with_doi], minlength=clusters)
    join[with_doi] = np.where(sizes[cluster[with_doi]] > 1, Join.SAME_DOI, Join.ALONE)

    owner, owned, ambiguous = _title_owners(keys, with_doi, cluster)
    loose = np.flatnonzero((keys.doi == 0) & (keys.title != 0))
    loose = loose[~among(keys.title[loose], ambiguous)]
    joined = _join_owners(keys, loose, with_doi, owned)
    place = np.searchsorted(owned, keys.title[joined])
    cluster[joined] = owner[place]
    join[joined] = Join.TITLE_TO_DOI
    received = np.zeros(clusters, dtype=bool)
    received[cluster[joined]] = True
    lone = with_doi[(sizes[cluster[with_doi]] == 1)]
    join[lone[received[cluster[lone]]]] = Join.TITLE_TO_DOI

    rest = np.flatnonzero(cluster < 0)
    labels = components(count, *_title_links(keys, loose[cluster[loose] < 0]))
    sizes = np.bincount(labels, minlength=count)
    join[rest[sizes[labels[rest]] > 1]] = Join.TITLE
    cluster[rest] = clusters + labels[rest]
    return Clusters(cluster, join, conflict)


def among(values: Words, ascending: Words) -> Flags:
    """Whether each value is in an ascending array."""
    if not len(ascending):
        return np.zeros(len(values), dtype=bool)
    places = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.asarray(ascending[places] == values)


def components(count: int, left: Indices, right: Indices) -> Indices:
    links: Any = coo_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(count, count))  # type: ignore[no-untyped-call]
    _, labels = connected_components(links, directed=False)
    return np.asarray(labels, dtype=np.int64)


# -- one DOI ---------------------------------------------------------------------------------------------------------


def _doi_clusters(keys: NodeKeys, nodes: Indices, titles: Titles) -> tuple[Indices, Flags]:
    """Cluster and conflict flag of each of the nodes, all of which have a DOI."""
    _, group, sizes = np.unique(keys.doi[nodes], return_inverse=True, return_counts=True)
    conflict = np.zeros(len(nodes), dtype=bool)
    # Equal fingerprints need no look at the titles: nearly all copies of a paper are done with here.
    low = np.full(len(sizes), np.iinfo(np.uint64).max, dtype=np.uint64)
    high = np.zeros(len(sizes), dtype=np.uint64)
    np.minimum.at(low, group, keys.title[nodes])
    np.maximum.at(high, group, keys.title[nodes])
    doubtful = (sizes > 1) & ((low != high) | (low == 0))
    asked = np.flatnonzero(doubtful[group])
    if not asked.size:
        return group, conflict
    labels, conflict[asked] = _by_title(group[asked], titles(nodes[asked]))
    group[asked] = len(sizes) + np.unique(labels, return_inverse=True)[1]
    return group, conflict


def _by_title(group: Indices, titles: Sequence[str | None]) -> tuple[Indices, Flags]:
    """The component of each member by tokens shared within its group, and whether its group has several.

    Where a group has more titles than one work has, its DOI is that of a book or of proceedings, whose chapters share words: only
    those of the same tokens are put together. A member without title joins where its group has one component, else stays apart.
    """
    count = len(group)
    groups = group.tolist()
    tokens = [content_tokens(title) for title in titles]
    variants = Counter(member for member, said in set(zip(groups, tokens, strict=True)) if said)
    token_of: dict[tuple[int, str | frozenset[str]], int] = {}
    left: list[int] = []
    right: list[int] = []
    known = np.array([bool(said) for said in tokens], dtype=bool)
    for member, said in enumerate(tokens):
        for token in said if variants[groups[member]] <= TITLES_OF_A_WORK else (said,) if said else ():
            left.append(member)
            right.append(count + token_of.setdefault((groups[member], token), len(token_of)))
    labels = components(count + len(token_of), np.array(left, dtype=np.int64), np.array(right, dtype=np.int64))[:count]

    pairs = pl.DataFrame({"group": group[known], "label": labels[known]}).unique()
    parts = pairs.group_by("group").agg(pl.len().alias("parts"), pl.col("label").min())
    looked_up = pl.DataFrame({"group": group}).join(parts, on="group", how="left", maintain_order="left")
    number = looked_up["parts"].fill_null(0).to_numpy()
    the_one = looked_up["label"].fill_null(-1 - looked_up["group"]).to_numpy()  # no title in the group: nothing speaks against it
    labels = np.where(~known & (number <= 1), the_one, labels)
    return labels, number > 1


# -- one title -------------------------------------------------------------------------------------------------------


def _title_owners(keys: NodeKeys, with_doi: Indices, cluster: Indices) -> tuple[Indices, Words, Words]:
    """For titles that stand in DOI clusters: the cluster of each that stands in one, those titles ascending, and the titles
    that stand in several, which are no key."""
    titled = with_doi[keys.title[with_doi] != 0]
    order = titled[np.lexsort((cluster[titled], keys.title[titled]))]
    title, owner = keys.title[order], cluster[order]
    starts = run_starts(title, owner)
    title, owner = title[starts], owner[starts]
    firsts = run_starts(title)
    single = np.diff(np.append(firsts, len(title))) == 1
    return owner[firsts[single]], title[firsts[single]], title[firsts[~single]]


def _join_owners(keys: NodeKeys, loose: Indices, with_doi: Indices, owned: Words) -> Indices:
    """Those of the nodes without DOI that are compatible with a member, of their title, of the DOI cluster that has it."""
    candidates = loose[among(keys.title[loose], owned)]
    members = with_doi[among(keys.title[with_doi], np.unique(keys.title[candidates]))]
    mine, theirs = node_frame(keys, candidates), node_frame(keys, members)
    my_authors, their_authors = author_frame(keys, candidates), author_frame(keys, members)
    unsigned_mine, signed_mine = mine.filter(~pl.col("signed")), mine.filter(pl.col("signed"))
    found = pl.concat(
        [
            _within_years(my_authors, their_authors, ["title", "author"]),
            _within_years(unsigned_mine, theirs, ["title"]),
            _within_years(signed_mine, theirs.filter(~pl.col("signed")), ["title"]),
        ]
    )
    return found.unique().sort().to_numpy()


def _within_years(mine: pl.DataFrame, theirs: pl.DataFrame, on: list[str]) -> pl.Series:
    """Nodes of mine for which theirs has a row of the same values in `on` and a year at most one apart, or unknown on a side."""
    undated = mine.filter(pl.col("year").is_null()).join(theirs, on=on, how="semi")
    dated = mine.filter(pl.col("year").is_not_null())
    by_unknown = dated.join(theirs.filter(pl.col("year").is_null()), on=on, how="semi")
    close = [
        dated.with_columns(pl.col("year") + apart).join(theirs, on=[*on, "year"], how="semi")
        for apart in range(-YEARS_APART, YEARS_APART + 1)
    ]
    return pl.concat([part["node"] for part in (undated, by_unknown, *close)])


def _title_links(keys: NodeKeys, nodes: Indices) -> tuple[Indices, Indices]:
    """Links between nodes of one title that are compatible, enough of them for the right components.

    Both sides' years known and authors known: neighbours in the list, by year, of those who share an author. Unknown ones are
    compatible with whole stretches of that list, and are linked to every node of the stretch, once.
    """
    title, place, sizes = np.unique(keys.title[nodes], return_inverse=True, return_counts=True)
    shared = nodes[sizes[place] > 1] if title.size else nodes
    if not shared.size:
        return shared, shared
    frame, authors = node_frame(keys, shared), author_frame(keys, shared)
    links = [chain(authors, ["title", "author"])]
    unsigned = frame.filter(~pl.col("signed"))
    undated = frame.filter(pl.col("year").is_null())
    if unsigned.height:
        at_year = unsigned.filter(pl.col("year").is_not_null()).group_by("title", "year").agg(pl.col("node").min().alias("hub"))
        for apart in range(-YEARS_APART, YEARS_APART + 1):
            links.append(at_year.with_columns(pl.col("year") + apart).join(frame, on=["title", "year"]).select("hub", "node"))
        # With neither year nor author: compatible with all of the title.
        links.append(_hub(unsigned.filter(pl.col("year").is_null())).join(frame, on="title").select("hub", "node"))
        # Each without authors is compatible with each without year: one component, where there are both.
        both = unsigned.join(undated, on="title", how="semi")
        links.append(_hub(both).join(undated, on="title").select("hub", "node"))
        links.append(_hub(undated).join(both, on="title").select("hub", "node"))
    linked = pl.concat(links)
    return linked["hub"].to_numpy(), linked["node"].to_numpy()


def _hub(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.group_by("title").agg(pl.col("node").min().alias("hub"))


def chain(frame: pl.DataFrame, on: list[str], years_apart: int = YEARS_APART) -> pl.DataFrame:
    """Links between neighbours by year within each group of equal `on`; between all neighbours where one has no year."""
    ordered = frame.sort([*on, "year", "node"], nulls_last=False).with_columns(
        pl.col("node").shift(1).over(on).alias("hub"),
        pl.col("year").diff().over(on).alias("step"),
        pl.col("year").is_null().any().over(on).alias("open"),
    )
    near = pl.col("open") | (pl.col("step") <= years_apart)
    return ordered.filter(pl.col("hub").is_not_null() & near).select("hub", "node")


def node_frame(keys: NodeKeys, nodes: Indices) -> pl.DataFrame:
    """Title, year (null where unknown) and whether authors are known, of some nodes."""
    starts = keys.author_starts
    return pl.DataFrame(
        {
            "node": nodes,
            "title": keys.title[nodes],
            "year": keys.year[nodes],
            "signed": starts[nodes + 1] > starts[nodes],
        },
        schema={"node": pl.Int64, "title": pl.UInt64, "year": pl.Int32, "signed": pl.Boolean},
    ).with_columns(pl.when(pl.col("year") != NO_YEAR).then(pl.col("year")).alias("year"))


def author_frame(keys: NodeKeys, nodes: Indices) -> pl.DataFrame:
    """Title, year and author key: a row for each author of each of the nodes."""
    first, last = keys.author_starts[nodes], keys.author_starts[nodes + 1]
    lengths = last - first
    before = np.cumsum(lengths) - lengths
    places = np.repeat(first - before, lengths) + np.arange(int(lengths.sum()), dtype=np.int64)
    rows = np.repeat(np.arange(len(nodes), dtype=np.int64), lengths)
    return node_frame(keys, nodes)[rows].with_columns(pl.Series("author", keys.authors[places], dtype=pl.Int64))

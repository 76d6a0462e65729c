"""Which papers are versions of one work that identity keeps apart, pure: a preprint and what was published of it, two preprints of it.

A paper is a preprint where a record of it is one and none is of anything published (`preprints`). It is a version of the published paper
that has one of its titles, an author in common, where both have authors, and a year from one before its own to YEARS_LATER after it; of
several the earliest, ties to the smaller id. Where authors are unknown, only a paper that alone has the title will do. Preprints that
share a title and an author, or whose DOIs differ in the number of a version alone, are of one work: what stands for one stands for all,
the published paper or else the latest preprint. So a version never leads to another version. Conference and journal papers of one title
are two publications, and none is a version of the other.

Only papers that share a title with a preprint are looked at, and no step looks at all pairs.
What does not belong here: reading records, writing tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from scholarlake.corpus.clusters import NodeKeys, among, author_frame, chain, components, node_frame
from scholarlake.corpus.keys import Indices
from scholarlake.corpus.preprints import PREPRINT, PUBLISHED

YEARS_BEFORE = 1
YEARS_LATER = 4
TITLE_AND_AUTHOR, TITLE, OTHER_PREPRINT = range(3)
"""What tied a version to its work. Values index contracts.VERSION_RULES."""

_BEST = ["rule", "target_year", "target_place"]


@dataclass(frozen=True)
class Nodes:
    """Nodes and the papers that they are of. Arrays have shape (n,).

    kind: of preprints.kind. paper: the node that names each node's paper. ids: the paper ids of such nodes.
    numbered: node, stem and number: DOIs of numbered versions of preprints, the stem being what is the same in all versions.
    """

    keys: NodeKeys
    kind: NDArray[np.uint8]
    paper: Indices
    ids: Callable[[Indices], pl.Series]
    numbered: pl.DataFrame


def decide_versions(nodes: Nodes) -> pl.DataFrame:
    """paper, version_of (both named by node) and rule, a row for every paper that is a version of another."""
    preprint, published = _classes(nodes)
    papers = _looked_at(nodes, preprint, published)
    if not len(papers):
        return pl.DataFrame(schema={"paper": pl.Int64, "version_of": pl.Int64, "rule": pl.Int64})
    facts, authored = _facts(nodes, papers, preprint)
    candidates = _published(facts, authored)
    numbered = nodes.numbered.with_columns(pl.Series("paper", nodes.paper[nodes.numbered["node"].to_numpy()], dtype=pl.Int64))
    works = _works(facts, authored, numbered)
    return _final(facts, works, candidates, numbered)


def _classes(nodes: Nodes) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """By node that names a paper: whether it is a preprint, whether it was published."""
    preprint, published = (np.zeros(len(nodes.keys), dtype=bool) for _ in range(2))
    preprint[nodes.paper[nodes.kind == PREPRINT]] = True
    published[nodes.paper[nodes.kind == PUBLISHED]] = True
    return preprint & ~published, published


def _looked_at(nodes: Nodes, preprint: NDArray[np.bool_], published: NDArray[np.bool_]) -> Indices:
    """Preprints that share a title or the stem of a DOI with another preprint or something published, and what was published so."""
    title, paper = nodes.keys.title, nodes.paper
    mine = np.flatnonzero(preprint[paper] & (title != 0))
    titles = np.unique(title[mine])
    theirs = np.flatnonzero(published[paper] & among(title, titles))
    pairs = np.unique(np.stack([title[mine], paper[mine].astype(np.uint64)], axis=1), axis=0) if len(mine) else np.empty((0, 2), np.uint64)
    several, counts = np.unique(pairs[:, 0], return_counts=True)
    shared = among(title[mine], np.unique(title[theirs])) | among(title[mine], several[counts > 1])
    stems = nodes.numbered.filter(pl.len().over("stem") > 1)["node"].to_numpy()
    return np.unique(np.concatenate([paper[mine[shared]], paper[theirs], paper[stems][preprint[paper[stems]]]]))


def _facts(nodes: Nodes, papers: Indices, preprint: NDArray[np.bool_]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A row for each title of each paper: paper, place (in the order of ids), preprint, signed, year, title; and the same by author.

    year: the earliest that a record gives. signed: whether any of its records has authors.
    """
    wanted = np.zeros(len(nodes.keys), dtype=bool)
    wanted[papers] = True
    members = np.flatnonzero(wanted[nodes.paper])
    named = pl.Series("paper", nodes.paper[members], dtype=pl.Int64)
    rows = node_frame(nodes.keys, members).with_columns(named)
    ranked = pl.DataFrame({"paper": papers, "id": nodes.ids(papers)}).sort("id").with_row_index("place")
    about = rows.group_by("paper").agg(pl.col("year").min(), pl.col("signed").any()).join(ranked.drop("id"), on="paper")
    about = about.with_columns(pl.Series("preprint", preprint[about["paper"].to_numpy()], dtype=pl.Boolean))
    facts = about.join(rows.filter(pl.col("title") != 0).select("paper", "title").unique(), on="paper", how="left")
    people = author_frame(nodes.keys, members).select("node", "author")
    of_node = pl.DataFrame({"node": members, "paper": named})
    people = people.join(of_node, on="node").select("paper", "author").unique()
    return facts, facts.drop_nulls("title").join(people, on="paper")


def _published(facts: pl.DataFrame, authored: pl.DataFrame) -> pl.DataFrame:
    """What was published of each preprint: paper, rule, target, target_year and target_place, several rows a preprint at most."""
    target = {"target": "paper", "target_year": "year", "target_place": "place"}
    mine, theirs = authored.filter("preprint"), authored.filter(~pl.col("preprint")).select("title", "author", **target)
    by = ["title", "author"]
    first = theirs.sort(*_BEST[1:], nulls_last=True)
    dated = mine.drop_nulls("year").with_columns(since=pl.col("year") - YEARS_BEFORE).sort("since")
    a_year = first.drop_nulls("target_year").unique([*by, "target_year"], keep="first", maintain_order=True).sort("target_year")
    next_one = dated.join_asof(a_year, left_on="since", right_on="target_year", by=by, strategy="forward", check_sortedness=False)
    found = [
        next_one.filter(pl.col("target_year") <= pl.col("year") + YEARS_LATER),
        mine.join(first.filter(pl.col("target_year").is_null()).unique(by, keep="first", maintain_order=True), on=by),
        mine.filter(pl.col("year").is_null()).join(first.unique(by, keep="first", maintain_order=True), on=by),
    ]
    columns = [pl.col("paper"), *(pl.col(name) for name in target)]
    by_author = pl.concat([frame.select(columns) for frame in found]).with_columns(rule=pl.lit(TITLE_AND_AUTHOR, pl.Int64))

    titled = facts.drop_nulls("title")
    alone = titled.filter(~pl.col("preprint")).filter(pl.col("paper").n_unique().over("title") == 1)
    pairs = titled.filter("preprint").join(alone.select("title", theirs_signed="signed", **target), on="title")
    unknown = ~(pl.col("signed") & pl.col("theirs_signed"))
    near = pl.col("target_year").is_between(pl.col("year") - YEARS_BEFORE, pl.col("year") + YEARS_LATER).fill_null(True)
    by_title = pairs.filter(unknown & near).select(columns).with_columns(rule=pl.lit(TITLE, pl.Int64))
    return pl.concat([by_author, by_title])


def _works(facts: pl.DataFrame, authored: pl.DataFrame, numbered: pl.DataFrame) -> pl.DataFrame:
    """paper and work, a number: the preprints that are of one work."""
    papers = facts.filter("preprint").select("paper").unique().sort("paper").with_row_index("at")
    same = chain(authored.filter("preprint").rename({"paper": "node"}), ["title", "author"], YEARS_LATER)
    stems = numbered.join(papers, on="paper", how="semi").sort("stem", "paper")
    stems = stems.with_columns(hub=pl.col("paper").shift(1).over("stem")).drop_nulls("hub").select("hub", node="paper")
    links = pl.concat([same.select("hub", "node"), stems])
    at = [
        links.join(papers, left_on=end, right_on="paper", maintain_order="left")["at"].to_numpy().astype(np.int64) for end in links.columns
    ]
    return papers.select("paper", work=pl.Series(components(papers.height, *at), dtype=pl.Int64))


def _final(facts: pl.DataFrame, works: pl.DataFrame, candidates: pl.DataFrame, numbered: pl.DataFrame) -> pl.DataFrame:
    """Each preprint of a work with what stands for the work, but for that itself."""
    own = candidates.sort(*_BEST, nulls_last=True).unique("paper", keep="first", maintain_order=True)
    best = works.join(own, on="paper").sort(*_BEST, nulls_last=True).unique("work", keep="first", maintain_order=True)
    latest = (
        works.join(facts.select("paper", "year", "place").unique("paper"), on="paper")
        .join(numbered.group_by("paper").agg(pl.col("number").max()), on="paper", how="left")
        .with_columns(number=pl.col("number").fill_null(0))
        .sort("year", "number", "place", descending=[True, True, False], nulls_last=True)
        .unique("work", keep="first", maintain_order=True)
        .select("work", latest="paper")
    )
    decided = (
        works.join(best.select("work", "target"), on="work", how="left")
        .join(latest, on="work")
        .join(own.select("paper", own="target", rule="rule"), on="paper", how="left")
        .with_columns(version_of=pl.coalesce("target", "latest"))
    )
    by_itself = pl.col("own").eq_missing(pl.col("version_of"))
    rule = pl.when(by_itself).then(pl.col("rule")).otherwise(pl.lit(OTHER_PREPRINT, pl.Int64))
    return decided.select("paper", "version_of", rule=rule).filter(pl.col("paper") != pl.col("version_of")).sort("paper")

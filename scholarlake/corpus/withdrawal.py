"""Which papers were retracted or withdrawn: what their own records say, and what notices say that are papers of their own.

A record says so of itself by its title, its document type or its abstract; only the newest of an id is heard. A notice
names a work by its title: it marks the one paper that has this title and is not younger than the notice; of several, what stands for
the others, or the one that shares an author with the notice. What remains ambiguous marks nothing.
What does not belong here: how such titles and abstracts are worded (`sources/marks`), writing tables.
"""

from __future__ import annotations

import unicodedata

import numpy as np
import polars as pl

from scholarlake.corpus.clusters import among, author_frame, node_frame
from scholarlake.corpus.versions import Nodes
from scholarlake.lake.contracts import WITHDRAWN_BY
from scholarlake.sources.marks import (
    ABSTRACT_SIGNS,
    WITHDRAWAL_SIGNS,
    WITHDRAWN_TYPES,
    abstract_says_withdrawn,
    is_withdrawn,
    work_withdrawn,
)
from scholarlake.sources.titles import fingerprint

_SIGNS = "(?i)" + "|".join(unicodedata.normalize(form, sign) for sign in WITHDRAWAL_SIGNS for form in ("NFC", "NFD"))


def may_be_about_withdrawal() -> pl.Expr:
    """Whether a title holds a word by which withdrawals are told: what has none needs no second look."""
    return pl.col("title").str.contains(_SIGNS)


def own_signs(records: pl.DataFrame) -> pl.Series:
    """What of each record says that it was withdrawn, as an index into WITHDRAWN_BY; null where nothing does. Int8.

    records: title, doc_type and abstract.
    """
    marked = records.select(
        title=may_be_about_withdrawal(),
        doc_type=pl.col("doc_type").str.strip_chars().str.to_lowercase().is_in(WITHDRAWN_TYPES),
        abstract=pl.col("abstract").str.contains_any(list(ABSTRACT_SIGNS), ascii_case_insensitive=True),
    ).fill_null(False)
    found = np.full(records.height, len(WITHDRAWN_BY), dtype=np.int8)
    asked = {"title": _title_says_so, "doc_type": None, "abstract": abstract_says_withdrawn}
    for name, says_so in asked.items():
        rows = marked[name].arg_true().to_numpy()
        if says_so is not None:
            rows = rows[np.fromiter(map(says_so, records[name].gather(rows)), dtype=bool, count=len(rows))]
        found[rows] = np.minimum(found[rows], WITHDRAWN_BY.index(name))
    signs = pl.Series("sign", found)
    return signs.set(signs == len(WITHDRAWN_BY), None)


def _title_says_so(title: str) -> bool:
    return is_withdrawn(unicodedata.normalize("NFC", title))


def named_by(title: str) -> str | None:
    """The fingerprint of the work that a notice of this title is about; None for what is no notice or names no key."""
    return fingerprint(work_withdrawn(unicodedata.normalize("NFC", title)))


def decide_withdrawals(nodes: Nodes, notices: pl.DataFrame, versions: pl.DataFrame) -> pl.DataFrame:
    """paper and notice (both named by node), a row for every paper that a notice is about.

    notices: node, and title: the hash of the fingerprint that it names. versions: what `decide_versions` found.
    """
    titles = np.unique(notices["title"].to_numpy())
    members = np.flatnonzero(among(nodes.keys.title, titles))
    if not len(members):
        return pl.DataFrame(schema={"paper": pl.Int64, "notice": pl.Int64})
    at = notices["node"].to_numpy()
    said = (
        node_frame(nodes.keys, at)
        .select("node", until=pl.col("year") + 1)
        .with_columns(notices["title"], pl.Series("notice", nodes.paper[at], dtype=pl.Int64))
    )
    final = versions.select("paper", stands="version_of")
    works = node_frame(nodes.keys, members).with_columns(pl.Series("paper", nodes.paper[members], dtype=pl.Int64))
    pairs = (
        said.join(works.select("title", "year", "paper", member="node"), on="title")
        .filter((pl.col("paper") != pl.col("notice")) & (pl.col("year") <= pl.col("until")).fill_null(True))
        .join(final, on="paper", how="left")
        .with_columns(paper=pl.coalesce("stands", "paper"))
    )
    signers, people = author_frame(nodes.keys, at).select("node", "author"), author_frame(nodes.keys, members).select("node", "author")
    shared = (
        pairs.select("notice", "node", "paper", "member")
        .join(signers, on="node")
        .join(people.rename({"node": "member"}), on=["member", "author"], how="semi")
        .select("notice", "paper")
        .unique()
        .with_columns(shares=pl.lit(True))
    )
    each = (
        pairs.select("notice", "paper")
        .unique()
        .join(shared, on=["notice", "paper"], how="left")
        .with_columns(pl.col("shares").fill_null(False))
    )
    several, known = pl.len().over("notice") > 1, pl.col("shares").any().over("notice")
    left = each.filter(~several | ~known | pl.col("shares")).filter(pl.len().over("notice") == 1)
    papers = np.unique(left["notice"].to_numpy())
    order = pl.DataFrame({"notice": papers, "id": nodes.ids(papers)}, schema={"notice": pl.Int64, "id": pl.String})
    return left.join(order, on="notice").sort("paper", "id").unique("paper", keep="first", maintain_order=True).select("paper", "notice")

"""The whole corpus as questions ask of it: every paper by what it cites, what cites it, year, venue, author, keyword and reported number.

Papers are numbered as the citation graph numbers them. What does not belong here: which of it a question says (`parts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from scholarlake.corpus.csr import CitationGraph
from scholarlake.errors import LakeError
from scholarlake.lake import receipts
from scholarlake.lake.home import Lake
from scholarlake.training.graph import Mask, Nodes
from scholarlake.training.postings import Postings

_DOUBTED = ("failed", "unresolved")


@dataclass(frozen=True)
class Corpus:
    """papers: in the order of the graph's nodes, with paper_id, title, year, venue, authors, keywords (names as written), in_degree.

    quantities: node, metric, value, unit of the numbers that facts report, each once.
    """

    graph: CitationGraph
    papers: pl.DataFrame
    quantities: pl.DataFrame

    def __len__(self) -> int:
        return self.papers.height

    def paper(self, node: int) -> dict[str, Any]:
        """What is known of a paper."""
        return self.papers.row(node, named=True)

    def nodes(self, paper_ids: list[str]) -> Nodes:
        """Numbers of some papers, in their order. Raises NotFound where there is no such paper."""
        return np.array([self.graph.node(paper) for paper in paper_ids], dtype=np.uint32)

    @cached_property
    def has_own_title(self) -> Mask:
        """Whether no other paper has the title, but for case, punctuation and spaces. Shape (papers,)."""
        letters = self.papers["title"].fill_null("").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", "")
        mask: Mask = (~letters.is_duplicated() & (letters.str.len_chars() > 0)).to_numpy()
        return mask

    @cached_property
    def by_year(self) -> Postings:
        return self._single(pl.col("year").cast(pl.String))

    @cached_property
    def by_venue(self) -> Postings:
        return self._single(pl.col("venue"))

    @cached_property
    def by_author(self) -> Postings:
        return self._several("authors")

    @cached_property
    def by_keyword(self) -> Postings:
        return self._several("keywords")

    @cached_property
    def by_citations(self) -> Postings:
        return self._single(pl.col("in_degree").cast(pl.String))

    @cached_property
    def by_quantity(self) -> Postings:
        number = pl.concat_str("value", "unit", separator=" ", ignore_nulls=True)
        said = pl.concat_str("metric", number, separator=" = ")
        return Postings.of(self.quantities.lazy().select("node", value=said))

    def _single(self, value: pl.Expr) -> Postings:
        return Postings.of(self.papers.lazy().select(value.alias("value")).with_row_index("node"))

    def _several(self, column: str) -> Postings:
        listed = self.papers.lazy().select(value=column).with_row_index("node")
        return Postings.of(listed.explode("value", keep_nulls=False, empty_as_null=False))


def read_corpus(lake: Lake) -> Corpus:
    """The corpus of the lake as it is now. Raises LakeError where its citation graph has not been built, or is of another corpus."""
    receipt = receipts.read(lake, "citation_graph")
    if receipt is None or receipt.artifact is None:
        raise LakeError("citation_graph has not been built; run `scholarlake build --to citation_graph`")
    graph = CitationGraph.open(lake.root / receipt.artifact)
    papers = lake.scan("papers").select(
        "paper_id",
        "title",
        "year",
        "venue",
        authors=pl.col("authors").list.eval(pl.element().struct.field("name")),
        keywords="keywords",
    )
    degrees = lake.scan("degrees").select("paper_id", "in_degree")
    joined = degrees.join(papers, on="paper_id", how="left").sort("in_degree", "paper_id", descending=[True, False]).collect()
    if len(joined) != len(graph):
        raise LakeError("citation_graph is of another corpus; run `scholarlake build --to citation_graph`")
    facts = (
        lake.scan("facts").filter(~pl.col("verification").is_in(_DOUBTED)).select("paper_id", said="quantities")
        .explode("said", keep_nulls=False, empty_as_null=False).unnest("said")
        .filter(pl.col("metric").is_not_null(), pl.col("number").is_not_null(), pl.col("comparator").is_null())
        .select("paper_id", "metric", "value", "unit").unique()
    )  # fmt: skip
    numbered = joined.lazy().select("paper_id").with_row_index("node")
    quantities = facts.join(numbered, on="paper_id").select("node", "metric", "value", "unit").sort(pl.all()).collect()
    return Corpus(graph, joined, quantities)

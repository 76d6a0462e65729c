"""The papers of a lake as a choice sees them: numbered by id, with the narrow columns that conditions and orders look at.

Some hundred bytes a paper are held in memory; whatever is wide is looked at by streaming and leaves a number behind.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from scholarlake.lake.home import Lake
from scholarlake.models.protocol import Vectors

Mask = NDArray[np.bool_]
Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

FEW = 0.05
"""Share of the papers up to which they are picked by name out of `papers`."""
_NAMED = 3  # versions named beside the one that was chosen
_DEGREES = ("in_degree", "out_degree", "total_degree")


class Candidates:
    """Papers numbered from 0 in the order of their ids. Masks and numbers are about these numbers.

    Papers without a row in degrees count as cited by nobody. Nothing is read before it is asked for.
    """

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self.vectors: list[tuple[Numbers, Vectors, str]] | None = None  # those that a search held (`nearest.py`)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """paper_id, shard, year, withdrawn, work (the id of the version that stands for it) and the degrees."""
        papers = self.lake.scan("papers").select("paper_id", "shard", "year", "withdrawn", work=pl.coalesce("version_of", "paper_id"))
        degrees = self.lake.scan("degrees").select("paper_id", *_DEGREES)
        joined = papers.join(degrees, on="paper_id", how="left").with_columns(pl.col(_DEGREES).fill_null(0))
        return joined.sort("paper_id").collect(engine="streaming")

    def __len__(self) -> int:
        return self.frame.height

    @cached_property
    def _numbers(self) -> pl.LazyFrame:
        return self.frame.lazy().select("paper_id", number=pl.int_range(pl.len(), dtype=pl.Int64))

    def numbered(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows with the number of their paper beside them, in their order; those of no paper are left out."""
        return rows.lazy().join(self._numbers, on="paper_id", how="inner", maintain_order="left").collect()

    def numbers(self, paper_ids: pl.Series) -> Numbers:
        """Numbers of some papers, in their order; those that there are not are left out."""
        return self.numbered(pl.DataFrame({"paper_id": paper_ids.cast(pl.String)}))["number"].to_numpy()

    def mask(self, paper_ids: pl.Series) -> Mask:
        """These papers, as a mask."""
        chosen = np.zeros(len(self), dtype=bool)
        chosen[self.numbers(paper_ids)] = True
        return chosen

    def where(self, predicate: pl.Expr, among: Mask | None = None) -> Mask:
        """Those of some papers (of all) for which a predicate over columns of `papers` holds, read as a stream. Null is no."""
        papers = self.lake.scan("papers") if among is None or among.sum() > FEW * len(self) else self.rows(among)
        found = self.mask(papers.filter(predicate).select("paper_id").collect(engine="streaming")["paper_id"])
        return found if among is None else found & among

    def rows(self, among: Mask) -> pl.LazyFrame:
        """The rows that some papers have in `papers`. Of a few, the wide columns of the others are not decoded."""
        ids = self.frame["paper_id"].filter(pl.Series(among))
        if len(ids) <= FEW * len(self):
            return self.lake.scan("papers").filter(pl.col("paper_id").is_in(ids.implode()))
        return self.lake.scan("papers").join(ids.to_frame().lazy(), on="paper_id", how="semi")

    def numbers_in(self, shard: str, among: Mask) -> pl.LazyFrame:
        """paper_id and number of those of some papers that lie in a shard."""
        return self._numbers.filter(pl.Series(among) & (self.frame["shard"] == shard))

    def column(self, name: str) -> NDArray[np.int64]:
        """A whole-number column of the frame."""
        return self.frame[name].to_numpy()

    @cached_property
    def present(self) -> Mask:
        """Papers that were not withdrawn, nor are versions of one that was."""
        gone = self.frame["paper_id"].filter(self.frame["withdrawn"])
        return self.frame.select(~pl.col("withdrawn") & ~pl.col("work").is_in(gone.implode())).to_series().to_numpy()

    def resolve(self, record_ids: Iterable[str]) -> tuple[pl.Series, list[str]]:
        """The papers that ids of papers or of records merged into them name, and the ids that name none, in their order."""
        asked = list(dict.fromkeys(record_ids))
        wanted = pl.LazyFrame({"record_id": asked}, {"record_id": pl.String})
        known = self.lake.scan("identities").select("record_id", "paper_id").join(wanted, on="record_id", how="semi").unique()
        found = known.collect(engine="streaming")
        names = set(found["record_id"])
        return found["paper_id"].unique().sort(), [name for name in asked if name not in names]

    def withdrawn_among(self, paper_ids: pl.Series) -> list[str]:
        """Those of some papers that may not be chosen: they, or what they are versions of, were withdrawn."""
        numbers = self.numbers(paper_ids)
        return self.frame["paper_id"].gather(numbers[~self.present[numbers]]).to_list()

    def versions_beside(self, chosen: Numbers) -> list[str | None]:
        """For each of some papers, all of different works, what is said of the other versions of its work; None where there are none."""
        rows = self.frame.lazy().select("paper_id", "work")
        mine = self.frame[chosen].lazy().select("work", mine="paper_id")
        others = rows.join(mine, on="work").filter(pl.col("paper_id") != pl.col("mine")).sort("paper_id")
        said = others.group_by("mine").agg(
            stands=pl.col("work").first(), others=pl.col("paper_id").head(_NAMED).str.join(", "), more=pl.len().cast(pl.Int64) - _NAMED
        )
        itself = pl.col("stands") == pl.col("mine")
        words = pl.when(itself).then(pl.lit("chosen for its versions ")).otherwise(pl.lit("one of its versions is "))
        more = pl.when(pl.col("more") > 0).then(pl.format(" and {} more", "more")).otherwise(pl.lit(""))
        named = said.select("mine", said=pl.concat_str(words, "others", more))
        return mine.join(named, on="mine", how="left", maintain_order="left").collect()["said"].to_list()

    def one_of_each_work(self, chosen: Mask) -> Mask:
        """Of the versions of one work that are chosen only one: the one that stands for the others, else the first by id."""
        rows = self.frame.lazy().select("paper_id", "work", number=pl.int_range(pl.len(), dtype=pl.Int64)).filter(pl.Series(chosen))
        kept = rows.sort(pl.col("paper_id") != pl.col("work"), "number").unique("work", keep="first").select("number").collect()
        one = np.zeros(len(self), dtype=bool)
        one[kept["number"].to_numpy()] = True
        return one


def ordered(numbers: Numbers, *keys: tuple[Values | NDArray[np.int64], bool]) -> Numbers:
    """Numbers sorted by keys, the first weighing most: values aligned with numbers, and whether the largest come first. Ties by number."""
    columns = [numbers, *(-values if largest_first else values for values, largest_first in reversed(keys))]
    return numbers[np.lexsort(columns)]

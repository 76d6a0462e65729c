"""Claims about edges as rows: their short cuts give what plain frames give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scholarlake.corpus import citations
from scholarlake.corpus.edge_rows import EdgeRows, PaperIds
from scholarlake.corpus.parallel import THREADS, in_parallel
from scholarlake.corpus.shard_writer import ShardWriter
from scholarlake.errors import ContractError
from scholarlake.lake import contracts, delta
from scholarlake.lake.content import Content, content_of
from scholarlake.lake.home import Lake
from tests.unit.corpus.making import RUN

IDS = pl.Series([f"{'long-enough-not-to-be-inlined-' * (number % 2)}{number}\x00é" for number in range(40)])


def rows(pairs: set[tuple[int, int]], papers: pl.Series = IDS) -> EdgeRows:
    return EdgeRows(PaperIds(papers), np.array(sorted(citing << 32 | cited for citing, cited in pairs), dtype=np.uint64), "00")


@settings(deadline=None)
@given(st.sets(st.tuples(st.integers(0, 39), st.integers(0, 39))))
def test_dictionaries_and_hashes_by_number_say_what_the_text_says(pairs: set[tuple[int, int]]) -> None:
    edges = rows(pairs)
    frame = edges.frame()
    assert edges.wanted(contracts.CITATIONS).content == content_of(contracts.CITATIONS, frame)
    read = pl.DataFrame(edges.encoded()).with_columns(pl.all().cast(pl.String))
    assert read.rows() == frame.select("citing_id", "cited_id").rows() == [(IDS[one], IDS[other]) for one, other in sorted(pairs)]


def test_a_file_of_dictionaries_reads_as_plain_text_and_holds_what_a_plain_one_holds(tmp_path: Path) -> None:
    lake, edges = Lake.create(tmp_path / "lake", 4), rows({(0, 1), (0, 2), (3, 1)})
    staged = delta.stage_encoded(lake, "citations", "00", edges.encoded(), edges.wanted(contracts.CITATIONS).content)
    delta.commit_staged(lake, "citations", "00", [staged], RUN)
    assert dict(pl.read_parquet_schema(lake.table_path("citations") / staged.path)) == {"citing_id": pl.String, "cited_id": pl.String}
    assert lake.scan("citations").collect().equals(edges.frame())
    assert delta.partition_content(lake, "citations", "00") == staged.content
    assert delta.write_partition(lake, "citations", "00", edges.frame(), RUN).changed == 0


def test_dictionaries_of_other_columns_are_refused(tmp_path: Path) -> None:
    lake, encoded = Lake.create(tmp_path / "lake", 4), rows({(0, 1)}).encoded()
    numbers = pa.table({"citing_id": encoded["citing_id"], "cited_id": pa.array([1])})
    for wrong in (numbers, encoded.drop_columns(["cited_id"]), encoded.select(["cited_id", "citing_id"])):
        with pytest.raises(ContractError):
            delta.stage_encoded(lake, "citations", "00", wrong, Content())
    assert not list(tmp_path.rglob("*.parquet"))


def test_new_shards_share_a_commit_until_they_are_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = Lake.create(tmp_path / "lake", 4)
    shards = {f"{number:02d}": frame(number) for number in range(4)}

    def write(name: str, rows_at_most: int) -> int | None:
        monkeypatch.setattr("scholarlake.corpus.shard_writer.COMMIT_ROWS", rows_at_most)
        writer = ShardWriter(lake, name, RUN, lambda done, total, what: None)
        report = writer.write((shard, iter([rows])) for shard, rows in shards.items())
        assert (report.rows, report.inserted, sorted(report.content_versions)) == (10, 10, sorted(shards))
        return report.version

    assert write("citations", 1_000) == 1
    assert write("core_citations", 6) == 2
    both = [lake.scan(name).sort("citing_id").collect() for name in ("citations", "core_citations")]
    assert both[0].height == 10
    assert both[0].equals(both[1])


def test_a_shard_that_another_writer_made_meanwhile_is_replaced_not_added_to(tmp_path: Path) -> None:
    lake = Lake.create(tmp_path / "lake", 4)
    staged = {shard: [delta.stage(lake, "citations", shard, frame(number))] for number, shard in ((2, "02"), (3, "03"))}
    delta.write_partition(lake, "citations", "03", frame(3).head(1), RUN)
    written = delta.commit_new(lake, "citations", staged, RUN)
    assert {shard: one.rows for shard, one in written.items()} == {"02": 3, "03": 4}
    assert lake.scan("citations").collect().height == 7


def frame(shard: int) -> pl.DataFrame:
    """shard + 1 edges of a shard."""
    ends = range(shard + 1)
    return pl.DataFrame(
        {"citing_id": [f"{shard}-{end}" for end in ends], "cited_id": ["x" for _ in ends], "shard": [f"{shard:02d}" for _ in ends]}
    )


def test_pieces_come_back_in_order_and_no_more_are_drawn_than_are_at_work() -> None:
    drawn: list[int] = []

    def pieces() -> Iterator[int]:
        for number in range(10):
            drawn.append(number)
            yield number

    for done, result in enumerate(in_parallel(lambda number: number * 2, pieces())):
        assert result == done * 2
        assert len(drawn) <= done + THREADS + 1


def test_work_that_fails_fails_where_it_is_waited_for() -> None:
    with pytest.raises(ZeroDivisionError):
        list(in_parallel(lambda number: 1 // number, [1, 2, 0, 3]))


def test_in_degrees_are_told_by_powers_of_two() -> None:
    told = citations._histogram(np.array([0, 0, 1, 2, 3, 4, 100]))
    assert told == {"0": 2, "1": 1, "2–3": 2, "4–7": 1, "64–127": 1}

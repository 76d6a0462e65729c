"""The one writer: what it refuses, what it leaves alone, and what becomes of other partitions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from deltalake import DeltaTable

from scholarlake.errors import ContractError, LakeError
from scholarlake.lake import contracts, delta, releases
from scholarlake.lake.content import wanted_rows
from scholarlake.lake.home import Lake

RUN = delta.Commit("run", "1")


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake", 4)


def rejects(part: str, rows: int, reason: str = "blank") -> pl.DataFrame:
    return pl.DataFrame(
        {
            "dump_part": [part] * rows,
            "byte_offset": list(range(rows)),
            "byte_length": [1] * rows,
            "reason": [reason] * rows,
            "detail": [None] * rows,
            "excerpt": [""] * rows,
            "method": ["reader"] * rows,
            "code_version": ["1"] * rows,
        },
        schema=contracts.REJECTS.schema,
    )


def degrees(shard: str, rows: int, in_degree: int = 1, first: int = 0) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "paper_id": [f"p{number}" for number in range(first, first + rows)],
            "shard": [shard] * rows,
            "in_degree": [in_degree] * rows,
            "out_degree": [1] * rows,
            "total_degree": [in_degree + 1] * rows,
        },
        schema=contracts.CORE_PAPERS.schema,
    )


def counts(lake: Lake, name: str, by: str) -> dict[str, int]:
    return dict(lake.scan(name).group_by(by).len().collect().iter_rows())


@pytest.mark.parametrize("part", ["o'brien", "x' OR '1'='1", "a/b c%20.jsonl.gz", "深度=学习", "a?b#c&d"])
def test_a_partition_key_with_quotes_or_slashes_replaces_itself_alone(lake: Lake, part: str) -> None:
    delta.commit_staged(lake, "rejects", "other", [delta.stage(lake, "rejects", "other", rejects("other", 7))], RUN)
    delta.commit_staged(lake, "rejects", part, [delta.stage(lake, "rejects", part, rejects(part, 3))], RUN)
    delta.commit_staged(lake, "rejects", part, [delta.stage(lake, "rejects", part, rejects(part, 5))], RUN)
    assert counts(lake, "rejects", "dump_part") == {"other": 7, part: 5}
    assert lake.scan("rejects").filter(pl.col("dump_part") == part).collect().height == 5
    assert delta.partitions(lake, "rejects") == sorted(["other", part])


def test_equal_rows_make_no_version_whatever_their_order_and_code_version(lake: Lake) -> None:
    first = delta.write_partition(lake, "core_papers", "00", degrees("00", 50), RUN)
    again = delta.write_partition(lake, "core_papers", "00", degrees("00", 50).reverse(), RUN)
    assert (again.version, again.changed, again.content_version) == (first.version, 0, first.content_version)

    files = [delta.stage(lake, "rejects", "a", rejects("a", 4))]
    staged = delta.commit_staged(lake, "rejects", "a", files, RUN)
    other_code = rejects("a", 4).with_columns(pl.lit("2").alias("code_version"))
    repeated = delta.commit_staged(lake, "rejects", "a", [delta.stage(lake, "rejects", "a", other_code)], RUN)
    assert repeated.version == staged.version
    assert len(list(lake.table_path("rejects").rglob("*.parquet"))) == 1, "the file that was not needed lies about"


def test_the_change_feed_holds_what_changed_and_no_more(lake: Lake) -> None:
    delta.write_partition(lake, "core_papers", "00", degrees("00", 1_000), RUN)
    edited = degrees("00", 1_001).with_columns(
        pl.when(pl.col("paper_id").is_in(["p3", "p4"])).then(99).otherwise("in_degree").alias("in_degree")
    )
    written = delta.write_partition(lake, "core_papers", "00", edited.filter(pl.col("paper_id") != "p5"), RUN)
    assert (written.inserted, written.updated, written.deleted, written.rows) == (1, 2, 1, 1_000)
    table = DeltaTable(str(lake.table_path("core_papers")))
    feed = pl.DataFrame(table.load_cdf(starting_version=table.version()))
    assert dict(feed.group_by("_change_type").len().iter_rows()) == {
        "insert": 1,
        "update_preimage": 2,
        "update_postimage": 2,
        "delete": 1,
    }


def test_known_changes_and_a_whole_partition_give_the_same_content_version(lake: Lake, tmp_path: Path) -> None:
    other = Lake.create(tmp_path / "other", 4)
    delta.write_partition(lake, "core_papers", "00", degrees("00", 20), RUN)
    changes = delta.apply(lake, "core_papers", "00", degrees("00", 2, 7), pl.DataFrame({"paper_id": ["p19", "never there", "p0"]}), RUN)
    whole = pl.concat([degrees("00", 2, 7), degrees("00", 17, first=2)])
    rebuilt = delta.write_partition(other, "core_papers", "00", whole, RUN)
    assert changes.content_version == rebuilt.content_version == delta.partition_content(lake, "core_papers", "00").version
    assert (changes.updated, changes.deleted) == (2, 1), "an upsert wins over a delete of the same key"


def test_a_frame_that_is_not_of_the_contract_is_refused_not_cast(lake: Lake) -> None:
    frame = degrees("00", 2)
    wrong = [
        frame.with_columns(pl.col("in_degree").cast(pl.Float64)),
        frame.with_columns(pl.col("in_degree").cast(pl.String)),
        frame.with_columns(pl.col("in_degree").cast(pl.Boolean)),
        frame.drop("out_degree"),
        frame.with_columns(pl.lit(1).alias("extra")),
        frame.with_columns(pl.lit("01").alias("shard")),
        pl.concat([frame, frame]),
        frame.with_columns(pl.lit(None, pl.String).alias("paper_id")),
    ]
    for bad in wrong:
        with pytest.raises(ContractError, match="core_papers"):
            delta.write_partition(lake, "core_papers", "00", bad, RUN)
    assert not delta.exists(lake, "core_papers")


def test_columns_without_a_single_value_keep_their_declared_type(lake: Lake) -> None:
    delta.commit_staged(lake, "rejects", "a", [delta.stage(lake, "rejects", "a", rejects("a", 3))], RUN)
    assert lake.scan("rejects").collect_schema() == contracts.REJECTS.schema
    assert lake.scan("rejects").collect()["detail"].null_count() == 3


def test_writers_of_different_partitions_at_once_all_survive(lake: Lake) -> None:
    def write(number: int) -> None:
        for rows in (10, 12, 11):
            delta.write_partition(lake, "core_papers", f"{number:02d}", degrees(f"{number:02d}", rows, first=number * 100), RUN)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert counts(lake, "core_papers", "shard") == {f"{number:02d}": 11 for number in range(8)}


def test_writers_of_one_partition_at_once_add_nothing_twice(lake: Lake) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: delta.write_partition(lake, "core_papers", "00", degrees("00", 40), RUN), range(6)))
    assert counts(lake, "core_papers", "shard") == {"00": 40}


def test_staged_rows_are_seen_by_nobody_before_their_commit(lake: Lake) -> None:
    delta.commit_staged(lake, "rejects", "a", [delta.stage(lake, "rejects", "a", rejects("a", 2))], RUN)
    delta.stage(lake, "rejects", "a", rejects("a", 9))
    assert counts(lake, "rejects", "dump_part") == {"a": 2}


def test_an_emptied_partition_is_empty_and_can_be_filled_again(lake: Lake) -> None:
    delta.write_partition(lake, "core_papers", "00", degrees("00", 5), RUN)
    gone = delta.write_partition(lake, "core_papers", "00", degrees("00", 0), RUN)
    assert (gone.deleted, gone.rows) == (5, 0)
    assert delta.write_partition(lake, "core_papers", "00", degrees("00", 5), RUN).rows == 5


def test_a_commit_says_who_made_it(lake: Lake) -> None:
    delta.write_partition(lake, "core_papers", "00", degrees("00", 1), delta.Commit("r-17", "3-abc", {"degrees": "v"}))
    newest = DeltaTable(str(lake.table_path("core_papers"))).history(1)[0]
    assert (newest["run_id"], newest["code_version"], newest["inputs"]) == ("r-17", "3-abc", '{"degrees": "v"}')


def test_a_version_that_is_gone_is_a_clear_error(lake: Lake) -> None:
    delta.write_partition(lake, "core_papers", "00", degrees("00", 1), RUN)
    with pytest.raises(LakeError, match="at version 99"):
        lake.scan("core_papers", 99).collect()


@pytest.mark.parametrize("folder", ["My Drive", "Jörg", "深度 学习", "a#b?c", "it's {1} + (2) & 3", "100%"])
def test_a_lake_is_read_and_written_whatever_its_folder_is_called(tmp_path: Path, folder: str) -> None:
    lake = Lake.create(tmp_path / folder / "lake", 2)
    for rows in (1, 2):
        delta.write_partition(lake, "core_papers", "00", degrees("00", rows), RUN)
        assert lake.scan("core_papers").collect().height == rows
    pin = releases.PinnedTable("tables/core_papers", 1, 1)
    release = releases.Release("r0001", "", 2, {}, {}, {"core_papers": pin}, {}, {})
    found: dict[str, Any] = {}
    exec(releases.snippets(lake, release, "core_papers")["polars"], found)  # as a person pastes it
    assert found["core_papers"].collect().height == 1


def test_a_table_from_before_a_column_was_thought_of_is_read_and_given_it_at_the_next_write(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = contracts.CORE_PAPERS
    before = replace(now, columns={name: column for name, column in now.columns.items() if name != "in_degree"})
    with monkeypatch.context() as patch:
        patch.setitem(contracts.TABLES, "core_papers", before)
        delta.write_partition(lake, "core_papers", "00", degrees("00", 2).drop("in_degree"), RUN)
    assert lake.scan("core_papers").collect()["in_degree"].to_list() == [None, None]
    delta.write_partition(lake, "core_papers", "01", degrees("01", 1, first=2), RUN)
    assert lake.scan("core_papers").sort("paper_id").collect()["in_degree"].to_list() == [None, None, 1]
    written = delta.write_partition(lake, "core_papers", "00", degrees("00", 2), RUN)
    assert (written.updated, lake.scan("core_papers").collect()["in_degree"].to_list()) == (2, [1, 1, 1])
    assert lake.scan("core_papers", version=0).collect().columns == list(now.columns), "an old version is read as well"


def test_a_table_with_a_column_of_another_type_is_one_clear_line(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    now = contracts.CORE_PAPERS
    before = replace(now, columns={**now.columns, "in_degree": replace(now.columns["in_degree"], dtype=pl.String(), minimum=None)})
    with monkeypatch.context() as patch:
        patch.setitem(contracts.TABLES, "core_papers", before)
        delta.write_partition(lake, "core_papers", "00", degrees("00", 2).cast({"in_degree": pl.String}), RUN)
    with pytest.raises(LakeError, match="core_papers holds in_degree in another type"):
        lake.scan("core_papers")
    with pytest.raises(LakeError, match="core_papers holds in_degree in another type"):
        delta.write_partition(lake, "core_papers", "00", degrees("00", 2), RUN)


def test_rows_known_by_their_hashes_are_held_to_the_contract_too(lake: Lake) -> None:
    delta.write_partition(lake, "core_papers", "00", degrees("00", 2), RUN)
    twice = pl.concat([degrees("00", 3), degrees("00", 1, in_degree=7, first=2)])
    with pytest.raises(ContractError):
        delta.write_wanted(lake, "core_papers", "00", wanted_rows(contracts.CORE_PAPERS, twice), RUN)
    assert lake.scan("core_papers").collect().height == 2

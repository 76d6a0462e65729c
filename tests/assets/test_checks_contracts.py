"""Suites come from the contracts, in two engines that agree, and are not taken in by nulls or missing columns."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from deltalake import write_deltalake

from checks import suites
from scholarlake.lake import delta
from scholarlake.lake.contracts import TABLES, Column, table
from scholarlake.lake.expectations import Expectation, Verdict, evaluate, suite_for
from scholarlake.lake.home import Lake
from tests.assets.checked_lake import good_lake

Change = Callable[[pl.DataFrame], pl.DataFrame]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return good_lake(tmp_path_factory.mktemp("checks") / "lake")


def test_a_new_column_of_a_contract_is_in_the_suite() -> None:
    papers = table("papers")
    score = Column(pl.Float64(), "a score", minimum=0, maximum=1)
    grade = Column(pl.String(), "a grade", nullable=True, values=("a", "b"), pattern="^[ab]$")
    more = suite_for(replace(papers, columns={**papers.columns, "score": score, "grade": grade}))
    about = {claim for claim in more if claim.columns in (("score",), ("grade",))}
    assert about == {
        Expectation("type", ("score",), dtype=pl.Float64()),
        Expectation("complete", ("score",)),
        Expectation("between", ("score",), minimum=0, maximum=1),
        Expectation("type", ("grade",), dtype=pl.String()),
        Expectation("one_of", ("grade",), values=("a", "b")),
        Expectation("matches", ("grade",), pattern="^[ab]$"),
    }
    assert {"score", "grade"} <= set(more[0].columns)


@pytest.mark.parametrize("name", TABLES)
def test_a_suite_says_all_that_the_contract_says(name: str) -> None:
    contract, suite = table(name), suite_for(table(name))
    of = lambda kind: [claim for claim in suite if claim.kind == kind]  # noqa: E731
    assert [claim.columns for claim in of("columns")] == [tuple(contract.columns)]
    assert [claim.columns for claim in of("unique")] == [contract.key]
    assert {claim.columns[0]: claim.dtype for claim in of("type")} == dict(contract.schema)
    assert tuple(claim.columns[0] for claim in of("complete")) == contract.required
    assert {claim.columns[0] for claim in of("one_of")} == {name for name, column in contract.columns.items() if column.values}
    assert {claim.columns[0] for claim in of("matches")} == {name for name, column in contract.columns.items() if column.pattern}
    assert set(contract.key) <= {claim.columns[0] for claim in of("complete")}, "a key with a null is unique to every engine"


@pytest.mark.parametrize("name", TABLES)
def test_every_table_of_a_good_lake_passes_in_both_engines(lake: Lake, name: str) -> None:
    rows = lake.scan(name)
    by_gx, by_polars = suites.validated(rows, name), evaluate(rows, table(name))
    assert (by_gx.failures, by_polars.failures) == ((), ())
    assert by_gx.rows == by_polars.rows > 0


@pytest.mark.parametrize("name", ["papers", "identities", "citations"])
def test_an_empty_table_passes_the_contract_for_its_emptiness_is_judged_elsewhere(lake: Lake, name: str) -> None:
    assert suites.validated(lake.scan(name).head(0), name).passed
    assert evaluate(lake.scan(name).head(0), table(name)).passed


def all_null(column: str) -> Change:
    return lambda rows: rows.with_columns(pl.lit(None, rows.schema[column]).alias(column))


@pytest.mark.parametrize(
    ("name", "change", "expectation", "failed"),
    [
        ("papers", all_null("method"), "method is never null", 4),
        ("papers", all_null("shard"), "shard is never null", 4),  # passes the pattern, being null
        ("papers", all_null("paper_id"), "paper_id is never null", 4),  # passes uniqueness in other hands
        ("degrees", all_null("in_degree"), "in_degree is never null", 4),  # passes the range
        ("degrees", all_null("reason"), "reason is never null", 4),  # passes the value set
        ("papers", lambda rows: pl.concat([rows, rows.head(1)]), "(paper_id) is unique", 2),
        ("citations", lambda rows: pl.concat([rows, rows.head(1)]), "(citing_id, cited_id) is unique", 2),
        ("degrees", lambda rows: rows.with_columns(in_degree=pl.lit(-1, pl.Int64)), "0 ≤ in_degree", 4),
        ("papers", lambda rows: rows.with_columns(year=pl.lit(9999, pl.Int32)), "1000 ≤ year ≤ 2100", 4),
        ("degrees", lambda rows: rows.with_columns(reason=pl.lit("because")), "reason is one of core, low_total, low_in, low_both", 4),
        ("papers", lambda rows: rows.with_columns(shard=pl.lit("7")), "shard matches ^[0-9]{2}$", 4),
        ("papers", lambda rows: rows.with_columns(paper_id=pl.lit("")), "paper_id matches ^[\\s\\S]", 4),
        ("embeddings", lambda rows: rows.with_columns(text_hash=pl.lit("abc")), "text_hash matches ^[0-9a-f]{32}$", 3),
        ("papers", lambda rows: rows.with_columns(doi=pl.lit("https://doi.org/10.1/x")), "doi matches ^10\\.[^A-Z]+$", 4),
        ("papers", lambda rows: rows.with_columns(references=pl.lit([None], pl.List(pl.String))), "0 ≤ references ≤ 0", 4),
        ("papers", lambda rows: rows.with_columns(year=pl.lit("2002")), "year is Int32", 1),
        ("papers", lambda rows: rows.with_columns(year=pl.lit(2002.7)), "year is Int32", 1),
        ("papers", lambda rows: rows.drop("method"), "method is never null", 1),
        ("papers", lambda rows: rows.drop("method"), "method is String", 1),
        ("citations", lambda rows: rows.drop("cited_id"), "(citing_id, cited_id) is unique", 1),
        ("degrees", lambda rows: rows.drop("in_degree"), "0 ≤ in_degree", 1),
    ],
)
def test_a_broken_table_fails_alike_in_both_engines(lake: Lake, name: str, change: Change, expectation: str, failed: int) -> None:
    rows = change(lake.scan(name).collect()).lazy()
    for verdict in (suites.validated(rows, name), evaluate(rows, table(name))):
        found = {failure.expectation: failure.failed for failure in verdict.failures}
        assert found.get(expectation) == failed, (verdict.engine, found)
        assert verdict.finding().failed >= failed


def test_a_column_too_many_is_found(lake: Lake) -> None:
    rows = lake.scan("papers").with_columns(more=1)
    for verdict in (suites.validated(rows, "papers"), evaluate(rows, table("papers"))):
        assert [failure.expectation.split(" ")[0] for failure in verdict.failures] == ["columns"]


def test_both_shapes_of_an_exception_count() -> None:
    plain = {"raised_exception": True, "exception_message": "no column", "exception_traceback": "…"}
    assert suites.raised(plain) == "no column"
    assert suites.raised({"metric-1": plain, "metric-2": plain}) == "no column"
    assert suites.raised({"raised_exception": False, "exception_message": None}) is None
    assert suites.raised({}) is None


def test_a_large_partition_and_edges_go_to_polars_the_rest_to_great_expectations(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    assert suites.verdict(lake, "papers").engine == "great_expectations"
    assert suites.verdict(lake, "citations").engine == "polars"
    monkeypatch.setattr(suites, "WHOLE", 2)
    assert suites.verdict(lake, "papers").engine == "polars"


def test_a_partition_is_judged_by_its_own_rows(lake: Lake) -> None:
    counted = [suites.verdict(lake, "papers", shard).rows for shard in lake.shard_keys]
    assert sum(counted) == suites.verdict(lake, "papers").rows
    assert 0 < counted[0] < sum(counted)


def test_great_expectations_is_spared_where_few_rows_changed_since_all_had_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = good_lake(tmp_path / "lake")
    shard = lake.shard_keys[0]
    papers = lake.scan("papers").filter(pl.col("shard") == shard).collect()
    passed_at = delta.version(lake, "papers")
    changed = papers.with_columns(title=pl.lit("Another title than before")).head(1)
    delta.apply(lake, "papers", shard, changed, papers.head(0).select("paper_id"), delta.Commit("test", "1"))
    monkeypatch.setattr(suites, "FEW", 1 / papers.height)
    verdict = suites.verdict(lake, "papers", shard, passed_at)
    assert (verdict.passed, verdict.rows, verdict.engine) == (True, papers.height, "polars")
    monkeypatch.setattr(suites, "FEW", 0.9 / papers.height)
    assert suites.verdict(lake, "papers", shard, passed_at).engine == "great_expectations", "more than few"
    assert suites.verdict(lake, "papers", lake.shard_keys[1], passed_at).engine == "polars", "another shard: nothing changed in it"
    assert suites.verdict(lake, "papers", shard).engine == "great_expectations", "where they had not passed"


def test_of_a_table_that_had_passed_only_what_came_since_is_held_to_the_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suites, "FEW", 1.0)
    lake = good_lake(tmp_path / "lake")
    shard = lake.shard_keys[0]
    papers = lake.scan("papers").filter(pl.col("shard") == shard).collect()
    path, passed_at = str(lake.table_path("papers")), delta.version(lake, "papers")
    came = papers.head(1).with_columns(paper_id=pl.lit("new"))
    write_deltalake(path, came.to_arrow(compat_level=pl.CompatLevel.oldest()), mode="append")
    fine = suites.verdict(lake, "papers", shard, passed_at)
    assert (fine.passed, fine.rows, fine.looked_at) == (True, papers.height + 1, 1)

    wrong = papers.head(1).with_columns(year=pl.lit(9999, pl.Int32))  # bears the key of one that had passed, too
    write_deltalake(path, wrong.to_arrow(compat_level=pl.CompatLevel.oldest()), mode="append")
    verdict = suites.verdict(lake, "papers", shard, passed_at)
    assert [failure.expectation for failure in verdict.failures] == ["1000 ≤ year ≤ 2100", "(paper_id) is unique"]
    assert (verdict.rows, verdict.looked_at) == (papers.height + 2, 3)


def test_a_table_that_was_never_written_is_an_empty_one(tmp_path: Path) -> None:
    assert suites.verdict(Lake.create(tmp_path, 2), "papers").passed


def test_texts_that_nothing_is_expected_of_are_not_read(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[pl.DataFrame] = []
    into_pandas = pl.DataFrame.to_pandas
    monkeypatch.setattr(pl.DataFrame, "to_pandas", lambda rows, **how: (seen.append(rows), into_pandas(rows, **how))[1])
    suites.validated(lake.scan("papers"), "papers")
    assert seen[0].schema["abstract"] == pl.Boolean
    assert seen[0].schema["references"] == pl.Int64


def test_loading_the_checks_does_not_import_great_expectations() -> None:
    code = "import sys, checks; sys.exit('great_expectations' in sys.modules)"
    root = Path(suites.__file__).parent.parent
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False, timeout=120).returncode == 0


def test_a_verdict_tells_what_failed_how_often_and_an_example(lake: Lake) -> None:
    rows = lake.scan("papers").with_columns(year=pl.lit(9999, pl.Int32))
    found = suites.validated(rows, "papers").finding()
    assert found.examples == ({"expectation": "1000 ≤ year ≤ 2100", "failed": 4, "examples": "9999, 9999, 9999, 9999"},)
    assert found.facts["failed_expectations"] == 1
    assert Verdict("papers", None, "polars", 0, 1).passed

"""What differs between two versions of a table: all of it, in the right fields, and read from no more files than differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scholarlake.errors import LakeError
from scholarlake.lake import changes, contracts, delta
from scholarlake.lake.changes import AT, AT_BEFORE, FIELDS, Changes, Version, compare
from scholarlake.lake.home import Lake
from tests.unit.small_lake import frame

RUN = delta.Commit("run", "1")
Degrees = dict[str, tuple[int, int]]  # paper → in- and out-degree


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake", 2)


def core(papers: Degrees, shard: str = "00") -> pl.DataFrame:
    rows = [{"paper_id": p, "shard": shard, "in_degree": i, "out_degree": o, "total_degree": i + o} for p, (i, o) in papers.items()]
    return frame("core_papers", rows)


def version(lake: Lake, name: str) -> Version:
    found = delta.version(lake, name)
    assert found is not None
    return Version(lake.table_path(name), found)


def all_changes(name: str, before: Version | None, after: Version | None) -> list[Changes]:
    return [differing.changes() for differing in compare(contracts.table(name), before, after).differing]


def said(changes: list[Changes], *key: str) -> dict[str, Any]:
    """Changes by the values of some columns."""
    return {
        "came": sorted(row for part in changes for row in part.came.select(key).rows()),
        "went": sorted(row for part in changes for row in part.went.select(key).rows()),
        "changed": {row[:-1]: tuple(row[-1]) for part in changes for row in part.changed.select(*key, FIELDS).rows()},
    }


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    states=st.lists(
        st.dictionaries(st.sampled_from([f"p{n}" for n in range(8)]), st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=8),
        min_size=2,
        max_size=4,
    ),
    bucket_rows=st.sampled_from([1, 3, 1_000]),
    fed_rows=st.sampled_from([0, 200_000]),
)
def test_what_is_found_is_what_comparing_all_rows_finds(
    states: list[Degrees], bucket_rows: int, fed_rows: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(changes, "BUCKET_ROWS", bucket_rows)
        patch.setattr(changes, "FED_ROWS", fed_rows)
        compare_all(states, tmp_path_factory)


def compare_all(states: list[Degrees], tmp_path_factory: pytest.TempPathFactory) -> None:
    lake = Lake.create(tmp_path_factory.mktemp("lake"), 2)
    versions = []
    for papers in states:
        delta.write_partition(lake, "core_papers", "00", core(papers), RUN)
        versions.append(version(lake, "core_papers"))
    old, new = states[0], states[-1]
    names = ("in_degree", "out_degree", "total_degree")
    wide = {p: dict(zip(names, (i, o, i + o), strict=True)) for p, (i, o) in old.items()}
    fields = {
        (p,): tuple(name for name, value in zip(names, (i, o, i + o), strict=True) if wide[p][name] != value)
        for p, (i, o) in new.items()
        if p in old and old[p] != (i, o)
    }
    assert said(all_changes("core_papers", versions[0], versions[-1]), "paper_id") == {
        "came": sorted((p,) for p in new.keys() - old.keys()),
        "went": sorted((p,) for p in old.keys() - new.keys()),
        "changed": fields,
    }


def test_partitions_of_the_same_files_are_not_read(lake: Lake) -> None:
    for shard in lake.shard_keys:
        delta.write_partition(lake, "core_papers", shard, core({f"{shard}-{n}": (1, 1) for n in range(5)}, shard), RUN)
    before = version(lake, "core_papers")
    delta.write_partition(lake, "core_papers", "01", core({f"01-{n}": (1, 1 + (n == 3)) for n in range(5)}, "01"), RUN)
    for path in (lake.table_path("core_papers") / "shard=00").iterdir():
        path.write_bytes(b"no Parquet at all")
    found = compare(contracts.CORE_PAPERS, before, version(lake, "core_papers"))
    assert (found.partitions, [differing.partition for differing in found.differing]) == (2, ["01"])
    assert said([found.differing[0].changes()], "paper_id") == {
        "came": [],
        "went": [],
        "changed": {("01-3",): ("out_degree", "total_degree")},
    }


def test_a_feed_of_few_rows_is_read_instead_of_files(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    delta.write_partition(lake, "core_papers", "00", core({f"p{n}": (n, 1) for n in range(50)}), RUN)
    before = version(lake, "core_papers")
    delta.write_partition(lake, "core_papers", "00", core({f"p{n}": (n, 1 if n else 7) for n in range(49)}), RUN)
    monkeypatch.setattr(changes.Side, "_scan", lambda *_: pytest.fail("a file was read"))
    found = all_changes("core_papers", before, version(lake, "core_papers"))
    assert said(found, "paper_id") == {"came": [], "went": [("p49",)], "changed": {("p0",): ("out_degree", "total_degree")}}


def test_where_the_feed_was_swept_away_the_files_are_compared(lake: Lake) -> None:
    versions = []
    for papers in ({"x": (1, 1), "y": (1, 1)}, {"x": (1, 1), "y": (1, 1), "z": (0, 2)}, {"x": (2, 1), "z": (0, 2)}):
        delta.write_partition(lake, "core_papers", "00", core(papers), RUN)
        versions.append(version(lake, "core_papers"))
    expected = said(all_changes("core_papers", versions[0], versions[-1]), "paper_id")
    swept = list((lake.table_path("core_papers") / "_change_data").rglob("*.parquet"))
    for path in swept:
        path.unlink()
    assert swept
    assert said(all_changes("core_papers", versions[0], versions[-1]), "paper_id") == expected
    assert delta.changed_since(lake, "core_papers", "00", versions[0].version) is None


def test_files_that_both_versions_name_are_left_out_inside_a_partition_too(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "FED_ROWS", 0)
    two_files = [delta.stage(lake, "core_papers", "00", core({name: (1, 1)})) for name in ("a", "b")]
    delta.commit_staged(lake, "core_papers", "00", two_files, RUN)
    before = version(lake, "core_papers")
    delta.write_partition(lake, "core_papers", "00", core({"a": (1, 1), "b": (9, 1)}), RUN)
    (differing,) = compare(contracts.CORE_PAPERS, before, version(lake, "core_papers")).differing
    assert (sum(differing.before.sizes), sum(differing.after.sizes)) == (1, 1)
    assert said([differing.changes()], "paper_id")["changed"] == {("b",): ("in_degree", "total_degree")}


def test_rows_laid_down_anew_and_equal_are_no_change(lake: Lake) -> None:
    delta.commit_staged(lake, "core_papers", "00", [delta.stage(lake, "core_papers", "00", core({"a": (1, 1), "b": (2, 2)}))], RUN)
    before = version(lake, "core_papers")
    delta.commit_staged(lake, "core_papers", "00", [], RUN)
    delta.commit_staged(lake, "core_papers", "00", [delta.stage(lake, "core_papers", "00", core({"b": (2, 2), "a": (1, 1)}))], RUN)
    assert said(all_changes("core_papers", before, version(lake, "core_papers")), "paper_id") == {"came": [], "went": [], "changed": {}}


def test_a_table_that_did_not_exist_came_whole_and_back_again(lake: Lake) -> None:
    delta.write_partition(lake, "core_papers", "00", core({"a": (1, 1)}), RUN)
    now = version(lake, "core_papers")
    assert said(all_changes("core_papers", None, now), "paper_id") == {"came": [("a",)], "went": [], "changed": {}}
    assert said(all_changes("core_papers", now, None), "paper_id") == {"came": [], "went": [("a",)], "changed": {}}


def test_lists_structs_and_nulls_are_compared_by_what_they_say(lake: Lake) -> None:
    author = {"id": None, "name": "A", "org": None, "org_id": None}
    plain = {"paper_id": "p", "shard": "00", "title": "T", "authors": [author], "references": ["a"], "year": 2000}
    edits = [
        ({"authors": [{**author, "org": "X"}]}, ("authors",)),
        ({"references": ["a", "a"]}, ("references",)),
        ({"year": None}, ("year",)),
        ({"title": None, "abstract": "now with one"}, ("title", "abstract")),
        ({"code_version": "other"}, None),
    ]
    for edit, fields in edits:
        delta.write_partition(lake, "papers", "00", frame("papers", [plain]), RUN)
        before = version(lake, "papers")
        delta.write_partition(lake, "papers", "00", frame("papers", [{**plain, **edit}]), RUN)
        expected = {} if fields is None else {("p",): fields}
        assert said(all_changes("papers", before, version(lake, "papers")), "paper_id")["changed"] == expected


def test_a_record_is_found_again_though_a_line_before_it_moved_it(lake: Lake) -> None:
    def part(*records: tuple[str, str]) -> Version:
        rows = [
            {"dump_part": "a", "edition": "", "byte_offset": 10 * place, "byte_length": 9, "record_id": name, "title": title}
            for place, (name, title) in enumerate(records)
        ]
        delta.commit_staged(lake, "records", "a", [delta.stage(lake, "records", "a", frame("records", rows))], RUN)
        return version(lake, "records")

    before = part(("x", "one"), ("y", "two"), ("y", "two"), ("z", "three"))
    after = part(("new", "zero"), ("x", "one"), ("y", "two"), ("z", "three and more"))
    assert said(all_changes("records", before, after), "byte_offset") == {
        "came": [(0,)],
        "went": [(20,)],
        "changed": {(30,): ("title",)},
    }


def test_rows_can_be_read_by_the_numbers_that_changes_give(lake: Lake) -> None:
    delta.write_partition(lake, "core_papers", "00", core({"a": (1, 1), "b": (2, 2), "c": (3, 3)}), RUN)
    before = version(lake, "core_papers")
    delta.write_partition(lake, "core_papers", "00", core({"a": (1, 1), "b": (7, 2), "d": (4, 4)}), RUN)
    (differing,) = compare(contracts.CORE_PAPERS, before, version(lake, "core_papers")).differing
    changes = differing.changes()
    assert differing.before.take(changes.changed[AT_BEFORE], ["in_degree"]).rows() == [(2,)]
    assert differing.after.take(changes.changed[AT], ["in_degree", "shard"]).rows() == [(7, "00")]
    assert differing.before.take(changes.went[AT], ["paper_id", "in_degree"]).rows() == [("c", 3)]


def test_a_version_that_is_gone_is_a_clear_error(lake: Lake) -> None:
    delta.write_partition(lake, "core_papers", "00", core({"a": (1, 1)}), RUN)
    with pytest.raises(LakeError, match="core_papers can't be read at version 9"):
        compare(contracts.CORE_PAPERS, Version(lake.table_path("core_papers"), 9), None)

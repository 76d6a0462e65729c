"""A release's changelog: what is kept of it, that it is made once, and that its page is safe to show."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import scholarlake
from scholarlake import changelog
from scholarlake.lake import delta
from scholarlake.lake.files import write_json
from scholarlake.lake.home import Lake
from scholarlake.lake.releases import Release
from scholarlake.lake.vacuum import Policy, sweep
from tests.unit.small_lake import COMMIT, make_lake, paper, release


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake whose second release has one paper more, one edited, and one merged away."""
    root = tmp_path / "lake"
    release(make_lake(root, [paper("a", "One"), paper("b", "Two"), paper("c", "Three")], [("a", "b")]))
    return make_lake(root, [paper("a", "One", record_ids=["a", "c"]), paper("b", "Zwei"), paper("d", "[x](y) <b># Four")], [("d", "b")])


def released(lake: Lake, name: str, previous: str | None) -> Release:
    made = replace(release(lake, name), previous=previous)
    write_json(lake.releases / f"{name}.json", asdict(made))
    return made


def kept(lake: Lake, table: str) -> list[dict[str, Any]]:
    return lake.scan(table).collect().to_dicts()


def test_what_changed_is_kept_with_the_whole_counts(lake: Lake) -> None:
    found, written = changelog.write(lake, released(lake, "r0002", "r0001"), COMMIT)
    assert found is not None
    rows = {(row["table"], row["change"], row["key"]): row for row in kept(lake, "release_changes")}
    assert written["release_changes"].rows == len(rows)
    assert {(row["release"], row["previous"]) for row in rows.values()} == {("r0002", "r0001")}
    assert rows["papers", "changed", "b"]["fields"] == ["title"]
    assert rows["papers", "went", "c"]["why"] == "merged into a"
    assert rows["citations", "came", '["d","b"]']["title"] == "[x](y) <b># Four → Zwei"
    counts = {row["table"]: row for row in kept(lake, "release_change_counts")}
    assert [counts["papers"][name] for name in ("rows_before", "rows_after", "came", "went", "changed", "listed")] == [3, 3, 1, 1, 2, 4]
    assert counts["papers"]["fields"] == [{"name": "record_ids", "rows": 1}, {"name": "title", "rows": 1}]


def test_a_list_that_is_cut_is_shorter_than_its_count(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changelog, "LISTED", 1)
    found, _ = changelog.write(lake, released(lake, "r0002", "r0001"), COMMIT)
    papers = next(row for row in kept(lake, "release_change_counts") if row["table"] == "papers")
    assert (papers["came"] + papers["went"] + papers["changed"], papers["listed"]) == (4, 3)
    assert found is not None
    assert "and 1 more, 1 of all are in `release_changes`" in changelog.page(found)


def test_writing_it_again_makes_no_version(lake: Lake) -> None:
    second = released(lake, "r0002", "r0001")
    _, first = changelog.write(lake, second, COMMIT)
    _, again = changelog.write(lake, second, delta.Commit("another-run", "9"))
    assert {name: (one.version, one.content_version) for name, one in first.items()} == {
        name: (one.version, one.content_version) for name, one in again.items()
    }
    assert all(one.changed == 0 for one in again.values())


def test_the_first_release_has_nothing_to_be_compared_with_and_says_so(lake: Lake) -> None:
    first = released(lake, "r0001", None)
    found, written = changelog.write(lake, first, COMMIT)
    assert (found, written["release_changes"].rows, written["release_changes"].version) == (None, 0, None)
    assert changelog.nothing_to_compare(first) == "r0001 is the first release: there is none to compare it with."
    with scholarlake.open(lake.root, "r0001") as reader:
        assert reader.changes().collect().is_empty()
        assert reader.changes().collect_schema() == lake.scan("release_changes").collect_schema()


def test_what_was_kept_stays_when_the_release_before_is_dropped(lake: Lake) -> None:
    second = released(lake, "r0002", "r0001")
    _, first = changelog.write(lake, second, COMMIT)
    sweep(lake, Policy(1))
    found, again = changelog.write(lake, second, COMMIT)
    assert found is None
    assert again["release_changes"].content_version == first["release_changes"].content_version
    assert again["release_changes"].rows > 0
    assert "r0001, the release before r0002, has been dropped" in changelog.nothing_to_compare(second)


def test_a_reader_sees_the_changes_of_its_own_release_alone(lake: Lake) -> None:
    changelog.write(lake, released(lake, "r0002", "r0001"), COMMIT)
    make_lake(lake.root, [paper("z", "Only this")])
    changelog.write(lake, released(lake, "r0003", "r0002"), COMMIT)
    with scholarlake.open(lake.root, "r0002") as reader:
        assert set(reader.changes().collect()["previous"]) == {"r0001"}
        assert reader.changes().filter(pl.col("key") == "z").collect().is_empty()


def test_the_page_says_the_most_interesting_first_and_no_title_steers_it(lake: Lake) -> None:
    found, _ = changelog.write(lake, released(lake, "r0002", "r0001"), COMMIT)
    assert found is not None
    page = changelog.page(found)
    assert page.splitlines()[0] == "**r0001 → r0002**"
    assert "- papers: 1 came, 1 went (1 merged into others), 2 changed (title 1)" in page
    assert "- citations: 1 came, 1 went" in page
    assert "`c` Three: merged into a" in page
    assert "`d` \\[x\\](y) \\<b\\>\\# Four" in page
    assert page.index("Papers that went") < page.index("Papers that came") < page.index("Papers that changed")


def test_two_equal_releases_are_one_line(lake: Lake) -> None:
    released(lake, "r0002", None)
    found, _ = changelog.write(lake, released(lake, "r0003", "r0002"), COMMIT)
    assert found is not None
    assert changelog.page(found) == "Nothing differs between r0002 and r0003."

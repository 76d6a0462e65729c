"""The rejects of a lake are a list that a person can work with: counted, chosen, and safe to look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from scholarlake.errors import NotFound
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from scholarlake.sources.rejected import Rejected, reasons_of, rejected
from scholarlake.typeset import markdown_table, visible
from tests.unit.sources.test_ingest import RUN, SMALL, ingest_part, lines_of, part_of

STEERING = b'{"id": "x", "title": "\x1b[31mred\x07", half'


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake.create(tmp_path / "lake", 2)
    ingest_part(lake, part_of(tmp_path, lines_of(20), "v1/o'brien.json"), SMALL, RUN)
    ingest_part(lake, part_of(tmp_path, lines_of(5) + b"\n" + STEERING, "v2/b.json"), SMALL, RUN)
    ingest_part(lake, part_of(tmp_path, b'{"id": "1"}\n', "v2/clean.json"), SMALL, RUN)
    return lake


def listed(lake: Lake, part: str | None = None, reason: str | None = None, limit: int = 99) -> Rejected:
    return rejected(delta.scan(lake, "rejects"), delta.scan(lake, "records"), part, reason, limit)


def test_rejects_are_counted_by_part_and_reason_and_listed_by_place(lake: Lake) -> None:
    found = listed(lake)
    assert (found.total, found.lines) == (7, 33)
    assert sum(row["rejects"] for row in found.counts) == 7
    assert found.counts[0] == {"dump_part": "v2/b.json", "reason": "truncated", "rejects": 2, "lines": 9, "share": 2 / 9}
    places = [(row["dump_part"], row["byte_offset"]) for row in found.rows]
    assert places == sorted(places)
    assert [row["reason"] for row in found.rows[:3]] == ["blank", "not_json", "truncated"]


@pytest.mark.parametrize(
    ("part", "reason", "total", "lines"),
    [
        ("v1/o'brien.json", None, 3, 23),
        ("v2/*", None, 4, 10),
        ("v2/*", "truncated", 2, 10),
        (None, "blank", 2, 33),
        ("v2/clean.json", None, 0, 1),
        (None, "nul_byte", 0, 33),
    ],
)
def test_a_part_a_pattern_and_a_reason_choose(lake: Lake, part: str | None, reason: str | None, total: int, lines: int) -> None:
    found = listed(lake, part, reason)
    assert (found.total, found.lines, len(found.rows)) == (total, lines, total)


def test_a_limit_holds_for_the_list_and_not_for_the_counts(lake: Lake) -> None:
    assert (len(listed(lake, limit=2).rows), listed(lake, limit=2).total) == (2, 7)
    assert listed(lake, limit=0).rows == ()


def test_what_is_not_there_is_answered_with_what_is(lake: Lake) -> None:
    with pytest.raises(NotFound, match=r"there are: v1/o'brien.json, v2/b.json, v2/clean.json"):
        listed(lake, part="v3/*")
    with pytest.raises(NotFound, match="array_not_closed, blank"):
        listed(lake, reason="nonsense")


def test_reasons_of_a_part_come_with_their_first_line(lake: Lake) -> None:
    first = reasons_of(delta.scan(lake, "rejects"), "v2/b.json", 9)[0]
    assert (first["reason"], first["rejects"], first["share"]) == ("truncated", 2, "22.22%")
    assert first["how it begins"] == '{"id": "x", "tit'


def test_what_would_steer_a_terminal_is_written_out() -> None:
    assert visible("a\x1b[31m\x07\r\n\u202eb\u00a0深") == "a\\x1b[31m\\x07\\r\\n\\u202eb\u00a0深"


def test_a_table_in_markdown_holds_whatever_its_values_are() -> None:
    table = markdown_table([{"a": "x|y\n<b>`", "n": 1234}, {"a": None, "m": "\x1b"}])
    assert table.splitlines() == ["| a | n | m |", "|---|---|---|", "| x\\|y &lt;b>\\` | 1,234 |  |", "|  |  | \\x1b |"]
    assert markdown_table([{"n": 5}]).splitlines()[1] == "|--:|"

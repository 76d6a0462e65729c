"""Nothing of a part is lost, and a check says where it was."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from scholarlake.lake.home import Lake
from scholarlake.sources import invariants
from tests.assets.checked_lake import BYTES, LINE, LINES, OTHER, PART, broken, good_lake


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return good_lake(tmp_path / "lake")


@pytest.mark.parametrize("part", [PART, OTHER])
def test_a_part_whose_lines_are_all_there_has_lost_nothing(lake: Lake, part: str) -> None:
    assert invariants.nothing_lost(lake, part, LINES[part]).passed
    assert invariants.every_byte_covered(lake, part, BYTES[part]).passed


def test_a_record_that_vanished_is_a_lost_line_and_uncovered_bytes(lake: Lake) -> None:
    broken(lake, "records", lambda rows: rows.filter(pl.col("record_id") != "p3"))
    assert invariants.nothing_lost(lake, PART, LINES[PART]).failed == 1
    covered = invariants.every_byte_covered(lake, PART, BYTES[PART])
    assert not covered.passed
    assert covered.examples[0] == {"fault": "bytes of no line", "from_byte": LINE, "to_byte": 2 * (LINE + 1)}
    assert invariants.nothing_lost(lake, OTHER, LINES[OTHER]).passed, "another part's lines are its own"


def test_a_line_read_twice_shows_as_one_line_too_many_and_as_an_overlap(lake: Lake) -> None:
    broken(lake, "records", lambda rows: pl.concat([rows, rows.filter(pl.col("record_id") == "p3")]))
    assert not invariants.nothing_lost(lake, PART, LINES[PART]).passed
    assert invariants.every_byte_covered(lake, PART, BYTES[PART]).examples[0]["fault"] == "lines overlap"


def test_a_line_moved_from_one_place_to_another_is_found_though_the_count_agrees(lake: Lake) -> None:
    broken(lake, "records", lambda rows: rows.with_columns(byte_length=pl.when(record_id="p3").then(LINE - 7).otherwise("byte_length")))
    assert invariants.nothing_lost(lake, PART, LINES[PART]).passed
    assert invariants.every_byte_covered(lake, PART, BYTES[PART]).failed == 1


def test_a_cut_file_end_is_not_covered(lake: Lake) -> None:
    found = invariants.every_byte_covered(lake, PART, BYTES[PART] + 57)
    assert found.examples[0]["fault"] == "the end of the file is not covered"


@pytest.mark.parametrize(("before", "between", "after"), [(3, 2, 0), (0, 1, 2), (3, 2, 2)])
def test_a_byte_order_mark_crlf_and_a_missing_last_line_end_are_no_loss(lake: Lake, before: int, between: int, after: int) -> None:
    shifted = lambda rows: rows.with_columns(  # noqa: E731
        byte_offset=pl.when(dump_part=OTHER)
        .then(before + (pl.col("byte_offset") // (LINE + 1)) * (LINE + between))
        .otherwise("byte_offset")
    )
    broken(lake, "records", shifted)
    assert invariants.every_byte_covered(lake, OTHER, before + LINE + between + LINE + after).passed


def test_a_reader_that_left_no_count_has_proved_nothing(lake: Lake) -> None:
    assert not invariants.nothing_lost(lake, PART, None).passed
    assert not invariants.every_byte_covered(lake, PART, None).passed


def test_an_empty_part_is_wholly_covered(lake: Lake) -> None:
    assert invariants.nothing_lost(lake, "empty.jsonl", 0).passed
    assert invariants.every_byte_covered(lake, "empty.jsonl", 0).passed
    assert not invariants.every_byte_covered(lake, "empty.jsonl", 500).passed


def test_one_reject_in_four_lines_is_above_a_tenth_and_below_a_half(lake: Lake) -> None:
    assert not invariants.rejects_within(lake, PART, 0.1).passed
    found = invariants.rejects_within(lake, PART, 0.5)
    assert found.passed
    assert found.facts["share"] == 0.25
    assert invariants.rejects_within(lake, PART, 0.1).examples == ({"reason": "not_json", "lines": 1},)


def test_blank_lines_are_no_loss(lake: Lake) -> None:
    broken(lake, "rejects", lambda rows: rows.with_columns(reason=pl.lit("blank")))
    assert invariants.rejects_within(lake, PART, 0.0).passed


def test_records_of_a_file_that_left_the_dump_are_found(lake: Lake) -> None:
    assert invariants.no_line_of_a_gone_part(lake).passed
    broken(lake, "dump_manifest", lambda rows: rows.filter(pl.col("dump_part") != OTHER))
    assert [row["dump_part"] for row in invariants.no_line_of_a_gone_part(lake).examples] == [OTHER]


def in_array(lake: Lake) -> int:
    """Make the other part an array, its records a comma and a line end apart. Returns how many bytes lie between them."""
    moved = pl.when(dump_part=OTHER).then(2 + (pl.col("byte_offset") // (LINE + 1)) * (LINE + 2)).otherwise("byte_offset")
    broken(lake, "records", lambda rows: rows.with_columns(byte_offset=moved, method=pl.lit("oag-json")))
    return 2 + 2 + 3


def test_what_lies_between_the_records_of_an_array_is_no_loss(lake: Lake) -> None:
    between = in_array(lake)
    assert invariants.every_byte_covered(lake, OTHER, between + 2 * LINE, between).passed
    assert invariants.every_byte_covered(lake, "empty.json", 3, 3).passed


def test_bytes_of_an_array_that_are_neither_record_nor_between_two_are_found(lake: Lake) -> None:
    between = in_array(lake)
    lost = invariants.every_byte_covered(lake, OTHER, between + 2 * LINE + 40, between)
    assert lost.examples == ({"fault": "bytes of no record, and not between two", "bytes": 40},)
    assert not invariants.every_byte_covered(lake, OTHER, between + 2 * LINE, None).passed, "the reader left no count of what lies between"
    broken(lake, "records", lambda rows: rows.with_columns(byte_offset=pl.col("byte_offset").clip(upper_bound=LINE)))
    assert "lines overlap" in [
        example["fault"] for example in invariants.every_byte_covered(lake, OTHER, between + 2 * LINE, between).examples
    ]


def test_a_part_that_holds_something_else_is_said_to() -> None:
    assert invariants.holds_papers(PART, "").passed
    found = invariants.holds_papers(PART, "authors of OAG")
    assert not found.passed
    assert found.examples == ({"part": PART, "holds": "authors of OAG"},)

"""OAG JSON lines: every line a record or a reject, whatever is in it."""

from __future__ import annotations

import io
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.lake.contracts import RECORDS, REJECTS
from scholarlake.lake.hashing import stable_key
from scholarlake.sources.blocks import REASONS, Parsed, parse_block
from scholarlake.sources.lines import Block
from scholarlake.sources.readers import LINE_READERS
from scholarlake.sources.record import FLAGS
from scholarlake.sources.shape import is_utf8
from scholarlake.sources.units import Origin

ORIGIN = Origin("v3/part'1.json", "v3", "code-1", 2031, 4096)
GOOD = b'{"id": "g%d", "title": "A good line, the %dth of them"}'


def parse(data: bytes, offset: int = 0) -> Parsed:
    parsed = parse_block(Block(offset, data), ORIGIN, LINE_READERS["oag"])
    assert parsed.lines == parsed.records.height + parsed.rejects.height
    assert parsed.covered == len(data)
    assert parsed.records.schema == RECORDS.schema
    assert parsed.rejects.schema == REJECTS.schema
    assert set(parsed.reasons) <= set(REASONS)
    assert set(parsed.flags) <= set(FLAGS)
    return parsed


def one(record: dict[str, object] | bytes) -> dict[str, object]:
    line = record if isinstance(record, bytes) else json.dumps(record).encode()
    parsed = parse(line + b"\n")
    assert parsed.rejects.height == 0, parsed.rejects.to_dicts()
    return parsed.records.to_dicts()[0]


NOT_UTF8 = [b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82", b"\xf0\x8f\xbf\xbf"]

BAD = {
    b"\\N": "not_json",
    b"null": "not_an_object",
    b"5": "not_an_object",
    b'[{"id": "a"}]': "not_an_object",
    b',{"id": "a"}': "not_json",
    b'{"id": "a", "title": "half a li': "truncated",
    b'{"id": "a", "year": 20': "truncated",
    b'{"id": "a", "authors": [{"name": "x"}': "truncated",
    b'ne of it", "year": 2007}': "not_json",
    b'{"id": "a", "title": "caf\xe9"}': "invalid_utf8",
    b'{"id": "a", "title": "b\x00c"}': "nul_byte",
    b"": "blank",
    b"  \t ": "blank",
    b"{}": "no_id",
    b'{"id": null, "title": "t"}': "no_id",
    b'{"id": " ", "title": "t"}': "no_id",
    b'{"id": "a\\ud835", "title": "t"}': "lone_surrogate",
    b'{"id": 1, "DisplayName": "MIT"}': "not_a_paper",
    b'{"id": "a", "t": ' + b"[" * 2000 + b"]" * 2000 + b"}": "too_deep",
    b'{"id": "a", "title": "' + b"x" * 5000 + b'"}': "too_long",
}


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_each_bad_line_is_a_reject_with_place_and_reason_and_the_rest_loads(end: bytes) -> None:
    lines: list[bytes] = []
    for number, bad in enumerate(BAD):
        lines += [GOOD % (number, number), bad]
    data = end.join([*lines, GOOD % (99, 99)])  # no line end behind the last
    parsed = parse(data, offset=1000)
    assert parsed.records["record_id"].to_list() == [*(f"g{number}" for number in range(len(BAD))), "g99"]
    assert parsed.rejects["reason"].to_list() == list(BAD.values())
    for frame in (parsed.records, parsed.rejects):
        for row in frame.to_dicts():
            start = row["byte_offset"] - 1000
            assert data[start : start + row["byte_length"]] in [*lines, GOOD % (99, 99)]
    assert parsed.rejects["byte_length"].to_list() == [len(bad) for bad in BAD]
    assert parsed.rejects["excerpt"].to_list()[0] == "\\N"


def test_a_byte_order_mark_costs_nothing_and_shifts_nothing() -> None:
    line = GOOD % (1, 1)
    plain, marked = parse(line + b"\n"), parse(b"\xef\xbb\xbf" + line + b"\n")
    assert marked.records["byte_offset"].item() == 0
    assert marked.records["byte_length"].item() == len(line) + 3
    assert marked.records["content_hash"].item() == plain.records["content_hash"].item()


def test_surrounding_white_space_does_not_change_the_content_hash() -> None:
    line = GOOD % (1, 1)
    hashes = {parse(form).records["content_hash"].item() for form in (line, b"  " + line + b" ", line + b"\r\n", line + b"\r")}
    assert hashes == {parse(line).records["content_hash"].item()}


def test_nothing_is_inferred_from_the_head_of_a_part() -> None:
    rows = [{"id": f"a{number}", "references": []} for number in range(150)] + [{"id": "b", "doi": "10.1000/late", "references": ["c"]}]
    records = parse(b"".join(json.dumps(row).encode() + b"\n" for row in rows)).records
    assert records["doi"].to_list() == [None] * 150 + ["10.1000/late"]
    assert records["references"].to_list() == [[]] * 150 + [["c"]]
    assert records["reference_keys"].to_list()[-1] == [stable_key("c")]


def test_a_title_with_a_lone_surrogate_costs_only_its_row() -> None:
    parsed = parse(b'{"id": "a", "title": "a\\ud835b"}\n' + GOOD % (1, 1) + b"\n")
    assert parsed.records["title"].to_list() == ["a\ufffdb", "A good line, the 1th of them"]
    assert parsed.records["flags"].to_list() == [["lone_surrogate"], []]
    parsed.records.write_parquet(io.BytesIO())


def test_a_surrogate_pair_is_one_character() -> None:
    row = one(b'{"id": "a", "title": "x\\ud835\\udc9cy", "n_citation": NaN}')
    assert (row["title"], row["flags"], row["n_citation"]) == ("x\U0001d49cy", [], None)


def test_bare_nan_and_infinity_read_as_nothing() -> None:
    row = one(
        b'{"id": "a", "title": NaN, "doi": NaN, "year": NaN, "n_citation": Infinity, "authors": NaN, "venue": -Infinity, "references": NaN}'
    )
    assert (row["title"], row["doi"], row["year"], row["n_citation"], row["authors"], row["venue"], row["references"], row["flags"]) == (
        None,
        None,
        None,
        None,
        [],
        None,
        [],
        [],
    )


@pytest.mark.parametrize("number", [1, 2507145174, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, 10**40, -(1 << 70)])
def test_an_integer_id_of_any_length_survives_as_text(number: int) -> None:
    text = str(number)
    line = '{"id": N, "references": [N, "N"], "venue": {"id": N}, "authors": [{"id": N}]}'.replace("N", text)
    row = one(line.encode())
    assert row["record_id"] == text
    assert row["references"] == [text, text]
    assert row["record_key"] == stable_key(text)
    assert row["reference_keys"] == [stable_key(text)] * 2
    assert row["venue_id"] == text
    assert row["authors"][0]["id"] == text


def test_an_id_with_a_line_feed_inside_shifts_no_key_of_another() -> None:
    records = parse(
        b'{"id": "a\\nb", "title": "t", "references": ["c\\nd", "e"]}\n{"id": "f", "title": "t", "references": ["g"]}\n'
    ).records
    assert records["record_key"].to_list() == [stable_key("a\nb"), stable_key("f")]
    assert records["reference_keys"].to_list() == [[stable_key("c\nd"), stable_key("e")], [stable_key("g")]]


def test_references_of_another_shape_are_flagged() -> None:
    assert one({"id": "a", "references": [["x"], "b"]})["flags"] == ["reference_shape"]
    assert one({"id": "a", "references": {"id": "c"}})["references"] == ["c"]


def test_a_record_of_odd_types_loads() -> None:
    row = one(
        {
            "id": 7,
            "title": "Odd types in one record",
            "volume": 12,
            "issue": 3.0,
            "issn": ["1", "2"],
            "lang": None,
            "doc_type": "null",
            "year": "2007.0",
            "n_citation": "12",
            "page_stat": "5",
            "url": "http://x",
            "keywords": "a;b",
            "authors": ["Ann Lee", {"name": "Ann Lee"}],
            "abstract": None,
        }
    )
    assert (row["volume"], row["issue"], row["issn"], row["doc_type"], row["year"], row["year_raw"]) == (
        "12",
        "3",
        "1; 2",
        None,
        2007,
        None,
    )
    assert (row["n_citation"], row["page_start"], row["urls"], row["keywords"]) == (12, "5", ["http://x"], ["a", "b"])
    assert len(row["author_keys"]) == 1
    assert row["flags"] == []


def test_a_bad_year_and_doi_cost_the_field_not_the_record() -> None:
    row = one({"id": "a", "year": "c. 1990", "doi": "n/a"})
    assert (row["year"], row["year_raw"], row["doi"], row["doi_raw"], row["flags"]) == (
        None,
        "c. 1990",
        None,
        "n/a",
        ["doi_invalid", "year_unusable"],
    )


def test_the_same_bytes_make_the_same_rows_wherever_a_block_begins() -> None:
    data = b"".join(GOOD % (number, number) + b"\n" for number in range(2500))
    whole = parse(data).records
    cut = data.index(b"\n", len(data) // 2) + 1
    halves = pl.concat([parse(data[:cut]).records, parse(data[cut:], cut).records])
    assert whole.equals(halves)


@given(st.one_of(st.binary(max_size=8), st.text(max_size=8).map(str.encode), st.sampled_from(NOT_UTF8)))
def test_valid_utf8_is_what_python_decodes(data: bytes) -> None:
    assert is_utf8(data) is (data.decode("utf-8", "ignore").encode() == data)
    assert is_utf8(b"x" * 100 + data) is is_utf8(data)


def test_a_whole_number_as_a_decimal_is_the_same_text_whichever_parser_reads_it() -> None:
    for rest in (b"", b', "x": NaN'):
        row = one(b'{"id": "a", "title": "t", "volume": 93.0, "issue": 1.5, "page_start": 1e999' + rest + b"}")
        assert (row["volume"], row["issue"]) == ("93", "1.5")

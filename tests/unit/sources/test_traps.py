"""The faults of dumps that people have met, each in a part that goes the whole way into a lake, and what must come of it."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard

from scholarlake.lake import delta
from scholarlake.lake.contracts import RECORDS
from scholarlake.lake.delta import Commit
from scholarlake.lake.hashing import stable_key
from scholarlake.lake.home import Lake
from scholarlake.profile import Reading
from scholarlake.sources import invariants
from scholarlake.sources.dumps import inspect_part, part_file
from scholarlake.sources.files import folder_at
from scholarlake.sources.ingest import Ingested, ingest_part
from tests.unit.sources.spellings import SPELLINGS
from tests.unit.sources.test_formats import PAPERS

RUN = Commit("run-1", "code-1")
SMALL = Reading(workers=1, block_bytes=1024)  # type: ignore[call-arg]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake", 2)


def load(lake: Lake, data: bytes) -> Ingested:
    """A part into the lake; proves by the checks' own invariants that nothing of it is lost."""
    folder = lake.root.parent / "dumps"
    folder.mkdir(exist_ok=True)
    (folder / "part").write_bytes(data)
    done = ingest_part(lake, inspect_part(part_file(folder_at(folder), "part")), SMALL, RUN)
    assert invariants.nothing_lost(lake, "part", done.lines).passed
    assert invariants.every_byte_covered(lake, "part", done.uncompressed_bytes, done.between_bytes).passed
    return done


def rows(lake: Lake, name: str = "records") -> list[dict[str, Any]]:
    return delta.scan(lake, name).sort("byte_offset").collect().to_dicts()


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


# -- 1 ---------------------------------------------------------------------------------------------------------------


def test_wrappers_of_a_mongo_export_are_unwrapped_outside_of_strings_only(lake: Lake) -> None:
    load(
        lake,
        b'[\n{\n  "_id" : ObjectId("5f0a"),\n  "title" : "NumberInt(42) in MongoDB",\n  "year" : NumberInt(2007),\n'
        b'  "n_citation" : NumberLong("12"), "references" : [ ObjectId("5f0b") ],\n'
        b'  "abstract" : "ISODate(1) and \\"NumberInt(3)\\""\n}\n]',
    )
    (row,) = rows(lake)
    assert (row["record_id"], row["year"], row["n_citation"], row["references"]) == ("5f0a", 2007, 12, ["5f0b"])
    assert (row["title"], row["abstract"]) == ("NumberInt(42) in MongoDB", 'ISODate(1) and "NumberInt(3)"')


EXTENDED = {
    "_id": {"$oid": "53e99809b7602d970201fa36"},
    "title": 'Of {"$numberInt": "5"} and "$oid" in titles',
    "year": {"$numberInt": "2007"},
    "n_citation": {"$numberLong": "18"},
    "volume": {"$numberDouble": "7.0"},
    "page_start": {"$numberInt": "11"},
    "venue": {"_id": {"$oid": "55f9"}, "raw": "J"},
    "authors": [{"_id": {"$oid": "a1"}, "name": "Ann Lee"}],
    "references": [{"$oid": "b1"}, {"_id": {"$oid": "b2"}}, {"$numberLong": "18446744073709551616"}],
    "indexed_abstract": {"IndexLength": {"$numberInt": "2"}, "InvertedIndex": {"the": [{"$numberInt": "0"}], "cat": [{"$numberInt": "1"}]}},
}


@pytest.mark.parametrize("nan", [False, True], ids=["the fast parser", "the lenient one"])
@pytest.mark.parametrize("indent", [None, 2], ids=["a line", "an array"])
def test_values_of_extended_json_are_what_they_wrap(lake: Lake, indent: int | None, nan: bool) -> None:
    record = EXTENDED | ({"isbn": float("nan")} if nan else {})
    load(lake, json.dumps([record], indent=indent).encode() if indent else lines(record))
    (row,) = rows(lake)
    assert (row["record_id"], row["year"], row["n_citation"]) == ("53e99809b7602d970201fa36", 2007, 18)
    assert (row["volume"], row["page_start"], row["venue"], row["venue_id"]) == ("7", "11", "J", "55f9")
    assert row["references"] == ["b1", "b2", "18446744073709551616"]
    assert (row["authors"][0]["id"], row["abstract"], row["title"]) == ("a1", "the cat", EXTENDED["title"])
    assert row["flags"] == []


@pytest.mark.parametrize(
    ("year", "found", "flags"),
    [
        ({"$numberInt": "c. 1990"}, None, ["year_unusable"]),
        ({"$numberInt": ["2007"]}, None, ["year_unusable"]),
        ({"$numberInt": "2007", "more": 1}, None, ["year_unusable"]),
        ({"$numberDouble": "NaN"}, None, []),
        ({"$numberDecimal": "2007"}, 2007, []),
        ({"$unheard": "2007"}, None, ["year_unusable"]),
    ],
)
def test_what_extended_json_wraps_is_judged_as_if_it_stood_alone(lake: Lake, year: Any, found: int | None, flags: list[str]) -> None:
    load(lake, lines({"id": "a", "title": "t", "year": year}))
    (row,) = rows(lake)
    assert (row["year"], row["flags"]) == (found, flags)


def test_extended_json_of_any_depth_costs_its_line_only(lake: Lake) -> None:
    deep = b'{"id": {"$oid": "a"}, "x": ' + b'{"$oid": ' * 600 + b"1" + b"}" * 600 + b', "y": "\\ud835"}\n'
    done = load(lake, deep + lines({"id": "b", "title": "t"}))
    assert [row["record_id"] for row in rows(lake)][-1] == "b"
    assert set(done.reasons) <= {"too_deep"}


# -- 2 ---------------------------------------------------------------------------------------------------------------


def test_each_bad_line_of_a_file_is_a_reject_and_all_others_load(lake: Lake) -> None:
    good = [b'{"id": "%d", "title": "Paper %d, a good one"}' % (number, number) for number in range(8)]
    bad = {
        b"\\N": "not_json",
        b"null": "not_an_object",
        b"5": "not_an_object",
        b'[{"id": "x"}]': "not_an_object",
        b',{"id": "x"}': "not_json",
        b'{"id": "x", "ti': "truncated",
        b'{"id": "x", "title": "caf\xe9"}': "invalid_utf8",
        b'{"id": "x", "title": "n\x00l"}': "nul_byte",
    }
    data = b"\xef\xbb\xbf" + b"\r\n".join(line for pair in zip(good, bad, strict=True) for line in pair)  # no line end at the end
    done = load(lake, data)
    assert (done.lines, done.records, done.rejects) == (16, 8, 8)
    assert [row["record_id"] for row in rows(lake)] == [str(number) for number in range(8)]
    for row, (line, reason) in zip(rows(lake, "rejects"), bad.items(), strict=True):
        assert (row["dump_part"], row["reason"]) == ("part", reason)
        assert data[row["byte_offset"] : row["byte_offset"] + row["byte_length"]] == line
        assert row["detail"]


A, B = (b'{"id": "%s", "title": "t"}' % name for name in (b"a", b"b"))


@pytest.mark.parametrize("data", [b"[" + A + b",\n" + B, b"[" + A + b",\n" + B + b",", b"[\n" + A + b"\n," + B + b"\n", b"[" + A])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_an_array_that_breaks_off_between_two_records_says_so(lake: Lake, data: bytes, pack: Callable[[bytes], bytes]) -> None:
    done = load(lake, pack(data))
    assert done.reasons == {"array_not_closed": 1}
    (row,) = rows(lake, "rejects")
    assert (row["byte_offset"], row["byte_length"]) == (len(data), 0)
    assert "end is missing" in row["detail"]
    assert not invariants.does_not_break_off(lake, "part").passed


def test_an_array_that_breaks_off_in_a_record_says_so_once(lake: Lake) -> None:
    done = load(lake, b"[" + A + b",\n" + B[:-4])
    assert (done.records, done.reasons) == (1, {"truncated": 1})
    assert not invariants.does_not_break_off(lake, "part").passed


@pytest.mark.parametrize("data", [b"[" + A + b",\n" + B + b"]", A + b"\n" + B, b"[" + A + b"]\n[" + B + b"]", b"[]", A + b"\n{half\n" + B])
def test_a_whole_part_does_not_break_off(lake: Lake, data: bytes) -> None:
    load(lake, data)
    assert invariants.does_not_break_off(lake, "part").passed


# -- 3 ---------------------------------------------------------------------------------------------------------------


def test_a_field_that_comes_late_is_there(lake: Lake) -> None:
    load(lake, lines(*({"id": f"a{n}", "references": []} for n in range(150)), {"id": "b", "doi": "10.1000/late", "references": ["c"]}))
    found = rows(lake)
    assert [(row["doi"], row["references"]) for row in found] == [(None, [])] * 150 + [("10.1000/late", ["c"])]
    assert delta.scan(lake, "records").collect_schema() == RECORDS.schema


# -- 4 ---------------------------------------------------------------------------------------------------------------


def test_references_of_every_shape_are_ids_and_unknown_shapes_are_counted(lake: Lake) -> None:
    shapes: list[Any] = [["a"], [{"id": "c"}], "a", None, [1, "1"], [18446744073709551616], [["a"], "b"]]
    done = load(lake, lines(*({"id": str(number), "references": shape} for number, shape in enumerate(shapes))))
    assert [row["references"] for row in rows(lake)] == [["a"], ["c"], ["a"], [], ["1", "1"], ["18446744073709551616"], ["b"]]
    assert done.flags == {"reference_shape": 1}


def test_ids_1_and_text_1_are_one(lake: Lake) -> None:
    load(lake, lines({"id": 1, "references": ["2"]}, {"id": "1", "references": [2]}))
    first, second = rows(lake)
    assert first["record_key"] == second["record_key"] == stable_key("1")
    assert first["reference_keys"] == second["reference_keys"]


# -- 5 ---------------------------------------------------------------------------------------------------------------


def test_a_lone_surrogate_costs_at_most_its_row_and_not_the_write(lake: Lake) -> None:
    done = load(lake, b'{"id": "x", "title": "a\\ud835b"}\n{"id": "y\\ud835"}\n' + lines({"id": "z", "title": "t"}))
    assert [(row["record_id"], row["title"]) for row in rows(lake)] == [("x", "a\ufffdb"), ("z", "t")]
    assert (done.reasons, done.flags) == ({"lone_surrogate": 1}, {"lone_surrogate": 1})


# -- 6 ---------------------------------------------------------------------------------------------------------------

INDEX = {"the": [0, 3], "cat": [1], "sat:": [2]}


@pytest.mark.parametrize(
    ("given", "abstract"),
    [
        ({"abstract": INDEX}, "the cat sat: the"),
        ({"indexed_abstract": {"IndexLength": 4, "InvertedIndex": INDEX}}, "the cat sat: the"),
        ({"indexed_abstract": json.dumps({"IndexLength": 4, "InvertedIndex": INDEX})}, "the cat sat: the"),
        ({"abstract_inverted_index": INDEX}, "the cat sat: the"),
        ({"abstract": {}}, None),
        ({"abstract": None, "indexed_abstract": "{}"}, None),
        ({"abstract": "null"}, None),
    ],
)
def test_inverted_abstracts_read_as_text(lake: Lake, given: dict[str, Any], abstract: str | None) -> None:
    load(lake, lines({"id": "a", "title": "t", **given}))
    assert (rows(lake)[0]["abstract"], rows(lake)[0]["flags"]) == (abstract, [])


def test_fields_of_the_shapes_that_dumps_have_them_in(lake: Lake) -> None:
    load(
        lake,
        b'{"id": "1", "title": "One", "year": NaN, "n_citation": "12", "venue": "J"}\n'
        b'{"id": "2", "title": "null", "n_citation": null, "venue": {"id": "v", "raw": "J"}}\n'
        b'{"id": "3", "title": "Three", "venue": {"id": "v", "name": "J"}, "authors": ["Ann Lee", {"name": "Bo Li", "org": "O\\r"}]}\n'
        + lines(
            {"id": "4", "title": "Four", "venue": {"_id": "v", "raw": "J", "raw_zh": "期刊"}},
            {"id": "5", "title": "Five", "authors": [{"name": "Cy Mo", "orgs": ["P", "Q"]}, {"name": "Di No", "orgid": "o1", "org": None}]},
            {"id": "6", "title": "Six", "url": [f"https://example.org/{number}" for number in range(660)]},
        ),
    )
    found = {row["record_id"]: row for row in rows(lake)}
    assert [found[key]["n_citation"] for key in "123"] == [12, None, None]
    assert [found[key]["venue"] for key in "1234"] == ["J"] * 4
    assert [found[key]["venue_id"] for key in "1234"] == [None, "v", "v", "v"]
    assert (found["1"]["year"], found["2"]["title"]) == (None, None)
    assert [(author["name"], author["org"]) for author in found["3"]["authors"]] == [("Ann Lee", None), ("Bo Li", "O")]
    assert [(author["org"], author["org_id"]) for author in found["5"]["authors"]] == [("P; Q", None), (None, "o1")]
    assert len(found["6"]["urls"]) == 660
    assert not any(row["flags"] for row in found.values())


# -- 7 ---------------------------------------------------------------------------------------------------------------


def _zipped(data: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside.json", data)
    return target.getvalue()


PACKED: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zip": _zipped, "zstd": zstandard.compress}
FORMS = ("OAG v3", "DBLP V12", "trailing commas", "DBLP V13", "DBLP V14", "DBLP V1", "DBLP V2", "DBLP V5 with CRLF", "DBLP in GBK")


@pytest.mark.parametrize("how", PACKED)
@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_dump_is_the_same_packed_as_plain(lake: Lake, tmp_path: Path, name: str, how: str) -> None:
    data = SPELLINGS[name].write(PAPERS)
    load(lake, data)
    plain = delta.scan(lake, "records").collect()
    done = load(Lake.create(tmp_path / "other" / "lake", 2), PACKED[how](data))
    assert (done.records, done.rejects) == (len(PAPERS), 0)
    assert pl.read_delta(str(tmp_path / "other" / "lake" / "tables" / "records")).height == plain.height


def test_every_tag_of_the_text_format_is_read(lake: Lake) -> None:
    load(
        lake,
        b"2\n#*A first title\n#@Ann Lee,Bo Li\n#t1999\n#cVLDB\n#index1\n#%2\n#%3\n#!An abstract.\n\n"
        b"#*A second title\n#@Cy Mo\n#year2001\n#confSIGMOD\n#citation7\n#index2\n\n",
    )
    first, second = rows(lake)
    assert [author["name"] for author in first["authors"]] == ["Ann Lee", "Bo Li"]
    assert (first["record_id"], first["year"], first["venue"], first["references"]) == ("1", 1999, "VLDB", ["2", "3"])
    assert (first["title"], first["abstract"]) == ("A first title", "An abstract.")
    assert (second["year"], second["venue"], second["n_citation"]) == (2001, "SIGMOD", 7)


ASCII = b"#*A title of nothing but ASCII\n#@Ann Lee\n#t1999\n#cVLDB\n#index%d\n\n"
CHINESE = "#*数据库系统的查询优化研究\n#@王小明,李华\n#t1999\n#c计算机学报\n#index%s\n#!本文研究查询优化。\n\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize(("encoding", "format"), [("gb18030", "dblp-text-gbk"), ("utf-8", "dblp-text")])
def test_an_encoding_that_shows_behind_the_first_megabyte_is_told(
    lake: Lake, pack: Callable[[bytes], bytes], encoding: str, format: str
) -> None:
    plain = b"".join(ASCII % number for number in range(20_000))
    assert len(plain) > 1 << 20
    done = load(lake, pack(plain + b"".join((CHINESE % f"c{number}").encode(encoding) for number in range(5))))
    assert (done.records, done.rejects) == (20_005, 0)
    assert {row["method"] for row in rows(lake)} == {format}
    assert [(row["title"], row["venue"]) for row in rows(lake)[-5:]] == [("数据库系统的查询优化研究", "计算机学报")] * 5


def test_a_part_of_which_most_is_utf8_is_no_gbk_for_a_few_damaged_lines(lake: Lake) -> None:
    text = "".join(CHINESE % number for number in range(50)).encode()
    done = load(lake, text + (CHINESE % "x").encode("gb18030"))
    assert (done.records, done.reasons) == (50, {"invalid_utf8": 1})

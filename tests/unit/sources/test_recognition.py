"""What a part is, is told by its content, not by its name, and not by its first record alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scholarlake.sources.readers import FORMATS
from scholarlake.sources.recognition import HEAD_BYTES, describe, recognise

OAG = {"id": "a", "title": "A paper", "authors": [{"name": "Ann Lee", "id": "b"}], "year": 2007, "references": ["c"]}
DBLP_V10 = {
    "id": "a",
    "title": "A paper",
    "authors": ["Ann Lee"],
    "n_citation": 3,
    "references": ["c"],
    "venue": "X",
    "abstract": "Y",
    "year": 2001,
}
DBLP_V13 = {"_id": "a", "title": "A paper", "venue": {"_id": "v", "raw": "X"}, "year": 2001}
S2ORC = {"paper_id": "7", "title": "A paper", "authors": [], "outbound_citations": [], "arxiv_id": None, "mag_field_of_study": ["Art"]}
OPENALEX = {"id": "https://openalex.org/W12", "display_name": "A work", "publication_year": 2001, "referenced_works": []}
MAG = {"PaperId": 12, "PaperTitle": "a paper", "OriginalTitle": "A Paper", "Year": 2001}
MAG_LIKE = {"Id": 12, "Title": "A paper", "Authors": [{"Name": "Ann Lee"}], "Year": 2001}
LISTED = {"title": "A paper", "datasets": ["d"], "original": {"doi": "10.1000/x", "journal": None}}
MAG_ROW = "\t".join(
    [
        "12",
        "1",
        "10.1/X",
        "Journal",
        "a paper",
        "A Paper",
        "",
        "2001",
        "2001-01-01",
        "P",
        "5",
        "",
        "",
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
        "7",
        "V",
        "",
        "2016-06-24",
    ]
)

BESIDE: dict[str, dict[str, Any]] = {
    "oag-author": {"id": 1, "name": "Ann Lee", "normalized_name": "ann lee", "pubs": [{"i": 2, "r": 1}], "n_pubs": 1, "n_citation": 4},
    "oag-venue": {"id": 1, "JournalId": 1, "DisplayName": "Journal of X", "NormalizedName": "journal of x"},
    "oag-affiliation": {"id": 1, "DisplayName": "University of X", "Latitude": "1.0", "Longitude": "2.0"},
    "oag-entity": {"id": 1, "DisplayName": "Something of X", "NormalizedName": "something of x"},
    "oag-linking": {"mid": "1", "aid": "b"},
    "openalex-other": {"id": "https://openalex.org/A5", "display_name": "Ann Lee", "works_count": 3},
}


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def name_of(head: bytes) -> str | None:
    found = recognise(head)
    assert found is None or FORMATS[found.name] is found
    return found.name if found else None


PAPERS = [
    (OAG, "oag"),
    (DBLP_V10, "oag"),
    (DBLP_V13, "oag"),
    (S2ORC, "s2orc"),
    (OPENALEX, "openalex"),
    (MAG, "mag"),
    (MAG_LIKE, "mag"),
    (LISTED, "publications"),
]


@pytest.mark.parametrize(("record", "dialect"), PAPERS)
def test_papers_are_known_in_every_framing(record: dict[str, Any], dialect: str) -> None:
    one = json.dumps(record).encode()
    assert name_of(one) == name_of(one + b"\n" + one + b"\r\n") == name_of(b"\xef\xbb\xbf" + one) == f"{dialect}-jsonl"
    array = [
        json.dumps([record, record]).encode(),
        json.dumps([record, record], indent=2).encode(),
        b"[\n" + one + b"\n," + one + b"\n]\n",
        b"[\n" + one + b",\n" + one + b",\n]",
        b"\xef\xbb\xbf[" + one + b"\r\n," + one + b"]",
        json.dumps(record, indent=4).encode() + b"\n" + json.dumps(record, indent=4).encode(),
        one + b"," + one,
    ]
    assert {name_of(form) for form in array} == {f"{dialect}-json"}


@pytest.mark.parametrize("name", BESIDE)
def test_what_lies_beside_papers_is_known_for_what_it_is(name: str) -> None:
    assert name_of(lines(BESIDE[name], BESIDE[name])) == name
    assert name_of(json.dumps([BESIDE[name]] * 2).encode()) == name


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"", "oag-jsonl"),
        (b"\n \r\n", "oag-jsonl"),
        (b"[\n]\n", "oag-json"),
        (b'{"id": 1}\n', "oag-jsonl"),
        (b'\\N\nnull\n[{"a": 1}]\n{"id": 1}', "oag-jsonl"),
        (b'[{"id": 1, "title": "x"}]\n,{"id": 1, "title": "x"}\n{"id": 1}\n{"id": 2}', "oag-jsonl"),
        (b'{"id": "a", "title": "cut o', "oag-jsonl"),
        (b'[{"id": "a", "title": "cut o', "oag-json"),
        (b'[\n{"id": "a", "title": "cut o\n,{"id": "b", "title": "x"}\n]', "oag-json"),
        (b'{"_id" : ObjectId("5"), "year" : NumberInt(2007), "title" : "x"}\n', "oag-json"),
        (b"#*A title\n#@An Author\n#index1\n", "dblp-text"),
        (b"629814\n#*A title\n#@An Author\n#t1995\n#cX\n#index0\n", "dblp-text"),
        (b"\xef\xbb\xbf\r\n2\r\n#*A title\r\n#index0\r\n", "dblp-text"),
        (b"#index 1\n#* A title\n#@ A;B\n#o X;Y\n", "dblp-text"),
        (MAG_ROW.encode() + b"\n" + MAG_ROW.encode() + b"\r\n", "mag-table"),
        (b"id,title\n1,x\n", None),
        (b"PK\x03\x04", None),
        (b'{"a": 1}\n{"a": 2}\n', None),
        (b'{"12": {"id": 1, "title": "x"}, "13": {"id": 2, "title": "y"}}', None),
        (b'{"papers": [{"id": 1, "title": "x"}, {"id": 2, "title": "y"}]}', None),
        (b"# A heading\n#* not a title\n", None),
        (b"\x00\xff\xfe", None),
        (b"1\t2\t3\n", None),
    ],
)
def test_a_part_is_known_by_its_content(head: bytes, name: str | None) -> None:
    assert name_of(head) == name


def test_most_records_decide_whatever_comes_first() -> None:
    assert name_of(lines(BESIDE["oag-author"], OAG, OAG)) == "oag-jsonl"
    assert name_of(lines(OAG, S2ORC, S2ORC)) == "s2orc-jsonl"


@pytest.mark.parametrize("opening", [b"", b"["])
def test_a_first_record_longer_than_what_is_looked_at_is_known_by_its_first_fields(opening: bytes) -> None:
    head = opening + b'{"paper_id": "1", "title": "x", "mag_field_of_study": ["A"], "abstract": "' + b"y" * HEAD_BYTES
    assert name_of(head[:HEAD_BYTES]) == ("s2orc-json" if opening else "s2orc-jsonl")


def test_gbk_is_told_from_utf8_by_most_of_the_lines_beyond_ascii() -> None:
    text = "#*数据库系统的查询优化\n#@王小明,李华\n#t1999\n#c计算机学报\n#index0\n\n"
    assert name_of(text.encode("gb18030")) == "dblp-text-gbk"
    assert name_of(text.encode()) == "dblp-text"
    french = "#*Étude des réseaux\n#@José Núñez\n#index1\n\n"
    assert name_of(french.encode() * 9 + text.encode("gb18030")) == "dblp-text"
    assert name_of(french.encode("latin-1")) == "dblp-text", "accents of Latin-1 are single bytes: no GBK, but rejects"


@pytest.mark.parametrize(
    ("head", "shown"),
    [
        (b'{"12": {"QUESTION": "x"}, "13": 5}', "objects with the fields 12, 13"),
        (b'[{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7}]', "objects with the fields a, b, c, d, e, f…"),
        (b"id,title\n1,x\n", "'id,title\u23ce1,x\u23ce'"),
        (b"<?xml version='1.0'?>\n<x/>", "\"<?xml version='1.0'?>\u23ce<x/>\""),
    ],
)
def test_what_is_not_known_is_described_in_one_line(head: bytes, shown: str) -> None:
    assert recognise(head) is None
    assert describe(head) == shown

"""Papers of the usual shape: read column by column they are what they are read one by one, whatever is in them."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scholarlake.sources import streams, units
from scholarlake.sources.blocks import Parsed, parse_block
from scholarlake.sources.files import LocalFile
from scholarlake.sources.lines import Block
from scholarlake.sources.plain import texts_of
from scholarlake.sources.readers import LINE_READERS
from scholarlake.sources.shape import Paper
from scholarlake.sources.titles import fingerprint, fingerprints
from scholarlake.sources.units import Origin

REPOSITORY = Path(__file__).parents[3]
REAL = REPOSITORY.parent / "shared" / "real"
SAMPLE = sorted((REPOSITORY / "data" / "sample" / "dumps").rglob("*.json*"))
ORIGIN = Origin("v3/part.json", "v3", "code-1", 2031, 1 << 16)


def both(data: bytes, origin: Origin = ORIGIN) -> tuple[Parsed, Parsed]:
    """The block as it is read, and as it is read with no paper taken for usual."""
    block = Block(7, data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(units, "usual_papers", lambda texts, together, last_year: [])
        one_by_one = parse_block(block, origin, LINE_READERS["oag"])
    return parse_block(block, origin, LINE_READERS["oag"]), one_by_one


def assert_same(data: bytes, origin: Origin = ORIGIN) -> Parsed:
    found, wanted = both(data, origin)
    for frame, expected in ((found.records, wanted.records), (found.rejects, wanted.rejects)):
        assert frame.schema == expected.schema
        for name in expected.columns:
            if frame[name].to_list() != expected[name].to_list():
                rows = zip(frame[name].to_list(), expected[name].to_list(), data.split(b"\n"), strict=False)
                raise AssertionError((name, [row for row in rows if row[0] != row[1]][:3]))
    assert (found.lines, found.covered, found.reasons, found.flags) == (wanted.lines, wanted.covered, wanted.reasons, wanted.flags)
    return found


def usual(*lines: bytes) -> list[bool]:
    """Which lines are read without the careful reader."""
    carefully: list[bytes] = []

    def spying(read: units.ReadObject) -> units.ReadText:
        def spy(text: bytes, last_year: int) -> Any:
            carefully.append(text)
            return read_text(text, last_year)

        read_text = json_reader(read)
        return spy

    json_reader = units.json_reader
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(units, "json_reader", spying)
        parse_block(Block(0, b"\n".join(lines)), ORIGIN, LINE_READERS["oag"])
    return [line.removesuffix(b"\r") not in carefully for line in lines]


ODD_TEXTS = (
    "",
    " ",
    "  ",
    "null",
    "NULL",
    "None",
    "none",
    "NaN",
    "undefined",
    "\\N",
    "nano",
    "a  b",
    " a",
    "a ",
    "a<b",
    "<i>x</i> y",
    "AT&T",
    "x &amp; y",
    "{a set} of",
    '{"a": [1, 0], "b": [2]}',
    "{",
    "{}",
    "caf\u00e9",
    "\u6570\u636e\u5e93",
    "a\nb",
    "a\tb",
    "x\x00y",
    "\x1f",
    "a\x7f",
    "\u00a0",
    "\ufeff",
    "Editorial",
    "Editorial 12",
    "Annual Report!",
    "A title of some words",
    "A Title, of some words.",
    "\U0001d49c \u2200x",
    "10.1000/abc",
    "10.1000/ABC",
    "https://doi.org/10.1000/x",
    "doi:10.1/x",
    "n/a",
    "J. Smith",
    "Smith, J.",
    "Smith J",
    "J\u00f8rgen \u00c5. M\u00fcller",
    "Dr. A. B.",
)
texts = st.one_of(
    st.sampled_from(ODD_TEXTS),
    st.text(max_size=12),
    st.text("aB 1.<&;{\u00e9", max_size=14),
    st.lists(st.sampled_from(ODD_TEXTS)).map(" ".join),
)
maybe = st.one_of(st.none(), texts)
scraps: Any = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=True), texts),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=3,
)
numbers = st.one_of(st.none(), st.integers(1000, 2031))
odd_numbers = st.one_of(st.integers(-3, 2100), st.sampled_from([0, 999, 2032, 2007.0, 1e16, 1 << 63, (1 << 63) - 1, 1 << 64, "2007", True]))
people = st.one_of(
    st.none(),
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "id": maybe,
                "name": maybe,
                "org": maybe,
                "org_id": maybe,
                "name_zh": st.none(),
                "_id": st.none(),
                "position": scraps,
            },
        ),
        max_size=4,
    ),
)
odd_people = st.lists(st.fixed_dictionaries({"name": maybe}, optional={"name_zh": texts, "orgs": scraps, "orgid": scraps}), max_size=2)
places = st.one_of(maybe, st.fixed_dictionaries({}, optional={"id": maybe, "raw": maybe, "name": st.none(), "x": scraps}))
lists = st.one_of(st.none(), st.lists(texts, max_size=4))
TEXT_FIELDS = (
    "abstract",
    "doi",
    "venue_id",
    "lang",
    "doc_type",
    "volume",
    "issue",
    "page_start",
    "page_end",
    "issn",
    "isbn",
    "publisher",
    "pdf",
)
records = st.fixed_dictionaries(
    {"id": st.one_of(st.integers(0, 99).map(str), st.sampled_from(["a-b", "hep-th/1", "W 1"]), texts), "title": texts},
    optional={
        **dict.fromkeys(TEXT_FIELDS, maybe),
        "year": numbers,
        "n_citation": numbers,
        "authors": people,
        "venue": places,
        "keywords": lists,
        "url": lists,
        "references": lists,
        "urls": st.none(),
        "page_stat": st.none(),
        "indexed_abstract": st.none(),
        "unknown": scraps,
    },
)
ODD_FIELDS = (
    "id",
    "title",
    "abstract",
    "doi",
    "venue",
    "venue_id",
    "authors",
    "keywords",
    "url",
    "year",
    "n_citation",
    "_id",
    "DisplayName",
)
odd_records = st.builds(
    lambda record, name, value: {**record, name: value}, records, st.sampled_from(ODD_FIELDS), scraps | odd_numbers | odd_people
)


def as_line(record: dict[str, Any], ascii_only: bool) -> bytes:
    return json.dumps(record, ensure_ascii=ascii_only).encode("utf-8", "replace")


def spoilt(line: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """A line with bytes cut out and others put in, at places counted from its end round and round."""
    for place, cut, put in edits:
        place %= len(line) + 1
        line = line[:place] + put + line[place + cut :]
    return line


# What some parser somewhere takes for JSON, or for the end of something.
FIELDS = (
    b'"id":"a",',
    b'"title":"t",',
    b'"_id":null,',
    b'"x":Inf,',
    b'"x":{"y":-NaN},',
    b'"venue":{"raw":"R"},',
    b'"venue":"V",',
    b'"year":2007.0,',
    b'"n_citation":1e15,',
    b'"authors":[null,{}],',
    b'"references":[null,"r"],',
)
TOKENS = (
    *(bytes([byte]) for byte in b'{}[],:"\\ \t\r\n\x00\x0b\x7f\xff-'),
    *(b"\xc3\xa9", b"\xef\xbb\xbf", b"null", b"true", b"NaN", b"-NaN", b"Inf", b"-Infinity", b"1e999", b"01", b"1.", b"2007.0", b"9" * 25),
    *(b"\\ud835", b"\\u0000", b"/**/", b"}{", b"} null {", b"}\n{", b'{"id":"a","title":"t"}'),
    *FIELDS,
)
edits = st.tuples(st.integers(0, 300), st.sampled_from([0, 0, 1, 3]), st.sampled_from(TOKENS))
usual_lines = st.builds(as_line, records, st.booleans())
lines = st.one_of(
    usual_lines,
    usual_lines,
    st.builds(lambda line, field: b"{" + field + line[1:], usual_lines, st.sampled_from(FIELDS)),
    st.builds(spoilt, usual_lines, st.lists(edits, min_size=1, max_size=2)),
    st.builds(as_line, odd_records, st.booleans()),
    st.sampled_from([b"", b"null", b"{}", b'{"id": "a", "title": "x\xff"}', b'{"id": "a", "title": "t", "x": "\xff"}']),
    st.sampled_from([b' {"id": "a", "title": "t"} ', b'{"id": "a", "title": "t", "x": 1e999}', b'\xef\xbb\xbf{"id": "a", "title": "t"}']),
    st.sampled_from([b'{"id": "a", "title": "\\ud835"}', b'{"id": "a", "title": "t"} {"id": "b"}', b'{"id": "a",', b'"title": "t"}']),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(lines, min_size=1, max_size=8), st.sampled_from([b"\n", b"\r\n"]), st.booleans())
def test_what_is_read_by_columns_is_what_is_read_line_by_line(given_lines: list[bytes], end: bytes, ended: bool) -> None:
    assert_same(end.join(given_lines) + (end if ended else b""))


@settings(max_examples=150, deadline=None)
@given(st.lists(usual_lines, min_size=30, max_size=60), st.lists(st.tuples(st.integers(0, 59), lines), max_size=3))
def test_a_few_odd_lines_among_many_change_nothing_in_the_others(many: list[bytes], odd: list[tuple[int, bytes]]) -> None:
    for place, line in odd:
        many.insert(place, line)
    assert_same(b"\n".join(many))


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.name)
def test_the_sample_dumps_are_the_same_read_either_way(path: Path) -> None:
    file = LocalFile.at(path)
    with streams.PartStream(file, streams.compression_of(file)) as stream:
        data = b"".join(iter(lambda: stream.read(1 << 20), b""))
    assert_same(data)


def test_the_real_papers_of_hepth_are_the_same_read_either_way() -> None:
    path = REAL / "hepth" / "hepth_oaglike.jsonl.gz"
    if not path.is_file():
        pytest.skip("the real papers are not here")
    with gzip.open(path) as stream:
        found = [line.rstrip(b"\n") for line, _ in zip(stream, range(3000), strict=False)]
    assert_same(b"\n".join(found))
    assert sum(usual(*found)) > 0.99 * len(found)


def test_the_real_papers_of_the_second_release_are_the_same_read_either_way() -> None:
    paths = sorted((REAL / "oag_v2").glob("*.jsonl"))
    if not paths:
        pytest.skip("the real papers are not here")
    for path in paths:
        assert_same(path.read_bytes())


def test_papers_as_the_releases_have_them_are_taken_for_usual() -> None:
    assert (
        usual(
            b'{"id": "53a7", "title": "T", "authors": [{"name": "Max", "id": "1"}], "venue": {"raw": "WWW", "id": "5"}, "year": 2006}',
            b'{"id": "9201001", "title": "T", "authors": [], "venue": "J", "year": null, "doi": "", "url": ["x"], "more": {"a": [1]}}\r',
            b'{"id": "hep-th/1", "title": ""}',
            b'\xef\xbb\xbf {"id": "a", "title": "t", "year": 2007.0} ',
        )
        == [True] * 4
    )


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": 1, "title": "t"}',
        b'{"id": " a", "title": "t"}',
        b'{"id": "null", "title": "t"}',
        b'{"id": "", "title": "t"}',
        b'{"id": "a"}',
        b'{"id": "a", "title": "t", "year": "2007"}',
        b'{"id": "a", "title": "t", "year": 0}',
        b'{"id": "a", "title": "t", "year": 2032}',
        b'{"id": "a", "title": "t", "authors": ["x"]}',
        b'{"id": "a", "title": "t", "authors": [{"name": null, "name_zh": "x"}]}',
        b'{"id": "a", "title": "t", "indexed_abstract": {"a": [0]}}',
        b'{"id": "a", "title": "t", "page_stat": "3"}',
        b'{"id": "a", "title": "t", "venue": {}}',
        b'{"id": "a", "title": "t", "references": [1]}',
        b'{"id": "a", "title": "t", "x": "\xff"}',
        b'{"id": "a", "title": "t", "x": ' + b"[" * 1500 + b"]" * 1500 + b"}",
        b'{"id": "a", "title": null}',
        b'{"id": "a", "title": "t", "year": 2007.5}',
        b'{"id": "a", "title": "t", "n_citation": -1}',
        b'{"id": "a", "title": "t", "n_citation": 1e15}',
        b'{"id": "a", "title": "t", "n_citation": 9007199254740993}',
        b'{"id": "a", "title": "t", "x": Inf}',
        b'{"id": "a", "title": "t"} null',
        b'{"id": "a", "title": "t"}{"id": "b", "title": "t"}',
    ],
)
def test_a_line_of_any_other_shape_is_left_to_the_careful_reader(line: bytes) -> None:
    assert usual(line, b'{"id": "b", "title": "after it"}') == [False, True]


def test_a_line_that_only_the_fast_parser_refuses_takes_few_others_with_it() -> None:
    lines = [b'{"id": "%d", "title": "t"}' % number for number in range(1000)]
    lines[700] = b'{"id": "a", "title": "t", "title": "u"}'
    found = usual(*lines)
    assert not found[700]
    assert sum(found) >= 980
    assert_same(b"\n".join(lines))


def test_every_field_that_decides_a_column_is_in_the_usual_shape() -> None:
    assert set(Paper.__struct_fields__) >= set(TEXT_FIELDS)


@given(
    st.lists(
        st.one_of(st.none(), st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), st.sampled_from(["Editorial 12"]))
    )
)
def test_fingerprints_of_many_titles_are_those_of_each(titles: list[str | None]) -> None:
    assert fingerprints(texts_of(titles)).to_list() == [fingerprint(title) for title in titles]


def test_reading_takes_no_pandas_along() -> None:
    block = b'{"id": "a", "title": "<i>T</i>", "year": 2007, "doi": "x", "authors": [{"name": "B C"}, {}]}\n{"id": 1}\nx\n'
    script = f"""
import sys
from scholarlake.sources.blocks import parse_block
from scholarlake.sources.lines import Block
from scholarlake.sources.readers import LINE_READERS
from scholarlake.sources.units import Origin
assert parse_block(Block(0, {block!r}), Origin("p", "e", "c", 2031, 1 << 16), LINE_READERS["oag"]).records.height == 2
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, check=True)


def test_rows_stay_in_the_order_of_their_lines() -> None:
    data = b"".join(b'{"id": %s, "title": "t"}\n' % (b"1" if number % 3 else b'"2"') for number in range(50))
    assert assert_same(data).records["byte_offset"].is_sorted()
    assert pl.Series(both(data)[0].records["record_id"]).to_list()[:4] == ["2", "1", "1", "2"]

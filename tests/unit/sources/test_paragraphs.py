"""Paragraphs of DBLP's text format: where they begin and end, and what their tags say."""

from __future__ import annotations

import io

import pytest

from scholarlake.sources.dialects import dblptext
from scholarlake.sources.paragraphs import split_paragraphs
from scholarlake.sources.record import NoRecord, RecordRow

NO_LIMIT = 1 << 20
A = b"#*First of them\n#@Ann Lee,Jo Ko\n#t1995\n#cVLDB\n#index0"
B = b"#*Second of them\n#index1\n#%0\n#!Why?"


def cut(data: bytes, block_bytes: int = NO_LIMIT, limit: int = NO_LIMIT) -> list[bytes]:
    found: list[bytes] = []
    position = 0
    for block in split_paragraphs(io.BytesIO(data).read, block_bytes, limit):
        assert block.offset == position < block.stop
        assert block.data == data[position : block.stop]
        found += [block.data[start:stop] for start, stop in zip(block.starts.tolist(), block.stops.tolist(), strict=True)]
        position = block.stop
    assert position == len(data)
    return found


@pytest.mark.parametrize(
    "data",
    [
        A + b"\n\n" + B,
        A + b"\n" + B + b"\n",
        b"2\n" + A + b"\n\n\n \t\n" + B + b"\n\n",
        b"\xef\xbb\xbf\n2 \n\n" + A + b"\n\n" + B + b"\n\n",
        b"2" + b"\n" * 5000 + A + b"\n\n" + B,
    ],
    ids=["blank line", "no blank line", "count and blank lines", "byte-order mark", "many blank lines"],
)
def test_paragraphs_begin_behind_blank_lines_and_with_the_first_tag(data: bytes) -> None:
    for block_bytes in (1, 50, NO_LIMIT):
        assert cut(data, block_bytes) == [A, B]
        assert cut(data.replace(b"\n", b"\r\n"), block_bytes) == [A.replace(b"\n", b"\r\n"), B.replace(b"\n", b"\r\n")]


def test_where_the_id_comes_first_a_paragraph_begins_with_it() -> None:
    first, second = b"#index 0\n#* First", b"#index 1\n#* Second"
    assert cut(first + b"\n" + second + b"\n") == [first, second]


def test_a_paragraph_without_its_first_tag_is_a_unit_of_its_own() -> None:
    assert cut(A + b"\n\n#@Ann Lee\n#index7\n\nsome words\n\n" + B) == [A, b"#@Ann Lee\n#index7", b"some words", B]


def test_a_paragraph_over_the_limit_is_cut_and_never_held() -> None:
    long = b"#*Long\n#!" + b" word" * 2000
    for block_bytes in (1, 64, NO_LIMIT):
        found = cut(A + b"\n\n" + long + b"\n\n" + B + b"\n", block_bytes, limit=100)
        assert (found[0], found[-1]) == (A, B)
        assert b"".join(found[1:-1]) == long
        assert {len(piece) for piece in found[1:-2]} == {101}
    given, largest = 0, 0

    def read(size: int) -> bytes:
        nonlocal given
        given += size
        return b"#*" + b"y" * (size - 2) if given == size else b"y" * size if given < 40 << 20 else b""

    for block in split_paragraphs(read, 1 << 20, 1 << 20):
        largest = max(largest, len(block.data))
    assert largest < 5 << 20


def row(text: str, encoding: str = dblptext.UTF8) -> RecordRow:
    return dblptext.read_text(text.encode(encoding), 2031, encoding)


def test_every_tag_is_read() -> None:
    read = row("#*OQL[C++]: Extending C++\n#@Ann B. Lee,Jo Ko\n#t1995\n#cModern Databases\n#index12\n#%3\n#%4\n#!Why\nnot?\n")
    assert (read.title, read.year, read.venue, read.record_id, read.references) == (
        "OQL[C++]: Extending C++",
        1995,
        "Modern Databases",
        "12",
        ["3", "4"],
    )
    assert read.abstract == "Why not?"
    assert [author[1] for author in read.authors] == ["Ann B. Lee", "Jo Ko"]
    assert read.flags == []


def test_the_older_tags_are_no_venues() -> None:
    read = row("#*T\n#@A\n#year2004\n#confNeural Computation\n#citation94\n#index436405\n#arnetid603\n#%94584\n")
    assert (read.year, read.venue, read.n_citation, read.record_id) == (2004, "Neural Computation", 94, "436405")
    assert row("#*T\n#citation-1\n#index1").n_citation is None


def test_organisations_stand_in_the_order_of_the_authors() -> None:
    read = row("#index 1\n#* T\n#@ Ann Lee;Jo Ko\n#o University of X;-\n#t 1999\n#c V\n")
    assert [(author[1], author[2]) for author in read.authors] == [("Ann Lee", "University of X"), ("Jo Ko", "-")]


def test_a_suffix_belongs_to_the_name_before_it() -> None:
    assert [author[1] for author in row("#*T\n#@Ann Lee, Jr.,Jo Ko,III\n#index1").authors] == ["Ann Lee, Jr.", "Jo Ko, III"]


@pytest.mark.parametrize("missing", ["", "#@\n#t\n#c\n#%\n#!\n"])
def test_a_paper_of_which_little_is_said_is_a_record(missing: str) -> None:
    read = row(f"#*T\n{missing}#index5\n")
    assert (read.record_id, read.authors, read.year, read.venue, read.references, read.abstract, read.flags) == (
        "5",
        [],
        None,
        None,
        [],
        None,
        [],
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"#*T\n#@A", "no_id"),
        (b"some words", "no_tag"),
        (b"#*T\n#index1\n#index2", "not_one_record"),
        (b"#*caf\xe9 au lait\n#index1", "invalid_utf8"),
        (b"#*a\x00b\n#index1", "nul_byte"),
    ],
)
def test_what_is_no_record_is_refused_with_its_reason(text: bytes, reason: str) -> None:
    with pytest.raises(NoRecord) as fault:
        dblptext.read_text(text, 2031, dblptext.UTF8)
    assert fault.value.reason == reason


def test_gbk_is_read_as_gbk_and_what_is_none_is_refused() -> None:
    read = row("#*数据库系统\n#@王小明,李华\n#index1", dblptext.GBK)
    assert (read.title, [author[1] for author in read.authors]) == ("数据库系统", ["王小明", "李华"])
    with pytest.raises(NoRecord) as fault:
        dblptext.read_text(b"#*\xff\xff\n#index1", 2031, dblptext.GBK)
    assert fault.value.reason == "invalid_gbk"

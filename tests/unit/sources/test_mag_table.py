"""MAG's table: rows read many at once are what they are read one by one, whatever is in them."""

from __future__ import annotations

import dataclasses
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from scholarlake.sources.blocks import Parsed, parse_block
from scholarlake.sources.dialects import mag, magtable
from scholarlake.sources.framing import lines_of
from scholarlake.sources.lines import Block
from scholarlake.sources.readers import MAG_TABLE
from scholarlake.sources.units import Origin, read_each

ORIGIN = Origin("mag/Papers.txt", "mag", "code-1", 2031, 400)
ONE_BY_ONE = dataclasses.replace(MAG_TABLE, read=partial(read_each, read=mag.read_row))


def assert_same(data: bytes) -> Parsed:
    found, wanted = (parse_block(Block(5, data), ORIGIN, reader) for reader in (MAG_TABLE, ONE_BY_ONE))
    for frame, expected in ((found.records, wanted.records), (found.rejects, wanted.rejects)):
        assert frame.schema == expected.schema
        for name in expected.columns:
            assert frame[name].to_list() == expected[name].to_list(), name
    assert (found.lines, found.covered, found.reasons, found.flags) == (wanted.lines, wanted.covered, wanted.reasons, wanted.flags)
    assert found.covered == len(data)
    return found


def row(**cells: str) -> list[str]:
    """A row of 23 cells; cells: by number."""
    usual = [
        *("2001", "19", "10.1000/x", "Journal", "a title", "A Title of It", "", "2007", "2007-01-02", "A Publisher", "5", "", "", "12"),
        *("3", "1", "9", "2", "7", "7", "J. Phys.", "", "2016-06-24"),
    ]
    for number, cell in cells.items():
        usual[int(number[1:])] = cell
    return usual


def taken_together(data: bytes) -> list[int]:
    return [place for papers in magtable.read_rows(lines_of(0, data), 2031) for place in papers.places.tolist()]


def line(cells: list[str]) -> bytes:
    return "\t".join(cells).encode()


def test_rows_of_the_usual_kind_are_read_together() -> None:
    rows = [row(_0=str(number), _7="" if number % 2 else "1999", _18="") for number in range(1, 50)]
    assert taken_together(b"\r\n".join(map(line, rows))) == list(range(49))
    found = assert_same(b"\n".join(map(line, rows)))
    assert found.records["venue"].unique().to_list() == ["J. Phys."]
    assert found.records["venue_id"].unique().to_list() == ["5"]


def test_what_asks_for_care_gets_it_and_takes_no_other_row_along() -> None:
    odd = [
        line(row(_7="c. 1990")),
        line(row(_7="2007.0")),
        line(row(_18="-1")),
        line(row(_0="")),
        line(row(_0=" 7")),
        b"\xef\xbb\xbf" + line(row()),
        line(row(_5="a\x00b")),
        line(row(_5="a\rb")),
        line(row()[:-1]),
        line(row()[:5]),
        b"",
        b"\t",
        line(row(_5="x" * 500)),
    ]
    data = b"\n".join([line(row()), *odd, line(row()), line(row())])
    assert taken_together(data) == [0, 13, 14, 15]  # a row that is too long is told by its length, later
    found = assert_same(data)
    assert found.reasons == {"no_id": 1, "nul_byte": 1, "wrong_columns": 1, "blank": 2, "too_long": 1}


def test_an_invalid_byte_costs_its_row_only() -> None:
    found = assert_same(b"\n".join([line(row()), line(row(_5="caf")) + b"\xe9", line(row(_4="caf\u00e9", _5=""))]))
    assert (found.records.height, found.reasons) == (2, {"invalid_utf8": 1})


CELLS = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "null",
            "NaN",
            "0",
            "7",
            "1999",
            "02007",
            "9" * 16,
            "9" * 40,
            "-1",
            "2007.0",
            "10.1000/ABC",
            "doi:10.1000/x",
            "<i>x</i> y",
        ]
    ),
    st.sampled_from(["a  b", "\u00a0", "caf\u00e9", "\u6570\u636e\u5e93", "R&amp;D", "{a}", "\ufeff", "x\x00", "\r", "\x0b", "Editorial"]),
    st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"]), max_size=12),
)
ROWS = st.one_of(
    st.builds(
        lambda cells, width: line([*row(**{f"_{number}": cell for number, cell in cells.items()}), "x", "y"][:width]),
        st.dictionaries(st.integers(0, 22), CELLS, max_size=4),
        st.sampled_from([23, 23, 23, 23, 20, 21, 24, 25]),
    ),
    st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=12), st.sampled_from([b"\n", b"\r\n"]), st.booleans())
def test_many_at_once_is_one_by_one(rows: list[bytes], end: bytes, ended: bool) -> None:
    assert_same(end.join(rows) + (end if ended else b""))

"""Fields in the shapes that dumps have them."""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.sources.abstracts import read_abstract
from scholarlake.sources.authors import _read_any_name, fold_name, keys_of_name, read_authors, readings
from scholarlake.sources.fields import read_count, read_keywords, read_texts, read_venue, read_year
from scholarlake.sources.identifiers import InexactNumber, identifier, read_references
from scholarlake.sources.text import full_text

LAST_YEAR = 2031


@pytest.mark.parametrize(
    ("given", "year"),
    [(2007, 2007), ("2007", 2007), ("2007.0", 2007), (2007.0, 2007), (" 2007 ", 2007), (LAST_YEAR, LAST_YEAR), (1000, 1000)],
)
def test_a_whole_number_from_1000_to_next_year_is_a_year(given: Any, year: int) -> None:
    assert read_year(given, LAST_YEAR) == (year, None, False)


@pytest.mark.parametrize("given", [0, 9999, "c. 1990", 2002.7, True, LAST_YEAR + 1, 999, "0", "MCMXC", -2007, 10**30, [2007]])
def test_an_unusable_year_is_null_flagged_and_kept_raw(given: Any) -> None:
    assert read_year(given, LAST_YEAR) == (None, str(given), True)


@pytest.mark.parametrize("given", [None, "", " ", "null", float("nan")])
def test_no_year_is_no_fault(given: Any) -> None:
    assert read_year(given, LAST_YEAR) == (None, None, False)


@pytest.mark.parametrize(
    ("given", "count", "odd"),
    [
        ("12", 12, False),
        (12, 12, False),
        (12.0, 12, False),
        (None, None, False),
        ("", None, False),
        (-1, None, True),
        (True, None, True),
        (1 << 63, None, True),
    ],
)
def test_citation_counts_of_any_type(given: Any, count: int | None, odd: bool) -> None:
    assert read_count(given) == (count, odd)


@pytest.mark.parametrize(
    ("venue", "venue_id", "found"),
    [
        ("WWW", None, ("WWW", None, False)),
        ({"id": 7, "raw": "WWW"}, None, ("WWW", "7", False)),
        ({"id": "v", "name": "WWW"}, None, ("WWW", "v", False)),
        ({"_id": "v", "raw": "WWW", "raw_zh": None}, None, ("WWW", "v", False)),
        ({"_id": "v", "raw": None, "raw_zh": "万维网"}, None, ("万维网", "v", False)),
        ("WWW", "v", ("WWW", "v", False)),
        (None, None, (None, None, False)),
        ("null", None, (None, None, False)),
        ({"type": 1}, None, (None, None, True)),
        ({"type": 0}, None, (None, None, False)),
        ({}, None, (None, None, False)),
        ("Int.J.Mod.Phys. A7 (1992) 5661-5705", None, ("Int.J.Mod.Phys. A7 (1992) 5661-5705", None, False)),
        ("Proc. of CVPR&nbsp;2019", None, ("Proc. of CVPR 2019", None, False)),
        ("2019 IEEE 35th <i>ICDE</i>", None, ("2019 IEEE 35th ICDE", None, False)),
    ],
)
def test_venues_of_every_shape(venue: Any, venue_id: Any, found: tuple[str | None, str | None, bool]) -> None:
    assert read_venue(venue, venue_id) == found


@pytest.mark.parametrize(
    ("given", "ids", "odd"),
    [
        (["a"], ["a"], False),
        ([{"id": "c"}], ["c"], False),
        ("a", ["a"], False),
        (None, [], False),
        ([], [], False),
        ([1, "1"], ["1", "1"], False),
        (["b", "a", "b"], ["b", "a", "b"], False),
        ([None, "", " x "], ["x"], False),
        ([["a"], "b"], ["b"], True),
        ({"title": "t"}, [], True),
        ([True], [], True),
        ([18446744073709551616], ["18446744073709551616"], False),
        ([{"_id": "53a7"}, {"paper_id": 7}], ["53a7", "7"], False),
    ],
)
def test_references_of_every_shape_become_ids(given: Any, ids: list[str], odd: bool) -> None:
    assert read_references(given) == (ids, odd)


def test_an_id_that_came_as_a_float_is_refused_until_it_is_read_exactly() -> None:
    with pytest.raises(InexactNumber):
        identifier(1.8446744073709552e19)
    assert identifier(Decimal("12.0")) == "12"
    assert identifier(Decimal("1e999999")) == "1E+999999"


@pytest.mark.parametrize(
    "index", [{"the": [0, 3], "cat": [1], "sat:": [2]}, {"IndexLength": 4, "InvertedIndex": {"the": [0, 3], "cat": [1], "sat:": [2]}}]
)
def test_an_inverted_index_reads_as_text_as_an_object_or_as_json(index: dict[str, Any]) -> None:
    import json

    for name in ("indexed_abstract", "abstract", "abstract_inverted_index"):
        assert read_abstract({name: index}) == ("the cat sat: the", False)
        assert read_abstract({name: json.dumps(index)}) == ("the cat sat: the", False)


@pytest.mark.parametrize("nothing", [{}, None, "", "{}", "null", "NaN", {"IndexLength": 0, "InvertedIndex": {}}])
def test_an_empty_index_is_no_abstract(nothing: Any) -> None:
    assert read_abstract({"indexed_abstract": nothing})[0] is None


def test_absurd_positions_cost_nothing() -> None:
    index = {"a": [10**12], "b": [-1, 0], "c": ["x", True, None], "d": 5}
    assert read_abstract({"indexed_abstract": index}) == ("b d a", False)


def test_a_plain_abstract_wins_over_an_empty_or_inverted_one() -> None:
    assert read_abstract({"abstract": "Said so.", "indexed_abstract": {"x": [0]}}) == ("Said so.", False)
    assert read_abstract({"abstract": "", "indexed_abstract": {"x": [0]}}) == ("x", False)
    assert read_abstract({"abstract": "{a set} of things"}) == ("{a set} of things", False)


def test_authors_of_every_shape() -> None:
    given = [
        "Ann Lee",
        {"id": 1, "name": "Bo Li", "org": "MIT\r", "org_id": 7},
        {"_id": "x", "name": "C. D", "orgs": ["A", "B\r"], "orgid": "o"},
        {"name": None, "org": None},
        {"name": "E", "org": "null\r"},
        None,
        "",
    ]
    assert read_authors(given) == (
        [(None, "Ann Lee", None, None), ("1", "Bo Li", "MIT", "7"), ("x", "C. D", "A; B", "o"), (None, "E", None, None)],
        False,
    )
    assert read_authors("A; B")[0] == [(None, "A", None, None), (None, "B", None, None)]
    assert read_authors([3]) == ([], True)


@pytest.mark.parametrize(
    "names",
    [
        ("J. Smith", "John Smith", "Smith, John", "SMITH, J.", "J Smith", "Smith J", "John Q. Smith", "John Smith Jr.", "John Smith 0001"),
        ("Gabriel García Márquez", "García Márquez, Gabriel", "G. Garcia Marquez"),
        ("J.-B. Zuber", "J.B.Zuber", "Jean-Bernard Zuber"),
        ("Øystein Ore", "O. Ore"),
        ("王 伟", "王伟"),
        ("Jan van der Berg", "van der Berg, Jan", "J. van der Berg", "VAN DER BERG, Jan", "Berg, J. van der"),
        ("Juan de la Cruz", "de la Cruz, J.", "De La Cruz J"),
        ("H. J. de Vries", "De Vries HJ", "de Vries H.J."),
        ("Gabriel García-Márquez", "G. Garcia Marquez", "García‐Márquez G"),
        ("Smith J. A.", "John A. Smith", "SMITH J", "Smith, John, Jr.", "Smith, Jr., John", "Smith J-A", "Mr. John Smith", "JOHN SMITH"),
        ("John Smith, Ph.D.", "John Smith, M.D., Ph.D.", "Dr. John Smith MD", "Smith, John", "John Smith, PhD"),
        (
            "John Smith¹",
            "John Smith1,2",
            "John Smith*",
            "John Smith a,b",
            "John Smithᵃ",
            "John Smith 2",
        ),
        ("John Smith (j.smith@example.org)", "John Smith j.smith@example.org", "John Smith [corresponding author]", "J. Smith†"),
        ("Jean Dupont", "DUPONT Jean", "Jean DUPONT", "Dupont, J."),
        ("Иванов И.И.", "И. И. Иванов", "Иван Иванов", "Иванов Иван Иванович", "ИВАНОВ И. И."),
        ("Anna Ivanova", "Ivanova A"),
        ("Wang Xiaoming", "Xiaoming Wang", "Wang, Xiaoming", "X. Wang", "WANG Xiaoming", "Wang Xiao-Ming", "Wang Xiao Ming"),
        ("Wei Li", "Wei LI", "W. Li", "Li, Wei"),
        ("王小明", "小明 王", "王 小明", "王小明 (Wang Xiaoming)", "王·小明"),
        ("山田太郎", "太郎 山田", "山田　太郎"),
        ("김민수", "민수 김", "김 민수"),
        ("Plato", "PLATO"),
        ("Müller, Jürgen", "Ju\u0308rgen Mu\u0308ller", "JÜRGEN MÜLLER", "J. Muller"),
        ("IŞIK, Ali", "Ali Işık"),
        ("K. O’Brien", "Kate O'Brien", "O`Brien, Kate"),
        ("محمد العلي", "العلي، محمد"),
    ],
)
def test_spellings_of_one_name_share_a_key(names: tuple[str, ...]) -> None:
    assert set.intersection(*(set(keys_of_name(name)) for name in names))


def test_different_names_do_not() -> None:
    assert (
        len({keys_of_name(name) for name in ("John Smith", "Kate Smith", "John Smyth", "王伟", "王芳", "Иван Петров", "Пётр Иванов")}) == 7
    )
    assert len({keys_of_name(name) for name in ("Smith MA", "Wei Wang", "Li Na", "Hao Wu")}) == 4
    assert fold_name("Smith MA") == fold_name("M. A. Smith")
    assert fold_name("Smith, M.D.") == "smith m"
    assert fold_name("Hao Wu") == fold_name("H. Wu") == "wu h"
    assert keys_of_name("...") == ()
    assert fold_name("") == ""


@pytest.mark.parametrize("name", ["et al.", "Anonymous", "[No authors listed]", "No authors listed", "Unknown", "x@example.org", "1,2", ""])
def test_what_names_nobody_is_no_author_that_two_records_share(name: str) -> None:
    assert keys_of_name(name) == ()


@given(st.text(max_size=20))
def test_any_name_has_the_same_key_however_its_accents_are_written(name: str) -> None:
    assert keys_of_name(unicodedata.normalize("NFD", name)) == keys_of_name(unicodedata.normalize("NFC", name))


@given(
    st.one_of(
        st.text("AbcJr .'-,_", max_size=16),
        st.lists(
            st.sampled_from(
                [
                    "WANG",
                    "Wang",
                    "Wei",
                    "LI",
                    "Xiao-Ming",
                    "Dr",
                    "Jr.",
                    "J.",
                    "J",
                    "III",
                    "PhD",
                    "Ann",
                    "Lee",
                    "O'Neil",
                    "Lee-Ray",
                    "Li",
                    "van",
                    "",
                    "MD.",
                ]
            ),
            max_size=5,
        ).map(" ".join),
    )
)
def test_the_short_way_through_a_usual_name_ends_where_the_long_one_does(name: str) -> None:
    assert readings(name) == _read_any_name(name)


def test_keywords_and_addresses() -> None:
    assert read_keywords(["a", None, " b ", ""]) == (["a", "b"], False)
    assert read_keywords("a; b") == (["a", "b"], False)
    assert read_keywords([{"name": "a", "w": 0.5}]) == (["a"], False)
    assert read_texts("http://x") == (["http://x"], False)
    assert len(read_texts([f"http://x/{n}" for n in range(660)])[0]) == 660


def test_text_loses_what_no_reader_sees() -> None:
    assert full_text("a\u0000b\u00adc \u200b\ufeffd\u00a0e") == "abc d e"
    assert full_text("x\ud835y") == "x\ufffdy"
    assert full_text("<jats:p>One.</jats:p><jats:p>Two</jats:p>") == "One. Two"

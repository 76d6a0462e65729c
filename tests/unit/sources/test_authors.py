"""Author keys of many names at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.sample.text import with_initials
from scholarlake.sample.topics import FAMILY_NAMES, GIVEN_NAMES
from scholarlake.sources.authors import author_keys, keys_of_name, keys_of_names, read_authors
from scholarlake.sources.plain import texts_of

NAMES = (
    "Ann Lee",
    "Ann B. Lee",
    "ann b lee",
    "Lee, Ann",
    "Lee A",
    "A. Lee",
    "A.Lee",
    "A . Lee",
    "Ann  Lee",
    "Ann Li",
    "Dr Ann Lee",
    "Prof. Ann Lee",
    "Ann Lee PhD",
    "Ann Lee prof",
    "Ann Lee Jr",
    "Proff Lee",
    "Iva Lee",
    "Ann-Marie O'Brien Lee",
    "-Ann Lee",
    "Ann Lee-Smith",
    "Ann Lee ",
    "Ann",
    "",
    "Jos\u00e9 Garc\u00eda",
    "\u674e\u56db",
    "Ann Lee 0001",
    "...",
    "WANG Wei",
    "Wang Xiaoming",
    "Chen Hansen",
    "Wei Wang",
    "ANNA Lee",
    "ANN Lee",
    "Mrs Ann Lee",
    "Unknown Author",
    "No authors listed",
    "John Smith, M.D.",
)


def found(names: list[str | None]) -> list[tuple[int, ...]]:
    places, keys = keys_of_names(texts_of(names))
    return [tuple(keys[places == place].tolist()) for place in range(len(names))]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_alone_has_the_keys_that_it_has_among_others(name: str) -> None:
    assert found([name]) == [keys_of_name(name)]


words = st.one_of(st.sampled_from(NAMES), st.text("Aaznjrp .,-'\u00e9", max_size=12), st.text(max_size=6))


@given(st.lists(st.one_of(st.none(), words, st.lists(words, max_size=3).map(" ".join))))
def test_keys_of_many_names_are_those_of_each(names: list[str | None]) -> None:
    assert found(names) == [keys_of_name(name) if name else () for name in names]


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("Chen Hansen", ("C. Hansen", "Hansen, Chen", "Hansen C", "H. Chen", "Chen, Hansen")),
        ("Jin Lee", ("J. Lee", "Jin H. Lee", "Lee J")),
        ("Lin Weber", ("L. Weber", "Weber, Lin")),
        ("Wang Wei", ("W. Wang", "Wang, Wei", "Wei Wang")),
        ("Wang Xiaoming", ("X. Wang", "Xiaoming Wang", "Wang X")),
    ],
)
def test_a_name_that_may_begin_with_the_family_name_meets_both_of_its_readings(name: str, others: tuple[str, ...]) -> None:
    for other in others:
        assert set(keys_of_name(name)) & set(keys_of_name(other)), other


@pytest.mark.parametrize(
    ("name", "other"), [("Lin Weber", "W. Lin"), ("WANG Xiaoming", "X. Ming"), ("WANG Hansen", "Hansen W"), ("Ann Hansen", "H. Ann")]
)
def test_a_name_is_read_one_way_where_something_tells_which(name: str, other: str) -> None:
    assert not set(keys_of_name(name)) & set(keys_of_name(other))


def test_whatever_the_sample_calls_its_authors_their_initials_share_a_key() -> None:
    for name in (f"{first} {middle}{family}" for first in GIVEN_NAMES for family in FAMILY_NAMES for middle in ("", "Q. ")):
        short = author_keys(read_authors([{"name": with_initials(name)}])[0])
        assert set(author_keys(read_authors([{"name": name}])[0])) & set(short), name

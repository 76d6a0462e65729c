"""Author keys of many names at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.sources.authors import author_key, keys_of_names
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
    "ANNA Lee",
    "ANN Lee",
    "Mrs Ann Lee",
    "Unknown Author",
    "No authors listed",
    "John Smith, M.D.",
)


def found(names: list[str | None]) -> list[int | None]:
    keys, keyed = keys_of_names(texts_of(names))
    return [key if known else None for key, known in zip(keys.tolist(), keyed.tolist(), strict=True)]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_alone_has_the_key_that_it_has_among_others(name: str) -> None:
    assert found([name]) == [author_key(name)] if name else [None]


words = st.one_of(st.sampled_from(NAMES), st.text("Aaznjrp .,-'\u00e9", max_size=12), st.text(max_size=6))


@given(st.lists(st.one_of(st.none(), words, st.lists(words, max_size=3).map(" ".join))))
def test_keys_of_many_names_are_those_of_each(names: list[str | None]) -> None:
    assert found(names) == [author_key(name) if name else None for name in names]

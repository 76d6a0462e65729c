"""A quotation is found where it stands in the original text, however that is set (trap 37)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.knowledge.quoting import find, plain

TEXT = (
    "An e\ufb03cient scheme by Mo\u0308bius \u2014 \u201cits\u201d authors\u2019 own \u2014 cuts the er\u00adror of exam-\nples by "
    "\u22125\u00a0% in 1.5\u2009ms."
)


@pytest.mark.parametrize(
    ("quotation", "stands"),
    [
        ("An efficient scheme", "An e\ufb03cient scheme"),
        ("by M\u00f6bius", "by Mo\u0308bius"),
        ("MÖBIUS", "Mo\u0308bius"),
        ('"its" authors\' own', "\u201cits\u201d authors\u2019 own"),
        ("the error of examples", "the er\u00adror of exam-\nples"),
        ("examples by -5 % in", "exam-\nples by \u22125\u00a0% in"),
        ("-5%", "\u22125\u00a0%"),
        ("1.5 ms", "1.5\u2009ms"),
        ("own - cuts", "own \u2014 cuts"),
    ],
)
def test_what_only_sets_a_text_does_not_hide_a_quotation(quotation: str, stands: str) -> None:
    found = find(quotation, TEXT)
    assert found is not None
    assert TEXT[slice(*found)] == stands


@pytest.mark.parametrize(
    "quotation", ["inefficient", "cient scheme", "Mobius", "fi", "5 %", "5 ms", "1", "1.50 ms", "exam", "", " ", "\u00ad"]
)
def test_a_quotation_is_whole_words_and_whole_numbers(quotation: str) -> None:
    assert find(quotation, TEXT) is None


def test_the_first_place_where_it_is_whole_is_found() -> None:
    text = "1.5 of 15, then 5."
    assert find("5", text) == (16, 17)
    assert find("cat", "concat cats cat") == (12, 15)


WORDS = st.lists(st.text(st.characters(categories=["L", "N", "M", "P", "S"]), min_size=1, max_size=8), min_size=1, max_size=8)


@given(WORDS)
def test_a_text_is_found_in_itself_whatever_normal_form_either_is_in(words: list[str]) -> None:
    text = " ".join(words)
    for form in ("NFC", "NFD"):
        found = find(text, unicodedata.normalize(form, text))
        assert (found is not None) == bool(plain(text).text.strip())


@given(st.text(max_size=40), st.text(max_size=200))
def test_what_is_found_lies_in_the_text(quotation: str, text: str) -> None:
    found = find(quotation, text)
    assert found is None or (0 <= found[0] < found[1] <= len(text))

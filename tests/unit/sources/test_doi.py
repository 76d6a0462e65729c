"""DOIs: one spelling, the raw value kept, and no key where there is none."""

from __future__ import annotations

import pytest

from scholarlake.sources.doi import normalise_doi, read_doi


@pytest.mark.parametrize(
    "raw",
    [
        "10.1000/abc.12",
        "10.1000/ABC.12",
        "https://doi.org/10.1000/abc.12",
        "http://dx.doi.org/10.1000/ABC.12",
        "doi: 10.1000/abc.12",
        "DOI:10.1000/abc.12",
        "10.1000/abc.12.",
        "10.1000/abc.12,",
        "10.1000/abc.12 ;",
        "\u200b10.1000/abc.12",
        "10.1000/abc.12\u200b",
        "  10.1000/abc.12\r\n",
        "doi.org/10.1000/abc.12",
        "https://doi.org/doi:10.1000/abc.12",
        "http://dx.doi.org/https://doi.org/10.1000/abc.12",
        "10.1000%2Fabc.12",
        "<https://doi.org/10.1000/abc.12>",
        "(10.1000/abc.12)".strip("("),
        "info:doi/10.1000/abc.12",
        "https://www.doi.org/10.1000/abc.12",
        "１０.1000/abc.12",
        "10.1000/abc.12\u0000",
    ],
)
def test_every_spelling_of_a_doi_is_one(raw: str) -> None:
    assert normalise_doi(raw) == "10.1000/abc.12"


def test_sici_forms_are_one() -> None:
    plain = "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O"
    forms = [
        plain,
        plain.replace("<", "%3C").replace(">", "%3E"),
        plain.replace("<", "&lt;").replace(">", "&gt;"),
        "https://doi.org/" + plain,
    ]
    assert {normalise_doi(form) for form in forms} == {plain.lower()}


def test_brackets_of_its_own_stay() -> None:
    assert normalise_doi("10.1016/0010-7824(73)90031-9") == "10.1016/0010-7824(73)90031-9"
    assert normalise_doi("10.1016/S0140-6736(97)11096-0)") == "10.1016/s0140-6736(97)11096-0"
    assert normalise_doi("10.1016/s0140(97)") == "10.1016/s0140(97)"


@pytest.mark.parametrize(
    "raw",
    [
        "n/a",
        "0",
        "10.",
        "10.1000",
        "10.1000/",
        "10./x",
        "https://example.org/paper/10",
        "http://dx.doi.org/",
        "doi:",
        "11.1000/x",
        "10.1000/a b",
    ],
)
def test_what_is_no_doi_is_kept_raw_and_flagged(raw: str) -> None:
    assert read_doi(raw) == (None, raw, True)


@pytest.mark.parametrize("nothing", [None, "", "  ", "null", "NaN", "None"])
def test_nothing_given_is_no_fault(nothing: str | None) -> None:
    assert read_doi(nothing) == (None, None, False)


def test_the_raw_value_is_kept_where_it_differs() -> None:
    assert read_doi("10.1000/ABC") == ("10.1000/abc", "10.1000/ABC", False)
    assert read_doi("10.1000/abc") == ("10.1000/abc", None, False)
    assert read_doi(17) == (None, "17", True)

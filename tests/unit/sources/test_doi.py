"""DOIs: one spelling, the raw value kept, and no key where there is none."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        "DOI 10.1000/abc.12",
        "doi10.1000/abc.12",
        "DOI number: 10.1000/abc.12",
        "[doi:10.1000/abc.12]",
        "“10.1000/abc.12”",
        "https://doi.org/10.1000/abc.12?nosfx=y&x=1",
        "https://doi.org/10.1000/abc.12#sec-2",
        "https://doi.org/10.1000/abc.12/",
        "https://doi.org/10.1000%2Fabc.12",
        "https://doi.org/10.1000%252Fabc.12",
        "https://example.org/resolve?doi=10.1000/abc.12&format=x",
        "https://example.org/resolve?id=doi%3A10.1000%2Fabc.12&format=x",
        "https://journals.example.org/doi/abs/10.1000/abc.12?journalCode=x",
        "https://journals.example.org/doi/full/10.1000/abc.12/full",
        "https://journals.example.org/content/10.1000/abc.12/full.pdf",
        "www.example.org/doi/pdf/10.1000/abc.12.pdf",
        "https://doi-org.proxy.example.edu/10.1000/abc.12",
        "10.1000/ abc.12",
        "10.1000 / abc.12",
        "10. 1000/abc.12",
        "10.1000/abc.12 [doi]",
        "10.1000/abc.12 (accessed 3 May 2010)",
        "10.1000/abc.12 PMID: 123",
        "10.1000/abc.12</a>",
        "10.1000/abc.12; 10.1000/other",
        "10.1000/abc.12,10.1000/other",
        "10.1000/abc.12 and 10.1000/other",
        "10.1000/abc.12|doi:10.1000/other",
        "10.1000/abc.12https://doi.org/10.1000/other",
        "https://doi.org/10.1000/abc.12 https://doi.org/10.1000/abc.12",
        "10.1000/abc&#46;12",
        "10.1000//abc.12",
        "https://link.example.org/content/pdf/10.1000%2Fabc.12.pdf",
        "https://www.example.org/insight/content/doi/10.1000/abc.12/full/html",
        "https://www.example.org/stable/10.1000/abc.12?seq=1#metadata_info_tab_contents",
        "https://www.example.org/articles?id=10.1000/abc.12",
        "10.1000%252525252Fabc.12",
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


def test_a_sici_that_ends_in_a_hash_keeps_it_in_an_address() -> None:
    sici = "10.1002/(sici)1521-3773(19991203)38:23<3523::aid-anie3523>3.0.co;2-#"
    assert normalise_doi(f"https://doi.org/{sici}") == normalise_doi(sici) == sici
    assert normalise_doi(f"<{sici}>") == sici


def test_dashes_of_typography_are_hyphens() -> None:
    assert normalise_doi("10.1007/978\u20133\u2011642\u221212345") == "10.1007/978-3-642-12345"


def test_an_address_of_a_preprint_names_its_version_and_the_doi_does_not() -> None:
    for address in ("2020.01.02.123456v2", "2020.01.02.123456v2.full", "2020.01.02.123456v1.full.pdf", "2020.01.02.123456"):
        assert normalise_doi(f"https://www.biorxiv.org/content/10.1101/{address}") == "10.1101/2020.01.02.123456"


def test_a_number_behind_the_doi_in_an_address_of_oxford_is_none_of_it() -> None:
    assert normalise_doi("https://academic.oup.com/aepp/advance-article/doi/10.1093/aepp/ppy013/5025069/") == "10.1093/aepp/ppy013"
    assert normalise_doi("https://doi.org/10.1093/aepp/ppy013/5025069") == "10.1093/aepp/ppy013/5025069"


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
        "10.1016/0010-7824 (73)90031-9",  # cut at the blank it would be the DOI of another work
        "10.1000/abc. 2010",
        "S0140-6736(97)11096-0 [pii]",
        "https://example.org/10.pdf",
        "10.1000/\ufffdabc",
        "see doi:",
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


SCRAPS = (
    *(
        "10.1000/",
        "10.",
        "1000",
        "/",
        "abc",
        "ABC",
        "http://",
        "https://doi.org/",
        "doi:",
        " ",
        ";",
        ",",
        ".",
        "%2F",
        "%252F",
        "%",
        "&lt;",
        "<",
        ">",
    ),
    *(
        "(",
        ")",
        "[doi]",
        "?x=1",
        "#",
        ";2-#",
        "\u2013",
        "\u200b",
        "\uff05",
        "&amp;",
        "&#37;",
        "/full",
        ".pdf",
        "v1",
        "10.1101/123456",
        "é",
        "İ",
        "10.1002/(sici)",
        '"',
    ),
)
texts = st.one_of(st.lists(st.sampled_from(SCRAPS), max_size=9).map("".join), st.text(max_size=16).map("10.1000/".__add__))


@given(texts)
def test_a_normal_doi_is_normal(raw: str) -> None:
    doi = normalise_doi(raw)
    if doi is not None:
        assert normalise_doi(doi) == doi
        assert re.fullmatch(r"10\.[0-9]{4,9}(\.[0-9]+)*/\S+", doi)
        assert doi == doi.lower()
        assert normalise_doi(f"https://doi.org/{doi}".replace("%", "%25").replace("?", "%3f").replace("#", "%23")) == doi


@given(texts)
def test_the_short_way_ends_where_the_long_one_does(raw: str) -> None:
    assert read_doi(raw)[0] == (normalise_doi(raw) if raw.strip() else None)

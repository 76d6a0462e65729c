"""Numbers as scientific texts write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.knowledge.cited import Cited
from scholarlake.knowledge.numerals import numerals


def first(text: str) -> str:
    """The first number of a text, as its first reading."""
    return " ".join(str(value.normalize()) for value in next(one for one in numerals(text) if one.name is None).readings[0])


def stands(text: str, *evidence: str) -> bool:
    """Whether every number of a text stands in some sentences."""
    there = Cited(evidence)
    return all(there.has(one, one.unit) for one in numerals(text) if one.name is None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234 patients", "1234"),
        ("1234", "1234"),
        ("1\u2009234.5", "1234.5"),
        ("1\u00a0234", "1234"),
        ("1'234", "1234"),
        ("1{,}234", "1234"),
        ("87.30", "87.3"),
        (".05", "0.05"),
        ("0·07", "0.07"),
        ("0,05", "0.05"),
        ("\u22125", "-5"),
        ("r = − 0.51", "-0.51"),
        ("(-5)", "-5"),
        ("3–5", "3"),
        ("1.2 × 10⁻³", "0.0012"),
        (r"$1.2 \times 10^{-3}$", "0.0012"),
        ("1.2e-3", "0.0012"),
        ("1.2x10-3", "0.0012"),
        ("${10}^{-6}$", "0.000001"),
        ("10^5", "1E+5"),
        ("10 million", "1E+7"),
        ("50k", "5E+4"),
        ("three", "3"),
        ("Twenty-five", "25"),
        ("one hundred and three", "103"),
        ("three million two hundred thousand", "3.2E+6"),
        ("a hundred", "1E+2"),
        ("twofold", "2"),
        ("٣٤", "34"),
        ("３.５", "3.5"),
    ],
)
def test_a_number_is_read_however_it_is_written(text: str, value: str) -> None:
    assert first(text) == value.replace("E+", "E+")


@pytest.mark.parametrize("name", ["COVID-19", "GPT-4", "ResNet50", "p53", "H2O", "IL-6", "CO₂"])
def test_digits_in_a_name_are_no_number(name: str) -> None:
    assert [one.name is None for one in numerals(f"We study {name} here.")] == [False]


@pytest.mark.parametrize("text", ["mid-1990s", "top-5", "n=5", r"$p\leq5$", r"\approx5", "x_{1}", "5-fold", "age>5"])
def test_digits_behind_a_word_or_a_sign_are(text: str) -> None:
    assert [one.name for one in numerals(text)] == [None]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("87.3 %", "It reached 87.3% there."),
        ("87.3 percent", "It reached 87.3 per cent there."),
        (r"87.3\%", "It reached 87.3% there."),
        ("1234", "On 1,234 lists."),
        ("3 lists", "On three lists."),
        ("three lists", "On 3 lists."),
        ("-5", "By \u22125."),
        ("3% to 5%", "From 3–5 %."),
        ("3% and 4%", "3, 4 and 5 %"),
        ("0.0012", "1.2 × 10⁻³"),
        ("10^-5", "10-5, where raised digits came down"),
        ("81 ± 2 %", "81±2%"),
        ("5 mg", "5mg"),
        ("$5", "It costs $5."),
        ("12 cm-2", r"12 cm$^{-2}$"),
        ("1.2 million", "1,200,000"),
        ("10,000", "ten thousand"),
    ],
)
def test_a_number_stands_where_it_is_the_same(claim: str, evidence: str) -> None:
    assert stands(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("87", "It reached 87.3% there."),
        ("87.3", "It reached 87 there."),
        ("88", "It reached 87.6 there."),
        ("873", "It reached 87.3 there."),
        ("1.234", "On 1234 lists."),
        ("123", "On 1,234 lists."),
        ("5", "By \u22125."),
        ("-5", "From 3–5."),
        ("-5", "By 5."),
        ("87.3%", "On 87.3 lists."),
        ("5 %", "By 5 percentage points."),
        ("0.873", "It reached 87.3% there."),
        ("1.2", "1.2 × 10⁻³"),
        ("10^5", "10^-5"),
        ("5 mg", "5 g"),
        ("5 m", "5 mm"),
        ("1.2", "1.2 million"),
        ("four", "three"),
        ("19", "Of COVID-19."),
        ("20", "twenty-five"),
    ],
)
def test_a_number_does_not_stand_where_it_is_another(claim: str, evidence: str) -> None:
    assert not stands(claim, evidence)


@given(st.text(alphabet="0123456789.,-−–±%^{}$eE×x10 kmg()[]/\u2009²⁻aα", max_size=40))
def test_every_text_holds_its_own_numbers(text: str) -> None:
    assert stands(text, text)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_another_integer_is_another_number(one: int, other: int) -> None:
    assert stands(f"{one:,}", f"There are {other} of them.") == (one == other)


@pytest.mark.parametrize("text", ["10^999999999", "9" * 10_000, "1e" + "9" * 50, "1." * 5_000])
def test_a_number_without_measure_is_read_in_no_time_and_is_itself(text: str) -> None:
    assert stands(text, text)
    assert not stands(text, "none")

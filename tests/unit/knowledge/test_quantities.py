"""Numbers that a sentence reports, and digits that are none."""

from __future__ import annotations

import pytest

from scholarlake.knowledge.grammar import tokens_of
from scholarlake.knowledge.quantities import quantities
from scholarlake.knowledge.units import unit_at

Found = tuple[str, str | None, str | None, str | None]


def found(text: str) -> list[Found]:
    return [(one.value, one.unit, one.metric, one.comparator) for one in quantities(text, tokens_of(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The accuracy was 87.3% on average.", [("87.3", "%", "accuracy", None)]),
        ("Yields rose from 81.2% to 87.3%.", [("81.2", "%", None, None), ("87.3", "%", None, None)]),
        ("The slope differed (p < 0.001).", [("0.001", None, "p", "<")]),
        ("The odds ratio was 2.3 (95% CI: 1.2–3.4).", [("2.3", None, "odds ratio", None), ("1.2–3.4", None, "95% CI", None)]),
        ("The mass is 125.3 ± 0.4 GeV.", [("125.3 ± 0.4", "GeV", "mass", "±")]),
        ("We enrolled 1,234 adult patients.", [("1,234", "adult patients", None, None)]),
        ("Levels rose 2.5-fold within 48 h.", [("2.5", "fold", None, None), ("48", "h", None, "within")]),
        ("Cells were kept at −20 °C in 10 µM drug.", [("−20", "°C", None, None), ("10", "µM", None, None)]),
        ("Mice got 5 mg/kg of the drug.", [("5", "mg/kg", None, None)]),
        ("A step of 1.2 × 10^-3 m was used.", [("1.2 × 10^-3", "m", "step", None)]),
        ("The learning rate was 1e-5.", [("1e-5", None, "learning rate", None)]),
        ("Rents reached at least 36.5 million dollars.", [("36.5 million", "dollars", "Rents", "at least")]),
        ("The mean age of all the mothers was 31.5.", [("31.5", None, "mean age", None)]),
        ("It lasts between 3 and 5 weeks.", [("3 and 5", "weeks", None, "between")]),
        ("The bound is $m < 0.3$ eV.", [("0.3", "eV", "m", "<")]),
        ("Here $D \\geq 4$ is needed.", [("4", None, "D", "\\geq")]),
    ],
)
def test_quantities_are_read_as_written(text: str, expected: list[Found]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "It grew as others saw [12, 13] and Smith (2003) confirmed.",
        "Data of 1999 and from 2001 to 2004 agree.",
        "See Figure 3, Tables 1 and 2, Section 4 and Eq. (5).",
        "The SU(2) gauge group acts on $W_3$ strings and p53.",
        "A 3-manifold with H5N1 and IL-6 at the 5' end.",
        "Where $\\beta^2=6\\pi$ and $\\phi^4$ is odd.",
        "Type 1 reactions of 2nd order on residue 42.",
    ],
)
def test_digits_of_names_citations_years_and_formulas_are_no_quantities(text: str) -> None:
    assert found(text) == []


def test_a_symbol_that_takes_a_value_counts_nothing() -> None:
    assert found("In the N=2 theories nothing runs.") == [("2", None, "N", "=")]


def test_every_part_of_a_quantity_stands_in_its_sentence() -> None:
    text = "At 300 K, more than 45.5 ± 0.5% of 37 wet samples had n = 12 (95% CI, 40%–51%)."
    some = quantities(text, tokens_of(text))
    assert len(some) == 5
    for one in some:
        assert all(part in text for part in (one.value, one.unit, one.metric, one.comparator) if part is not None)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        (" km per hour", "km per hour"),
        (" kcal/mol of", "kcal/mol"),
        (" cats and dogs", None),
        (" in all", None),
        (" h later", "h"),
        ("d gravity", None),
        (" MHz bands", "MHz"),
    ],
)
def test_units_are_told_from_words(text: str, unit: str | None) -> None:
    assert unit_at(text, 0) == unit

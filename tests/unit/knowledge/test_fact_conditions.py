"""The conditions that a sentence names, each by what begins it."""

from __future__ import annotations

import pytest

from scholarlake.knowledge.conditions import MOST, conditions
from scholarlake.knowledge.grammar import tokens_of


def found(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.text) for one in conditions(text, tokens_of(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Assuming that the field is static, the energy is finite.", [("assumption", "Assuming that the field is static")]),
        ("The bound holds provided that the metric is smooth.", [("assumption", "provided that the metric is smooth")]),
        ("Under the assumption of weak coupling, it converges.", [("assumption", "Under the assumption of weak coupling")]),
        ("If the charge is small, the horizon shrinks.", [("condition", "If the charge is small")]),
        ("In the limit of large mass the gap closes.", [("condition", "In the limit of large mass")]),
        ("The gap closes in the strong coupling limit.", [("condition", "in the strong coupling limit")]),
        ("The model is stable at finite temperature.", [("condition", "at finite temperature")]),
        ("We solve it for $p \\leq 5$.", [("condition", "for $p \\leq 5$")]),
        ("Pain fell in adult patients with asthma.", [("population", "in adult patients with asthma")]),
        ("It was measured in three dimensions.", [("setting", "in three dimensions")]),
        ("Growth was faster compared with controls.", [("baseline", "compared with controls")]),
        ("The error is smaller than that of linear models.", [("baseline", "than that of linear models")]),
        ("It scores best on the Penn benchmark.", [("dataset", "on the Penn benchmark")]),
        ("The mass is found using lattice simulations.", [("method", "using lattice simulations")]),
        ("Weight fell over twelve weeks of training.", [("time", "over twelve weeks of training")]),
        ("When the metric is flat the tension vanishes.", [("condition", "When the metric is flat")]),
        ("The theory is finite at zero temperature by a simple argument.", [("condition", "at zero temperature")]),
        ("We show that it works if the series has poles and support this.", [("condition", "if the series has poles")]),
        ("Assuming a flat metric we find that the mass vanishes.", [("assumption", "Assuming a flat metric")]),
        ("Cases were counted in Kenya.", [("place", "in Kenya")]),
    ],
)
def test_a_condition_is_found_by_what_begins_it(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "We test if the law holds.",
        "It is known at least partly.",
        "The samples provided by others were dry.",
        "The group acts freely.",
        'It is an "action at a distance" concept.',
        "It reduces to second order differential equations.",
        "Each pole comes with every root.",
    ],
)
def test_what_only_looks_like_one_is_none(text: str) -> None:
    assert found(text) == []


def test_a_clause_ends_where_somebody_acts() -> None:
    assert found("When the matrix has two poles we show that they move.") == [("condition", "When the matrix has two poles")]


def test_conditions_stand_in_the_sentence_in_order_without_overlap_and_are_not_endless() -> None:
    text = "If A holds, when B holds, unless C holds, if D holds, when E holds, unless F holds, if G holds, the law holds."
    some = conditions(text, tokens_of(text))
    assert len(some) == MOST
    places = [text.index(one.text) for one in some]
    assert places == sorted(places)

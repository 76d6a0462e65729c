"""What a candidate must have to be a fact (traps 35, 36 and 37), whoever proposed it."""

from __future__ import annotations

from typing import Any

import pytest

from scholarlake.knowledge.grounding import ground, ground_all, quoted
from scholarlake.knowledge.objects import Candidate, Fact, Quantity, Refused, Source, evidence_hash
from tests.unit.knowledge.papers import candidate, source

PAPER = source(
    "We use stochastic average gradient (SAG) on lists.",
    "Accuracy was 87.3% on 1,234 patients (p < 0.05), against 81 ± 2 % before; it fell by \u22125 mg/day in 37 of the 50 enrolled women.",
    "Runs took 3–5 ms on GPT-4.",
    title="Sorting with an e\ufb03cient scheme",
)


def judged(given: Candidate, paper: Source = PAPER) -> Fact | Refused:
    return ground(given, paper, study_type="quantitative", method="test")


def fact(given: Candidate, paper: Source = PAPER) -> Fact:
    made = judged(given, paper)
    assert isinstance(made, Fact), made
    return made


def reason(given: Candidate, paper: Source = PAPER) -> str:
    made = judged(given, paper)
    assert isinstance(made, Refused), made
    assert made.candidate is given
    assert made.detail
    return made.reason


# -- evidence (trap 35) ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "means"),
    [
        ([2, 0, 2], (0, 2)),
        (["p1:2"], (2,)),
        (["Runs took 3-5 ms on GPT-4."], (2,)),
        (["sag) on lists. Accuracy was"], (0, 1)),
    ],
)
def test_evidence_is_a_place_an_id_or_words_that_stand_there(given: list[Any], means: tuple[int, ...]) -> None:
    made = fact(candidate("It is so", *given))
    assert made.evidence == means
    assert made.evidence_hash == evidence_hash(PAPER.sentences[n].text for n in means)
    assert made.verification == "unchecked"


@pytest.mark.parametrize(
    "given", [99, -1, "3", "2", "[S2]", "[S7]", "p1:99", "p1:02", "p2:0", True, 2.0, None, "", "Runs took 3-6 ms on GPT-4."]
)
def test_evidence_that_the_source_lacks_makes_no_fact(given: Any) -> None:
    assert reason(candidate("It is so", given)) == "unknown_evidence"
    assert reason(candidate("It is so", 0, given)) == "unknown_evidence"


def test_a_fact_without_evidence_is_none() -> None:
    assert reason(candidate("It is so")) == "no_evidence"


def test_a_quotation_over_two_sentences_is_both() -> None:
    assert [one.n for one in quoted("on lists. Accuracy was 87.3 %", PAPER.sentences)] == [0, 1]
    assert quoted("on lists. Runs took", PAPER.sentences) == ()


# -- numbers (trap 36) -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["87.3 percent", "1234 patients", "1,234 patients", "-5 mg/day", "3 to 5 ms", "37 women"])
def test_a_number_of_the_statement_that_stands_in_the_evidence_passes(said: str) -> None:
    assert fact(candidate(f"Accuracy: {said}", 1, 2)).statement == f"Accuracy: {said}"


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("87", "number_not_in_evidence"),
        ("87.3 ms", "unit_not_in_evidence"),
        ("1234 %", "unit_not_in_evidence"),
        ("+5 mg/day", "number_not_in_evidence"),
        ("four of them", "number_not_in_evidence"),
        ("on GPT-5", "number_not_in_evidence"),
    ],
)
def test_a_changed_number_or_unit_makes_no_fact(said: str, wrong: str) -> None:
    assert reason(candidate(f"Accuracy: {said}", 1)) == wrong


def test_a_number_must_stand_in_the_cited_sentence_not_in_another() -> None:
    assert reason(candidate("Accuracy was 87.3%", 0)) == "number_not_in_evidence"
    assert fact(candidate("Accuracy was 87.3%", 0, 1))


def test_the_number_of_a_condition_may_stand_anywhere_in_the_source() -> None:
    assert fact(candidate("We use SAG", 0, context=[("population", "1,234 patients")]))
    assert reason(candidate("We use SAG", 0, context=[("population", "1,235 patients")])) == "number_not_in_evidence"


@pytest.mark.parametrize(
    ("given", "number"),
    [
        (Quantity("87.3", unit="%"), 87.3),
        (Quantity("87.3 %", unit="percent"), 87.3),
        (Quantity("1234", unit="patients"), 1234.0),
        (Quantity("37", unit="women"), 37.0),
        (Quantity("81 ± 2", unit="%"), None),
        (Quantity("2", unit="%", comparator="±"), 2.0),
        (Quantity("0.05", metric="p", comparator="<"), 0.05),
        (Quantity("3-5", unit="ms"), None),
        (Quantity("\u22125", unit="mg/day"), -5.0),
    ],
)
def test_a_quantity_keeps_what_stands_at_its_number(given: Quantity, number: float | None) -> None:
    (kept,) = fact(candidate("It is so", 1, 2, quantities=[given])).quantities
    assert (kept.value, kept.number, kept.unit, kept.metric) == (given.value, number, given.unit, given.metric)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        (Quantity("87", unit="%"), "number_not_in_evidence"),
        (Quantity("87.3", number=87.0, unit="%"), "number_not_in_evidence"),
        (Quantity("87.3", unit="ms"), "unit_not_in_evidence"),
        (Quantity("87.3", unit="patients"), "unit_not_in_evidence"),
        (Quantity("\u22125", unit="m"), "unit_not_in_evidence"),
        (Quantity("5", unit="s"), "unit_not_in_evidence"),
        (Quantity("5", unit="m"), "unit_not_in_evidence"),
        (Quantity("0.05", comparator=">"), "number_not_in_evidence"),
        (Quantity("87.3", comparator="at least"), "number_not_in_evidence"),
        (Quantity("high"), "missing_field"),
        (Quantity(""), "missing_field"),
    ],
)
def test_a_quantity_that_is_not_as_it_stands_makes_no_fact(given: Quantity, wrong: str) -> None:
    assert reason(candidate("It is so", 1, 2, quantities=[given])) == wrong


def test_a_number_that_lost_its_unit_is_marked() -> None:
    assert fact(candidate("It is so", 1, quantities=[Quantity("87.3")], subject="Accuracy")).marks == ("quantity_without_unit",)
    assert fact(candidate("It is so", 1, quantities=[Quantity("1,234")], subject="Accuracy")).marks == ()


# -- fields and subject ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        (candidate("", 0), "missing_field"),
        (candidate(" .", 0), "missing_field"),
        (candidate("It is so", 0, subject=" "), "missing_field"),
        (candidate("It is so", 0, subject=None), "missing_field"),  # type: ignore[arg-type]
        (candidate("It is so", 0, type="opinion"), "unknown_type"),
        (candidate("It is so", 0, context=[("mood", "calm")]), "unknown_type"),
        (candidate("It is so", 0, context=[("setting", "")]), "missing_field"),
        (candidate("Bees remember colourful flowers across several seasons", 0), "statement_not_in_evidence"),
    ],
)
def test_a_candidate_without_what_a_fact_needs_is_none(given: Candidate, wrong: str) -> None:
    assert reason(given) == wrong


@pytest.mark.parametrize(
    ("subject", "evidence", "marked"),
    [
        ("SAG", 0, False),
        ("the stochastic average gradient", 1, True),
        ("GPT-4", 2, False),
        ("SAGA", 0, True),
        ("efficient scheme", 2, False),
        ("list", 0, False),
    ],
)
def test_a_subject_that_neither_evidence_nor_title_names_is_marked(subject: str, evidence: int, marked: bool) -> None:
    assert ("subject_not_in_evidence" in fact(candidate("It is so", evidence, subject=subject)).marks) == marked


def test_a_subject_may_be_named_by_what_the_source_calls_it_for_short() -> None:
    paper = source("Stochastic average gradient (SAG) is known.", "SAG is fast.", "SVRG (stochastic variance reduced gradient) is faster.")
    for subject, n in (("Stochastic Average Gradient", 1), ("SAG", 0), ("stochastic variance reduced gradient", 2)):
        assert fact(candidate("It is so", n, subject=subject), paper).marks == ()
    assert fact(candidate("It is so", 1, subject="stochastic variance reduced gradient"), paper).marks == ("subject_not_in_evidence",)


def test_what_was_said_before_is_refused_as_repeated() -> None:
    given = [
        candidate("We use SAG on lists.", 0),
        candidate("we  use SAG on lists", 0, 1),
        candidate("We use SAG on lists", 0, type="method_description"),
        candidate("We use SAG on lists", 9),
    ]
    found = ground_all(given, PAPER, study_type="quantitative", method="test", taxonomy="f" * 32)
    assert [one.type for one in found.facts] == ["finding", "method_description"]
    assert [one.reason for one in found.refused] == ["repeated", "unknown_evidence"]
    assert {one.taxonomy for one in found.facts} == {"f" * 32}


def test_no_structural_check_supports_anything() -> None:
    for given in (candidate(PAPER.sentences[1].text, 1), candidate("Accuracy was 87.3%", 1)):
        assert (fact(given).verification, fact(given).votes) == ("unchecked", ())

"""Facts by rules: which sentences state something, what kind of statement, word for word, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.knowledge.extractive import METHOD, Extractive, Limits, pieces, read, study_type_of
from scholarlake.knowledge.objects import Context, Fact, Quantity, Sentence, Source
from scholarlake.lake.hashing import digest
from tests.unit.knowledge.papers import source

LIMITS = Limits(of_full_text=30, of_abstract=8)
PHYSICS = "Gauge theories on branes, and their symmetries"
TRIAL = "A trial in patients with asthma: expression of genes and clinical outcome"


def facts(*texts: str, title: str = PHYSICS) -> list[Fact]:
    return list(read(source(*texts, title=title), LIMITS).facts)


def kind(text: str, title: str = PHYSICS) -> str | None:
    """The type that one sentence is read as; None where it is no fact."""
    found = facts(text, title=title)
    return found[0].type if found else None


def full_text(*blocks: tuple[str, str], kind: str = "paragraph", title: str = TRIAL) -> Source:
    """A full text of (heading, sentence)."""
    start, sentences = 0, []
    for n, (heading, text) in enumerate(blocks):
        sentences.append(Sentence(n, text, kind, (heading,) if heading else (), start, start + len(text)))
        start += len(text) + 1
    return Source("p1", title, "full_text", digest(text for _, text in blocks), tuple(sentences))


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("We prove that the moduli space of vortices is compact.", "theoretical_result"),
        ("It is shown that the gauge anomaly cancels on the brane.", "theoretical_result"),
        ("The Hamiltonian of the spin chain is invariant under the quantum group.", "theoretical_result"),
        ("We construct a matrix model for membranes on the torus.", "method_description"),
        ("We calculate the two-loop effective action of the scalar.", "method_description"),
        ("The basic idea is to identify the gauge group with the brane.", "method_description"),
        ("In the brane picture we use the Born-Infeld action, whose terms are larger than one.", "method_description"),
        ("A gauge invariant scheme is presented and applied to branes.", "method_description"),
        ("We show, using branes and strings, that the gauge anomaly cancels.", "theoretical_result"),
        ("We derive approximate analytic formulae for the masses of branes.", "theoretical_result"),
        ("We conjecture that the duality holds for every gauge group.", "hypothesis"),
        ("We argue that small black holes may evaporate completely.", "hypothesis"),
        ("We define the charge of a brane as the flux through a sphere.", "definition"),
        ("We find numerically that the lattice model has a second phase.", "finding"),
    ],
)
def test_a_statement_of_a_theory_is_typed_by_its_wording(text: str, type_: str) -> None:
    assert kind(text) == type_


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("We found that lung function improved by 12% in treated patients.", "finding"),
        ("Our results suggest that the drug reduces swelling in patients.", "finding"),
        ("We provide evidence that the receptor mediates the response in cells.", "finding"),
        ("We measured lung function with a portable device in every patient.", "method_description"),
        ("Accuracy of the device reached 87.3% in 40 patients.", "finding"),
        ("The study included 129 patients with asthma from two clinics.", "dataset"),
        ("We speculate that the gene protects against infection in patients.", "hypothesis"),
        ("A limitation of our study is the small number of patients.", "limitation"),
        ("Severe asthma was defined as two or more attacks in patients each month.", "definition"),
    ],
)
def test_a_statement_of_a_study_is_typed_by_its_wording(text: str, type_: str) -> None:
    assert kind(text, TRIAL) == type_


@pytest.mark.parametrize(
    "text",
    [
        "The paper is organized as follows.",
        "We discuss the symmetries of gauge theories on branes.",
        "Applications to cosmology are also briefly discussed.",
        "What is the mass of the lightest brane in this theory?",
        "We thank our colleagues for many discussions on branes.",
        "This work was supported by a grant of the national foundation.",
        "and the gauge group is broken by the brane.",
        "Branes and gauge theories.",
        "In the next section we prove that the anomaly cancels.",
        "See Figure 2 for the spectrum of the gauge theory.",
        "The spectrum $E_n of the gauge theory is given by the brane.",
        "Talk given at the workshop on branes in March.",
        "An outlook on gauge theories and on their branes concludes.",
        "Second-class constraints of the gauge theory also show up.",
        "An attempt is made to compare branes with gauge theories.",
        "Here we extend this to a general class of gauge theories.",
        "We apply them to gauge theories on a brane and a string.",
        "Several gauge theories on branes are reviewed and commented on.",
        "The gauge theory is a very interesting example of a brane.",
        "Our approach to gauge theories on branes is straightforward.",
        "We have to assign charges to the branes of the gauge theory.",
        "A gauge action is also formulated.",
        "Our aim is to understand the gauge theory on the brane.",
    ],
)
def test_what_states_nothing_is_no_fact(text: str) -> None:
    assert kind(text) is None


def test_what_stands_before_the_paper_speaks_of_itself_is_what_was_known() -> None:
    known = "Gauge theories on branes have been studied for many years."
    said = "Here we show that the gauge theory on a brane is conformal."
    assert [fact.statement for fact in facts(known, said)] == [said]


def test_a_fact_is_a_stretch_of_its_sentence_with_its_conditions_and_numbers() -> None:
    text = "We found that lung function improved by 12% in adult patients with asthma (p < 0.01)."
    [fact] = facts(text, title=TRIAL)
    assert (fact.statement, fact.evidence, fact.subject) == (text, (0,), "lung function")
    assert fact.context == (Context("population", "in adult patients with asthma"),)
    assert fact.quantities == (Quantity("12", 12.0, "%"), Quantity("0.01", 0.01, None, "p", "<"))
    assert (fact.verification, fact.method, fact.study_type) == ("unchecked", METHOD, "quantitative")


def test_a_pronoun_brings_the_sentence_that_says_what_it_stands_for() -> None:
    found = facts(
        "We show that the dilaton potential is flat.", "The dilaton potential of the brane is exact.", "It vanishes at spatial infinity."
    )
    [last] = [fact for fact in found if fact.statement.startswith("It")]
    assert (last.subject, last.evidence) == ("dilaton potential of the brane", (1, 2))


def test_what_points_back_brings_the_sentence_before_or_is_none() -> None:
    before, said = "The spectrum of the brane is discrete.", "We show that these levels of the gauge theory are integers."
    [last] = [fact for fact in facts(before, said) if fact.statement == said]
    assert last.evidence == (0, 1)
    assert facts(said) == []


def test_clauses_that_stand_by_themselves_are_facts_of_their_own() -> None:
    first = "The spectrum of the gauge theory on a compact brane is discrete and bounded from below by the tension of the string"
    second = "the spectrum of the theory on a non-compact brane is continuous"
    text = f"{first}; {second}."
    assert [text[begin:end] for begin, end in pieces(text)] == [first, f"{second}."]
    glued = f"{first}; which is surprising in view of what was known of the spectrum of other branes."
    assert pieces(glued) == [(0, len(glued))]


def test_study_types_are_told_by_the_words_of_a_paper() -> None:
    assert study_type_of(source("We prove a theorem on gauge algebras.", title=PHYSICS)) == "theoretical"
    assert study_type_of(source("Mortality fell by 12% in patients (p < 0.01).", title=TRIAL)) == "quantitative"
    assert study_type_of(source("In interviews, nurses told of their perceptions.", title="A qualitative study")) == "qualitative"


def test_of_a_full_text_back_matter_others_and_repeats_give_nothing() -> None:
    found = "We found that lung function improved by 12% in treated patients."
    paper = full_text(
        ("Introduction", "Asthma improved in patients who were treated early [3]."),
        ("Results", found),
        ("Discussion", "Smith et al. found that patients improved by 30% [4]."),
        ("Conclusions", "In summary, we found that lung function improved by 12% in the treated patients."),
        ("Acknowledgements", "We found that all patients were helpful to us in many ways."),
        ("Results", "We found that the exact bound is given by:"),
    )
    said = read(paper, LIMITS).facts
    assert len(said) == 1
    assert "12%" in said[0].statement


def test_of_many_the_most_telling_are_kept_in_reading_order() -> None:
    telling = [
        f"We found that marker {name} was significantly higher in patients than in controls (p < 0.01)." for name in ("AB", "CD", "EF")
    ]
    dull = [f"Samples of tube {number} were washed in cold water by two persons." for number in ("one", "two", "three", "four")]
    paper = full_text(*((("Methods", text) if text in dull else ("Results", text)) for text in (*dull[:2], *telling, *dull[2:])))
    kept = read(paper, Limits(of_full_text=2, of_abstract=2)).facts
    assert [fact.statement for fact in kept] == telling[:2]


def test_readings_come_for_every_source_and_depend_on_no_other() -> None:
    papers = [source("We show that the brane is flat and rigid.", paper_id=name, title=PHYSICS) for name in ("a", "b", "c")]
    reader = Extractive(LIMITS)
    forth = {one.source.paper_id: one for one in reader.readings(papers)}
    back = {one.source.paper_id: one for one in reader.readings(papers[::-1])}
    assert forth == back
    assert len(forth) == 3
    assert len({fact.fact_id for one in forth.values() for fact in one.facts}) == 3


VOCABULARY = (
    "we the a brane branes gauge theory show shows that is are in of with for 12 % p < 0.01 (n = 5) $x=2$ it they this if when found "
    "using and large N limit patients GeV 3-fold ; , . — [4] “ ” significant results mass model"
)
WORDS = st.sampled_from(VOCABULARY.split())


@given(st.lists(st.lists(WORDS, min_size=1, max_size=25).map(" ".join), min_size=1, max_size=6))
def test_whatever_is_read_stands_in_its_sentences(texts: Iterable[str]) -> None:
    paper = source(*[f"{text[0].upper()}{text[1:]}." for text in texts], title=PHYSICS)
    reading = read(paper, LIMITS)
    assert not reading.refused
    for fact in reading.facts:
        cited = [paper.sentences[n].text for n in fact.evidence]
        assert any(fact.statement in text for text in cited)
        assert all(one.text in fact.statement for one in fact.context)
        assert all(one.value in fact.statement for one in fact.quantities)
        assert fact.verification == "unchecked"
    assert read(paper, LIMITS) == reading


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("To test whether sorting is significantly faster, we calculated the variance of all runs.", "method_description"),
        ("Using paired tests, we computed the mean of lists with p < 0.05.", "method_description"),
        ("We discovered, after many trials, that the lists were sorted.", "finding"),
        (
            "The lists were sorted by a routine (stable was defined as keeping the order of equal keys) and were significantly shorter.",
            "finding",
        ),
    ],
)
def test_the_type_is_of_what_was_done_or_found_not_of_what_for_or_in_brackets(text: str, kind: str) -> None:
    (fact,) = read(source(text, title="Sorting of lists in 40 trials"), LIMITS).facts
    assert fact.type == kind


@pytest.mark.parametrize(
    "text",
    [
        "We then go on to study the sorting of long lists.",
        "We observed the effects of list size on the number of comparisons.",
        "Many methods have been proposed to sort lists of numbers, and we know them.",
        "Further research with larger lists is needed to confirm our results.",
        "In recent work, it was shown that lists of numbers can be sorted.",
        "We recommend the sorting of all lists by their size.",
    ],
)
def test_announcements_wishes_and_the_work_of_others_are_no_facts(text: str) -> None:
    assert read(source(text, title="Sorting of lists in 40 trials"), LIMITS).facts == ()

"""What a sentence is about: authors, pronouns and "the method" traced to what they stand for."""

from __future__ import annotations

import pytest

from scholarlake.knowledge.subjects import Names, Read, Subject, names_of, subject_of, topic_of
from tests.unit.knowledge.papers import source

NAMES = Names("Sorting of sparse graphs")


def subject(*texts: str, names: Names = NAMES) -> Subject | None:
    """The subject of the last sentence, behind the others."""
    *before, last = [Read(n, text) for n, text in enumerate(texts)]
    return subject_of(last, before, names)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("The Casimir energy of a sphere is finite.", "Casimir energy of a sphere"),
        ("We construct a bicovariant calculus on the plane.", "bicovariant calculus on the plane"),
        ("We show that the spin chain is integrable.", "spin chain"),
        ("It is proved that every planar map has a root.", "planar map"),
        ("These results suggest that telomere length shortens with age.", "telomere length"),
        ("There is a critical point at the origin.", "critical point at the origin"),
        ("It is possible to obtain the sparse Hessian exactly.", "sparse Hessian"),
        ("In this paper we are able to solve the Dirac equation.", "Dirac equation"),
        ("The parameter characterizing the vacuum is small.", "parameter characterizing the vacuum"),
        ("We prove the existence of a lower bound on the mass.", "lower bound on the mass"),
        ("We apply the index theorem to several string models.", "index theorem"),
        ("We interpret the quantum forms and comment on applications.", "quantum forms"),
        ("We develop the canonical formalism for type IIB supergravity.", "canonical formalism for type IIB supergravity"),
        ("We fix the conformal gauge in order to solve the constraints.", "conformal gauge"),
        ("When the metric is flat the brane tension vanishes.", "brane tension"),
        ("Roughly speaking the toric skeleton is a web.", "toric skeleton"),
        ("Qualitative considerations show that the domain wall is stable.", "domain wall"),
        ("A by-product is that the Wilson loop vanishes.", "Wilson loop"),
    ],
)
def test_a_sentence_is_about_what_it_says_something_of(text: str, about: str) -> None:
    assert subject(text) == Subject(about)


def test_results_and_papers_stand_for_what_the_paper_is_about() -> None:
    assert subject("The results agree with those of others.") == Subject("Sorting of sparse graphs", is_topic=True)
    assert subject("Our paper closes a gap.") == Subject("Sorting of sparse graphs", is_topic=True)


def test_a_pronoun_that_names_nothing_and_a_clause_without_its_comma_are_no_subjects() -> None:
    assert subject("This makes it possible to sort graphs.") != Subject("it possible to sort graphs")
    assert subject("Using the current algebra its structure is analysed.") == Subject("Sorting of sparse graphs", is_topic=True)
    assert subject("Recent results are used.") == Subject("Sorting of sparse graphs", is_topic=True)


def test_a_pronoun_stands_for_the_subject_before_it_and_cites_that_sentence() -> None:
    assert subject("The dilaton potential is flat.", "It vanishes at infinity.") == Subject("dilaton potential", (0,))
    assert subject("We study the sparse solvers.", "They converge quickly.") == Subject("sparse solvers", (0,))


def test_a_pronoun_of_another_number_or_without_a_sentence_before_it_stands_for_nothing() -> None:
    assert subject("The dilaton potential is flat.", "They vanish at infinity.") is None
    assert subject("It vanishes at infinity.") is None
    assert subject("The dilaton is light.", "This follows at once.") is None


def test_the_model_is_the_one_that_was_told_of() -> None:
    assert subject("We study the Potts model in two dimensions.", "The model is critical.") == Subject("Potts model", (0,))


def test_the_method_is_what_the_paper_calls_it() -> None:
    paper = source("Sorting is slow.", "We present QuickTree, a method for graphs.", "The method is fast.", title="Sorting")
    names = names_of(paper)
    assert (names.name, names.named_in) == ("QuickTree", 1)
    assert subject("Graphs are large.", "More is known.", "The method is fast.", names=names) == Subject("QuickTree", (1,))


@pytest.mark.parametrize(
    ("title", "sentence", "name"),
    [
        ("DeepSort: a net that sorts", "Nothing.", "DeepSort"),
        ("A net that sorts", "We propose a sorting transformer (STRAW).", "STRAW"),
        ("A net that sorts", "Our net, called SortNet, is small.", "SortNet"),
        ("A net that sorts", "The net is small.", None),
    ],
)
def test_a_paper_names_what_it_makes(title: str, sentence: str, name: str | None) -> None:
    assert names_of(source(sentence, title=title)).name == name


@pytest.mark.parametrize(
    ("title", "topic"),
    [
        ("On the Casimir Effect in Two Dimensions", "Casimir Effect in Two Dimensions"),
        ("Elevated Sugar Reduces Growth in Yeast", "Elevated Sugar"),
        ("Serum Based Diagnosis of Asthma: A Pilot Study", "Serum Based Diagnosis of Asthma"),
        ("", None),
    ],
)
def test_the_topic_is_what_a_title_is_about(title: str, topic: str | None) -> None:
    assert topic_of(title) == topic


def test_what_the_authors_find_at_last_is_what_the_sentence_is_about() -> None:
    assert subject("We apply old ideas to the plane and find that the Wilson loop vanishes.") == Subject("Wilson loop")


def test_our_theories_and_the_general_solution_are_not_those_of_another_noun() -> None:
    assert subject("The dilaton theories are flat.", "Our theories are stable.") == Subject("Sorting of sparse graphs", is_topic=True)


def test_a_question_for_a_title_is_about_its_subject() -> None:
    assert topic_of("Does the weak coupling limit agree with perturbation theory?") == "weak coupling limit"


def test_a_species_is_one_name() -> None:
    assert subject("The density of L. hesperus is low.") == Subject("density of L. hesperus")

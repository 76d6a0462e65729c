"""What a sentence's words are read as: subject, verb and noun phrases, formulas taken for nouns."""

from __future__ import annotations

import pytest

from scholarlake.knowledge.grammar import clause_at, noun_phrase, tokens_of, words_of


def subject_and_verb(text: str) -> tuple[str, str] | None:
    tokens = tokens_of(text)
    clause = clause_at(tokens)
    return None if clause is None else (words_of(text, tokens, clause.subject), tokens[clause.verb].text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We construct the duality groups of the model.", ("We", "construct")),
        ("In this letter we compute the mass gap.", ("we", "compute")),
        ("Using a lattice action, we measure the string tension.", ("we", "measure")),
        ("The weights obtained by pruning are sparse.", ("The weights obtained by pruning", "are")),
        ("The cells that expressed the receptor divided twice.", ("The cells that expressed the receptor", "divided")),
        ("If the charge is small, the horizon shrinks.", ("the horizon", "shrinks")),
        ("The operator $T_{\\mu\\nu}$ vanishes on the boundary.", ("The operator $T_{\\mu\\nu}$", "vanishes")),
        ("IL-10 producing B-cells were found.", ("IL-10 producing B-cells", "were")),
        (
            "Poles of the SU(2) propagator (in two dimensions) occur at infinity.",
            ("Poles of the SU(2) propagator (in two dimensions)", "occur"),
        ),
    ],
)
def test_the_main_clause_is_found(text: str, found: tuple[str, str]) -> None:
    assert subject_and_verb(text) == found


@pytest.mark.parametrize("text", ["Materials and methods", "Growth of crystals in water.", "", "[12]"])
def test_what_has_no_verb_has_no_clause(text: str) -> None:
    assert subject_and_verb(text) is None


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("the strong coupling limit of the gauge theory on a torus", "strong coupling limit of the gauge theory on a torus"),
        ("the path integral describing particles", "path integral"),
        ("a 3-form field (RR) of the bulk", "3-form field (RR) of the bulk"),
        ("the ring S^3 (or AdS", "ring S^3"),
        ("new results obtained by others", "new results"),
    ],
)
def test_a_noun_phrase_ends_where_something_else_begins(text: str, phrase: str) -> None:
    tokens = tokens_of(text)
    found = noun_phrase(tokens, 0)
    assert found is not None
    assert words_of(text, tokens, found) == phrase


def test_offsets_point_into_the_sentence_and_marks_of_citation_are_no_words() -> None:
    text = "As shown before [3, 4], the “gap” is 2.5 meV."
    tokens = tokens_of(text)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert not any("3" in token.text for token in tokens)


def test_the_same_words_are_read_alike_whatever_was_read_before() -> None:
    text = "The tachyonic braneworld condensates."
    first = tokens_of(text)
    tokens_of("Condensates of another braneworld were reported as tachyonic.")
    assert tokens_of(text) == first

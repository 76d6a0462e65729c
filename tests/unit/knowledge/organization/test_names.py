"""Names as keys: what is one name whatever the text, what only a rule brings together, and what never is one."""

from __future__ import annotations

import pytest

from scholarlake.knowledge.organization.mentions import terms_in
from scholarlake.knowledge.organization.names import american, closed, key_of, numbers, words_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Gauge Theories", "gauge theory"),
        ("anti-de Sitter space", "Anti de Sitter spaces"),
        ("α-synuclein", "alpha-synuclein"),
        (r"$\alpha$-synuclein", "α-synuclein"),
        (r"K\"ahler manifold", "Kähler manifolds"),
        ("$N=2$ supergravity", "N = 2 supergravity"),
        ("ﬁbre bundle", "fibre bundles"),
        ("Alzheimer’s disease", "Alzheimer's diseases"),
        ("stochastic average gradient (SAG)", "stochastic average gradient"),
        ("SNPs", "SNP"),
        ("vertices", "vertex"),
    ],
)
def test_one_name_is_one_key(one: str, other: str) -> None:
    assert key_of(one) == key_of(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [("GPT-2", "GPT-3"), ("$\\alpha$ decay", "$\\beta$ decay"), ("AdS", "ad"), ("C++", "C"), ("mass", "mas"), ("analysis", "analysi")],
)
def test_two_names_are_two_keys(one: str, other: str) -> None:
    assert key_of(one) != key_of(other)


def test_british_and_american_spellings_meet_and_others_do_not() -> None:
    assert american(key_of("leukaemia tumour localisation")) == american(key_of("leukemia tumor localization"))
    assert american("hours of exercise and noise") == "hours of exercise and noise"
    assert closed(key_of("data set")) == closed(key_of("dataset"))


def test_what_counts_in_a_name_is_told() -> None:
    assert numbers("type iia string") != numbers("type iib string")
    assert numbers("d3 brane") != numbers("d5 brane")
    assert numbers("su(2) theory") != numbers("su(n) theory")
    assert numbers("gauge theory") == numbers("gauge theories")


def test_words_of_a_text_are_those_of_keys() -> None:
    assert words_of("Non-commutative gauge theories (in $D=4$).") == ("non", "commutative", "gauge", "theory", "in", "d=4")


def terms(text: str) -> list[tuple[str, str | None]]:
    return [(term.surface, term.type) for term in terms_in(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We study extremal black holes in N=2 supergravity.", [("extremal black holes", None), ("N=2 supergravity", "theory")]),
        ("The results of our analysis show a strong effect.", []),
        ("We describe the Ising model by a new algorithm.", [("Ising model", "model"), ("algorithm", "method")]),
        ("Plasmodium falciparum infects mice.", [("Plasmodium falciparum", "organism"), ("mice", "organism")]),
        ("P. falciparum was grown in human blood.", [("P. falciparum", "organism"), ("human blood", "material")]),
        ("It was large in this area.", []),
        ("It is $x_{2n}$ for $p<9$.", []),
        ("A theory with gauge group $SU(N)$ is finite.", [("theory", "theory"), ("gauge group $SU(N)$", None)]),
    ],
)
def test_names_are_found_and_typed_by_their_last_noun(text: str, found: list[tuple[str, str | None]]) -> None:
    told = [term for term in terms(text) if term[0] not in ("algorithm", "theory")]
    assert told == [one for one in found if one[0] not in ("algorithm", "theory")]

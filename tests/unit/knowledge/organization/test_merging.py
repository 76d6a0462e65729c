"""Which names become one entity: by rules, by rulings, by votes; the doubtful stays apart, and the order of anything is all one."""

from __future__ import annotations

import random
from collections.abc import Sequence

from scholarlake.knowledge.organization.mentions import Mention
from scholarlake.knowledge.organization.merging import Decision, Group, Rulings, forms_of, grounds, merged, place
from scholarlake.knowledge.organization.names import key_of

NONE = Rulings()


def mention(surface: str, paper: str = "p1", type_: str = "method", weight: float = 3.0) -> Mention:
    return Mention(f"fact-{paper}-{surface}", paper, "subject", surface, key_of(surface), type_, weight)


def grouped(
    mentions: Sequence[Mention], short_forms: dict[str, dict[str, str]] | None = None, rulings: Rulings = NONE
) -> tuple[list[Group], list[Decision]]:
    placed = place(mentions, short_forms or {}, rulings)
    forms = forms_of(placed)
    return merged(forms, grounds(forms, short_forms or {}, rulings))


def groups(*args: object, **more: object) -> list[list[str]]:
    return sorted(group.nodes for group in grouped(*args, **more)[0])  # type: ignore[arg-type]


def test_spellings_of_one_name_are_one_entity() -> None:
    some = [mention("tumour localisation"), mention("tumor localization", "p2"), mention("data set"), mention("dataset", "p2")]
    assert groups(some) == [["data set", "dataset"], ["tumor localization", "tumour localisation"]]


def test_a_short_form_is_what_a_text_says_that_it_stands_for() -> None:
    some = [mention("SAG"), mention("stochastic average gradient", "p2")]
    assert len(groups(some)) == 2
    [group], [decision] = grouped(some, {"p2": {"SAG": "stochastic average gradient"}})
    assert (decision.rule, decision.verdict) == ("acronym", "same")
    assert (group.name, group.certainty) == ("stochastic average gradient", "likely")


def test_a_short_form_of_two_things_is_each_where_it_is_defined_and_neither_elsewhere() -> None:
    defined = {"p1": {"SAG": "stochastic average gradient"}, "p2": {"SAG": "surface air gap"}}
    some = [mention("SAG", "p1"), mention("SAG", "p2"), mention("SAG", "p3")]
    found, decisions = grouped([*some, mention("stochastic average gradient", "p1")], defined)
    assert sorted(group.nodes for group in found) == [["sag"], ["stochastic average gradient"], ["surface air gap"]]
    assert {(one.rule, one.verdict) for one in decisions} == {("acronym", "doubtful")}


def test_versions_are_never_one() -> None:
    found, decisions = grouped([mention("GPT model 2"), mention("GPT model 3"), mention("GPT-2x"), mention("GPT-3x")])
    assert len(found) == 4
    assert {one.verdict for one in decisions} <= {"different"}


def test_near_spellings_are_doubtful_and_stay_apart() -> None:
    found, [decision] = grouped([mention("sine-Gordon model"), mention("sinh-Gordon model")])
    assert len(found) == 2
    assert (decision.verdict, decision.rule) == ("doubtful", "near")


def test_a_genus_that_is_begun_is_the_one_that_is_written_out() -> None:
    some = [mention("P. falciparum", type_="organism"), mention("Plasmodium falciparum", "p2", "organism")]
    [group], _ = grouped(some)
    assert (group.type, sorted(group.rules)) == ("organism", ["genus"])
    assert len(groups([*some, mention("Pseudonym falciparum", "p3", "organism")])) == 3


def test_a_name_with_the_word_for_its_kind_is_the_same() -> None:
    assert groups([mention("SAGA"), mention("SAGA algorithm")]) == [["saga", "saga algorithm"]]
    assert len(groups([mention("gradient"), mention("gradient algorithm")])) == 2


# TRAPS 41
def test_two_entities_of_two_sources_each_make_four_and_undone_give_both_back() -> None:
    some = [mention("Adam", "p1"), mention("Adam", "p2"), mention("adaptive moments", "p3"), mention("adaptive moments", "p4")]
    before = groups(some)
    assert before == [["adam"], ["adaptive moment"]]
    [one], decisions = grouped(some, rulings=Rulings(same=(("Adam", "adaptive moments"),)))
    assert sorted(paper for form in one.forms for paper in form.papers) == ["p1", "p2", "p3", "p4"]
    assert [(decision.rule, decision.verdict) for decision in decisions] == [("ruling", "same")]
    assert groups(some) == before


def test_what_is_ruled_to_be_apart_stays_apart_whatever_rules_say() -> None:
    some = [mention("data set"), mention("dataset", "p2"), mention("datasets", "p3")]
    ruled = Rulings(apart=(("data set", "dataset"),))
    assert groups(some, rulings=ruled) == [["data set"], ["dataset"]]
    assert groups(some) == [["data set", "dataset"]]


def test_a_ruling_also_holds_against_a_chain_of_grounds() -> None:
    ruled = Rulings(same=(("aa", "bb"), ("bb", "cc")), apart=(("aa", "cc"),))
    found, decisions = grouped([mention("aa"), mention("bb"), mention("cc")], rulings=ruled)
    assert sorted(group.nodes for group in found) == [["aa", "bb"], ["cc"]]
    assert [one.reason for one in decisions if "but a ruling keeps apart" in one.reason]


def test_spellings_of_one_key_can_be_ruled_apart() -> None:
    some = [mention("SAG"), mention("Sag", "p2")]
    assert len(groups(some)) == 1
    assert groups(some, rulings=Rulings(apart=(("SAG", "Sag"),))) == [["sag"], ["sag [SAG]"]]


def test_the_type_is_what_most_speaks_for() -> None:
    [group], _ = grouped([mention("Foo", type_="concept", weight=0.5), mention("Foo", "p2", "dataset", 2.0)])
    assert group.type == "dataset"


def test_the_order_of_mentions_is_all_one() -> None:
    names = ["data set", "dataset", "data-sets", "SAG", "sag method", "SAG algorithm", "sine-Gordon model", "sinh-Gordon model", "GPT-2"]
    some = [mention(name, f"p{place}") for place, name in enumerate(names)]
    rulings = Rulings(same=(("GPT-2", "SAG"),), apart=(("SAG algorithm", "GPT-2"),))
    wanted, decided = grouped(some, rulings=rulings)
    for seed in range(10):
        random.Random(seed).shuffle(some)
        found, decisions = grouped(some, rulings=rulings)
        assert [group.nodes for group in found] == [group.nodes for group in wanted]
        assert [group.name for group in found] == [group.name for group in wanted]
        assert decisions == decided

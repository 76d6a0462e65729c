"""Papers that a taxonomy does not fit are read again under it; no others, and not again while it stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from scholarlake.knowledge import organization_invariants as invariants
from scholarlake.knowledge.extraction import Bounds
from scholarlake.knowledge.extractive import Limits
from scholarlake.knowledge.objects import Reading, Source
from scholarlake.knowledge.organization.attending import AttendedReport, Attentive, build_attended
from scholarlake.knowledge.organization.taxonomies import build_taxonomy
from scholarlake.knowledge.organization.taxonomy import Category, Dimension, Taxonomy
from scholarlake.knowledge.readers import reader_for
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from tests.misbehaving import Asked, Reply
from tests.unit.knowledge.organization.collected import NAME, collected
from tests.unit.knowledge.papers import at, quoting
from tests.unit.small_lake import COMMIT

GAUGE = Taxonomy((Dimension("theory", (Category("gauge theory", "It has a gauge symmetry."),)),), "supplied", "file")
CHAINS = Taxonomy((Dimension("system", (Category("spin chain", "Spins in a row."),)),), "supplied", "file")

STRONG = [
    "We prove that the resolvent is compact for every value of the mass.",
    "We prove that each eigenvector decays at infinity like an exponential.",
    "We show that a ground state exists in the sector of even parity.",
    "We prove that scattering amplitudes factorize at large momentum transfer.",
    "We find that the partition sum obeys a linear recursion in its rank.",
    "We prove that no bound states occur above the threshold of the continuum.",
    "We show that the determinant vanishes if the boundary is smooth.",
    "We prove that zero modes are counted by the index of the kernel.",
    "We show that unitarity holds for all positive weights of the vertices.",
]
MANY = " ".join([*STRONG, "We compute the energy levels of the spin chain."])  # more than an abstract gives facts, and stronger
PAPERS = {"a": "We prove that gauge theory is finite for every value of the coupling.", "b": MANY, "c": "No fact is here."}


@dataclass
class Noting:
    """The method by rules, and what it was given to read."""

    taxonomy: Taxonomy
    seen: list[str] = field(default_factory=list)
    method: str = "extractive"

    def readings(self, sources: Iterable[Source]) -> Iterator[Reading]:
        for source in sources:
            self.seen.append(source.paper_id)
            yield from Attentive(self.taxonomy, Limits(30, 8)).readings([source])


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake", 2)


def built(lake: Lake, taxonomy: Taxonomy, papers: dict[str, str] = PAPERS) -> tuple[AttendedReport, list[str]]:
    collected(lake, papers, titles={})
    build_taxonomy(lake, NAME, taxonomy, COMMIT)
    seen: list[str] = []
    report = build_attended(lake, NAME, lambda found: Noting(found, seen), COMMIT)
    for claim in (invariants.attended_facts_stand_in_their_sentences, invariants.attended_facts_are_of_the_taxonomy):
        assert claim(lake, NAME).passed, claim(lake, NAME)
    return report, sorted(seen)


def statements(lake: Lake) -> list[tuple[Any, ...]]:
    return lake.scan("attended_facts").select("paper_id", "statement", "taxonomy").collect().rows()


def test_what_the_limit_left_out_is_found_where_the_taxonomy_asks_for_it(lake: Lake) -> None:
    report, seen = built(lake, CHAINS)
    assert seen == ["a", "b", "c"]
    assert statements(lake) == [("b", "We compute the energy levels of the spin chain.", CHAINS.version)]
    assert (report.papers, report.listed, report.answered, report.unread) == (3, 3, 1, 0)
    assert not {row[1] for row in statements(lake)} & set(lake.scan("facts").collect()["statement"])


def test_a_paper_that_the_taxonomy_fits_is_not_read_again(lake: Lake) -> None:
    assert built(lake, GAUGE)[1] == ["b", "c"]


def test_another_taxonomy_takes_back_what_the_first_one_asked_for(lake: Lake) -> None:
    built(lake, CHAINS)
    built(lake, GAUGE)
    assert statements(lake) == []


def test_nothing_changed_is_no_new_version(lake: Lake) -> None:
    built(lake, CHAINS)
    before = delta.version(lake, "attended_facts")
    built(lake, CHAINS)
    assert delta.version(lake, "attended_facts") == before


@pytest.mark.parametrize("papers", [{}, {"c": "No fact is here."}])
def test_where_nothing_is_there_nothing_is_attended_to(lake: Lake, papers: dict[str, str]) -> None:
    report, _ = built(lake, CHAINS, papers)
    assert report.written.rows == 0


def test_a_model_is_told_what_to_attend_to_and_asked_once(tmp_path: Path) -> None:
    asked: list[Asked] = []

    def behave(one: Asked) -> Reply:
        asked.append(one)
        return quoting(one)

    with at(behave, tmp_path) as there:
        collected(there.lake, {"a": PAPERS["a"]}, titles={})
        build_taxonomy(there.lake, NAME, CHAINS, COMMIT)
        for _ in range(2):
            with there.crew("extractor") as crew:
                build_attended(
                    there.lake,
                    NAME,
                    lambda taxonomy: reader_for(
                        crew, Attentive(taxonomy, Limits(30, 8)), bounds=Bounds(), votes=1, attention=taxonomy.attention
                    ),
                    COMMIT,
                )
    assert len(asked) == 1
    assert "system:\n- spin chain: Spins in a row." in asked[0].prompt


def test_a_fact_whose_sentence_is_another_and_one_of_another_taxonomy_are_found(lake: Lake) -> None:
    built(lake, CHAINS)
    rows = lake.scan("attended_facts").collect()
    delta.write_partition(lake, "attended_facts", NAME, rows.with_columns(evidence_hash=rows["evidence_hash"].str.reverse()), COMMIT)
    assert not invariants.attended_facts_stand_in_their_sentences(lake, NAME).passed
    build_taxonomy(lake, NAME, GAUGE, COMMIT)
    assert not invariants.attended_facts_are_of_the_taxonomy(lake, NAME).passed

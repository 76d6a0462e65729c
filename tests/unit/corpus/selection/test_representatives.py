"""Claims about the query-independent selection, figure by figure as ScholarStack's appendix B.1 has them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scholarlake.corpus.selection import representatives
from scholarlake.corpus.selection.choice import Choice, Tools
from scholarlake.corpus.selection.definition import Representatives, Where
from scholarlake.corpus.selection.representatives import centres, choose, interleaved
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from tests.e2e.building import ROOT
from tests.unit.corpus.selection.choosing import ids, lake_of, tools_for
from tests.unit.small_lake import COMMIT, frame, paper

SUBJECTS = (
    "black hole entropy and horizons",
    "noncommutative gauge theory on the torus",
    "integrable lattice models and the Bethe ansatz",
    "inflation of the early universe",
    "mirror symmetry of Calabi-Yau manifolds",
)


def corpus(papers: int) -> list[dict[str, Any]]:
    """Papers of five subjects, in turns."""
    drawn = np.random.default_rng(3)
    fillers = [f"aspect{word}" for word in range(60)]
    return [
        paper(f"p{n:04d}", f"On {SUBJECTS[n % 5]}", abstract=f"We look at {SUBJECTS[n % 5]} with {' '.join(drawn.choice(fillers, 6))}.")
        for n in range(papers)
    ]


def cited(papers: int) -> list[tuple[str, str]]:
    """Every paper cites those whose number divides its own: the smaller a number, the more cited."""
    return [(f"p{n:04d}", f"p{other:04d}") for n in range(1, papers) for other in range(1, n) if n % other == 0]


def settled(**how: Any) -> Representatives:
    return Representatives.model_validate({"text": "abstract", "vectors": "corpus", **how})


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    return tools_for(lake_of(tmp_path_factory.mktemp("lake") / "lake", corpus(60), cited(60)))


def by_role(tools: Tools, choice: Choice, role: str) -> list[str]:
    return [name for name, its in zip(ids(tools, choice), choice.roles, strict=True) if its == role]


# -- who is eligible


def test_eligible_is_who_has_a_title_an_abstract_and_a_text(tmp_path: Path) -> None:
    rows = [
        paper("whole", "A title", abstract="An abstract."),
        paper("no-title", None, abstract="An abstract."),
        paper("blank-title", " \n ", abstract="An abstract."),
        paper("no-abstract", "A title"),
        paper("blank-abstract", "A title", abstract="\t "),
        paper("one-letter", "A", abstract="B"),
    ]
    tools = tools_for(lake_of(tmp_path / "lake", rows))
    assert sorted(ids(tools, choose(tools, None, settled()))) == ["one-letter", "whole"]
    assert ids(tools, choose(tools, None, settled(min_characters=2))) == ["whole"]


def test_where_no_abstract_may_stand_for_it_a_paper_without_full_text_is_not_eligible(tools: Tools) -> None:
    choice = choose(tools, None, settled(text="full_text"))
    assert (ids(tools, choice), choice.matched, choice.shortfall) == ([], 0, "only 0 papers are eligible")


def test_a_full_text_makes_eligible_and_a_document_that_holds_an_abstract_alone_does_not(tmp_path: Path) -> None:
    lake = lake_of(
        tmp_path / "lake", [paper(name, f"On {name}", abstract="An abstract.") for name in ("whole", "abstract", "none")], shards=1
    )
    held = [
        {"paper_id": name, "shard": "00", "extent": extent, "characters": characters, "sentences": 12}
        for name, extent, characters in (("whole", "full_text", 2_500), ("abstract", "abstract", 2_500))
    ]
    delta.write_partition(lake, "fulltexts", "00", frame("fulltexts", held), COMMIT)
    tools = tools_for(lake)
    assert ids(tools, choose(tools, None, settled(text="full_text"))) == ["whole"]
    assert ids(tools, choose(tools, None, settled(text="full_text", min_characters=2_501))) == []
    assert ids(tools, choose(tools, None, settled(text="full_text", min_sentences=13))) == []
    assert sorted(ids(tools, choose(tools, None, settled(text="abstract")))) == ["abstract", "none", "whole"]
    # A full text that is too short is not made good by an abstract: that stands for one that is missing.
    assert ids(tools, choose(tools, None, settled(text="abstract", min_characters=13))) == ["whole"]
    assert ids(tools, choose(tools, None, settled(text="abstract", min_characters=2_501))) == []


# -- clusters


def test_900_papers_are_720_representatives_and_180_anchors_by_the_settings_of_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    import sklearn.cluster

    asked: list[dict[str, Any]] = []

    class Watched(sklearn.cluster.MiniBatchKMeans):  # type: ignore[misc]
        def fit(self, vectors):  # type: ignore[no-untyped-def]
            asked.append(self.get_params())
            return super().fit(vectors)

    monkeypatch.setattr(sklearn.cluster, "MiniBatchKMeans", Watched)
    size, share = settled().size, settled().anchors
    anchors = round(share * size)
    found = centres(np.random.default_rng(0).normal(size=(1_000, 6)).astype(np.float32), size - anchors, 11)
    wanted = {"n_clusters": 720, "batch_size": 4_096, "n_init": 3, "max_iter": 100, "reassignment_ratio": 0.01, "random_state": 11}
    assert {name: asked[0][name] for name in wanted} == wanted
    assert (anchors, len(set(found.papers.tolist()))) == (180, 720)


def test_a_representative_is_the_member_nearest_to_its_centre_and_the_largest_cluster_comes_first() -> None:
    middles = np.eye(3, dtype=np.float32) * 9
    around = np.array([[0, 0, 0], [1, 1, 0], [-1, -1, 0], [1, 0, 1], [-1, 0, -1], [0, 1, -1], [0, -1, 1]], np.float32)
    heaps = [around[[1, 2, 0]] + middles[0], around[[3, 0, 1, 2, 4, 5, 6]] + middles[1], around[[0, 1, 2, 3, 4]] + middles[2]]
    found = centres(np.concatenate(heaps), 3, 0)
    assert found.sizes.tolist() == [7, 5, 3]
    assert found.papers.tolist() == [3 + 1, 10 + 0, 0 + 2], "the one in the middle of each heap"
    assert (found.similarities > 0.99).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_paper_stands_for_two_clusters_even_where_papers_are_equal() -> None:
    vectors = np.ones((6, 2), np.float32)
    assert sorted(centres(vectors, 6, 0).papers.tolist()) == [0, 1, 2, 3, 4, 5]
    assert sorted(centres(vectors, 2, 0).papers.tolist())[0] == 0


# -- anchors


def test_anchors_are_the_most_cited_of_those_that_are_no_representatives(tools: Tools) -> None:
    choice = choose(tools, None, settled(size=20))
    representatives, anchors = by_role(tools, choice, "representative"), by_role(tools, choice, "anchor")
    assert (len(representatives), len(anchors)) == (16, 4)
    degree = dict(tools.candidates.frame.select("paper_id", "in_degree").iter_rows())
    others = sorted(set(degree) - set(representatives), key=lambda name: (-degree[name], name))
    assert anchors == others[:4]
    assert [score for score, role in zip(choice.scores, choice.roles, strict=True) if role == "anchor"] == [
        degree[name] for name in anchors
    ]  # type: ignore[arg-type]


# -- in which order


def test_two_lists_are_interleaved_so_that_round_a_fifth_of_every_beginning_is_anchors() -> None:
    order = interleaved(list(range(100, 116)), list(range(4)), 0.2)
    assert [place for place, number in enumerate(order, 1) if number < 100] == [3, 8, 13, 18]
    assert order[:5] == [100, 101, 0, 102, 103]


def test_halves_are_rounded_to_even_as_python_does() -> None:
    # 0.25 · 2 is 0.5, which rounds to 0; 0.25 · 6 is 1.5, which rounds to 2; 0.25 · 10 is 2.5, which rounds to 2.
    order = interleaved(list(range(100, 109)), list(range(3)), 0.25)
    assert [place for place, number in enumerate(order, 1) if number < 100] == [3, 6, 11]


@given(coverage=st.integers(0, 80), anchors=st.integers(0, 40), share=st.floats(0, 0.99))
def test_the_quota_holds_at_every_place_until_a_list_runs_out(coverage: int, anchors: int, share: float) -> None:
    order = interleaved(list(range(1_000, 1_000 + coverage)), list(range(anchors)), share)
    assert sorted(order) == [*range(anchors), *range(1_000, 1_000 + coverage)]
    taken = 0
    for place, number in enumerate(order, 1):
        taken += number < 1_000
        if taken < anchors and place - taken < coverage:
            assert taken == round(share * place)


def test_who_is_chosen_already_is_skipped() -> None:
    assert interleaved([1, 2, 3, 4, 5], [1, 2, 9], 0.5) == [1, 2, 9, 3, 4, 5]
    assert interleaved([1, 1, 2], [], 0.2) == [1, 2]


def test_the_collection_is_interleaved_and_numbers_its_clusters_by_size(tools: Tools) -> None:
    choice = choose(tools, None, settled(size=10))
    assert [role == "anchor" for role in choice.roles] == [place in (3, 8) for place in range(1, 11)]
    assert choice.clusters == [1, 2, None, 3, 4, 5, 6, None, 7, 8]
    assert choice.rules[0].startswith("nearest to the centre of a cluster of ")
    assert choice.rules[2] == f"cited by {int(choice.scores[2])} papers of the corpus"  # type: ignore[index]


def test_subjects_of_a_corpus_are_each_stood_for(tools: Tools) -> None:
    chosen = ids(tools, choose(tools, None, settled(size=5, anchors=0)))
    assert {int(name[1:]) % 5 for name in chosen} == {0, 1, 2, 3, 4}


def test_fewer_papers_than_asked_for_are_all_taken_four_to_one_and_the_lack_is_said(tools: Tools) -> None:
    where = Where.model_validate({"ids": [f"p{n:04d}" for n in range(7, 17)]})
    choice = choose(tools, where, settled())
    assert sorted(ids(tools, choice)) == [f"p{n:04d}" for n in range(7, 17)]
    assert (choice.roles.count("representative"), choice.roles.count("anchor")) == (8, 2)
    assert (choice.wanted, choice.matched, choice.shortfall) == (900, 10, "only 10 papers are eligible")


def test_papers_without_a_word_in_common_are_told_apart_by_their_vectors_alone(tmp_path: Path) -> None:
    rows = [paper(name, name, abstract=name * 2) for name in ("quark", "gluon", "pion")]
    tools = tools_for(lake_of(tmp_path / "lake", rows))
    assert sorted(ids(tools, choose(tools, None, settled(size=3)))) == ["gluon", "pion", "quark"]


# -- always the same


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(60)), shards=st.integers(1, 5))
def test_neither_the_order_of_rows_nor_the_shards_decide(
    tools: Tools, order: list[int], shards: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = corpus(60)
    other = tools_for(lake_of(tmp_path_factory.mktemp("lake") / "lake", [rows[n] for n in order], cited(60), shards))
    one, another = choose(tools, None, settled(size=30)), choose(other, None, settled(size=30))
    assert ids(tools, one) == ids(other, another)
    assert (one.roles, one.clusters) == (another.roles, another.clusters)


def test_another_seed_may_choose_others_and_the_same_seed_never(tools: Tools) -> None:
    chosen = [ids(tools, choose(tools, None, settled(size=30, seed=seed))) for seed in (1, 1, 2, 3, 4)]
    assert chosen[0] == chosen[1]
    assert len({tuple(one) for one in chosen}) > 1


_CHOOSES = """
import json, sys
from pathlib import Path
from scholarlake.corpus.selection.representatives import choose
from scholarlake.lake.home import Lake
from tests.unit.corpus.selection.choosing import ids, tools_for
from tests.unit.corpus.selection.test_representatives import settled
tools = tools_for(Lake.open(Path(sys.argv[1])))
choice = choose(tools, None, settled(size=30))
print(json.dumps([ids(tools, choice), choice.scores.tolist()]))
"""


def test_three_processes_choose_the_same_whatever_their_threads_and_hashes(tools: Tools) -> None:
    said = []
    for number, threads in enumerate(("1", "2", "4")):
        env = {
            **os.environ,
            "PYTHONHASHSEED": str(number),
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
            "PYTHONPATH": str(ROOT),
        }
        command = [sys.executable, "-c", _CHOOSES, str(tools.candidates.lake.root)]
        said.append(subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    assert said[0] == said[1] == said[2]
    assert len(json.loads(said[0])[0]) == 30


# -- real papers

REAL = ROOT.parent / "shared" / "real" / "hepth" / "hepth_oaglike.jsonl.gz"


@pytest.mark.skipif(not REAL.is_file(), reason="shared/real/hepth is not on this machine")
def test_900_real_papers_stand_for_a_year_of_high_energy_theory(tmp_path: Path) -> None:
    given = pl.read_ndjson(REAL, infer_schema_length=None).filter(pl.col("year") == 1999)
    rows = [paper(one["id"], one["title"], abstract=one["abstract"], year=one["year"]) for one in given.iter_rows(named=True)]
    known = set(given["id"])
    edges = [(one, other) for one, others in given.select("id", "references").iter_rows() for other in set(others) & known - {one}]
    lake: Lake = lake_of(tmp_path / "lake", rows, edges, shards=4)
    tools = tools_for(lake)
    choice = choose(tools, None, settled())
    assert (choice.matched, choice.shortfall, len(set(ids(tools, choice)))) == (len(rows), None, 900)
    assert (choice.roles.count("representative"), choice.roles.count("anchor")) == (720, 180)
    assert [place for place, role in enumerate(choice.roles, 1) if role == "anchor"] == list(range(3, 900, 5))
    assert set(choice.clusters or ()) == {None, *range(1, 721)}
    # What is chosen covers the corpus better than as many drawn at random: every paper is nearer to one that stands for it.
    everything = representatives._vectors(tools, tools.candidates.present, settled())
    drawn = np.random.default_rng(0).choice(len(rows), 720, replace=False)
    stand = choice.numbers[[role == "representative" for role in choice.roles]]
    nearest = [float((everything @ everything[some].T).max(axis=1).mean()) for some in (stand, drawn)]
    assert nearest[0] > nearest[1] + 0.02

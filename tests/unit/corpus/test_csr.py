"""Claims about walking the citation graph. TRAP 16."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scholarlake.corpus import csr
from scholarlake.corpus.citations import build_citations, build_degrees
from scholarlake.corpus.csr import CitationGraph
from scholarlake.corpus.identity import build_identities
from scholarlake.errors import IndexDamaged, LakeError, NotFound
from scholarlake.lake import contracts, delta
from scholarlake.lake.home import Lake
from scholarlake.profile import Core
from tests.unit.corpus.making import RUN, lake_of, record


def graph_of(folder: Path, edges: Iterable[tuple[str, str]], lone: Iterable[str] = ()) -> CitationGraph:
    """The graph of these citations, by way of the two tables."""
    listed = sorted(set(edges))
    ids = sorted({*lone, *(end for edge in listed for end in edge)})
    lake = Lake.create(folder / "lake", 3)
    table = pl.DataFrame(listed, schema={"citing_id": pl.String, "cited_id": pl.String}, orient="row")
    into = dict(table.group_by("cited_id").len().iter_rows())
    degrees = pl.DataFrame(
        [
            dict.fromkeys(contracts.DEGREES.columns, 0)
            | {"paper_id": one, "shard": "", "in_degree": into.get(one, 0), "is_core": False, "reason": "low_both"}
            for one in ids
        ],
        schema=contracts.DEGREES.schema,
    )
    for name, frame, end in (("citations", table, "citing_id"), ("degrees", degrees, "paper_id")):
        placed = frame.with_columns(pl.col(end).map_elements(lake.shard_of, pl.String).alias("shard"))
        placed = placed.select(list(contracts.table(name).columns))
        for shard in lake.shard_keys:
            staged = delta.stage(lake, name, shard, placed.filter(shard=shard))
            delta.commit_staged(lake, name, shard, [staged], RUN)
    target = folder / "graph"
    target.mkdir()
    csr.build(target, lake)
    return CitationGraph.open(target)


def ids(walk: csr.Walk) -> list[str]:
    return [paper.paper_id for paper in walk.papers]


def test_neighbours_come_the_most_cited_first_then_by_id(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, [("a", "z"), ("a", "c"), ("a", "b"), ("x", "z"), ("y", "z"), ("x", "a"), ("y", "a"), ("z", "y")])
    assert ids(graph.references("a")) == ["z", "b", "c"]
    assert ids(graph.citations("z")) == ["a", "y", "x"]
    assert (graph.in_degree("z"), graph.out_degree("a"), len(graph), graph.edges) == (3, 3, 6, 8)
    first = graph.references("a", limit=1)
    assert (ids(first), first.total, first.capped) == (["z"], 3, True)


def test_a_hub_of_two_hundred_thousand_is_answered_at_once_capped_and_with_its_total(tmp_path: Path) -> None:
    count = 200_000
    edges = [(f"c{number:06d}", "hub") for number in range(count)]
    edges += [("seed", "near"), ("c000007", "c000009"), ("near", "c000009")]
    graph = graph_of(tmp_path, edges)
    began = time.process_time()
    walk = graph.neighbours("seed", hops=4, limit=50)
    spent = time.process_time() - began
    assert spent < 1
    assert (walk.total, len(walk.papers), walk.capped, walk.exact) == (count + 2, 50, True, True)
    assert ids(walk)[:5] == ["near", "c000009", "hub", "c000007", "c000000"]
    assert graph.neighbours("seed", hops=4, limit=50) == walk
    few = graph.citations("hub", limit=3)
    assert (ids(few), few.total) == (["c000009", "c000000", "c000001"], count)
    assert graph.shortest_path("c000005", "hub").papers == ("c000005", "hub")
    assert graph.shortest_path("c000005", "seed").papers == ()


def test_a_walk_too_long_says_that_its_total_is_a_lower_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second, third = [(f"c{number}", "b") for number in range(20)], [(f"d{number}", f"c{number}") for number in range(20)]
    graph = graph_of(tmp_path, [("a", "b"), *second, *third])
    monkeypatch.setattr(csr, "MAX_TOUCHED", 40)
    walk = graph.neighbours("a", hops=3)
    assert not walk.exact
    assert 20 <= walk.total < 41


def test_a_walk_goes_along_references_or_citations_or_both(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, [("a", "b"), ("b", "c"), ("x", "b"), ("y", "x")])
    assert ids(graph.neighbours("b", 2, along="references")) == ["c"]
    assert ids(graph.neighbours("b", 2, along="citations")) == ["x", "a", "y"]
    assert ids(graph.neighbours("b", 2, along="both")) == ["c", "x", "a", "y"]
    few = graph.neighbours("b", 2, along="citations", most=2)
    assert (ids(few), few.exact) == (["x", "a"], False)


def test_of_several_shortest_paths_the_same_is_taken_always(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, [("a", "m"), ("a", "n"), ("m", "z"), ("n", "z"), ("q", "n"), ("a", "k"), ("k", "l"), ("l", "z")])
    assert graph.shortest_path("a", "z").papers == ("a", "n", "z")


def test_a_path_follows_citations_one_way_and_stops_at_its_depth(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("f", "g")])
    assert graph.shortest_path("a", "f").papers == ("a", "b", "c", "d", "e", "f")
    assert graph.shortest_path("a", "g").papers == ()
    assert graph.shortest_path("a", "g", max_depth=6).papers[-1] == "g"
    assert graph.shortest_path("f", "a").papers == ()
    assert graph.shortest_path("a", "a").papers == ("a",)


def test_a_frontier_too_wide_is_said(tmp_path: Path) -> None:
    edges = [("a", f"m{number}") for number in range(9)] + [("m8", "z"), *((f"y{number}", "z") for number in range(20))]
    route = graph_of(tmp_path, edges).shortest_path("a", "z", frontier=3)
    assert not route.exact


def test_unknown_papers_and_broken_folders_are_named(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, [("a", "b")])
    assert "a" in graph
    assert "nowhere" not in graph
    with pytest.raises(NotFound, match="'nowhere'"):
        graph.references("nowhere")
    (tmp_path / "graph" / "in.npy").write_bytes(b"half")
    with pytest.raises(IndexDamaged, match="build it again"):
        CitationGraph.open(tmp_path / "graph")
    with pytest.raises(LakeError, match="degrees has not been built"):
        csr.build(tmp_path, Lake.create(tmp_path / "bare", 2))


def test_a_graph_without_citations_or_papers_opens(tmp_path: Path) -> None:
    graph = graph_of(tmp_path / "lone", [], ["é", "b"])
    assert (len(graph), graph.edges, graph.neighbours("é").total) == (2, 0, 0)
    assert len(graph_of(tmp_path / "none", [])) == 0


def test_the_kept_integers_and_the_table_give_the_same_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = lake_of(tmp_path / "lake", [record(f"p{n}", references=[f"p{n * 7 % 50}", f"p{n * 3 % 50}", "p1"]) for n in range(50)])
    build_identities(lake, RUN)
    build_citations(lake, RUN)
    build_degrees(lake, Core(), RUN)
    for name in ("kept", "table"):
        (tmp_path / name).mkdir()
        csr.build(tmp_path / name, lake)
        monkeypatch.setattr("scholarlake.corpus.edges.kept", lambda lake: None)
    for path in sorted((tmp_path / "kept").iterdir()):
        assert path.read_bytes() == (tmp_path / "table" / path.name).read_bytes(), path.name


@settings(max_examples=15, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda edge: edge[0] != edge[1]), min_size=1, max_size=40))
def test_walks_agree_with_networkx(tmp_path_factory: pytest.TempPathFactory, drawn: set[tuple[int, int]]) -> None:
    edges = [(f"n{one}", f"n{other}") for one, other in drawn]
    known = nx.DiGraph(edges)
    previous, csr.EDGES_AT_ONCE = csr.EDGES_AT_ONCE, 3
    try:
        graph = graph_of(tmp_path_factory.mktemp("graph"), edges)
    finally:
        csr.EDGES_AT_ONCE = previous
    for node in known:
        assert set(ids(graph.references(node))) == set(known.successors(node))
        assert set(ids(graph.citations(node))) == set(known.predecessors(node))
        around = nx.single_source_shortest_path_length(known.to_undirected(), node, cutoff=2)
        assert {paper.paper_id: paper.hops for paper in graph.neighbours(node, hops=2).papers} == {
            other: hops for other, hops in around.items() if hops
        }
        lengths = nx.single_source_shortest_path_length(known, node, cutoff=5)
        for other in known:
            path = graph.shortest_path(node, other).papers
            assert len(path) == (lengths[other] + 1 if other in lengths else 0)
            assert all(known.has_edge(*step) for step in itertools.pairwise(path))
    assert np.array_equal([graph.in_degree(node) for node in known], [known.in_degree(node) for node in known])

"""Claims about citations, degrees and the core. TRAPS 13, 14 and 19, and that a refresh is a rebuild."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scholarlake.corpus import edges as edge_sets
from scholarlake.corpus.citations import build_citations, build_core_citations, build_core_papers, build_degrees
from scholarlake.corpus.identity import build_identities
from scholarlake.corpus.merge import build_papers
from scholarlake.errors import LakeError
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from scholarlake.profile import Core
from tests.unit.corpus.making import RUN, lake_of, put, record, rows

CORE = Core(min_total=2, min_in=1)
SPIKES = "Spike trains as event sequences"
TABLES = ("identities", "papers", "citations", "degrees", "core_papers", "core_citations")


def refresh(lake: Lake) -> None:
    build_identities(lake, RUN)
    for shard in lake.shard_keys:
        build_papers(lake, shard, RUN)
    build_citations(lake, RUN)
    build_degrees(lake, CORE, RUN)
    build_core_papers(lake, RUN)
    build_core_citations(lake, RUN)


def made(folder: Path, *records: dict[str, Any]) -> Lake:
    lake = lake_of(folder / "lake", records)
    refresh(lake)
    return lake


def edges(lake: Lake) -> set[tuple[str, str]]:
    return set(lake.scan("citations").select("citing_id", "cited_id").collect().rows())


def degree(lake: Lake, paper: str) -> dict[str, Any]:
    return lake.scan("degrees").filter(paper_id=paper).collect().row(0, named=True)


def test_citations_of_merged_papers_become_one_edge_and_no_loop(tmp_path: Path) -> None:
    lake = made(
        tmp_path,
        record("p1", title=SPIKES, doi="10.1/x", references=["p2"], n_citation=99),
        record("p2", title=SPIKES, doi="10.1/x"),
        record("x", references=["p1", "p2"]),
        record("y", references=["p2"]),
    )
    assert edges(lake) == {("x", "p1"), ("y", "p1")}
    assert degree(lake, "p1")["in_degree"] == 2
    assert (degree(lake, "p1")["self_references"], degree(lake, "x")["repeated_references"]) == (1, 1)


def test_a_merged_away_id_resolves_through_any_chain_of_merges(tmp_path: Path) -> None:
    first = [record("p1", title=SPIKES, doi="10.1/x"), record("p2", title=SPIKES, doi="10.1/x")]
    lake = made(tmp_path, *first)
    put(lake, [*first, record("p0", "late", title=SPIKES, doi="10.1/x"), record("x", "late", references=["p2"])])
    refresh(lake)
    assert edges(lake) == {("x", "p0")}


def test_every_reference_of_the_union_is_counted_once(tmp_path: Path) -> None:
    lake = made(
        tmp_path,
        record("x", references=["y", "y", "z", "out", "out", "x"]),
        record("x", edition="v2", references=["y", "out", "more"]),
        record("x", edition="v2", references=["y", "out", "more"]),
        record("y"),
        record("z", references=["x"]),
    )
    found = degree(lake, "x")
    names = ("out_degree", "self_references", "repeated_references", "unresolved_references")
    assert [found[name] for name in names] == [2, 1, 1, 3]
    union = lake.scan("papers").filter(paper_id="x").collect()["references"][0]
    assert len(union) == 7


def test_lines_that_come_twice_make_no_repeats(tmp_path: Path) -> None:
    line = {"references": ["y", "z"]}
    lake = made(tmp_path, record("x", **line), record("x", "b", **line), record("y"), record("z"))
    assert (degree(lake, "x")["out_degree"], degree(lake, "x")["repeated_references"]) == (2, 0)


def test_the_core_meets_both_thresholds_and_says_why_others_do_not(tmp_path: Path) -> None:
    lake = made(
        tmp_path,
        record("a", references=["b"]),
        record("b", references=["a", "c"]),
        record("c"),
        record("d", references=["a", "b"]),
        record("e", references=["out"]),
    )
    assert dict(lake.scan("degrees").select("paper_id", "reason").collect().iter_rows()) == {
        "a": "core",
        "b": "core",
        "c": "low_total",
        "d": "low_in",
        "e": "low_both",
    }
    assert set(lake.scan("core_papers").collect()["paper_id"]) == {"a", "b"}
    assert set(lake.scan("core_citations").select("citing_id", "cited_id").collect().rows()) == {("a", "b"), ("b", "a")}


def test_a_profile_may_count_references_that_lead_outside(tmp_path: Path) -> None:
    lake = made(tmp_path, record("a", references=["out1", "out2"]), record("b", references=["a"]))
    report = build_degrees(lake, Core(min_total=3, min_in=1, count_outside_references=True), RUN)
    assert (degree(lake, "a")["total_degree"], report.papers_by_reason["core"]) == (3, 1)


def test_the_reports_numbers_add_up(tmp_path: Path) -> None:
    lake = lake_of(tmp_path / "lake", [record("a", references=["a", "b", "b", "c"]), record("b")])
    build_identities(lake, RUN)
    report = build_citations(lake, RUN)
    assert (report.references, report.rows) == (4, 1)
    assert (report.self_references, report.repeated_references, report.unresolved_references) == (1, 1, 1)
    assert build_degrees(lake, CORE, RUN).papers_by_in_degree == {"0": 1, "1": 1}


def test_a_lake_without_references_has_typed_empty_citations(tmp_path: Path) -> None:
    lake = made(tmp_path, record("a"), record("b"))
    assert lake.scan("citations").collect().schema == lake.scan("citations").collect_schema()
    assert rows(lake, "citations") == []
    assert len(rows(lake, "degrees")) == 2


def test_a_refresh_that_changes_nothing_writes_no_version(tmp_path: Path) -> None:
    lake = made(tmp_path, *(record(f"p{n}", references=[f"p{n * 7 % 10}", "p1"]) for n in range(10)))
    before = {name: delta.version(lake, name) for name in TABLES}
    refresh(lake)
    assert {name: delta.version(lake, name) for name in TABLES} == before


def test_records_that_identities_does_not_know_are_refused(tmp_path: Path) -> None:
    lake = made(tmp_path, record("a"))
    put(lake, [record("a"), record("b")])
    with pytest.raises(LakeError, match="refresh identities"):
        build_citations(lake, RUN)


def test_what_is_spooled_is_no_more_than_a_short_cut(tmp_path: Path) -> None:
    records = [record(f"p{n}", references=[f"p{n * 7 % 10}", "p1", "out"]) for n in range(10)]
    lake = made(tmp_path / "one", *records)
    other = lake_of(tmp_path / "other", records)
    for step in (
        lambda: build_identities(other, RUN),
        lambda: [build_papers(other, shard, RUN) for shard in other.shard_keys],
        lambda: build_citations(other, RUN),
        lambda: build_degrees(other, CORE, RUN),
        lambda: build_core_papers(other, RUN),
        lambda: build_core_citations(other, RUN),
    ):
        shutil.rmtree(other.root / "spool", ignore_errors=True)
        step()
    assert {name: rows(other, name) for name in TABLES} == {name: rows(lake, name) for name in TABLES}


def test_edges_spilled_to_disk_and_small_buckets_give_the_same_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record(f"p{n}", f"part-{n % 2}", references=[f"p{n * 7 % 30}", f"p{n * 3 % 30}", "p1", "p1"]) for n in range(30)]
    records.append(record("p2", "part-0", edition="v2", references=["p5", "p5", "p5"]))
    whole = made(tmp_path / "whole", *records)
    monkeypatch.setattr(edge_sets, "BATCH_ROWS", 4)
    monkeypatch.setattr(edge_sets, "BUCKET_PAPERS", 3)
    monkeypatch.setattr(edge_sets, "HELD_NUMBERS", 5)
    assert {name: rows(made(tmp_path / "small", *records), name) for name in TABLES} == {name: rows(whole, name) for name in TABLES}


# -- refresh equals rebuild ------------------------------------------------------------------------------------------

NAMES = [f"r{number}" for number in range(6)]

drawn_record = st.fixed_dictionaries(
    {
        "record_id": st.sampled_from(NAMES),
        "part": st.sampled_from(["a", "b", "c"]),
        "edition": st.sampled_from(["", "v2"]),
        "title": st.sampled_from([None, "Alpha beta gamma", "Gamma delta epsilon"]),
        "doi": st.sampled_from([None, "10.1/x", "10.1/y"]),
        "abstract": st.sampled_from([None, "short", "a longer one"]),
        "references": st.lists(st.sampled_from([*NAMES, "out"]), max_size=4),
    }
)


@settings(max_examples=8, deadline=None)
@given(st.lists(st.lists(drawn_record, min_size=1, max_size=8), min_size=2, max_size=2))
def test_any_sequence_of_refreshes_leaves_what_a_build_from_scratch_leaves(
    tmp_path_factory: pytest.TempPathFactory, states: list[list[dict[str, Any]]]
) -> None:
    folder = tmp_path_factory.mktemp("lakes")
    lake = lake_of(folder / "refreshed", [record(**values) for values in states[0]], shards=2)
    refresh(lake)
    for state in states[1:]:
        put(lake, [record(**values) for values in state])
        refresh(lake)
    rebuilt = lake_of(folder / "rebuilt", [record(**values) for values in states[-1]], shards=2)
    refresh(rebuilt)
    for name in TABLES:
        assert rows(lake, name) == rows(rebuilt, name), name
    counted = Counter(cited for _, cited, _ in rows(lake, "citations"))
    assert counted == Counter({row[0]: row[2] for row in rows(lake, "degrees") if row[2]})
    for name, shard in (("papers", 2), ("degrees", 1)):
        assert all(row[shard] == lake.shard_of(row[0]) for row in rows(lake, name))
    unions = {paper["paper_id"]: len(paper["references"]) for paper in lake.scan("papers").collect().iter_rows(named=True)}
    names = ("out_degree", "self_references", "repeated_references", "unresolved_references")
    assert unions == {paper: sum(degree(lake, paper)[name] for name in names) for paper in unions}

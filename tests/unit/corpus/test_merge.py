"""Claims about merged papers: what survives, what a refresh recomputes, and how wide rows travel. TRAPS 3, 15, 18, 19."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from scholarlake.corpus import merge as merging
from scholarlake.corpus import route as routing
from scholarlake.corpus.identity import build_identities
from scholarlake.corpus.merge import build_papers
from scholarlake.errors import LakeError
from scholarlake.lake import contracts, delta
from scholarlake.lake.home import Lake
from tests.unit.corpus.making import RUN, lake_of, put, record, rows

SPIKES = "Spike trains as event sequences"
AUTHOR = {"id": None, "name": "Li", "org": "Org", "org_id": None}


def built(lake: Lake) -> list[merging.PapersReport]:
    build_identities(lake, RUN)
    return [build_papers(lake, shard, RUN) for shard in lake.shard_keys]


def only_paper(folder: Path, *records: dict[str, Any]) -> dict[str, Any]:
    lake = lake_of(folder / "lake", records)
    built(lake)
    frame = lake.scan("papers").collect()
    assert frame.height == 1
    return frame.row(0, named=True)


def test_a_merged_paper_has_the_doi_of_one_copy_and_the_abstract_and_references_of_the_other(tmp_path: Path) -> None:
    one = {"title": SPIKES, "doi": "10.1/x", "venue": "Brain"}
    other = {"title": SPIKES, "abstract": "Long.", "references": ["r2", "r1"], "year": 2000}
    for folder, parts in (("ab", ("a", "b")), ("ba", ("b", "a"))):
        paper = only_paper(tmp_path / folder, record("p", parts[0], **one), record("q", parts[1], **other))
        assert (paper["paper_id"], paper["doi"], paper["venue"], paper["year"]) == ("p", "10.1/x", "Brain", 2000)
        assert (paper["abstract"], paper["references"], paper["record_ids"]) == ("Long.", ["r2", "r1"], ["p", "q"])


def test_the_newest_edition_gives_the_fields_and_the_longest_abstract_stays(tmp_path: Path) -> None:
    old = record(
        "p", edition="v3.9", title="Old", year=1999, abstract="The long old abstract", venue="Old venue", keywords=["k"], authors=["Wu"]
    )
    new = record("p", edition="v3.10", title="New", abstract="Short", year=None, flags=["year_unusable"])
    paper = only_paper(tmp_path, old, new)
    assert (paper["title"], paper["year"], paper["venue"]) == ("New", 1999, "Old venue")
    assert paper["abstract"] == "The long old abstract"
    assert (paper["keywords"], [author["name"] for author in paper["authors"]]) == (["k"], ["Wu"])
    assert (paper["editions"], paper["flags"]) == (["v3.9", "v3.10"], ["year_unusable"])


def test_a_doi_that_only_a_superseded_record_gives_is_not_the_papers(tmp_path: Path) -> None:
    paper = only_paper(tmp_path, record("p", edition="v1", title=SPIKES, doi="10.1/wrong"), record("p", edition="v2", title=SPIKES))
    assert paper["doi"] is None


@pytest.mark.parametrize(
    ("sign", "by"),
    [
        ({"title": f"RETRACTED: {SPIKES}"}, "title"),
        ({"title": f"{SPIKES} [Retracted]"}, "title"),
        ({"title": "ОТОЗВАНА: Введение в теорию графов"}, "title"),
        ({"title": SPIKES, "doc_type": "Retracted Article"}, "doc_type"),
        ({"title": SPIKES, "abstract": "This paper has been withdrawn by the author due to an error in lemma 2."}, "abstract"),
        ({"title": SPIKES, "abstract": "We study spikes. Thus, this paper is withdrawn for a clearer presentation."}, "abstract"),
        ({"title": SPIKES, "abstract": "The paper has been withdrawn"}, "abstract"),
        ({"title": SPIKES, "abstract": "A study linked spikes to trains. The paper was retracted, and this article was written."}, None),
        ({"title": f"WITHDRAWN: {SPIKES}", "abstract": "This article has been withdrawn."}, "title"),
        ({"title": SPIKES, "doc_type": "Journal", "abstract": "Drugs withdrawn from the market were retracted."}, None),
        ({"title": "Retraction of the eyelid in rats"}, None),
        ({"title": "The paper that has been withdrawn"}, None),
        ({}, None),
    ],
)
def test_a_paper_says_that_it_was_withdrawn_and_by_what_it_is_known(tmp_path: Path, sign: dict[str, Any], by: str | None) -> None:
    paper = only_paper(tmp_path, record("p", **sign))
    assert (paper["withdrawn"], paper["withdrawn_by"], paper["withdrawal_notice"]) == (by is not None, by, None)


def test_any_copy_may_say_that_the_paper_was_withdrawn_though_only_the_newest_of_its_id(tmp_path: Path) -> None:
    marked, clean = {"title": f"RETRACTED: {SPIKES}", "doi": "10.1/x"}, {"title": SPIKES, "doi": "10.1/x"}
    for folder, parts in (("ab", ("a", "b")), ("ba", ("b", "a"))):
        paper = only_paper(tmp_path / folder, record("p", parts[0], **clean), record("q", parts[1], **marked))
        assert (paper["withdrawn"], paper["withdrawn_by"]) == (True, "title")
    later = only_paper(tmp_path / "later", record("p", edition="v1", **clean), record("p", edition="v2", **marked))
    assert later["withdrawn_by"] == "title"
    taken_back = only_paper(tmp_path / "back", record("p", edition="v1", **marked), record("p", edition="v2", **clean))
    assert not taken_back["withdrawn"]
    said = record("p", edition="v2", doi="10.1/x", abstract="This article has been retracted.")
    shorter = only_paper(tmp_path / "shorter", record("p", edition="v1", doi="10.1/x", abstract="What it said, " * 9), said)
    assert (shorter["withdrawn_by"], shorter["abstract"]) == ("abstract", "What it said, " * 9)


def test_references_are_a_union_that_keeps_repeats_but_makes_none(tmp_path: Path) -> None:
    first = record("p", edition="v2", references=["a", "b", "a"])
    second = record("p", edition="v1", references=["c", "a", "b", "b"])
    paper = only_paper(tmp_path, first, second, second)
    assert paper["references"] == ["a", "b", "a", "c", "b"]


def test_a_paper_says_that_its_doi_is_in_conflict(tmp_path: Path) -> None:
    chapter = record("a", title="Introduction", doi="10.1/b", flags=["odd"])
    lake = lake_of(tmp_path / "lake", [chapter, record("b", title=SPIKES, doi="10.1/b")])
    built(lake)
    flags = dict(lake.scan("papers").select("paper_id", "flags").collect().iter_rows())
    assert flags == {"a": ["doi_conflict", "odd"], "b": ["doi_conflict"]}


def test_only_papers_whose_records_changed_are_merged_again(tmp_path: Path) -> None:
    records = [record(f"p{n}", title=f"A title of paper {n}") for n in range(12)]
    lake = lake_of(tmp_path / "lake", records)
    assert sum(report.merged for report in built(lake)) == 12
    before = build_identities(lake, RUN).paper_inputs
    version = delta.version(lake, "papers")
    assert [(report.merged, report.changed) for report in built(lake)] == [(0, 0)] * lake.shards
    assert (delta.version(lake, "papers"), build_identities(lake, RUN).paper_inputs) == (version, before)

    put(lake, [*records[1:11], record("p11", title="Another title of paper 11")])
    reports = built(lake)
    assert sum(report.merged for report in reports) == 1
    assert sum(report.deleted for report in reports) == 1
    changed = {shard for shard, content in build_identities(lake, RUN).paper_inputs.items() if content != before[shard]}
    assert changed == {lake.shard_of("p0"), lake.shard_of("p11")}


def test_a_record_that_moves_to_another_part_changes_no_paper(tmp_path: Path) -> None:
    lake = lake_of(tmp_path / "lake", [record("p", "a"), record("q", "a")])
    built(lake)
    put(lake, [record("p", "b"), record("q", "a")])
    assert sum(report.merged for report in built(lake)) == 0


def test_recomputing_merges_all_and_writes_what_differs(tmp_path: Path) -> None:
    lake = lake_of(tmp_path / "lake", [record("p", title="One title"), record("q", title="Another")])
    built(lake)
    frame = lake.scan("records").with_columns(title=pl.when(record_id="q").then(pl.lit("Parsed better")).otherwise("title")).collect()
    delta.commit_staged(lake, "records", "a.jsonl", [delta.stage(lake, "records", "a.jsonl", frame)], RUN)
    build_identities(lake, RUN)
    assert sum(build_papers(lake, shard, RUN).merged for shard in lake.shard_keys) == 0
    reports = [build_papers(lake, shard, RUN, recompute=True) for shard in lake.shard_keys]
    assert (sum(report.merged for report in reports), sum(report.updated for report in reports)) == (2, 1)


def test_records_that_are_gone_are_an_error_and_the_old_papers_stay(tmp_path: Path) -> None:
    lake = lake_of(tmp_path / "lake", [record("p", title="One title"), record("q", title="Another")])
    built(lake)
    before = rows(lake, "papers")
    put(lake, [])
    with pytest.raises(LakeError, match="refresh identities"):
        build_papers(lake, lake.shard_of("p"), RUN, recompute=True)
    assert rows(lake, "papers") == before
    built(lake)
    assert rows(lake, "papers") == []


def test_a_shard_of_nulls_and_empty_lists_is_written_as_declared(tmp_path: Path) -> None:
    lake = lake_of(tmp_path / "lake", [record(f"p{n}") for n in range(6)] + [record("p0", title="x")])
    built(lake)
    frame = lake.scan("papers").collect()
    assert frame.schema == contracts.PAPERS.schema
    assert frame["doi"].null_count() == frame.height == 6


@pytest.fixture
def small_route(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "ROUTE_FROM", 1)
    monkeypatch.setattr(routing, "BATCH_ROWS", 3)
    monkeypatch.setattr(routing, "HELD_BYTES", 1)
    monkeypatch.setattr(routing, "BUCKET_RECORDS", 4)


def many() -> list[dict[str, Any]]:
    parts = [record(f"p{n}", f"part-{n % 3}", title=f"Title number {n % 20} here", references=[f"p{n + 1}"]) for n in range(40)]
    return [*parts, record("p3", "part-0", edition="v2", title="Title number 3 here", abstract="x")]


@pytest.mark.usefixtures("small_route")
def test_records_carried_to_their_shards_give_the_same_papers_and_leave_no_spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carried = lake_of(tmp_path / "carried", many())
    assert all(report.routed for report in built(carried))
    assert not list(carried.spool("papers").glob("*/"))
    monkeypatch.setattr(merging, "ROUTE_FROM", 1000)
    monkeypatch.setattr(merging, "BUCKET_RECORDS", 5)
    read = lake_of(tmp_path / "read", many())
    assert not any(report.routed for report in built(read))
    assert rows(read, "papers") == rows(carried, "papers")


@pytest.mark.usefixtures("small_route")
def test_a_route_killed_half_way_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = lake_of(tmp_path / "lake", many())
    build_identities(lake, RUN)
    spooled: list[str] = []
    spool = routing._Router.spool

    def dies_at_the_second(self: Any, file: Any, folder: Path) -> None:
        spool(self, file, folder)
        spooled.append(file.name)
        if len(spooled) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(routing._Router, "spool", dies_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        build_papers(lake, "00", RUN)
    (folder,) = (path for path in lake.spool("papers").iterdir() if path.is_dir())
    (folder / ".killed.tmp").mkdir()
    (folder / ".killed.tmp" / "00-0000-00000.arrow").write_bytes(b"half")
    for shard in lake.shard_keys:
        build_papers(lake, shard, RUN)
    assert len(spooled) == 4, "the first file is not read again"
    whole = lake_of(tmp_path / "whole", many())
    built(whole)
    assert rows(lake, "papers") == rows(whole, "papers")


@pytest.mark.usefixtures("small_route")
def test_a_shard_whose_spooled_records_are_used_up_can_be_computed_again(tmp_path: Path) -> None:
    lake = lake_of(tmp_path / "lake", many())
    build_identities(lake, RUN)
    build_papers(lake, "00", RUN)
    assert build_papers(lake, "00", RUN, recompute=True).changed == 0
    for shard in lake.shard_keys:
        build_papers(lake, shard, RUN)
    whole = lake_of(tmp_path / "whole", many())
    built(whole)
    assert rows(lake, "papers") == rows(whole, "papers")

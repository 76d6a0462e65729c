"""What vacuum takes away, and what it never does: a file that a kept release, a run or the present state needs. TRAPS 21."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from deltalake import DeltaTable

import scholarlake
from scholarlake.errors import LakeError, ReleaseError
from scholarlake.lake import artifacts, delta, receipts, releases, vacuum
from scholarlake.lake.contracts import TABLES
from scholarlake.lake.files import write_json
from scholarlake.lake.home import Lake
from scholarlake.lake.locks import at_work
from scholarlake.lake.releases import Release
from scholarlake.lake.vacuum import Policy, Sweep, look, retention, sweep
from tests.unit.small_lake import COMMIT, frame, make_lake, paper, release

HOUR = 3_600


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Four releases, each of other papers and citations, and a working state that goes beyond the last."""
    root = tmp_path / "lake"
    for number in range(1, 5):
        release(state(root, number), f"r{number:04d}")
    return state(root, 5)


def state(root: Path, number: int) -> Lake:
    papers = [paper(f"p{n}", f"Title {n} of {number if n % 3 == 0 else 0}") for n in range(number, number + 12)]
    edges = [(row["paper_id"], papers[0]["paper_id"]) for row in papers[1 : 3 + number]]
    return make_lake(root, papers, edges, {papers[0]["paper_id"]: (number, [1.0, 0.0])})


def read_by_polars(path: Path, version: int) -> pl.DataFrame:
    return pl.read_delta(str(path), version=version)


def read_by_deltalake(path: Path, version: int) -> pl.DataFrame:
    return pl.DataFrame(DeltaTable(str(path), version=version).to_pyarrow_table())


def rows(lake: Lake, names: list[str], read: Callable[[Path, int], pl.DataFrame] = read_by_polars) -> dict[tuple[str, str], list[str]]:
    """Every table of some releases at its pinned version, as sorted rows."""
    return {
        (name, table): sorted(read(lake.root / pin.path, pin.version).select(pl.struct(pl.all()).struct.json_encode()).to_series())
        for name in names
        for table, pin in releases.load(lake, name).tables.items()
    }


def present(lake: Lake) -> dict[str, list[str]]:
    return {name: sorted(map(str, lake.scan(name).collect().rows())) for name in TABLES}


def files(lake: Lake) -> set[str]:
    """All files but locks, which are empty."""
    return {str(path.relative_to(lake.root)) for path in lake.root.rglob("*") if path.is_file() and path.suffix != ".lock"}


def artifact_paths(one: Release) -> set[str]:
    return {pin.path for pins in one.artifacts.values() for pin in pins.values()}


@pytest.mark.parametrize("policy", [Policy(1), Policy(2), Policy(1, named=("r0002",)), Policy(3, named=("r0001",))])
@pytest.mark.parametrize("read", [read_by_polars, read_by_deltalake])
def test_every_kept_release_reads_as_before(lake: Lake, policy: Policy, read: Callable[[Path, int], pl.DataFrame]) -> None:
    kept = list(look(lake, policy).kept)
    before, now = rows(lake, kept, read), present(lake)
    opened = scholarlake.open(lake.root, release=kept[0])
    answers = [paper.paper_id for paper in opened.citations(opened.table("papers").collect()["paper_id"].sort()[0])]
    done = sweep(lake, policy)
    assert (list(done.kept), releases.names(lake)) == (kept, kept)
    assert rows(lake, kept, read) == before
    assert present(lake) == now
    for name in kept:
        with scholarlake.open(lake.root, release=name) as reader:
            first = reader.table("papers").collect()["paper_id"].sort()[0]
            assert reader.paper(first).paper_id == first
    assert [paper.paper_id for paper in opened.citations(opened.table("papers").collect()["paper_id"].sort()[0])] == answers


def test_what_only_dropped_releases_rested_on_is_gone(lake: Lake) -> None:
    dropped = [releases.load(lake, name) for name in ("r0001", "r0002", "r0003")]
    kept = artifact_paths(releases.load(lake, "r0004"))
    sweep(lake, Policy(1))
    for one in dropped:
        assert not any((lake.root / path).exists() for path in artifact_paths(one) - kept)
        with pytest.raises(ReleaseError, match="there are: r0004"):
            scholarlake.open(lake.root, release=one.name)
    needed = {
        (lake.root / pin.path / file) for pin in releases.load(lake).tables.values() for file in paths(lake.root / pin.path, pin.version)
    }
    needed |= {lake.table_path(name) / file for name in TABLES if delta.exists(lake, name) for file in paths(lake.table_path(name), None)}
    lying = {
        path for path in (lake.root / "tables").rglob("*.parquet") if "_change_data" not in path.parts and "_delta_log" not in path.parts
    }
    assert lying == needed


def paths(folder: Path, version: int | None) -> list[str]:
    return pl.DataFrame(DeltaTable(str(folder), version=version).get_add_actions(flatten=True))["path"].to_list()


def test_no_table_gets_a_version_and_the_second_time_there_is_nothing_to_do(lake: Lake) -> None:
    versions = {name: delta.version(lake, name) for name in TABLES}
    assert sweep(lake, Policy(2)).bytes > 0
    assert {name: delta.version(lake, name) for name in TABLES} == versions
    before = files(lake)
    again = sweep(lake, Policy(2))
    assert (again.dropped, again.waste) == ((), ())
    assert files(lake) == before


def test_a_look_says_what_a_sweep_does_and_changes_nothing(lake: Lake) -> None:
    before = files(lake)
    said = look(lake, Policy(2))
    assert files(lake) == before
    done = sweep(lake, Policy(2))
    assert (said.kept, said.dropped, said.waste) == (done.kept, done.dropped, done.waste)
    assert before - files(lake) >= {str(one.path.relative_to(lake.root)) for one in done.waste if one.what != "artifact"}
    assert sum(entry["bytes"] for entry in done.sums()) == done.bytes


def test_the_change_feed_can_be_read_from_the_oldest_of_the_newest_releases_on(lake: Lake) -> None:
    def feed(since: str) -> dict[str, list[str]]:
        found = {}
        for name, pin in releases.load(lake, since).tables.items():
            table = DeltaTable(str(lake.root / pin.path))
            if TABLES[name].feed and table.version() > pin.version:
                changes = pl.DataFrame(table.load_cdf(starting_version=pin.version + 1)).drop("_commit_timestamp")
                found[name] = sorted(map(str, changes.select(sorted(changes.columns)).rows()))
        return found

    # A shard that came whole and was merged into again, between releases: its first rows stand in no change file.
    shard = lake.shard_of("x")
    for title in ("one", "two"):
        row = {**paper("x", title), "shard": shard, "paper_key": 1}
        delta.write_partition(lake, "papers", "97", frame("papers", [{**row, "shard": "97"}]), COMMIT)
    before = feed("r0003")
    assert len(before["papers"]) > 3
    sweep(lake, Policy(2, named=("r0001",)))
    assert feed("r0003") == before
    change_files = len(list(lake.root.rglob("_change_data/**/*.parquet")))
    sweep(lake, Policy(1))
    assert len(list(lake.root.rglob("_change_data/**/*.parquet"))) < change_files
    assert set(feed("r0004"))


def test_a_partition_whose_name_needs_escaping_keeps_its_files(lake: Lake) -> None:
    def write(part: str, count: int) -> None:
        rows = [{"dump_part": part, "byte_offset": n, "reason": "blank", "excerpt": ""} for n in range(count)]
        delta.commit_staged(lake, "rejects", part, [delta.stage(lake, "rejects", part, frame("rejects", rows))], COMMIT)

    parts = ["o'brien", "x' OR '1'='1", "a/b c%20.jsonl.gz", "深度=学习", "a?b#c&d"]
    for count in (2, 3):
        for part in parts:
            write(part, count)
    release(lake, "r0005")
    for part in parts:
        write(part, 4)
    before, now = rows(lake, ["r0005"]), present(lake)
    assert sum(one.of == "rejects" for one in sweep(lake, Policy(1)).waste) == len(parts)
    assert (rows(lake, ["r0005"]), present(lake)) == (before, now)


def test_what_a_run_has_laid_aside_stays_and_what_a_dead_one_left_goes(lake: Lake) -> None:
    row = {**paper("y", "Not yet committed"), "shard": "00", "paper_key": 1}
    fresh, old = (delta.stage(lake, "papers", "00", frame("papers", [row])) for _ in range(2))
    aside = lake.receipts / "papers" / ".=00.json.0a.tmp"
    aside.parent.mkdir(parents=True, exist_ok=True)
    folder = lake.artifacts / "search_index" / "all" / ".0b.tmp"
    log = lake.table_path("papers") / "_delta_log" / "00000000000000000099.json#1"
    for path in (aside, log):
        path.write_text("half")
    folder.mkdir()
    (folder / "half").write_text("half")
    assert not {one.what for one in look(lake, Policy(9)).waste} & {"file of no version", "leftover", "unfinished commit"}
    for path in (lake.table_path("papers") / old.path, aside, log, folder / "half", folder):
        age(path, 2 * HOUR)
    done = sweep(lake, Policy(9))
    assert sorted((one.what, one.of) for one in done.waste if one.what != "file of a version") == [
        ("file of no version", "papers"),
        ("leftover", "artifacts"),
        ("leftover", "receipts"),
        ("unfinished commit", "papers"),
    ]
    assert not any(path.exists() for path in (aside, log, folder))
    present_rows = lake.scan("papers").filter(pl.col("shard") == "00").collect()
    delta.commit_staged(lake, "papers", "00", [fresh], COMMIT)
    assert lake.scan("papers").filter(pl.col("shard") == "00").collect().height == 1 != present_rows.height


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_finished_work_of_a_dead_run_is_kept_for_the_next_but_not_for_ever(lake: Lake) -> None:
    work = lake.spool("embeddings", "model") / "00-1.arrow"
    strange = lake.spool("answers", "model") / "1.json"
    for path, days in ((work, 8), (strange, 800)):
        path.parent.mkdir(parents=True)
        path.write_text("dear")
        age(path, days * 24 * HOUR)
        age(path.parent, days * 24 * HOUR)
    sweep(lake, Policy(9, spool_days=9))
    assert work.exists()
    assert [(one.what, one.of) for one in sweep(lake, Policy(9, spool_days=7)).waste] == [("spool", "embeddings")]
    assert not work.exists()
    assert strange.exists(), "what is nobody's spool is not for vacuum to judge"


def test_an_artifact_that_a_receipt_names_stays_though_no_release_pins_it(lake: Lake) -> None:
    def index(text: str) -> artifacts.Artifact:
        return artifacts.publish(lake, "search_index", None, lambda folder: {"bytes": (folder / "x").write_text(text)})

    named, unnamed = index("named"), index("unnamed")
    begun = receipts.begin(lake, "search_index", None, code_version="1", inputs={}, run_id="r")
    receipts.finish(lake, begun, data_version="1", artifact=named.path)
    receipts.begin(lake, "search_index", None, code_version="2", inputs={}, run_id="r")  # an index is made from the one before it
    sweep(lake, Policy(9))
    assert named.folder(lake).exists()
    assert not unnamed.folder(lake).exists()


def hold(root: Path, ready: multiprocessing.synchronize.Event) -> None:
    with at_work(Lake.open(root)):
        ready.set()
        time.sleep(600)


def test_nothing_is_taken_away_while_a_run_is_at_work_and_all_is_when_it_has_died(lake: Lake) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    process = context.Process(target=hold, args=(lake.root, ready))
    process.start()
    try:
        assert ready.wait(60)
        before = files(lake)
        with pytest.raises(LakeError, match="a run is at work"):
            sweep(lake, Policy(1))
        assert files(lake) == before
        assert look(lake, Policy(1)).dropped == ("r0001", "r0002", "r0003"), "looking needs no leave"
    finally:
        process.kill()
        process.join()
    assert sweep(lake, Policy(1)).dropped == ("r0001", "r0002", "r0003")


def test_several_steps_are_at_work_at_once(lake: Lake) -> None:
    with at_work(lake), at_work(lake), pytest.raises(LakeError, match="at work"):
        sweep(lake, Policy(1))


def test_killed_after_any_number_of_deletions_it_breaks_no_kept_release_and_is_finished_the_next_time(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = Policy(1, named=("r0002",))
    whole = Lake.open(copied(lake, tmp_path / "whole"))
    count = len(sweep(whole, policy).waste)
    expected = files(whole)
    take_away = vacuum._take_away
    for deletions in sorted({*range(0, count, 7), 1, 2, count - 1}):
        killed = Lake.open(copied(lake, tmp_path / f"killed-{deletions}"))
        before, left = rows(killed, ["r0002", "r0004"]), iter(range(deletions))

        def until_killed(one: vacuum.Waste, left: object = left) -> None:
            if next(left, None) is None:  # type: ignore[call-overload]
                raise KeyboardInterrupt
            take_away(one)

        with monkeypatch.context() as patch:
            patch.setattr(vacuum, "_take_away", until_killed)
            with pytest.raises(KeyboardInterrupt):
                sweep(killed, policy)
        assert rows(killed, ["r0002", "r0004"]) == before
        rows(killed, releases.names(killed))  # what is still listed can still be read
        sweep(killed, policy)
        assert rows(killed, ["r0002", "r0004"]) == before
        assert files(killed) == expected, deletions


def test_a_folder_that_was_half_taken_away_is_finished_the_next_time(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            sweep(lake, Policy(1))
    assert len(list(lake.artifacts.rglob(".*.gone"))) == 1
    sweep(lake, Policy(1))
    assert not list(lake.artifacts.rglob(".*.gone"))


def copied(lake: Lake, to: Path) -> Path:
    shutil.copytree(lake.root, to)
    return to


def test_releases_younger_than_a_number_of_days_are_kept(lake: Lake) -> None:
    for number, days in ((1, 30.0), (2, 10.0), (3, 2.0), (4, 0.0)):
        one = releases.load(lake, f"r{number:04d}")
        made = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
        write_json(lake.releases / f"{one.name}.json", {**scholarlake.open(lake.root, one.name).manifest, "created_at": made})
    assert look(lake, Policy(1, days=5)).dropped == ("r0001", "r0002")
    assert look(lake, Policy(3, days=5)).dropped == ("r0001",)
    assert look(lake, Policy(1, days=0)).dropped == ("r0001", "r0002", "r0003")


def test_a_release_of_no_name_is_one_line_and_changes_nothing(lake: Lake) -> None:
    before = files(lake)
    with pytest.raises(ReleaseError, match=r"no release r0009 in .*; there are: r0001, r0002, r0003, r0004"):
        sweep(lake, Policy(1, named=("r0009",)))
    assert files(lake) == before


def test_a_lake_without_a_release_keeps_its_present_state(tmp_path: Path) -> None:
    lake = state(state(tmp_path / "lake", 1).root, 2)
    now = present(lake)
    done: Sweep = sweep(lake, Policy(1))
    assert (done.kept, done.dropped) == ((), ())
    assert any(one.what == "file of a version" for one in done.waste)
    assert present(lake) == now


def test_what_is_kept_by_default_is_what_the_profile_of_the_newest_release_says(lake: Lake) -> None:
    assert retention(lake) == Policy(10, (), 0, 7)
    newest = replace(releases.load(lake), profile={"retention": {"keep_releases": 2, "keep_days": 3, "spool_days": 1}})
    write_json(lake.releases / "r0004.json", {**scholarlake.open(lake.root).manifest, "profile": newest.profile})
    assert retention(lake) == Policy(2, (), 3, 1)
    assert retention(lake, 5, ("r0001",), 0.5) == Policy(5, ("r0001",), 0.5, 1)

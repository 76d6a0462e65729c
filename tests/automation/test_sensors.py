"""The sensors on the sources, the schedules, and runs whose process is gone."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from assets.runs import TAG, claim, close_dead_runs
from pipelines.definitions import definitions
from scholarlake.lake import receipts
from tests.automation.world import PARTS, PROFILE, World, world

QUIET = PROFILE + "watching: {quiet_seconds: 0}\n"


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, QUIET) as found:
        found.write(PARTS)
        yield found


class Watch:
    """The dump sensor, with the cursor that the daemon would keep for it."""

    def __init__(self, watched: World) -> None:
        self.world, self.cursor = watched, None

    def glance(self) -> str:
        places = self.world.places
        sensor = definitions(places).get_repository_def().get_sensor_def("dump_sensor")
        context = dg.build_sensor_context(instance=self.world.instance, cursor=self.cursor, resources={"lake": places.resource()})
        result = sensor(context)
        self.cursor = context.cursor
        assert isinstance(result, dg.SkipReason)
        return str(result.skip_message)

    @property
    def keys(self) -> list[str]:
        return sorted(self.world.instance.get_dynamic_partitions("dump_part"))


def versions(of: World) -> dict[str, str]:
    return {str(receipt.partition): receipt.data_version for receipt in receipts.read_all(of.lake, "oag_dump")}


def events(of: World, part: str) -> int:
    found = of.instance.fetch_materializations(dg.AssetRecordsFilter(dg.AssetKey("oag_dump"), asset_partitions=[part]), limit=100)
    return len(found.records)


def test_a_collection_s_file_is_seen_to_come_change_and_go(fresh: World) -> None:
    def glance() -> str:
        places = fresh.places
        sensor = definitions(places).get_repository_def().get_sensor_def("collection_sensor")
        result = sensor(dg.build_sensor_context(instance=fresh.instance, resources={"lake": places.resource()}))
        assert isinstance(result, dg.SkipReason)
        return str(result.skip_message)

    def known() -> dict[str | None, str]:
        return {receipt.partition: receipt.data_version for receipt in receipts.read_all(fresh.lake, "collection_file")}

    assert (glance(), known()) == ("collections: 0", {})
    fresh.define("young", "where: {years: {from: 2001}}")
    fresh.define("old", "where: {years: {to: 1990}}")
    assert glance() == "collections: 2"
    before = known()
    assert set(before) == set(fresh.instance.get_dynamic_partitions("collection")) == {"young", "old"}
    fresh.define("young", "where: {years: {from: 2002}}")
    glance()
    assert {name for name, version in known().items() if before[name] != version} == {"young"}
    fresh.define("young", "where: {years: {from: 1}}")
    assert glance().startswith("young.yaml: where.years.from")
    (fresh.collections / "old.yaml").unlink()
    assert set(known()) == {"young", "old"}, "while one can't be read, none is reported"
    fresh.define("young", "where: {years: {from: 2001}}")
    assert glance() == "collections: 1"
    assert known() == {"young": before["young"]}
    assert fresh.instance.get_dynamic_partitions("collection") == ["young"]


def test_a_new_part_is_a_new_key_and_an_unchanged_one_is_no_event(fresh: World) -> None:
    watch = Watch(fresh)
    assert watch.glance() == "2 parts in the dump, 2 new or changed, 0 gone"
    fresh.write({"c.jsonl": PARTS["a.jsonl"][:1]})
    assert watch.glance() == "3 parts in the dump, 1 new or changed, 0 gone"
    assert watch.keys == ["a.jsonl", "b.jsonl", "c.jsonl"]
    assert watch.glance() == "3 parts in the dump, 0 new or changed, 0 gone"
    assert [events(fresh, part) for part in watch.keys] == [1, 1, 1]


def test_content_decides_and_not_time(fresh: World) -> None:
    watch = Watch(fresh)
    watch.glance()
    part = fresh.dumps / "a.jsonl"
    os.utime(part, (1, 1))
    assert watch.glance() == "2 parts in the dump, 0 new or changed, 0 gone"
    before = part.stat()
    part.write_bytes(part.read_bytes().replace(b"side 1", b"side 9"))  # as long as it was, and dated back
    os.utime(part, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert watch.glance() == "2 parts in the dump, 1 new or changed, 0 gone"


def test_a_part_replaced_again_under_the_same_name_is_seen_again(fresh: World) -> None:
    watch = Watch(fresh)
    watch.glance()
    first = versions(fresh)["a.jsonl"]
    fresh.write({"a.jsonl": PARTS["a.jsonl"][:2]})
    watch.glance()
    fresh.write(PARTS)
    watch.glance()
    assert versions(fresh)["a.jsonl"] == first
    assert events(fresh, "a.jsonl") == 3


def test_a_part_that_is_still_being_written_is_left_until_it_is_whole(fresh: World) -> None:
    watch = Watch(fresh)
    with (fresh.dumps / "c.jsonl").open("w") as handle:
        handle.write('{"id": "c1", "title": "Half a')
        handle.flush()
        assert watch.glance() == "2 parts in the dump, 2 new or changed, 0 gone; 1 still being written"
        assert "c.jsonl" not in watch.keys
        handle.write(' title"}\n')
    assert watch.glance() == "3 parts in the dump, 1 new or changed, 0 gone"


def test_a_part_touched_a_moment_ago_is_left_alone(tmp_path: Path) -> None:
    with world(tmp_path, PROFILE + "watching: {quiet_seconds: 1000}\n") as found:
        found.write(PARTS)
        assert Watch(found).glance() == "0 parts in the dump, 0 new or changed, 0 gone; 2 still being written"


def test_a_part_that_is_rewritten_stays_as_it_was_known_until_it_is_whole(fresh: World) -> None:
    watch = Watch(fresh)
    watch.glance()
    known = versions(fresh)
    with (fresh.dumps / "a.jsonl").open("w") as handle:
        handle.write("{")
        handle.flush()
        assert "1 still being written" in watch.glance()
        assert versions(fresh) == known


def test_a_part_is_taken_for_gone_at_the_second_glance_that_misses_it(fresh: World) -> None:
    watch = Watch(fresh)
    watch.glance()
    (fresh.dumps / "b.jsonl").unlink()
    assert watch.glance() == "1 parts in the dump, 0 new or changed, 0 gone"
    assert watch.keys == ["a.jsonl", "b.jsonl"]
    assert watch.glance() == "1 parts in the dump, 0 new or changed, 1 gone"
    assert watch.keys == ["a.jsonl"]
    assert list(versions(fresh)) == ["a.jsonl"]


def test_one_unreadable_part_holds_up_no_other(fresh: World) -> None:
    (fresh.dumps / "c.jsonl.gz").write_bytes(gzip.compress(b"\x00\x01 no dump at all\n" * 40))
    said = Watch(fresh).glance()
    assert said.startswith("2 parts in the dump, 2 new or changed, 0 gone; c.jsonl.gz is in no known format")


def test_an_empty_dump_folder_changes_nothing(fresh: World) -> None:
    watch = Watch(fresh)
    watch.glance()
    for part in fresh.dumps.iterdir():
        part.unlink()
    assert "no part of a dump" in watch.glance()
    assert watch.keys == ["a.jsonl", "b.jsonl"]


def test_a_glance_ends_in_time_and_the_next_goes_on(tmp_path: Path) -> None:
    with world(tmp_path, PROFILE + "watching: {quiet_seconds: 0, budget_seconds: 0.000000001}\n") as hurried:
        hurried.write(PARTS)
        watch = Watch(hurried)
        assert watch.glance().endswith("2 not come to yet")


def test_schedules_are_off_until_switched_on_and_take_their_times_from_the_profile(tmp_path: Path) -> None:
    with world(tmp_path, PROFILE + 'schedules: {reconcile: "7 4 * * *"}\n') as found:
        schedules = {one.name: one for one in definitions(found.places).get_repository_def().schedule_defs}
    assert {name: one.cron_schedule for name, one in schedules.items()} == {
        "weekly_corpus_refresh": "0 3 * * 1",
        "daily_reconcile": "7 4 * * *",
    }
    assert {one.default_status for one in schedules.values()} == {dg.DefaultScheduleStatus.STOPPED}


def test_a_run_whose_process_was_killed_is_a_failed_run(fresh: World) -> None:
    job = definitions(fresh.places).get_repository_def().get_job("make_dump_manifest")
    runs = [fresh.instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED) for _ in range(3)]
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    claim(fresh.instance, runs[0].run_id)
    mine = fresh.instance.get_run_by_id(runs[0].run_id)
    assert mine is not None
    host, _, _ = mine.tags[TAG].split(":")
    started = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[19]
    fresh.instance.add_run_tags(runs[1].run_id, {TAG: f"{host}:{child.pid}:{started}"})
    fresh.instance.add_run_tags(runs[2].run_id, {TAG: f"elsewhere:{child.pid}:{started}"})
    assert close_dead_runs(fresh.instance) == []
    child.kill()
    child.wait()
    assert close_dead_runs(fresh.instance) == [runs[1].run_id]
    status = [fresh.instance.get_run_by_id(run.run_id).status.value for run in runs]  # type: ignore[union-attr]
    assert status == ["STARTED", "FAILURE", "STARTED"]


def test_the_daily_look_finds_what_no_time_tells(fresh: World) -> None:
    fresh.look()
    known = receipts.read(fresh.lake, "oag_dump", "a.jsonl")
    assert known is not None
    receipts.finish(fresh.lake, known, data_version="0" * 32, facts=known.facts)
    fresh.look()
    assert versions(fresh)["a.jsonl"] == "0" * 32, "times and size say that nothing changed"
    from assets.sources import observe_dump
    from scholarlake.sources.watch import THOROUGH

    observe_dump(fresh.instance, fresh.places.resource(), THOROUGH)
    assert versions(fresh)["a.jsonl"] != "0" * 32


def test_a_full_text_that_comes_and_goes_is_in_the_sentence_map_and_out_of_it(fresh: World) -> None:
    fresh.documents.mkdir()

    def glance() -> str:
        places = fresh.places
        sensor = definitions(places).get_repository_def().get_sensor_def("document_sensor")
        result = sensor(dg.build_sensor_context(instance=fresh.instance, resources={"lake": places.resource()}))
        assert isinstance(result, dg.SkipReason)
        return str(result.skip_message)

    def sentences() -> list[str]:
        frame = fresh.lake.scan("sentences").filter(pl.col("paper_id") == "p0").sort("n").select("text").collect()
        return frame["text"].to_list()

    fresh.look()
    fresh.settle()
    assert (glance(), sentences()) == ("0 document files, 0 new or changed, 0 gone", [])
    assert fresh.tick() == []
    text = fresh.documents / "p0.md"
    text.write_text("# What every other paper here rests upon\n\n## Introduction\n\nIt rests, cf. Fig. 2, on this. It is firm.\n")
    assert glance() == "1 document files, 1 new or changed, 0 gone"
    asked = fresh.settle()
    assert asked[0] == ("document_sources", None)
    assert sentences() == ["It rests, cf. Fig. 2, on this.", "It is firm."]
    assert (glance(), fresh.tick()) == ("1 document files, 0 new or changed, 0 gone", [])
    text.unlink()
    assert glance() == "0 document files, 0 new or changed, 1 gone"
    fresh.settle()
    assert sentences() == []
    assert fresh.stale() == []

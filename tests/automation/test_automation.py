"""The latched condition: what it asks for, once, and what it leaves alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from assets.automation import ATTEMPTS
from scholarlake.lake import receipts, releases
from scholarlake.lake.judgement import Present
from scholarlake.lake.stages import SHARD, STAGES
from tests.automation.world import PARTS, PROFILE, World, copy_of, record, world


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world that the condition alone has brought to a release."""
    folder = tmp_path_factory.mktemp("built")
    with world(folder) as made:
        made.write(PARTS)
        made.look()
        asked = made.settle()
        present = Present(made.lake)
    counted = Counter(asked)
    assert set(counted.values()) == {1}, "each partition was asked for once"
    # In a world without collections there is nothing to make by collection.
    assert {asset for asset, _ in counted} == {name for name, stage in STAGES.items() if not stage.observed and present.partitions(name)}
    return folder


@pytest.fixture
def settled(built: Path, tmp_path: Path) -> Iterator[World]:
    with world(copy_of(built, tmp_path)) as found:
        assert found.tick() == []
        yield found


def test_from_an_empty_lake_the_condition_alone_leads_to_a_release(settled: World) -> None:
    assert releases.names(settled.lake) == ["r0001"]
    assert settled.stale() == []


def test_a_run_again_on_equal_data_asks_for_nothing_below_it(settled: World) -> None:
    assert settled.run("papers", "00")
    assert settled.tick() == []


def test_a_changed_part_asks_for_that_part_alone_and_then_for_what_it_touches(settled: World) -> None:
    edited = [*PARTS["b.jsonl"][:-1], record("q4", "Another subject and its aspect 4, revised", ["p0", "p3"])]
    settled.write({"b.jsonl": edited})
    settled.look()
    shard = settled.lake.shard_of("q4")
    assert settled.tick() == [("dump_manifest", None), ("records", "b.jsonl")]
    assert settled.tick() == [], "asked for once"
    settled.run("dump_manifest")
    settled.run("records", "b.jsonl")
    rest = settled.settle()
    assert {partition for asset, partition in rest if STAGES[asset].partitions == SHARD} == {shard}
    assert ("papers", shard) in rest
    assert ("release", None) in rest
    assert not {"core_papers", "core_citations", "subgraphs"} & {asset for asset, _ in rest}, "their inputs came out equal"


def test_a_change_that_lands_during_a_run_is_asked_for_on_the_tick_after(settled: World, monkeypatch: pytest.MonkeyPatch) -> None:
    settled.write({"b.jsonl": PARTS["b.jsonl"][:-1]})
    settled.look()
    assert ("records", "b.jsonl") in settled.tick()

    from assets import sources

    read = sources.ingest_part

    def and_then_the_part_changes(*args, **kwargs):  # type: ignore[no-untyped-def]
        report = read(*args, **kwargs)
        settled.write({"b.jsonl": PARTS["b.jsonl"]})
        settled.look()
        return report

    monkeypatch.setattr(sources, "ingest_part", and_then_the_part_changes)
    settled.run("records", "b.jsonl")
    monkeypatch.undo()
    assert ("records", "b.jsonl") in settled.tick()


def test_what_came_back_to_what_it_was_before_it_was_read_asks_for_no_reading(settled: World) -> None:
    settled.write({"b.jsonl": PARTS["b.jsonl"][:-1]})
    settled.look()
    settled.write(PARTS)
    settled.look()
    assert settled.settle() == []


def test_a_failed_partition_is_asked_for_again_but_not_for_ever(settled: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from assets import sources

    settled.write({"b.jsonl": PARTS["b.jsonl"][:-1]})
    settled.look()
    with monkeypatch.context() as patch:
        patch.setattr(sources, "ingest_part", lambda *_: (_ for _ in ()).throw(OSError("the disk went away")))
        asked = settled.settle()
    assert Counter(asked)["records", "b.jsonl"] == ATTEMPTS
    assert not {"identities", "papers", "release"} & {asset for asset, _ in asked}, "nothing is built on it"
    assert settled.tick() == []
    settled.write({"b.jsonl": PARTS["b.jsonl"][:-2]})
    settled.look()
    assert settled.tick() == [("dump_manifest", None), ("records", "b.jsonl")]


def test_one_failing_shard_holds_up_no_other(settled: World) -> None:
    for shard in ("00", "01"):
        known = receipts.read(settled.lake, "papers", shard)
        assert known is not None
        receipts.begin(settled.lake, "papers", shard, code_version=known.code_version, inputs=known.inputs, run_id="killed")
    assert settled.tick() == [("papers", "00"), ("papers", "01")]
    settled.run("papers", "01")
    embeddings = receipts.read(settled.lake, "embeddings", "01")
    assert embeddings is not None
    receipts.begin(settled.lake, "embeddings", "01", code_version=embeddings.code_version, inputs={}, run_id="killed")
    assert settled.tick() == [("embeddings", "01")], "the other shard still waits for its papers"


def test_what_a_check_refused_is_left_until_something_changes(settled: World) -> None:
    known = receipts.read(settled.lake, "papers", "00")
    assert known is not None
    refusal = receipts.CheckOutcome("papers_contract", False, True, known.data_version, "made to fail")
    receipts.record_check(settled.lake, "papers", "00", refusal)
    assert settled.tick() == []
    settled.write({"b.jsonl": PARTS["b.jsonl"][:1]})
    settled.look()
    assert ("papers", "00") in settled.settle()


def test_new_code_asks_for_what_it_makes_and_no_more_where_that_is_equal(settled: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    monkeypatch.setitem(STAGES, "citations", replace(STAGES["citations"], version="next"))
    assert settled.settle() == [("citations", None)]


def test_a_changed_profile_value_asks_for_what_depends_on_it(built: Path, tmp_path: Path) -> None:
    with world(copy_of(built, tmp_path), PROFILE.replace("min_in: 1", "min_in: 2")) as stricter:
        assert stricter.tick() == [("degrees", None)]
        stricter.run("degrees")
        assert {asset for asset, _ in stricter.tick()} == {"core_papers", "citation_graph", "search_index", "collections"}


def test_a_part_that_is_gone_takes_its_records_along(settled: World) -> None:
    (settled.dumps / "b.jsonl").unlink()
    settled.look()
    assert settled.tick() == [("dump_manifest", None)]
    settled.run("dump_manifest")
    settled.settle()
    assert set(settled.lake.scan("records").collect()["dump_part"]) == {"a.jsonl"}
    assert "q1" not in set(settled.lake.scan("papers").collect()["paper_id"])
    assert settled.instance.get_dynamic_partitions("dump_part") == ["a.jsonl"]
    settled.write(PARTS)
    settled.look()
    assert ("records", "b.jsonl") in settled.tick(), "a key that comes back is missing until it is read"

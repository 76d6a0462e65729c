"""The plan: what a refresh would do, told before anything is written."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.plan import Plan, plan
from pipelines.refresh import refresh
from scholarlake.corpus.selection.definition import CollectionError
from scholarlake.lake import receipts
from tests.automation.test_backfill import runner
from tests.automation.world import PARTS, PROFILE, World, copy_of, record, world
from tests.e2e.building import delta_versions


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    with world(folder) as made:
        made.write(PARTS)
        assert not refresh(runner(made)).failed
    return folder


@pytest.fixture
def settled(built: Path, tmp_path: Path) -> Iterator[World]:
    with world(copy_of(built, tmp_path), PROFILE) as found:
        yield found


def stale(found: Plan) -> list[tuple[str, str | None, str]]:
    return [(one.asset, one.partition, one.reason) for one in found.planned if one.state == "stale"]


def test_of_a_lake_that_is_not_there_everything_is_planned_and_nothing_is_made(tmp_path: Path) -> None:
    with world(tmp_path) as empty:
        empty.write(PARTS)
        found = plan(empty.places)
        assert not (tmp_path / "lake" / "lake.json").exists()
    assert found.parts == {"new": ["a.jsonl", "b.jsonl"], "changed": [], "gone": [], "unreadable": []}
    assert ("records", "a.jsonl", "first time") in stale(found)
    assert {one.asset for one in found.planned if one.state == "waits"} >= {"identities", "papers", "embeddings", "release"}
    assert not found.total.exact


def test_of_a_lake_that_is_up_to_date_nothing_is_planned(settled: World) -> None:
    found = plan(settled.places)
    assert found.planned == []
    assert found.total.texts == 0


def test_a_changed_part_is_planned_with_what_waits_for_it_and_nothing_is_touched(settled: World) -> None:
    versions = delta_versions(settled.lake)
    settled.write({"b.jsonl": PARTS["b.jsonl"][:-1]})
    found = plan(settled.places)
    assert found.parts["changed"] == ["b.jsonl"]
    assert stale(found) == [("dump_manifest", None, "oag_dump changed"), ("records", "b.jsonl", "oag_dump changed")]
    assert ("identities", "waits for dump_manifest") in [(one.asset, one.reason) for one in found.planned]
    assert delta_versions(settled.lake) == versions
    assert {receipt.status for receipt in receipts.read_all(settled.lake, "oag_dump")} == {"done"}
    assert plan(settled.places, to="records").planned == found.planned[1:2]


def test_texts_that_are_not_cached_are_counted_each_once(settled: World) -> None:
    new = [record("n1", "A text that no shard has seen before"), record("n2", "Another text that no shard has seen")]
    settled.write({"c.jsonl": new})
    settled.look()
    for asset, partition in (("dump_manifest", None), ("records", "c.jsonl"), ("identities", None), ("papers", "00"), ("papers", "01")):
        assert settled.run(asset, partition)
    found = plan(settled.places)
    estimates = [one.estimate for one in found.planned if one.asset == "embeddings" and one.state == "stale"]
    assert sum(one.texts for one in estimates if one) == 2
    assert all(one is not None and one.exact and one.tokens > 0 for one in estimates)


def test_a_collection_s_file_is_planned_alone_and_a_bad_one_is_refused(settled: World) -> None:
    settled.define("young", "where: {years: {from: 2001}}")
    assert stale(plan(settled.places)) == [("collections", None, "collection_file changed")]
    assert receipts.read(settled.lake, "collection_file", "young") is None
    settled.define("odd", "where: {years: {from: 1}}")
    with pytest.raises(CollectionError, match=r"odd.yaml: where.years.from"):
        plan(settled.places)


def test_a_part_that_left_is_planned_as_gone(settled: World) -> None:
    (settled.dumps / "b.jsonl").unlink()
    found = plan(settled.places)
    assert found.parts["gone"] == ["b.jsonl"]
    assert stale(found) == [("dump_manifest", None, "oag_dump changed")]


def test_after_a_part_failed_the_plan_and_the_failure_say_what_is_wrong_with_it(settled: World) -> None:
    whole = gzip.compress(b'{"id": "z1", "title": "A title of a record that came in a packed part"}\n' * 400)
    (settled.dumps / "c.jsonl.gz").write_bytes(whole[:-9])
    said: list[str] = []
    outcome = refresh(runner(settled, say=said.append))
    [failure] = outcome.failed
    assert failure.where == "records [c.jsonl.gz]"
    assert "Error" not in failure.why
    assert not any(failure.why in line for line in said), "why is said once, at the end"
    [planned] = [one for one in plan(settled.places).planned if one.asset == "records"]
    assert planned.reason == f"could not be made: {failure.why}"

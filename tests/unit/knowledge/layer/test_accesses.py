"""Every access is logged with where the object came from and who read it; a lake that can't be written to is read all the same."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

import scholarlake
from scholarlake.knowledge.layer import accesses
from scholarlake.knowledge.layer.accesses import Reader
from scholarlake.knowledge.layer.items import Origin, SentenceItem, Standing
from scholarlake.knowledge.layer.view import Request
from scholarlake.lake.home import Lake
from tests.unit.knowledge.layer.battery import COLLECTION, SYNTHESIS, all_tables, fact_id, made, released


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with all_tables():
        yield released(made(tmp_path / "lake"))


def item(name: str, chain: str = "pipeline", **more: object) -> SentenceItem:
    return SentenceItem(object_id=name, papers=("p1",), n=0, text="x", block="abstract", origin=Origin(chain, "s"), **more)  # type: ignore[arg-type]


def test_a_query_is_logged_with_its_objects_their_origin_and_the_reader(lake: Lake) -> None:
    with scholarlake.open(lake.root) as reader:
        view = reader.knowledge(COLLECTION, chain="review-7", stage="search").retrieve("runaway", 2, kinds=["fact"])
    (logged,) = accesses.read(lake)
    assert (logged.release, logged.collection, logged.chain, logged.stage, logged.operation) == (
        "r0001",
        COLLECTION,
        "review-7",
        "search",
        "retrieve",
    )
    assert logged.request == {"query": "runaway", "k": 2, "kinds": ["fact"]}
    assert [one["id"] for one in logged.objects] == list(view.ids)
    assert logged.objects[0] | {"id": ""} == {"id": "", "kind": "fact", "layer": 1, "version": None, "chain": "pipeline", "stage": "facts"}


def test_an_expansion_logs_what_it_brought_and_not_what_was_there(lake: Lake) -> None:
    with scholarlake.open(lake.root) as reader:
        cooling = reader.knowledge(COLLECTION)
        cooling.expand(cooling.get([fact_id(2)]), "evidence")
        cooling.compare(cooling.get([fact_id(2), fact_id(5)]))
        cooling.synthesize(cooling.get([fact_id(2)]))
    assert [(one.operation, [thing["id"] for thing in one.objects]) for one in accesses.read(lake)] == [
        ("get", [fact_id(2)]),
        ("expand", ["p1:1"]),
        ("get", [fact_id(2), fact_id(5)]),
        ("compare", [fact_id(2), fact_id(5)]),
        ("get", [fact_id(2)]),
        ("synthesize", [fact_id(2)]),
    ]


def test_the_summary_counts_accesses_and_distinct_objects_by_layer_and_origin(lake: Lake) -> None:
    with scholarlake.open(lake.root) as reader:
        first, second = (reader.knowledge(COLLECTION, chain=name, stage="search") for name in ("first", "second"))
        first.get([SYNTHESIS, fact_id(1), "p1:0"])
        first.get([SYNTHESIS])
        second.get([SYNTHESIS])
    found = accesses.summary(lake)
    assert (found["queries"], found["accesses"], found["distinct"]) == (3, 5, 4)
    assert found["by_layer"] == {"L1": 1, "L3": 3, "sentences": 1}
    assert found["by_operation"] == {"get": 3}
    assert found["by_stage"] == [
        {"chain": "first", "stage": "search", "queries": 2},
        {"chain": "second", "stage": "search", "queries": 1},
    ]
    assert found["by_chain"] == [
        {"chain": "first", "origin": "pipeline", "accesses": 4, "distinct": 3, "syntheses_share": 0.5},
        {"chain": "second", "origin": "pipeline", "accesses": 1, "distinct": 1, "syntheses_share": 1.0},
    ]
    assert accesses.summary(lake, chain="second")["accesses"] == 1
    assert accesses.summary(lake, collection="heating")["queries"] == 0


def test_accesses_to_what_an_earlier_chain_made_are_told_apart(lake: Lake) -> None:
    request = Request.of("get", {})
    accesses.log(lake, "r0001", COLLECTION, Reader("follow-up", "review"), request, [item("a", "first"), item("a", "first"), item("b")])
    assert accesses.summary(lake)["by_chain"] == [
        {"chain": "follow-up", "origin": "first", "accesses": 2, "distinct": 1, "syntheses_share": 0.0},
        {"chain": "follow-up", "origin": "pipeline", "accesses": 1, "distinct": 1, "syntheses_share": 0.0},
    ]


def test_lines_of_many_writers_stay_whole(lake: Lake) -> None:
    many = [item(f"p1:{n}", standing=Standing("a" * 200)) for n in range(200)]
    threads = [
        threading.Thread(target=accesses.log, args=(lake, "r0001", COLLECTION, Reader(f"chain-{n}"), Request.of("get", {}), many))
        for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = accesses.summary(lake)
    assert (found["queries"], found["accesses"]) == (12, 2_400)


def test_half_a_line_that_a_killed_process_left_costs_only_itself(lake: Lake) -> None:
    accesses.log(lake, "r0001", COLLECTION, Reader("one"), Request.of("get", {}), [item("a")])
    (path,) = lake.accesses.glob("*.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    accesses.log(lake, "r0001", COLLECTION, Reader("two"), Request.of("get", {}), [item("b")])
    assert [one.chain for one in accesses.read(lake)] == ["one", "two"]
    assert all(orjson.loads(line) for line in path.read_bytes().splitlines() if line.endswith(b"}") and line.startswith(b'{"at"'))


def test_a_lake_that_cannot_be_written_to_is_read_and_said_so_once(lake: Lake, caplog: pytest.LogCaptureFixture) -> None:
    lake.accesses.write_bytes(b"")  # no folder can be made there
    with caplog.at_level(logging.WARNING), scholarlake.open(lake.root) as reader:
        cooling = reader.knowledge(COLLECTION)
        assert cooling.get([fact_id(1)]).ids == (fact_id(1),)
        cooling.get([fact_id(2)])
    assert [record.getMessage() for record in caplog.records] == [
        f"accesses to {lake.root} can't be logged (File exists); it is read all the same"
    ]
    assert accesses.summary(lake)["queries"] == 0


def test_an_unread_lake_has_an_empty_summary(lake: Lake) -> None:
    assert accesses.summary(lake) == {
        "queries": 0,
        "accesses": 0,
        "distinct": 0,
        "by_layer": {},
        "by_operation": {},
        "by_stage": [],
        "by_chain": [],
    }

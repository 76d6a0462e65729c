"""What becomes of papers that were: told as merged or removed, led to where they went, and back when they come back. TRAPS 14."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from scholarlake.corpus import identity
from scholarlake.corpus.identity import build_identities
from scholarlake.corpus.invariants import tombstones_are_of_papers_that_are_gone
from scholarlake.lake import delta
from scholarlake.lake.files import write_json
from scholarlake.lake.home import Lake
from tests.unit.corpus.making import RUN, lake_of, put, record, rows

SPIKES = "Spike trains as event sequences"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(tmp_path / "lake", [])


def decide(lake: Lake, *records: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
    """Make these the dump; what the tombstones then say."""
    put(lake, records)
    build_identities(lake, RUN)
    assert tombstones_are_of_papers_that_are_gone(lake).passed
    return stones(lake)


def stones(lake: Lake) -> dict[str, tuple[str, str | None]]:
    found = lake.scan("tombstones").select("paper_id", "reason", "into").collect()
    return {paper: (reason, into) for paper, reason, into in found.iter_rows()}


def papers(lake: Lake) -> set[str]:
    return set(lake.scan("identities").collect()["paper_id"])


def test_a_lake_without_a_past_has_no_tombstones_and_not_even_the_table(lake: Lake) -> None:
    assert decide(lake, record("a"), record("b")) == {}
    assert not delta.exists(lake, "tombstones")


def test_a_paper_whose_record_left_is_removed(lake: Lake) -> None:
    decide(lake, record("a"), record("b"))
    assert decide(lake, record("b")) == {"a": ("removed", None)}


def test_a_paper_whose_record_joined_another_is_merged_into_it_and_on_into_the_next(lake: Lake) -> None:
    decide(lake, record("p2", doi="10.1/x"), record("p3", doi="10.1/y"))
    # p1 has the DOI of p2: the smaller id names both.
    assert decide(lake, record("p1", doi="10.1/x"), record("p2", doi="10.1/x"), record("p3", doi="10.1/y")) == {"p2": ("merged", "p1")}
    joined = [record(name, doi="10.1/y") for name in ("p0", "p1", "p2", "p3")]
    assert decide(lake, *joined) == {"p1": ("merged", "p0"), "p2": ("merged", "p0"), "p3": ("merged", "p0")}


def test_a_removed_paper_leads_to_the_one_that_has_most_of_its_other_records(lake: Lake) -> None:
    decide(lake, *(record(name, doi="10.1/x") for name in ("a", "b", "c", "d")))
    left = decide(lake, record("b", doi="10.1/other"), record("c", doi="10.1/x"), record("d", doi="10.1/x"))
    assert left == {"a": ("removed", "c")}
    assert papers(lake) == {"b", "c"}


def test_a_merged_paper_whose_record_leaves_too_is_removed_and_still_leads_on(lake: Lake) -> None:
    decide(lake, record("p2", doi="10.1/x"), record("p9"))
    decide(lake, record("p1", doi="10.1/x"), record("p2", doi="10.1/x"), record("p9"))
    assert decide(lake, record("p1", doi="10.1/x"), record("p9")) == {"p2": ("removed", "p1")}
    # What it led to goes as well: to where that one leads, then nowhere.
    again = decide(lake, record("p0", doi="10.1/x"), record("p1", doi="10.1/x"), record("p9"))
    assert again == {"p1": ("merged", "p0"), "p2": ("removed", "p0")}
    assert decide(lake, record("p9")) == dict.fromkeys(("p0", "p1", "p2"), ("removed", None))


def test_what_led_to_a_paper_that_was_removed_leads_to_its_heir(lake: Lake) -> None:
    decide(lake, record("b", doi="10.1/x"), record("c"))
    decide(lake, *(record(name, doi="10.1/x") for name in ("a", "b", "z")), record("c"))
    decide(lake, *(record(name, doi="10.1/x") for name in ("a", "z")), record("c"))
    assert stones(lake) == {"b": ("removed", "a")}
    assert decide(lake, record("z", doi="10.1/x"), record("c")) == {"a": ("removed", "z"), "b": ("removed", "z")}


def test_a_paper_that_comes_back_leaves_the_tombstones(lake: Lake) -> None:
    first = [record("a"), record("b")]
    decide(lake, *first)
    identities = rows(lake, "identities")
    decide(lake, record("b"))
    assert decide(lake, *first) == {}
    assert rows(lake, "identities") == identities


def test_deciding_the_same_again_writes_no_tombstone_anew(lake: Lake) -> None:
    decide(lake, record("a"), record("b"))
    decide(lake, record("b"))
    before, version = rows(lake, "tombstones"), delta.version(lake, "tombstones")
    decide(lake, record("b"))
    decide(lake, record("b"), record("c"))
    assert (rows(lake, "tombstones"), delta.version(lake, "tombstones")) == (before, version)


def test_a_tombstone_names_the_newest_release_at_that_time(lake: Lake) -> None:
    decide(lake, record("a"), record("b"), record("c"))
    decide(lake, record("b"), record("c"))
    for name in ("r9999", "r10000"):
        write_json(lake.releases / f"{name}.json", {})
    decide(lake, record("c"))
    assert dict(lake.scan("tombstones").select("paper_id", "last_release").collect().iter_rows()) == {"a": None, "b": "r10000"}


def test_a_run_killed_between_tombstones_and_identities_loses_and_repeats_nothing(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    decide(lake, record("a"), record("b"), record("c"))
    put(lake, [record("b"), record("c")])
    with monkeypatch.context() as killed:
        killed.setattr(identity, "ShardWriter", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            build_identities(lake, RUN)
    assert papers(lake) == {"a", "b", "c"}
    once = rows(lake, "tombstones")
    write_json(lake.releases / "r0001.json", {})
    assert decide(lake, record("b"), record("c")) == {"a": ("removed", None)}
    assert rows(lake, "tombstones") == once, "it says since when it was first found gone"


def test_a_run_killed_before_a_paper_came_back_does_not_bury_it(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    decide(lake, record("a"), record("b"))
    put(lake, [record("b")])
    with monkeypatch.context() as killed:
        killed.setattr(identity, "ShardWriter", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            build_identities(lake, RUN)
    assert stones(lake) == {"a": ("removed", None)}
    assert decide(lake, record("a"), record("b")) == {}


@pytest.mark.parametrize("fault", [{"into": "nobody", "reason": "merged"}, {"paper_id": "c"}])
def test_a_tombstone_that_leads_nowhere_or_is_of_a_paper_that_is_there_is_found_out(lake: Lake, fault: dict[str, str]) -> None:
    decide(lake, record("a"), record("c"))
    decide(lake, record("c"))
    wrong = lake.scan("tombstones").collect().with_columns(**{name: pl.lit(value) for name, value in fault.items()})
    delta.write_partition(lake, "tombstones", lake.shard_of("a"), wrong, RUN)
    assert tombstones_are_of_papers_that_are_gone(lake).failed == 1

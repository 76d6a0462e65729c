"""Backfills from the command line, and two things that are done to one lake at once."""

from __future__ import annotations

import fcntl
import signal
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from pipelines.backfill import backfill, choose
from pipelines.definitions import definitions
from pipelines.refresh import refresh
from pipelines.runner import Failed, Listener, Ran, Runner, Step
from scholarlake.errors import ScholarLakeError
from scholarlake.lake import locks, receipts
from scholarlake.lake.home import Lake
from scholarlake.lake.locks import Busy
from tests.automation.world import PARTS, PROFILE, World, copy_of, world
from tests.e2e.building import contents, delta_versions


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


def runner(of: World, **hooks: object) -> Runner:
    places = of.places
    return Runner(definitions(places).get_repository_def(), of.instance, places.resource(), Listener(**hooks))  # type: ignore[arg-type]


def test_whoever_stops_a_build_stops_all_of_it_and_the_next_goes_on(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        made.write(PARTS)
        done: list[str] = []

        def interrupt(*_: object) -> None:
            if done[-1:] == ["identities"]:
                done.append("stopped")
                signal.raise_signal(signal.SIGINT)  # in the middle of a step, where Dagster would make a failure of it

        stopped = runner(made, during=interrupt, after=lambda step, outcome: done.append(step.stale.asset))
        with pytest.raises(KeyboardInterrupt):
            refresh(stopped)
        assert "release_diff" not in done
        outcome = refresh(runner(made))
        assert not outcome.failed
        assert outcome.release == "r0001"
        assert "identities" not in {ran.asset for ran in outcome.ran}, "what was finished is not made again"


def test_ranges_keys_and_patterns_name_partitions(tmp_path: Path) -> None:
    lake = Lake.create(tmp_path / "lake", 12)
    assert choose(lake, "papers", ["03-05", "01", "1*"]) == ["03", "04", "05", "01", "10", "11"]
    assert choose(lake, "papers", []) == lake.shard_keys
    with pytest.raises(ScholarLakeError, match="no partition '77'; there are: 00, 01"):
        choose(lake, "papers", ["77"])
    for wrong, said in {
        "03-99": "no partition '99', where the range 03-99 ends",
        "x-03": "no partition 'x', where the range x-03 begins",
        "07-03": "no partitions from 07 to 03: the range runs backwards",
    }.items():
        with pytest.raises(ScholarLakeError, match=said):
            choose(lake, "papers", [wrong])
    with pytest.raises(ScholarLakeError, match=r"no asset 'papres'; do you mean papers\?"):
        choose(lake, "papres", [])
    with pytest.raises(ScholarLakeError, match="has no partitions"):
        choose(lake, "degrees", ["00"])
    with pytest.raises(ScholarLakeError, match="observed, not made"):
        choose(lake, "oag_dump", [])
    with pytest.raises(ScholarLakeError, match="no asset 'nothing'"):
        choose(lake, "nothing", [])


def test_a_backfill_makes_what_was_chosen_and_changes_nothing_where_nothing_changed(settled: World) -> None:
    before, versions = contents(settled.lake), delta_versions(settled.lake)
    outcome = backfill(runner(settled), "papers", ["01"])
    assert [(ran.asset, ran.partition, ran.reason) for ran in outcome.ran] == [("papers", "01", "backfill")]
    assert contents(settled.lake) == before
    assert delta_versions(settled.lake) == versions
    assert settled.stale() == []


def test_an_interrupted_backfill_goes_on_where_it_stopped(settled: World) -> None:
    def interrupted(step: Step) -> None:
        if step.stale.partition == "01":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backfill(runner(settled, before=interrupted), "papers", [])
    outcome = backfill(runner(settled), "papers", [])
    assert [ran.partition for ran in outcome.ran] == ["01"]
    assert [ran.partition for ran in backfill(runner(settled), "papers", []).ran] == ["00", "01"], "it was ended: the next is another"


def test_a_backfill_of_another_choice_or_anew_starts_over(settled: World) -> None:
    def interrupted(step: Step) -> None:
        if step.stale.partition == "01":
            raise KeyboardInterrupt

    for again, made in ((["00"], ["00"]), ([], ["00", "01"])):
        with pytest.raises(KeyboardInterrupt):
            backfill(runner(settled, before=interrupted), "papers", [])
        assert [ran.partition for ran in backfill(runner(settled), "papers", again, anew=not again).ran] == made


def test_one_failing_partition_of_a_backfill_fails_alone_and_is_what_is_left(settled: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from assets import corpus

    build = corpus.build_papers

    def breaks_on_the_first(lake: Lake, shard: str, *rest: object, **named: object) -> object:
        if shard == "00":
            raise OSError("the disk went away")
        return build(lake, shard, *rest, **named)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(corpus, "build_papers", breaks_on_the_first)
        outcome = backfill(runner(settled), "papers", [])
    assert [failure.why for failure in outcome.failed] == ["OSError: the disk went away"]
    assert [ran.partition for ran in outcome.ran] == ["01"]
    assert [ran.partition for ran in backfill(runner(settled), "papers", []).ran] == ["00"]


def test_a_backfill_below_what_is_stale_is_refused(settled: World) -> None:
    known = receipts.read(settled.lake, "papers", "00")
    assert known is not None
    receipts.begin(settled.lake, "papers", "00", code_version=known.code_version, inputs=known.inputs, run_id="killed")
    with pytest.raises(ScholarLakeError, match=r"embeddings \[00\] waits for papers \[00\]; run `scholarlake build --to embeddings`"):
        backfill(runner(settled), "embeddings", [])


def test_two_refreshes_at_once_are_one_and_a_clear_word(settled: World) -> None:
    with locks.take(settled.lake, "refresh"), pytest.raises(Busy, match=r"a refresh of .* is under way already \(process \d+\)"):
        refresh(runner(settled))
    assert not refresh(runner(settled)).failed, "the lock went with its holder"


def test_a_partition_is_held_while_it_is_made(settled: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from assets import corpus

    build, held = corpus.build_papers, []

    def looked_at(*given: object, **named: object) -> object:
        for path in (settled.lake.root / "locks").glob("make-papers-*.lock"):
            with path.open() as handle:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    held.append(path)
        return build(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(corpus, "build_papers", looked_at)
    assert settled.run("papers", "00")
    assert settled.run("papers", "01")
    assert len(set(held)) == 2, "each partition by a lock of its own"


def test_every_run_says_why_it_ran(settled: World) -> None:
    settled.write({"b.jsonl": PARTS["b.jsonl"][:-1]})
    outcome = refresh(runner(settled))
    reasons = {}
    for ran in outcome.ran:
        assert isinstance(ran, Ran)
        run = settled.instance.get_run_by_id(ran.run_id)
        assert run is not None
        assert run.status is dg.DagsterRunStatus.SUCCESS
        reasons[ran.asset] = run.tags["scholarlake/reason"]
    assert reasons["records"] == "oag_dump changed"
    assert reasons["papers"] == "shard_inputs changed"
    assert not any(isinstance(made, Failed) for made in outcome.failed)

"""The main job: look at the dump folder, make what is stale in the order of the graph, end with a release.

Every partition is a run of its own, in this process: a run in a process of its own costs seconds. What ran, and why,
is in the run's tags.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import dagster as dg

from assets.runs import close_dead_runs
from assets.sources import observe_dump
from assets.stage import WATCHER
from resources.lake import LakeResource
from scholarlake.lake import receipts, releases
from scholarlake.lake.home import Lake
from scholarlake.lake.judgement import Judgement, Present, Staleness
from scholarlake.lake.stages import STAGES, stage
from scholarlake.sources.watch import AT_ONCE, Attention

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass(frozen=True)
class Ran:
    """A partition that was made: why, and for how many seconds."""

    asset: str
    partition: str | None
    reason: str
    seconds: float
    rows: int
    run_id: str


@dataclass(frozen=True)
class Failed:
    """A partition that could not be made, or whose blocking check failed."""

    where: str
    why: str
    run_id: str


@dataclass
class Refresh:
    """What a refresh did. waiting: how many partitions could not be looked at, because something above them failed."""

    ran: list[Ran] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    waiting: int = 0
    release: str | None = None
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Step:
    """What is about to run: the n-th of the partitions that are stale in this asset."""

    stale: Staleness
    number: int
    of: int


def refresh(
    repository: dg.RepositoryDefinition,
    instance: dg.DagsterInstance,
    resource: LakeResource,
    *,
    to: str = "release_diff",
    attention: Attention = AT_ONCE,
    say: Callable[[str], object] = lambda _: None,
    before: Callable[[Step], object] = lambda _: None,
    during: Callable[[int, int | None, str], object] | None = None,
    after: Callable[[Step, Ran | Failed], object] = lambda _step, _outcome: None,
) -> Refresh:
    """Make what is stale, up to an asset. A partition that fails fails alone: all that is not made from it still runs.
    during is told how far a partition has come: done, total where it is known, of what.

    Raises ScholarLakeError, before anything is changed, where the dump folder, the profile or the lake can't be used.
    """
    wanted = needed_for(to)
    lake, settings = resource.open(), resource.settings()
    started = time.monotonic()
    close_dead_runs(instance)
    WATCHER.set(during)
    seen = observe_dump(instance, resource, attention)
    say(str(seen))
    outcome = Refresh()
    for name in wanted:
        if STAGES[name].observed:
            continue
        judgement = Judgement(Present(lake), settings)
        todo = list(judgement.stale(name))
        outcome.waiting += sum(1 for _ in judgement.waiting(name))
        for number, item in enumerate(todo, 1):
            step = Step(item, number, len(todo))
            before(step)
            result = _run(repository, instance, resource, lake, item)
            if isinstance(result, Failed):
                outcome.failed.append(result)
            else:
                outcome.ran.append(result)
            after(step, result)
            done = f"failed  {result.where}: {result.why}" if isinstance(result, Failed) else f"made    {item.where}"
            say(f"{done}  ({item.reason})")
    known = releases.names(lake)
    outcome.release = known[-1] if known else None
    outcome.seconds = time.monotonic() - started
    return outcome


def needed_for(name: str) -> list[str]:
    """An asset and everything above it, in the order of the graph."""
    wanted, fringe = set(), [stage(name).name]
    while fringe:
        current = fringe.pop()
        if current not in wanted:
            wanted.add(current)
            fringe.extend(STAGES[current].deps)
    return [known for known in STAGES if known in wanted]


def _run(
    repository: dg.RepositoryDefinition, instance: dg.DagsterInstance, resource: LakeResource, lake: Lake, item: Staleness
) -> Ran | Failed:
    job = repository.get_job(f"make_{item.asset}")
    started = time.monotonic()
    result = job.execute_in_process(
        instance=instance,
        partition_key=item.partition,
        resources={"lake": resource},
        run_config=_QUIET,
        tags={"scholarlake/reason": item.reason},
        raise_on_error=False,
    )
    if not result.success:
        return Failed(item.where, _why(lake, item, result), result.run_id)
    receipt = receipts.read(lake, item.asset, item.partition)
    return Ran(item.asset, item.partition, item.reason, time.monotonic() - started, receipt.rows if receipt else 0, result.run_id)


def _why(lake: Lake, item: Staleness, result: dg.ExecuteInProcessResult) -> str:
    """The reason in one line: the check that failed, else the error at the bottom of the chain."""
    failing = [check for check in receipts.checks(lake, item.asset, item.partition).values() if check.blocking and not check.passed]
    if failing:
        return "; ".join(f"check {check.name} failed: {check.summary}" for check in failing)
    for event in result.all_events:
        if event.is_step_failure and event.step_failure_data.error:
            error = event.step_failure_data.error
            while error.cause is not None:
                error = error.cause
            return " ".join(error.message.split())
    return "the run failed; see it in the Dagster UI"

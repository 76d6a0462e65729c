"""How one partition of one asset is made as a Dagster run in this process, and what came of it in one line.

A run in a process of its own costs seconds. What does not belong here: which partitions are made, and in what order
(`refresh.py`, `backfill.py`).
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg
from dagster._core.errors import DagsterExecutionInterruptedError

from assets.runs import BUILD_TAG, REASON
from assets.stage import WATCHER
from resources.lake import LakeResource
from scholarlake.lake import receipts
from scholarlake.lake.judgement import Staleness

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


@dataclass(frozen=True)
class Step:
    """What is about to run: the n-th of the partitions of this asset that are to be made."""

    stale: Staleness
    number: int
    of: int


@dataclass(frozen=True)
class Listener:
    """Who wants to know how far things are. during is told how far a partition has come: done, total where it is known, of what."""

    say: Callable[[str], object] = lambda _: None
    before: Callable[[Step], object] = lambda _: None
    during: Callable[[int, int | None, str], object] | None = None
    after: Callable[[Step, Ran | Failed], object] = lambda _step, _outcome: None


@dataclass(frozen=True)
class Runner:
    """Makes partitions, one run each. build: by this all of them are known as one piece of work."""

    repository: dg.RepositoryDefinition
    instance: dg.DagsterInstance
    resource: LakeResource
    listener: Listener = field(default_factory=Listener)
    tags: Mapping[str, str] = field(default_factory=dict)
    build: str = field(default_factory=lambda: uuid.uuid4().hex)

    def make_all(self, items: Sequence[Staleness]) -> list[Ran | Failed]:
        """Make partitions of one asset one after the other: one that fails fails alone."""
        WATCHER.set(self.listener.during)
        outcomes = []
        for number, item in enumerate(items, 1):
            step = Step(item, number, len(items))
            self.listener.before(step)
            outcome = self.make(item)
            self.listener.after(step, outcome)
            # Why it failed is said once, at the end, where it is not lost among the lines.
            said = f"failed  {outcome.where}" if isinstance(outcome, Failed) else f"made    {item.where}"
            self.listener.say(f"{said}  ({item.reason})")
            outcomes.append(outcome)
        return outcomes

    def make(self, item: Staleness) -> Ran | Failed:
        """Make one partition and run its checks."""
        started = time.monotonic()
        result = self.repository.get_job(f"make_{item.asset}").execute_in_process(
            instance=self.instance,
            partition_key=item.partition,
            resources={"lake": self.resource},
            run_config=_QUIET,
            tags={REASON: item.reason, BUILD_TAG: self.build, **self.tags},
            raise_on_error=False,
        )
        if not result.success:
            if _was_interrupted(result):  # whoever stops a build means all of it, not the partition that it was at
                raise KeyboardInterrupt
            return Failed(item.where, self._why(item, result), result.run_id)
        receipt = receipts.read(self.resource.open(), item.asset, item.partition)
        rows = receipt.rows if receipt else 0
        return Ran(item.asset, item.partition, item.reason, time.monotonic() - started, rows, result.run_id)

    def _why(self, item: Staleness, result: dg.ExecuteInProcessResult) -> str:
        """The reason in one line: the check that failed, else the error that the asset raised."""
        outcomes = receipts.checks(self.resource.open(), item.asset, item.partition)
        failing = [check for check in outcomes.values() if check.blocking and not check.passed]
        error: Any = next((event.step_failure_data.error for event in result.all_events if event.is_step_failure), None)
        error = (error and error.cause) or error  # Dagster's own is wrapped around it
        if error is not None and not (failing and "failed" in error.message and "check" in error.message):
            return " ".join(_message(error).split())
        if failing:
            return "; ".join(f"check {check.name} failed: {check.summary}" for check in failing)
        return "the run failed; see it in the Dagster UI"


def _message(error: Any) -> str:
    """What an error says. The name of its class is of use only where it is not one of ours, which say all in words."""
    named, _, said = error.message.partition(": ")
    if named.rpartition(".")[2] != error.cls_name or not said.strip():
        return str(error.message)
    return str(said) if named.startswith("scholarlake.") else f"{error.cls_name}: {said}"


def _was_interrupted(result: dg.ExecuteInProcessResult) -> bool:
    """Whether somebody stopped the run: Dagster makes an error of its own of SIGINT and SIGTERM, and goes on."""
    errors = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
    return any(
        one.cls_name == DagsterExecutionInterruptedError.__name__ for error in errors if error for one in (error, error.cause) if one
    )

"""The main job: look at the sources, make what is stale in the order of the graph, end with a release.

What ran, and why, is in the runs' tags.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import dagster as dg

from assets.documents import observe_documents
from assets.runs import close_dead_runs
from assets.selection import observe_collections
from assets.sources import observe_dump
from pipelines.runner import Failed, Ran, Runner
from resources.lake import LakeResource
from scholarlake.lake import locks, releases
from scholarlake.lake.judgement import Judgement, Present
from scholarlake.lake.stages import STAGES, stage
from scholarlake.sources.watch import AT_ONCE, Attention


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


def refresh(runner: Runner, *, to: str = "release_diff", attention: Attention = AT_ONCE) -> Refresh:
    """Make what is stale, up to an asset. A partition that fails fails alone: all that is not made from it still runs.

    Raises ScholarLakeError, before anything is changed, where the dump folder, the profile, a collection's file or the lake can't
    be used, or another refresh of the lake is under way.
    """
    wanted = needed_for(to)
    lake, settings = runner.resource.open(), runner.resource.settings()
    started = time.monotonic()
    outcome = Refresh()
    with locks.take(lake, "refresh"):
        close_dead_runs(runner.instance)
        for said in observe_sources(runner.instance, runner.resource, attention):
            runner.listener.say(said)
        for name in wanted:
            judgement = Judgement(Present(lake), settings)
            outcome.waiting += sum(1 for _ in judgement.waiting(name))
            for made in runner.make_all(list(judgement.stale(name))):
                if isinstance(made, Failed):
                    outcome.failed.append(made)
                else:
                    outcome.ran.append(made)
    outcome.release = next(reversed(releases.names(lake)), None)
    outcome.seconds = time.monotonic() - started
    return outcome


def observe_sources(instance: dg.DagsterInstance, resource: LakeResource, attention: Attention = AT_ONCE) -> Iterator[str]:
    """Look at all that comes from outside and report what moved. Says what was seen.

    Raises ScholarLakeError where a source can't be read; what was looked at before it is reported.
    """
    yield str(observe_dump(instance, resource, attention))
    yield str(observe_documents(instance, resource, attention))
    observe_collections(instance, resource)


def needed_for(name: str) -> list[str]:
    """An asset and everything above it, in the order of the graph."""
    wanted, fringe = set(), [stage(name).name]
    while fringe:
        current = fringe.pop()
        if current not in wanted:
            wanted.add(current)
            fringe.extend(STAGES[current].deps)
    return [known for known in STAGES if known in wanted]

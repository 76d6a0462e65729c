"""The calls of a trajectory, done again: whether the tools still give what the agent was shown.

What does not belong here: asking the model again, whose answers are kept (`models.ledger`): the same question with the same seed is
the same run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scholarlake.agent import observation
from scholarlake.agent.trajectory import ReleaseRead, Trajectory
from scholarlake.errors import ReleaseError
from scholarlake.toolbox.dispatch import Toolbox


@dataclass(frozen=True)
class Repeated:
    """A call that was done again. now: what the model would be shown today."""

    round: int
    tool_name: str
    recorded: str
    now: str

    @property
    def is_same(self) -> bool:
        return self.recorded == self.now


def replay(trajectory: Trajectory, toolbox: Toolbox) -> Iterator[Repeated]:
    """Every call of a run again, in order. Raises ReleaseError, before any, where it was made on another release."""
    here = ReleaseRead.of(toolbox.reader.release)
    if here != trajectory.release:
        other = "another lake's" if here.name == trajectory.release.name else "this is"
        raise ReleaseError(
            f"the trajectory was made on release {trajectory.release.name} ({trajectory.release.digest[:12]}), {other} {here.name} "
            f"({here.digest[:12]}); name that one with --lake and --release"
        )
    return _again(trajectory, toolbox)


def _again(trajectory: Trajectory, toolbox: Toolbox) -> Iterator[Repeated]:
    for one in trajectory.rounds:
        if one.call is not None and one.observation is not None:
            now = observation.shown(toolbox.call(one.call), trajectory.settings.longest_observation)
            yield Repeated(one.number, str(one.call["tool_name"]), one.observation, now)

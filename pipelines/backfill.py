"""Making chosen partitions of one asset again, whether or not they are stale, and going on where that was interrupted.

    backfills/ASSET.json    of the one under way: which partitions were chosen, and which are made

A backfill that died goes on where it stopped when it is asked for again. What does not belong here: the Dagster UI's own
backfills, which need nothing of this.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from assets.runs import close_dead_runs
from pipelines.refresh import Refresh
from pipelines.runner import Failed, Runner
from scholarlake.errors import ScholarLakeError
from scholarlake.lake import locks
from scholarlake.lake.files import read_json, write_json
from scholarlake.lake.home import Lake
from scholarlake.lake.judgement import Judgement, Present, Staleness, State
from scholarlake.lake.stages import stage


@dataclass(frozen=True)
class Chosen:
    """What a backfill is to make, and what of it a run before this one made already."""

    asset: str
    partitions: tuple[str | None, ...]
    made: tuple[str | None, ...] = ()
    since: str = ""

    @property
    def left(self) -> list[str | None]:
        return [partition for partition in self.partitions if partition not in self.made]


def choose(lake: Lake, asset: str, wanted: Sequence[str]) -> list[str | None]:
    """The partitions that ranges (03-07), keys and patterns (*.gz) name; all where none is given.

    Raises ScholarLakeError where one names no partition.
    """
    known = Present(lake).partitions(stage(asset).name)
    if stage(asset).observed:
        raise ScholarLakeError(f"{asset} is observed, not made; a look at the sources reports it (`scholarlake build`)")
    if not wanted:
        return known
    if known == [None]:
        raise ScholarLakeError(f"{asset} has no partitions; leave them out")
    keys = [str(key) for key in known]
    chosen: list[str | None] = []
    for name in wanted:
        found = _matching(name, keys)
        if not found:
            raise ScholarLakeError(f"{asset} has {_lacking(name, keys)}; there are: {', '.join(keys[:20])}{' …' if len(keys) > 20 else ''}")
        chosen += [key for key in found if key not in chosen]
    return chosen


def backfill(runner: Runner, asset: str, wanted: Sequence[str], *, anew: bool = False) -> Refresh:
    """Make the chosen partitions of an asset. Where the same was begun and not ended, only what is left of it, unless anew.

    Raises ScholarLakeError, before anything is made, where a partition's inputs are not fresh.
    """
    lake, settings = runner.resource.open(), runner.resource.settings()
    partitions = tuple(choose(lake, asset, wanted))
    started = time.monotonic()
    outcome = Refresh()
    with locks.take(lake, f"backfill of {asset}"):
        close_dead_runs(runner.instance)
        begun = None if anew else _read(lake, asset)
        same = begun is not None and begun.partitions == partitions
        chosen = begun if begun is not None and same else Chosen(asset, partitions, since=datetime.now(UTC).isoformat(timespec="seconds"))
        if chosen.made:
            runner.listener.say(f"goes on with the backfill of {chosen.since}: {len(chosen.made)} of {len(partitions)} partitions are made")
        judgement = Judgement(Present(lake), settings)
        for partition in chosen.left:
            verdict = judgement.verdict(asset, partition)
            if verdict.state is State.WAITS:
                raise ScholarLakeError(f"{Staleness(asset, partition, '').where} {verdict.reason}; run `scholarlake build --to {asset}`")
        made = list(chosen.made)
        _write(lake, chosen)
        for partition in chosen.left:
            [result] = runner.make_all([Staleness(asset, partition, "backfill")])
            if isinstance(result, Failed):
                outcome.failed.append(result)
                continue
            outcome.ran.append(result)
            made.append(partition)
            _write(lake, Chosen(asset, partitions, tuple(made), chosen.since))
        if not outcome.failed:
            _path(lake, asset).unlink(missing_ok=True)
    outcome.seconds = time.monotonic() - started
    return outcome


def _matching(name: str, keys: Sequence[str]) -> list[str]:
    first, dash, last = name.partition("-")
    if name in keys:
        return [name]
    if dash and first in keys and last in keys:
        return list(keys[keys.index(first) : keys.index(last) + 1])
    return fnmatch.filter(keys, name)


def _lacking(name: str, keys: Sequence[str]) -> str:
    """What a name names that there is not: of a range, the end that is wrong."""
    first, dash, last = name.partition("-")
    if dash and first in keys and last in keys:
        return f"no partitions from {first} to {last}: the range runs backwards"
    if dash and first in keys:
        return f"no partition {last!r}, where the range {name} ends"
    if dash and last in keys:
        return f"no partition {first!r}, where the range {name} begins"
    return f"no partition {name!r}"


def _path(lake: Lake, asset: str) -> Path:
    return lake.root / "backfills" / f"{asset}.json"


def _read(lake: Lake, asset: str) -> Chosen | None:
    path = _path(lake, asset)
    if not path.is_file():
        return None
    known = read_json(path)
    return Chosen(asset, tuple(known["partitions"]), tuple(known["made"]), known["since"])


def _write(lake: Lake, chosen: Chosen) -> None:
    known = {"partitions": list(chosen.partitions), "made": list(chosen.made), "since": chosen.since}
    write_json(_path(lake, chosen.asset), known)

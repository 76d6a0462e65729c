"""What must be made, and why: every partition's inputs, code and settings now, against those that its receipt says it was made from.

A judgement is of one moment. It can also be of a moment that has not come: `seen` lays over the receipts what a look at the
sources found, so that a plan can be told before anything is written. What does not belong here: the graph itself (`stages`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from scholarlake.errors import IndexDamaged, LakeError
from scholarlake.lake import receipts
from scholarlake.lake.artifacts import open_artifact
from scholarlake.lake.delta import combined
from scholarlake.lake.home import Lake
from scholarlake.lake.receipts import CheckOutcome, Receipt
from scholarlake.lake.stages import BATCH, OBSERVED_BY, SHARD, STAGES, Settings, Stage

Key = tuple[str, str | None]  # asset, partition


class NotReady(LakeError):
    """A stage was asked for before what it depends on was made."""


def named(asset: str, partition: str | None) -> str:
    """An asset, or one partition of it, as people are told of it."""
    return asset if partition is None else f"{asset} [{partition}]"


@dataclass
class Present:
    """What the lake holds, by its receipts and its checks' outcomes, each read once.

    seen: observed asset → partition → data version, in place of what the receipts say of that asset.
    """

    lake: Lake
    seen: Mapping[str, Mapping[str | None, str]] = field(default_factory=dict)
    _receipts: dict[str, dict[str | None, Receipt]] = field(default_factory=dict, init=False, repr=False)
    _checks: dict[Key, dict[str, CheckOutcome]] = field(default_factory=dict, init=False, repr=False)

    def receipt(self, name: str, partition: str | None) -> Receipt | None:
        return self._of(name).get(partition)

    def partitions(self, name: str) -> list[str | None]:
        """The partitions an asset has now: the lake's shards or batches, those of the source that its kind comes from, or [None]."""
        kind = STAGES[name].partitions
        if kind is None:
            return [None]
        fixed = {SHARD: self.lake.shard_keys, BATCH: self.lake.batch_keys}
        return list(fixed[kind]) if kind in fixed else list(self._of(OBSERVED_BY[kind]))

    def basis(self, name: str, partition: str | None) -> Iterator[tuple[str, list[str | None]]]:
        """Each dependency with the partitions of it that a partition is made from: its own where both are cut alike, else all."""
        for dep in STAGES[name].deps:
            alike = partition is not None and STAGES[dep].partitions == STAGES[name].partitions
            yield dep, [partition] if alike else self.partitions(dep)

    def inputs(self, name: str, partition: str | None) -> dict[str, str]:
        """The data version of everything a partition depends on. Raises NotReady where something was never finished, or a
        blocking check has not passed on it."""
        versions = {}
        for dep, keys in self.basis(name, partition):
            found = {str(key): self._done(dep, key).data_version for key in keys}
            is_one = STAGES[dep].partitions is None or keys == [partition]
            versions[dep] = found[str(keys[0])] if is_one else combined(found)
        return versions

    def unchecked(self, name: str, partition: str | None) -> tuple[str, bool]:
        """Which blocking check has not passed on what is there, and whether it failed: a run may have ended between the making
        and the checking."""
        stage, receipt = STAGES[name], self.receipt(name, partition)
        outcomes = self._outcomes(name, partition) if stage.blocking else {}
        for check in stage.blocking:
            outcome = outcomes.get(check)
            if outcome is None or receipt is None or outcome.data_version != receipt.data_version:
                return f"check {check} has not run: the run that made it ended before", False
            if not outcome.passed:
                return f"check {check} failed", True
        return "", False

    def _done(self, name: str, partition: str | None) -> Receipt:
        receipt = self.receipt(name, partition)
        if receipt is None or not receipt.is_done:
            said = "never been made" if receipt is None else "not been finished"
            raise NotReady(f"{named(name, partition)} has {said}; run `scholarlake build`")
        if why := self.unchecked(name, partition)[0]:
            raise NotReady(f"{named(name, partition)}: {why}; mend it and run `scholarlake build`")
        return receipt

    def _of(self, name: str) -> dict[str | None, Receipt]:
        if name not in self._receipts:
            if name in self.seen:
                found = [_observed(name, key, version) for key, version in sorted(self.seen[name].items(), key=lambda item: item[0] or "")]
            else:
                found = list(receipts.read_all(self.lake, name))
            self._receipts[name] = {receipt.partition: receipt for receipt in found}
        return self._receipts[name]

    def _outcomes(self, name: str, partition: str | None) -> dict[str, CheckOutcome]:
        key = (name, partition)
        if key not in self._checks:
            self._checks[key] = receipts.checks(self.lake, name, partition)
        return self._checks[key]


class State(Enum):
    FRESH = "fresh"  # it is what its inputs, code and settings would make of it now
    STALE = "stale"  # all that it is made from is fresh, it itself is not
    WAITS = "waits"  # something that it is made from is not fresh: only then will be known whether it must be made


@dataclass(frozen=True)
class Verdict:
    """The state of a partition, and why it is not fresh, in words. refused: a check failed on what is there now."""

    state: State
    reason: str = ""
    refused: bool = False


@dataclass(frozen=True)
class Staleness:
    """A partition that must be made, or may have to be, and why."""

    asset: str
    partition: str | None
    reason: str
    refused: bool = False

    @property
    def where(self) -> str:
        return named(self.asset, self.partition)


@dataclass
class Judgement:
    """The state of every partition under some settings, each judged once."""

    present: Present
    settings: Settings
    _verdicts: dict[Key, Verdict] = field(default_factory=dict, init=False, repr=False)

    def verdict(self, name: str, partition: str | None) -> Verdict:
        key = (name, partition)
        if key not in self._verdicts:
            self._verdicts[key] = self._judge(STAGES[name], partition)
        return self._verdicts[key]

    def stale(self, name: str) -> Iterator[Staleness]:
        """The partitions of an asset that can and must be made now."""
        return self._in(State.STALE, name)

    def waiting(self, name: str) -> Iterator[Staleness]:
        """The partitions of an asset that may have to be made, once what is above them is."""
        return self._in(State.WAITS, name)

    def _in(self, state: State, name: str) -> Iterator[Staleness]:
        for partition in self.present.partitions(name):
            verdict = self.verdict(name, partition)
            if verdict.state is state:
                yield Staleness(name, partition, verdict.reason, verdict.refused)

    def _judge(self, stage: Stage, partition: str | None) -> Verdict:
        receipt = self.present.receipt(stage.name, partition)
        if stage.observed:
            seen = receipt is not None and receipt.is_done
            return Verdict(State.FRESH) if seen else Verdict(State.WAITS, f"{named(stage.name, partition)} was never observed")
        for dep, keys in self.present.basis(stage.name, partition):
            for key in keys:
                if self.verdict(dep, key).state is not State.FRESH:
                    return Verdict(State.WAITS, f"waits for {named(dep, key)}")
        inputs = self.present.inputs(stage.name, partition)
        if reason := _outdated(receipt, stage.code_version(self.settings), inputs) or _damaged(self.present.lake, receipt):
            return Verdict(State.STALE, reason)
        reason, refused = self.present.unchecked(stage.name, partition)
        return Verdict(State.STALE, reason, refused) if reason else Verdict(State.FRESH)


def _observed(name: str, partition: str | None, version: str) -> Receipt:
    return Receipt(name, partition, receipts.DONE, STAGES[name].version, {}, data_version=version)


def _outdated(receipt: Receipt | None, code_version: str, inputs: Mapping[str, str]) -> str:
    if receipt is None:
        return "first time"
    if not receipt.is_done:
        return f"could not be made: {receipt.fault}" if receipt.fault else "a run of it ended half way"
    if receipt.code_version != code_version:
        return "its code or settings changed"
    moved = sorted(dep for dep in inputs if receipt.inputs.get(dep) != inputs[dep])
    return f"{', '.join(moved)} changed" if moved else ""


def _damaged(lake: Lake, receipt: Receipt | None) -> str:
    """Whether files of the artifact are gone or cut. Their checksums are looked at when they are opened: here it would take too long."""
    if receipt is None or receipt.artifact is None:
        return ""
    try:
        open_artifact(lake.root / receipt.artifact, verify=False)
    except IndexDamaged:
        return "its files are damaged"
    return ""

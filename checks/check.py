"""How a finding becomes an asset check: the same severity, words, numbers and record for every one.

A stage's file lists its checks as values; `checks_on` makes them one step of Dagster, so that they share what they read and
cost one step's overhead. What does not belong here: what is checked.
"""

# No postponed annotations here: Dagster takes the context and the resource from the annotations of the step, as objects.

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
from dagster import AssetKey

from assets.partitions import partitions_of
from assets.stage import plain
from checks.suites import claims_of, touched, verdict
from resources.lake import LakeResource
from scholarlake.errors import IndexDamaged, ScholarLakeError
from scholarlake.lake import receipts
from scholarlake.lake.artifacts import open_artifact
from scholarlake.lake.expectations import read
from scholarlake.lake.findings import Finding, rows_of
from scholarlake.lake.home import Lake
from scholarlake.lake.locks import at_work
from scholarlake.lake.stages import STAGES, Settings
from scholarlake.profile import Profile

_CELL = 200  # characters of a value shown in the table of failures


@dataclass(frozen=True)
class Subject:
    """What is checked: one partition of an asset (None for the whole), and the receipt of its making, once it is finished."""

    lake: Lake
    profile: Profile
    asset: str
    partition: str | None
    receipt: receipts.Receipt | None

    @property
    def key(self) -> str:
        """The partition's key, for an asset that has partitions."""
        if self.partition is None:
            raise ScholarLakeError(f"{self.asset} is checked by partition; name one")
        return self.partition

    def fact(self, name: str) -> int | None:
        """A count that the asset left in its receipt, None where it left none."""
        value = None if self.receipt is None else self.receipt.facts.get(name)
        return int(value) if isinstance(value, int | float) else None

    def said(self, name: str) -> str | None:
        """A text that the asset left in its receipt, None where it left none."""
        value = None if self.receipt is None else self.receipt.facts.get(name)
        return value if isinstance(value, str) else None

    @property
    def folder(self) -> Path:
        """The folder of the asset's artifact."""
        if self.receipt is None or self.receipt.artifact is None:
            where = self.asset if self.partition is None else f"{self.asset} [{self.partition}]"
            raise ScholarLakeError(f"{where} has no artifact to check; run `scholarlake build`")
        return self.lake.root / self.receipt.artifact


@dataclass(frozen=True)
class Check:
    """A claim about an asset. blocking: nothing below it is made, and no release pins it, where the claim does not hold. table: of which
    it claims something row by row, so that rows that passed need not be looked at again."""

    name: str
    about: str
    find: Callable[[Subject], Finding]
    blocking: bool = True
    table: str | None = None


def contract_check(table: str) -> Check:
    """The suite that is derived from the table's contract."""
    name = f"{table}_contract"

    def find(subject: Subject) -> Finding:
        partitioned = STAGES[subject.asset].partitions is not None
        return verdict(subject.lake, table, subject.partition if partitioned else None, _passed_at(subject, name, table)).finding()

    about = f"Every row of `{table}` fits the contract: columns, types, completeness, key, ranges, values, patterns."
    return Check(name, about, find, table=table)


def row_check(name: str, about: str, table: str, claim: Callable[[Subject, pl.LazyFrame | None], Finding]) -> Check:
    """A claim about rows of a table, or of a partition of it, that share their first key, and nothing else: where it had passed, it is put
    to those alone that came or changed since, with all that share a key with them. The finding counts all rows."""

    def find(subject: Subject) -> Finding:
        passed_at = _passed_at(subject, name, table)
        rows = None if passed_at is None else touched(subject.lake, table, passed_at, subject.partition)
        found = claim(subject, rows)
        return found if rows is None else replace(found, counted=rows_of(read(subject.lake, table, subject.partition)))

    return Check(name, about, find, table=table)


def _passed_at(subject: Subject, check: str, table: str) -> int | None:
    """The version of a table at which its rows had last passed a check as it is now; None where they had not."""
    known = receipts.checks(subject.lake, subject.asset, subject.partition).get(check)
    return known.looked_at.get(table) if known and known.passed and known.claims == claims_of(table) else None


def artifact_check() -> Check:
    """Every file of the artifact has the checksum of its manifest."""
    claim = "every file of the artifact has the checksum of its manifest"

    def find(subject: Subject) -> Finding:
        try:
            manifest = open_artifact(subject.folder)
        except IndexDamaged as fault:
            return Finding("artifact_is_intact", claim, 1, 1, ({"fault": str(fault)},))
        return Finding("artifact_is_intact", claim, len(manifest["files"]), 0, facts={"digest": str(manifest["digest"])})

    return Check("artifact_is_intact", "Every file of the artifact has the checksum of its manifest.", find)


def checks_on(asset: str, checks: Sequence[Check], settings: Settings) -> dg.AssetChecksDefinition:
    """The checks of an asset as one step, each with its own name and result; by partition where the asset has partitions."""
    partitions = partitions_of(STAGES[asset].partitions, settings.profile)
    by_name = {check.name: check for check in checks}
    with warnings.catch_warnings():
        # Without partitions of its own a check keeps only its newest result: a pass of one shard would hide another's failure.
        warnings.simplefilter("ignore", dg.PreviewWarning)
        specs = [
            dg.AssetCheckSpec(
                check.name, asset=AssetKey(asset), description=check.about, blocking=check.blocking, partitions_def=partitions
            )
            for check in checks
        ]

    @dg.multi_asset_check(name=f"check_{asset}", specs=specs, can_subset=True, pool="checks")
    def checked(context: dg.AssetCheckExecutionContext, lake: LakeResource) -> Iterator[dg.AssetCheckResult]:
        opened = lake.open()
        partition = context.partition_key if context.has_partition_key else None
        receipt = receipts.read(opened, asset, partition)
        # What a killed run left half-made may be looked at, but no outcome is kept of it.
        finished = receipt if receipt is not None and receipt.is_done else None
        subject = Subject(opened, lake.profile(), asset, partition, finished)
        chosen = {key.name for key in context.selected_asset_check_keys}
        for name in by_name:
            if name in chosen:
                with at_work(opened):
                    result = run_check(by_name[name], subject)
                yield result

    return checked


def run_check(check: Check, subject: Subject) -> dg.AssetCheckResult:
    """Look, keep the outcome beside the receipt for the release to see, and say it in Dagster's words."""
    started = time.monotonic()
    finding = check.find(subject)
    said = in_words(finding)
    if subject.receipt is not None:
        looked_at = {name: at for name, at in subject.receipt.tables.items() if name == check.table}
        claims = claims_of(check.table) if check.table else ""
        version = subject.receipt.data_version
        outcome = receipts.CheckOutcome(check.name, finding.passed, check.blocking, version, said, looked_at, claims)
        receipts.record_check(subject.lake, subject.asset, subject.partition, outcome)
    return dg.AssetCheckResult(
        passed=finding.passed,
        asset_key=AssetKey(subject.asset),
        check_name=check.name,
        severity=dg.AssetCheckSeverity.ERROR if check.blocking else dg.AssetCheckSeverity.WARN,
        description=said,
        metadata=metadata_of(finding, time.monotonic() - started),
    )


def in_words(finding: Finding) -> str:
    """The claim, and whether it holds, in one sentence."""
    if finding.passed:
        return f"{finding.claim}: holds for {finding.counted:,}"
    return f"{finding.claim}: {finding.failed:,} failures, {finding.counted:,} looked at"


def metadata_of(finding: Finding, seconds: float) -> dict[str, Any]:
    """Plain finite numbers, and the examples as a table to read."""
    known: dict[str, Any] = {"counted": finding.counted, "failed": finding.failed, "seconds": round(seconds, 3)}
    known.update({name: dg.MetadataValue.null() if value is None else value for name, value in plain(finding.facts).items()})
    if finding.examples:
        known["examples"] = dg.MetadataValue.md(_table(finding))
    return known


def _table(finding: Finding) -> str:
    columns = list(dict.fromkeys(name for row in finding.examples for name in row))
    rows = [" | ".join(_cell(row.get(name)) for name in columns) for row in finding.examples]
    return "\n".join([f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", *(f"| {row} |" for row in rows)])


def _cell(value: Any) -> str:
    shown = plain(value)
    text = "" if shown is None else " ".join(str(shown).split())
    return (text if len(text) <= _CELL else f"{text[:_CELL]}…").replace("|", "\\|")

"""The main loop without Dagster's runs: every stage's own function and checks, in the order of the graph, in this process.

Fast enough for hundreds of whole refreshes. The suites of the contracts are left out: the writer holds every row to its contract.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

import assets
from assets.stage import _MAKERS, Step
from checks import ALL_CHECKS
from checks.check import Subject, in_words
from pipelines.refresh import observe_sources
from resources.lake import LakeResource
from scholarlake.lake import delta, receipts
from scholarlake.lake.delta import Commit
from scholarlake.lake.home import Lake
from scholarlake.lake.judgement import Judgement, Present, Staleness
from scholarlake.lake.receipts import CheckOutcome
from scholarlake.lake.stages import STAGES
from scholarlake.models.chat import Tags

assets.register()


class Killed(BaseException):
    """What SIGKILL would have ended: no handler may mend anything after it."""


@dataclass
class Library:
    """A lake and what it is built from, refreshed by hand. On the way checks are noted as passed; `check` runs them."""

    resource: LakeResource
    instance: dg.DagsterInstance = field(default_factory=dg.DagsterInstance.ephemeral)

    @property
    def lake(self) -> Lake:
        return self.resource.open()

    def refresh(self, checking: Sequence[str] = ()) -> list[str]:
        """Look at the dump, make what is stale. What was made, in order. checking: assets whose checks are run as they are made."""
        list(observe_sources(self.instance, self.resource))
        settings = self.resource.settings()
        made: list[str] = []
        for name in STAGES:
            for item in list(Judgement(Present(self.lake), settings).stale(name)):
                self._make(item)
                made.append(item.where)
                if name in checking:
                    self.check(name)
        return made

    def _make(self, item: Staleness) -> None:
        lake, settings, stage = self.lake, self.resource.settings(), STAGES[item.asset]
        inputs = Present(lake).inputs(item.asset, item.partition)
        code_version = stage.code_version(settings)
        begun = receipts.begin(lake, item.asset, item.partition, code_version=code_version, inputs=inputs, run_id="run")
        with self.resource.crew(Tags(item.asset, item.partition or "", "run"), dict) as models:
            step = Step(
                lake,
                settings.profile,
                settings,
                self.resource,
                stage,
                item.partition,
                Commit("run", code_version, inputs),
                lambda *_: None,
                models,
                self.instance,
                is_new_code=begun.made_by not in (None, code_version),
                previous_artifact=begun.artifact,
            )
            result = _MAKERS[item.asset](step)
        receipt = receipts.finish(
            lake,
            begun,
            data_version=result.data_version,
            tables={table: version for table, version in result.tables.items() if version is not None},
            artifact=result.artifact.path if result.artifact else None,
            rows=result.rows,
            facts=_plain(result.facts),
        )
        for check in stage.blocking:
            receipts.record_check(lake, item.asset, item.partition, CheckOutcome(check, True, True, receipt.data_version))

    def check(self, *assets: str) -> None:
        """Run every blocking check of every partition, but for the suites: of these assets, or of all."""
        present, profile = Present(self.lake), self.resource.profile()
        for asset, checks in ALL_CHECKS.items():
            if assets and asset not in assets:
                continue
            for partition in present.partitions(asset):
                subject = Subject(self.lake, profile, asset, partition, present.receipt(asset, partition))
                for check in checks:
                    if check.blocking and not check.name.endswith("_contract"):
                        finding = check.find(subject)
                        assert finding.passed, f"{asset} [{partition}]: {in_words(finding)}, {finding.examples}"


def _plain(facts: Any) -> Any:
    from assets.stage import plain

    return plain(facts)


@contextmanager
def killed_at(moment: int, *, after: bool) -> Iterator[None]:
    """Die at the n-th moment at which something becomes visible on disk, just before it or just after. Ends quietly either way.

    From then on nothing can be written or removed: what would tidy up after a fault can't do it after SIGKILL either.
    """
    left, is_dead = moment, False

    def dying(real: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            nonlocal left, is_dead
            if is_dead:
                raise Killed
            left -= 1
            if left == 0 and not after:
                is_dead = True
                raise Killed
            result = real(*given, **named)
            if left == 0:
                is_dead = True
                raise Killed
            return result

        return call

    def dead(real: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            if is_dead:
                raise Killed
            return real(*given, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", dying(os.replace))
        patch.setattr(os, "link", dying(os.link))
        patch.setattr(delta, "_transact", dying(delta._transact))
        patch.setattr(delta, "_merge", dying(delta._merge))
        patch.setattr(Path, "unlink", dead(Path.unlink))
        patch.setattr(shutil, "rmtree", dead(shutil.rmtree))
        with suppress(Killed):
            yield

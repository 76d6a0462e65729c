"""Great Expectations suites and invariants as asset checks, one file a stage.

What belongs here: which claim is checked on which asset, and whether it blocks. What does not: the claims themselves
(`scholarlake/*/invariants.py`, `scholarlake/lake/expectations.py`), when checks run (pipelines).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import dagster as dg

from checks import (
    corpus,
    dense,
    documents,
    facts,
    layer,
    organization,
    publish,
    registry,
    selection,
    serving,
    sources,
    syntheses,
    training,
)
from checks.check import Check, checks_on
from scholarlake.lake.stages import Settings

ALL_CHECKS: Mapping[str, tuple[Check, ...]] = {
    **sources.CHECKS,
    **corpus.CHECKS,
    **dense.CHECKS,
    **serving.CHECKS,
    **documents.CHECKS,
    **selection.CHECKS,
    **facts.CHECKS,
    **organization.CHECKS,
    **training.CHECKS,
    **layer.CHECKS,
    **syntheses.CHECKS,
    **registry.CHECKS,
    **publish.CHECKS,
}
"""Asset → its checks, in the order of the graph."""


def all_checks(settings: Settings) -> Iterator[dg.AssetChecksDefinition]:
    """Every asset check of the project."""
    for asset, checks in ALL_CHECKS.items():
        yield checks_on(asset, checks, settings)


def blocking(asset: str) -> tuple[str, ...]:
    """The checks that must have passed on every partition of an asset before a release pins it."""
    return tuple(check.name for check in ALL_CHECKS.get(asset, ()) if check.blocking)

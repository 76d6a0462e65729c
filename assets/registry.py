"""The registry: every object of the three layers in every version that it had, and what rests on what."""

from __future__ import annotations

from assets.stage import Made, Step, makes
from scholarlake.knowledge.registry.build import build_registry


@makes("registry")
def registry(step: Step) -> Made:
    """What is new is registered, what another continues is revised, what is gone is retracted with its reason, what is back is restored;
    what tasks made and what rests on any of it is to be looked at again."""
    report = build_registry(step.lake, step.commit, step.progress)
    return Made(
        data_version=report.content_version,
        rows=report.rows,
        tables=report.versions,
        facts={
            "changes": {name: report.counts.get(name, 0) for name in ("registered", "revised", "retracted", "restored", "needs_recheck")},
            "objects_by_kind": report.by_kind,
            "objects_by_status": report.by_status,
        },
    )

"""The code location: everything Dagster shows and runs, configured by the environment (see pipelines/project.py)."""

from __future__ import annotations

import sys
from pathlib import Path

# Loaded as a file, from any working directory: the project's folders are its packages.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import dagster as dg

import assets
from assets.automation import Latched
from assets.stage import all_assets
from checks import all_checks
from pipelines.jobs import corpus_refresh, reconcile, stage_jobs
from pipelines.project import Places
from pipelines.schedules import schedules
from pipelines.sensors import automation_sensor, collection_sensor, document_sensor, dump_sensor


def definitions(places: Places) -> dg.Definitions:
    """All definitions for a lake, a dump folder and a profile."""
    assets.register()
    resource = places.resource()
    settings = resource.settings()
    return dg.Definitions(
        assets=list(all_assets(settings, Latched(resource))),
        asset_checks=list(all_checks(settings)),
        jobs=[*stage_jobs(), corpus_refresh, reconcile],
        schedules=schedules(settings.profile.schedules),
        sensors=[sensor(settings.profile.watching) for sensor in (dump_sensor, document_sensor, collection_sensor, automation_sensor)],
        resources={"lake": resource},
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    return definitions(Places.chosen())

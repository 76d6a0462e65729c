"""What looks at the outside and asks for runs: sensors on the sources, and the one that evaluates the assets' condition.

A sensor on a source only reports: parts that came, changed or went. What then runs is for the condition in
`assets/automation.py` to say, partition by partition. What does not belong here: how a folder is looked at
(`scholarlake.sources.watch`), what a report is (`assets`).
"""

import warnings

import dagster as dg
import orjson

from assets.documents import observe_documents
from assets.runs import close_dead_runs
from assets.selection import observe_collections
from assets.sources import glance_at_dump
from resources.lake import LakeResource
from scholarlake.errors import ScholarLakeError
from scholarlake.profile import Watching
from scholarlake.sources.watch import Attention


def dump_sensor(watching: Watching) -> dg.SensorDefinition:
    """Sees parts of the dump come, change and go, by their content."""

    @dg.sensor(
        name="dump_sensor",
        minimum_interval_seconds=watching.interval_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Looks at the dump folder: reports new and changed parts by checksum, takes away the keys of those that are gone, "
        "leaves a file that is still being written.",
    )
    def looked(context: dg.SensorEvaluationContext, lake: LakeResource) -> dg.SkipReason:
        attention = Attention(quiet_seconds=watching.quiet_seconds, budget_seconds=watching.budget_seconds)
        absent_before = orjson.loads(context.cursor) if context.cursor else []
        close_dead_runs(context.instance)
        try:
            seen = glance_at_dump(context.instance, lake, attention, absent_before)
        except ScholarLakeError as fault:
            return dg.SkipReason(str(fault))
        context.update_cursor(orjson.dumps(sorted(seen.absent)).decode())
        return dg.SkipReason(str(seen))

    return looked


def collection_sensor(watching: Watching) -> dg.SensorDefinition:
    """Sees files that define collections come, change and go, by their content."""

    @dg.sensor(
        name="collection_sensor",
        minimum_interval_seconds=watching.interval_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Looks at the folder of collections: reports new and changed files, takes away the keys of those that are gone. "
        "While one of them can't be read, none is reported.",
    )
    def looked(context: dg.SensorEvaluationContext, lake: LakeResource) -> dg.SkipReason:
        try:
            count = observe_collections(context.instance, lake)
        except ScholarLakeError as fault:
            return dg.SkipReason(str(fault))
        return dg.SkipReason(f"collections: {count}")

    return looked


def document_sensor(watching: Watching) -> dg.SensorDefinition:
    """Sees files of the document folder come, change and go, by their content."""

    @dg.sensor(
        name="document_sensor",
        minimum_interval_seconds=watching.interval_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Looks at the folder of full texts: reports it where any file came, changed or went; leaves what is being written.",
    )
    def looked(context: dg.SensorEvaluationContext, lake: LakeResource) -> dg.SkipReason:
        try:
            seen = observe_documents(context.instance, lake, Attention(quiet_seconds=watching.quiet_seconds))
        except ScholarLakeError as fault:
            return dg.SkipReason(str(fault))
        return dg.SkipReason(str(seen))

    return looked


def automation_sensor(watching: Watching) -> dg.AutomationConditionSensorDefinition:
    """Asks for a run of every partition that is stale, once all it is made from is fresh."""
    with warnings.catch_warnings():
        # Conditions of our own are evaluated where our code is, which is said to be beta.
        warnings.simplefilter("ignore", dg.BetaWarning)
        return dg.AutomationConditionSensorDefinition(
            "automation",
            target=dg.AssetSelection.all(),
            minimum_interval_seconds=watching.interval_seconds,
            default_status=dg.DefaultSensorStatus.RUNNING,
            use_user_code_server=True,
            emit_backfills=False,
            description="Runs what is stale, partition by partition, from the sources down to the release. Stop it to run by hand only.",
        )

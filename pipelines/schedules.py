"""What runs by the clock. Both are off until switched on in the UI; the profile says when (cron, UTC).

What does not belong here: what a refresh does (`refresh.py`), and what runs because something changed (`sensors.py`).
"""

import dagster as dg

from pipelines.jobs import corpus_refresh, reconcile
from scholarlake.profile import Schedules


def schedules(when: Schedules) -> list[dg.ScheduleDefinition]:
    """The weekly refresh and the daily reconciliation."""
    both = (
        ("weekly_corpus_refresh", corpus_refresh, when.corpus_refresh, "Looks at the sources and makes what is stale, to a release."),
        ("daily_reconcile", reconcile, when.reconcile, "Reads the sources again to the byte; makes what recorded inputs say is stale."),
    )
    return [
        dg.ScheduleDefinition(
            name=name,
            job=job,
            cron_schedule=cron,
            execution_timezone="UTC",
            default_status=dg.DefaultScheduleStatus.STOPPED,
            description=about,
        )
        for name, job, cron, about in both
    ]

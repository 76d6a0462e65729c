"""Runs and the processes that are at work on them: a run whose process is gone is a failed run.

Dagster keeps a run that was killed together with all that watched it as started, for ever: what it was making would never be
asked for again, and its place in a pool never be free. What does not belong here: what a run makes.
"""

import os
import socket
from pathlib import Path

import dagster as dg

TAG = ".dagster/scholarlake_process"  # hidden in the UI: it says nothing to a person
REASON = "scholarlake/reason"
BUILD_TAG = "scholarlake/build"
_UNDER_WAY = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]


def work_of(run: dg.DagsterRun) -> str:
    """What a run is part of: a build, a backfill, or itself. What models may cost is a matter of all of that together."""
    return run.tags.get(BUILD_TAG) or run.tags.get("dagster/backfill") or run.run_id


def claim(instance: dg.DagsterInstance, run_id: str) -> None:
    """Say that this process is at work on a run."""
    instance.add_run_tags(run_id, {TAG: _name_of(os.getpid())})


def say_why(instance: dg.DagsterInstance, run: dg.DagsterRun, because: str) -> None:
    """Tag a run with why it makes what it makes, unless who asked for it has said so."""
    if REASON not in run.tags:
        instance.add_run_tags(run.run_id, {REASON: because})


def close_dead_runs(instance: dg.DagsterInstance) -> list[str]:
    """Mark as failed the runs whose process on this machine has ended, and free their places in pools. Returns their ids."""
    closed = []
    for run in instance.get_runs(filters=dg.RunsFilter(statuses=_UNDER_WAY)):
        host, pid, _ = (run.tags.get(TAG) or "::").split(":", 2)
        if host == socket.gethostname() and run.tags[TAG] != _name_of(int(pid)):
            instance.report_run_failed(run, "its process ended without a word: killed, or out of memory")
            instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
            closed.append(run.run_id)
    return closed


def _name_of(pid: int) -> str:
    """A process as host, number and time of start: numbers are given again. Without a start, no such process runs."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return f"{socket.gethostname()}:{pid}:{_started_elsewhere(pid)}"
    return f"{socket.gethostname()}:{pid}:{'' if fields[0] == 'Z' else fields[19]}"


def _started_elsewhere(pid: int) -> str:
    """Where the system has no /proc: whether the process is there, as nothing better is known without it."""
    if Path("/proc/self").exists():
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "running"

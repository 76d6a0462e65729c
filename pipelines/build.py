"""What the commands that run Dagster do (`build`, `backfill`, `status`), on the instance that the UI shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy.exc import DBAPIError

from pipelines.backfill import backfill, choose
from pipelines.definitions import definitions
from pipelines.plan import Plan, plan
from pipelines.project import Places, open_instance
from pipelines.refresh import Refresh, needed_for, refresh
from pipelines.runner import Listener, Runner
from scholarlake.corpus.selection.definition import load_all
from scholarlake.documents.folder import require_folder
from scholarlake.errors import LakeError
from scholarlake.lake import receipts, releases
from scholarlake.lake.home import Lake
from scholarlake.lake.judgement import Judgement, Present, Staleness
from scholarlake.lake.stages import STAGES
from scholarlake.sources.dumps import list_files


def run(
    *,
    lake: Path | None = None,
    dumps: Path | str | None = None,
    documents: Path | None = None,
    profile: str | None = None,
    to: str = "release_diff",
    **hooks: Callable[..., object],
) -> Refresh:
    """Build a lake. hooks: as in `Listener`.

    Raises ScholarLakeError, before anything is changed, where the dump, the profile, a collection's file or the lake can't be used.
    """
    places = Places.chosen(lake, dumps, profile, documents=documents)
    needed_for(to)
    list_files(places.resource().dump_folder())
    require_folder(places.documents)
    load_all(places.collections)
    with _runner(places, hooks) as runner:
        return refresh(runner, to=to)


def run_backfill(
    asset: str,
    wanted: Sequence[str],
    *,
    lake: Path | None = None,
    dumps: Path | str | None = None,
    documents: Path | None = None,
    profile: str | None = None,
    anew: bool = False,
    **hooks: Callable[..., object],
) -> Refresh:
    """Make partitions of an asset again. Raises ScholarLakeError, before anything is made, where they can't be."""
    places = Places.chosen(lake, dumps, profile, documents=documents)
    choose(Lake.open(places.lake), asset, wanted)
    with _runner(places, hooks) as runner:
        return backfill(runner, asset, wanted, anew=anew)


def planned(
    *,
    lake: Path | None = None,
    dumps: Path | str | None = None,
    documents: Path | None = None,
    profile: str | None = None,
    to: str = "release_diff",
) -> Plan:
    """What a build would do. Raises ScholarLakeError where the dump, the profile or the lake can't be used."""
    return plan(Places.chosen(lake, dumps, profile, documents=documents), to)


@contextmanager
def _runner(places: Places, hooks: Mapping[str, Callable[..., object]]) -> Iterator[Runner]:
    resource = places.resource()
    repository = definitions(places).get_repository_def()
    resource.open()
    try:
        with open_instance(places.dagster_home) as instance:
            yield Runner(repository, instance, resource, Listener(**hooks))
    except DBAPIError as fault:  # Dagster's own tables are on the same disk
        raise LakeError(f"{places.dagster_home} can't be written ({fault.orig}); is the disk full?") from fault


def status(*, lake: Path | None = None, dumps: Path | str | None = None, profile: str | None = None) -> dict[str, Any]:
    """What a lake holds, what is stale and why, and its newest release. Changes nothing."""
    places = Places.chosen(lake, dumps, profile)
    opened = Lake.open(places.lake)
    settings = places.resource().settings()
    known = releases.names(opened)
    return {
        "lake": str(opened.root),
        "release": known[-1] if known else None,
        "assets": [_made(opened, name) for name in STAGES],
        "stale": _stale(opened, settings),
    }


def _made(lake: Lake, name: str) -> dict[str, Any]:
    found = [receipt for receipt in receipts.read_all(lake, name) if receipt.is_done]
    return {
        "asset": name,
        "partitions": len(Present(lake).partitions(name)) if STAGES[name].partitions else None,
        "rows": sum(receipt.rows for receipt in found) if found and not STAGES[name].observed else None,
        "made_at": max((receipt.at for receipt in found), default=None),
    }


def _stale(lake: Lake, settings: Any) -> list[dict[str, Any]]:
    """What must be made now, and below it what waits for it: an asset that waits is one entry, whatever its partitions."""
    judgement = Judgement(Present(lake), settings)
    found = []
    for name in STAGES:
        found += [_entry(item, "stale") for item in judgement.stale(name)]
        if waiting := next(judgement.waiting(name), None):
            found.append({**_entry(waiting, "waits"), "partition": None})
    return found


def _entry(item: Staleness, state: str) -> dict[str, Any]:
    return {"asset": item.asset, "partition": item.partition, "reason": item.reason, "state": state}

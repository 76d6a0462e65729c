"""What `scholarlake build` and `scholarlake status` do: the main job on the instance that the UI shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pipelines.definitions import definitions
from pipelines.project import Places, open_instance
from pipelines.refresh import Failed, Ran, Refresh, Step, refresh


def run(
    *,
    lake: Path | None = None,
    dumps: Path | None = None,
    profile: str | None = None,
    to: str = "release",
    say: Callable[[str], object] = lambda _: None,
    before: Callable[[Step], object] = lambda _: None,
    after: Callable[[Step, Ran | Failed], object] = lambda _step, _outcome: None,
) -> Refresh:
    """Build a lake. Raises ScholarLakeError before anything is changed where it can't."""
    places = Places.chosen(lake, dumps, profile)
    resource = places.resource()
    repository = definitions(places).get_repository_def()
    check_dumps(places)
    resource.open()
    with open_instance(places.dagster_home) as instance:
        return refresh(repository, instance, resource, to=to, say=say, before=before, after=after)

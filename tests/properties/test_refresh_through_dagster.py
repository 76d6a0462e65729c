"""The same, by the main job itself: every partition a Dagster run with all its checks."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from pipelines.definitions import definitions
from pipelines.project import Places, open_instance
from pipelines.refresh import refresh
from pipelines.runner import Runner
from scholarlake.lake.home import DAGSTER, Lake
from tests.properties.sources import Sources, sequences

SHARE = float(os.environ.get("SCHOLARLAKE_DAGSTER_SHARE", "0.05"))  # of the sequences that the library is put through


COLLECTION = "title: All\nabout: Whatever there is.\nwhere: {years: {from: 1000}}\n"

#: Dagster remembers the first instance that definitions were loaded under, weakly, and must find it alive.
_ALIVE: list[ExitStack] = []


class MainJob:
    """A lake that is refreshed by the main job."""

    def __init__(self, folder: Path, name: str) -> None:
        collections = folder / "collections"
        collections.mkdir(exist_ok=True)
        (collections / "all.yaml").write_text(COLLECTION)  # one: every stage that is cut by collections runs once
        self._places = Places(
            lake=folder / name,
            dumps=folder / "dumps",
            profile=str(folder / "tiny.yaml"),
            models=folder / "models.yaml",
            collections=collections,
        )
        kept_open = ExitStack()
        self._instance = kept_open.enter_context(open_instance(folder / name / DAGSTER))
        _ALIVE.append(kept_open)

    @property
    def lake(self) -> Lake:
        return Lake.open(self._places.lake)

    def refresh(self) -> list[str]:
        outcome = refresh(Runner(definitions(self._places).get_repository_def(), self._instance, self._places.resource()))
        assert outcome.failed == []
        assert outcome.waiting == 0
        return [ran.asset for ran in outcome.ran]

    def check(self) -> None:
        """Every run has run its checks already."""


class ThroughDagster(Sources):
    """Sources that change, followed by the main job."""

    def built(self, name: str) -> MainJob:  # type: ignore[override]
        return MainJob(self.folder, name)


class TestMainJobEqualsRebuild(ThroughDagster.TestCase):
    settings = sequences(SHARE)

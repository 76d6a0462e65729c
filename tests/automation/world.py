"""A small world for tests of what runs by itself: a dump of a few records in two parts, its lake, its instance, and ticks."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg
from dagster._core.definitions.asset_daemon_cursor import AssetDaemonCursor

from pipelines.definitions import definitions
from pipelines.project import Places, open_instance
from pipelines.refresh import observe_sources
from scholarlake.lake.home import DAGSTER, Lake
from scholarlake.lake.judgement import Judgement, Present
from scholarlake.lake.stages import STAGES
from tests.e2e.building import HASHING

PROFILE = """
shards: 2
reading: {workers: 1, reject_warn: 0.1, reject_block: 0.5}
core: {min_total: 2, min_in: 1}
dense: {centroids: 2, probes: 2, recall_queries: 4}
training: {walks: 2, steps: 2, train: 4, validation: 1, test: 1, train_batches: 1}
"""

Asked = list[tuple[str, str | None]]  # asset, partition


def record(key: str, title: str, references: list[str] | None = None, **fields: object) -> dict[str, object]:
    authors = [{"name": f"Ada Writer{key}"}]
    return {"id": key, "title": title, "year": 2001, "authors": authors, "references": references or [], **fields}


PARTS: dict[str, list[dict[str, object]]] = {
    "a.jsonl": [record(f"p{n}", f"A first subject, looked at from side {n}", ["p0", f"p{n - 1}"]) for n in range(1, 7)],
    "b.jsonl": [record("p0", "What every other paper here rests upon")]
    + [record(f"q{n}", f"Another subject and its aspect {n}", ["p0", "p3"]) for n in range(1, 5)],
}


@dataclass
class World:
    """A lake that can be refreshed by ticks of the automation condition, or left to a test's own hands."""

    folder: Path
    instance: dg.DagsterInstance
    profile: str = PROFILE
    cursor: AssetDaemonCursor | None = field(default=None, init=False)

    def write(self, parts: Mapping[str, list[dict[str, object]]]) -> None:
        self.dumps.mkdir(exist_ok=True)
        for name, records in parts.items():
            (self.dumps / name).write_text("".join(json.dumps(one) + "\n" for one in records))

    @property
    def dumps(self) -> Path:
        return self.folder / "dumps"

    @property
    def collections(self) -> Path:
        return self.folder / "collections"

    @property
    def documents(self) -> Path:
        return self.folder / "documents"

    def define(self, name: str, said: str) -> None:
        """Write the file of a collection."""
        self.collections.mkdir(exist_ok=True)
        (self.collections / f"{name}.yaml").write_text(f"title: A title\nabout: What for\n{said}\n")

    @property
    def places(self) -> Places:
        profile, models = self.folder / "tiny.yaml", self.folder / "models.yaml"
        profile.write_text(self.profile)
        models.write_text(HASHING)
        return Places(
            lake=self.folder / "lake",
            dumps=self.dumps,
            profile=str(profile),
            models=models,
            collections=self.collections,
            documents=self.documents if self.documents.is_dir() else None,
        )

    @property
    def lake(self) -> Lake:
        return Lake.open(self.folder / "lake")

    def look(self) -> None:
        list(observe_sources(self.instance, self.places.resource()))

    def tick(self) -> Asked:
        """One evaluation of every asset's condition: what it asks for, in the order of the graph."""
        result = dg.evaluate_automation_conditions(defs=definitions(self.places), instance=self.instance, cursor=self.cursor)
        self.cursor = result.cursor
        asked = {
            (key.to_user_string(), subset.partition_key)
            for found in result.results
            for key in [found.key]
            for subset in found.true_subset.expensively_compute_asset_partitions()
        }
        order = list(STAGES)
        return sorted(asked, key=lambda one: (order.index(one[0]), one[1] or ""))

    def run(self, asset: str, partition: str | None = None) -> bool:
        """Make one partition as a run of its own. Whether it went well."""
        places = self.places
        job = definitions(places).get_repository_def().get_job(f"make_{asset}")
        quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
        return job.execute_in_process(
            instance=self.instance, partition_key=partition, resources={"lake": places.resource()}, run_config=quiet, raise_on_error=False
        ).success

    def settle(self) -> Asked:
        """Ticks and the runs they ask for, until nothing is asked for any more. All that was asked for."""
        everything: Asked = []
        while asked := self.tick():
            everything += asked
            for asset, partition in asked:
                self.run(asset, partition)
        return everything

    def stale(self) -> list[str]:
        judgement = Judgement(Present(self.lake), self.places.resource().settings())
        return [item.where for name in STAGES for item in judgement.stale(name)]


@contextmanager
def world(folder: Path, profile: str = PROFILE) -> Iterator[World]:
    with open_instance(folder / "lake" / DAGSTER) as instance:
        yield World(folder, instance, profile)


def copy_of(built: Path, folder: Path) -> Path:
    return shutil.copytree(built, folder / "world")

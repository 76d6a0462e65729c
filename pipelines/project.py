"""Where the project's own files are, and the configuration that the environment gives.

The only place that reads the environment: SCHOLARLAKE_LAKE, SCHOLARLAKE_DUMPS, SCHOLARLAKE_DOCUMENTS,
SCHOLARLAKE_PROFILE, SCHOLARLAKE_MODELS, SCHOLARLAKE_COLLECTIONS, SCHOLARLAKE_TAXONOMIES.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.noop_compute_log_manager import NoOpComputeLogManager

from pipelines import history
from resources.lake import LakeResource
from scholarlake.lake.home import DAGSTER

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "data"


@dataclass(frozen=True)
class Places:
    """What a build reads and writes. Paths are absolute. dumps: a path, or the address of a bucket. taxonomies: where not given, beside the
    collections."""

    lake: Path
    dumps: Path | str
    profile: str
    models: Path
    collections: Path = DATA / "collections"
    documents: Path | None = None
    taxonomies: Path | None = None

    @classmethod
    def chosen(
        cls,
        lake: Path | None = None,
        dumps: Path | str | None = None,
        profile: str | None = None,
        models: Path | None = None,
        documents: Path | None = None,
    ) -> Places:
        """What is given, else what the environment says, else the sample."""
        return cls.from_environment({**os.environ, **_given(lake, dumps, profile, models, documents)})

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Places:
        documents = environment.get("SCHOLARLAKE_DOCUMENTS")
        if documents is None and "SCHOLARLAKE_DUMPS" not in environment:
            documents = str(DATA / "sample" / "documents")  # the sample's texts are no other corpus's
        return cls(
            documents=_place(documents) if documents else None,
            lake=_place(environment.get("SCHOLARLAKE_LAKE", DATA / "lake")),
            dumps=_address(environment.get("SCHOLARLAKE_DUMPS", str(DATA / "sample" / "dumps"))),
            profile=environment.get("SCHOLARLAKE_PROFILE", "sample"),
            models=_place(environment.get("SCHOLARLAKE_MODELS", DATA / "models.yaml")),
            collections=_place(environment.get("SCHOLARLAKE_COLLECTIONS", DATA / "collections")),
            taxonomies=_place(environment["SCHOLARLAKE_TAXONOMIES"]) if "SCHOLARLAKE_TAXONOMIES" in environment else None,
        )

    @property
    def dagster_home(self) -> Path:
        """The Dagster instance lies in the lake: what it recorded is about this lake and no other."""
        return self.lake / DAGSTER

    def resource(self) -> LakeResource:
        return LakeResource(
            lake=str(self.lake),
            dumps=str(self.dumps),
            documents=str(self.documents or ""),
            profile_name=self.profile,
            profiles=str(DATA / "profiles"),
            models=str(self.models),
            collections=str(self.collections),
            taxonomies=str(self.taxonomies or self.collections.parent / "taxonomies"),
        )


def _address(dumps: str) -> str:
    return dumps if "://" in dumps else str(_place(dumps))


def _place(path: str | Path) -> Path:
    """A path as it is shown everywhere: absolute, without `..`; links are left as they are."""
    return Path(os.path.abspath(path))


def _given(lake: Path | None, dumps: Path | str | None, profile: str | None, models: Path | None, documents: Path | None) -> dict[str, str]:
    values = {"LAKE": lake, "DUMPS": dumps, "PROFILE": profile, "MODELS": models, "DOCUMENTS": documents}
    return {f"SCHOLARLAKE_{name}": str(value) for name, value in values.items() if value is not None}


def prepare_home(home: Path) -> None:
    """Make a folder a Dagster home: the project's dagster.yaml, so that runs and the UI agree on one instance."""
    home.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / "dagster.yaml", home / "dagster.yaml")


def open_instance(home: Path) -> dg.DagsterInstance:
    """The instance of that home, as `dagster-webserver` would open it, but that its databases stay open, and that what steps print is not
    captured: none does, and each would start three processes to watch for it."""
    prepare_home(home)
    silent = {"module": NoOpComputeLogManager.__module__, "class": NoOpComputeLogManager.__name__}
    return dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(home), overrides={"compute_logs": silent, **history.storage(home)}))

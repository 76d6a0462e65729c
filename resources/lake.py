"""The lake, and everything it is built with, as one Dagster resource."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from scholarlake.lake.home import Lake
from scholarlake.lake.stages import Settings
from scholarlake.models.chat import Tags
from scholarlake.models.child import Wrapping
from scholarlake.models.config import ModelsFile
from scholarlake.models.crew import Crew
from scholarlake.profile import Profile, load
from scholarlake.sources.files import Folder, folder_at


class LakeResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Where the lake lies and what it is built from. All paths are absolute, or relative to the working directory."""

    lake: str = Field(description="Folder of the lake; made when it is first built.")
    dumps: str = Field(
        description="Folder with the parts of the dump, or its address in a bucket: s3://bucket/prefix or gs://bucket/prefix."
    )
    documents: str = Field("", description="Folder with the full texts of papers; none where it is empty.")
    profile_name: str = Field(description="Name of a profile in the profiles folder, or the path of one.")
    profiles: str = Field(description="Folder of the profiles.")
    models: str = Field(description="The models file that binds roles to endpoints.")
    collections: str = Field("", description="Folder of the files that define collections; none where it is empty.")

    taxonomies: str = Field("", description="Folder of taxonomy files; where it is empty, all are prepared.")

    def profile(self) -> Profile:
        return load(self.profile_name, Path(self.profiles))

    def open(self) -> Lake:
        """The lake, made where there is none. Raises LakeError where it has other numbers of shards and batches than the profile."""
        profile = self.profile()
        return Lake.open_or_create(Path(self.lake), profile.shards, profile.training.train_batches)

    def dump_folder(self) -> Folder:
        return folder_at(self.dumps)

    def collection_files(self) -> list[Path]:
        """The files that define collections, by name."""
        return sorted(Path(self.collections).glob("*.yaml")) if self.collections else []

    def taxonomy_folder(self) -> Path | None:
        return Path(self.taxonomies) if self.taxonomies else None

    def crew(self, tags: Tags, wrapping: Callable[[], Wrapping]) -> Crew:
        """The models of a step, with what they may spend."""
        return Crew(ModelsFile.load(Path(self.models)), self.open(), tags, self.profile().spending.per_run, wrapping)

    def document_folder(self) -> Path | None:
        return Path(self.documents) if self.documents else None

    def embedder_facts(self) -> Mapping[str, Any]:
        """What a release says of its embedding model: role entry and fingerprint. Loads no model."""
        return ModelsFile.load(Path(self.models)).embedder_facts()

    def settings(self) -> Settings:
        models = ModelsFile.load(Path(self.models))
        return Settings(self.profile(), str(models.embedder_facts()["fingerprint"]), models.fingerprints())

"""Artifacts: what is not a table (FAISS files, SQLite, memory-mapped arrays), kept by content and never changed.

    artifacts/ASSET/PARTITION/DIGEST/manifest.json and the files it lists

A folder appears in one rename, whole, with the checksum of every file; a release pins its digest.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from scholarlake.errors import IndexDamaged
from scholarlake.lake.files import read_json, sync_tree, write_json
from scholarlake.lake.hashing import digest, file_checksum
from scholarlake.lake.home import Lake

WHOLE = "all"
_REMEDY = "remove its folder and run `scholarlake build`"


@dataclass(frozen=True)
class Artifact:
    """A published artifact: its folder below the lake's root, the digest of its content, and its manifest's facts."""

    asset: str
    partition: str | None
    path: str
    digest: str
    bytes: int
    facts: Mapping[str, Any]

    def folder(self, lake: Lake) -> Path:
        return lake.root / self.path


def publish(lake: Lake, asset: str, partition: str | None, build: Callable[[Path], Mapping[str, Any]]) -> Artifact:
    """Let build fill a folder and say facts about it; put it in place under the digest of both. Equal content is one folder."""
    home = lake.artifacts / asset / (partition or WHOLE)
    home.mkdir(parents=True, exist_ok=True)
    aside = home / f".{uuid.uuid4().hex}.tmp"
    aside.mkdir()
    try:
        facts = dict(build(aside))
        files: dict[str, dict[str, Any]] = {
            path.relative_to(aside).as_posix(): {"bytes": path.stat().st_size, "checksum": file_checksum(path)}
            for path in sorted(aside.rglob("*"))
            if path.is_file()
        }
        name = digest([*(f"{path} {entry['checksum']}" for path, entry in files.items()), _stable(facts)])
        write_json(aside / "manifest.json", {"asset": asset, "partition": partition, "digest": name, "files": files, "facts": facts})
        target = home / name
        if target.exists() and not _is_intact(target):
            shutil.rmtree(target)  # equal content was here and has been damaged since
        if not target.exists():
            sync_tree(aside)
            os.replace(aside, target)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    size = sum(int(entry["bytes"]) for entry in files.values())
    return Artifact(asset, partition, target.relative_to(lake.root).as_posix(), name, size, facts)


def open_artifact(folder: Path, *, verify: bool = True) -> dict[str, Any]:
    """The manifest of an artifact's folder, once every file has the checksum it says. Raises IndexDamaged otherwise."""
    try:
        manifest: dict[str, Any] = read_json(folder / "manifest.json")
        files = manifest["files"]
    except (OSError, ValueError, KeyError) as fault:
        raise IndexDamaged(f"{folder} has no readable manifest ({type(fault).__name__}); {_REMEDY}") from fault
    for name, entry in files.items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != entry["bytes"]:
            raise IndexDamaged(f"{path} is missing or has another size than its manifest says; {_REMEDY}")
        if verify and file_checksum(path) != entry["checksum"]:
            raise IndexDamaged(f"{path} does not have the checksum of its manifest; {_REMEDY}")
    named = digest([*(f"{path} {entry['checksum']}" for path, entry in files.items()), _stable(manifest["facts"])])
    if named != manifest["digest"]:
        raise IndexDamaged(f"{folder / 'manifest.json'} was changed; {_REMEDY}")
    return manifest


def _is_intact(folder: Path) -> bool:
    try:
        open_artifact(folder)
    except IndexDamaged:
        return False
    return True


def load(lake: Lake, path: str, *, verify: bool = False) -> Artifact:
    """An artifact by its path below the lake's root."""
    manifest = open_artifact(lake.root / path, verify=verify)
    size = sum(int(entry["bytes"]) for entry in manifest["files"].values())
    return Artifact(manifest["asset"], manifest["partition"], path, manifest["digest"], size, manifest["facts"])


def _stable(facts: Mapping[str, Any]) -> str:
    return orjson.dumps(dict(facts), option=orjson.OPT_SORT_KEYS).decode()

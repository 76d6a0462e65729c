"""Releases: the manifests that readers read. Each pins every table's Delta version and every index's digest.

A release is made only of one cut: every partition finished, from the inputs that are pinned with it, its blocking
checks passed on just that content. Making one where nothing changed gives the newest again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from scholarlake.errors import ReleaseError
from scholarlake.lake import delta, locks, receipts
from scholarlake.lake.artifacts import WHOLE
from scholarlake.lake.artifacts import load as load_artifact
from scholarlake.lake.contracts import TABLES
from scholarlake.lake.files import read_json, write_json
from scholarlake.lake.home import Lake
from scholarlake.lake.judgement import NotReady, Present, named
from scholarlake.lake.stages import STAGES, Settings

_NAME = re.compile(r"r(\d{4,})\Z")


@dataclass(frozen=True)
class PinnedTable:
    """A table's path below the lake's root, the Delta version, and its rows at that version."""

    path: str
    version: int
    rows: int


@dataclass(frozen=True)
class PinnedArtifact:
    """An artifact's path below the lake's root, its digest, bytes and facts."""

    path: str
    digest: str
    bytes: int
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Release:
    """What a reader reads. artifacts: asset → partition ("all" where there is none) → artifact."""

    name: str
    created_at: str
    shards: int
    profile: Mapping[str, Any]
    embedder: Mapping[str, Any]
    tables: Mapping[str, PinnedTable]
    artifacts: Mapping[str, Mapping[str, PinnedArtifact]]
    data_versions: Mapping[str, str]
    previous: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cut(self) -> dict[str, Any]:
        """What the release stands for, apart from its name and time."""
        known = asdict(self)
        return {key: known[key] for key in ("shards", "profile", "embedder", "data_versions", "tables", "artifacts")}


def names(lake: Lake) -> list[str]:
    """All releases, oldest first."""
    found = [path.stem for path in lake.releases.glob("r*.json") if _NAME.match(path.stem)]
    return sorted(found, key=_number)


def load(lake: Lake, name: str = "latest") -> Release:
    """A release by name. Raises ReleaseError, naming those there are."""
    known = names(lake)
    if not known:
        raise ReleaseError(f"{lake.root} has no release yet; make one with `scholarlake build`")
    wanted = known[-1] if name == "latest" else name
    if wanted not in known:
        raise ReleaseError(f"no release {name!r} in {lake.root}; there are: {', '.join(known)}")
    found = read_json(lake.releases / f"{wanted}.json")
    return Release(
        **{
            **found,
            "tables": {table: PinnedTable(**pin) for table, pin in found["tables"].items()},
            "artifacts": {
                asset: {partition: PinnedArtifact(**pin) for partition, pin in pins.items()} for asset, pins in found["artifacts"].items()
            },
        }
    )


def predecessor(lake: Lake, release: Release) -> Release | None:
    """The newest release that is older than one, None where there is none."""
    older = [name for name in names(lake) if _number(name) < _number(release.name)]
    return load(lake, older[-1]) if older else None


def publish(lake: Lake, settings: Settings, embedder: Mapping[str, Any]) -> tuple[Release, bool]:
    """Make a release of the present state, or return the newest where it already says the same. The flag tells which.

    Raises ReleaseError where the state is no single cut, or a blocking check has not passed.
    """
    with locks.hold(lake, "release"):
        versions = _prove_one_cut(lake, settings)
        known = names(lake)
        newest = load(lake) if known else None
        release = Release(
            name=f"r{(_number(known[-1]) if known else 0) + 1:04d}",
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            shards=lake.shards,
            profile=settings.profile.model_dump(),
            embedder=dict(embedder),
            tables=_pin_tables(lake),
            artifacts=_pin_artifacts(lake),
            data_versions=versions,
            previous=newest.name if newest else None,
        )
        if newest is not None and newest.cut == release.cut:
            return newest, False
        write_json(lake.releases / f"{release.name}.json", asdict(release))
        return release, True


def snippets(lake: Lake, release: Release, table: str) -> dict[str, str]:
    """How to read one pinned table with Polars, DuckDB and Spark: lines to be pasted as they are."""
    pin = release.tables[table]
    path = str(lake.root / pin.path)
    literal, quoted = json.dumps(path, ensure_ascii=False), path.replace("'", "''")
    read = f"pl.scan_delta({literal}, version={pin.version})"
    imports = "polars as pl"
    if quote(path, safe="/!$&'()*+,;:@~") != path:  # Polars would look for the folder by the name that it has in an address
        read = f"pl.scan_pyarrow_dataset(deltalake.DeltaTable({literal}, version={pin.version}).to_pyarrow_dataset())"
        imports = "deltalake, polars as pl"
    return {
        "polars": f"import {imports}; {table} = {read}",
        "duckdb": f"INSTALL delta; LOAD delta; SELECT * FROM delta_scan('file://{quoted}', version => {pin.version})",
        "spark": f'spark.read.format("delta").option("versionAsOf", {pin.version}).load({literal})',
    }


def _prove_one_cut(lake: Lake, settings: Settings) -> dict[str, str]:
    """Every pinned partition's data version, once each was made from the versions pinned with it and passed its checks."""
    versions: dict[str, str] = {}
    present = Present(lake)
    for name in _pinned_stages():
        stage = STAGES[name]
        for partition in present.partitions(name):
            where = named(name, partition)
            receipt = present.receipt(name, partition)
            if receipt is None or not receipt.is_done:
                raise ReleaseError(f"{where} is not finished; run `scholarlake build`")
            if not stage.observed and receipt.code_version != stage.code_version(settings):
                raise ReleaseError(f"{where} was made by other code or settings; run `scholarlake build`")
            try:
                inputs = present.inputs(name, partition)
            except NotReady as fault:
                raise ReleaseError(str(fault)) from fault
            moved = [dep for dep, version in inputs.items() if receipt.inputs.get(dep) != version]
            if moved and not stage.observed:
                raise ReleaseError(f"{where} was made from another {', '.join(moved)}; run `scholarlake build`")
            _require_checks(lake, name, partition, where, receipt.data_version)
            versions[where] = receipt.data_version
    return versions


def _require_checks(lake: Lake, name: str, partition: str | None, where: str, data_version: str) -> None:
    outcomes = receipts.checks(lake, name, partition)
    for check in STAGES[name].blocking:
        outcome = outcomes.get(check)
        if outcome is None or outcome.data_version != data_version:
            raise ReleaseError(f"check {check} has not run on the present {where}; run `scholarlake build`")
        if not outcome.passed:
            raise ReleaseError(f"check {check} failed on {where}: {outcome.summary or 'see the Dagster UI'}")


def _pinned_stages() -> Iterator[str]:
    """The release's dependencies and all they rest on, in the order of the graph."""
    wanted = set(STAGES["release"].deps)
    while True:
        more = {dep for name in wanted for dep in STAGES[name].deps} - wanted
        if not more:
            return iter([name for name in STAGES if name in wanted])
        wanted |= more


def _pin_tables(lake: Lake) -> dict[str, PinnedTable]:
    """What the pinned stages write: a table that is made of releases, or beside them, is in none."""
    written = {table for stage in _pinned_stages() for table in STAGES[stage].tables}
    pins = {}
    for name in (name for name in TABLES if name in written):
        version = delta.version(lake, name)
        if version is not None:
            rows = delta.count(lake, name)
            pins[name] = PinnedTable(lake.table_path(name).relative_to(lake.root).as_posix(), version, rows)
    return pins


def _pin_artifacts(lake: Lake) -> dict[str, dict[str, PinnedArtifact]]:
    pins: dict[str, dict[str, PinnedArtifact]] = {}
    for name, stage in STAGES.items():
        if not stage.artifact:
            continue
        for receipt in receipts.read_all(lake, name):
            if receipt.artifact is not None:
                artifact = load_artifact(lake, receipt.artifact)
                pins.setdefault(name, {})[receipt.partition or WHOLE] = PinnedArtifact(
                    artifact.path, artifact.digest, artifact.bytes, dict(artifact.facts)
                )
    return pins


def _number(name: str) -> int:
    match = _NAME.match(name)
    return int(match.group(1)) if match else 0

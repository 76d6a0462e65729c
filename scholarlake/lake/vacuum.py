"""What a lake no longer needs, and taking it away: old releases, and every file that nothing kept rests on.

Kept of a table are the files of its newest version and of each version that a kept release pins, and what its Change Data Feed is read
from since the oldest of the newest releases; of artifacts those that a receipt or a kept release names. Delta's own vacuum would do
something else (deltalake 1.6.6): it makes two versions of the table, so that the next release would differ from the last in
nothing else; it keeps what killed runs left, or, asked for all, takes what a run has laid aside and the whole feed as well.

Manifests go first: what is killed half way leaves no release without its files, and the next time finds what is left. Logs stay:
they are small, and a pinned version is read through them. What does not belong here: who may be at work meanwhile (`guard.py`).
"""

from __future__ import annotations

import os
import re
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import orjson

from scholarlake.errors import ReleaseError
from scholarlake.lake import receipts, releases
from scholarlake.lake.contracts import TABLES, Table
from scholarlake.lake.files import sync_folder
from scholarlake.lake.home import Lake
from scholarlake.lake.locks import alone
from scholarlake.lake.releases import Release
from scholarlake.lake.stages import STAGES
from scholarlake.lake.table_files import files_of, open_version
from scholarlake.profile import Retention

UNNAMED_SECONDS = 3_600
"""What no commit or rename has named yet is left so long: it may be on its way there, of somebody who holds no lock."""
_DAY = 86_400
_COMMIT = re.compile(r"(\d{20})\.json\Z")
_GONE = ".gone"  # ends the name of a folder that is being taken away
_UNFINISHED = re.compile(r".*(#\d+|\.tmp)\Z")  # what a killed commit leaves in a log


@dataclass(frozen=True)
class Policy:
    """What is kept. newest: so many releases. named: these too. days: and all that are no older. spool_days: how long finished work
    of a run that died is kept for the next one to take up."""

    newest: int
    named: tuple[str, ...] = ()
    days: float = 0
    spool_days: float = 7


@dataclass(frozen=True)
class Waste:
    """One thing to take away: what it is, of which table or asset, and where."""

    what: str
    of: str
    path: Path
    bytes: int


@dataclass(frozen=True)
class Sweep:
    """What a policy keeps, drops, and takes away."""

    kept: tuple[str, ...]
    dropped: tuple[str, ...]
    waste: tuple[Waste, ...]

    @property
    def bytes(self) -> int:
        return sum(one.bytes for one in self.waste)

    def sums(self) -> list[dict[str, Any]]:
        """Things and bytes by what they are and what they are of."""
        found: dict[tuple[str, str], list[int]] = {}
        for one in self.waste:
            found.setdefault((one.what, one.of), []).append(one.bytes)
        return [{"what": what, "of": of, "count": len(sizes), "bytes": sum(sizes)} for (what, of), sizes in found.items()]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"kept": list(self.kept), "dropped": list(self.dropped), "bytes": self.bytes, "freed": self.sums()}


def retention(lake: Lake, newest: int | None = None, named: tuple[str, ...] = (), days: float | None = None) -> Policy:
    """What is said, and for what is not the profile that the newest release was made with."""
    known = releases.names(lake)
    profile = Retention.model_validate(releases.load(lake).profile.get("retention", {}) if known else {})
    return Policy(
        profile.keep_releases if newest is None else newest,
        named,
        profile.keep_days if days is None else days,
        profile.spool_days,
    )


def look(lake: Lake, policy: Policy) -> Sweep:
    """What the policy would take away now. Changes nothing. Raises ReleaseError for a release of no name."""
    now = time.time()
    known = [releases.load(lake, name) for name in releases.names(lake)]
    newest = known[-max(1, policy.newest) :]
    kept = [release for release in known if release in newest or _is_spared(release, policy, now)]
    if strange := sorted(set(policy.named) - {release.name for release in known}):
        named = ", ".join(release.name for release in known) or "none"
        raise ReleaseError(f"no release {', '.join(strange)} in {lake.root}; there are: {named}")
    dropped = [release.name for release in known if release not in kept]
    waste = [
        *(_waste("manifest", name, lake.releases / f"{name}.json") for name in dropped),
        *_artifacts(lake, kept),
        *(one for contract in TABLES.values() for one in _table(lake, contract, kept, newest, now)),
        *_spool(lake, now - policy.spool_days * _DAY),
        *_aside(lake, now - UNNAMED_SECONDS),
    ]
    return Sweep(tuple(release.name for release in kept), tuple(dropped), tuple(waste))


def sweep(lake: Lake, policy: Policy) -> Sweep:
    """Take it away. Raises LakeError where a run is at work, ReleaseError for a release of no name; nothing is changed then."""
    with alone(lake):
        found = look(lake, policy)
        for one in found.waste:
            _take_away(one)
        return found


def _is_spared(release: Release, policy: Policy, now: float) -> bool:
    age = max(0.0, now - datetime.fromisoformat(release.created_at).timestamp())  # another machine's clock may be ahead
    return release.name in policy.named or age < policy.days * _DAY


def _take_away(one: Waste) -> None:
    if one.path.is_dir():  # out of sight first: nobody opens half an artifact
        hidden = one.path if one.path.name.endswith(_GONE) else one.path.with_name(f".{uuid.uuid4().hex}{_GONE}")
        os.replace(one.path, hidden)
        shutil.rmtree(hidden)
    else:
        one.path.unlink(missing_ok=True)
    if one.what == "manifest":
        sync_folder(one.path.parent)  # for good, before the files that it names go


# -- tables ----------------------------------------------------------------------------------------------------------


def _table(lake: Lake, contract: Table, kept: Sequence[Release], newest: Sequence[Release], now: float) -> Iterator[Waste]:
    folder = lake.table_path(contract.name)
    lying = list(_files_below(folder))  # before the log is read: what is committed meanwhile is named there
    log = dict(_log(folder))
    if not log:
        return
    present = max(log)
    pinned = {release.name: release.tables[contract.name].version for release in kept if contract.name in release.tables}
    since = min((pinned[release.name] for release in newest if release.name in pinned), default=present)
    needed = {file.name for version in {present, *pinned.values()} for file in files_of(open_version(folder, contract, version), contract)}
    if contract.feed:
        needed |= {name for version, actions in log.items() if version > since for name in _feed(actions)}
    needed = _either_spelling(needed)
    named = _either_spelling(action.path for actions in log.values() for action in actions)
    for path in lying:
        name = path.relative_to(folder).as_posix()
        if name in needed:
            continue
        if name in named:
            yield _waste("change file" if name.startswith("_change_data/") else "file of a version", contract.name, path)
        elif path.stat().st_mtime < now - UNNAMED_SECONDS:
            yield _waste("file of no version", contract.name, path)
    for path in (folder / "_delta_log").iterdir():
        if _UNFINISHED.match(path.name) and path.stat().st_mtime < now - UNNAMED_SECONDS:
            yield _waste("unfinished commit", contract.name, path)


@dataclass(frozen=True)
class _Action:
    """What a commit says of a file. kind: add, remove or cdc."""

    kind: str
    path: str
    is_change: bool


def _log(folder: Path) -> Iterator[tuple[int, list[_Action]]]:
    """Version → what its commit says of files."""
    for path in (folder / "_delta_log").glob("*.json"):
        if match := _COMMIT.match(path.name):
            lines = (orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip())
            yield (
                int(match[1]),
                [
                    _Action(kind, str(entry[kind]["path"]), bool(entry[kind].get("dataChange")))
                    for entry in lines
                    for kind in ("add", "remove", "cdc")
                    if kind in entry
                ],
            )


def _feed(actions: Sequence[_Action]) -> set[str]:
    """The files that a commit's part of the Change Data Feed is read from: its change files, or, where it has none, its rows."""
    changes = {action.path for action in actions if action.kind == "cdc"}
    return changes or {action.path for action in actions if action.is_change}


def _either_spelling(names: Iterable[str]) -> set[str]:
    """The log may spell a partition's folder in percent signs once more than the disk does."""
    return {spelling for name in names for spelling in (name, unquote(name))}


def _files_below(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and "_delta_log" not in path.relative_to(folder).parts)


# -- what is no table ------------------------------------------------------------------------------------------------


def _artifacts(lake: Lake, kept: Sequence[Release]) -> Iterator[Waste]:
    pinned = {pin.path for release in kept for pins in release.artifacts.values() for pin in pins.values()}
    for stage in STAGES.values():
        if stage.artifact:
            needed = pinned | {receipt.artifact for receipt in receipts.read_all(lake, stage.name)}
            for folder in sorted((lake.artifacts / stage.name).glob("*/[!.]*")):
                if folder.relative_to(lake.root).as_posix() not in needed:
                    yield _waste("artifact", stage.name, folder)


def _spool(lake: Lake, before: float) -> Iterator[Waste]:
    for stage in STAGES:
        for folder in sorted(lake.spool(stage).glob("*/")):
            if _touched(folder) < before:
                yield _waste("spool", stage, folder)


def _aside(lake: Lake, before: float) -> Iterator[Waste]:
    """Files and folders that were written aside and never moved into place, or moved out of it and not yet gone."""
    for home in (lake.receipts, lake.releases, lake.artifacts, lake.spool()):
        aside = (path for path in sorted(home.rglob(".*.tmp")) if _touched(path) < before)
        for path in (*aside, *sorted(home.rglob(f".*{_GONE}"))):
            yield _waste("leftover", home.name, path)


def _touched(path: Path) -> float:
    """When something in it was last written, seconds since the epoch."""
    return max(one.stat().st_mtime for one in (path, *path.rglob("*")))


def _waste(what: str, of: str, path: Path) -> Waste:
    inside = [one for one in path.rglob("*") if one.is_file()] if path.is_dir() else [path]
    return Waste(what, of, path, sum(one.stat().st_size for one in inside))

"""The registry as it is read: an object in any version that it had, what it rests on, what rests on it, and what happened to it.

What does not belong here: what the object is traced to (`trace`), and how it got here (`build`, `tasks`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson
import polars as pl

from scholarlake.errors import NotFound
from scholarlake.knowledge.registry import standing
from scholarlake.lake.contracts import PIPELINE, REGISTRY
from scholarlake.lake.home import Lake

if TYPE_CHECKING:
    from scholarlake.door import ReleaseReader

Scan = Callable[[str], pl.LazyFrame]


@dataclass(frozen=True)
class Version:
    """One version of an object. content: all that it said, in the shape of its table; reason: why it does not stand, or what it revised;
    parent: the version that it revised."""

    asset_id: str
    version: int
    object_id: str
    kind: str
    layer: int
    collection: str | None
    title: str
    content: Mapping[str, Any]
    status: str
    reason: str | None
    verification: str | None
    review: str | None
    parent: int | None
    chain: str
    stage: str
    method: str
    created_at: datetime
    changed_at: datetime

    @property
    def stands(self) -> bool:
        return self.status in standing.LIVE


@dataclass(frozen=True)
class Link:
    """What rests on what: an object in a version, and what it is to the other."""

    asset_id: str
    version: int
    kind: str
    role: str


@dataclass(frozen=True)
class Event:
    """Something that happened to an object. cause: the object that brought it."""

    version: int
    event: str
    reason: str
    cause: str | None
    chain: str
    stage: str
    at: datetime


class Registry:
    """The registry that some tables hold. scan: a table by its name."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan

    @classmethod
    def of(cls, lake: Lake) -> Registry:
        """The registry at work: as the last run and the last task left it."""
        return cls(lake.scan)

    @classmethod
    def over(cls, reader: ReleaseReader) -> Registry:
        """The registry of a release, and over it what tasks have made since, readable at once."""
        return cls(lambda name: _overlaid(reader, name))

    def held(self) -> Registry:
        """The same with its tables in memory: for who asks for a great part of them."""
        frames = {name: self._scan(name).collect() for name in ("registry", "registry_dependencies", "registry_events")}
        return Registry(lambda name: frames[name].lazy())

    def rows(self) -> pl.LazyFrame:
        """Every version of every object."""
        return self._scan("registry")

    def find(self, id: str) -> Version:
        """An object by the id of one of its versions, which then is the one that is given, or by that of the asset: the version at which it
        stands. Raises NotFound."""
        wanted = (pl.col("object_id") == id) | (pl.col("asset_id") == id)
        rows = self._scan("registry").filter(wanted).collect()
        if rows.is_empty():
            raise NotFound(f"no object {id!r} is registered; `scholarlake trace` takes the id of a fact, assignment, relation or synthesis")
        exact = rows.filter(pl.col("object_id") == id)
        if exact.height:
            asset, version = standing.by_object(exact).select("asset_id", "version").row(0)
            if asset != id:
                return self.version(asset, version)
        return self.standing(id)

    def standing(self, asset_id: str) -> Version:
        """The version at which an object stands; of one that is retracted the last."""
        rows = self._rows(asset_id)
        return _version(standing.heads(rows).row(0, named=True))

    def history(self, asset_id: str) -> list[Version]:
        """All versions of an object, the first first."""
        return [_version(row) for row in self._rows(asset_id).sort("version").iter_rows(named=True)]

    def version(self, asset_id: str, number: int) -> Version:
        """One version. Raises NotFound, saying how many there are."""
        found = self.history(asset_id)
        for one in found:
            if one.version == number:
                return one
        raise NotFound(f"{asset_id} has no version {number}; it has {', '.join(str(one.version) for one in found)}")

    def events(self, asset_id: str) -> list[Event]:
        """What happened to an object, the first first."""
        columns = ["version", "event", "reason", "cause", "chain", "stage", "at"]
        rows = self._scan("registry_events").filter(pl.col("asset_id") == asset_id).collect().sort("at", "version", "event")
        return [Event(*row) for row in rows.select(columns).iter_rows()]

    def basis(self, asset_id: str, version: int) -> list[Link]:
        """What a version rests on, in the versions that it was made from."""
        mine = (pl.col("dependent") == asset_id) & (pl.col("dependent_version") == version)
        rows = self._scan("registry_dependencies").filter(mine).select("basis", "basis_version", "basis_kind", "role").collect()
        return [Link(*row) for row in rows.sort("role", "basis").iter_rows()]

    def dependents(self, asset_id: str) -> list[Link]:
        """What rests on an object, in any version of either."""
        mine = pl.col("basis") == asset_id
        rows = self._scan("registry_dependencies").filter(mine).select("dependent", "dependent_version", "dependent_kind", "role").collect()
        return [Link(*row) for row in rows.sort("dependent", "dependent_version", "role").iter_rows()]

    def objects(self, ids: list[str]) -> dict[str, Version]:
        """Versions by their object ids, of those that there are."""
        rows = self._scan("registry").filter(pl.col("object_id").is_in(ids)).collect()
        return {row["object_id"]: _version(row) for row in standing.by_object(rows).iter_rows(named=True)}

    def _rows(self, asset_id: str) -> pl.DataFrame:
        rows = self._scan("registry").filter(pl.col("asset_id") == asset_id).collect()
        if rows.is_empty():
            raise NotFound(f"no object {asset_id!r} is registered")
        return rows


def _version(row: Mapping[str, Any]) -> Version:
    known = {name: row[name] for name in REGISTRY.columns if name != "content_hash"}
    return Version(**{**known, "content": orjson.loads(row["content"])})


def _overlaid(reader: ReleaseReader, name: str) -> pl.LazyFrame:
    released = reader.table(name)
    if name not in ("registry", "registry_dependencies", "registry_events"):
        return released
    made = reader.lake.scan("registry").filter(pl.col("chain") != PIPELINE)
    of = {"registry": "asset_id", "registry_events": "asset_id", "registry_dependencies": "dependent"}[name]
    key = {"registry": ["asset_id", "version"], "registry_events": ["event_id"]}.get(
        name, ["dependent", "dependent_version", "basis", "role"]
    )
    newer = reader.lake.scan(name).join(made.select(pl.col("asset_id").alias(of)).unique(), on=of, how="semi")
    return pl.concat([released.join(newer, on=key, how="anti"), newer])

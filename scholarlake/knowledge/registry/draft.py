"""A change of the registry while it is made up: rows that come and move, events, and the marks that follow from them.

What does not belong here: what is to change (`build`, `tasks`, `recheck`), and how it is written (`journal`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import polars as pl

from scholarlake.knowledge.registry import standing
from scholarlake.knowledge.registry.journal import Change
from scholarlake.knowledge.registry.present import LAYERS
from scholarlake.lake.contracts import PIPELINE, REGISTRY, REGISTRY_DEPENDENCIES, REGISTRY_EVENTS
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake

KEY = ["asset_id", "version"]
#: What of an object may change without its being another version.
TOLD = ("title", "content", "content_hash", "verification", "review", "method")


class Draft:
    """A change on its way. known: every version as it will be, without content; causes: asset → why it was revised or taken."""

    def __init__(self, lake: Lake, run_id: str) -> None:
        self.lake = lake
        self.known = standing.versions(lake)
        self.causes: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self._run_id = run_id
        self._now = datetime.now(UTC)
        self._rows: list[pl.DataFrame] = []
        self._events: list[pl.DataFrame] = []

    # -- rows --------------------------------------------------------------------------------------------------------

    def put(self, rows: pl.DataFrame) -> None:
        """Whole rows to be written. The last word on a version stands."""
        if rows.is_empty():
            return
        self._rows.append(rows)
        narrow = rows.select(self.known.columns).unique(KEY, keep="last", maintain_order=True)
        self.known = pl.concat([self.known.join(narrow, on=KEY, how="anti"), narrow])

    def put_all(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self.put(pl.DataFrame(list(rows), schema=REGISTRY.schema))

    def born(self, objects: pl.DataFrame) -> pl.DataFrame:
        """New objects (schema OBJECTS), each as the first version of its asset."""
        at = pl.lit(self._now).cast(REGISTRY.schema["created_at"])
        return objects.with_columns(
            asset_id=pl.col("object_id"),
            version=pl.lit(1),
            layer=pl.col("kind").replace_strict(LAYERS, return_dtype=pl.Int64),
            status=pl.lit("current"),
            reason=pl.lit(None),
            parent=pl.lit(None),
            chain=pl.lit(PIPELINE),
            created_at=at,
            changed_at=at,
        ).select([pl.col(name).cast(dtype) for name, dtype in REGISTRY.schema.items()])

    def version_of(
        self, one: Mapping[str, Any], asset_id: str, version: int, parent: int | None, reason: str | None, *, status: str = "current"
    ) -> dict[str, Any]:
        """An object (OBJECTS, or with a chain of its own) as a version of an asset."""
        return {
            "chain": PIPELINE,
            **one,
            "asset_id": asset_id,
            "version": version,
            "layer": LAYERS[one["kind"]],
            "status": status,
            "reason": reason,
            "parent": parent,
            "created_at": self._now,
            "changed_at": self._now,
        }

    def moved(self, row: Mapping[str, Any], status: str, reason: str | None) -> dict[str, Any]:
        """A row that changes its status."""
        return {**row, "status": status, "reason": reason, "changed_at": self._now}

    def last_versions(self, assets: Iterable[str]) -> dict[str, int]:
        """Asset → the highest number that a version of it has."""
        wanted = self.known.filter(pl.col("asset_id").is_in(pl.Series(list(assets), dtype=pl.String).implode()))
        return dict(wanted.group_by("asset_id").agg(pl.col("version").max()).iter_rows())

    def assets_of(self, ids: Iterable[str]) -> dict[str, str]:
        """Object id → the asset that it is a version of."""
        wanted = self.known.filter(pl.col("object_id").is_in(pl.Series(sorted(set(ids)), dtype=pl.String).implode()))
        return dict(standing.by_object(wanted).select("object_id", "asset_id").iter_rows())

    # -- events ------------------------------------------------------------------------------------------------------

    def tell(self, event: str, rows: Sequence[tuple[Mapping[str, Any], str, str | None]], *, chain: str = "", stage: str = "") -> None:
        """Something that happened to some rows of the registry, each with the reason and the object that brought it. chain, stage: who
        did it, unless it was who made them."""
        if not rows:
            return
        told = [
            {
                "asset_id": row["asset_id"],
                "version": row["version"],
                "kind": row["kind"],
                "reason": reason,
                "cause": cause,
                "chain": chain or row["chain"],
                "stage": stage or row["stage"],
            }
            for row, reason, cause in rows
        ]
        schema = {name: REGISTRY_EVENTS.schema[name] for name in told[0]}
        self._add(event, pl.DataFrame(told, schema=schema))

    def tell_of(self, event: str, rows: pl.DataFrame, reason: str) -> None:
        """The same for many rows at once, for one reason."""
        columns = ("asset_id", "version", "kind", "chain", "stage")
        self._add(event, rows.select(*columns, reason=pl.lit(reason), cause=pl.lit(None, pl.String)))

    def _add(self, event: str, told: pl.DataFrame) -> None:
        self.counts[event] += told.height
        at = self._now.isoformat()
        named = told.select("asset_id", "version", "cause").iter_rows()
        ids = [f"event-{digest([asset, str(version), event, cause or '', at])}" for asset, version, cause in named]
        whole = told.with_columns(
            event_id=pl.Series(ids, dtype=pl.String), event=pl.lit(event), run_id=pl.lit(self._run_id), at=pl.lit(self._now)
        )
        self._events.append(whole.select([pl.col(name).cast(kind) for name, kind in REGISTRY_EVENTS.schema.items()]))

    # -- all of it ---------------------------------------------------------------------------------------------------

    def change(self, upserts: pl.DataFrame, severed: pl.DataFrame) -> Change:
        """All that is to be written. upserts, severed: what comes to rest on what, and what does no longer."""
        key = list(REGISTRY_DEPENDENCIES.key)
        there = standing.dependencies(self.lake)
        after = pl.concat([there.join(pl.concat([severed, upserts.select(key)]), on=key, how="anti"), upserts])
        self._mark(after)
        rows = pl.concat([pl.DataFrame(schema=REGISTRY.schema), *self._rows]).unique(KEY, keep="last", maintain_order=True)
        events = pl.concat([pl.DataFrame(schema=REGISTRY_EVENTS.schema), *self._events]).unique("event_id", maintain_order=True)
        return Change(rows, upserts, events, severed)

    def _mark(self, after: pl.DataFrame) -> None:
        """Mark what tasks made and what rests on something that moved; what rests firmly again is current again."""
        heads = standing.heads(self.known)
        doubt = standing.doubtful(heads, after)
        joined = heads.filter((pl.col("chain") != PIPELINE) & pl.col("status").is_in(standing.LIVE)).join(doubt, on="asset_id", how="left")
        doubted = joined.filter(pl.col("why").is_not_null() & (pl.col("status") == "current"))
        firm = joined.filter(pl.col("why").is_null() & (pl.col("status") == "needs_recheck"))
        whole = {(row["asset_id"], row["version"]): row for row in self._whole(pl.concat([doubted, firm]).select(*KEY, "kind"))}
        marked = [(whole[row["asset_id"], row["version"]], row["why"], row["cause"]) for row in doubted.iter_rows(named=True)]
        again = [(whole[key], "what it rests on is again as it was", None) for key in firm.select(KEY).iter_rows()]
        self.put_all(self.moved(row, "needs_recheck", why) for row, why, _ in marked)
        self.put_all(self.moved(row, "current", None) for row, *_ in again)
        self.tell("needs_recheck", marked)
        self.tell("restored", again)

    def _whole(self, rows: pl.DataFrame) -> list[dict[str, Any]]:
        """Whole rows of some versions, as this change has them."""
        pending = pl.concat([pl.DataFrame(schema=REGISTRY.schema), *self._rows]).unique(KEY, keep="last", maintain_order=True)
        mine = pending.join(rows, on=KEY, how="semi")
        return [*mine.to_dicts(), *standing.contents(self.lake, rows.join(mine, on=KEY, how="anti")).to_dicts()]

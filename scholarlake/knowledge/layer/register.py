"""What the registry says of objects as a reader sees them: identity, version, lifecycle, review and origin.

It is the registry of the release, and over it, as they are now, the objects that tasks made or revised since. What does not belong here:
registering anything (`registry`), finding objects by words or meaning (`overlay`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from scholarlake.knowledge.layer.items import Origin, Standing
from scholarlake.lake.contracts import PIPELINE

LIVE = ("current", "needs_recheck")
STANDS: Mapping[str, str] = {
    "current": "is current",
    "superseded": "is superseded",
    "retracted": "is retracted",
    "needs_recheck": "needs a recheck",
}
"""A status in words."""
NARROW = ("asset_id", "version", "object_id", "kind", "collection", "status", "reason", "verification", "review", "chain", "stage")


@dataclass(frozen=True)
class Known:
    """What is known of one version of an object. more: verification and review as they are now, where the registry has them."""

    kind: str
    collection: str | None
    standing: Standing
    origin: Origin
    more: Mapping[str, str]


class Register:
    """The registry's rows, narrow. Equal rows give equal answers, whatever their order."""

    def __init__(self, released: pl.LazyFrame, working: pl.LazyFrame) -> None:
        of_tasks = working.filter(pl.col("chain") != PIPELINE).select("asset_id").unique()
        newer = working.join(of_tasks, on="asset_id", how="semi").select(NARROW)
        older = released.select(NARROW).join(newer, on=["asset_id", "version"], how="anti")
        # Of several versions that say the same, the one that stands is meant, else the last.
        order = [pl.col("status").is_in(LIVE), pl.col("version"), pl.col("asset_id")]
        self._rows = pl.concat([older, newer]).sort(order).unique("object_id", keep="last", maintain_order=True).collect()

    def known(self, ids: Iterable[str]) -> dict[str, Known]:
        """What is known of some objects; those that are in no registry are left out."""
        wanted = pl.DataFrame({"object_id": list(dict.fromkeys(ids))}, {"object_id": pl.String})
        rows = self._rows.join(wanted, on="object_id", how="semi")
        return {row["object_id"]: _known(row) for row in rows.iter_rows(named=True)}

    def behind(self, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The version that each asset stands at now, for the assets of some objects: object id → row."""
        mine = self._rows.filter(pl.col("object_id").is_in(list(ids))).select("asset_id", asked="object_id")
        heads = self._rows.sort(pl.col("status").is_in(LIVE), "version").unique("asset_id", keep="last")
        return {row["asked"]: row for row in heads.join(mine, on="asset_id").iter_rows(named=True)}


def _known(row: Mapping[str, Any]) -> Known:
    return Known(
        kind=row["kind"],
        collection=row["collection"],
        standing=Standing(row["asset_id"], row["version"], row["status"], row["reason"] if row["status"] != "current" else None),
        origin=Origin(row["chain"], row["stage"]),
        more={name: row[name] for name in ("verification", "review") if row[name] is not None},
    )

"""Where the registry stands: its versions without what they say, and what is to become of whatever rests on something that moved.

What does not belong here: what is present (`present`), and how a change is written (`journal`).
"""

from __future__ import annotations

import polars as pl

from scholarlake.lake.contracts import PIPELINE, REGISTRY, REGISTRY_DEPENDENCIES
from scholarlake.lake.home import Lake

LIVE = ("current", "needs_recheck")
_NARROW = [name for name in REGISTRY.columns if name != "content"]
#: What an asset stands at: asset_id, version, status, object_id, kind, chain, reason.
STATE = pl.Schema({name: REGISTRY.schema[name] for name in ("asset_id", "version", "status", "object_id", "kind", "chain", "reason")})


def versions(lake: Lake) -> pl.DataFrame:
    """Every version of every object, without its content."""
    return lake.scan("registry").select(_NARROW).collect()


def heads(rows: pl.DataFrame) -> pl.DataFrame:
    """The version that each asset stands at: the one that no other superseded, or, where all are, the last."""
    superseded = pl.col("status") == "superseded"
    return rows.sort(superseded, -pl.col("version")).unique("asset_id", keep="first", maintain_order=True)


def contents(lake: Lake, rows: pl.DataFrame) -> pl.DataFrame:
    """Whole rows of some versions, named by asset_id and version."""
    kinds = rows["kind"].unique().to_list() if "kind" in rows.columns else []
    wanted = pl.col("asset_id").is_in(rows["asset_id"].unique().implode())
    if kinds:
        wanted &= pl.col("kind").is_in(kinds)
    return lake.scan("registry").filter(wanted).collect().join(rows, on=["asset_id", "version"], how="semi")


def dependencies(lake: Lake) -> pl.DataFrame:
    return lake.scan("registry_dependencies").collect()


def doubtful(state: pl.DataFrame, resting: pl.DataFrame) -> pl.DataFrame:
    """What tasks made and has to be looked at again: asset_id, cause, why; the first cause by id.

    state: STATE of every asset. resting: `registry_dependencies`, of which those of the versions in state count. An object rests firmly
    where every basis stands at the version that it was made from, is not retracted, and rests firmly itself.
    """
    mine = resting.join(state, left_on=["dependent", "dependent_version"], right_on=["asset_id", "version"], how="semi")
    # What stages make is made anew from what there is, and rests on nothing else.
    made = state.filter((pl.col("chain") != PIPELINE) & pl.col("status").is_in(LIVE))
    on = mine.join(made.select(dependent="asset_id"), on="dependent", how="semi").join(
        state.select(basis="asset_id", stands_at="version", basis_status="status", basis_reason="reason"), on="basis", how="left"
    )
    reason = pl.coalesce("basis_reason", pl.lit("it changed"))
    why = (
        pl.when(pl.col("basis_status").is_null())
        .then(pl.lit("a basis is not registered"))
        .when(pl.col("basis_status") == "retracted")
        .then(pl.format("a basis was retracted: {}", reason))
        .when((pl.col("stands_at") != pl.col("basis_version")) | (pl.col("basis_status") == "superseded"))
        .then(pl.format("a basis was revised: {}", reason))
    )
    found = on.with_columns(why=why).filter(pl.col("why").is_not_null()).select("dependent", "basis", "why")
    reached = _first(found)
    while True:
        above = on.join(reached.select(basis="asset_id"), on="basis", how="semi").join(
            reached.select(dependent="asset_id"), on="dependent", how="anti"
        )
        if above.is_empty():
            return reached
        told = above.select("dependent", "basis", why=pl.lit("a basis has to be looked at again itself"))
        reached = pl.concat([reached, _first(told)])


def _first(found: pl.DataFrame) -> pl.DataFrame:
    return (
        found.sort("dependent", "basis", "why")
        .unique("dependent", keep="first", maintain_order=True)
        .select(asset_id="dependent", cause="basis", why="why")
    )


def by_object(rows: pl.DataFrame) -> pl.DataFrame:
    """Object id → the version that it is, one a row: where it was one of two assets, of the one where it stands."""
    rank = pl.col("status").replace_strict({"current": 0, "needs_recheck": 0, "retracted": 1, "superseded": 2}, return_dtype=pl.Int8)
    return rows.sort(rank, -pl.col("version"), "asset_id").unique("object_id", keep="first", maintain_order=True)


def dependency_rows(pairs: pl.DataFrame, objects: pl.DataFrame) -> pl.DataFrame:
    """Rows of `registry_dependencies`, from pairs of object ids and roles (RESTING) and what version each object is. What is no registered
    object gives none."""
    sides = (
        objects.select(pl.col("object_id").alias(side), *(pl.col(name).alias(f"{side}_{name}") for name in ("asset_id", "version", "kind")))
        for side in ("dependent", "basis")
    )
    dependents, grounds = sides
    joined = pairs.join(dependents, on="dependent", how="inner").join(grounds, on="basis", how="inner")
    return (
        joined.drop("dependent", "basis")
        .rename({"dependent_asset_id": "dependent", "basis_asset_id": "basis"})
        .select(list(REGISTRY_DEPENDENCIES.columns))
        .sort(list(REGISTRY_DEPENDENCIES.columns))
        .unique(REGISTRY_DEPENDENCIES.key, keep="last", maintain_order=True)
    )

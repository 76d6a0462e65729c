"""What must hold of the registry: every present object stands in it, what rests on what resolves, and every change was told."""

from __future__ import annotations

import polars as pl

from scholarlake.knowledge.registry import standing
from scholarlake.knowledge.registry.draft import KEY
from scholarlake.knowledge.registry.present import KINDS, objects, resting
from scholarlake.lake.contracts import PIPELINE
from scholarlake.lake.findings import Finding, from_offenders
from scholarlake.lake.home import Lake

_STANDS = pl.col("status").is_in(standing.LIVE)
#: What must have happened to a version for it to have its status.
_TOLD_BY = {
    "current": ("registered", "revised", "restored", "rechecked"),
    "needs_recheck": ("needs_recheck",),
    "retracted": ("retracted",),
    "superseded": ("superseded", "revised"),
}


def every_object_is_registered(lake: Lake) -> Finding:
    """What the tables of the layers hold stands in the registry as it is, and nothing else of theirs does. What a task has revised stands
    by what the task made of it."""
    claim = "every object of the three layers is registered as it is, and nothing that is gone stands"
    known = standing.versions(lake)
    here = pl.concat([objects(lake, kind).select("object_id", "kind", "content_hash") for kind in KINDS])
    made = standing.by_object(known.filter(pl.col("chain") == PIPELINE))
    revised = standing.heads(known).filter((pl.col("chain") != PIPELINE) & _STANDS).select("asset_id")
    joined = here.join(made.select("object_id", "asset_id", "status", registered="content_hash"), on="object_id", how="left")
    missing = joined.filter(pl.col("status").is_null()).select("object_id", fault=pl.lit("it is not registered"))
    other = joined.filter(pl.col("content_hash") != pl.col("registered")).select("object_id", fault=pl.lit("it is registered otherwise"))
    fallen = joined.filter(~_STANDS).join(revised, on="asset_id", how="anti").select("object_id", fault=pl.lit("it does not stand"))
    gone = made.filter(_STANDS).join(here, on="object_id", how="anti").select("object_id", fault=pl.lit("it stands, and is gone"))
    wrong = pl.concat([missing, other, fallen, gone]).lazy()
    return from_offenders("every_object_is_registered", claim, here.height, wrong, {"versions": known.height})


def versions_follow_each_other(lake: Lake) -> Finding:
    """Versions are counted from 1, a parent is an earlier one, and of all but one it is said that another took their place."""
    claim = "the versions of every object run from 1 without a gap, and one of them stands or is retracted"
    known = standing.versions(lake)
    by_asset = known.group_by("asset_id").agg(
        pl.len().alias("versions"), pl.col("version").max().alias("last"), (pl.col("status") != "superseded").sum().alias("standing")
    )
    gaps = by_asset.filter((pl.col("versions") != pl.col("last")) | (pl.col("standing") > 1)).select("asset_id", "last", "standing")
    parents = known.filter(pl.col("parent") >= pl.col("version")).select("asset_id", last="version", standing=pl.lit(0, pl.UInt32))
    wrong = pl.concat([gaps, parents.cast({"standing": gaps.schema["standing"]})]).lazy()
    return from_offenders("versions_follow_each_other", claim, by_asset.height, wrong)


def dependencies_resolve(lake: Lake) -> Finding:
    """Both ends of every dependency are registered versions."""
    claim = "what rests on what is registered in the versions that are named"
    there = standing.dependencies(lake)
    known = standing.versions(lake).select(KEY)
    lost = [
        there.join(known, left_on=[end, f"{end}_version"], right_on=KEY, how="anti").select("dependent", "basis", "role")
        for end in ("dependent", "basis")
    ]
    return from_offenders("dependencies_resolve", claim, there.height, pl.concat(lost).unique().lazy())


def every_basis_is_a_dependency(lake: Lake) -> Finding:
    """What present objects say they rest on is registered, and known as what they rest on, in the version that is present."""
    claim = "every basis that an object of the layers names is registered, and known as its basis"
    pairs = resting(lake)
    made = standing.by_object(standing.versions(lake).filter(pl.col("chain") == PIPELINE))
    wanted = standing.dependency_rows(pairs, made)
    there = standing.dependencies(lake)
    unknown = [
        pairs.join(made, left_on=end, right_on="object_id", how="anti").select("dependent", "basis", fault=pl.lit(f"its {end} is unknown"))
        for end in ("dependent", "basis")
    ]
    unkept = wanted.join(there, on=there.columns, how="anti").select("dependent", "basis", fault=pl.lit("it is not kept"))
    return from_offenders("every_basis_is_a_dependency", claim, pairs.height, pl.concat([*unknown, unkept]).unique().lazy())


def every_change_was_told(lake: Lake) -> Finding:
    """There is an event for how every version stands."""
    claim = "every version of the registry has the event that made it what it is"
    known = standing.versions(lake)
    told = lake.scan("registry_events").select("asset_id", "version", "event").unique().collect()
    lost = [
        known.filter(pl.col("status") == status).join(told.filter(pl.col("event").is_in(events)), on=KEY, how="anti").select(*KEY, "status")
        for status, events in _TOLD_BY.items()
    ]
    stray = told.join(known, on=KEY, how="anti").select(*KEY, status="event")
    return from_offenders("every_change_was_told", claim, known.height, pl.concat([*lost, stray]).lazy())


def nothing_rests_on_what_moved(lake: Lake) -> Finding:
    """What is current rests on what stands, in the version in which it stands; what a task made and does not is called so."""
    claim = "no current object rests on what was revised or retracted since"
    heads = standing.heads(standing.versions(lake))
    there = standing.dependencies(lake)
    marked = standing.doubtful(heads, there)
    unmarked = marked.join(heads.filter(pl.col("status") == "current"), on="asset_id", how="semi").select("asset_id", fault="why")
    idle = (
        heads.filter(pl.col("status") == "needs_recheck")
        .join(marked, on="asset_id", how="anti")
        .select("asset_id", fault=pl.lit("it has to be looked at again for nothing"))
    )
    current = heads.filter(pl.col("status") == "current")
    resting_on = there.join(current, left_on=["dependent", "dependent_version"], right_on=KEY, how="semi")
    shaken = resting_on.join(heads.filter(_STANDS), left_on=["basis", "basis_version"], right_on=KEY, how="anti")
    moved = shaken.select(asset_id="dependent", fault=pl.format("{} moved", "basis"))
    return from_offenders("nothing_rests_on_what_moved", claim, current.height, pl.concat([unmarked, idle, moved]).unique().lazy())

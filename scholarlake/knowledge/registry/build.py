"""`registry`: what the present tables hold against what is registered: new, revised, gone, back; what rests on it and moved.

Most objects are the same on both sides and are told by sets of ids and hashes; only what changed is looked at one by one. What tasks made
is not touched, but marked where what it rests on moved. What does not belong here: rules of identity (`matching`), how a change is
written (`journal`), what a task registers (`tasks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import polars as pl

from scholarlake.corpus.progress import Progress, silent
from scholarlake.knowledge.registry import journal, standing
from scholarlake.knowledge.registry.draft import KEY, TOLD, Draft
from scholarlake.knowledge.registry.leaving import reasons
from scholarlake.knowledge.registry.matching import Candidate, Content, bases, continued
from scholarlake.knowledge.registry.present import KINDS, objects, resting
from scholarlake.knowledge.registry.wording import causes_of, difference
from scholarlake.lake import delta
from scholarlake.lake.contracts import PIPELINE, REGISTRY_DEPENDENCIES
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake

TABLES = ("registry", "registry_dependencies", "registry_events")
_STANDS = pl.col("status").is_in(standing.LIVE)
_BY_PIPELINE = pl.col("chain") == PIPELINE
_WHAT_AN_ENTITY_IS = ("type", "name", "keys")  # of other sources alone it is the same


@dataclass(frozen=True)
class RegistryReport:
    """What became of the registry. rows: versions that it holds; counts: objects by what happened to them in this run; by_kind, by_status:
    objects, and how they stand."""

    rows: int
    counts: Mapping[str, int]
    by_kind: Mapping[str, int]
    by_status: Mapping[str, int]
    versions: Mapping[str, int | None]
    content_version: str


def build_registry(lake: Lake, run: delta.Commit, progress: Progress = silent) -> RegistryReport:
    """Bring the registry to what the tables hold. Nothing new makes no version of any table."""
    with journal.held(lake, run):
        draft = Draft(lake, run.run_id)
        present = []
        for number, kind in enumerate(KINDS):
            progress(number, len(KINDS), f"registry: {kind}")
            present.append(_Kind(draft, kind).take_over())
        journal.commit(lake, draft.change(*_dependencies(draft, pl.concat(present))), run)
        versions = {name: delta.version(lake, name) for name in TABLES}
    heads = standing.heads(draft.known)
    return RegistryReport(
        rows=draft.known.height,
        counts=dict(sorted(draft.counts.items())),
        by_kind=dict(sorted(heads["kind"].value_counts().iter_rows())),
        by_status=dict(sorted(heads["status"].value_counts().iter_rows())),
        versions=versions,
        content_version=digest([f"{name}={version}" for name, version in versions.items()]),
    )


def _dependencies(draft: Draft, present: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What comes to rest on what among the present objects, and what does no longer."""
    mine = standing.by_object(draft.known.filter(_BY_PIPELINE))
    pairs = resting(draft.lake)
    wanted = standing.dependency_rows(pairs, mine)
    there = standing.dependencies(draft.lake).join(
        mine.join(present, on="object_id", how="semi"), left_on=["dependent", "dependent_version"], right_on=KEY, how="semi"
    )
    upserts = wanted.join(there, on=list(REGISTRY_DEPENDENCIES.columns), how="anti")
    severed = there.join(wanted, on=list(REGISTRY_DEPENDENCIES.key), how="anti").select(REGISTRY_DEPENDENCIES.key)
    return upserts, severed


class _Kind:
    """The objects of one kind, against those that are registered."""

    def __init__(self, draft: Draft, kind: str) -> None:
        self.draft, self.kind, self.lake = draft, kind, draft.lake

    def take_over(self) -> pl.DataFrame:
        """Register, revise, restore and retract. Returns the ids of what is present."""
        present = objects(self.lake, self.kind).select("object_id", "content_hash")
        mine = self.draft.known.filter(pl.col("kind") == self.kind)
        made = mine.filter(_BY_PIPELINE)
        heads = standing.heads(mine)
        overruled = heads.filter(~_BY_PIPELINE).select("asset_id")  # a task has revised them, and what it made stands
        registered = standing.by_object(made).select("object_id", *KEY, "status", registered_hash="content_hash")
        seen = present.join(registered, on="object_id", how="left").sort("object_id")
        fallen = seen.filter(~_STANDS).join(overruled, on="asset_id", how="anti")
        back = fallen.sort("asset_id", "version").unique("asset_id", keep="first", maintain_order=True)
        # A version that is back takes the place of the one that stood there; what that one says, if it is said too, goes on by itself.
        displaced = heads.filter(_STANDS).join(back, on="asset_id", how="semi")
        apart = pl.concat([fallen.join(back, on="object_id", how="anti"), seen.join(displaced, on="object_id", how="semi")])
        fresh = pl.concat([seen.filter(pl.col("asset_id").is_null()), apart])["object_id"]
        same = seen.filter(_STANDS).join(apart, on="object_id", how="anti")
        last = standing.heads(made)
        left = (
            pl.concat([last.filter(_STANDS).join(overruled, on="asset_id", how="anti"), last.join(overruled, on="asset_id", how="semi")])
            .join(present, on="object_id", how="anti")
            .join(displaced, on="asset_id", how="anti")
        )
        self._restore(back, displaced)
        revised = self._continue(left, fresh, set(overruled["asset_id"]))
        self._register(fresh.filter(~fresh.is_in(_ids(revised).implode())))
        self._refresh(same.filter(pl.col("content_hash") != pl.col("registered_hash")))
        stay = _ids(revised.values())
        self._retract(left.filter(_STANDS & ~pl.col("asset_id").is_in(stay.implode())))
        return present.select("object_id")

    def _register(self, ids: pl.Series) -> None:
        if ids.is_empty():
            return
        rows = self.draft.born(objects(self.lake, self.kind, ids))
        self.draft.put(rows)
        self.draft.tell_of("registered", rows, "it is new")

    def _continue(self, left: pl.DataFrame, fresh: pl.Series, overruled: set[str]) -> dict[str, str]:
        """Give new versions to objects that are gone and that new ones continue. Returns new object id → asset."""
        if left.is_empty() or fresh.is_empty():
            return {}
        old = {row["asset_id"]: row for row in self._whole(left)}
        new = {row["object_id"]: row for row in objects(self.lake, self.kind, fresh).iter_rows(named=True)}
        before, after = _said(old), _said(new)
        assets = self._assets([*before.values(), *after.values()])
        pairs = continued(self.kind, _candidates(before), _candidates(after), assets)
        self._revise([(old[asset], new[one], before[asset], after[one]) for one, asset in sorted(pairs.items())], assets, overruled)
        return pairs

    def _revise(
        self,
        pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any], Content, Content]],
        assets: Mapping[str, str],
        overruled: Iterable[str] = (),
    ) -> None:
        """Versions behind others. One of an object that a task has revised is kept, and does not stand."""
        numbers = self.draft.last_versions(old["asset_id"] for old, *_ in pairs)
        rows, replaced, came = [], [], []
        for old, new, before, after in pairs:
            asset = old["asset_id"]
            reason = difference(self.kind, before, after, assets, self.draft.causes)
            cause = causes_of(before, after, assets)
            self.draft.causes[asset] = reason
            version = self.draft.version_of(new, asset, numbers[asset] + 1, old["version"], reason)
            if asset in overruled:
                version |= {"status": "superseded", "reason": f"{reason}; what a task made of it stands"}
            else:
                rows.append(self.draft.moved(old, "superseded", reason))
                replaced.append((old, reason, cause))
            rows.append(version)
            came.append((version, reason, cause))
        self.draft.put_all(rows)
        self.draft.tell("superseded", replaced)
        self.draft.tell("revised", came)

    def _refresh(self, touched: pl.DataFrame) -> None:
        """Objects of the same id of which more, or less, is known: votes, places, sources. An entity of other names is another version."""
        if touched.is_empty():
            return
        new = {row["object_id"]: row for row in objects(self.lake, self.kind, touched["object_id"]).iter_rows(named=True)}
        rows, reviewed, revised = [], [], []
        for old in self._whole(touched):
            now = new[old["object_id"]]
            before, after = orjson.loads(old["content"]), orjson.loads(now["content"])
            if self.kind == "entity" and any(before[name] != after[name] for name in _WHAT_AN_ENTITY_IS):
                revised.append((old, now, before, after))
                continue
            rows.append({**old, **{name: now[name] for name in TOLD}})
            reviewed += [
                (old, f"{name} changed from {old[name]} to {now[name]}", None)
                for name in ("verification", "review")
                if old[name] != now[name]
            ]
        self.draft.put_all(rows)
        self.draft.tell("reviewed", reviewed)
        self._revise(revised, {})

    def _restore(self, back: pl.DataFrame, displaced: pl.DataFrame) -> None:
        if back.is_empty():
            return
        reason = "an earlier version is back"
        out = [(row, reason, None) for row in self._whole(displaced)]
        self.draft.causes |= {row["asset_id"]: reason for row, *_ in out}
        new = {row["object_id"]: row for row in objects(self.lake, self.kind, back["object_id"]).iter_rows(named=True)}
        again = [{**row, **{name: new[row["object_id"]][name] for name in TOLD}} for row in self._whole(back)]
        self.draft.put_all([self.draft.moved(row, "superseded", reason) for row, *_ in out])
        self.draft.put_all([self.draft.moved(row, "current", None) for row in again])
        self.draft.tell("superseded", out)
        self.draft.tell("restored", [(row, "it is back", None) for row in again])

    def _retract(self, left: pl.DataFrame) -> None:
        if left.is_empty():
            return
        rows = {row["asset_id"]: row for row in self._whole(left)}
        found = _said(rows)
        why = reasons(self.lake, self.kind, found, self._assets(found.values()), self.draft.causes)
        self.draft.causes |= {asset: reason for asset, (reason, _) in why.items()}
        self.draft.put_all([self.draft.moved(row, "retracted", why[asset][0]) for asset, row in rows.items()])
        self.draft.tell("retracted", [(row, *why[asset]) for asset, row in rows.items()])

    def _whole(self, rows: pl.DataFrame) -> list[dict[str, Any]]:
        kinds = rows.select(*KEY, kind=pl.lit(self.kind))
        return standing.contents(self.lake, kinds).sort(KEY).to_dicts()

    def _assets(self, found: Iterable[Content]) -> dict[str, str]:
        ends = ("subject_id", "source_id", "target_id")
        return self.draft.assets_of(str(name) for one in found for name in (*bases(one), *(one.get(end) for end in ends)) if name)


def _said(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Content]:
    return {name: orjson.loads(row["content"]) for name, row in rows.items()}


def _candidates(found: Mapping[str, Content]) -> list[Candidate]:
    return [Candidate(name, found[name]) for name in sorted(found)]


def _ids(ids: Iterable[str]) -> pl.Series:
    return pl.Series("ids", list(ids), dtype=pl.String)

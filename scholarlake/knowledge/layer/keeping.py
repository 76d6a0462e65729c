"""Views that are kept: as they were, by a name, to be opened again on a later release, which says what became of their objects.

A kept view does not change: what it held is stored with it. Opened again, its items say what they said, with the standing that they have
now. What does not belong here: what a view is (`view`), versions of objects (`registry`).
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import orjson
import polars as pl

from scholarlake.errors import NotFound
from scholarlake.knowledge.layer.accesses import Reader
from scholarlake.knowledge.layer.items import AnyItem, Standing
from scholarlake.knowledge.layer.register import STANDS
from scholarlake.knowledge.layer.store import Store
from scholarlake.knowledge.layer.view import BadRequest, Request, View
from scholarlake.lake import contracts, delta
from scholarlake.lake.hashing import digest

MAX_NAME = 200
_CHANGES = 10  # that a note tells one by one
_CODE = "1"


@dataclass(frozen=True)
class Kept:
    """A view that somebody kept."""

    view_id: str
    name: str
    collection: str
    release: str
    items: int
    chain: str
    stage: str
    kept_at: str


def keep(store: Store, view: View, name: str, reader: Reader) -> Kept:
    """Keep a view by a name. The same view kept again by the same name is the one that is there; a name may be given again, and then
    means the newest. Raises BadRequest for a view of another collection or a name that is none."""
    if not name.strip() or len(name) > MAX_NAME or name != name.strip():
        raise BadRequest(f"a view is kept by a name of 1 to {MAX_NAME} characters without blanks around it, not {name[:80]!r}")
    if view.collection != store.collection:
        raise BadRequest(f"the view is of {view.collection}, not of {store.collection}")
    content = orjson.dumps(view.to_dict(), option=orjson.OPT_SORT_KEYS).decode()
    view_id = f"view-{digest([name, content])}"
    if not _rows(store).filter(pl.col("view_id") == view_id).height:
        row = {
            "view_id": view_id,
            "name": name,
            "collection": view.collection,
            "release": view.release,
            "request": orjson.dumps([request.to_dict() for request in view.history], option=orjson.OPT_SORT_KEYS).decode(),
            "items": [_named(item) for item in view.items],
            "content": content,
            "chain": reader.chain,
            "stage": reader.stage,
            "kept_at": datetime.now(UTC),
        }
        contract = contracts.KEPT_VIEWS
        frame = pl.DataFrame([row], contract.schema)
        run = delta.Commit(f"{reader.chain}/{reader.stage}", _CODE)
        delta.apply(store.reader.lake, contract.name, None, frame, frame.select(contract.key).clear(), run)
    return next(one for one in kept(store) if one.view_id == view_id)


def _named(item: AnyItem) -> dict[str, Any]:
    return {"object_id": item.object_id, "kind": item.kind, "version": item.standing.version, "score": item.score}


def kept(store: Store) -> list[Kept]:
    """The collection's kept views, the newest first."""
    rows = _rows(store).sort("kept_at", "view_id", descending=[True, False])
    told = rows.select("view_id", "name", "collection", "release", pl.col("items").list.len(), "chain", "stage", "kept_at")
    return [Kept(**{**row, "kept_at": row["kept_at"].isoformat(timespec="seconds")}) for row in told.iter_rows(named=True)]


def opened(store: Store, name: str) -> View:
    """A kept view by its name or id: its items as they were, with the standing that they have now, and a note of what changed.

    Raises NotFound, naming what comes close.
    """
    rows = _rows(store).filter((pl.col("view_id") == name) | (pl.col("name") == name)).sort("kept_at", "view_id")
    if rows.is_empty():
        raise NotFound(f"no view {name!r} was kept of {store.collection}{_near(name, [one.name for one in kept(store)])}")
    row: dict[str, Any] = rows.row(-1, named=True)
    view = View.from_dict(orjson.loads(row["content"]))
    items, changes = _as_now(store, view.items)
    request = Request.of("open", {"name": name})
    said = f"kept as {row['name']!r} on {row['release']}, opened on {store.reader.release.name}"
    said += f"; {len(changes)} of {len(items)} objects changed since" if changes else "; nothing in it changed since"
    more = [f"and {len(changes) - _CHANGES} more changed"] if len(changes) > _CHANGES else []
    return store.view(items, request, after=view, notes=[said, *changes[:_CHANGES], *more])


def _as_now(store: Store, items: Sequence[AnyItem]) -> tuple[list[AnyItem], list[str]]:
    """Items with the standing that they have now, and what changed in words."""
    ids = [item.object_id for item in items]
    present = {item.object_id: item for item in store.items(ids)}
    known, heads = store.register.known(ids), store.register.behind(ids)
    found, changes = [], []
    for item in items:
        now = present.get(item.object_id)
        if item.object_id in known:
            standing = known[item.object_id].standing
        elif now is not None:
            standing = now.standing
        else:
            standing = replace(item.standing, status="retracted", reason=f"it is not in {store.reader.release.name}")
        head = heads.get(item.object_id)
        changed = [*_moved(item, standing, head["object_id"] if head else None), *(_checked(item, now) if now else [])]
        changes += [f"{item.object_id} {what}" for what in changed]
        found.append(replace(item, standing=standing))
    return found, changes


def _moved(item: AnyItem, now: Standing, head: str | None) -> list[str]:
    if now.status == item.standing.status:
        return []
    by = f" by {head}" if now.status == "superseded" and head not in (None, item.object_id) else ""
    why = f": {now.reason}" if now.reason else ""
    return [f"{STANDS[now.status]}{by}{why}"]


def _checked(item: AnyItem, now: AnyItem) -> list[str]:
    """Whether another check came to something else since."""
    return [
        f"was {getattr(item, name)} and is {getattr(now, name)}"
        for name in ("verification", "review")
        if getattr(item, name, None) != getattr(now, name, None)
    ]


def _rows(store: Store) -> pl.DataFrame:
    """Kept views lie beside the releases: they are there as soon as they are kept."""
    return store.reader.lake.scan("kept_views").filter(pl.col("collection") == store.collection).collect()


def _near(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names, 3, 0.4) or list(dict.fromkeys(names))[:5]
    return f"; there are: {', '.join(near)}" if near else "; none was"

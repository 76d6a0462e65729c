"""Why an object is gone: the paper that stated it, what it rested on, or the words themselves.

What does not belong here: whether another continues it (`matching`).
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from scholarlake.knowledge.registry.matching import Assets, Content, bases
from scholarlake.knowledge.registry.wording import Causes
from scholarlake.lake.home import Lake

#: Asset → why it is gone, and the object that brought it.
Reasons = dict[str, tuple[str, str | None]]


def reasons(lake: Lake, kind: str, gone: Mapping[str, Content], assets: Assets, causes: Causes) -> Reasons:
    """Why each of some objects is gone. gone: by asset."""
    if kind == "fact":
        return _of_facts(lake, gone)
    there = set(lake.scan("collections").select("collection").unique().collect()["collection"])
    apart = {name: one for name, one in gone.items() if one["collection"] in there}
    found: Reasons = {name: (f"collection {one['collection']} is gone", None) for name, one in gone.items() if name not in apart}
    if kind == "entity":
        return found | _of_entities(lake, apart, assets)
    for name, one in apart.items():
        taken = [asset for asset in dict.fromkeys(assets.get(basis, basis) for basis in bases(one)) if asset in causes]
        if taken:
            found[name] = (f"what it rested on is not as it was ({causes[taken[0]]})", taken[0])
        else:
            found[name] = (_OTHERWISE[kind], None)
    return found


_OTHERWISE = {
    "taxonomy": "the collection has no taxonomy any more",
    "assignment": "what it rests on does not say so under the present criteria",
    "relation": "what it rests on does not say so under the present rules",
    "synthesis": "what there is gives no such account any more",
}


def _of_facts(lake: Lake, gone: Mapping[str, Content]) -> Reasons:
    papers = pl.Series("paper_id", sorted({one["paper_id"] for one in gone.values()}), dtype=pl.String)
    mine = pl.col("paper_id").is_in(papers.implode())
    known = dict(lake.scan("papers").filter(mine).select("paper_id", "withdrawn").collect().iter_rows())
    read = set(lake.scan("documents").filter(mine).select("paper_id").collect()["paper_id"])

    def why(paper: str) -> str:
        if paper not in known:
            return f"paper {paper} was removed"
        if known[paper]:
            return f"paper {paper} was withdrawn"
        return f"paper {paper} states it no longer" if paper in read else f"no collection has paper {paper} any more"

    return {name: (why(one["paper_id"]), None) for name, one in gone.items()}


def _of_entities(lake: Lake, gone: Mapping[str, Content], assets: Assets) -> Reasons:
    """Merged into one that has its names now, or not mentioned any more."""
    collections = sorted({one["collection"] for one in gone.values()})
    there = lake.scan("entities").filter(pl.col("collection").is_in(collections)).select("collection", "type", "keys", "entity_id", "name")
    by_key = {(collection, type, key): (id, name) for collection, type, keys, id, name in there.collect().iter_rows() for key in keys}
    found: Reasons = {}
    for asset, one in gone.items():
        into = next((by_key[where] for key in one["keys"] if (where := (one["collection"], one["type"], key)) in by_key), None)
        found[asset] = (f'merged into "{into[1]}"', assets.get(into[0], into[0])) if into else ("nothing mentions it any more", None)
    return found

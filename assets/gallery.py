"""Pictures in the metadata, drawn again only where what they show has changed enough to be seen.

    spool/pictures/ASSET/=PARTITION.json    what was drawn, and how many rows have changed since

Two pictures a partition take a third of what a small refresh of a shard takes. What does not belong here: drawing (`scholarlake.pictures`).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from urllib.parse import quote

import orjson

from scholarlake.lake.files import write_json
from scholarlake.lake.home import Lake

FEW = 0.005
"""Share of the rows that may have changed since a picture was drawn: of more, it is drawn again."""

Png = bytes


def drawn(
    lake: Lake,
    asset: str,
    partition: str | None,
    code_version: str,
    pictures: Mapping[str, Callable[[], Png]],
    rows: int,
    changed: int | None,
) -> dict[str, Png]:
    """The pictures of a partition that has just been made, by name. changed: rows that differ from before; None where it is not known."""
    if changed is None or not pictures:
        return {name: draw() for name, draw in pictures.items()}
    path = lake.spool("pictures", asset, f"={quote(partition or '', safe='')}.json")
    try:
        note = orjson.loads(path.read_bytes())
        kept = {name: base64.b64decode(note["pictures"][name]) for name in pictures}
        since = int(note["changed"]) + changed
        if note["code_version"] == code_version and since <= FEW * rows:
            if changed:
                write_json(path, {**note, "changed": since})
            return kept
    except (OSError, ValueError, KeyError, TypeError):  # none was kept, or not of these
        pass
    new = {name: draw() for name, draw in pictures.items()}
    shown = {name: base64.b64encode(png).decode() for name, png in new.items()}
    write_json(path, {"changed": 0, "code_version": code_version, "pictures": shown})
    return new

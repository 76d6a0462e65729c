"""The log of accesses: which objects were returned to whom, by which query, and where each object came from (ScholarStack, appendix F.3).

    accesses/YYYY-MM.jsonl    a line a query, only ever appended to

A line appears whole, whoever writes beside it; what a killed process left of one is passed over. An access is an object that a query
returned, not a use of it. What does not belong here: the operations themselves (`knowledge`).
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from scholarlake.knowledge.layer.items import AnyItem
from scholarlake.knowledge.layer.view import Request
from scholarlake.lake.home import Lake

UNNAMED = "unnamed"
SYNTHESES = 3  # the layer whose share is told
_LOG = logging.getLogger(__name__)
_said: set[str] = set()  # lakes that can't be written to, each told of once


@dataclass(frozen=True)
class Reader:
    """Who reads: a chain of tasks and the stage that it is at."""

    chain: str = UNNAMED
    stage: str = UNNAMED

    @classmethod
    def named(cls, chain: str, stage: str) -> Reader:
        return cls(chain.strip() or UNNAMED, stage.strip() or UNNAMED)


@dataclass(frozen=True)
class Access:
    """One query: who asked what of which collection and release, and the objects that were returned, in order."""

    at: str
    release: str
    collection: str
    chain: str
    stage: str
    operation: str
    request: Mapping[str, Any]
    objects: tuple[Mapping[str, Any], ...]


def log(lake: Lake, release: str, collection: str, reader: Reader, request: Request, items: Iterable[AnyItem]) -> None:
    """Append a query. A lake that can't be written to is told of once, and is read all the same."""
    now = datetime.now(UTC)
    line = {
        "at": now.isoformat(timespec="milliseconds"),
        "release": release,
        "collection": collection,
        "chain": reader.chain,
        "stage": reader.stage,
        "operation": request.operation,
        "request": request.given(),
        "objects": [
            {
                "id": item.object_id,
                "kind": item.kind,
                "layer": item.layer,
                "version": item.standing.version,
                "chain": item.origin.chain,
                "stage": item.origin.stage,
            }
            for item in items
        ],
    }
    try:
        _append(lake, f"{now:%Y-%m}.jsonl", orjson.dumps(line) + b"\n")
    except OSError as fault:
        if str(lake.root) not in _said:
            _said.add(str(lake.root))
            _LOG.warning("accesses to %s can't be logged (%s); it is read all the same", lake.root, fault.strerror or fault)


def _append(lake: Lake, name: str, line: bytes) -> None:
    lake.accesses.mkdir(exist_ok=True)
    handle = os.open(lake.accesses / name, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":
            line = b"\n" + line  # whoever wrote before was killed half way
        while line:
            line = line[os.write(handle, line) :]
    finally:
        os.close(handle)


def read(lake: Lake) -> Iterator[Access]:
    """All that was logged, the oldest first."""
    for path in sorted(lake.accesses.glob("*.jsonl")):
        with path.open("rb") as lines:
            for line in lines:
                try:
                    values = orjson.loads(line)
                    yield Access(**{**values, "objects": tuple(values["objects"])})
                except (orjson.JSONDecodeError, TypeError, KeyError):
                    continue


def summary(lake: Lake, collection: str | None = None, chain: str | None = None) -> dict[str, Any]:
    """What was read, in numbers: of one collection or all, by one reading chain or all.

    accesses count objects with every return of them; distinct counts each once for each reading chain. by_chain: reading chain and the
    chain that the objects came from, with the share of accesses that returned syntheses.
    """
    found = [one for one in read(lake) if collection in (None, one.collection) and chain in (None, one.chain)]
    pairs: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for one in found:
        for thing in one.objects:
            pairs.setdefault((one.chain, thing["chain"]), []).append(thing)
    stages = Counter((one.chain, one.stage) for one in found)
    everything = [(one.chain, thing) for one in found for thing in one.objects]
    return {
        "queries": len(found),
        "accesses": len(everything),
        "distinct": len({(reading, thing["id"]) for reading, thing in everything}),
        "by_layer": _counted(f"L{thing['layer']}" if thing["layer"] else "sentences" for _, thing in everything),
        "by_operation": _counted(one.operation for one in found),
        "by_stage": [{"chain": reading, "stage": stage, "queries": count} for (reading, stage), count in sorted(stages.items())],
        "by_chain": [
            {
                "chain": reading,
                "origin": origin,
                "accesses": len(things),
                "distinct": len({thing["id"] for thing in things}),
                "syntheses_share": round(sum(thing["layer"] == SYNTHESES for thing in things) / len(things), 4),
            }
            for (reading, origin), things in sorted(pairs.items())
        ],
    }


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))

"""JSON documents: which of the formats an object is in, whether it is the whole file, a line of it, or one of many under a key."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from scholarlake.documents import labelled, s2orc, s2orcspans
from scholarlake.documents.document import Document
from scholarlake.errors import SourceError

Found = tuple[str, Document]  # name of the format, document


def read(data: bytes) -> Iterator[Found]:
    """The documents of a file. Raises SourceError where it is no JSON; objects in no known format are passed over."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        values: Iterator[Any] = iter([_loads(data)])
    except SourceError:
        lines = [line for line in data.split(b"\n") if line.strip()]
        if len(lines) < 2:
            raise
        _loads(lines[0])  # not JSON lines either
        values = map(_loads, lines)
    for value in values:
        yield from _documents(value)


def _loads(data: bytes) -> Any:
    """orjson refuses lone surrogates, NaN and depth; the slower parser takes the first two."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as fault:
        why = str(fault)
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise SourceError(f"no JSON ({why})") from None


def _documents(value: Any) -> Iterator[Found]:
    if isinstance(value, list):
        for entry in value:
            if isinstance(entry, Mapping) and (found := _document(entry, None)) is not None:
                yield found
        return
    if not isinstance(value, Mapping):
        return
    if (found := _document(value, None)) is not None:
        yield found
        return
    for key, entry in value.items():
        if isinstance(entry, Mapping) and (found := _document(entry, key)) is not None:
            yield found


def _document(value: Mapping[str, Any], key: str | None) -> Found | None:
    if s2orcspans.recognises(value):
        return s2orc.NAME, s2orcspans.read(value)
    if s2orc.recognises(value):
        return s2orc.NAME, s2orc.read(value)
    if labelled.recognises(value):
        return labelled.NAME, labelled.read(value, key)
    return None

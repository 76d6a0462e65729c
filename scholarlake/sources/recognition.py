"""What format a part is of, told by its first bytes and never by its name.

The objects that the bytes hold are tried, as lines and as objects on many lines, and most of them decide: a part may begin with damage.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from scholarlake.sources.dialects import aminer, dblptext, mag
from scholarlake.sources.jsontext import NotJson, parse_json
from scholarlake.sources.objects import BOM, SEPARATORS, split_objects
from scholarlake.sources.readers import ARRAY_READERS, DBLP_TEXT, KINDS, LINE_READERS, MAG_TABLE, Dialect, Format, PassedOver

HEAD_BYTES = 1 << 20  # how much of a part is looked at

_MOST_LINES = 1000
_TOLD_BY = 100  # records that tell the issue of a dump
_TABLE_SHARE = 0.9  # of the lines that must be rows of MAG's table
_BEGUN_BYTES = 1 << 16
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(:?)|[{}\[\]]')
_MOST_NAMES = 6
_SHOWN_BYTES = 40

Object = dict[str, Any]


def recognise(head: bytes) -> Format | None:
    """The format of a part that begins with these bytes, None where none is known. A blank one counts as lines, an empty
    array as one of papers."""
    text = head.removeprefix(BOM).lstrip()
    if not text:
        return LINE_READERS[aminer.NAME]
    if not text.strip(SEPARATORS):
        return ARRAY_READERS[aminer.NAME]
    if encoding := dblptext.recognise(head):
        return DBLP_TEXT[encoding]
    lines = _whole_lines(head, text)
    if _is_mag_table(lines):
        return MAG_TABLE
    in_lines, with_commas = _count(lines), _count(line.strip(b", \t") for line in lines)
    if in_lines and 2 * in_lines.total() >= with_commas.total() and not _begins_an_array(lines):
        return _format_of(in_lines, LINE_READERS)
    units = _units(text)
    if text[:1] != b"{" or (units and _object(units[0]) is not None):
        if found := _count(units):
            return _format_of(found, ARRAY_READERS)
        if any(_object(unit) is not None for unit in units):
            return None
    # The first object is not whole, but cut off, or longer than what is looked at. What lies in it counts for nothing.
    begun = kind_of(_begun(text))
    return _format_of(Counter([begun]), LINE_READERS if text[:1] == b"{" and b"\n" not in text else ARRAY_READERS) if begun else None


def kind_of(record: Object) -> Dialect | PassedOver | None:
    """What an object is, None where it is nothing known."""
    return next((kind for kind in KINDS if kind.fits(record)), None)


def issue_of(head: bytes) -> str | None:
    """Which issue of its family most records of a part are spelled as, where the part is of OAG's family and begins with these bytes."""
    text = head.removeprefix(BOM).lstrip()
    found = [record for line in _whole_lines(head, text)[:_TOLD_BY] if (record := _object(line.strip(b"[], \t\r"))) is not None]
    found = found or [record for unit in (_units(text) if text else [])[:_TOLD_BY] if (record := _object(unit)) is not None]
    issues = Counter(issue for record in found if aminer.fits(record) and (issue := aminer.issue_of(record)) is not None)
    return max(issues, key=lambda issue: (issues[issue], issue)) if issues else None


def describe(head: bytes) -> str:
    """What a part of no known format begins with, in one line."""
    names = list(_begun(head.removeprefix(BOM).lstrip()))
    if names:
        shown = ", ".join(names[:_MOST_NAMES])
        return f"objects with the fields {shown}{'…' if len(names) > _MOST_NAMES else ''}"
    return repr(head[:_SHOWN_BYTES].decode("utf-8", "replace").replace("\n", "\u23ce"))


def _whole_lines(head: bytes, text: bytes) -> list[bytes]:
    """The first lines that say anything; the last one of a full head may be half a line."""
    lines = text.split(b"\n", _MOST_LINES)
    if len(lines) > _MOST_LINES or (len(head) >= HEAD_BYTES and len(lines) > 1):
        lines.pop()
    return [line for line in lines if line.strip()]


def _is_mag_table(lines: list[bytes]) -> bool:
    rows = sum(mag.is_row(line.decode("utf-8", "replace")) for line in lines)
    return bool(lines) and rows >= _TABLE_SHARE * len(lines)


def _begins_an_array(lines: list[bytes]) -> bool:
    """Whether the first line opens an array that it does not close."""
    if not lines[0].startswith(b"["):
        return False
    try:
        parse_json(lines[0].decode("utf-8", "replace"))
    except NotJson:
        return True
    return False


def _units(text: bytes) -> list[bytes]:
    (block,) = split_objects(io.BytesIO(text).read, len(text) + 1, len(text), lambda record: kind_of(record) is not None)
    return [block.data[start:stop] for start, stop in zip(block.starts.tolist(), block.stops.tolist(), strict=True)]


def _count(texts: Iterable[bytes]) -> Counter[Dialect | PassedOver]:
    """How many of the texts are objects of each kind."""
    found = (record for text in texts if (record := _object(text)) is not None)
    return Counter(kind for record in found if (kind := kind_of(record)) is not None)


def _object(text: bytes) -> Object | None:
    if not text.lstrip().startswith(b"{"):
        return None
    try:
        value = parse_json(text.decode("utf-8", "replace"))
    except NotJson:
        return None
    return value if isinstance(value, dict) else None


def _format_of(counted: Counter[Dialect | PassedOver], readers: dict[str, Any]) -> Format:
    """The format of what is most often there; of two as often, of what is asked first."""
    most = max(counted, key=lambda kind: (counted[kind], -KINDS.index(kind)))
    return most if isinstance(most, PassedOver) else readers[most.name]


def _begun(text: bytes) -> Object:
    """The fields of the first object, as far as it goes, with the texts among their values."""
    found: Object = {}
    depth, name = 0, ""
    begin = text.find(b"{")
    if begin < 0 or text[:begin].strip(SEPARATORS):
        return found
    for token in _TOKEN.finditer(text[begin : begin + _BEGUN_BYTES].decode("utf-8", "replace")):
        if token[0] in "{[":
            depth += 1
        elif token[0] in "}]":
            depth -= 1
        elif depth == 1 and token[2]:
            name = token[1]
            found[name] = None
        elif depth == 1 and name:
            found[name] = token[1]
        if depth <= 0:
            break
    return found

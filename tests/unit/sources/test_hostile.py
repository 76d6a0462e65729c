"""Bytes that were made to keep a reader busy: what is looked at stays in proportion to what there is, and nothing is lost."""

from __future__ import annotations

import io
from typing import Any

import pytest

from scholarlake.sources import objects
from scholarlake.sources.blocks import parse_block
from scholarlake.sources.jsontext import Attempt, object_at
from scholarlake.sources.readers import ARRAY_READERS
from scholarlake.sources.units import Origin

ORIGIN = Origin("part", "edition", "code", 2031, 1 << 16)
FREE = 1 << 18
SIZE = 96 << 10
RECORD = b'{"id":"a","title":"t"}'
HOSTILE = {
    "opened for ever": b'{"a":',
    "opened for ever, in lists": b'[{"id":',
    "closed once too often": RECORD + b"]",
    "records in objects that never end": b'{"id":"a","title":"t","x":',
    "whole records in objects that never end": b'{"x":' + RECORD + b",",
    "never closed": b'{"id":"a","title":"t"\n',
    "quotes that stray": b'"' + RECORD + b"\n",
    "too deep, and closed": b'{"a":' * 1100 + b"1" + b"}" * 1100 + b"]",
    "deep, and closed": b'{"a":' * 300 + b"1" + b"}" * 300 + b"]",
    "half a wrapper": b'{"a":NumberInt(',
    "half a string": b'{"id":"\\',
}


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes that were looked at: for brackets, and for a record."""
    found: list[int] = []
    look, attempt, readable = objects._look, object_at, objects._readable

    def counting(data: bytes, *rest: Any, **named: Any) -> Any:
        found.append(len(data))
        return look(data, *rest, **named)

    def trying(text: str, place: int) -> Attempt:
        tried = attempt(text, place)
        found.append(tried.stop - place)
        return tried

    def reading(data: bytes) -> str:
        found.append(len(data))
        return readable(data)

    monkeypatch.setattr(objects, "_look", counting)
    monkeypatch.setattr(objects, "object_at", trying)
    monkeypatch.setattr(objects, "_readable", reading)
    monkeypatch.setattr(objects, "_FREE_WORK", FREE)
    return found


@pytest.mark.parametrize("what", HOSTILE)
def test_the_work_is_in_proportion_to_the_part(what: str, looked: list[int]) -> None:
    data = HOSTILE[what] * (SIZE // len(HOSTILE[what]))
    reader = ARRAY_READERS["oag"]
    position = 0
    for block in reader.framing.split(io.BytesIO(data).read, 1 << 20, 1 << 13, reader.fits):
        parsed = parse_block(block, ORIGIN, reader)
        assert parsed.covered == block.stop - block.offset
        assert parsed.lines == parsed.records.height + parsed.rejects.height
        position = block.stop
    assert position == len(data)
    assert sum(looked) < 2 * (objects._WORK_A_BYTE * len(data) + FREE)


def test_damage_here_and_there_costs_no_record_but_its_own() -> None:
    records = [b'{"id":"r%d","title":"%s"}' % (number, b"t" * (number % 500)) for number in range(3000)]
    for number in range(0, 3000, 20):
        records[number] = records[number][: len(records[number]) // 2]
    data = b"[" + b",\n".join(records) + b"]"
    reader = ARRAY_READERS["oag"]
    kept: list[str] = []
    for block in reader.framing.split(io.BytesIO(data).read, 1 << 20, 1 << 16, reader.fits):
        kept += parse_block(block, ORIGIN, reader).records["record_id"].to_list()
    assert kept == [f"r{number}" for number in range(3000) if number % 20]

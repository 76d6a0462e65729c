"""Objects are found wherever they begin and end, damage costs only itself, and nothing depends on how the bytes come."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scholarlake.sources import objects
from scholarlake.sources.objects import split_objects

NO_LIMIT = 1 << 20
Found = list[tuple[int, bytes]]


def is_record(record: dict[str, Any]) -> bool:
    return "id" in record and "title" in record


def cut(data: bytes, block_bytes: int = NO_LIMIT, limit: int = NO_LIMIT, step: int = NO_LIMIT) -> list[tuple[int, int, bytes]]:
    """Offset, length and bytes of every unit (of a giant, its beginning); proves that blocks and units tile the data."""
    stream = io.BytesIO(data)
    found: list[tuple[int, int, bytes]] = []
    position = 0
    for block in split_objects(lambda size: stream.read(min(size, step)), block_bytes, limit, is_record):
        assert block.offset == position < block.stop
        last = 0
        for start, stop in zip(block.starts.tolist(), block.stops.tolist(), strict=True):
            assert last <= start < stop <= len(block.data)
            assert lies_between(data[position + last : position + start])
            found.append((position + start, stop - start, block.data[start:stop]))
            last = stop
        assert lies_between(data[position + last : position + len(block.data)])
        if giant := block.giant:
            assert giant.offset == position + len(block.data)
            assert lies_between(data[giant.offset + giant.length : block.stop])
            found.append((giant.offset, giant.length, giant.head))
        position = block.stop
    assert position == len(data)
    return found


def lies_between(data: bytes) -> bool:
    return not data.replace(b"\xef\xbb\xbf", b"").strip(b" \t\r\n,[]")


def texts(data: bytes, **how: int) -> list[bytes]:
    return [text for _, _, text in cut(data, **how)]


A, B, C = (b'{"id": "%s", "title": "t"}' % name for name in (b"a", b"b", b"c"))


@pytest.mark.parametrize(
    "data",
    [
        A + B + C,
        A + b"\n" + B + b"\r\n" + C + b"\n",
        b"[" + A + b"," + B + b"," + C + b"]",
        b"\xef\xbb\xbf[\r\n" + A + b"\r\n," + B + b"\r\n," + C + b"\r\n]\r\n",
        b"[\n" + A + b",\n" + B + b",\n" + C + b",\n]",
        b"[" + A + b"]\n[" + B + b", " + C + b"] []",
        A + b",\n" + B + b",\n" + C + b",\n",
    ],
)
def test_records_are_found_in_arrays_and_out_of_them(data: bytes) -> None:
    assert texts(data) == [A, B, C]


def test_brackets_and_quotes_in_strings_are_text() -> None:
    records = [{"id": text, "title": "t"} for text in ('{"', "}]", "\\", '\\"', 'a\\\\"', "[[[", '"', "],", '\\\\\\"}{')]
    for indent in (None, 1):
        assert [json.loads(text) for text in texts(json.dumps(records, indent=indent).encode())] == records


def test_mongo_wrappers_are_blanked_outside_of_strings_only() -> None:
    wrapped = b'"_id" : ObjectId("5f"), "year" : NumberInt(2007), "n" : NumberLong("12"), "at" : ISODate("2001-01-01")'
    data = b'{%s, "title" : "NumberInt(42) in MongoDB"}' % wrapped
    (text,) = texts(data)
    assert len(text) == len(data)
    assert json.loads(text) == {"_id": "5f", "year": 2007, "n": "12", "at": "2001-01-01", "title": "NumberInt(42) in MongoDB"}
    assert texts(b'{"a": Unknown(5), "b": NumberInt(6, 7)}') == [b'{"a": Unknown(5), "b":           6, 7 }']


DAMAGE = {
    "cut in a string": b'{"id": "x", "title": "half a li',
    "cut behind a number": b'{"id": "x", "year": 20',
    "cut in a list": b'{"id": "x", "authors": [{"name": "y"}',
    "cut in an object in a list": b'{"id": "x", "authors": [{"name": "y"',
    "without its beginning": b'ne of it", "year": 2007}',
    "a quote too many": b'{"id": "x", "title": "a "quoted" word"}',
    "a quote too few": b'{"id": "x", "title": "never closed}',
    "an escaped quote at the end": b'{"id": "x", "title": "t\\"}',
    "a bracket of the other kind": b'{"id": "x", "authors": (1, 2]}',
    "a bracket alone": b"}",
    "a list never closed": b'{"id": "x", "authors": [1, 2, "title": "t"}',
    "no object": b"null",
    "words": b"some words and \xff\x00 bytes",
}


@pytest.mark.parametrize("form", [b"[%s,\n%s,\n%s]\n", b"[\n%s\n,%s\n,%s\n]", b"%s\n%s\n%s", b"[%s,%s,%s]"])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_record_costs_only_itself(form: bytes, damage: bytes) -> None:
    assert texts(form % (A, damage, B)) == [A, damage, B]
    assert texts(form % (damage, A, B)) == [damage, A, B]
    assert texts(form % (A, B, damage)) == [A, B, damage]


def test_a_part_that_breaks_off_has_one_unit_that_is_not_whole() -> None:
    whole = b"[" + A + b",\n" + B
    for stop in range(len(whole) - len(B) + 1, len(whole)):
        assert texts(whole[:stop]) == [A, whole[len(whole) - len(B) : stop].rstrip(b" ,")]


def test_a_comma_too_many_strays() -> None:
    assert cut(b"[" + A + b",,\n , " + B + b"]") == [(1, len(A), A), (2 + len(A), 1, b","), (5 + len(A), 1, b","), (7 + len(A), len(B), B)]
    assert texts(b"[," + A + b",]") == [A]


def test_what_is_no_object_strays_and_each_is_a_unit() -> None:
    assert texts(b'[1, null, "x", ' + A + b", 2.5, [3, 4], true]") == [b"1", b"null", b'"x"', A, b"2.5", b"[3, 4]", b"true"]


@pytest.mark.parametrize("limit", [10, 40, 500])
def test_a_unit_over_the_limit_is_measured_and_the_next_is_found(limit: int) -> None:
    long = b'{"id": "x", "title": "%s"}' % (b"y" * 5000)
    found = cut(b"[" + A + b",\n" + long + b" ,\n" + B + b"\n]", block_bytes=100, limit=limit)
    if limit >= len(A):
        assert [text for _, _, text in found[::2]] == [A, B]
    assert (3 + len(A), len(long)) in [(offset, length) for offset, length, _ in found]


def test_an_endless_record_is_not_held() -> None:
    given, largest = 0, 0

    def read(size: int) -> bytes:
        nonlocal given
        given += size
        return b'{"id": "x", "title": "' + b"y" * (size - 22) if given == size else b"y" * size if given < 60 << 20 else b""

    for block in split_objects(read, 1 << 20, 1 << 20, is_record):
        largest = max(largest, len(block.data))
        assert block.giant
        assert block.giant.length > 50 << 20
    assert largest < 5 << 20


TOKENS = st.sampled_from([
    *(A, B, b'{"id": 1, "title": "{[}"}', b'{"id": 3,', b'"title":"x\\"y"', b'{"n": "x"}', b'"au": [{"n": "x"}'),
    b'{"id": 9, "title": "%s"}' % (b"l" * 70),
    *(b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b'\\\\"', b"\n", b" ", b" " * 40, b"(", b")", b"NumberInt(4)", b'ObjectId("q")'),
    *(b"null", b"a", b"z" * 30, b"\xef\xbb\xbf", b"\xef", b"\x00"),
])  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    pieces=st.lists(TOKENS | st.binary(max_size=6), max_size=25),
    limit=st.sampled_from([4, 17, 40, 100, NO_LIMIT]),
    block_bytes=st.sampled_from([1, 2, 7, 16, 50]),
    step=st.sampled_from([1, 3, 100]),
)
def test_any_bytes_are_tiled_by_the_same_units_however_they_come(pieces: list[bytes], limit: int, block_bytes: int, step: int) -> None:
    data = b"".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objects, "_RESUME_BYTES", 60)  # so that it is met
        assert cut(data, NO_LIMIT, limit) == cut(data, block_bytes, limit, step)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=4), inside, max_size=3),
    max_leaves=8,
)
RECORDS = st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=4), max_size=6)


@settings(max_examples=200, deadline=None)
@given(RECORDS, st.sampled_from([None, 0, 2]), st.booleans(), st.sampled_from([1, 10, 1000]))
def test_any_objects_come_out_as_they_went_in(records: list[dict[str, Any]], indent: int | None, plain: bool, block_bytes: int) -> None:
    data = json.dumps(records, indent=indent, ensure_ascii=plain).encode()
    assert [json.loads(text) for text in texts(data, block_bytes=block_bytes)] == records
    data = b"\n".join(json.dumps(record, indent=indent).encode() for record in records)
    assert [json.loads(text) for text in texts(data, block_bytes=block_bytes)] == records

"""Lines are never cut, never read twice, and never held beyond the limit."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scholarlake.sources.files import LocalFile
from scholarlake.sources.lines import HEAD_BYTES, Block, Giant, ranges, read_range, split_stream

NO_LIMIT = 1 << 20
CONTENT = st.lists(st.sampled_from([b"a", b"", b"bc", b"\r", b"d" * 9, b"\xc3\xa9", b"e" * 40]), max_size=25)


def by_ranges(path: Path, block_bytes: int, limit: int) -> Iterator[Block]:
    file = LocalFile.at(path)
    for start, stop in ranges(file.size, block_bytes):
        yield read_range(file.read, start, stop, limit)


def check(blocks: Iterator[Block], data: bytes, limit: int) -> None:
    """The blocks tile the data, each holds whole lines, and giants are exactly measured."""
    position = 0
    for block in blocks:
        if block.stop == block.offset:
            continue
        assert block.offset == position
        assert block.data == data[position : position + len(block.data)]
        assert position == 0 or data[position - 1 : position] == b"\n"
        position = block.stop
        assert position == len(data) or data[position - 1 : position] == b"\n"
        if block.giant:
            check_giant(block.giant, data, limit)
    assert position == len(data)


def check_giant(giant: Giant, data: bytes, limit: int) -> None:
    stop = data.find(b"\n", giant.offset)
    line = data[giant.offset : stop if stop >= 0 else len(data)]
    content = line.removesuffix(b"\r") if stop >= 0 else line
    assert len(line) > limit
    assert (giant.length, giant.end) == (len(content), len(line) - len(content) + (stop >= 0))
    assert giant.head == line[:HEAD_BYTES]


def test_lines_are_whole_at_every_boundary(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"id": 1}\n\n{"id": 22}\r\n' + "é".encode() * 5 + b"\n\n\nlast without end"
    path = tmp_path / "part"
    path.write_bytes(data)
    for block_bytes in range(1, len(data) + 2):
        check(by_ranges(path, block_bytes, NO_LIMIT), data, NO_LIMIT)
        check(split_stream(io.BytesIO(data).read, block_bytes, NO_LIMIT), data, NO_LIMIT)


@settings(max_examples=200, deadline=None)
@given(lines=CONTENT, ended=st.booleans(), crlf=st.booleans(), block_bytes=st.integers(1, 60), limit=st.integers(1, 50))
def test_blocks_tile_any_part(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ended: bool, crlf: bool, block_bytes: int, limit: int
) -> None:
    end = b"\r\n" if crlf else b"\n"
    data = end.join(lines) + (end if ended and lines else b"")
    path = tmp_path_factory.getbasetemp() / "tiled"
    path.write_bytes(data)
    check(by_ranges(path, block_bytes, limit), data, limit)
    check(split_stream(io.BytesIO(data).read, block_bytes, limit), data, limit)


def test_a_line_over_the_limit_is_measured_not_held(tmp_path: Path) -> None:
    data = b"short\n" + b"x" * 5_000_000 + b"\r\nshort again\n"
    path = tmp_path / "part"
    path.write_bytes(data)
    for blocks in (by_ranges(path, 100, 1000), split_stream(io.BytesIO(data).read, 100, 1000)):
        found = list(blocks)
        check(iter(found), data, 1000)
        giants = [block.giant for block in found if block.giant]
        assert [(giant.offset, giant.length, giant.end) for giant in giants] == [(6, 5_000_000, 2)]
        assert max(len(block.data) for block in found) < 2000

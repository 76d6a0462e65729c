"""Packed parts come out whole, in bounded pieces, or not at all."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
import zstandard

from scholarlake.errors import SourceError
from scholarlake.lake.hashing import file_checksum
from scholarlake.sources.files import LocalFile
from scholarlake.sources.streams import GZIP, PLAIN, ZSTD, PartStream, compression_of

SIZES = [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (1 << 21) - 258, 1 << 21, 3 << 20]
PACKERS = {PLAIN: bytes, GZIP: gzip.compress, ZSTD: zstandard.compress}


def unpack(path: Path, compression: str, step: int = 1 << 20) -> bytes:
    with PartStream(LocalFile.at(path), compression) as stream:
        pieces = []
        while piece := stream.read(step):
            assert len(piece) <= step
            pieces.append(piece)
        assert stream.checksum == file_checksum(path)
        return b"".join(pieces)


@pytest.mark.parametrize("compression", PACKERS)
@pytest.mark.parametrize("size", SIZES)
def test_what_was_packed_comes_out(tmp_path: Path, compression: str, size: int) -> None:
    data = (os.urandom(1000) * (size // 1000 + 1))[:size]
    path = tmp_path / "part"
    path.write_bytes(PACKERS[compression](data))
    assert unpack(path, compression) == data
    assert unpack(path, compression, 300_001) == data


@pytest.mark.parametrize("compression", [GZIP, ZSTD])
def test_every_cut_is_noticed(tmp_path: Path, compression: str) -> None:
    packed = PACKERS[compression](b"some lines\n" * 50 + os.urandom(40))
    path = tmp_path / "part"
    for length in range(1, len(packed)):
        path.write_bytes(packed[:length])
        with pytest.raises(SourceError, match="cut off or damaged"):
            unpack(path, compression)


@pytest.mark.parametrize("compression", [GZIP, ZSTD])
def test_a_flipped_byte_is_noticed(tmp_path: Path, compression: str) -> None:
    compress = zstandard.ZstdCompressor(write_checksum=True).compress if compression == ZSTD else gzip.compress
    packed = bytearray(compress(os.urandom(3000)))
    packed[1500] ^= 1
    path = tmp_path / "part"
    path.write_bytes(packed)
    with pytest.raises(SourceError, match="cut off or damaged"):
        unpack(path, compression)


def test_compression_is_told_by_the_first_bytes(tmp_path: Path) -> None:
    def told(data: bytes) -> str:
        path = tmp_path / "part"
        path.write_bytes(data)
        return compression_of(LocalFile.at(path))

    assert [told(pack(b"x")) for pack in PACKERS.values()] == [PLAIN, GZIP, ZSTD]
    assert told(b"") == PLAIN
    assert told(b"\x5e\x2a\x4d\x18") == ZSTD

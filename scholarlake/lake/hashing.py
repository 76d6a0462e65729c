"""Stable hashes: the same on every machine, in every process, for ever.

Python's and Polars's own hashes are not; what is stored or decides a shard uses these.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import xxhash

_WRAP = 1 << 64
_HALF = 1 << 63


def stable_key(text: str) -> int:
    """XXH3-64 of the UTF-8 text, as a signed 64-bit integer (what a Delta long can hold)."""
    value = xxhash.xxh3_64_intdigest(text.encode())
    return value - _WRAP if value >= _HALF else value


def shard_of(paper_id: str, shards: int) -> str:
    """The shard of a paper: two digits. The hash is read as unsigned, so that the shards are even."""
    return f"{xxhash.xxh3_64_intdigest(paper_id.encode()) % shards:02d}"


def text_hash(text: str) -> str:
    """XXH3-128 of the UTF-8 text, 32 hexadecimal digits: the key under which work on a text is kept."""
    return xxhash.xxh3_128_hexdigest(text.encode())


def digest(parts: Iterable[str]) -> str:
    """Order-dependent digest of several strings, 32 hexadecimal digits. Lengths are hashed too, so that no two lists meet."""
    state = xxhash.xxh3_128()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def file_checksum(path: Path, chunk_bytes: int = 1 << 22) -> str:
    """XXH3-128 of a file's bytes, hexadecimal, read in chunks."""
    state = xxhash.xxh3_128()
    with path.open("rb") as stream:
        while chunk := stream.read(chunk_bytes):
            state.update(chunk)
    return state.hexdigest()

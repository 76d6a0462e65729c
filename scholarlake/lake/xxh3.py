"""XXH3-64 of many short texts at once, each the same as `hashing.stable_key` gives: ids are hashed by the hundred million.

Source: the XXH3 part of the xxHash specification (seed 0, default secret).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xxhash

Integers = np.ndarray[Any, np.dtype[np.int64]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Hashes = np.ndarray[Any, np.dtype[np.uint64]]

# The first bytes of the default secret, as little-endian words.
_SECRET = [
    np.uint64(word)
    for word in (
        *(0xBE4BA423396CFEB8, 0x1CAD21F72C81017C, 0xDB979083E96DD4DE, 0x1F67B3B7A4A44072),
        *(0x78E5C0CC4EE679CB, 0x2172FFCC7DD05A82, 0x8E2443F7744608B8),
    )
]
_PRIME = np.uint64(0x9E3779B185EBCA87)
_AVALANCHE = np.uint64(0x165667919E3779F9)
_RRMXMX = np.uint64(0x9FB21C651E98DF25)
_LOW = np.uint64(0xFFFFFFFF)


def keys_of(data: Bytes, bounds: Integers) -> Hashes:
    """XXH3-64, unsigned, of each of the texts data[bounds[i]:bounds[i + 1]].

    Those of 4 to 32 bytes, as ids are, take a tenth of the time that a call for each takes.
    """
    lengths = np.diff(bounds)
    found = np.empty(len(lengths), dtype=np.uint64)
    rest = np.ones(len(lengths), dtype=bool)
    for least, most, hashed in _BY_LENGTH:
        chosen = (lengths >= least) & (lengths <= most)
        if chosen.any():
            found[chosen] = hashed(data, bounds[:-1][chosen], lengths[chosen])
            rest &= ~chosen
    for place in np.flatnonzero(rest).tolist():
        found[place] = xxhash.xxh3_64_intdigest(data[bounds[place] : bounds[place + 1]].data)
    return found


def _of_4_to_8(data: Bytes, starts: Integers, lengths: Integers) -> Hashes:
    first, last = _read(data, starts, "<u4"), _read(data, starts + lengths - 4, "<u4")
    mixed = (last + (first << np.uint64(32))) ^ (_SECRET[1] ^ _SECRET[2])
    mixed ^= _rotated(mixed, 49) ^ _rotated(mixed, 24)
    mixed *= _RRMXMX
    mixed ^= (mixed >> np.uint64(35)) + lengths.astype(np.uint64)
    mixed *= _RRMXMX
    return mixed ^ (mixed >> np.uint64(28))


def _of_9_to_16(data: Bytes, starts: Integers, lengths: Integers) -> Hashes:
    low = _read(data, starts, "<u8") ^ (_SECRET[3] ^ _SECRET[4])
    high = _read(data, starts + lengths - 8, "<u8") ^ (_SECRET[5] ^ _SECRET[6])
    return _avalanche(lengths.astype(np.uint64) + low.byteswap() + high + _folded_product(low, high))


def _of_17_to_32(data: Bytes, starts: Integers, lengths: Integers) -> Hashes:
    mixed = lengths.astype(np.uint64) * _PRIME
    for begin, low, high in ((starts, _SECRET[0], _SECRET[1]), (starts + lengths - 16, _SECRET[2], _SECRET[3])):
        mixed += _folded_product(_read(data, begin, "<u8") ^ low, _read(data, begin + 8, "<u8") ^ high)
    return _avalanche(mixed)


_BY_LENGTH: tuple[tuple[int, int, Callable[[Bytes, Integers, Integers], Hashes]], ...] = (
    (4, 8, _of_4_to_8),
    (9, 16, _of_9_to_16),
    (17, 32, _of_17_to_32),
)


def _read(data: Bytes, places: Integers, kind: str) -> Hashes:
    """The little-endian number at each place, as 64 bits."""
    every = np.ndarray((len(data) - np.dtype(kind).itemsize + 1,), kind, data, strides=(1,))  # one begins at every byte
    return every[places].astype(np.uint64)


def _rotated(words: Hashes, bits: int) -> Hashes:
    return (words << np.uint64(bits)) | (words >> np.uint64(64 - bits))


def _folded_product(one: Hashes, other: Hashes) -> Hashes:
    """The low half of the 128-bit product, and the high one, by exclusive or."""
    one_high, other_high = one >> np.uint64(32), other >> np.uint64(32)
    one_low, other_low = one & _LOW, other & _LOW
    middle = one_high * other_low
    carried = (one_low * other_low >> np.uint64(32)) + (middle & _LOW) + one_low * other_high
    high: Hashes = (middle >> np.uint64(32)) + (carried >> np.uint64(32)) + one_high * other_high
    return high ^ (one * other)


def _avalanche(words: Hashes) -> Hashes:
    words ^= words >> np.uint64(37)
    words *= _AVALANCHE
    return words ^ (words >> np.uint64(32))

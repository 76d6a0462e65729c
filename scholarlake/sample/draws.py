"""Random numbers and ids that are the same in every process, on every machine and under every numpy release.

Only the raw bits of PCG64 are used: numpy promises their stream for ever, and promises nothing of the kind for its distributions.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Each domain numbers its own things; a domain's numbers never meet another's, so neither do their ids.
WORK, ALIAS, OUTSIDE, REJECT, AUTHOR, ORGANISATION, VENUE = range(7)
_DOMAIN_BITS: Final = 48
_MASK: Final = (1 << 64) - 1


def uniform(count: int, seed: int, *stream: int) -> Floats:
    """count numbers in [0, 1), from the stream of that name."""
    raw = np.random.PCG64(np.random.SeedSequence([seed, *stream])).random_raw(count)
    return (np.atleast_1d(raw).astype(np.uint64) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def scramble(value: int) -> int:
    """A one-to-one map of 64-bit numbers that looks random (the finaliser of SplitMix64)."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def _scramble_all(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        values = values + np.uint64(0x9E3779B97F4A7C15)
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def hex_id(domain: int, number: int, seed: int) -> str:
    """The 24 hexadecimal digits that name the number-th thing of a domain. One-to-one for a given seed."""
    low = scramble(((domain << _DOMAIN_BITS) | number) ^ scramble(seed))
    return f"{0x53000000 | (scramble(low) >> 40):08x}{low:016x}"


def hex_ids(domain: int, numbers: Ints, seed: int) -> list[str]:
    """hex_id of many numbers at once."""
    low = _scramble_all((np.uint64(domain << _DOMAIN_BITS) | numbers.astype(np.uint64)) ^ np.uint64(scramble(seed)))
    high = np.uint64(0x53000000) | (_scramble_all(low) >> np.uint64(40))
    lows, highs = low.astype(">u8").tobytes().hex(), high.astype(">u4").tobytes().hex()
    return [highs[8 * at : 8 * at + 8] + lows[16 * at : 16 * at + 16] for at in range(len(numbers))]

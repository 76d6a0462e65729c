"""A deterministic embedder that knows words and letter trigrams but no meanings: for plumbing and for tests at scale.

Every word and every run of three bytes is hashed to one coordinate and a sign (feature hashing, Weinberger et al., 2009);
longer words weigh more, because they tell more. All of it is array work on the bytes of many texts at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from scholarlake.models.config import Endpoint
from scholarlake.models.protocol import Answer, Kind, Usage, Vectors, fingerprint_of

TEXTS_AT_ONCE = 1_024
_WORD_WEIGHT = 4.0
_TRIGRAM_WEIGHT = 0.25
_BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, so that powers can be undone modulo 2⁶⁴
_INVERSE = np.uint64(pow(int(_BASE), -1, 1 << 64))
_MIX = np.uint64(0xD6E8FEB86659FD93)

_IN_WORD = np.zeros(256, bool)
for _byte in (*b"0123456789abcdefghijklmnopqrstuvwxyz", *range(0x80, 0x100)):  # bytes of other scripts are parts of words
    _IN_WORD[_byte] = True


class HashingEmbedder:
    """Feature hashing into `dimension` coordinates, unit length. The empty text has a vector too."""

    def __init__(self, endpoint: Endpoint, name: str = "hashing") -> None:
        self.name = name
        self.identity = endpoint.identity()
        self.fingerprint = fingerprint_of(self.identity)
        self.dimension = endpoint.dimension
        self.batch_size = endpoint.batch_size
        self._prefixes: dict[Kind, str] = {"document": endpoint.document_prefix, "query": endpoint.query_prefix}

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Iterator[Answer]:
        """One answer for each `batch_size` texts, in order."""
        prefix = self._prefixes[kind]
        for start in range(0, len(texts), self.batch_size):
            batch = [prefix + text for text in texts[start : start + self.batch_size]]
            vectors = [hashed(batch[at : at + TEXTS_AT_ONCE], self.dimension) for at in range(0, len(batch), TEXTS_AT_ONCE)]
            yield Answer(np.arange(start, start + len(batch), dtype=np.int64), np.concatenate(vectors), usage=Usage(1))


def hashed(texts: Sequence[str], dimension: int) -> Vectors:
    """Unit vectors, shape (texts, dimension)."""
    encoded = [b" " + text.lower().encode("utf-8", "replace") + b"  " for text in texts]
    data = np.frombuffer(b"".join(encoded), np.uint8)
    ends = np.cumsum([len(piece) for piece in encoded])
    text_of = np.repeat(np.arange(len(texts), dtype=np.int64), np.diff(ends, prepend=0))
    inside = _IN_WORD[data]
    plain = np.where(inside, data, 32).astype(np.uint32)  # all that separates words is one and the same

    trigrams = (plain[:-2] << 16) | (plain[1:-1] << 8) | plain[2:]
    trigrams = (trigrams * np.uint32(0x9E3779B1)) ^ (trigrams * np.uint32(0x85EBCA6B) >> np.uint32(13))
    told = inside[1:-1]  # a trigram around a separator says nothing of its own
    sums = _summed(text_of[1:-1][told], trigrams[told].astype(np.uint64), None, len(texts), dimension) * _TRIGRAM_WEIGHT

    edges = np.diff(inside.astype(np.int8))
    starts, stops = np.flatnonzero(edges == 1) + 1, np.flatnonzero(edges == -1) + 1
    lengths = stops - starts
    weights = np.minimum(lengths / 8.0, 1.0) ** 2 * _WORD_WEIGHT
    sums += _summed(text_of[starts], _word_hashes(plain, starts, stops), weights, len(texts), dimension)

    sums[np.arange(len(texts)), 0] += 1e-3  # a text without a single word still points somewhere
    return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True), np.float32)


def _word_hashes(plain: NDArray[np.uint32], starts: NDArray[np.int64], stops: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A polynomial hash of every word, from prefix sums of all bytes: modulo 2⁶⁴ the powers before a word can be divided out."""
    powers = np.cumprod(np.full(len(plain), _BASE, np.uint64))
    inverses = np.cumprod(np.full(len(plain), _INVERSE, np.uint64))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(plain.astype(np.uint64) * powers)])
    hashes = (sums[stops] - sums[starts]) * inverses[starts]
    return np.asarray((hashes ^ (hashes >> np.uint64(29))) * _MIX, np.uint64) >> np.uint64(20)


def _summed(
    text_of: NDArray[np.int64], hashes: NDArray[np.uint64], weights: NDArray[np.float64] | None, texts: int, dimension: int
) -> NDArray[np.float64]:
    """Features added up at their coordinates with their signs, shape (texts, dimension)."""
    signs = 1.0 - 2.0 * (hashes & np.uint64(1)).astype(np.float64)
    cells = text_of * dimension + ((hashes >> np.uint64(1)) % np.uint64(dimension)).astype(np.int64)
    return np.asarray(
        np.bincount(cells, signs if weights is None else signs * weights, texts * dimension).reshape(texts, dimension), np.float64
    )

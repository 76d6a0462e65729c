"""Vectors that are computed but not yet committed: small files that outlive a killed process.

    spool/embeddings/FINGERPRINT/SHARD-UUID.arrow    text_hash and vector of one finished batch

A segment appears whole, in one rename, as soon as its batch is done. It goes when its shard's Delta commit is made.
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl

from scholarlake.dense.vectors import as_matrix, as_series
from scholarlake.lake.files import write_atomically
from scholarlake.lake.home import Lake
from scholarlake.models.protocol import Vectors


class Spool:
    """Finished vectors of one model. What `shard` finishes is its own; what other shards have under way can be read too."""

    def __init__(self, lake: Lake, fingerprint: str, shard: str, dimension: int) -> None:
        self._folder = lake.spool("embeddings", fingerprint)
        self._shard = shard
        self.dimension = dimension
        self._places: dict[str, tuple[Path, int]] = {}  # text hash → segment of this shard, row
        for path in sorted(self._folder.glob(f"{shard}-*.arrow")):
            for row, text_hash in enumerate(_hashes(path)):
                self._places[text_hash] = (path, row)

    def __contains__(self, text_hash: str) -> bool:
        return text_hash in self._places

    def __len__(self) -> int:
        return len(self._places)

    def append(self, hashes: list[str], vectors: Vectors) -> None:
        """Keep finished vectors, shape (n, dimension). When this returns they are on disk."""
        if not hashes:
            return
        frame = pl.DataFrame({"text_hash": pl.Series(hashes, dtype=pl.String), "vector": as_series(vectors)})
        buffer = io.BytesIO()
        frame.write_ipc(buffer)
        path = self._folder / f"{self._shard}-{uuid.uuid4().hex}.arrow"
        write_atomically(path, buffer.getvalue())
        self._places.update((text_hash, (path, row)) for row, text_hash in enumerate(hashes))

    def adopt(self, wanted: Iterable[str]) -> int:
        """Copy what other shards have under way of the wanted texts. Returns how many. Their files may go at any time."""
        missing = {text_hash for text_hash in wanted if text_hash not in self._places}
        adopted = 0
        for path in sorted(self._folder.glob("*.arrow")) if missing else ():
            if path.name.startswith(f"{self._shard}-") or missing.isdisjoint(_hashes(path)):
                continue
            try:
                found = pl.read_ipc(path).filter(pl.col("text_hash").is_in(list(missing)))
            except (OSError, pl.exceptions.PolarsError):
                continue  # its shard was committed meanwhile
            self.append(found["text_hash"].to_list(), as_matrix(found["vector"], self.dimension))
            missing -= set(found["text_hash"])
            adopted += found.height
        return adopted

    def laid_out(self, hashes: list[str]) -> list[str]:
        """Where each text's vector lies, to sort by: reading in this order opens every segment once."""
        return [f"{path.name} {row:08d}" for path, row in (self._places[text_hash] for text_hash in hashes)]

    def read(self, hashes: list[str]) -> Vectors:
        """Vectors of texts that are in the spool, shape (n, dimension), in the order asked for. Raises KeyError for others."""
        rows = np.empty((len(hashes), self.dimension), np.float32)
        by_segment: dict[Path, list[tuple[int, int]]] = {}
        for at, text_hash in enumerate(hashes):
            path, row = self._places[text_hash]
            by_segment.setdefault(path, []).append((at, row))
        for path, pairs in by_segment.items():
            places, taken = (list(column) for column in zip(*pairs, strict=True))
            rows[places] = as_matrix(pl.read_ipc(path)["vector"], self.dimension)[taken]
        return rows

    def clear(self) -> None:
        """Drop this shard's segments: its vectors are in the table now."""
        for path in self._folder.glob(f"{self._shard}-*.arrow"):
            path.unlink(missing_ok=True)
        self._places.clear()


def _hashes(path: Path) -> list[str]:
    """Text hashes of a segment; none of one that is gone or damaged."""
    try:
        return pl.read_ipc(path, columns=["text_hash"])["text_hash"].to_list()
    except (OSError, pl.exceptions.PolarsError):
        return []

"""From an embedder's answers to sound vectors: failed batches are halved, unsound vectors refused.

A batch that an endpoint refuses is cut in two and each half asked for, down to the single text (SciLENS, appendix A), so
that one bad text costs itself and no request is repeated unchanged. What does not belong here: retries of a request, which
are the back end's, and what is done with the vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scholarlake.errors import ModelError
from scholarlake.models.protocol import NO_COST, Embedder, Kind, Usage, Vectors

HOPELESS = 3
"""Single texts in a row over which an endpoint breaks down before it is taken to be broken itself."""
_SMALLEST = 1e-12  # below this length a vector has no direction


@dataclass(frozen=True)
class Sound:
    """Vectors of unit length for some positions: shapes (n,) and (n, dimension)."""

    positions: NDArray[np.int64]
    vectors: Vectors
    usage: Usage


@dataclass(frozen=True)
class Refused:
    """One text that gets no vector, and why."""

    position: int
    reason: str
    usage: Usage = NO_COST


def embed_each(embedder: Embedder, texts: Sequence[str], kind: Kind = "document") -> Iterator[Sound | Refused]:
    """Every text's vector or refusal, each position once, as they finish.

    Raises ModelError where the endpoint is lost, or answers in another dimension than was declared.
    """
    waiting: list[NDArray[np.int64]] = [np.arange(len(texts), dtype=np.int64)]
    broken = 0
    while waiting:
        asked = waiting.pop()
        for answer in embedder.embed([texts[i] for i in asked], kind) if len(asked) else ():
            positions = asked[answer.positions]
            if answer.vectors is not None:
                broken = 0
                yield from _checked(embedder, positions, answer.vectors, answer.usage)
                continue
            fault = answer.fault
            if fault is None or fault.verdict == "lost":
                raise ModelError(f"{embedder.name}: {fault.reason if fault else 'no answer'}; what was embedded so far is kept")
            if len(positions) == 1:
                broken = broken + 1 if fault.verdict == "failed" else 0
                if broken >= HOPELESS:
                    raise ModelError(f"{embedder.name} breaks down over every text ({fault.reason}); what was embedded so far is kept")
                yield Refused(int(positions[0]), fault.reason, answer.usage)
                continue
            middle = len(positions) // 2
            waiting += [positions[middle:], positions[:middle]]
            yield Sound(positions[:0], np.empty((0, embedder.dimension), np.float32), answer.usage)


def embed_query(embedder: Embedder, text: str) -> Vectors:
    """The unit vector of one query, shape (dimension,). Raises ModelError where there is none."""
    plain = text.encode("utf-8", "replace").decode()  # somebody typed it: half a character is no reason to fail
    for result in embed_each(embedder, [plain], "query"):
        if isinstance(result, Sound) and len(result.positions):
            vector: Vectors = result.vectors[0]
            return vector
        if isinstance(result, Refused):
            raise ModelError(f"{embedder.name} can't embed the query ({result.reason}); put it in other words")
    raise ModelError(f"{embedder.name} gave no vector for the query")


def _checked(embedder: Embedder, positions: NDArray[np.int64], vectors: Vectors, usage: Usage) -> Iterator[Sound | Refused]:
    if vectors.ndim != 2 or vectors.shape != (len(positions), embedder.dimension):
        raise ModelError(
            f"{embedder.name} answers with vectors of shape {vectors.shape}, not {(len(positions), embedder.dimension)}; "
            f"set `dimension` of the endpoint in the models file to what the model gives"
        )
    wide = vectors.astype(np.float64)
    finite = np.asarray(np.isfinite(wide).all(axis=1), np.bool_)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    sound = finite & (lengths > _SMALLEST)
    yield Sound(positions[sound], (wide[sound] / lengths[sound, None]).astype(np.float32), usage)
    for position, is_finite in zip(positions[~sound], finite[~sound], strict=True):
        yield Refused(int(position), "zero_vector" if is_finite else "not_finite")

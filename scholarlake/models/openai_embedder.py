"""Any OpenAI-compatible `/v1/embeddings`: vLLM's own server, llama.cpp's, or a hosted one.

There is one layer of retries, here; the client's own is off. What the endpoint will never take is not sent again unchanged:
it goes back as refused, and the caller halves it.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scholarlake.models.chat import Trouble
from scholarlake.models.config import Endpoint
from scholarlake.models.protocol import Answer, Fault, Kind, Usage, Vectors, Verdict, fingerprint_of
from scholarlake.models.troubles import LONGEST_WAIT_SECONDS, backoff, fault_of

_VERDICTS: dict[Trouble, Verdict] = {"rejected": "refused", "failed": "failed", "busy": "lost", "gone": "lost", "closed": "lost"}


class OpenAIEmbedder:
    """An endpoint that is asked over HTTP. `wait_for` is how it waits between tries, in seconds."""

    def __init__(self, endpoint: Endpoint, name: str, api_key: str, wait_for: Callable[[float], None] = time.sleep) -> None:
        import openai

        self.name = name
        self.identity = endpoint.identity()
        self.fingerprint = fingerprint_of(self.identity)
        self.dimension = endpoint.dimension
        self.batch_size = endpoint.batch_size
        self._endpoint = endpoint
        self._prefixes: dict[Kind, str] = {"document": endpoint.document_prefix, "query": endpoint.query_prefix}
        self._wait_for = wait_for
        self._client = openai.OpenAI(base_url=endpoint.base_url, api_key=api_key, max_retries=0, timeout=endpoint.timeout_seconds)

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Iterator[Answer]:
        """One answer for each request of `batch_size` texts, as they finish; at most `concurrency` are under way."""
        prefix = self._prefixes[kind]
        batches = [np.arange(start, min(start + self.batch_size, len(texts))) for start in range(0, len(texts), self.batch_size)]
        with ThreadPoolExecutor(self._endpoint.concurrency, thread_name_prefix=self.name) as pool:
            under_way: set[Future[Answer]] = set()
            try:
                for positions in batches:
                    under_way.add(pool.submit(self._ask, positions.astype(np.int64), [prefix + texts[i] for i in positions.tolist()]))
                    if len(under_way) >= self._endpoint.concurrency:
                        done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                        yield from (future.result() for future in done)
                while under_way:
                    done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            finally:  # also where the reader of the answers stops early
                for future in under_way:
                    future.cancel()

    def _ask(self, positions: NDArray[np.int64], texts: list[str]) -> Answer:
        """One request, tried again as long as there is hope."""
        import openai

        fault = Fault("lost", "no attempt was made")
        for attempt in range(1, self._endpoint.attempts + 1):
            try:
                reply = self._client.embeddings.create(model=self._endpoint.model, input=texts, encoding_format="float")
                vectors = _vectors(reply.data, len(texts))
                if isinstance(vectors, Fault):
                    return Answer(positions, None, vectors, Usage(attempt))
                usage = Usage(attempt, int(getattr(reply.usage, "prompt_tokens", 0) or 0))
                return Answer(positions, vectors, usage=usage)
            except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
                trouble = fault_of(error, str(self._endpoint.base_url), self._endpoint.timeout_seconds, self._client.api_key)
            fault = Fault(_VERDICTS[trouble.trouble], trouble.reason)
            if trouble.trouble in ("closed", "rejected"):
                return Answer(positions, None, fault, Usage(attempt))
            if attempt < self._endpoint.attempts:
                wait_for = backoff(attempt) if trouble.wait_seconds is None else trouble.wait_seconds
                self._wait_for(min(wait_for, LONGEST_WAIT_SECONDS))  # never longer than a person would
        return Answer(positions, None, fault, Usage(self._endpoint.attempts))


def _vectors(data: Any, count: int) -> Vectors | Fault:
    """Vectors in the order of the texts, placed by the index that each item names; a fault where they don't fit."""
    if not data or sorted(item.index for item in data) != list(range(count)):
        return Fault("failed", f"{len(data or ())} embeddings, or none of the right number, for {count} texts")
    rows: list[Any] = [None] * count
    for item in data:
        value = item.embedding
        rows[item.index] = np.frombuffer(base64.b64decode(value), np.float32) if isinstance(value, str) else value
    # A null among the numbers becomes NaN and costs that text, not the batch.
    vectors = [np.asarray(row, np.float32) for row in rows]
    if len({len(vector) for vector in vectors}) != 1:
        return Fault("failed", "embeddings of several dimensions")
    return np.stack(vectors)

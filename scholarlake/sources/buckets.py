"""Dumps in a bucket, s3://bucket/prefix or gs://bucket/prefix: read where they lie, range by range, in bounded memory.

Credentials and endpoints come from the environment alone (AWS_ACCESS_KEY_ID, AWS_REGION, AWS_ENDPOINT_URL…,
GOOGLE_SERVICE_ACCOUNT…), in obstore's words, and so do its retries. Every range is asked for by the ETag under which the
object was listed: bytes of two objects never mix.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import obstore
from obstore.exceptions import BaseError, NotFoundError, PermissionDeniedError, PreconditionError, UnauthenticatedError
from obstore.store import ObjectStore, from_url

from scholarlake.errors import SourceError
from scholarlake.lake.hashing import digest
from scholarlake.sources.files import CHUNK_BYTES, File, is_hidden

SCHEMES = ("s3", "gs")
RANGE_BYTES = 8 << 20
RANGES_AHEAD = 4  # asked for at once: one connection alone is slower than the reading of what it brings

_ADDRESS = re.compile(rf"(?:{'|'.join(SCHEMES)})://[^/?#]+(?:/[^?#]*)?")
_SAID = re.compile(r"<Code>([^<]*)</Code>(?:\s*<Message>([^<]*)</Message>)?")
_CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a public bucket",
    "gs": "GOOGLE_SERVICE_ACCOUNT, or GOOGLE_SKIP_SIGNATURE=true for a public bucket",
}
_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Bucket:
    """A prefix of a bucket as a folder of a dump."""

    address: str

    @classmethod
    def at(cls, address: str) -> Bucket:
        """Raises SourceError where the address names no bucket."""
        if not _ADDRESS.fullmatch(address):
            raise SourceError(f"{address} is no address of a dump; name a folder, s3://bucket/prefix or gs://bucket/prefix")
        return cls(address.rstrip("/"))

    def __str__(self) -> str:
        return self.address

    def files(self) -> Iterator[tuple[str, File]]:
        listed = _asked(self.address, lambda: [found for batch in obstore.list(_store(self.address)) for found in batch])
        for found in listed:
            if found["size"] and not is_hidden(found["path"]):  # without bytes: what consoles leave to show a folder
                yield found["path"], self._object(found)

    def file(self, path: str) -> File | None:
        try:
            return self._object(_asked(f"{self.address}/{path}", lambda: obstore.head(_store(self.address), path)))
        except _Gone:
            return None

    def _object(self, found: Any) -> Object:
        if not found["e_tag"]:
            raise SourceError(
                f"{self.address}/{found['path']} has no ETag, so that a change of it would go unseen; copy the dump to a folder"
            )
        return Object(self.address, found["path"], found["size"], found["e_tag"])


@dataclass(frozen=True)
class Object:
    """An object in a bucket, as it was listed: path is its key below the folder."""

    folder: str
    path: str
    size: int
    etag: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def identity(self) -> str:
        return digest([self.signature])

    @property
    def signature(self) -> str:
        return f"{self.etag}-{self.size}"

    @property
    def touched(self) -> float:
        return 0.0

    @property
    def is_near(self) -> bool:
        return False

    def signature_now(self) -> str:
        found = self._ask(lambda store: obstore.head(store, self.path))
        return f"{found['e_tag']}-{found['size']}"

    def read(self, offset: int, length: int) -> bytes:
        stop = min(offset + length, self.size)
        if offset >= stop:
            return b""
        data = self._ask(
            lambda store: bytes(obstore.get(store, self.path, options={"range": (offset, stop), "if_match": self.etag}).bytes())
        )
        if len(data) != stop - offset:  # as where a store unpacks what it sends
            raise SourceError(
                f"{self.folder}/{self.path} gave {len(data):,} bytes where {stop - offset:,} were asked for; copy it to a folder"
            )
        return data

    def chunks(self, start: int, stop: int) -> Generator[bytes, None, None]:
        ranges = iter(range(start, min(stop, self.size), RANGE_BYTES))
        coming: deque[Future[bytes]] = deque()
        workers = ThreadPoolExecutor(RANGES_AHEAD, thread_name_prefix="ranges")
        try:
            while True:
                while len(coming) < RANGES_AHEAD and (offset := next(ranges, None)) is not None:
                    coming.append(workers.submit(self.read, offset, min(RANGE_BYTES, stop - offset)))
                if not coming:
                    return
                data = coming.popleft().result()
                for place in range(0, len(data), CHUNK_BYTES):
                    yield data[place : place + CHUNK_BYTES]
        finally:
            workers.shutdown(wait=True, cancel_futures=True)

    def _ask(self, question: Callable[[ObjectStore], _Answer]) -> _Answer:
        return _asked(f"{self.folder}/{self.path}", lambda: question(_store(self.folder)))


class _Gone(SourceError):
    """There is no such object."""


@lru_cache(maxsize=16)
def _store(address: str) -> ObjectStore:
    return from_url(address)


def _asked(where: str, question: Callable[[], _Answer]) -> _Answer:
    """Ask a store. Raises SourceError, in one line, for whatever it answers but the thing asked for."""
    try:
        return question()
    except (BaseError, FileNotFoundError) as fault:
        raise _in_one_line(where, fault) from fault


def _in_one_line(where: str, fault: Exception) -> SourceError:
    told = str(fault).split("Debug source:")[0]
    answer = _SAID.search(told)
    code, message = (answer[1], answer[2] or answer[1]) if answer else ("", " ".join(told.split()).rpartition(" - ")[2])
    if code == "NoSuchBucket":
        return SourceError(f"there is no bucket of {where}; name one that is there")
    if isinstance(fault, (FileNotFoundError, NotFoundError)):
        return _Gone(f"{where} is gone; list the dump again")
    if isinstance(fault, PreconditionError):
        return SourceError(f"{where} changed while it was read; try again when it is complete")
    if isinstance(fault, (PermissionDeniedError, UnauthenticatedError)) or re.search(
        r"status code: 40[13]\b|169\.254\.169\.254|metadata\.google", told
    ):
        scheme = where.partition(":")[0]
        return SourceError(f"access to {where} is denied ({message}); set {_CREDENTIALS[scheme]} in the environment")
    return SourceError(f"{where} can't be read ({message}); look at the address, the network and the store's settings in the environment")

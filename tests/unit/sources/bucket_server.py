"""A store of objects on this machine's loopback, that remembers what it was asked and can be told to misbehave."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

import pytest
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from scholarlake.sources import buckets

CUT_OFF = "cut off"


@dataclass
class Store:
    """The store, as S3 and as Google Cloud Storage.

    asked: method, path and range of every request; sent: bytes of its answers. fails: how to fail the next requests
    for an object: a status to answer with, or CUT_OFF, the connection half way.
    """

    url: str = ""
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    sent: int = 0
    fails: list[str] = field(default_factory=list)

    def put(self, key: str, data: bytes = b"") -> None:
        """Put an object that anyone may read; a key without a slash makes a bucket."""
        headers = {"x-amz-acl": "public-read", "Content-Type": "application/octet-stream"} if "/" in key else {}
        urlopen(Request(f"{self.url}/{key}", data=data if "/" in key else None, method="PUT", headers=headers)).close()

    def delete(self, key: str) -> None:
        urlopen(Request(f"{self.url}/{key}", method="DELETE")).close()

    def forget(self) -> None:
        self.asked.clear()
        self.sent = 0


class _Watched:
    """The application, with each request noted, or answered wrongly."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._application = DomainDispatcherApplication(create_backend_app)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        self._store.asked.append((environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("HTTP_RANGE", "")))
        fault = self._store.fails.pop(0) if environ["REQUEST_METHOD"] == "GET" and self._store.fails else ""
        if fault and fault != CUT_OFF:
            start_response(fault, [("Content-Length", "0")])
            return [b""]
        answer = b"".join(self._application(environ, start_response))
        if environ["REQUEST_METHOD"] == "GET":
            answer = answer[: len(answer) // 2] if fault else answer
            self._store.sent += len(answer)
        return [answer]


@contextmanager
def running() -> Iterator[Store]:
    """A store with a bucket `dumps`, that the environment names for s3:// and gs:// alike. Its credentials are made up."""
    store = Store()
    server = make_server("127.0.0.1", 0, _Watched(store), threaded=True)
    store.url = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, daemon=True).start()
    google = {"gcs_base_url": store.url, "disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}
    settings = {
        "AWS_ACCESS_KEY_ID": "made-up",
        "AWS_SECRET_ACCESS_KEY": "made-up",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": store.url,
        "AWS_ALLOW_HTTP": "true",
        "GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(google),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        buckets._store.cache_clear()
        urlopen(Request(f"{store.url}/moto-api/reset", method="POST")).close()  # what another test left
        store.put("dumps")
        store.forget()
        try:
            yield store
        finally:
            server.shutdown()
            buckets._store.cache_clear()

"""A small OpenAI-compatible embeddings server on the loopback address, that misbehaves on command."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSION = 4


def vector_of(text: str) -> list[float]:
    """A vector by which a test knows its text again."""
    return [float(len(text)), float(sum(map(ord, text)) % 97 + 1), 1.0, float(text.count("a"))]


@dataclass
class Reply:
    """What to answer: a status, a body, headers; hang_up closes the connection instead."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    hang_up: bool = False


def good(texts: list[str]) -> Reply:
    """The right answer, items out of order."""
    items = [{"object": "embedding", "index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)]
    return Reply(
        body={"object": "list", "model": "m", "data": items[::-1], "usage": {"prompt_tokens": len(texts), "total_tokens": len(texts)}}
    )


def error(status: int, message: str, **headers: str) -> Reply:
    return Reply(status, {"error": {"message": message, "type": "x", "code": status}}, headers)


@dataclass
class Endpoint:
    url: str
    requests: list[list[str]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


@contextmanager
def serving(behave: Callable[[list[str], int], Reply]) -> Iterator[Endpoint]:
    """Serve `behave(texts, number of the request)` until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            payload = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with guard:
                endpoint.requests.append(payload["input"])
                endpoint.keys.append(self.headers["authorization"])
                number = len(endpoint.requests)
            reply = behave(payload["input"], number)
            if reply.hang_up:
                self.close_connection = True
                return
            data = json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"content-type": "application/json", "content-length": str(len(data)), **reply.headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    guard = threading.Lock()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint = Endpoint(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

"""A small server that speaks the OpenAI protocol, chat and embeddings, on the loopback address, and misbehaves on command.

    python -m tests.misbehaving [--port 0]      prints its address; ends with its standard input

A command is part of the text that is asked about, such as `[[429 retry-after=1 x2]]`: the first two times this request comes,
the answer is 429. Without `xN` it holds for ever. Commands: a status (with retry-after), hang, reset, nonsense, empty, slow=SECONDS,
length, refuse, blocked, blanks, silent (no usage), text=… (to the end of the command), twice (a duplicate key), late (an answer
slower than all the others that are there). A test may give a function instead, which decides for every request.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

DIMENSION = 4
MODEL = "m"
MOST_WORDS = 2_000  # in a prompt
BACKLOG = 1_024  # connections that come at once: one that finds no place waits for seconds
_COMMAND = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
_TIMES = re.compile(r"\s*\bx(\d+)$")


@dataclass(frozen=True)
class Asked:
    """A request. number: counted from 1 over all; times: how often this prompt, or list of texts, came, this time included."""

    path: str
    body: Mapping[str, Any]
    key: str
    number: int
    times: int

    @property
    def texts(self) -> list[str]:
        """The texts to embed."""
        return list(self.body["input"])

    @property
    def prompt(self) -> str:
        """What the user said first: a correction is about the same."""
        return _prompt(self.body)


@dataclass(frozen=True)
class Reply:
    """What to answer. raw: instead of a body; after: seconds before it; hang: never; reset: close the connection instead."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    after: float = 0.0
    hang: bool = False
    reset: bool = False


Behaviour = Callable[[Asked], Reply]


# -- what a good server answers ------------------------------------------------------------------------------------------


def vector_of(text: str) -> list[float]:
    """A vector by which a test knows its text again."""
    return [float(len(text)), float(sum(map(ord, text)) % 97 + 1), 1.0, float(text.count("a"))]


def embedded(texts: list[str]) -> Reply:
    """The right answer, items out of order."""
    items = [{"object": "embedding", "index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return Reply(body={"object": "list", "model": MODEL, "data": items[::-1], "usage": usage})


def said(text: str | None, asked: Asked, finish: str = "stop", **message: Any) -> Reply:
    """A completion. A token is a word."""
    read = sum(len(str(one["content"]).split()) for one in asked.body["messages"])
    usage = {"prompt_tokens": read, "completion_tokens": len((text or "").split())}
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
    return Reply(body={"id": "x", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice], "usage": usage})


def error(status: int, message: str, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, {"error": {"message": message, "type": "x", "code": status}}, named)


def answer_to(asked: Asked) -> str:
    """A text, or a value that fits the schema that is asked for."""
    prompt = _COMMAND.sub("", asked.prompt).strip()
    wanted = asked.body.get("response_format")
    return f"re: {prompt}" if wanted is None else json.dumps(example(wanted["json_schema"]["schema"], prompt))


def example(schema: Mapping[str, Any], text: str) -> Any:
    """A small value that a schema allows; strings say the text."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: example(entry, text) for name, entry in schema.get("properties", {}).items()}
        case "array":
            return [example(schema["items"], text)] * max(1, schema.get("minItems", 0))
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return text[: schema.get("maxLength", 100)]


def obey(asked: Asked) -> Reply:
    """Answer well, but as the text itself commands."""
    if asked.path.endswith("/embeddings"):
        return embedded(asked.texts)
    for command in _COMMAND.findall(asked.prompt):
        times = _TIMES.search(command)
        if times is None or asked.times <= int(times[1]):
            return _obeyed(_TIMES.sub("", command).strip(), asked)
    if sum(len(str(message["content"]).split()) for message in asked.body["messages"]) > MOST_WORDS:
        return error(400, f"this model's maximum context length is {MOST_WORDS} tokens")
    words, room = answer_to(asked).split(" "), asked.body["max_tokens"]
    return said(" ".join(words[:room]), asked, "length" if len(words) > room else "stop")


def _obeyed(command: str, asked: Asked) -> Reply:
    word, _, rest = command.partition("=")
    if command[:3].isdigit():
        wait = re.search(r"retry-after=(\S+)", command)
        return error(int(command[:3]), "as commanded", **({"retry_after": wait[1]} if wait else {}))
    good = answer_to(asked)
    match word:
        case "hang":
            return Reply(hang=True)
        case "reset":
            return Reply(reset=True)
        case "nonsense":
            return Reply(raw=b"<html>it works!</html>")
        case "empty":
            return Reply(body={})
        case "slow":
            return Reply(body=said(good, asked).body, after=float(rest))
        case "length":
            return said(good[: len(good) // 2], asked, "length")
        case "blanks":
            return said("{" + "\n" * 400, asked, "length")
        case "refuse":
            return said(None, asked, refusal="I'd rather not.")
        case "blocked":
            return said(None, asked, "content_filter")
        case "silent":
            return Reply(body={name: value for name, value in said(good, asked).body.items() if name != "usage"})
        case "twice":
            return said(good.replace("{", "{" + good[1:].split(",")[0].rstrip("}") + ",", 1), asked)
        case "text":
            return said(rest, asked)
    raise ValueError(f"no command {command!r}")


# -- the server --------------------------------------------------------------------------------------------------------


@dataclass
class Server:
    """A running server. seen: every request, where they are kept; counts: how often each prompt, or list of texts, was asked;
    models: what it answers when it is asked which it has.
    """

    behave: Behaviour
    keep: bool = True
    url: str = ""
    seen: list[Asked] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    models: Reply | None = None
    number: int = 0
    at_once: int = 0
    most_at_once: int = 0
    connections: set[asyncio.Transport] = field(default_factory=set)

    @property
    def port(self) -> int:
        return int(self.url.split(":")[2].split("/")[0])

    def reply(self, path: str, key: str, data: bytes) -> Reply:
        if path.endswith("/models"):
            return self.models or Reply(body={"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        if path == "/counts":
            return Reply(body=dict(self.counts))
        body = json.loads(data)
        what = _prompt(body) if "messages" in body else "\n".join(body["input"])
        self.number += 1
        self.counts[what] += 1
        asked = Asked(path, body, key, self.number, self.counts[what])
        if self.keep:
            self.seen.append(asked)
        return self.behave(asked)


def _prompt(body: Mapping[str, Any]) -> str:
    return str(next(message["content"] for message in body["messages"] if message["role"] == "user"))


class _Connection(asyncio.Protocol):
    """HTTP/1.1 with connections that stay open: as little of it as the client needs, and fast."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.connections.add(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._server.connections.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            head, rest = self._data[:end].decode("latin-1"), self._data[end + 4 :]
            lines = head.split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
            length = int(headers.get("content-length", 0))
            if len(rest) < length:
                return
            self._data = rest[length:]
            self._server.at_once += 1
            self._server.most_at_once = max(self._server.most_at_once, self._server.at_once)
            reply = self._server.reply(lines[0].split(" ")[1], headers.get("authorization", ""), rest[:length])
            if reply.hang:
                return
            # Also an answer at once is one turn of the loop away, so that what came together is counted together.
            asyncio.get_running_loop().call_later(reply.after, self._answer, reply)

    def _answer(self, reply: Reply) -> None:
        self._server.at_once -= 1
        if reply.reset:
            self._transport.abort()
            return
        data = reply.raw if reply.raw is not None else json.dumps(reply.body).encode()
        named = {"content-type": "application/json", "content-length": str(len(data)), **reply.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        self._transport.write(f"HTTP/1.1 {reply.status} X\r\n{head}\r\n".encode() + data)


@contextmanager
def serving(behave: Behaviour = obey, port: int = 0) -> Iterator[Server]:
    """A server in a thread, until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = Server(behave)
    listening = asyncio.run_coroutine_threadsafe(_listen(server, port), loop).result()
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(_close(server, listening), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _listen(server: Server, port: int) -> asyncio.Server:
    return await asyncio.get_running_loop().create_server(lambda: _Connection(server), "127.0.0.1", port, backlog=BACKLOG)


async def _close(server: Server, listening: asyncio.Server) -> None:
    listening.close()
    for transport in list(server.connections):
        transport.abort()
    await asyncio.sleep(0)  # lets the connections say that they are lost


async def _serve(port: int) -> None:
    server = Server(obey, keep=False)
    listening = await _listen(server, port)
    print(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    listening.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(_serve(parser.parse_args().port))

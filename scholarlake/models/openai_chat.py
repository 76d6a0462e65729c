"""Any OpenAI-compatible `/v1/chat/completions`: vLLM's own server, llama.cpp's, or a hosted one.

One attempt a call: the client's own retries are off. What does not belong here: trying again, and what an answer is worth
(`chat_model.py`).
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import orjson

from scholarlake.models.chat import Call, Fault, Finish, FunctionCall, Message, Reply
from scholarlake.models.config import ChatEndpoint
from scholarlake.models.troubles import fault_of

if TYPE_CHECKING:
    import ssl

    import openai

_FINISHES: dict[str, Finish] = {"length": "length", "content_filter": "refusal"}
_THOUGHTS = ("reasoning_content", "reasoning")  # where servers put what a model thought, if they take it out of the text
_CONNECT_SECONDS = 30.0  # hundreds that connect at once on a busy machine take their time
_CONNECTIONS = 8
"""Of one client. Its pool looks at each of them whenever a request begins or ends: many small pools are quicker than a large one."""


def client_for(
    base_url: str, api_key: str, timeout_seconds: float, concurrency: int, verify: ssl.SSLContext | bool = True
) -> openai.AsyncOpenAI:
    """A client that keeps a connection for every request in flight, and retries nothing. verify: what a server's certificate must meet."""
    import httpx2
    import openai

    limits = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    timeout = httpx2.Timeout(timeout_seconds, connect=min(_CONNECT_SECONDS, timeout_seconds), pool=None)
    http = openai.DefaultAsyncHttpxClient(limits=limits, timeout=timeout, verify=verify)
    return openai.AsyncOpenAI(base_url=base_url, api_key=api_key, max_retries=0, timeout=timeout, http_client=http)


class OpenAIChat:
    """An endpoint that is asked over HTTP."""

    def __init__(self, endpoint: ChatEndpoint, base_url: str, api_key: str) -> None:
        self._endpoint = endpoint
        self._base_url = base_url
        self._api_key = api_key
        self._clients: list[openai.AsyncOpenAI] = []
        self._free: asyncio.LifoQueue[openai.AsyncOpenAI] = asyncio.LifoQueue()  # each as often as it has connections to spare

    def __repr__(self) -> str:
        return f"OpenAIChat({self._endpoint.model!r}, {self._base_url!r})"

    async def __aenter__(self) -> Self:
        import httpx2

        endpoint, verify = self._endpoint, httpx2.create_ssl_context()
        for start in range(0, endpoint.concurrency, _CONNECTIONS):
            connections = min(_CONNECTIONS, endpoint.concurrency - start)
            client = client_for(self._base_url, self._api_key, endpoint.timeout_seconds, connections, verify)
            self._clients.append(client)
            for _ in range(connections):
                self._free.put_nowait(client)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for client in self._clients:
            await client.close()

    async def ask(self, call: Call) -> Reply | Fault:
        """One request."""
        import httpx2

        client = await self._free.get()
        try:
            # Past the client's own model of requests and answers: it takes two thirds of the time of all that is done here.
            raw = await client.post("/chat/completions", body=self._asked(call), cast_to=httpx2.Response)
            return reply_of(orjson.loads(raw.content))
        except Exception as error:
            return fault_of(error, self._base_url, self._endpoint.timeout_seconds, self._api_key)
        finally:
            self._free.put_nowait(client)

    def _asked(self, call: Call) -> dict[str, Any]:
        sampling = call.sampling
        asked: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": spoken(call.messages),
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
        }
        if sampling.seed is not None:
            asked["seed"] = sampling.seed
        if sampling.stop:
            asked["stop"] = list(sampling.stop)
        if call.functions:
            asked["tools"] = list(call.functions)
        if call.schema is not None:
            asked["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": call.schema}}
        return {**asked, **self._endpoint.extra_body}


def spoken(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """Messages as the protocol has them."""
    return [_message(message) for message in messages]


def reply_of(body: Any) -> Reply | Fault:
    """A reply out of a completion's JSON. What has another shape is a fault."""
    try:
        choice = body["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        text, refusal = message.get("content"), message.get("refusal")
        thought = next((message[name] for name in _THOUGHTS if message.get(name)), None)
        usage = body.get("usage") or {}
        tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
        calls = tuple(_called(one) for one in message.get("tool_calls") or ())
        if not all(count is None or isinstance(count, int) for count in tokens) or not all(
            isinstance(one, str | None) for one in (text, thought)
        ):
            raise TypeError("a field of another type")
    except (KeyError, IndexError, TypeError, AttributeError) as fault:
        return Fault("failed", f"an answer that is no chat completion ({' '.join(str(fault).split())[:100]})")
    known = _FINISHES.get(finish, "stop")
    if refusal or (text is None and known == "stop" and not calls and not thought):
        known, text = "refusal", refusal or None
    return Reply(text, known, *tokens, thought, calls)


def _message(message: Message) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.speaker, "content": message.content}
    if message.calls:
        said["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}} for call in message.calls
        ]
    if message.answers:
        said["tool_call_id"] = message.answers
    return said


def _called(given: Any) -> FunctionCall:
    """A call as a server gives it. Its arguments stay as they are: whether they are JSON is for who asked to judge."""
    function, name = given["function"], given.get("id")
    arguments = function.get("arguments")
    if not isinstance(arguments, str):  # some servers give the object itself
        arguments = "{}" if arguments is None else orjson.dumps(arguments).decode()
    return FunctionCall(str(name or ""), str(function["name"]), arguments)

"""What a language model is asked and what it answers: requests in bulk, results as they finish, each with an error of its own.

What does not belong here: which model a role uses (`config.py`), how an answer is got and kept (`chat_model.py`), embeddings
(`protocol.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Protocol, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field

from scholarlake.lake.hashing import digest

Speaker = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "length", "refusal"]


@dataclass(frozen=True)
class FunctionCall:
    """A function that a model wants called. arguments: JSON as the model wrote it, which may be none. id: what its result refers to."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Message:
    """What somebody says. calls: of the assistant; answers: of a tool, the id of the call that it answers."""

    speaker: Speaker
    content: str
    calls: tuple[FunctionCall, ...] = ()
    answers: str = ""


class Sampling(BaseModel):
    """How tokens are drawn. What is not set is taken from the role, then from the endpoint."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float = Field(0.0, ge=0, description="0 takes the likeliest token")
    top_p: float = Field(1.0, gt=0, le=1, description="share of the probability that is drawn from")
    max_tokens: int = Field(1_024, ge=1, description="longest answer")
    seed: int | None = Field(None, description="another seed is another draw, and another answer in the cache")
    stop: tuple[str, ...] = Field((), description="texts at which the answer ends")

    def over(self, base: Sampling) -> Sampling:
        """These settings, with what they leave out taken from others."""
        return base.model_copy(update={name: getattr(self, name) for name in self.model_fields_set})


@dataclass(frozen=True)
class Tags:
    """What a request is for: by these its cost is found again."""

    asset: str = ""
    partition: str = ""
    run: str = ""


@dataclass(frozen=True)
class ChatRequest:
    """One prompt. item: the caller's own name for what it is about; it changes no answer. schema: a JSON schema for the answer.

    functions: where the whole message counts and not only its text: what the model may call, as OpenAI's protocol describes functions,
    or none; the result then has its calls, and its thought where the server tells that apart.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    sampling: Sampling | None = None
    item: str = ""
    tags: Tags | None = None
    functions: tuple[Mapping[str, Any], ...] | None = None


#: permanent: the endpoint will never take this request. exhausted: it broke down over it however often it was asked.
#: truncated: the answer was cut off, with a larger budget too. refused: the model will not answer. invalid: not as the schema has it.
FailureKind = Literal["permanent", "exhausted", "truncated", "refused", "invalid"]


@dataclass(frozen=True)
class Failure:
    kind: FailureKind
    reason: str


@dataclass(frozen=True)
class Spent:
    """What answers took. cost: in the currency of the endpoint's prices, null where it has none. seconds: waited for answers."""

    requests: int = 0
    hits: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cost: float | None = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.requests + other.requests,
            self.hits + other.hits,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.seconds + other.seconds,
            None if self.cost is None or other.cost is None else self.cost + other.cost,
        )


@dataclass(frozen=True)
class ChatResult:
    """What became of one request: text, with a schema its value, with functions the thought and the calls; or a failure.

    position: which of the requests it was.
    """

    position: int
    request: ChatRequest
    text: str | None
    value: Any
    failure: Failure | None
    spent: Spent
    cached: bool
    thought: str | None = None
    calls: tuple[FunctionCall, ...] = ()


@dataclass
class Tally:
    """What a role's work came to so far, for reports."""

    spent: Spent = field(default_factory=Spent)
    failures: Counter[str] = field(default_factory=Counter)

    def facts(self) -> dict[str, Any]:
        """Plain numbers, as an asset reports them."""
        spent = self.spent
        return {
            "requests": spent.requests,
            "cache_hits": spent.hits,
            "tokens_in": spent.tokens_in,
            "tokens_out": spent.tokens_out,
            "model_seconds": round(spent.seconds, 3),
            "cost": None if spent.cost is None else round(spent.cost, 6),
            "failures": dict(self.failures),
        }


# -- between the layer and a back end ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """One question put to a back end, once."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None
    sampling: Sampling
    functions: tuple[Mapping[str, Any], ...] | None = None


@dataclass(frozen=True)
class Reply:
    """What a model said. tokens: null where the back end does not tell. thought: where it tells it apart from the text."""

    text: str | None
    finish: Finish
    tokens_in: int | None
    tokens_out: int | None
    thought: str | None = None
    calls: tuple[FunctionCall, ...] = ()


#: rejected: this request, for ever. failed: over this request, this time. busy: not now. gone: nobody there. closed: no entry at all.
Trouble = Literal["rejected", "failed", "busy", "gone", "closed"]


@dataclass(frozen=True)
class Fault:
    """Why a call got no reply. wait_seconds: how long the endpoint asks to be left alone."""

    trouble: Trouble
    reason: str
    wait_seconds: float | None = None


class Engine(Protocol):
    """A back end: takes many calls at once, each awaited by itself. Retries nothing."""

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...
    async def ask(self, call: Call) -> Reply | Fault:
        """One attempt. Raises nothing for what an endpoint says or does: that is a fault."""
        ...


def cache_key(identity: Mapping[str, Any], call: Call) -> bytes:
    """16 bytes over everything that can change an answer: model and revision, messages, schema, sampling, functions."""
    asked: dict[str, Any] = {
        "model": dict(identity),
        "messages": [_said(message) for message in call.messages],
        "schema": None if call.schema is None else dict(call.schema),
        "sampling": call.sampling.model_dump(),
    }
    if call.functions is not None:  # without, the key is what it was before there were any: kept answers are still found
        asked["functions"] = [dict(function) for function in call.functions]
    # Keys stay as they stand: the order of a schema's properties is the order in which a model writes them.
    return bytes.fromhex(digest([orjson.dumps(asked).decode()]))


def _said(message: Message) -> tuple[Any, ...]:
    said: tuple[Any, ...] = (message.speaker, message.content)
    if message.calls or message.answers:
        said += ([(call.id, call.name, call.arguments) for call in message.calls], message.answers)
    return said

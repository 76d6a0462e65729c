"""A role's language model: many requests in, results as they finish, none sent again whose answer is known.

Around any back end lies the one layer of everything else: the cache and the ledger, retries of what may pass, a budget, strict
validation, one more try with more room where an answer was cut off and one where it did not fit its schema. What does not
belong here: how a back end is reached (`openai_chat.py`, `vllm_chat.py`, `llama_chat.py`), what to ask.

Three threads: the caller's goes through the requests and looks them up; a loop of its own has them under way, by as many
workers as may ask at once; the ledger's writes. A worker takes its next request, and the caller gets the result, once the answer is on
disk: whenever the process is killed, no more than `concurrency` requests were sent whose answer is not kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Self

import orjson

from scholarlake.errors import ModelError
from scholarlake.models.budget import WAIT_SECONDS, Budget, BudgetSpent, hold_all
from scholarlake.models.chat import (
    Call,
    ChatRequest,
    ChatResult,
    Engine,
    Failure,
    Fault,
    FunctionCall,
    Message,
    Reply,
    Sampling,
    Spent,
    Tags,
    Tally,
    cache_key,
)
from scholarlake.models.config import ChatEndpoint
from scholarlake.models.fencing import apart
from scholarlake.models.ledger import Answer, Ledger, Work
from scholarlake.models.prompts import prompt
from scholarlake.models.structured import Invalid, Shape, runs_away, shape_of
from scholarlake.models.troubles import backoff

HOPELESS = 10
"""Requests in a row that an endpoint breaks down over before it is taken to be broken itself."""
LISTENING_SECONDS = 0.5
"""How long a wait lasts before it is looked whether there was a Ctrl-C: Polars takes its signal so that it ends no wait by itself."""
GATHERING_SECONDS = 0.02
"""How long an answer waits, at most, for others to share its write."""
_SHARE_GATHERED = 1 / 16  # of all workers, no more wait for that: so many, at most, could ask and don't
_SHOWN = 8_000  # characters of a wrong answer that the model is shown again
_REASON = 200  # characters of a refusal that are kept
_TOKENS_A_MESSAGE = 16  # what a chat template puts around one, at most
_PROMPTS = Path(__file__).parent / "prompt_texts"


@dataclass
class _Item:
    """One distinct request on its way. seats: which of the requests it answers."""

    key: bytes
    call: Call
    shape: Shape | None
    tags: Tags
    seats: list[tuple[int, ChatRequest]]
    spent: Spent = field(default_factory=Spent)
    text: str | None = None
    value: Any = None
    failure: Failure | None = None
    thought: str | None = None
    calls: tuple[FunctionCall, ...] = ()


@dataclass
class _Errand:
    """What one call of `ask` has under way. finished: what the caller waits for; workers: those that are at one of its items."""

    finished: SimpleQueue[list[_Item] | BaseException] = field(default_factory=SimpleQueue)
    workers: set[asyncio.Task[None]] = field(default_factory=set)


@dataclass
class _Batch:
    """Items that are done, whose answers and costs share a write. stored: comes once they are on disk."""

    due: asyncio.TimerHandle
    stored: asyncio.Event = field(default_factory=asyncio.Event)
    answers: list[Answer] = field(default_factory=list)
    work: list[Work] = field(default_factory=list)
    items: dict[SimpleQueue[list[_Item] | BaseException], list[_Item]] = field(default_factory=dict)
    count: int = 0


class Clock:
    """The time that waits are measured by: seconds, from anywhere."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class ChatModel:
    """A role bound to an endpoint, ready to be asked. A context manager: the engine runs from the first question to the end.

    tally: what was asked and spent so far. Thread-safe only in that several models may be used at once.
    """

    def __init__(
        self,
        role: str,
        name: str,
        endpoint: ChatEndpoint,
        engine: Callable[[], Engine],
        ledger: Ledger,
        *,
        sampling: Sampling | None = None,
        tags: Tags | None = None,
        budgets: Sequence[Budget] = (),
        clock: Clock | None = None,
    ) -> None:
        self.role = role
        self.name = name
        self.endpoint = endpoint
        self.identity = endpoint.identity()
        self.sampling = sampling or endpoint.sampling
        self.tags = tags or Tags()
        self.tally = Tally()
        self._make_engine = engine
        self._ledger = ledger
        self._budgets = tuple(budgets)
        self._clock = clock or Clock()
        self._prices = endpoint.priced()
        self._longest = endpoint.longest_answer()
        self._loop: _Loop | None = None
        self._engine: Engine | None = None
        self._waiting: deque[tuple[_Item, _Errand]] = deque()  # for a worker
        self._workers: set[asyncio.Task[None]] = set()
        self._batch: _Batch | None = None  # what is about to be stored
        self._lost: ModelError | None = None  # why nothing more is asked
        self._broken = 0  # requests in a row that failed for good
        self._not_before = -math.inf  # until then the endpoint wants to be left alone
        self._held = 0  # attempts that money is set aside for
        if self._budgets and self._prices is None:
            raise ModelError(f"a budget is set, but endpoint {name} has no prices; give `prices` for it in the models file")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            engine, self._engine = self._engine, None
            if engine is not None:
                loop.wait_for(engine.__aexit__(None, None, None))
            loop.close()

    def ask(self, requests: Iterable[ChatRequest]) -> Iterator[ChatResult]:
        """A result for every request, as they finish: known answers first, equal requests asked once.

        Raises ModelError where the endpoint is lost or breaks down over everything, and BudgetSpent where the next request could cost
        more than is left; in both cases once all that was under way is done with and handed out.
        """
        high = 2 * self.endpoint.concurrency
        low = high - max(1, self.endpoint.concurrency // 2)
        supply = enumerate(requests)
        errand = _Errand()
        under_way: dict[bytes, _Item] = {}
        hits: Counter[Tags] = Counter()
        fault: BaseException | None = None
        exhausted = False
        self._lost = None
        try:
            while True:
                known: list[ChatResult] = []
                while fault is None and not exhausted and not known and len(under_way) <= low:
                    items, exhausted = self._take(supply, high - len(under_way), under_way)
                    answers = self._ledger.find([item.key for item in items])
                    fresh = [item for item in items if item.key not in answers]
                    known = [result for item in items if item.key in answers for result in self._remembered(item, answers[item.key])]
                    hits.update(result.request.tags or self.tags for result in known)
                    under_way.update((item.key, item) for item in fresh)
                    if fresh:
                        self._start(fresh, errand)
                yield from known
                if known:
                    continue
                if not under_way:
                    break
                done = _heard(errand.finished)
                if isinstance(done, BaseException):
                    fault = fault or done
                    if not isinstance(done, BudgetSpent):
                        break
                    continue
                for item in done:
                    del under_way[item.key]
                for item in done:
                    if item.text is None and item.failure is None:  # not asked: nothing more is
                        continue
                    hits.update(request.tags or self.tags for _, request in item.seats[1:])
                    yield from self._results(item)
            if fault is not None:
                raise fault
        finally:
            if self._loop is not None and under_way:
                self._loop.wait_for(self._give_up(errand))
            self._keep_hits(hits)

    def _take(self, supply: Iterator[tuple[int, ChatRequest]], count: int, under_way: Mapping[bytes, _Item]) -> tuple[list[_Item], bool]:
        """The next distinct requests, and whether there are no more. What is under way already only gets another seat."""
        fresh: dict[bytes, _Item] = {}
        for position, request in supply:
            call, shape = self._call(request)
            key = cache_key(self.identity, call)
            item = under_way.get(key) or fresh.get(key)
            if item is not None:
                item.seats.append((position, request))
                continue
            fresh[key] = _Item(key, call, shape, request.tags or self.tags, [(position, request)])
            if len(fresh) >= count:
                return list(fresh.values()), False
        return list(fresh.values()), True

    def _call(self, request: ChatRequest) -> tuple[Call, Shape | None]:
        sampling = self.sampling if request.sampling is None else request.sampling.over(self.sampling)
        shape = None if request.schema is None else shape_of(request.schema)
        if shape is not None and (fault := shape.no_room(sampling.max_tokens, self._longest)) is not None:
            raise ModelError(f"{self.role} asks {self.name}: {fault}")
        messages = tuple(one if one.content.isascii() else replace(one, content=_sendable(one.content)) for one in request.messages)
        return Call(messages, shape.schema if shape else None, sampling, request.functions), shape

    def _remembered(self, item: _Item, answer: Answer) -> Iterator[ChatResult]:
        text, thought, calls = (answer.text, None, ()) if item.call.functions is None else _whole(answer.text)
        value = None if item.call.schema is None else orjson.loads(text)  # it was valid when it was kept
        for position, request in item.seats:
            self.tally.spent += Spent(hits=1)
            yield ChatResult(position, request, text, value, None, Spent(hits=1), True, thought, calls)

    def _results(self, item: _Item) -> Iterator[ChatResult]:
        self.tally.spent += item.spent
        for number, (position, request) in enumerate(item.seats):
            if item.failure is not None:
                self.tally.failures[item.failure.kind] += 1
            elif number:
                self.tally.spent += Spent(hits=1)
            spent = Spent(hits=1) if number else item.spent
            text = None if item.failure else item.text
            yield ChatResult(position, request, text, item.value, item.failure, spent, bool(number), item.thought, item.calls)

    def _keep_hits(self, hits: Mapping[Tags, int]) -> None:
        work = [
            Work(tags, self.role, self.name, self.endpoint.model, "hit", requests=0, hits=count, cost=0.0)
            for tags, count in hits.items()
            if count
        ]
        if work:
            self._ledger.put((), work)
        self._ledger.flush()

    # -- in the loop's thread ----------------------------------------------------------------------------------------

    def _start(self, items: Sequence[_Item], errand: _Errand) -> None:
        if self._loop is None:
            self._loop = _Loop(f"{self.role} asks {self.name}")
            self._settled = asyncio.Event()
        if self._engine is None:
            engine = self._make_engine()
            self._loop.wait_for(engine.__aenter__())
            self._engine = engine

        def begin() -> None:
            self._waiting.extend((item, errand) for item in items)
            self._employ()

        self._loop.call(begin)

    def _employ(self) -> None:
        """See that as many workers are there as may ask at once, or as there is work for."""
        for _ in range(min(self.endpoint.concurrency - len(self._workers), len(self._waiting))):
            worker = asyncio.get_running_loop().create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)

    async def _work(self) -> None:
        """Take what waits, one item after the other, until nothing does."""
        worker = asyncio.current_task()
        assert worker is not None
        while self._waiting:
            item, errand = self._waiting.popleft()
            errand.workers.add(worker)
            await self._work_on(item, errand.finished)
            errand.workers.discard(worker)

    async def _give_up(self, errand: _Errand) -> None:
        """Ask nothing more for a caller who has left."""
        self._waiting = deque(one for one in self._waiting if one[1] is not errand)
        self._store()
        leaving = list(errand.workers)
        for worker in leaving:
            worker.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)
        self._workers.difference_update(leaving)  # their own word that they have left comes a turn of the loop later
        self._employ()

    async def _work_on(self, item: _Item, finished: SimpleQueue[list[_Item] | BaseException]) -> None:
        """Answer one item and see it kept. An item that comes back with neither text nor failure was not asked."""
        try:
            answer, work = await self._answer(item)
        except BudgetSpent as fault:
            finished.put(fault)
            finished.put([item])
        except Exception as fault:
            finished.put(fault)
        else:
            await self._kept(item, answer, work, finished)

    async def _kept(self, item: _Item, answer: Answer | None, work: Work, finished: SimpleQueue[list[_Item] | BaseException]) -> None:
        """Return once an item's answer and cost are on disk, and it is handed to the caller. Never, where they can't be stored: then
        nothing more is to be asked, and the caller who is told so ends it.
        """
        batch = self._batch
        if batch is None:
            batch = self._batch = _Batch(asyncio.get_running_loop().call_later(GATHERING_SECONDS, self._store))
        if answer is not None:
            batch.answers.append(answer)
        batch.work.append(work)
        batch.items.setdefault(finished, []).append(item)
        batch.count += 1
        # With nothing left to ask, the caller waits for this one and has more only then.
        if not self._waiting or batch.count >= self.endpoint.concurrency * _SHARE_GATHERED:
            self._store()
        await batch.stored.wait()

    def _store(self) -> None:
        """Have the ledger keep what is gathered."""
        batch, self._batch = self._batch, None
        if batch is None:
            return
        batch.due.cancel()
        loop = asyncio.get_running_loop()

        def then(fault: BaseException | None) -> None:
            for finished, items in batch.items.items():
                finished.put(items if fault is None else fault)
            if fault is None:
                with contextlib.suppress(RuntimeError):  # the loop has ended, and all its workers with it
                    loop.call_soon_threadsafe(batch.stored.set)

        self._ledger.put(batch.answers, batch.work, then, at_once=True)

    async def _answer(self, item: _Item) -> tuple[Answer | None, Work]:
        """Ask until an answer is sound, or it is plain that none will be: then the item's failure is set. With it, its last attempt's
        cost, which is not kept yet. Raises ModelError where all is in vain.
        """
        call, widened, corrected = item.call, False, False
        while True:
            said, seconds, cost = await self._reply(item, call)
            if isinstance(said, Fault):
                item.failure = Failure("permanent" if said.trouble == "rejected" else "exhausted", said.reason)
                if widened and said.trouble == "rejected":  # the prompt was fine: with so much room it takes more than the context
                    reason = f"cut off, and {call.sampling.max_tokens} tokens are more than it may have: {said.reason}"
                    item.failure = Failure("truncated", reason)
                return None, self._counted(item, said, said.trouble, seconds, cost)
            item.failure, item.value = self._judged(said, call, item.shape)
            work = self._counted(item, said, item.failure.kind if item.failure else "answered", seconds, cost)
            if item.failure is None:
                item.text = said.text or ""
                kept = item.text
                if call.functions is not None:
                    item.thought, item.calls = said.thought, said.calls
                    kept = orjson.dumps({"text": item.text, "thought": said.thought, "calls": said.calls}).decode()
                return Answer(item.key, self.role, self.endpoint.model, kept, work.tokens_in, work.tokens_out), work
            if item.failure.kind == "truncated" and not widened and (room := self._wider(call, item.shape)) > call.sampling.max_tokens:
                call = replace(call, sampling=call.sampling.model_copy(update={"max_tokens": room}))
                widened = True
            elif item.failure.kind == "invalid" and not corrected and item.shape is not None:
                call = replace(call, messages=(*item.call.messages, *_correction(said.text or "", item.failure.reason)))
                corrected = True
            else:
                return None, work
            self._ledger.put((), (work,))

    def _judged(self, reply: Reply, call: Call, shape: Shape | None) -> tuple[Failure | None, Any]:
        """What is wrong with a reply, if anything, and its value."""
        text = reply.text or ""
        if reply.finish == "refusal":
            return Failure("refused", " ".join(text.split())[:_REASON] or "there is no answer"), None
        if reply.finish == "length" and not runs_away(text):
            return Failure("truncated", f"cut off after {call.sampling.max_tokens} tokens"), None
        if reply.finish == "length":
            return Failure("invalid", "it ends in white space without end"), None
        if shape is None:
            has_words = text.strip() or (reply.calls and call.functions is not None)
            return (None if has_words else Failure("invalid", "it is empty")), None
        try:
            return None, shape.parse(text)
        except Invalid as fault:
            return Failure("invalid", str(fault)), None

    def _wider(self, call: Call, shape: Shape | None) -> int:
        """Room for an answer that was cut off: twice what it had, or all that its schema can take; within the endpoint's limit."""
        longest = shape.longest if shape is not None else None
        wanted = max(longest or 0, 2 * call.sampling.max_tokens)
        return wanted if self._longest is None else min(wanted, self._longest)

    async def _reply(self, item: _Item, call: Call) -> tuple[Reply | Fault, float, float | None]:
        """What the endpoint says in the end, asked again as long as there is hope; the seconds and the cost of the last attempt.

        All attempts before it are in the ledger. Raises ModelError where nobody will get an answer.
        """
        assert self._engine is not None
        failed, number = 0, 0
        waited_since: float | None = None
        while True:
            number += 1
            await self._admitted()
            most = await self._held_for(call)
            cost: float | None = 0.0
            began = self._clock.now()
            try:
                said = await self._engine.ask(call)
                cost = self._cost(said, most)
            finally:
                self._settle(most, cost or 0.0)
            now = self._clock.now()
            if isinstance(said, Reply):
                self._broken = 0
                return said, now - began, cost
            if said.trouble == "rejected":
                return said, now - began, cost
            wait = backoff(number) * random.uniform(0.75, 1.0) if said.wait_seconds is None else said.wait_seconds
            vain = ""
            if said.trouble == "closed":
                vain = said.reason
            elif said.trouble == "failed":
                failed += 1
                if failed >= self.endpoint.attempts:
                    self._broken += 1
                    if self._broken < HOPELESS:
                        return said, now - began, cost
                    vain = f"breaks down over every request ({said.reason})"
            else:
                waited_since = began if waited_since is None else waited_since
                if now + wait - waited_since > self.endpoint.patience_seconds:
                    vain = said.reason
                elif said.wait_seconds is not None:
                    self._not_before = max(self._not_before, now + wait)
            self._ledger.put((), (self._counted(item, said, said.trouble, now - began, cost),))
            if vain:
                self._lost = ModelError(f"{self.name}: {vain}; what was answered so far is kept")
                raise self._lost
            await self._clock.sleep(wait)

    async def _admitted(self) -> None:
        """Wait until the endpoint wants to hear from us again: what one request is told holds for all. Raises what one has found lost."""
        while (left := self._not_before - self._clock.now()) > 0:
            await self._clock.sleep(left)
        if self._lost is not None:
            raise self._lost

    async def _held_for(self, call: Call) -> float:
        """Set aside the most that an attempt can cost. Raises BudgetSpent where too little is left, with nothing under way anywhere."""
        if not self._budgets or self._prices is None:
            return 0.0
        asked = sum(len(one.content.encode()) + _TOKENS_A_MESSAGE for one in call.messages)  # a token is at least a byte
        asked += sum(len(orjson.dumps(one.calls)) for one in call.messages if one.calls)
        asked += len(orjson.dumps([call.schema, call.functions])) if call.schema is not None or call.functions else 0
        most = self._prices.cost(asked, call.sampling.max_tokens)
        waited = 0.0
        while (short := hold_all(self._budgets, most)) is not None:
            if self._held:
                self._settled.clear()
                await self._settled.wait()
            elif waited < self.endpoint.patience_seconds and short.may_get_more():
                waited += WAIT_SECONDS
                await self._clock.sleep(WAIT_SECONDS)
            else:
                raise BudgetSpent(short.said(most))
        self._held += 1
        return most

    def _settle(self, most: float, cost: float) -> None:
        if self._budgets:
            for budget in self._budgets:
                budget.settle(most, cost)
            self._held -= 1
            self._settled.set()

    def _cost(self, said: Reply | Fault, most: float) -> float | None:
        if self._prices is None:
            return None
        if isinstance(said, Fault):
            return 0.0
        if said.tokens_in is None or said.tokens_out is None:
            return most  # the endpoint does not tell: what it was at most
        return self._prices.cost(said.tokens_in, said.tokens_out)

    def _counted(self, item: _Item, said: Reply | Fault, outcome: str, seconds: float, cost: float | None) -> Work:
        """An attempt, counted into its item, as the ledger keeps it."""
        tokens = (said.tokens_in or 0, said.tokens_out or 0) if isinstance(said, Reply) else (0, 0)
        item.spent += Spent(1, 0, *tokens, seconds, cost)
        return Work(item.tags, self.role, self.name, self.endpoint.model, outcome, 1, 0, *tokens, seconds, cost)


class _Loop:
    """An event loop in a thread of its own: it goes on while the caller looks at results."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def call(self, function: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(function)

    def wait_for(self, work: Awaitable[Any]) -> Any:
        async def awaited() -> Any:
            return await work

        done = asyncio.run_coroutine_threadsafe(awaited(), self._loop)
        while True:
            try:
                return done.result(LISTENING_SECONDS)
            except TimeoutError:
                if done.done():
                    raise  # its own

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _correction(text: str, fault: str) -> tuple[Message, ...]:
    """What is said after an answer that does not fit: the answer, and what is wrong with it.

    The answer may repeat what a paper says: what would end its message there does not here either.
    """
    asked = prompt(_PROMPTS, "correction").messages(fault=fault)
    return (Message("assistant", apart(text[:_SHOWN].rstrip())), *asked)


def _heard(finished: SimpleQueue[list[_Item] | BaseException]) -> list[_Item] | BaseException:
    while True:
        with contextlib.suppress(Empty):
            return finished.get(timeout=LISTENING_SECONDS)


def _whole(kept: str) -> tuple[str, str | None, tuple[FunctionCall, ...]]:
    """Text, thought and calls of an answer that was kept with all of them."""
    said = orjson.loads(kept)
    return said["text"], said["thought"], tuple(FunctionCall(**call) for call in said["calls"])


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()

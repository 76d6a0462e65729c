"""vLLM's engine behind JSON lines. Run as a script, by an interpreter that has vLLM and needs nothing else of ours.

The first line on its input is its configuration: model, revision, engine (arguments of vllm.LLM). It answers with
{"ready": {…}}. Then every line is a request: id, messages, schema, sampling, template (arguments of the chat template); requests join
those under way as they come (continuous batching), and are answered as they finish: id, text, finish, tokens_in, tokens_out, or
id and error. {"forget": id} gives one up. It ends when its input ends, or with its parent.
"""

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

REPORT_SECONDS = 10.0


Say = Callable[[str], object]
Tell = Callable[[dict[str, int]], object]


def log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main(say: Say = log, tell: Tell = lambda _: None) -> None:
    """Serve the engine. say: where progress goes, in lines; tell: is told what was done, at the end."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the engine prints is log
    watch_parent()
    config = json.loads(sys.stdin.readline())
    began = time.monotonic()
    try:
        engine = Engine(config, replies)
    except Exception as fault:
        print(json.dumps({"error": f"vLLM can't load {config['model']} ({one_line(fault)})"}), file=replies, flush=True)
        return
    seconds = round(time.monotonic() - began, 1)
    say(f"vLLM has loaded {config['model']} in {seconds} s")
    print(json.dumps({"ready": {"seconds": seconds}}), file=replies, flush=True)
    serve(engine, say)
    tell(engine.facts())


def serve(engine: "Engine", say: Say) -> None:
    """Take requests and step the engine until the input has ended."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=read, args=(lines,), daemon=True).start()
    said = time.monotonic()
    while True:
        while not engine.busy or not lines.empty():
            line = lines.get()
            if line is None:
                return
            engine.take(json.loads(line))
        engine.step()
        if time.monotonic() - said > REPORT_SECONDS:
            said = time.monotonic()
            say(f"vLLM: {engine.facts()}")


class Engine:
    """vllm.LLM, fed request by request."""

    def __init__(self, config: dict[str, Any], replies: Any) -> None:
        from vllm import LLM, SamplingParams
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        self._params, self._structured, self._final = SamplingParams, StructuredOutputsParams, RequestOutputKind.FINAL_ONLY
        self._llm: Any = LLM(model=config["model"], revision=config["revision"] or None, **config["engine"])
        self._replies = replies
        self._ids: dict[str, int] = {}  # vLLM's name of a request → ours
        self._answered = self._tokens_in = self._tokens_out = 0

    @property
    def busy(self) -> bool:
        return bool(self._ids)

    def facts(self) -> dict[str, int]:
        return {"answered": self._answered, "under_way": len(self._ids), "tokens_in": self._tokens_in, "tokens_out": self._tokens_out}

    def take(self, asked: dict[str, Any]) -> None:
        """Add a request to those under way, or give one up."""
        if "forget" in asked:
            known = [name for name, number in self._ids.items() if number == asked["forget"]]
            self._llm.llm_engine.abort_request(known)
            for name in known:
                del self._ids[name]
            return
        sampling = asked["sampling"]
        try:
            structured = None if asked["schema"] is None else self._structured(json=asked["schema"])
            params = self._params(
                temperature=sampling["temperature"],
                top_p=sampling["top_p"],
                max_tokens=sampling["max_tokens"],
                seed=sampling["seed"],
                stop=list(sampling["stop"]) or None,
                structured_outputs=structured,
                output_kind=self._final,
                **asked["extra"],
            )
            names = self._llm.enqueue_chat([asked["messages"]], params, use_tqdm=False, chat_template_kwargs=asked["template"])
            # What it answers with is the name without what it adds to make it unique.
            self._ids[names[0].partition("-")[0]] = asked["id"]
        except Exception as fault:  # too long a prompt, a schema that the back end of structured output does not take…
            self._answer({"id": asked["id"], "error": one_line(fault)})

    def step(self) -> None:
        """Compute one step of all that is under way."""
        for output in self._llm.llm_engine.step():
            number = self._ids.get(output.request_id)
            if not output.finished or number is None:
                continue
            del self._ids[output.request_id]
            made = output.outputs[0]
            tokens_in, tokens_out = len(output.prompt_token_ids or ()), len(made.token_ids)
            self._answered += 1
            self._tokens_in += tokens_in
            self._tokens_out += tokens_out
            finish = made.finish_reason if made.finish_reason in ("stop", "length") else "stop"
            self._answer({"id": number, "text": made.text, "finish": finish, "tokens_in": tokens_in, "tokens_out": tokens_out})
        if self._ids and not self._llm.llm_engine.has_unfinished_requests():  # else we would wait for them for ever
            raise RuntimeError(f"vLLM has finished {len(self._ids)} requests that it gave no answer to")

    def _answer(self, message: dict[str, Any]) -> None:
        print(json.dumps(message), file=self._replies, flush=True)


def read(lines: "queue.SimpleQueue[str | None]") -> None:
    for line in sys.stdin:
        lines.put(line)
    lines.put(None)


def one_line(fault: BaseException) -> str:
    return " ".join(f"{type(fault).__name__}: {fault}".split())[:300]


def watch_parent() -> None:
    """End with the parent, even where others hold its end of the pipe."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    main()

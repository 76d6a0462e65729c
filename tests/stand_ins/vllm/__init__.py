"""In place of vLLM where there is none: the few names that the child process uses, computing a word a step for every request.

So the process and all that speaks to it are tried without a model, an end of it in the middle of work included (a prompt that
says DIE), and a request that it loses (LOSE). `make test-engines` has the real one.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from tests.misbehaving import MOST_WORDS, example
from vllm.sampling_params import SamplingParams

__all__ = ["LLM", "SamplingParams"]


@dataclass
class _Request:
    prompt: list[str]
    words: list[str]
    room: int
    made: list[str] = field(default_factory=list)


class LLM:
    """Answers as the misbehaving server does."""

    def __init__(self, model: str, revision: str | None, **engine: Any) -> None:
        print(f"loading {model}")  # a line on standard output, as libraries print them
        if not os.path.isdir(model):
            raise OSError(f"{model} is no folder")
        self.llm_engine = self
        self._requests: dict[str, _Request] = {}
        self._number = 0

    def enqueue_chat(self, messages: Any, params: Any, use_tqdm: bool, chat_template_kwargs: Any) -> list[str]:
        names = []
        for one in messages:
            prompt = " ".join(message["content"] for message in one).split()
            if len(prompt) > MOST_WORDS:
                raise ValueError(f"The decoder prompt is longer than the maximum model length of {MOST_WORDS}: too long")
            text = one[-1]["content"] if len(one) < 3 else one[1]["content"]
            schema = params.structured_outputs.json if params.structured_outputs else None
            answer = f"re: {text}" if schema is None else json.dumps(example(schema, text))
            words = ["{" + "\n" * 400, ""] if "[[blanks]]" in text else answer.split(" ")
            self._number += 1
            if "LOSE" not in prompt:
                self._requests[str(self._number)] = _Request(prompt, words, 1 if "[[blanks]]" in text else params.max_tokens)
            names.append(f"{self._number}-0a1b2c3d")  # as vLLM does, which speaks of it by the number alone from then on
        return names

    def abort_request(self, names: list[str]) -> None:
        for name in names:
            self._requests.pop(name, None)

    def has_unfinished_requests(self) -> bool:
        return bool(self._requests)

    def step(self) -> list[Any]:
        done = []
        for name, request in list(self._requests.items()):
            if "DIE" in request.prompt:
                os._exit(9)
            if "HANG" in request.prompt:
                continue
            request.made.append(request.words[len(request.made)])
            whole = len(request.made) == len(request.words)
            if whole or len(request.made) == request.room:
                del self._requests[name]
                output = SimpleNamespace(text=" ".join(request.made), token_ids=request.made, finish_reason="stop" if whole else "length")
                done.append(SimpleNamespace(request_id=name, finished=True, prompt_token_ids=request.prompt, outputs=[output]))
        return done

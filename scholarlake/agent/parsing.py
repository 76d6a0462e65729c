"""What an agent says in a turn: a thought, then one tool call or the answer, each in its tags.

    <think>…</think>
    <tool_call>{"tool_name": "PaperInfo", "tool_args": {"id": "…"}}</tool_call>

or `<answer>…</answer>` in place of the call. Parsing is strict and mends nothing; whatever is not so is a flaw, with a code and words that
a model can act on. A reward for form looks at the same flaws (`rollout_flaws`) as the loop does. What does not belong here: what is done
about a flaw (`loop`), and what a tool makes of its arguments (`toolbox`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from scholarlake.models.chat import FunctionCall
from scholarlake.models.structured import Invalid, strict_json
from scholarlake.toolbox.dispatch import checked
from scholarlake.toolbox.faults import ToolFault

THINK, CALL, RESPONSE, ANSWER = "think", "tool_call", "tool_response", "answer"
TAG = re.compile(rf"<(/?)({THINK}|{CALL}|{RESPONSE}|{ANSWER})>")
_SAID = 300  # characters of what is repeated to the model
_FORM = "a turn is <think>…</think>, then one <tool_call>…</tool_call> or one <answer>…</answer>, and nothing else"

FlawCode = Literal[
    "nothing",  # neither a call nor an answer
    "no_thought",
    "stray_text",  # words outside of all tags
    "unclosed",  # a tag opened and not closed, or closed and not opened
    "nested",  # a tag inside another
    "own_response",  # it wrote what only tools say
    "order",  # a thought behind the call or the answer, or two thoughts
    "several_calls",
    "several_answers",
    "call_and_answer",
    "bad_call",  # no JSON object of tool_name and tool_args
    "bad_arguments",  # no such tool, or its types do not allow them
    "empty_answer",
    "no_answer",  # of a rollout: it does not end with one
    "early_answer",  # of a rollout: it goes on behind one
]
HARMLESS: frozenset[FlawCode] = frozenset({"no_thought", "stray_text"})
"""What keeps a turn from being well-formed and yet leaves no doubt about what it wants."""


@dataclass(frozen=True)
class Flaw:
    """What is wrong with a turn, in words."""

    code: FlawCode
    said: str


@dataclass(frozen=True)
class Call:
    """A tool call that parses. id: of a native call, which its result refers to."""

    tool_name: str
    tool_args: Mapping[str, Any]
    id: str = ""

    @property
    def payload(self) -> dict[str, Any]:
        return {"tool_name": self.tool_name, "tool_args": dict(self.tool_args)}


@dataclass(frozen=True)
class Turn:
    """A turn taken apart. With flaws that are not harmless, neither its call nor its answer is to be used."""

    thought: str | None = None
    call: Call | None = None
    answer: str | None = None
    flaws: tuple[Flaw, ...] = ()

    @property
    def is_well_formed(self) -> bool:
        return not self.flaws

    @property
    def is_usable(self) -> bool:
        """Whether it is plain what the turn wants."""
        return all(flaw.code in HARMLESS for flaw in self.flaws)

    @property
    def says_nothing(self) -> bool:
        """Whether it neither calls nor answers, nor tries to."""
        return any(flaw.code == "nothing" for flaw in self.flaws)


def written(text: str, thought: str | None = None) -> str:
    """A turn as its author meant it: with its thought, where a server takes that out of the text, and with the tag that opens it, where a
    chat template does, as those of models do that always think."""
    if thought:
        return f"<{THINK}>\n{thought.strip()}\n</{THINK}>\n{text}"
    opened, closed = text.find(f"<{THINK}>"), text.find(f"</{THINK}>")
    return f"<{THINK}>{text}" if closed >= 0 and not 0 <= opened < closed else text


def parse(text: str) -> Turn:
    """A turn in tags."""
    parts, flaws = _parts(text)
    calls, answers = [body for tag, body in parts if tag == CALL], [body for tag, body in parts if tag == ANSWER]
    call, fault = _call(calls[0]) if len(calls) == 1 else (None, None)
    flaws += [fault] if fault else []
    if not any(name in (CALL, ANSWER) for _, name in TAG.findall(text)):
        flaws.append(Flaw("nothing", f"it has neither a tool call nor an answer; {_FORM}"))
    if len(calls) > 1:
        flaws.append(Flaw("several_calls", f"it has {len(calls)} tool calls; make one, and the next when you have seen its result"))
    return _turn(parts, flaws, call, answers, bool(calls))


def parse_native(text: str, calls: Sequence[FunctionCall]) -> Turn:
    """A turn of a model that calls functions in its own way: thought and answer are in tags all the same."""
    parts, flaws = _parts(text)
    answers = [body for tag, body in parts if tag == ANSWER]
    tagged = any(tag == CALL for tag, _ in parts)
    call, fault = _function(calls[0]) if len(calls) == 1 else (None, None)
    flaws += [fault] if fault else []
    if tagged:
        flaws.append(Flaw("bad_call", f"it writes a call into <{CALL}>; call the function itself"))
    if len(calls) > 1:
        flaws.append(Flaw("several_calls", f"it calls {len(calls)} functions; call one, and the next when you have seen its result"))
    if not calls and not tagged and not any(name == ANSWER for _, name in TAG.findall(text)):
        flaws.append(Flaw("nothing", f"it neither calls a function nor has an <{ANSWER}>…</{ANSWER}>"))
    return _turn(parts, flaws, call, answers, bool(calls))


def rollout_flaws(turns: Sequence[Turn]) -> list[Flaw]:
    """What is wrong with the form of a whole rollout: of every turn, of the arguments of every call by the types of its tool, and that
    it ends with its one answer. None is what a reward for form asks for."""
    flaws = [flaw for turn in turns for flaw in turn.flaws]
    flaws += [flaw for turn in turns if turn.call and (flaw := call_flaw(turn.call))]
    if any(turn.answer is not None for turn in turns[:-1]):
        flaws.append(Flaw("early_answer", "it goes on behind its answer"))
    if not turns or turns[-1].answer is None:
        flaws.append(Flaw("no_answer", "it does not end with an answer"))
    return flaws


def call_flaw(call: Call) -> Flaw | None:
    """What the types of the tools find wrong with a call. Needs no release."""
    try:
        checked(call.tool_name, call.tool_args)
    except ToolFault as fault:
        return Flaw("bad_arguments", fault.message)
    return None


def _turn(parts: Sequence[tuple[str, str]], flaws: list[Flaw], call: Call | None, answers: Sequence[str], calls: bool) -> Turn:
    """A turn of what stands in its tags, with the flaws that do not depend on how it calls."""
    thoughts = [body.strip() for tag, body in parts if tag == THINK]
    order = [tag for tag, _ in parts if tag in (THINK, CALL, ANSWER)]
    if not thoughts or not thoughts[0]:
        flaws.append(Flaw("no_thought", f"it does not begin with a thought in <{THINK}>…</{THINK}>"))
    if THINK in order[1:]:
        flaws.append(Flaw("order", f"a thought stands behind something else; {_FORM}"))
    if any(tag == "" for tag, _ in parts):
        flaws.append(Flaw("stray_text", f"there are words outside of all tags; {_FORM}"))
    if any(tag == RESPONSE for tag, _ in parts):
        flaws.append(Flaw("own_response", f"it writes a <{RESPONSE}> itself; only tools do"))
    if len(answers) > 1:
        flaws.append(Flaw("several_answers", f"it has {len(answers)} answers; give one"))
    if calls and answers:
        flaws.append(Flaw("call_and_answer", "it calls a tool and answers; call now, and answer when you have seen the result"))
    if any(not body.strip() for body in answers):
        flaws.append(Flaw("empty_answer", "its answer is empty"))
    answer = answers[0].strip() if len(answers) == 1 and not calls and answers[0].strip() else None
    return Turn(thoughts[0] if thoughts else None, call, answer, tuple(flaws))


def _parts(text: str) -> tuple[list[tuple[str, str]], list[Flaw]]:
    """What stands in which tags, in order; words outside of all have no name. Flaws are those of tags that do not pair."""
    parts: list[tuple[str, str]] = []
    flaws: list[Flaw] = []
    at = 0
    for tag, start, end, after, fault in _pairs(text):
        if text[at:start].strip():
            parts.append(("", text[at:start].strip()))
        at = after
        if fault:
            flaws.append(fault)
        else:
            parts.append((tag, text[end[0] : end[1]]))
    if text[at:].strip():
        parts.append(("", text[at:].strip()))
    return parts, flaws


def _pairs(text: str) -> Iterator[tuple[str, int, tuple[int, int], int, Flaw | None]]:
    """Pairs of tags: name, where the first begins, where the body lies, where the second ends, and a flaw where they are no pair."""
    at = 0
    while (opened := TAG.search(text, at)) is not None:
        tag = opened[2]
        if opened[1]:
            at = opened.end()
            yield tag, opened.start(), (0, 0), at, Flaw("unclosed", f"</{tag}> closes what was not opened; {_FORM}")
            continue
        closed = _end_of_call(text, opened.end()) if tag == CALL else None
        if closed is None:
            closed = TAG.search(text, opened.end())
        inner = None
        while closed is not None and (closed[2] != tag or not closed[1]):
            inner = inner or closed
            closed = TAG.search(text, closed.end())
        if closed is None:
            at = len(text)
            yield tag, opened.start(), (0, 0), at, Flaw("unclosed", f"<{tag}> is not closed; {_FORM}")
            continue
        at = closed.end()
        fault = None
        if inner is not None:
            fault = Flaw("nested", f"{inner[0]} stands between <{tag}> and </{tag}>; tags must not stand inside each other")
        yield tag, opened.start(), (opened.end(), closed.start()), at, fault


def _end_of_call(text: str, start: int) -> re.Match[str] | None:
    """What closes a call that begins with a JSON value: tags within its strings are text."""
    begin = start + len(text[start:]) - len(text[start:].lstrip())
    try:
        _, end = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError):
        return None
    closed = TAG.search(text, end)
    return closed if closed and closed[0] == f"</{CALL}>" and not text[end : closed.start()].strip() else None


def _call(body: str) -> tuple[Call | None, Flaw | None]:
    try:
        value = strict_json(body.strip())
    except Invalid as fault:
        return None, Flaw("bad_call", f"the tool call is no JSON ({fault}): {_short(body)}")
    if not isinstance(value, dict) or set(value) != {"tool_name", "tool_args"}:
        keys = f"has {', '.join(sorted(value)) or 'nothing'}" if isinstance(value, dict) else "is no object"
        return None, Flaw("bad_call", f'the tool call {_short(keys)}; write {{"tool_name": "…", "tool_args": {{…}}}} and nothing else')
    if not isinstance(value["tool_name"], str) or not isinstance(value["tool_args"], dict):
        return None, Flaw("bad_call", "tool_name must be text, and tool_args an object, not text that holds one")
    return Call(value["tool_name"], value["tool_args"]), None


def _function(called: FunctionCall) -> tuple[Call | None, Flaw | None]:
    try:
        value = strict_json(called.arguments.strip() or "{}")
    except Invalid as fault:
        return None, Flaw("bad_call", f"the arguments of {_short(called.name)} are no JSON ({fault}): {_short(called.arguments)}")
    if not isinstance(value, dict):
        return None, Flaw("bad_call", f"the arguments of {_short(called.name)} are no object: {_short(called.arguments)}")
    return Call(called.name, value, called.id), None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SAID else line[:_SAID] + "…"

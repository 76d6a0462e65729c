"""What an agent is shown of a tool's answer: JSON that no text of a paper can break out of, and no longer than it may be.

A `<` that could open a tag or a token of a chat template is written as JSON's \\u003c, which says the same; so no title or abstract can
close a tag. `\\cite{…}` in a paper's text is taken apart by a space: copied into an answer, it is no citation. What does not belong here:
what tools answer (`toolbox`), and which observations are shown whole (`context`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from scholarlake.agent.parsing import RESPONSE, Flaw

_OPENS = re.compile(r"<(?![\s\d.=])")  # p < 0.05 opens nothing
_BRACKETED = re.compile(r"\[(?=/?[A-Z_]{3,20}\])")  # [INST], [/INST], [TOOL_CALLS]
_CITES = re.compile(r"\\(?=cite\s*\{)")
_SHORTEST = 200  # characters below which no text is cut
_MARGIN = 0.9  # of what seems to fit: what is left may be longer than the average


def shown(answer: Mapping[str, Any], longest: int) -> str:
    """A tool's answer as an agent reads it, of at most so many characters: where it has more, its longest lists and texts lose their ends,
    and it says so."""
    said = _disarmed(answer)
    text, whole = plain(said), dict[str, int]()
    while len(text) > longest and (found := _heaviest(said)) is not None:
        where, holder, key, value = found
        room = max(1, int(len(value) * longest / len(text) * _MARGIN))
        holder[key] = value[:room] if isinstance(value, list) else value[:room] + " …"
        whole.setdefault(where, len(value))
        said["note"] = (
            f"too long to be shown whole; cut at their ends: {', '.join(f'{name} (of {size:,})' for name, size in whole.items())}"
        )
        text = plain(said)
    return text


def left_out(tool_name: str | None, ok: bool) -> str:
    """What stands for an observation that is not shown any more."""
    return plain({"tool_name": tool_name, "ok": ok, "note": "this older result is left out; call the tool again if it is needed"})


def of_flaws(flaws: Sequence[Flaw]) -> dict[str, Any]:
    """What an agent is answered whose turn can't be used, in the shape of a tool's error."""
    wrong = "; ".join(dict.fromkeys(flaw.said for flaw in flaws))
    error = {"code": "malformed_turn", "message": f"this turn can't be used: {wrong}", "advice": "say it again in the right form"}
    return {"tool_name": None, "ok": False, "error": error}


def plain(value: Any) -> str:
    """A value as JSON that opens no tag and bounds no message."""
    text = orjson.dumps(value).decode()
    return _BRACKETED.sub(r"\\u005b", _OPENS.sub(r"\\u003c", text))


def tagged(text: str) -> str:
    """An observation in its tags. Models' chat templates tell a message that is nothing else from a question."""
    return f"<{RESPONSE}>\n{text}\n</{RESPONSE}>"


def ids(answer: Mapping[str, Any]) -> Iterator[str]:
    """All ids of papers in a tool's answer."""
    waiting: list[Any] = [answer.get("result")]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            if isinstance(one.get("id"), str):
                yield one["id"]
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _disarmed(value: Any) -> Any:
    if isinstance(value, str):
        return _CITES.sub(lambda _: "\\ ", value.encode("utf-8", "replace").decode())
    if isinstance(value, Mapping):
        return {_disarmed(str(key)): _disarmed(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_disarmed(one) for one in value]
    return value


def _heaviest(value: Any) -> tuple[str, Any, Any, Any] | None:
    """The list or text that takes most room, of those that can be cut: its name, what holds it, under which key, and itself."""
    best: tuple[int, tuple[str, Any, Any, Any]] | None = None
    waiting: list[tuple[str, Any, Any, Any]] = [(str(key), value, key, one) for key, one in value.items() if key != "note"]
    while waiting:
        name, holder, key, one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend((str(inner), one, inner, item) for inner, item in one.items())
            continue
        if not isinstance(one, list | str) or len(one) < (2 if isinstance(one, list) else _SHORTEST):
            continue
        size = len(orjson.dumps(one))
        if best is None or size > best[0]:
            best = (size, (name, holder, key, one))
    return best[1] if best else None

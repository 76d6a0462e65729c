"""What the command line shows of an agent at work, turn by turn, and of what it answers in the end.

What does not belong here: running it (`agent.loop`), options (`ask_commands`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console, Group, RenderableType
from rich.text import Text

from scholarlake.agent.answer import document
from scholarlake.agent.loop import Again, Observed, Said
from scholarlake.agent.replay import Repeated
from scholarlake.agent.trajectory import Answer, Citation, Round, Trajectory
from scholarlake.toolbox import page
from scholarlake.typeset import counted, cut, duration, plain

_ARGUMENTS = 300  # characters of a call's arguments
_RESULT = 200
_DIFFERENT = 160  # characters shown around where two observations part


class Live:
    """Prints what an agent does while it does it."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, event: Said | Observed | Again) -> None:
        if isinstance(event, Again):
            self._console.print(Text(f"{event.number:>3}  again: {plain(event.why)}", style="yellow"), soft_wrap=True)
        elif isinstance(event, Said):
            self._console.print(_turn(event), soft_wrap=True)
        else:
            self._console.print(_observed(event.round), soft_wrap=True)


def render_answer(answer: Answer) -> RenderableType:
    """The text with its citations numbered, and what was cited, with title and year; what is no paper is called so."""
    known = {one.id: one for one in answer.citations}
    numbers = {one.paper_id: at for at, one in enumerate(_papers(answer), start=1)}

    def put(chart_id: str | None, cited: str | None) -> str:
        if cited is None:
            return f'<chart id="{chart_id}"/>'
        return "".join(_cited(one, known.get(one), numbers) for one in page.ids_of(cited))

    text = page.replaced(document(answer), put)
    parts: list[RenderableType] = [Text(""), Text(plain(text).rstrip())]
    if answer.citations:
        parts.append(Text("\nReferences", style="bold"))
    for one in _papers(answer):
        year = f" ({one.year})" if one.year else ""
        line = Text.assemble(f"[{numbers[one.paper_id]}] {plain(one.title) or '(no title)'}{year}  ", (plain(one.paper_id), "cyan"))
        parts.append(line.append("  not looked at in this run", style="yellow") if not one.seen else line)
    parts += [Text(f"[{plain(one.id)}?] no paper of this release", style="red") for one in answer.citations if one.paper_id is None]
    return Group(*parts)


def render_end(run: Trajectory, kept: Path | None, written: Path | None) -> RenderableType:
    """What the run took, and where it is kept."""
    totals = run.totals
    cost = "" if not totals.cost else f", cost {totals.cost:.4f}"
    hits = f", {counted(totals.hits, 'kept answer')}" if totals.hits else ""
    took = (
        f"{counted(totals.rounds, 'round')}, {counted(totals.calls, 'call')}, {duration(run.seconds)} "
        f"({duration(totals.model_seconds)} of the model); {totals.tokens_in:,} tokens in, {totals.tokens_out:,} out{hits}{cost}; "
        f"release {run.release.name}, prompt {run.version}"
    )
    parts: list[RenderableType] = [Text(f"\n{took}", style="dim")]
    parts += [Text(f"{what}: {path}", style="dim") for what, path in (("page", written), ("trajectory", kept)) if path is not None]
    return Group(*parts)


def render_repeated(one: Repeated) -> RenderableType:
    """A call that did not give the same again: from where on it differs."""
    at = next(
        (place for place, (old, new) in enumerate(zip(one.recorded, one.now, strict=False)) if old != new),
        min(len(one.recorded), len(one.now)),
    )
    start = max(at - 40, 0)
    shown = [f"{name}  …{plain(text[start : start + _DIFFERENT])}…" for name, text in (("then", one.recorded), ("now ", one.now))]
    return Group(
        Text(f"{one.round:>3}  {plain(one.tool_name)} gives something else", style="yellow"), *(Text(f"     {line}") for line in shown)
    )


def _turn(event: Said) -> RenderableType:
    one, turn = event.round, event.turn
    parts: list[RenderableType] = []
    number = f"{one.number:>3}"
    if turn.thought:
        parts.append(_indented(Text(plain(turn.thought), style="italic")))
    if turn.call is not None and turn.is_usable:
        arguments = cut(orjson.dumps(dict(turn.call.tool_args)).decode(), _ARGUMENTS)
        parts.append(_indented(Text.assemble((plain(turn.call.tool_name), "bold cyan"), f" {arguments}")))
    elif turn.answer is not None and turn.is_usable:
        parts.append(_indented(Text("answers", style="bold green")))
    return Group(Text(number, style="dim"), *parts)


def _observed(one: Round) -> RenderableType:
    said: Mapping[str, Any] = orjson.loads(one.observation or "{}")
    if said.get("ok"):
        text, style = f"→ {_result(said['result'])}, {duration(one.tool_seconds)}", "dim"
    else:
        text, style = f"→ {cut(str(said.get('error', {}).get('message', '')), _RESULT)}", "yellow"
    return _indented(Text(text, style=style))


def _indented(text: Text) -> Text:
    """Text behind the numbers of the rounds; nothing is filled up at the right, where a file has no width."""
    return Text("\n").join(Text("     ").append_text(line) for line in text.split("\n"))


def _result(result: Mapping[str, Any]) -> str:
    papers = result.get("papers")
    if isinstance(papers, list):
        titles = "; ".join(plain(paper.get("title") or paper["id"]) for paper in papers[:3])
        return cut(f"{counted(len(papers), 'paper')}: {titles}", _RESULT)
    for name in ("title", "summary", "placeholder"):
        if result.get(name):
            return cut(str(result[name]), _RESULT)
    return "a result"


def _papers(answer: Answer) -> list[Citation]:
    """What is cited, each paper once, in the order in which it is first."""
    return list({one.paper_id: one for one in reversed(answer.citations) if one.paper_id is not None}.values())[::-1]


def _cited(cited: str, one: Citation | None, numbers: Mapping[str | None, int]) -> str:
    return f"[{numbers[one.paper_id]}]" if one is not None and one.paper_id is not None else f"[{cited}?]"

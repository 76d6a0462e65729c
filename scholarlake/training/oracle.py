"""The oracle: takes a composed question apart into tool calls and really makes them, so that there are trajectories without a teacher.

It knows what the question says, part by part, and nothing of its answer: that comes from what the tools return, and a run that does not
come to the right one is no trajectory to learn from. Its thoughts are sentences of ours; its observations are the tools' own. What does not
belong here: how a model answers (`agent.loop`), which trajectories are kept (`trajectories`).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from scholarlake.agent import answer, observation, prompt
from scholarlake.agent.parsing import ANSWER, CALL, THINK
from scholarlake.agent.settings import Settings, version_of
from scholarlake.agent.trajectory import ModelAsked, ReleaseRead, Round, Trajectory
from scholarlake.toolbox import charts
from scholarlake.toolbox.arguments import CHARTS, AnyChart
from scholarlake.toolbox.dispatch import Toolbox
from scholarlake.training.parts import WAYS, Part, Way
from scholarlake.training.postings import spelled
from scholarlake.training.questions import parts_of
from scholarlake.training.wording import Titles, predicate, quoted

ROLE = MODEL = "oracle"
MOST_CALLS = 40
_TOOLS: Mapping[Way, str] = {"citations": "GetInDegree", "references": "ReferenceSearch"}
_LINED = ("year", "venue", "cited_times")  # what a list of papers says of each
_ASKED = {
    "year": "the year in which it was published",
    "venue": "the venue in which it appeared",
    "first_author": "its first author",
    "citations": "how many papers cite it",
    "title": "its title",
    "chart": "the years of the papers that cite it",
    "quantity": "the number that it reports",
}


class Stuck(Exception):
    """The oracle can't answer. The message says why, in the same words for the same reason."""


@dataclass(frozen=True)
class Attempt:
    """What came of a question: a trajectory that ends with its answer, or why there is none."""

    trajectory: Trajectory | None
    why: str = ""


def answered(question: Mapping[str, Any], toolbox: Toolbox, title_of: Titles, settings: Settings | None = None) -> Attempt:
    """Answer a composed question by tools. question: its row. title_of: of the papers that it names."""
    run = _Run(question, toolbox, title_of, settings or Settings())
    try:
        said = run.answer()
    except Stuck as fault:
        return Attempt(None, str(fault))
    return Attempt(run.ended(said))


@dataclass
class _Run:
    question: Mapping[str, Any]
    toolbox: Toolbox
    title_of: Titles
    settings: Settings
    rounds: list[Round] = field(default_factory=list)
    drawn: dict[str, AnyChart] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    pages: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def answer(self) -> str:
        """The text of the answer. Raises Stuck."""
        parts = parts_of(self.question)
        if self.question["answer_kind"] == "quantity" or any(part.kind == "quantity" for part in parts):
            raise Stuck("no tool tells the numbers that papers report")
        relations = sorted((part for part in parts if part.paper is not None), key=lambda part: part.hops)
        values = [part for part in parts if part.paper is None]
        left: dict[str, Mapping[str, Any]] | None = None
        for part in relations:
            found = self._related(part, self._plan(parts) if left is None else f"{self._count(left)} so far.")
            left = found if left is None else {name: left[name] for name in left if name in found}
        assert left is not None, "a question names a paper"
        left = {name: line for name, line in left.items() if all(_line_fits(line, part) for part in values)}
        left = self._read([part for part in values if part.kind not in _LINED], left)
        if len(left) != 1:
            raise Stuck(f"{'no paper is' if not left else 'several papers are'} left")
        [(name, line)] = left.items()
        return self._told(name, line)

    def ended(self, text: str) -> Trajectory:
        """The whole run, its last turn being the answer."""
        briefing = prompt.briefing(self.settings.calling)
        thought = "What was asked for stands in what the tools returned, and one paper alone fits all of the question."
        self.rounds.append(Round(number=len(self.rounds) + 1, thought=thought, text=_turn(thought, ANSWER, text)))
        made = Trajectory(
            question=str(self.question["question"]),
            release=ReleaseRead.of(self.toolbox.reader.release),
            model=ModelAsked(role=ROLE, endpoint="", model=MODEL),
            settings=self.settings,
            version=version_of(self.settings, briefing.version),
            system=briefing.text,
            seconds=round(time.monotonic() - self.began, 3),
            outcome="answered",
            message=f"answered after {len(self.rounds)} rounds",
            rounds=self.rounds,
            answer=answer.resolved(text, self.toolbox.reader, self.drawn, self.seen),
        )
        made.totals.rounds, made.totals.calls = len(self.rounds), len(self.rounds) - 1
        return made

    # -- looking -------------------------------------------------------------------------------------------------------------

    def _plan(self, parts: Iterable[Part]) -> str:
        conditions = "; ".join(f"it {predicate(part, self.title_of)}" for part in parts)
        kind = self.question["answer_kind"]
        then = "" if kind == "title" else f" Then I look up {_ASKED[kind]}."
        return f"One paper is described, and all of this must hold: {conditions}. I begin with a paper that is named and narrow down.{then}"

    def _related(self, part: Part, before: str) -> dict[str, Mapping[str, Any]]:
        """The papers that a relation is true of, as lists say them, by id."""
        ways, named = WAYS[part.kind], {"title": quoted(self.title_of(str(part.paper)))[1:-1]}
        said = f"{before} The paper {predicate(part, self.title_of)}, so I list what {_listed(ways[0])} the one named."
        start, near = self._list(said, ways[0], named)
        if len(ways) == 1:
            return near
        between = {name: line for name, line in near.items() if _between(line, part)}
        found: dict[str, Mapping[str, Any]] = {}
        for number, name in enumerate(between, 1):
            said = f"{len(between)} of these can be the paper in between. Number {number}: what {_listed(ways[1])} it?"
            found |= self._list(said, ways[1], {"id": name})[1]
        found.pop(start, None)
        return found

    def _list(self, thought: str, way: Way, paper: Mapping[str, str]) -> tuple[str, dict[str, Mapping[str, Any]]]:
        """The papers around one, and the id of that one. Raises Stuck where the tool does not show all of them."""
        result = self._call(thought, _TOOLS[way], paper)
        if result is None:
            return "", {}
        if result["is_capped"]:
            raise Stuck("a list is longer than a tool shows")
        return result["paper"]["id"], {line["id"]: line for line in result["papers"]}

    def _read(self, parts: list[Part], left: dict[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
        """Those of some papers that authors and keywords fit, each of them opened."""
        if not parts:
            return left
        fitting = {}
        for name, line in left.items():
            page = self._open(f"{self._count(left)}; whether {' and '.join(_looked_at(parts))} fit, its page says.", name)
            if all(_page_fits(page, part) for part in parts):
                fitting[name] = line
        return fitting

    def _told(self, name: str, line: Mapping[str, Any]) -> str:
        """The answer, from what tools say of the paper that was found. Raises Stuck where it is not the right one."""
        kind = self.question["answer_kind"]
        if kind == "chart":
            return self._chart(name, line)
        page = self._open(f"One paper is left. I open it for {_ASKED[kind]}.", name)
        authors = page.get("authors") or [{}]
        found = {
            "title": page.get("title"),
            "year": page.get("year"),
            "venue": page.get("venue"),
            "first_author": authors[0].get("name"),
            "citations": page.get("citations"),
        }[kind]
        told = " ".join(str(found).split())
        self._agree(told)
        cited = f"{quoted(str(page.get('title')))} \\cite{{{name}}}"
        return {
            "title": f"It is {cited}.",
            "year": f"It was published in {told}: {cited}.",
            "venue": f"It appeared in {told}: {cited}.",
            "first_author": f"Its first author is {told}: {cited}.",
            "citations": f"It is cited by {told} {'paper' if told == '1' else 'papers'} of the corpus: {cited}.",
        }[kind]

    def _chart(self, name: str, line: Mapping[str, Any]) -> str:
        _, citing = self._list("One paper is left. I list what cites it, with the years.", "citations", {"id": name})
        counts = Counter(sorted(str(one.get("year")) for one in citing.values()))
        self._agree("; ".join(f"{year}: {count}" for year, count in counts.items()))
        data = {"labels": list(counts), "values": list(counts.values())}
        about = {"title": "Citing papers by year", "x_label": "Year of publication", "y_label": "Citing papers"}
        placed = self._call("I have counted them by year; now I draw the chart.", "BarChart", {**about, "data": data})
        if placed is None:
            raise Stuck("a tool did not take its arguments")
        return f"{placed['placeholder']}\n\nThe years of the papers that cite {quoted(str(line.get('title')))} \\cite{{{name}}}."

    def _agree(self, told: str) -> None:
        if told != self.question["answer"]:
            raise Stuck("the tools tell another answer")

    def _open(self, thought: str, name: str) -> Mapping[str, Any]:
        if name not in self.pages:
            page = self._call(thought, "PaperInfo", {"id": name})
            if page is None:
                raise Stuck("a paper can't be opened")
            self.pages[name] = page
        return self.pages[name]

    def _call(self, thought: str, tool: str, args: Mapping[str, Any]) -> Any:
        """Call a tool, and keep the turn. What it gives, or None where it finds nothing. Raises Stuck past MOST_CALLS."""
        if len(self.rounds) == MOST_CALLS:
            raise Stuck(f"it takes more than {MOST_CALLS} calls")
        payload = {"tool_name": tool, "tool_args": dict(args)}
        began = time.monotonic()
        given = self.toolbox.call(payload)
        self.rounds.append(
            Round(
                number=len(self.rounds) + 1,
                text=_turn(thought, CALL, orjson.dumps(payload).decode()),
                thought=thought,
                call=payload,
                ok=bool(given["ok"]),
                observation=observation.shown(given, self.settings.longest_observation),
                tool_seconds=round(time.monotonic() - began, 6),
            )
        )
        self.seen.update(observation.ids(given))
        if not given["ok"]:
            if given["error"]["code"] != "nothing_found":
                raise Stuck(f"a tool fails: {given['error']['code']}")
            return None
        if tool in CHARTS:
            drawn = charts.sound(payload)
            self.drawn[charts.chart_id(drawn)] = drawn
        return given["result"]

    @staticmethod
    def _count(left: Mapping[str, Any]) -> str:
        return f"{len(left)} {'paper is' if len(left) == 1 else 'papers are'} left"


def _turn(thought: str, tag: str, body: str) -> str:
    return f"<{THINK}>\n{thought}\n</{THINK}>\n<{tag}>\n{body}\n</{tag}>"


def _listed(way: Way) -> str:
    return "cites" if way == "citations" else "is cited by"


def _looked_at(parts: Iterable[Part]) -> list[str]:
    return sorted({f"the {part.kind}s" for part in parts})


def _between(line: Mapping[str, Any], part: Part) -> bool:
    year = part.year is None or line.get("year") == part.year
    return year and (part.venue is None or spelled(line.get("venue") or "") == spelled(part.venue))


def _line_fits(line: Mapping[str, Any], part: Part) -> bool:
    if part.kind == "year":
        return str(line.get("year")) == part.value
    if part.kind == "venue":
        return spelled(line.get("venue") or "") == spelled(part.value)
    return part.kind != "cited_times" or str(line.get("citations")) == part.value


def _page_fits(page: Mapping[str, Any], part: Part) -> bool:
    names = [author["name"] for author in page["authors"]] if part.kind == "author" else page["keywords"]
    return spelled(part.value) in {spelled(name) for name in names}

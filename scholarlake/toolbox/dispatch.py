"""The one way to the tools: a payload `{"tool_name": …, "tool_args": {…}}` in, a result or a structured error out, never an exception.

What does not belong here: what a tool does (`papers`, `charts`, `summary`), and what its arguments may be (`arguments`).
"""

from __future__ import annotations

import difflib
import json
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ValidationError

from scholarlake.errors import LakeError, ModelError, ScholarLakeError
from scholarlake.models.chat import Tags
from scholarlake.models.crew import Crew
from scholarlake.toolbox import answers, arguments, charts, papers, schemas, summary
from scholarlake.toolbox.faults import ToolFault, of_validation, shown

if TYPE_CHECKING:
    from scholarlake.door import ReleaseReader
    from scholarlake.models.config import ModelsFile

MAX_PAYLOAD = 2_000_000
"""Characters of a payload that is given as text."""
_EXAMPLE = 'send {"tool_name": "…", "tool_args": {…}}'
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tool:
    """A tool: what it is called, what it is for, what it takes and gives."""

    name: str
    kind: str
    about: str
    takes: type[arguments.Arguments]
    gives: type[answers.Value]

    @property
    def parameters(self) -> dict[str, Any]:
        """JSON schema of its arguments."""
        return schemas.parameters(self.takes)

    @property
    def results(self) -> dict[str, Any]:
        """JSON schema of its result."""
        return schemas.results(self.gives)

    def as_function(self) -> dict[str, Any]:
        """The tool as function-calling interfaces want it."""
        return {"type": "function", "function": {"name": self.name, "description": self.about, "parameters": self.parameters}}


_PAPER = "Name the paper by id or by exact title."
TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "EmbeddingSearch",
            "retrieval",
            f"The {papers.MAX_SEMANTIC} papers whose meaning is nearest to a question or topic, each with the beginning of its abstract.",
            arguments.EmbeddingSearch,
            answers.Found,
        ),
        Tool(
            "KeywordSearch",
            "retrieval",
            f"The {papers.MAX_KEYWORD_HITS} most cited papers that have any of some terms (by their stems) in title or keywords.",
            arguments.KeywordSearch,
            answers.Found,
        ),
        Tool(
            "PaperInfo",
            "retrieval",
            f"All that is known of one paper, its whole abstract included. {_PAPER}",
            arguments.PaperInfo,
            answers.PaperPage,
        ),
        Tool(
            "ReferenceSearch",
            "retrieval",
            f"The papers that a paper cites, the most cited first, at most {papers.MAX_REFERENCES:,}. {_PAPER}",
            arguments.ReferenceSearch,
            answers.Listed,
        ),
        Tool(
            "GetKhop",
            "graph",
            f"The papers within k citations of a paper, nearer ones first, then the most cited, at most {papers.MAX_NODES} with the paper "
            f"itself. {_PAPER}",
            arguments.GetKhop,
            answers.Walked,
        ),
        Tool(
            "GetInDegree",
            "graph",
            f"How many papers cite a paper, and the {papers.MAX_CITING} most cited of them. {_PAPER}",
            arguments.GetInDegree,
            answers.Listed,
        ),
        Tool(
            "ShortestPath",
            "graph",
            f"A shortest chain of at most {arguments.MAX_DEPTH} citations from one paper to another, each citing the next. "
            "Name each paper by id or by exact title.",
            arguments.ShortestPath,
            answers.Path,
        ),
        Tool(
            "LineChart",
            "visualization",
            "Draws one or more lines over common labels, for trends. Answers with a placeholder to put into the answer.",
            arguments.LineChart,
            answers.Placed,
        ),
        Tool(
            "BarChart",
            "visualization",
            "Draws a bar for each label, for comparisons. Answers with a placeholder to put into the answer.",
            arguments.BarChart,
            answers.Placed,
        ),
        Tool(
            "PieChart",
            "visualization",
            "Draws shares of a whole. Answers with a placeholder to put into the answer.",
            arguments.PieChart,
            answers.Placed,
        ),
        Tool(
            "ScatterPlot",
            "visualization",
            "Draws points, for how two quantities go together. Answers with a placeholder to put into the answer.",
            arguments.ScatterPlot,
            answers.Placed,
        ),
        Tool(
            "Summarize",
            "text",
            f"Makes a text short: at most {summary.MAX_SENTENCES} sentences.",
            arguments.Summarize,
            answers.Summary,
        ),
    )
}


class Toolbox:
    """The tools over one release. Safe to use from several threads. Close it, or use it in a `with`: models stay open until then.

    models: what plays the roles that tools ask; without it, and where a role is bound to nothing, the deterministic method does.
    """

    def __init__(self, reader: ReleaseReader, models: ModelsFile | None = None) -> None:
        self.reader = reader
        self.models = models
        self._crew: Crew | None = None
        self._asking = threading.Lock()  # a model is asked by one thread at a time
        self._do: dict[str, Callable[[Any], answers.Value]] = {
            "EmbeddingSearch": lambda asked: papers.embedding_search(reader, asked),
            "KeywordSearch": lambda asked: papers.keyword_search(reader, asked),
            "PaperInfo": lambda asked: papers.paper_info(reader, asked),
            "ReferenceSearch": lambda asked: papers.reference_search(reader, asked),
            "GetKhop": lambda asked: papers.get_khop(reader, asked),
            "GetInDegree": lambda asked: papers.get_in_degree(reader, asked),
            "ShortestPath": lambda asked: papers.shortest_path(reader, asked),
            **dict.fromkeys(arguments.CHARTS, charts.place),
            "Summarize": self._summarize,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the models. The release stays open: it is its reader's."""
        with self._asking:
            crew, self._crew = self._crew, None
            if crew is not None:
                crew.__exit__(None, None, None)

    def call(self, payload: Mapping[str, Any] | str | bytes) -> dict[str, Any]:
        """Call a tool. Plain values: `tool_name` (None where there is none), `ok`, and `result` or `error`, which is a code, a message,
        advice and problems."""
        called = None
        try:
            name, given = _taken_apart(payload)
            called = name if name in TOOLS else None
            return {"tool_name": called, "ok": True, "result": self.run(name, given).to_dict()}
        except ToolFault as fault:
            return {"tool_name": called, "ok": False, "error": fault.to_dict()}

    def run(self, name: str, given: Mapping[str, Any]) -> answers.Value:
        """The same with the result as a value. Raises ToolFault, and nothing else."""
        tool, asked = checked(name, given)
        try:
            return self._do[tool.name](asked)
        except ToolFault:
            raise
        except ModelError as fault:
            raise ToolFault("model_unavailable", str(fault), "go on without this tool, and tell who runs it") from fault
        except (LakeError, OSError) as fault:
            raise ToolFault("release_unusable", str(fault), "tell who runs this lake; other tools may still work") from fault
        except ScholarLakeError as fault:
            raise ToolFault("invalid_arguments", str(fault), f"correct the arguments and call {tool.name} again") from fault
        except Exception as fault:  # an agent's run must not end for it; the log has all of it
            _log.exception("%s failed", tool.name)
            raise ToolFault("internal", f"{tool.name} failed ({type(fault).__name__})", "go on without this call") from fault

    def _summarize(self, asked: arguments.Summarize) -> answers.Summary:
        with self._asking:
            if self.models is not None and self._crew is None:
                self._crew = Crew(self.models, self.reader.lake, Tags("toolbox", run=f"tools of {self.reader.release.name}"))
            model = self._crew.chat(summary.ROLE) if self._crew is not None else None
            if model is not None:
                return summary.summarize(asked.content, model)
        return summary.summarize(asked.content, None)


def checked(name: str, given: Any) -> tuple[Tool, Any]:
    """A tool and the arguments that it can be called with. Raises ToolFault where there is no such tool, or its types do not allow them."""
    tool = _tool(name)
    if not isinstance(given, Mapping):
        hint = "an object in JSON itself, not as text" if isinstance(given, str) else "an object"
        raise ToolFault("invalid_payload", "tool_args is no object", f"send {hint}, with: {', '.join(_known(tool.takes))}")
    try:
        return tool, tool.takes.model_validate(given)
    except RecursionError as fault:
        raise ToolFault("invalid_payload", "tool_args are nested too deeply", _EXAMPLE) from fault
    except ValidationError as fault:
        raise of_validation(fault, tool.name, _known(tool.takes)) from fault


def functions() -> list[dict[str, Any]]:
    """All tools, for function calling."""
    return [tool.as_function() for tool in TOOLS.values()]


def _taken_apart(payload: Mapping[str, Any] | str | bytes) -> tuple[str, Any]:
    """The name and what stands for the arguments of a payload. Raises ToolFault where it is none."""
    if isinstance(payload, str | bytes):
        if len(payload) > MAX_PAYLOAD:
            raise ToolFault("invalid_payload", f"the payload has {len(payload):,} characters", f"send at most {MAX_PAYLOAD:,}")
        try:
            payload = json.loads(payload)
        except (ValueError, RecursionError) as fault:
            raise ToolFault("invalid_payload", f"the payload is no JSON: {fault}", _EXAMPLE) from fault
    if not isinstance(payload, Mapping):
        raise ToolFault("invalid_payload", f"the payload is no object but {shown(type(payload).__name__)}", _EXAMPLE)
    unknown = [str(key) for key in payload if key not in ("tool_name", "tool_args")]
    missing = [key for key in ("tool_name", "tool_args") if key not in payload]
    if missing or unknown:
        faults = [f"lacks {key}" for key in missing] + [f"has {shown(key)}, which is not known" for key in unknown[:3]]
        raise ToolFault("invalid_payload", f"the payload {' and '.join(faults)}", _EXAMPLE)
    name, given = payload["tool_name"], payload["tool_args"]
    if not isinstance(name, str):
        raise ToolFault("invalid_payload", "tool_name is no text", f"name one of: {', '.join(TOOLS)}")
    return name, given


def _tool(name: str) -> Tool:
    if name in TOOLS:
        return TOOLS[name]
    folded = {known.casefold(): known for known in TOOLS}
    near = difflib.get_close_matches(name[:100].casefold(), folded, n=1)
    meant = f"; do you mean {folded[near[0]]}?" if near else ""
    raise ToolFault("unknown_tool", f"there is no tool {shown(name)}{meant}", f"name one of: {', '.join(TOOLS)}")


def _known(model: type[BaseModel]) -> list[str]:
    return list(model.model_fields)

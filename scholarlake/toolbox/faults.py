"""How a tool fails: never by an exception that leaves the toolbox, but with a code, what is wrong, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

CODES = (
    "invalid_payload",  # no JSON object of the two members
    "unknown_tool",
    "invalid_arguments",  # missing, unknown, mistyped, out of bounds
    "not_found",  # no such paper
    "nothing_found",  # the search, the list or the walk is empty
    "same_paper",  # a path from a paper to itself
    "no_path",
    "model_unavailable",  # the model behind a tool is not there, or can't do it
    "release_unusable",  # a file of the release is missing or damaged
    "internal",  # a fault of the toolbox itself
)
_SHOWN = 8  # of what is wrong with arguments
_LONGEST = 160  # characters of a name that is repeated


@dataclass
class ToolFault(Exception):
    """Raised inside a tool, answered by the dispatcher. problems: what is wrong with each argument."""

    code: str
    message: str
    advice: str
    problems: Sequence[Mapping[str, str]] = field(default_factory=tuple)

    def __str__(self) -> str:
        return self.message

    def to_dict(self) -> dict[str, Any]:
        """Plain values; half characters, which no JSON can hold, become question marks."""
        said: dict[str, Any] = {"code": self.code, "message": _whole(self.message), "advice": _whole(self.advice)}
        if self.problems:
            said["problems"] = [{name: _whole(text) for name, text in one.items()} for one in self.problems]
        return said


def of_validation(fault: ValidationError, tool: str, known: Sequence[str]) -> ToolFault:
    """Pydantic's findings as a fault that names every argument."""
    errors = fault.errors(include_url=False, include_context=False)
    problems = [{"argument": _where(error["loc"]) or "tool_args", "problem": _problem(error, known)} for error in errors[:_SHOWN]]
    first = f"{problems[0]['argument']}: {problems[0]['problem']}"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return ToolFault(
        "invalid_arguments",
        f"{tool} can't take these arguments: {first}{more}",
        f"correct what `problems` lists and call {tool} again; it takes: {', '.join(known)}",
        problems,
    )


def shown(text: object) -> str:
    """A name that somebody gave, short enough to be repeated."""
    plain = " ".join(str(text).split())
    return repr(plain if len(plain) <= _LONGEST else plain[:_LONGEST] + "…")


def _where(location: Sequence[int | str]) -> str:
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
    return path if len(path) <= _LONGEST else path[:_LONGEST] + "…"


def _problem(error: Mapping[str, Any], known: Sequence[str]) -> str:
    given = error.get("input")
    match error["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return (
                f"is no argument here; leave it out (known: {', '.join(known)})"
                if len(error["loc"]) == 1
                else "is not known here; leave it out"
            )
        case "string_type":
            return f"must be text in double quotes, not {_kind(given)}"
        case "int_type" | "int_from_float" | "int_parsing":
            return f"must be a whole number without quotes, not {_kind(given)}"
        case "float_type" | "float_parsing":
            return f"must be a number without quotes, not {_kind(given)}"
        case "finite_number":
            return "must be a finite number"
        case "list_type":
            return f"must be a list, not {_kind(given)}"
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"must be an object, not {_kind(given)}"
        case _:
            said = str(error["msg"]).removeprefix("Value error, ")
            return said[:1].lower() + said[1:]


def _kind(value: Any) -> str:
    kinds = {
        bool: "a truth value",
        int: "a number",
        float: "a decimal number",
        str: "text",
        list: "a list",
        dict: "an object",
        type(None): "null",
    }
    return next((name for kind, name in kinds.items() if type(value) is kind), type(value).__name__)


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()

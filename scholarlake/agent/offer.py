"""What agents of others can do at a release: operations that they call, and resources that they read.

Each kind is a list; whoever has more to offer adds to it, and the server need not know what it is. What does not belong here: how it is
offered (`mcp_server`), and what it does (`toolbox`, `knowledge`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scholarlake.toolbox import answers
from scholarlake.toolbox.dispatch import TOOLS, Tool, Toolbox

if TYPE_CHECKING:
    from scholarlake.door import ReleaseReader

SCHEME = "scholarlake://"


@dataclass(frozen=True)
class Operation:
    """Something that can be called. parameters, results: JSON schemas. call: from arguments to an answer as the toolbox gives them:
    `ok`, with `result` or `error`; it raises nothing."""

    name: str
    about: str
    parameters: Mapping[str, Any]
    results: Mapping[str, Any]
    call: Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True)
class Resources:
    """Things of one kind that can be read by their ids, as `scholarlake://NAME/ID`. read: raises NotFound where there is none."""

    name: str
    about: str
    read: Callable[[str], Mapping[str, Any]]

    @property
    def prefix(self) -> str:
        return f"{SCHEME}{self.name}/"


@dataclass(frozen=True)
class Offer:
    operations: tuple[Operation, ...]
    resources: tuple[Resources, ...]


def offer_of(toolbox: Toolbox) -> Offer:
    """All that a release has to offer: its tools, the operations on its layers of knowledge, its papers and its facts."""
    from scholarlake.agent.knowledge_tools import knowledge_tools

    tools = [_operation(toolbox, tool) for tool in TOOLS.values()]
    return Offer((*tools, *knowledge_tools(toolbox.reader, toolbox.models)), _resources(toolbox.reader))


def _operation(toolbox: Toolbox, tool: Tool) -> Operation:
    def call(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return toolbox.call({"tool_name": tool.name, "tool_args": arguments})

    return Operation(tool.name, tool.about, tool.parameters, tool.results, call)


def _resources(reader: ReleaseReader) -> tuple[Resources, ...]:
    from scholarlake.knowledge import released

    def facts(paper_id: str) -> dict[str, Any]:
        found = released.facts_of(reader, paper_id)
        return {"paper_id": found[0]["paper_id"], "facts": found}

    def paper(one: str) -> dict[str, Any]:
        return answers.page(reader.paper(one, "id")).to_dict()

    stated = "What a paper states, each with conditions, numbers and the sentences that say it; by the paper's id."
    return (
        Resources("paper", "All that is known of a paper, by its id or a merged id.", paper),
        Resources("facts", stated, facts),
        Resources("fact", "One fact, by its id.", lambda one: released.fact(reader, one)),
    )

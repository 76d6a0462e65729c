"""The layers of a release for other people's agents: the operations on views as tools with typed arguments.

A view goes from call to call as the ids of its objects: whoever calls keeps nothing but those. Answers are those of the toolbox: a result,
or an error that says what to do. What does not belong here: the operations themselves (`knowledge.layer`), how tools are offered.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints, ValidationError
from rich.console import Console

from scholarlake.agent.offer import Operation
from scholarlake.errors import LakeError, ModelError, ScholarLakeError
from scholarlake.knowledge.layer import expanding, selecting, shown
from scholarlake.knowledge.layer.knowledge import ALL_KINDS, MAX_QUERY, Knowledge
from scholarlake.knowledge.layer.synthesizing import MAX_QUESTION
from scholarlake.knowledge.layer.view import View
from scholarlake.knowledge.trace import lines
from scholarlake.knowledge.trace.tree import Tracer
from scholarlake.toolbox import schemas
from scholarlake.toolbox.answers import Value
from scholarlake.toolbox.arguments import MAX_NAME, Arguments
from scholarlake.toolbox.faults import ToolFault, of_validation

if TYPE_CHECKING:
    from scholarlake.door import ReleaseReader
    from scholarlake.models.config import ModelsFile

MAX_OBJECTS = 50
"""Objects of one answer, and those that one call begins with."""
CHAIN, STAGE = "mcp", "tool"
_LINE = 120  # characters of a line of a trace
_log = logging.getLogger(__name__)

_Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
_Names = Annotated[list[_Name], Field(max_length=MAX_OBJECTS)]
_Query = Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUERY)]
_KINDS: dict[str, Any] = {"items": {"type": "string", "enum": list(ALL_KINDS)}}
_COLLECTION = "Name of a collection, as KnowledgeCollections lists them."


class _OfCollection(Arguments):
    collection: _Name = Field(description=_COLLECTION)


class _OfObjects(_OfCollection):
    ids: Annotated[list[_Name], Field(min_length=1, max_length=MAX_OBJECTS)] = Field(description="Ids of objects that other calls gave.")


class KnowledgeCollections(Arguments):
    pass


class KnowledgeRetrieve(_OfCollection):
    query: _Query = Field(description="What to look for: words, or a question.")
    k: int = Field(10, ge=1, le=MAX_OBJECTS, description="How many objects.")
    kinds: list[str] | None = Field(None, description="Only these kinds; all where none is named.", json_schema_extra=_KINDS)
    papers: _Names | None = Field(None, description="Only about these papers, by id or exact title.")


class KnowledgeSelect(_OfCollection):
    ids: _Names | None = Field(None, description="Select among these objects; among all of the collection where none is named.")
    constraints: selecting.Constraints = Field(description="What an object must meet; all that are given.")


class KnowledgeExpand(_OfObjects):
    along: str = Field(
        description="evidence (sentences), basis, dependents, siblings (assignments to the same categories), entities, relations, citing, "
        "cited, neighbours (sentences beside) or facts (all of the papers).",
        json_schema_extra={"enum": list(expanding.WAYS)},
    )
    hops: int = Field(1, ge=1, le=expanding.MAX_HOPS, description="How many steps.")
    limit: int = Field(20, ge=1, le=MAX_OBJECTS, description="How many objects are added at most.")


class KnowledgeCompare(_OfObjects):
    dimensions: _Names | None = Field(None, description="Only along these: subject, type, a kind of condition, a metric, a dimension.")


class KnowledgeSynthesize(_OfObjects):
    question: Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUESTION)] | None = Field(None, description="What it answers.")


class KnowledgeFacts(_OfCollection):
    paper: _Name = Field(description="The paper, by id or exact title.")


class KnowledgeTrace(Arguments):
    id: _Name = Field(description="Id of an object, in any version that it had.")


class CollectionLine(Value):
    """A collection: how much of each kind it holds, and the names of its categories."""

    name: str
    papers: int
    objects: dict[str, int]
    categories: list[str]


class Collections(Value):
    collections: list[CollectionLine]


class Line(Value):
    """An object of a view. status: where it is not current."""

    id: str
    kind: str
    papers: list[str]
    status: str | None = None


class Viewed(Value):
    """A view. text: the objects in words, within the budget of a reading; notes: what must be known of it."""

    objects: list[Line]
    text: str
    notes: list[str]


class Compared(Value):
    """Findings side by side, as a table and what is to be said of it. Nothing is ranked."""

    table: str
    notes: list[str]


class Traced(Value):
    """What an object says and rests on. text: down to the sentences, within the budget of a reading; rests_on: ids, nearest first."""

    id: str
    kind: str
    status: str
    text: str
    rests_on: list[str]


class ClaimMade(Value):
    text: str
    cites: list[str]


class Account(Value):
    """A candidate for an account: it is not registered. notes: what no object bears out."""

    status: str
    title: str
    kind: str
    claims: list[ClaimMade]
    sources: int
    method: str
    notes: list[str]


def knowledge_tools(reader: ReleaseReader, models: ModelsFile | None = None) -> tuple[Operation, ...]:
    """The tools over a release: none where it has no collection. models: what plays the role synthesizer; by default rules do."""
    if not reader.collections:
        return ()

    def layers(asked: Any) -> Knowledge:
        return reader.knowledge(asked.collection, chain=CHAIN, stage=STAGE, models=models)

    def listed(asked: KnowledgeCollections) -> Value:
        return Collections(collections=[_line(reader.knowledge(name, chain=CHAIN, stage=STAGE)) for name in reader.collections])

    def retrieved(asked: KnowledgeRetrieve) -> Value:
        view = layers(asked).retrieve(asked.query, asked.k, kinds=asked.kinds or (), papers=asked.papers or ())
        return _viewed(view, query=asked.query)

    def selected(asked: KnowledgeSelect) -> Value:
        found = layers(asked)
        given = asked.constraints.given()
        return _viewed(found.select(found.get(asked.ids) if asked.ids else None, **given))

    def expanded(asked: KnowledgeExpand) -> Value:
        found = layers(asked)
        return _viewed(found.expand(found.get(asked.ids), asked.along, hops=asked.hops, limit=asked.limit), skip=len(set(asked.ids)))

    def compared(asked: KnowledgeCompare) -> Value:
        found = layers(asked)
        made = found.compare(found.get(asked.ids), asked.dimensions or ())
        return Compared(table=made.text(), notes=list(made.notes))

    def synthesized(asked: KnowledgeSynthesize) -> Value:
        found = layers(asked)
        made = found.synthesize(found.get(asked.ids), asked.question)
        claims = [ClaimMade(text=one.text, cites=list(one.cites)) for one in made.claims]
        return Account(
            status=made.status,
            title=made.title,
            kind=made.kind,
            claims=claims,
            sources=made.sources,
            method=made.method,
            notes=list(made.notes),
        )

    def stated(asked: KnowledgeFacts) -> Value:
        return _viewed(layers(asked).facts_of(asked.paper))

    return (
        _tool("The collections whose layers can be read, how much they hold, their categories.", KnowledgeCollections, Collections, listed),
        _tool(
            "The objects of a collection that fit a query best: facts, entities, assignments, relations, syntheses, sentences; each with "
            f"its conditions, its evidence and whether it was checked. At most {MAX_OBJECTS}.",
            KnowledgeRetrieve,
            Viewed,
            retrieved,
        ),
        _tool("The objects, of some or of the whole collection, that meet all constraints.", KnowledgeSelect, Viewed, selected),
        _tool(
            "What objects rest on, what rests on them, and what stands beside them: sentences, facts, relations, citations.",
            KnowledgeExpand,
            Viewed,
            expanded,
        ),
        _tool(
            "Facts side by side: what each reports, in its own words and units, and under which conditions. Ranks nothing.",
            KnowledgeCompare,
            Compared,
            compared,
        ),
        _tool(
            "What objects say together, each claim citing them. A candidate: an interpretation that is not registered.",
            KnowledgeSynthesize,
            Account,
            synthesized,
        ),
        _tool("All facts of one paper, in the order of its text.", KnowledgeFacts, Viewed, stated),
        _tool(
            "From an object to the sentences: what it says, what it rests on, whether that was checked, and what became of any of it.",
            KnowledgeTrace,
            Traced,
            lambda asked: _traced(reader, asked.id),
        ),
    )


def _tool(about: str, takes: type[Arguments], gives: type[Value], run: Callable[[Any], Value]) -> Operation:
    name = takes.__name__

    def call(arguments: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return {"tool_name": name, "ok": True, "result": run(_checked(takes, arguments)).to_dict()}
        except ToolFault as fault:
            return {"tool_name": name, "ok": False, "error": fault.to_dict()}
        except ModelError as fault:
            return _failed(name, "model_unavailable", fault, "go on without this tool, and tell who runs it")
        except (LakeError, OSError) as fault:
            return _failed(name, "release_unusable", fault, "tell who runs this lake; other tools may still work")
        except ScholarLakeError as fault:
            return _failed(name, "invalid_arguments", fault, f"correct the arguments and call {name} again")
        except Exception as fault:  # an agent's run must not end for it; the log has all of it
            _log.exception("%s failed", name)
            return _failed(name, "internal", f"{name} failed ({type(fault).__name__})", "go on without this call")

    return Operation(name, about, schemas.parameters(takes), schemas.results(gives), call)


def _traced(reader: ReleaseReader, id: str) -> Traced:
    found = Tracer(reader).trace(id)
    page = Console(file=StringIO(), width=_LINE, no_color=True, force_terminal=False)
    with page.capture() as said:
        page.print(lines.render(found))
    text = "\n".join(line.rstrip() for line in said.get().splitlines())
    if len(text) > shown.READ:
        text = f"{text[: shown.READ].rsplit(chr(10), 1)[0]}\n… cut: {len(text):,} characters in all; trace what it rests on by itself"
    below, wanted = [], list(found.node.basis)
    while wanted:
        node = wanted.pop(0)
        below.append(node.object.object_id)
        wanted += node.basis
    one = found.object
    ids = list(dict.fromkeys(below))[:MAX_OBJECTS]
    return Traced(id=one.object_id, kind=one.kind, status=one.status, text=text, rests_on=ids)


def _checked(takes: type[Arguments], arguments: Mapping[str, Any]) -> Arguments:
    try:
        return takes.model_validate(arguments)
    except ValidationError as fault:
        raise of_validation(fault, takes.__name__, list(takes.model_fields)) from fault


def _failed(name: str, code: str, fault: object, advice: str) -> dict[str, Any]:
    return {"tool_name": name, "ok": False, "error": ToolFault(code, str(fault), advice).to_dict()}


def _viewed(view: View, *, query: str | None = None, skip: int = 0) -> Viewed:
    """A view as an answer: what was added behind the first `skip` objects, which whoever asked knows."""
    items = view.items[skip:]
    notes = list(view.notes)
    if len(items) > MAX_OBJECTS:
        notes.append(f"{len(items) - MAX_OBJECTS} of {len(items)} objects are not listed: an answer has {MAX_OBJECTS} at most")
        items = items[:MAX_OBJECTS]
    told = View(view.collection, view.release, items, view.papers)
    lines = [
        Line(
            id=item.object_id,
            kind=item.kind,
            papers=list(item.papers),
            status=None if item.standing.status == "current" else item.standing.status,
        )
        for item in items
    ]
    return Viewed(objects=lines, text=shown.read(told, shown.READ, query), notes=notes)


def _line(found: Knowledge) -> CollectionLine:
    names: Sequence[str] = [str(row["name"]) for row in found.categories]
    return CollectionLine(name=found.collection, papers=len(found.papers), objects=found.counts, categories=list(names))

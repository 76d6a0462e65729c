"""`scholarlake knowledge …`: views of a collection's layers and the operations on them, by hand or for a program.

A view goes from one command to the next as JSON (`--json`, and `--from FILE` or `--from -`), or under the name that it is kept by. What
does not belong here: the operations (`knowledge.layer`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer
from rich.text import Text

from scholarlake.console import JsonOption, LakeOption, ReleaseOption, lake_path, out, print_json
from scholarlake.errors import ScholarLakeError
from scholarlake.tool_commands import ModelsOption, bound_models
from scholarlake.typeset import table

if TYPE_CHECKING:
    from scholarlake.knowledge.layer.knowledge import Knowledge
    from scholarlake.knowledge.layer.view import View
    from scholarlake.models.config import ModelsFile

knowledge = typer.Typer(no_args_is_help=True, help="The layers of a collection: facts, their organization, syntheses; and who read what.")

CollectionArgument = Annotated[str, typer.Argument(metavar="COLLECTION", help="A collection, as `scholarlake collections` lists them.")]
FromOption = Annotated[
    str | None, typer.Option("--from", metavar="VIEW", help="A kept view's name or id, a file that --json wrote, or - to read that.")
]
IdsOption = Annotated[list[str] | None, typer.Option("--id", help="Begin with this object instead; may be given again.")]
KeepOption = Annotated[str | None, typer.Option("--keep", metavar="NAME", help="Keep the view by this name.")]
BudgetOption = Annotated[int, typer.Option(min=200, help="Characters of the text that is printed.")]
ChainOption = Annotated[
    str, typer.Option("--chain", envvar="SCHOLARLAKE_CHAIN", help="Who reads, for the log of accesses: a chain of tasks.")
]
StageOption = Annotated[str, typer.Option("--stage", envvar="SCHOLARLAKE_STAGE", help="And the stage that it is at.")]
_READ = 9_000


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.add_typer(knowledge, name="knowledge")


@knowledge.command()
def retrieve(
    collection: CollectionArgument,
    query: Annotated[str, typer.Argument(help="What to look for: words, or a question.")],
    k: Annotated[int, typer.Option("-k", help="How many objects, 1 to 1,000.")] = 10,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Only objects of this kind; may be given again.")] = None,
    layer: Annotated[list[int] | None, typer.Option("--layer", help="Only this layer: 0 (sentences) to 3; may be given again.")] = None,
    paper: Annotated[list[str] | None, typer.Option("--paper", help="Only about this paper; may be given again.")] = None,
    catalog: Annotated[bool, typer.Option("--catalog", help="Print the papers, not the objects.")] = False,
    keep: KeepOption = None,
    budget: BudgetOption = _READ,
    chain: ChainOption = "",
    stage: StageOption = "",
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
    json: JsonOption = False,
) -> None:
    """The objects that fit a query best, by meaning and by words."""
    with _opened(lake, release, collection, chain, stage) as found:
        view = found.retrieve(query, k, kinds=kind or (), layers=layer or (), papers=paper or ())
        _show(found, view, keep, json, view.catalog() if catalog else view.text(budget, query))


@knowledge.command()
def select(
    collection: CollectionArgument,
    start: FromOption = None,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Kind of object; may be given again, as all of these.")] = None,
    type_: Annotated[list[str] | None, typer.Option("--type", help="Type of fact, entity, relation or synthesis.")] = None,
    category: Annotated[list[str] | None, typer.Option(help="Category, by id or name.")] = None,
    entity: Annotated[list[str] | None, typer.Option(help="Entity, by id, name or alias.")] = None,
    paper: Annotated[list[str] | None, typer.Option("--paper", help="Paper, by id or title.")] = None,
    verification: Annotated[list[str] | None, typer.Option(help="supported, failed, unresolved, unchecked.")] = None,
    review: Annotated[list[str] | None, typer.Option(help="unreviewed, supported, disputed, failed.")] = None,
    status: Annotated[list[str] | None, typer.Option(help="current, superseded, retracted, needs_recheck.")] = None,
    certainty: Annotated[list[str] | None, typer.Option(help="confirmed, likely, uncertain.")] = None,
    origin: Annotated[list[str] | None, typer.Option(help="Chain that an object came from.")] = None,
    condition: Annotated[str | None, typer.Option(help="Words of a condition.")] = None,
    condition_kind: Annotated[str | None, typer.Option(help="Kind of a condition, such as baseline.")] = None,
    since: Annotated[int | None, typer.Option(help="Year of the paper, at least.")] = None,
    until: Annotated[int | None, typer.Option(help="Year of the paper, at most.")] = None,
    metric: Annotated[str | None, typer.Option(help="What a number measures.")] = None,
    unit: Annotated[str | None, typer.Option(help="Its unit, as written.")] = None,
    minimum: Annotated[float | None, typer.Option(help="The number, at least, in that unit.")] = None,
    maximum: Annotated[float | None, typer.Option(help="The number, at most, in that unit.")] = None,
    keep: KeepOption = None,
    budget: BudgetOption = _READ,
    chain: ChainOption = "",
    stage: StageOption = "",
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
    json: JsonOption = False,
) -> None:
    """The objects of a view, or of the whole collection, that meet all constraints."""
    several = {
        "kind": kind,
        "type": type_,
        "category": category,
        "entity": entity,
        "papers": paper,
        "verification": verification,
        "review": review,
        "status": status,
        "certainty": certainty,
        "chain": origin,
    }
    constraints: dict[str, Any] = {name: values for name, values in several.items() if values}
    if condition is not None or condition_kind is not None:
        constraints["conditions"] = {"kind": condition_kind, "text": condition}
    if since is not None or until is not None:
        constraints["years"] = (since, until)
    quantities = {"metric": metric, "unit": unit, "minimum": minimum, "maximum": maximum}
    if any(value is not None for value in quantities.values()):
        constraints["quantities"] = quantities
    with _opened(lake, release, collection, chain, stage) as found:
        view = found.select(_begun(found, start, None) if start else None, **constraints)
        _show(found, view, keep, json, view.text(budget))


@knowledge.command()
def expand(
    collection: CollectionArgument,
    along: Annotated[
        str,
        typer.Argument(help="evidence, basis, dependents, siblings, entities, relations, citing, cited, neighbours or facts."),
    ],
    start: FromOption = None,
    ids: IdsOption = None,
    hops: Annotated[int, typer.Option(help="How many steps, 1 to 5.")] = 1,
    limit: Annotated[int, typer.Option(help="How many objects to add, 1 to 1,000.")] = 100,
    relation: Annotated[list[str] | None, typer.Option("--relation", help="Only relations of this type.")] = None,
    direction: Annotated[str, typer.Option(help="Of relations: out, in or both.")] = "both",
    keep: KeepOption = None,
    budget: BudgetOption = _READ,
    chain: ChainOption = "",
    stage: StageOption = "",
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
    json: JsonOption = False,
) -> None:
    """A view, and what lies along a way from its objects."""
    with _opened(lake, release, collection, chain, stage) as found:
        view = found.expand(_begun(found, start, ids), along, hops=hops, limit=limit, relations=relation or (), direction=direction)
        _show(found, view, keep, json, view.text(budget))


@knowledge.command()
def compare(
    collection: CollectionArgument,
    start: FromOption = None,
    ids: IdsOption = None,
    dimension: Annotated[list[str] | None, typer.Option("--dimension", help="Compare along this; may be given again.")] = None,
    chain: ChainOption = "",
    stage: StageOption = "",
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
    json: JsonOption = False,
) -> None:
    """The facts of a view side by side: what they report, under which conditions. Ranks nothing."""
    with _opened(lake, release, collection, chain, stage) as found:
        made = found.compare(_begun(found, start, ids), dimension or ())
    if json:
        print_json(made.to_dict())
    else:
        out.print(Text(made.text()), soft_wrap=True)


@knowledge.command()
def synthesize(
    collection: CollectionArgument,
    start: FromOption = None,
    ids: IdsOption = None,
    question: Annotated[str | None, typer.Option(help="What the account is to answer.")] = None,
    models_file: ModelsOption = None,
    chain: ChainOption = "",
    stage: StageOption = "",
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
    json: JsonOption = False,
) -> None:
    """What the objects of a view say together: a candidate, which is not registered."""
    with _opened(lake, release, collection, chain, stage, bound_models(models_file)) as found:
        made = found.synthesize(_begun(found, start, ids), question)
    if json:
        print_json(made.to_dict())
        return
    out.print(Text(f"{made.title} ({made.kind.replace('_', ' ')}, {made.status}, not registered)", style="bold"))
    for number, claim in enumerate(made.claims, 1):
        out.print(Text(f"{number}. {claim.text} [{', '.join(claim.cites)}]"), soft_wrap=True)
    for note in made.notes:
        out.print(Text(f"note: {note}", style="dim"), soft_wrap=True)


@knowledge.command()
def facts(
    collection: CollectionArgument,
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="Id, merged id or exact title.")],
    keep: KeepOption = None,
    budget: BudgetOption = _READ,
    chain: ChainOption = "",
    stage: StageOption = "",
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
    json: JsonOption = False,
) -> None:
    """All facts of a paper, in the order of its text."""
    with _opened(lake, release, collection, chain, stage) as found:
        view = found.facts_of(paper)
        _show(found, view, keep, json, view.text(budget))


@knowledge.command(name="open")
def open_(
    collection: CollectionArgument,
    name: Annotated[str, typer.Argument(metavar="VIEW", help="Name or id of a kept view.")],
    budget: BudgetOption = _READ,
    chain: ChainOption = "",
    stage: StageOption = "",
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
    json: JsonOption = False,
) -> None:
    """A kept view as it was, and what became of its objects since."""
    with _opened(lake, release, collection, chain, stage) as found:
        view = found.open_view(name)
        _show(found, view, None, json, view.text(budget))


@knowledge.command()
def views(collection: CollectionArgument, lake: LakeOption = None, release: ReleaseOption = "latest", json: JsonOption = False) -> None:
    """The kept views of a collection, the newest first."""
    with _opened(lake, release, collection, "", "") as found:
        kept = found.kept_views()
    if json:
        from dataclasses import asdict

        print_json([asdict(one) for one in kept])
        return
    listed = table("name", "id", "release", numbers=("objects",), last=("kept by", "at (UTC)"))
    for one in kept:
        at = one.kept_at.replace("T", " ")[:16]
        listed.add_row(Text(one.name, style="bold"), one.view_id, one.release, f"{one.items:,}", Text(f"{one.chain}, {one.stage}"), at)
    out.print(listed if kept else Text("none was kept", style="dim"))


@knowledge.command()
def accesses(
    collection: Annotated[str | None, typer.Option("--collection", help="Only of this collection.")] = None,
    chain: Annotated[str | None, typer.Option("--chain", help="Only by this chain.")] = None,
    lake: LakeOption = None,
    json: JsonOption = False,
) -> None:
    """Which objects were returned to whom: how many, from which layer, and made by which chain."""
    from scholarlake.knowledge.layer.accesses import summary
    from scholarlake.lake.home import Lake

    found = summary(Lake.open(lake_path(lake)), collection, chain)
    if json:
        print_json(found)
        return
    layers = ", ".join(f"{name} {count:,}" for name, count in found["by_layer"].items())
    out.print(Text(f"{found['queries']:,} queries returned {found['accesses']:,} objects, {found['distinct']:,} of them distinct"))
    if layers:
        out.print(Text(f"by layer: {layers}", style="dim"))
    listed = table("read by", "made by", numbers=("accesses", "distinct", "syntheses"))
    for row in found["by_chain"]:
        shares = f"{row['syntheses_share']:.0%}"
        listed.add_row(Text(row["chain"]), Text(row["origin"]), f"{row['accesses']:,}", f"{row['distinct']:,}", shares)
    if found["by_chain"]:
        out.print(listed)


# -- views in and out ------------------------------------------------------------------------------------------------


@contextmanager
def _opened(
    lake: Path | None, release: str, collection: str, chain: str, stage: str, models: ModelsFile | None = None
) -> Iterator[Knowledge]:
    import scholarlake

    with scholarlake.open(lake_path(lake), release=release) as reader:
        yield reader.knowledge(collection, chain=chain, stage=stage, models=models)


def _begun(found: Knowledge, start: str | None, ids: list[str] | None) -> View:
    """The view that a command begins with. Raises ScholarLakeError where none, or two, are named."""
    if (start is None) == (not ids):
        raise ScholarLakeError("name what to begin with: a view with --from, or objects with --id")
    if ids:
        return found.get(ids)
    assert start is not None
    if start != "-" and not Path(start).is_file():
        return found.open_view(start)
    from scholarlake.knowledge.layer.view import View

    try:
        return View.from_dict(orjson.loads(sys.stdin.buffer.read() if start == "-" else Path(start).read_bytes()))
    except orjson.JSONDecodeError as fault:
        raise ScholarLakeError(f"{start} holds no JSON ({fault}); give what --json printed") from fault


def _show(found: Knowledge, view: View, keep: str | None, json: bool, text: str) -> None:
    kept = found.keep(view, keep) if keep else None
    if json:
        print_json(view.to_dict())
        return
    out.print(Text(text), soft_wrap=True)
    if kept:
        out.print(Text(f"kept as {kept.name!r}: {kept.view_id}", style="dim"))

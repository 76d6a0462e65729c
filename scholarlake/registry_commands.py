"""`scholarlake knowledge register`, `history`, `recheck`: what tasks keep, what became of it, and looking again at what moved."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer
from rich.text import Text

from scholarlake.console import JsonOption, LakeOption, lake_path, out, print_json
from scholarlake.errors import SourceError
from scholarlake.knowledge_commands import knowledge

if TYPE_CHECKING:
    from scholarlake.knowledge.syntheses.objects import Proposal

ChainOption = Annotated[str, typer.Option("--chain", envvar="SCHOLARLAKE_CHAIN", help="The chain of tasks that it comes from.")]
StageOption = Annotated[str, typer.Option("--stage", envvar="SCHOLARLAKE_STAGE", help="The stage of the chain.")]


def register(app: typer.Typer) -> None:
    """Add these commands to those of knowledge."""
    knowledge.command(name="register")(register_)
    knowledge.command()(history)
    knowledge.command()(recheck)


def register_(
    candidate: Annotated[str, typer.Argument(metavar="FILE", help="A candidate, as `synthesize --json` prints it; or - to read it.")],
    chain: ChainOption,
    stage: StageOption,
    kind: Annotated[str | None, typer.Option(help="hypothesis or note, instead of the kind that it has.")] = None,
    revises: Annotated[str | None, typer.Option(metavar="ID", help="An object that this is a new version of.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why it is revised.")] = None,
    lake: LakeOption = None,
    json: JsonOption = False,
) -> None:
    """Register what a task made, once its grounds and numbers are found to stand. What says the same as something that is there is that."""

    from scholarlake.knowledge.registry import register as enter
    from scholarlake.lake.home import Lake
    from scholarlake.typeset import to_dict

    proposal = _read(candidate)
    if kind is not None:
        proposal = replace(proposal, kind=kind)
    made = enter(Lake.open(lake_path(lake)), proposal, chain=chain, stage=stage, revises=revises, reason=reason)
    if json:
        print_json(to_dict(made))
    else:
        out.print(Text(f"{made.outcome}: {made.object_id}, version {made.version} of {made.asset_id}"), soft_wrap=True)


def history(
    id: Annotated[str, typer.Argument(metavar="ID", help="A registered object.")], lake: LakeOption = None, json: JsonOption = False
) -> None:
    """Every version of an object, and what happened to it."""
    from scholarlake.knowledge.registry import Registry
    from scholarlake.lake.home import Lake
    from scholarlake.typeset import plain, to_dict

    registry = Registry.of(Lake.open(lake_path(lake)))
    asset = registry.find(id).asset_id
    versions, events = registry.history(asset), registry.events(asset)
    if json:
        print_json({"asset_id": asset, "versions": to_dict(versions), "events": to_dict(events)})
        return
    for one in versions:
        out.print(Text.assemble((f"{one.version}  {one.status.replace('_', ' ')}", "bold"), f"  {plain(one.title)}"), soft_wrap=True)
        if one.reason:
            out.print(Text(f"   {plain(one.reason)}", style="dim"), soft_wrap=True)
    for event in events:
        said = f"{event.at:%Y-%m-%d %H:%M}  version {event.version} {event.event.replace('_', ' ')}: {plain(event.reason)}"
        out.print(Text(f"{said} ({plain(event.chain)}, {plain(event.stage)})", style="dim"), soft_wrap=True)


def recheck(
    models_file: Annotated[
        Path | None, typer.Option("--models", envvar="SCHOLARLAKE_MODELS", help="A models file whose verifier may be asked.")
    ] = None,
    votes: Annotated[int, typer.Option(min=1, help="Verdicts of the verifier on each object.")] = 3,
    lake: LakeOption = None,
    json: JsonOption = False,
) -> None:
    """Look again at what tasks made and what rests on something that was revised or retracted since."""
    from scholarlake.knowledge.registry import recheck as settle
    from scholarlake.lake.home import Lake
    from scholarlake.models.chat import Tags
    from scholarlake.models.config import ModelsFile
    from scholarlake.models.crew import Crew
    from scholarlake.typeset import to_dict

    opened = Lake.open(lake_path(lake))
    crew = Crew(ModelsFile.load(models_file), opened, Tags("recheck")) if models_file else nullcontext()
    with crew as models:
        outcomes = settle(opened, models.chat("verifier") if models else None, votes)
    if json:
        print_json([to_dict(one) for one in outcomes])
        return
    if not outcomes:
        out.print("nothing has to be looked at again")
    for one in outcomes:
        style = "green" if one.settled else "yellow"
        mark = f"settled, version {one.version}" if one.settled else "stays marked"
        out.print(Text.assemble((mark, style), "  ", one.title, ("  " + one.asset_id, "dim"), f"\n  {one.reason}"), soft_wrap=True)


def _read(candidate: str) -> Proposal:
    """A candidate out of a file. Raises SourceError where it is none."""
    from scholarlake.knowledge.syntheses.objects import Proposal

    try:
        return Proposal.of(orjson.loads(sys.stdin.buffer.read() if candidate == "-" else Path(candidate).read_bytes()))
    except OSError as fault:
        raise SourceError(f"{candidate} can't be read ({fault.strerror}); name another file") from fault
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise SourceError(f"{candidate} is no candidate ({type(fault).__name__}: {fault}); `synthesize --json` prints one") from fault

"""`scholarlake ask`: a question to the agent, live, with an answer whose citations are resolved; and the calls of a run again."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from scholarlake.console import JsonOption, LakeOption, ReleaseOption, err, lake_path, out, print_json
from scholarlake.errors import ModelError, ScholarLakeError
from scholarlake.render_commands import reference_in, require_suffix, write_page
from scholarlake.tool_commands import ModelsOption, bound_models

if TYPE_CHECKING:
    from scholarlake.agent.trajectory import Trajectory
    from scholarlake.door import ReleaseReader
    from scholarlake.models.config import ModelsFile

_INTERRUPTED = 130  # what a shell expects of what Ctrl-C ended


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command()(ask)


def ask(
    question: Annotated[str | None, typer.Argument(metavar="QUESTION", help="What to find out.")] = None,
    replay: Annotated[
        Path | None, typer.Option("--replay", metavar="FILE", help="Do the calls of a trajectory again instead, and compare.")
    ] = None,
    target: Annotated[Path | None, typer.Option("-o", "--output", help="Write the answer as a page too: OUT.html or OUT.md.")] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Where to keep the trajectory.", show_default="in the lake")
    ] = None,
    context: Annotated[
        str | None, typer.Option("--context", help="Observations shown whole: none, keep-20, keep-5, discard-all.", show_default="keep-5")
    ] = None,
    calling: Annotated[
        str | None, typer.Option("--calling", help="How the model calls: tags in its text, or native.", show_default="tags")
    ] = None,
    rounds: Annotated[int | None, typer.Option("--rounds", min=1, help="Turns, at most.", show_default="200")] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Another seed, another run.", show_default="0")] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", min=1, help="Longest turn.", show_default="as the role is bound")
    ] = None,
    models_file: ModelsOption = None,
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
    json: JsonOption = False,
) -> None:
    """Ask the agent: it searches, reads and walks the release until it can answer, and cites what it found.

    Ends with 1 where there is no answer; what was done until then is kept as a trajectory all the same.
    """
    import scholarlake

    if (question is None or not question.strip()) == (replay is None):
        raise ScholarLakeError("ask one question, in quotes; or name a trajectory with --replay")
    if target is not None:
        require_suffix(target)
    models = bound_models(models_file)
    with scholarlake.open(lake_path(lake), release=release) as reader:
        if replay is not None:
            _replay(replay, reader, models, json)
            return
        chosen = {"context": context, "calling": calling, "rounds": rounds, "seed": seed, "max_tokens": max_tokens}
        run, kept = _run(str(question), reader, models, chosen, save, quiet=json)
        _show(run, kept, reader, target, json)
    if run.outcome == "interrupted":
        err.print(Text(f"{run.message}{_where(kept)}"), soft_wrap=True)
        raise typer.Exit(_INTERRUPTED)
    if run.outcome != "answered":
        raise ModelError(f"{run.message}{_where(kept)}")


def _run(
    question: str, reader: ReleaseReader, models: ModelsFile | None, chosen: dict[str, Any], save: Path | None, *, quiet: bool
) -> tuple[Trajectory, Path | None]:
    """The run, and where it is kept."""
    from pydantic import ValidationError

    from scholarlake.agent import loop
    from scholarlake.models.chat import Tags
    from scholarlake.models.crew import Crew
    from scholarlake.terminal_agent import Live

    if models is None or not models.bindings(loop.ROLE):
        raise ModelError(
            f"role {loop.ROLE} is bound to no model; write `{loop.ROLE}: NAME` under `roles` of the models file, NAME being an endpoint "
            "that chats (docs/models.md), and name the file with --models"
        )
    try:
        settings = loop.settings_for(models, **chosen)
    except ValidationError as fault:
        first = fault.errors()[0]
        raise ScholarLakeError(f"--{str(first['loc'][0]).replace('_', '-')}: {first['msg']}") from fault
    kept: list[Path] = []

    def keep(run: Trajectory) -> None:
        place = save or run.place(reader.lake)
        try:
            run.save(place)
            kept.append(place)
        except OSError as fault:  # the run is not lost for it
            err.print(Text(f"warning: the trajectory can't be kept at {place} ({fault.strerror})", style="yellow"), soft_wrap=True)

    tags = Tags("agent", run=f"ask {uuid.uuid4().hex[:12]}")  # a run of its own: what it may cost, and what it did
    with Crew(models, reader.lake, tags) as crew, reader.toolbox(models) as toolbox:
        model = crew.chat(loop.ROLE)
        assert model is not None
        watch: loop.Watch = (lambda _: None) if quiet else Live(out)
        return loop.ask(question, toolbox, model, settings, watch, keep), next(iter(kept), None)


def _show(run: Trajectory, kept: Path | None, reader: ReleaseReader, target: Path | None, json: bool) -> None:
    from scholarlake.agent.answer import document
    from scholarlake.terminal_agent import render_answer, render_end

    answer = run.answer
    text = document(answer) if answer else None
    if target is not None and text is not None:
        write_page(text, target, [], reference_in(reader))
    if json:
        told = run.model_dump(mode="json", exclude={"rounds", "system", "format"})
        told["answer"] = None if answer is None else {**told["answer"], "document": text}
        places = {"trajectory": kept, "page": target if text is not None else None}
        print_json({**told, **{name: None if place is None else str(place) for name, place in places.items()}})
        return
    if answer is not None:
        out.print(render_answer(answer), soft_wrap=True)
        for fault in answer.faults:
            err.print(Text(f"warning: {fault}", style="yellow"), soft_wrap=True)
    out.print(render_end(run, kept, target if text is not None else None), soft_wrap=True)


def _replay(path: Path, reader: ReleaseReader, models: ModelsFile | None, json: bool) -> None:
    """Do a trajectory's calls again, and say what is not as it was."""
    from scholarlake.agent import replay, trajectory
    from scholarlake.terminal_agent import render_repeated

    run = trajectory.load(path)
    with reader.toolbox(models) as toolbox:
        done = list(replay.replay(run, toolbox))
    other = [one for one in done if not one.is_same]
    if json:
        told = [{"round": one.round, "tool_name": one.tool_name, "recorded": one.recorded, "now": one.now} for one in other]
        print_json(
            {"trajectory": str(path), "release": run.release.name, "calls": len(done), "same": len(done) - len(other), "other": told}
        )
    else:
        for one in other:
            out.print(render_repeated(one), soft_wrap=True)
        same = "the same" if not other else f"{len(done) - len(other)} the same, {len(other)} not"
        out.print(Text(f"{len(done)} {'call' if len(done) == 1 else 'calls'} done again on {run.release.name}: {same}"), soft_wrap=True)
    if other:
        raise typer.Exit(1)


def _where(kept: Path | None) -> str:
    return f" ({kept})" if kept else ""

"""`scholarlake tool` and `scholarlake tools`: the research toolbox by hand, as an agent sees it."""

from __future__ import annotations

import json as jsonlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from scholarlake.console import JsonOption, LakeOption, ReleaseOption, lake_path, out, print_json
from scholarlake.errors import ScholarLakeError

if TYPE_CHECKING:
    from scholarlake.models.config import ModelsFile

ModelsOption = Annotated[
    Path | None,
    typer.Option(
        "--models",
        envvar="SCHOLARLAKE_MODELS",
        help="The models file: what makes summaries.",
        show_default="data/models.yaml, if it is there",
    ),
]
_MODELS = Path("data/models.yaml")


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command()(tool)
    app.command()(tools)


def tool(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A tool, as `scholarlake tools` lists them.")],
    given: Annotated[str, typer.Argument(metavar="ARGS", help='Its arguments, a JSON object such as \'{"id": "…"}\'; - reads it.')],
    models_file: ModelsOption = None,
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
) -> None:
    """Call a tool of the research toolbox and print its answer, JSON. Ends with 1 where the answer is an error."""
    import scholarlake

    try:
        arguments = jsonlib.loads(sys.stdin.read() if given == "-" else given)
    except (ValueError, RecursionError) as fault:
        raise ScholarLakeError(f"the arguments are no JSON ({fault}); put a JSON object in single quotes") from fault
    with scholarlake.open(lake_path(lake), release=release) as reader, reader.toolbox(bound_models(models_file)) as toolbox:
        answer = toolbox.call({"tool_name": name, "tool_args": arguments})
    print_json({**answer, "tool_name": name})  # who typed it is told what, also where there is no such tool
    if not answer["ok"]:
        raise typer.Exit(1)


def tools(json: JsonOption = False) -> None:
    """The tools of the research toolbox: what each is for, and what it takes; --json prints schemas for function calling."""
    from scholarlake.toolbox.dispatch import TOOLS, functions
    from scholarlake.typeset import table

    if json:
        print_json(functions())
        return
    listed = table("tool", "kind", "takes", last=("what it does",))
    for one in TOOLS.values():
        listed.add_row(Text(one.name, style="bold"), one.kind, Text(", ".join(one.takes.model_fields), style="cyan"), one.about)
    out.print(listed)


def bound_models(path: Path | None) -> ModelsFile | None:
    """The models file that is named, or the usual one if it is there."""
    from scholarlake.models.config import ModelsFile

    if path is None and not _MODELS.is_file():
        return None
    return ModelsFile.load(path or _MODELS)

"""`scholarlake models …` and `scholarlake costs`: what plays which role, whether it is there, and what it cost."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from scholarlake.console import JsonOption, LakeOption, err, lake_path, out, print_json
from scholarlake.errors import ModelError

models = typer.Typer(no_args_is_help=True, help="Which model plays which role, whether it is there, and servers of one's own.")

ModelsOption = Annotated[Path, typer.Option("--models", envvar="SCHOLARLAKE_MODELS", help="The models file that binds roles to endpoints.")]
_FILE = Path("data/models.yaml")


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.add_typer(models, name="models")
    app.command()(costs)


@models.command()
def check(models_file: ModelsOption = _FILE, json: JsonOption = False) -> None:
    """Look whether every bound role's endpoint is up, has the model, and its key is there. Asks no model anything."""
    from scholarlake.models.check import check as look
    from scholarlake.models.config import ModelsFile

    found = list(look(ModelsFile.load(models_file)))
    if json:
        print_json([asdict(finding) for finding in found])
    else:
        table = Table("role", "endpoint", "model", box=None)
        for finding in found:
            state = Text("deterministic method", style="dim") if finding.endpoint is None else Text(finding.endpoint)
            table.add_row(finding.role, state, Text(finding.model or ""), style="red" if finding.fault else None)
        out.print(table)
    faults = list(dict.fromkeys(finding.fault for finding in found if finding.fault))
    for fault in faults[:-1]:
        err.print(Text(f"error: {fault}", style="red"), soft_wrap=True)
    if faults:
        raise ModelError(faults[-1])


@models.command()
def serve(
    endpoint: Annotated[str | None, typer.Argument(help="An endpoint of the models file, for vLLM's server or llama.cpp's.")] = None,
    gguf: Annotated[Path | None, typer.Option(help="A GGUF file instead, served by llama.cpp.")] = None,
    port: Annotated[int, typer.Option(help="Port for the GGUF file; 0 takes any that is free.")] = 8080,
    slots: Annotated[int, typer.Option(min=1, help="Requests that are computed at once.")] = 4,
    context: Annotated[int, typer.Option(min=64, help="Longest prompt and answer together, in tokens.")] = 4_096,
    models_file: ModelsOption = _FILE,
) -> None:
    """Serve a model on the loopback address until Ctrl-C: a configured endpoint, or any GGUF file."""
    from scholarlake.models.config import ModelsFile
    from scholarlake.models.serving import serve as serve_endpoint
    from scholarlake.models.serving import serve_gguf

    if (endpoint is None) == (gguf is None):
        raise ModelError("name an endpoint, or a file with --gguf")
    if gguf is not None:
        if not gguf.is_file():
            raise ModelError(f"there is no file {gguf}")
        code = serve_gguf(gguf, port, slots, context, _say)
    else:
        code = serve_endpoint(ModelsFile.load(models_file), str(endpoint), _say)
    sys.exit(code)


def costs(
    by: Annotated[list[str] | None, typer.Option("--by", help="asset, partition, run, role, model or day; several are combined.")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Of this build or run only.")] = None,
    lake: LakeOption = None,
    json: JsonOption = False,
) -> None:
    """What models cost: requests, cache hits, tokens and money, by asset and role or whatever --by says."""
    from scholarlake.lake.home import Lake
    from scholarlake.models.ledger import GROUPINGS, Ledger, as_dict

    wanted = by or ["asset", "role"]
    for name in wanted:
        if name not in GROUPINGS:
            raise ModelError(f"costs can't be grouped by {name!r}; choose from: {', '.join(GROUPINGS)}")
    chosen = [name for name in GROUPINGS if name in wanted]
    opened = Lake.open(lake_path(lake))
    found = [as_dict(line) for line in Ledger.of(opened).costs(chosen, run)] if Ledger.is_there(opened) else []
    if json:
        print_json(found)
        return
    if not found:
        out.print("no model has done anything for this lake", style="dim")
        return
    table = Table(*chosen, box=None)
    for name in ("requests", "cache hits", "failed", "tokens in", "tokens out", "model seconds", "cost"):
        table.add_column(name, justify="right")
    for line in found:
        table.add_row(*(Text(str(line[name])) for name in chosen), *_numbers(line))
    out.print(table)


def _numbers(line: Mapping[str, Any]) -> list[str]:
    counts = [f"{line[name]:,}" for name in ("requests", "hits", "failed", "tokens_in", "tokens_out")]
    cost = f"{line['cost']:.4f}" + (f" + {line['unpriced']:,} requests without a price" if line["unpriced"] else "")
    return [*counts, f"{line['seconds']:,.1f}", cost]


def _say(line: str) -> None:
    err.print(Text(line), soft_wrap=True)

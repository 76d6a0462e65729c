"""`scholarlake mcp`: the research tools for other people's agents."""

from __future__ import annotations

from typing import Annotated

import typer

from scholarlake.console import LakeOption, ReleaseOption, err, lake_path
from scholarlake.tool_commands import ModelsOption, bound_models


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command()(mcp)


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Streamable HTTP on the loopback address instead of standard input and output.")
    ] = False,
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="Port for --http; 0 takes any that is free.")] = 8765,
    models_file: ModelsOption = None,
    lake: LakeOption = None,
    release: ReleaseOption = "latest",
) -> None:
    """Serve the research tools and the papers of a release by the Model Context Protocol, read-only, until the client goes or Ctrl-C."""
    import scholarlake
    from scholarlake.agent.mcp_server import serve_http, serve_stdio

    with scholarlake.open(lake_path(lake), release=release) as reader, reader.toolbox(bound_models(models_file)) as toolbox:
        if http:
            serve_http(toolbox, port, lambda address: err.print(f"MCP at {address}", soft_wrap=True))
        else:
            serve_stdio(toolbox)

"""The research tools for other people's agents: a server of the Model Context Protocol over one release, read-only.

Tools are those of the toolbox, with its schemas; a tool's error is a result that is marked as one, in JSON, so that the model behind the
client can mend its call. Papers are resources: `scholarlake://paper/ID`; the release says of itself what it is at `scholarlake://release`.
What does not belong here: what a tool does (`toolbox`), how the server is started (`mcp_commands`).
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from importlib.metadata import version
from typing import Any
from urllib.parse import quote, unquote

import anyio
import mcp.types as types
import orjson
import uvicorn
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from scholarlake.errors import NotFound, ScholarLakeError
from scholarlake.toolbox import answers
from scholarlake.toolbox.dispatch import TOOLS, Tool, Toolbox

LOOPBACK = "127.0.0.1"
PATH = "/mcp"
RELEASE = "scholarlake://release"
PAPER = "scholarlake://paper/"
_JSON = "application/json"
_NOT_THERE = -32002  # the protocol's code for a resource that is not there
_GRACE_SECONDS = 2
_BACKLOG = 128
_ABOUT = (
    "Search, read and walk a corpus of scientific papers and their citations. Begin with EmbeddingSearch or KeywordSearch, follow "
    "citations with ReferenceSearch, GetInDegree, GetKhop and ShortestPath, and name papers by the ids that the tools give. An error says "
    "what to do about it."
)

_Context = ServerRequestContext[Any]


def server(toolbox: Toolbox) -> Server[Any]:
    """A server over a toolbox and the release that it reads."""
    reader = toolbox.reader

    async def list_tools(context: _Context, asked: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in TOOLS.values()])

    async def call_tool(context: _Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        if asked.name not in TOOLS:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {asked.name[:80]!r}; there are: {', '.join(TOOLS)}")
        payload = {"tool_name": asked.name, "tool_args": asked.arguments or {}}
        answer = await anyio.to_thread.run_sync(toolbox.call, payload)
        said = answer["result"] if answer["ok"] else {"error": answer["error"]}
        text = types.TextContent(type="text", text=_json(said))
        return types.CallToolResult(content=[text], structured_content=said, is_error=not answer["ok"])

    async def list_resources(context: _Context, asked: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        about = types.Resource(uri=RELEASE, name="release", description="What this release holds: tables and their rows.", mime_type=_JSON)
        return types.ListResourcesResult(resources=[about])

    async def list_templates(context: _Context, asked: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        paper = types.ResourceTemplate(
            uri_template=PAPER + "{id}",
            name="paper",
            description="All that is known of a paper, by its id or a merged id.",
            mime_type=_JSON,
        )
        return types.ListResourceTemplatesResult(resource_templates=[paper])

    async def read_resource(context: _Context, asked: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        value = await anyio.to_thread.run_sync(_resource, toolbox, str(asked.uri))
        contents = types.TextResourceContents(uri=asked.uri, mime_type=_JSON, text=_json(value))
        return types.ReadResourceResult(contents=[contents])

    return Server(
        "scholarlake",
        version=version("scholarlake"),
        title=f"ScholarLake, release {reader.release.name}",
        instructions=_ABOUT,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


def serve_stdio(toolbox: Toolbox) -> None:
    """Serve one client on standard input and output, until it goes."""

    async def run() -> None:
        made = server(toolbox)
        async with stdio_server() as (incoming, outgoing):
            await made.run(incoming, outgoing, made.create_initialization_options())

    anyio.run(run)


def serve_http(toolbox: Toolbox, port: int, say: Callable[[str], None]) -> None:
    """Serve any number of clients by streamable HTTP on the loopback address, until a signal ends it. Port 0 takes any that is free.

    Requests whose Host or Origin is not of this machine are refused. Raises ScholarLakeError where the port is taken.
    """
    app = server(toolbox).streamable_http_app(streamable_http_path=PATH, stateless_http=True, host=LOOPBACK)
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with listening:
        try:
            listening.bind((LOOPBACK, port))
        except OSError as fault:
            raise ScholarLakeError(f"port {port} can't be had ({fault.strerror}); name another with --port") from fault
        listening.listen(_BACKLOG)  # whoever hears the address may come at once
        say(f"http://{LOOPBACK}:{listening.getsockname()[1]}{PATH}")
        settings = uvicorn.Config(app, log_level="warning", lifespan="on", timeout_graceful_shutdown=_GRACE_SECONDS)
        uvicorn.Server(settings).run(sockets=[listening])


def paper_uri(paper_id: str) -> str:
    """The resource of a paper."""
    return PAPER + quote(paper_id, safe="")


def _resource(toolbox: Toolbox, uri: str) -> dict[str, Any]:
    """What a resource says. Raises MCPError for one that is not there."""
    reader = toolbox.reader
    if uri == RELEASE:
        tables = {name: table.rows for name, table in reader.release.tables.items()}
        return {"name": reader.release.name, "created_at": reader.release.created_at, "rows": tables}
    if not uri.startswith(PAPER):
        raise MCPError(_NOT_THERE, f"there is no resource {uri[:200]!r}; there are {RELEASE} and {PAPER}ID")
    try:
        return answers.page(reader.paper(unquote(uri.removeprefix(PAPER)), "id")).to_dict()
    except NotFound as fault:
        raise MCPError(_NOT_THERE, str(fault)) from fault
    except ScholarLakeError as fault:
        raise MCPError(types.INTERNAL_ERROR, str(fault)) from fault


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.about,
        input_schema=tool.parameters,
        output_schema=tool.results,
        annotations=types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
    )


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()

"""The research tools for other people's agents: a server of the Model Context Protocol over one release, read-only.

What there is to call and to read is told by an offer (`offer`). An error of what is called is a result that is marked as one, in JSON, so
that the model behind the client can mend its call. Whoever asks for it is told that a call that takes long is still at work. The release
says of itself what it is at `scholarlake://release`. What does not belong here: what is called (`toolbox`), and how the server is
started (`mcp_commands`).
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
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

from scholarlake.agent.offer import SCHEME, Offer, Operation, offer_of
from scholarlake.errors import NotFound, ScholarLakeError
from scholarlake.toolbox.dispatch import Toolbox

LOOPBACK = "127.0.0.1"
PATH = "/mcp"
RELEASE = f"{SCHEME}release"
HEARTBEAT_SECONDS = 1.0
"""How often who asks for it is told that a call is still at work."""
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


def server(toolbox: Toolbox, offer: Offer | None = None) -> Server[Any]:
    """A server over a toolbox and the release that it reads. offer: what is offered, where that is not all there is."""
    reader = toolbox.reader
    offered = offer or offer_of(toolbox)
    operations = {operation.name: operation for operation in offered.operations}

    async def list_tools(context: _Context, asked: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(operation) for operation in operations.values()])

    async def call_tool(context: _Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        operation = operations.get(asked.name)
        if operation is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {asked.name[:80]!r}; there are: {', '.join(operations)}")
        async with _heartbeat(context, operation.name):
            answer = await anyio.to_thread.run_sync(operation.call, asked.arguments or {})
        said = answer["result"] if answer["ok"] else {"error": answer["error"]}
        text = types.TextContent(type="text", text=_json(said))
        return types.CallToolResult(content=[text], structured_content=said, is_error=not answer["ok"])

    async def list_resources(context: _Context, asked: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        about = types.Resource(uri=RELEASE, name="release", description="What this release holds: tables and their rows.", mime_type=_JSON)
        return types.ListResourcesResult(resources=[about])

    async def list_templates(context: _Context, asked: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(uri_template=f"{kind.prefix}{{id}}", name=kind.name, description=kind.about, mime_type=_JSON)
            for kind in offered.resources
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(context: _Context, asked: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        value = await anyio.to_thread.run_sync(_resource, toolbox, offered, str(asked.uri))
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


def uri(name: str, one: str) -> str:
    """The address of a resource: of the kind `paper`, `facts` or `fact`, by its id."""
    return f"{SCHEME}{name}/{quote(one, safe='')}"


@asynccontextmanager
async def _heartbeat(context: _Context, name: str) -> AsyncIterator[None]:
    """Tell who asks for it that a call has begun, and every while that it is still at work. Progress is in seconds: nobody knows of how
    many."""
    began = anyio.current_time()
    await context.session.report_progress(0.0, message=f"{name} has begun")

    async def tell() -> None:
        while True:
            await anyio.sleep(HEARTBEAT_SECONDS)
            seconds = anyio.current_time() - began
            await context.session.report_progress(round(seconds, 3), message=f"{name} is at work for {seconds:.0f} s")

    async with anyio.create_task_group() as group:
        group.start_soon(tell)
        try:
            yield
        finally:
            group.cancel_scope.cancel()


def _resource(toolbox: Toolbox, offered: Offer, address: str) -> Mapping[str, Any]:
    """What a resource says. Raises MCPError for one that is not there."""
    reader = toolbox.reader
    if address == RELEASE:
        tables = {name: table.rows for name, table in reader.release.tables.items()}
        return {"name": reader.release.name, "created_at": reader.release.created_at, "rows": tables}
    kind = next((kind for kind in offered.resources if address.startswith(kind.prefix)), None)
    if kind is None:
        known = ", ".join(f"{kind.prefix}ID" for kind in offered.resources)
        raise MCPError(_NOT_THERE, f"there is no resource {address[:200]!r}; there are {RELEASE}, {known}")
    try:
        return kind.read(unquote(address.removeprefix(kind.prefix)))
    except NotFound as fault:
        raise MCPError(_NOT_THERE, str(fault)) from fault
    except ScholarLakeError as fault:
        raise MCPError(types.INTERNAL_ERROR, str(fault)) from fault


def _described(operation: Operation) -> types.Tool:
    return types.Tool(
        name=operation.name,
        description=operation.about,
        input_schema=dict(operation.parameters),
        output_schema=dict(operation.results),
        annotations=types.ToolAnnotations(
            title=operation.name, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()

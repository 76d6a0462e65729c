"""The MCP server with a real client, over standard input and output and over HTTP, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from typer.testing import CliRunner

import scholarlake
from scholarlake.agent.mcp_server import paper_uri, server
from scholarlake.cli import app
from scholarlake.errors import ScholarLakeError
from scholarlake.toolbox.dispatch import TOOLS
from tests.unit.toolbox.lakes import SMALL, small

ROOT = Path(scholarlake.__file__).parents[1]
COMMAND = ["-m", "scholarlake.cli", "mcp"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small(tmp_path_factory.mktemp("small") / "lake").root


@contextmanager
def serving_http(lake: Path) -> Iterator[str]:
    """A server by HTTP on a free port, ended as a person ends it; its address."""
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "--port", "0", "--lake", str(lake)],
        env=ENVIRONMENT,
        cwd=lake,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        assert said.startswith("MCP at "), said + process.stderr.read()
        yield said.removeprefix("MCP at ").strip()
    finally:
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=90)[1]
        assert "Traceback" not in rest, rest


@asynccontextmanager
async def connected(lake: Path, transport: str) -> AsyncIterator[Client]:
    if transport == "stdio":
        parameters = StdioServerParameters(command=sys.executable, args=[*COMMAND, "--lake", str(lake)], env=ENVIRONMENT, cwd=lake)
        async with Client(parameters) as client:
            yield client
    elif transport == "http":
        with serving_http(lake) as address:
            async with Client(address) as client:
                yield client
    else:
        with scholarlake.open(lake) as reader, reader.toolbox() as toolbox:
            async with Client(server(toolbox)) as client:
                yield client


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_client_finds_calls_and_reads_everything(lake: Path, transport: str) -> None:
    async def talk() -> None:
        async with connected(lake, transport) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == list(TOOLS)
            for tool in listed:
                assert tool.input_schema == TOOLS[tool.name].parameters
                assert tool.output_schema == TOOLS[tool.name].results
                assert tool.annotations is not None
                assert tool.annotations.read_only_hint

            found = await client.call_tool("PaperInfo", {"id": "p1"})
            assert found.structured_content["id"] == "p3"
            assert json.loads(found.content[0].text) == found.structured_content  # type: ignore[union-attr]
            near = await client.call_tool("EmbeddingSearch", {"query": "深度学习综述"})
            assert near.structured_content["papers"][0]["id"] == "s"
            path = await client.call_tool("ShortestPath", {"start_id": "t", "end_title": "Deep Learning"})
            assert [one["id"] for one in path.structured_content["papers"]] == ["t", "s", "r", "p3"]
            chart = await client.call_tool("PieChart", {"title": "t", "data": {"labels": ["a"], "values": [1]}})
            assert chart.structured_content["placeholder"].startswith("<chart ")

            resources = (await client.list_resources()).resources
            about = json.loads((await client.read_resource(resources[0].uri)).contents[0].text)  # type: ignore[union-attr]
            assert (about["name"], about["rows"]["papers"]) == ("r0001", len(SMALL))
            assert [one.uri_template for one in (await client.list_resource_templates()).resource_templates] == ["scholarlake://paper/{id}"]
            page = await client.read_resource(paper_uri("p1"))
            assert json.loads(page.contents[0].text) == found.structured_content  # type: ignore[union-attr]

    asyncio.run(talk())


def test_a_tools_error_is_a_result_that_says_what_to_do(lake: Path) -> None:
    async def talk() -> None:
        async with connected(lake, "here") as client:
            for name, given, code in (
                ("GetKhop", {"id": "t", "k": "2"}, "invalid_arguments"),
                ("GetKhop", {"id": "t", "k": 0}, "invalid_arguments"),
                ("PaperInfo", {}, "invalid_arguments"),
                ("PaperInfo", {"id": "nobody"}, "not_found"),
                ("KeywordSearch", {"keywords": ["zebra"]}, "nothing_found"),
            ):
                answer = await client.call_tool(name, given)
                assert answer.is_error
                error = json.loads(answer.content[0].text)["error"]  # type: ignore[union-attr]
                assert (error["code"], bool(error["advice"])) == (code, True)

    asyncio.run(talk())


def test_what_is_not_there_is_an_error_of_the_protocol(lake: Path) -> None:
    async def talk() -> None:
        async with connected(lake, "here") as client:
            with pytest.raises(MCPError, match="PaperInfo"):
                await client.call_tool("WebSearch", {"query": "x"})
            for uri in (paper_uri("nobody"), "scholarlake://paper/", "scholarlake://elsewhere", "file:///etc/passwd"):
                with pytest.raises(MCPError):
                    await client.read_resource(uri)

    asyncio.run(talk())


@pytest.mark.parametrize("paper_id", ["a/b c?d#e", "é%20", "深度"])
def test_any_id_makes_an_address(paper_id: str) -> None:
    assert paper_uri(paper_id).removeprefix("scholarlake://paper/").isascii()
    assert not set(paper_uri(paper_id).removeprefix("scholarlake://paper/")) & set("/?# ")


def test_many_clients_are_served_at_once_and_other_machines_pages_are_not(lake: Path) -> None:
    async def one(address: str, number: int) -> Any:
        async with Client(address) as client:
            answers = [await client.call_tool("KeywordSearch", {"keywords": ["learning"]}) for _ in range(5)]
            return [paper["id"] for paper in answers[number % 5].structured_content["papers"]]

    async def all_of_them(address: str) -> list[Any]:
        return await asyncio.gather(*(one(address, number) for number in range(16)))

    with serving_http(lake) as address:
        assert asyncio.run(all_of_them(address)) == [["p3", "q", "r"]] * 16
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        headers = {"Accept": "application/json, text/event-stream"}
        for strange in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            assert httpx2.post(address, json=asked, headers={**headers, **strange}).status_code in (403, 421)


def test_a_port_that_is_taken_is_one_line(lake: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(app, ["mcp", "--http", "--port", port, "--lake", str(lake)])
    assert isinstance(done.exception, ScholarLakeError)
    assert "name another with --port" in str(done.exception)


def test_where_there_is_no_lake_the_server_does_not_start(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, *COMMAND, "--lake", str(tmp_path / "none")],
        env=ENVIRONMENT,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "no lake at" in done.stderr

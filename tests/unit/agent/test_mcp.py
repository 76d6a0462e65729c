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
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from typer.testing import CliRunner

import scholarlake
from scholarlake.agent.mcp_server import server, uri
from scholarlake.agent.offer import Offer, Operation, offer_of
from scholarlake.cli import app
from scholarlake.errors import ScholarLakeError
from scholarlake.lake import delta
from scholarlake.lake.files import write_json
from scholarlake.lake.releases import PinnedTable
from scholarlake.toolbox.dispatch import TOOLS
from tests.misbehaving import serving
from tests.unit.small_lake import COMMIT, frame
from tests.unit.toolbox.lakes import SMALL, small

ROOT = Path(scholarlake.__file__).parents[1]
COMMAND = ["-m", "scholarlake.cli", "mcp"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small lake, with one fact of p3."""
    made = small(tmp_path_factory.mktemp("small") / "lake")
    shard = made.shard_of("p3")
    sentence = {"sentence_id": "p3:0", "text": "Depth helps.", "end": 12, "kind": "text"}
    fact = {"fact_id": "fact-" + "0" * 32, "type": "finding", "study_type": "quantitative", "subject": "depth", "statement": "helps"}
    fact |= {"evidence": ["p3:0"], "evidence_hash": "0" * 32, "verification": "unchecked"}
    for table, row in (("sentences", sentence), ("facts", fact)):
        delta.write_partition(made, table, shard, frame(table, [{**row, "paper_id": "p3", "shard": shard}]), COMMIT)
    first = scholarlake.open(made.root).release
    pins = {
        table: PinnedTable(made.table_path(table).relative_to(made.root).as_posix(), delta.version(made, table) or 0, 1)
        for table in ("sentences", "facts")
    }
    write_json(made.releases / f"{first.name}.json", asdict(replace(first, tables={**first.tables, **pins})))
    return made.root


async def read(client: Client, kind: str, one: str) -> Any:
    """What a resource says; of `facts` the list."""
    said = json.loads((await client.read_resource(uri(kind, one))).contents[0].text)  # type: ignore[union-attr]
    return said["facts"] if kind == "facts" else said


@contextmanager
def serving_http(lake: Path, *more: str) -> Iterator[str]:
    """A server by HTTP on a free port, ended as a person ends it; its address."""
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "--port", "0", "--lake", str(lake), *more],
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
async def connected(lake: Path, transport: str, *more: str) -> AsyncIterator[Client]:
    if transport == "stdio":
        parameters = StdioServerParameters(command=sys.executable, args=[*COMMAND, "--lake", str(lake), *more], env=ENVIRONMENT, cwd=lake)
        async with Client(parameters) as client:
            yield client
    elif transport == "http":
        with serving_http(lake, *more) as address:
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
                hints = tool.annotations
                assert (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint) == (
                    True,
                    False,
                    True,
                    False,
                )

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
            templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
            assert templates == [f"scholarlake://{kind}/{{id}}" for kind in ("paper", "facts", "fact")]
            page = await client.read_resource(uri("paper", "p1"))
            assert json.loads(page.contents[0].text) == found.structured_content  # type: ignore[union-attr]
            (stated,) = await read(client, "facts", "p1")
            assert stated["evidence"] == [{"id": "p3:0", "text": "Depth helps."}]
            assert (stated["statement"], stated["verification"], stated["method"]) == ("helps", "unchecked", "test")
            assert await read(client, "fact", stated["fact_id"]) == stated

    asyncio.run(talk())


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_who_asks_for_it_is_told_that_a_long_call_is_at_work(lake: Path, tmp_path: Path, transport: str) -> None:
    told: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    async def talk(models: Path) -> None:
        async with connected(lake, transport, "--models", str(models)) as client:
            long = await client.call_tool("Summarize", {"content": f"One by {transport}. [[slow=2.5]] Two."}, progress_callback=hear)
            assert (long.is_error, long.structured_content["method"]) == (False, "model m")
            unheard = await client.call_tool("PaperInfo", {"id": "p1"})
            assert not unheard.is_error

    with serving() as model:
        models = tmp_path / "models.yaml"
        endpoint = {"backend": "openai", "model": "m", "base_url": model.url}
        models.write_text(json.dumps({"roles": {"summarizer": "here"}, "endpoints": {"here": endpoint}}))
        asyncio.run(talk(models))
    assert told[0] == (0.0, "Summarize has begun")
    assert len(told) >= 3
    assert [seconds for seconds, _ in told] == sorted(seconds for seconds, _ in told)
    assert all("is at work for" in str(message) for _, message in told[1:])


def test_more_can_be_offered_than_the_tools(lake: Path) -> None:
    """The seam for what else a release can do."""

    def count(given: Any) -> dict[str, Any]:
        return {"ok": True, "result": {"letters": len(given["word"])}} if "word" in given else {"ok": False, "error": {"code": "invalid"}}

    more = Operation("Count", "Counts letters.", {"type": "object"}, {"type": "object"}, count)

    async def talk() -> None:
        with scholarlake.open(lake) as reader, reader.toolbox() as toolbox:
            offered = offer_of(toolbox)
            async with Client(server(toolbox, Offer((*offered.operations, more), offered.resources))) as client:
                assert [tool.name for tool in (await client.list_tools()).tools] == [*TOOLS, "Count"]
                assert (await client.call_tool("Count", {"word": "deep"})).structured_content == {"letters": 4}
                assert (await client.call_tool("Count", {})).is_error

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
            strange = ("scholarlake://paper/", "scholarlake://facts/", "scholarlake://elsewhere", "file:///etc/passwd")
            for address in (uri("paper", "nobody"), uri("facts", "nobody"), uri("facts", "u"), uri("fact", "' OR 1=1"), *strange):
                with pytest.raises(MCPError):
                    await client.read_resource(address)

    asyncio.run(talk())


@pytest.mark.parametrize("paper_id", ["a/b c?d#e", "é%20", "深度"])
def test_any_id_makes_an_address(paper_id: str) -> None:
    assert uri("paper", paper_id).removeprefix("scholarlake://paper/").isascii()
    assert not set(uri("paper", paper_id).removeprefix("scholarlake://paper/")) & set("/?# ")


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

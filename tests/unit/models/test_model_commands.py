"""`scholarlake models check` and `scholarlake costs`: one clear line for everything that is not there."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from scholarlake.cli import app
from scholarlake.errors import ModelError
from scholarlake.lake.home import Lake
from scholarlake.models.chat import Tags
from scholarlake.models.config import ModelsFile
from scholarlake.models.crew import Crew
from scholarlake.models.serving import vllm_command
from tests.misbehaving import MODEL, error, serving
from tests.unit.models.asking import request, results

CHAT = {"backend": "openai", "model": MODEL, "base_url": "http://127.0.0.1:1/v1"}


def write(folder: Path, endpoint: dict[str, Any], role: Any = "here") -> Path:
    path = folder / "models.yaml"
    roles = {"embedder": "hashing", "extractor": role}
    hashing = {"backend": "hashing", "model": "w", "dimension": 8}
    path.write_text(json.dumps({"roles": roles, "endpoints": {"here": endpoint, "hashing": hashing}}))
    return path


def check(path: Path) -> str:
    """What is wrong, as `models check` says it; empty where nothing is."""
    done = CliRunner().invoke(app, ["models", "check", "--models", str(path)])
    return "" if done.exit_code == 0 else str(done.exception)


def test_what_is_there_passes_and_the_others_are_played_by_their_method(tmp_path: Path) -> None:
    with serving() as server:
        path = write(tmp_path, {**CHAT, "base_url": server.url})
        done = CliRunner().invoke(app, ["models", "check", "--models", str(path), "--json"])
        assert server.number == 0  # nothing was asked of a model
    found = {one["role"]: one for one in json.loads(done.stdout)}
    assert found["extractor"] == {"role": "extractor", "endpoint": "here", "model": MODEL, "fault": None}
    assert found["verifier"]["endpoint"] is None
    assert done.exit_code == 0


def test_an_endpoint_that_is_down_a_model_that_it_lacks_and_a_key_that_is_missing_are_a_line_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    assert "endpoint here: http://127.0.0.1:1/v1 can't be reached" in check(write(tmp_path, CHAT))
    assert "set NO_SUCH_KEY" in check(write(tmp_path, {**CHAT, "api_key_env": "NO_SUCH_KEY"}))
    with serving() as server:
        said = check(write(tmp_path, {**CHAT, "base_url": server.url, "model": "gpt-9"}))
        assert said == f"endpoint here: the server at {server.url} does not have gpt-9; it has: {MODEL}"
        there = {**CHAT, "base_url": server.url}
        assert "no prices" in check(write(tmp_path, there, {"endpoint": "here", "budget": 1}))
        long = {"endpoint": "here", "sampling": {"max_tokens": 4_096}}
        assert "takes 4096 for prompt and answer together" in check(write(tmp_path, {**there, "vllm": {"max_model_len": 4_096}}, long))
        assert "gives an answer 4000 (max_output_tokens)" in check(write(tmp_path, {**there, "max_output_tokens": 4_000}, long))
        assert check(write(tmp_path, {**there, "max_output_tokens": 4_096}, long)) == ""
    assert "no role 'reader'" in _bad_role(tmp_path)
    assert "vllm is not installed" in check(write(tmp_path, {"backend": "vllm", "model": "m"}))
    assert "can't be run" in check(write(tmp_path, {"backend": "vllm", "model": "m", "vllm": {"python": "nowhere/python"}}))
    assert "no GGUF file" in check(write(tmp_path, {"backend": "llama", "model": "m", "llama": {"gguf": "m.gguf"}}))


def _bad_role(folder: Path) -> str:
    path = folder / "other.yaml"
    path.write_text(json.dumps({"roles": {"reader": "here"}, "endpoints": {"here": CHAT}}))
    return check(path)


def test_a_wrong_key_is_said_and_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-very-secret")
    path = write(tmp_path, {**CHAT, "api_key_env": "SOME_KEY"})
    with serving() as server:
        server.models = error(401, "no such key: sk-very-secret")
        path.write_text(path.read_text().replace("http://127.0.0.1:1/v1", server.url))
        said = check(path)
    assert "no such key: ***" in said


def test_costs_are_shown_by_what_is_asked_for(tmp_path: Path) -> None:
    lake = Lake.create(tmp_path, 1)
    endpoint = {**CHAT, "prices": {"input": 1, "output": 2}}
    run = ["costs", "--lake", str(tmp_path)]
    assert "no model" in CliRunner().invoke(app, run).stdout
    with serving() as server:
        models = ModelsFile.model_validate({"roles": {"extractor": "here"}, "endpoints": {"here": {**endpoint, "base_url": server.url}}})
        with Crew(models, lake, Tags("facts", "00", "r1")) as crew:
            model = crew.chat("extractor")
            assert model is not None
            results(model, [request("a"), request("b [[400]]")])
    (line,) = json.loads(CliRunner().invoke(app, [*run, "--json"]).stdout)
    assert (line["asset"], line["role"], line["requests"], line["failed"], line["unpriced"]) == ("facts", "extractor", 2, 1, 0)
    assert line["cost"] == pytest.approx((line["tokens_in"] + 2 * line["tokens_out"]) / 1e6)
    by_run = json.loads(CliRunner().invoke(app, [*run, "--json", "--by", "run", "--by", "day", "--run", "r1"]).stdout)
    assert [list(one)[:2] for one in by_run] == [["run", "day"]]
    assert "facts" in CliRunner().invoke(app, run).stdout
    assert "grouped by 'colour'" in str(CliRunner().invoke(app, [*run, "--by", "colour"]).exception)


def test_vllms_server_is_started_on_the_loopback_address_with_its_key_out_of_sight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-very-secret")
    vllm = {"python": "env/bin/python", "tensor_parallel_size": 2, "arguments": {"structured_outputs_config": {"backend": "guidance"}}}
    endpoint = {**CHAT, "base_url": "http://127.0.0.1:8123/v1", "api_key_env": "SOME_KEY", "vllm": vllm}
    models = ModelsFile.load(write(tmp_path, endpoint))
    command, environment = vllm_command(models, models.endpoints["here"], "here")
    assert command[0] == str(tmp_path / "env/bin/python")
    options = dict(zip(command[3::2], command[4::2], strict=True))
    assert (options["--host"], options["--port"], options["--tensor-parallel-size"]) == ("127.0.0.1", "8123", "2")
    assert json.loads(options["--structured-outputs-config"]) == {"backend": "guidance"}
    assert "sk-very-secret" not in " ".join(command)
    assert environment["VLLM_API_KEY"] == "sk-very-secret"
    elsewhere = ModelsFile.load(write(tmp_path, {**endpoint, "base_url": "http://models.example.org/v1"}))
    with pytest.raises(ModelError, match=r"127\.0\.0\.1 only"):
        vllm_command(elsewhere, elsewhere.endpoints["here"], "here")


@pytest.fixture
def heard() -> Iterator[None]:
    """What is started hears signals, too, where these tests run under something that does not (nohup)."""
    before = {one: signal.signal(one, signal.SIG_DFL) for one in (signal.SIGINT, signal.SIGTERM)}
    yield
    for one, handler in before.items():
        signal.signal(one, handler)


@pytest.mark.usefixtures("heard")
def test_what_ends_the_command_ends_vllms_server(tmp_path: Path) -> None:
    """And no server without a command goes on, with a GPU's memory in its hands."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = write(tmp_path, {**CHAT, "base_url": f"http://127.0.0.1:{port}/v1"})
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "tests" / "stand_ins"), str(root)])}
    command = [sys.executable, "-m", "scholarlake.cli", "models", "serve", "here", "--models", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, cwd=root)
    assert process.stderr is not None
    assert f"vLLM serves {MODEL} at http://127.0.0.1:{port}/v1" in process.stderr.readline()
    assert process.stderr.readline().split()[-1] == str(process.pid)
    assert check(path) == ""
    process.terminate()
    assert process.wait(60) == -signal.SIGTERM
    assert "can't be reached" in check(path)
    process.stderr.close()


@pytest.mark.usefixtures("heard")
def test_a_gguf_file_is_served_until_it_is_interrupted(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    (tmp_path / "small.gguf").write_bytes(b"GGUF")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "tests" / "stand_ins"), str(root)])}
    command = [sys.executable, "-m", "scholarlake.cli", "models", "serve", "--gguf", str(tmp_path / "small.gguf"), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, cwd=root)
    assert process.stderr is not None
    line = process.stderr.readline()
    address = next(word for word in line.split() if word.startswith("http")).rstrip(";")
    assert address.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(f"{address}/models") as reply:
        assert json.loads(reply.read())["data"]
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    process.stderr.close()

"""The contract of back ends with the misbehaving server, and with stand-ins for vLLM and llama.cpp in child processes of their own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scholarlake.errors import ModelError
from scholarlake.lake.home import Lake
from tests.engines.contract import *  # noqa: F403
from tests.engines.contract import BackEnd, all_of, ask, short
from tests.misbehaving import MODEL, MOST_WORDS, Asked, Reply, error, obey, serving

ROOT = Path(__file__).parents[3]


def vllm(folder: Path) -> BackEnd:
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "config.json").write_text("{}")
    return BackEnd({"backend": "vllm", "model": "model", "vllm": {"python": sys.executable}}, folder, MOST_WORDS + 1)


def llama(folder: Path) -> BackEnd:
    (folder / "model.gguf").write_bytes(b"GGUF")
    return BackEnd({"backend": "llama", "model": MODEL, "llama": {"gguf": "model.gguf"}}, folder, MOST_WORDS + 1)


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "tests" / "stand_ins"), str(ROOT)]))


def chats_only(asked: Asked) -> Reply:
    return error(404, "this server does not embed") if asked.path.endswith("/embeddings") else obey(asked)


@pytest.fixture(params=["openai", "vllm", "llama"])
def back_end(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, stand_ins: None) -> Iterator[BackEnd]:
    folder = tmp_path_factory.mktemp("models")
    if request.param == "openai":
        with serving(chats_only) as server:
            yield BackEnd({"backend": "openai", "model": MODEL, "base_url": server.url}, folder, MOST_WORDS + 1)
    else:
        yield vllm(folder) if request.param == "vllm" else llama(folder)


@pytest.mark.usefixtures("stand_ins")
def test_an_engine_that_ends_in_the_middle_is_started_again(tmp_path: Path) -> None:
    lake = Lake.create(tmp_path / "lake", 1)
    with vllm(tmp_path).model(lake, patience_seconds=0.2) as asked:
        assert all_of(asked, [ask("before")])[0].text == "re: before"
        with pytest.raises(ModelError, match="has ended"):
            all_of(asked, [ask("DIE")])
        assert [(one.text, one.cached) for one in all_of(asked, [ask("before"), ask("after")])] == [
            ("re: before", True),
            ("re: after", False),
        ]


@pytest.mark.usefixtures("stand_ins")
def test_an_engine_that_ends_before_it_has_answered_anything_is_given_up(tmp_path: Path) -> None:
    lake = Lake.create(tmp_path / "lake", 1)
    with vllm(tmp_path).model(lake) as asked, pytest.raises(ModelError, match="whenever it is asked"):
        all_of(asked, [ask("DIE")])


@pytest.mark.usefixtures("stand_ins")
def test_a_request_that_the_engine_loses_is_not_waited_for(tmp_path: Path) -> None:
    lake = Lake.create(tmp_path / "lake", 1)
    with vllm(tmp_path).model(lake, patience_seconds=0.2) as asked, pytest.raises(ModelError, match="gave no answer to"):
        all_of(asked, [ask("LOSE this")])


@pytest.mark.usefixtures("stand_ins")
def test_a_request_that_hangs_in_the_engine_is_given_up_alone(tmp_path: Path) -> None:
    lake = Lake.create(tmp_path / "lake", 1)
    with vllm(tmp_path).model(lake, timeout_seconds=0.3, attempts=1) as asked:
        hanging, good = all_of(asked, [ask("HANG"), ask("good", sampling=short())])
    assert hanging.failure is not None
    assert (hanging.failure.kind, good.text) == ("exhausted", "re: good")


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize(
    ("make", "change", "said"),
    [
        (vllm, {"model": "no-such-model"}, "no-such-model is no folder"),
        (vllm, {"vllm": {"python": "no-such-python"}}, "can't be run"),
        (vllm, {"vllm": {"python": "/bin/true"}}, "did not start"),
        (llama, {"llama": {"gguf": "other.gguf"}}, "no GGUF file"),
        (llama, {"llama": {"package": "no_such_package"}}, "not installed"),
    ],
)
def test_an_engine_that_can_not_start_says_why_in_one_line(tmp_path: Path, make: object, change: dict[str, object], said: str) -> None:
    lake = Lake.create(tmp_path / "lake", 1)
    assert callable(make)
    with make(tmp_path).model(lake, **change) as asked, pytest.raises(ModelError, match=said) as raised:
        all_of(asked, [ask("anything")])
    assert "\n" not in str(raised.value)


def test_a_file_that_is_no_model_says_so(tmp_path: Path, stand_ins: None) -> None:
    lake = Lake.create(tmp_path / "lake", 1)
    back_end = llama(tmp_path)
    (tmp_path / "model.gguf").write_bytes(b"something else")
    with back_end.model(lake) as asked, pytest.raises(ModelError, match="can't serve"):
        all_of(asked, [ask("anything")])

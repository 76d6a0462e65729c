"""Roles ready to be asked: bound or not, with one ledger and one budget for chat and embeddings alike."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scholarlake.errors import ModelError
from scholarlake.lake.home import Lake
from scholarlake.models.budget import BudgetSpent
from scholarlake.models.chat import Tags
from scholarlake.models.config import ROLES, ModelsFile
from scholarlake.models.crew import Crew
from scholarlake.models.ledger import Ledger
from tests.misbehaving import DIMENSION, MODEL, serving
from tests.unit.models.asking import request, results

DATA = Path(__file__).parents[3] / "data"
TAGS = Tags("facts", "00", "build-1")


def models(url: str, roles: dict[str, Any], **settings: Any) -> ModelsFile:
    endpoints = {
        "chat": {"backend": "openai", "model": MODEL, "base_url": url, "prices": {"input": 10, "output": 100}, **settings},
        "other": {"backend": "openai", "model": "other", "base_url": url},
        "vectors": {"backend": "openai", "model": MODEL, "base_url": url, "dimension": DIMENSION, "price": 1_000.0, "batch_size": 4},
        "hashing": {"backend": "hashing", "model": "w", "dimension": 64},
    }
    return ModelsFile.model_validate({"roles": roles, "endpoints": endpoints})


def test_the_models_file_binds_every_role_and_by_default_none_to_a_language_model(tmp_path: Path) -> None:
    default = ModelsFile.load(DATA / "models.yaml")
    assert tuple(default.roles) == ROLES
    with Crew(default, Lake.create(tmp_path, 1)) as crew:
        assert [crew.chat(role) for role in ROLES if role not in ("embedder", "consensus_pool")] == [None] * 13
        assert crew.pool() == []
        assert crew.facts() == {}
    assert default.fingerprints() == {}
    assert not Ledger.is_there(Lake.open(tmp_path))


def test_a_role_takes_its_sampling_over_the_endpoints(tmp_path: Path) -> None:
    roles = {"teacher": {"endpoint": "chat", "sampling": {"temperature": 0.7}}, "verifier": "chat"}
    with serving() as server:
        bound = models(server.url, roles, sampling={"max_tokens": 77})
        with Crew(bound, Lake.create(tmp_path, 1), TAGS) as crew:
            for role in roles:
                model = crew.chat(role)
                assert model is not None
                assert model is crew.chat(role)
                results(model, [request("paper")])
    assert [(asked.body["temperature"], asked.body["max_tokens"]) for asked in server.seen] == [(0.7, 77), (0.0, 77)]
    assert bound.fingerprints()["teacher"] != bound.fingerprints()["verifier"]


def test_the_pool_has_several_models_and_no_other_role_has(tmp_path: Path) -> None:
    with Crew(models("http://127.0.0.1:1/v1", {"consensus_pool": ["chat", "other"]}), Lake.create(tmp_path, 1)) as crew:
        assert [model.endpoint.model for model in crew.pool()] == [MODEL, "other"]
        with pytest.raises(ModelError, match="not one model"):
            crew.chat("consensus_pool")
        with pytest.raises(ModelError, match="no role 'extracter'"):
            crew.chat("extracter")


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        ({"extracter": "chat"}, "no role 'extracter'"),
        ({"extractor": "nobody"}, "no endpoint"),
        ({"extractor": "vectors"}, "only embeds"),
        ({"embedder": "chat"}, "chats"),
        ({"agent": ["chat", "chat"]}, "several endpoints"),
        ({"extractor": {"endpoint": "chat", "sampling": {"temprature": 1}}}, r"roles\.extractor\.sampling\.temprature"),
    ],
)
def test_a_role_that_is_bound_wrongly_is_found_when_the_file_is_read(tmp_path: Path, roles: dict[str, Any], said: str) -> None:
    path = tmp_path / "models.yaml"
    chat = {"backend": "openai", "model": "m", "base_url": "http://127.0.0.1:1/v1"}
    path.write_text(json.dumps({"roles": roles, "endpoints": {"chat": chat, "vectors": {**chat, "dimension": 3}}}))
    with pytest.raises(ModelError, match=said) as raised:
        ModelsFile.load(path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("address", ["http://me:key@127.0.0.1/v1", "http://key@127.0.0.1/v1"])
def test_a_key_in_an_address_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(ValueError, match="api_key_env") as raised:
        models(address, {})
    assert "name an environment variable" in str(raised.value)


def test_chat_and_embeddings_are_in_one_ledger(tmp_path: Path) -> None:
    lake = Lake.create(tmp_path, 1)
    with serving() as server, Crew(models(server.url, {"embedder": "vectors", "extractor": "chat"}), lake, TAGS) as crew:
        model = crew.chat("extractor")
        assert model is not None
        results(model, [request("one"), request("two")])
        answers = list(crew.embedder().embed([f"text {i}" for i in range(10)]))
        facts = crew.facts()
    assert sorted(np.concatenate([answer.positions for answer in answers]).tolist()) == list(range(10))
    ledger = Ledger.of(lake)
    lines = {line.group["role"]: line for line in ledger.costs(["asset", "role"])}
    assert (lines["embedder"].requests, lines["embedder"].tokens_in, lines["embedder"].cost) == (3, 10, pytest.approx(0.01))
    assert lines["extractor"].requests == 2
    assert facts["models"]["embedder"]["requests"] == 3
    assert facts["model_cost"] == pytest.approx(ledger.costs([], run="build-1")[0].cost)
    ledger.close()


def test_an_embedded_model_costs_nothing(tmp_path: Path) -> None:
    lake = Lake.create(tmp_path, 1)
    with Crew(models("http://127.0.0.1:1/v1", {"embedder": "hashing"}), lake, TAGS, per_run=0.0) as crew:
        list(crew.embedder().embed(["a", "b"]))
        assert crew.facts()["model_cost"] == 0.0


def test_a_run_may_not_spend_more_in_all_its_roles_and_processes_together(tmp_path: Path) -> None:
    lake = Lake.create(tmp_path, 1)
    with serving() as server:
        bound = models(server.url, {"embedder": "vectors", "extractor": "chat"}, sampling={"max_tokens": 10})
        with Crew(bound, lake, TAGS, per_run=0.01) as crew:
            model = crew.chat("extractor")
            assert model is not None
            with pytest.raises(BudgetSpent, match="this run"):
                results(model, (request(f"paper {i}") for i in range(1_000)))
        asked = server.number
        with Crew(bound, lake, TAGS, per_run=0.01) as crew, pytest.raises(BudgetSpent):
            list(crew.embedder().embed(["text " * 10]))
        assert 0 < asked == server.number
        with Crew(bound, lake, Tags("facts", "00", "build-2"), per_run=0.01) as crew:
            model = crew.chat("extractor")
            assert model is not None
            assert results(model, [request("another paper")])[0].failure is None


def test_embeddings_stop_before_they_could_cost_more_than_is_left(tmp_path: Path) -> None:
    lake = Lake.create(tmp_path, 1)
    done = 0
    with serving() as server, Crew(models(server.url, {"embedder": "vectors"}), lake, TAGS, per_run=0.06) as crew:
        answers = crew.embedder().embed([f"text {i:04d}" for i in range(1_000)])
        with contextlib.suppress(BudgetSpent):
            while True:
                done += len(next(answers).positions)
        assert 0 < done < 1_000
        crew.ledger.flush()
        assert 0 < crew.ledger.costs([], run="build-1")[0].cost <= 0.06


def test_a_role_has_a_budget_of_its_own(tmp_path: Path) -> None:
    roles = {"teacher": {"endpoint": "chat", "budget": 0.0}, "verifier": "chat"}
    with serving() as server, Crew(models(server.url, roles), Lake.create(tmp_path, 1), TAGS) as crew:
        teacher, verifier = crew.chat("teacher"), crew.chat("verifier")
        assert teacher is not None
        assert verifier is not None
        with pytest.raises(BudgetSpent, match="role teacher"):
            results(teacher, [request("paper")])
        assert results(verifier, [request("paper")])[0].text == "re: paper"

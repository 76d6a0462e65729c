"""The operations on views as tools: typed, with schemas that hold, and an answer to whatever is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

import scholarlake
from scholarlake.agent.knowledge_tools import MAX_OBJECTS, knowledge_tools
from scholarlake.agent.offer import Operation
from scholarlake.knowledge.layer import accesses
from tests.unit.knowledge.layer.battery import COLLECTION, IMMERSION, SYNTHESIS, all_tables, fact_id, made, released
from tests.unit.toolbox.lakes import small

Tools = dict[str, Operation]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    with all_tables():
        lake = released(made(tmp_path_factory.mktemp("tools") / "lake"))
        with scholarlake.open(lake.root) as reader:
            yield {one.name: one for one in knowledge_tools(reader)}


def result(tools: Tools, name: str, **arguments: Any) -> Any:
    """A result, once it is what the schema says."""
    tool = tools[name]
    jsonschema.validate(arguments, dict(tool.parameters))
    answer = tool.call(arguments)
    assert answer["ok"], answer
    jsonschema.validate(json.loads(json.dumps(answer["result"])), dict(tool.results))
    return answer["result"]


def ids(viewed: Any) -> list[str]:
    return [one["id"] for one in viewed["objects"]]


def test_a_session_goes_from_call_to_call_by_ids(tools: Tools) -> None:
    (known,) = result(tools, "KnowledgeCollections")["collections"]
    assert (known["name"], known["papers"], known["objects"]["fact"]) == (COLLECTION, 5, 11)
    assert "latent heat" in known["categories"]
    found = result(tools, "KnowledgeRetrieve", collection=COLLECTION, query="peak temperature", k=8, kinds=["fact"])
    assert len(ids(found)) == 8
    constraints = {"quantities": {"unit": "°C"}, "type": ["finding"]}
    narrowed = result(tools, "KnowledgeSelect", collection=COLLECTION, ids=ids(found), constraints=constraints)
    assert set(ids(narrowed)) == {fact_id(2), fact_id(5), fact_id(9)}
    below = result(tools, "KnowledgeExpand", collection=COLLECTION, ids=[fact_id(2)], along="evidence")
    assert ids(below) == ["p1:1"], "what was added, and not what it began with"
    table = result(tools, "KnowledgeCompare", collection=COLLECTION, ids=[fact_id(2), fact_id(5)], dimensions=["peak temperature"])
    assert "41.5 °C" in table["table"]
    account = result(tools, "KnowledgeSynthesize", collection=COLLECTION, ids=ids(narrowed), question="How warm?")
    assert (account["status"], account["sources"]) == ("candidate", 2)
    assert ids(result(tools, "KnowledgeFacts", collection=COLLECTION, paper="p3")) == [fact_id(7), fact_id(8), fact_id(11)]


def test_the_whole_collection_can_be_selected_from(tools: Tools) -> None:
    named = {"entity": ["dielectric immersion"], "kind": ["entity"]}
    assert ids(result(tools, "KnowledgeSelect", collection=COLLECTION, constraints=named)) == [IMMERSION]
    empty = result(tools, "KnowledgeSelect", collection=COLLECTION, constraints={"kind": ["entity"], "review": ["supported"]})
    assert empty["objects"] == []
    assert "nothing is selected" in empty["notes"][0]


def test_answers_are_no_longer_than_a_reading(tools: Tools) -> None:
    found = result(tools, "KnowledgeRetrieve", collection=COLLECTION, query="cooling", k=MAX_OBJECTS)
    assert len(found["text"]) <= 9_000


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("KnowledgeRetrieve", {"collection": COLLECTION}, "query: is missing"),
        ("KnowledgeRetrieve", {"collection": "heating", "query": "x"}, "no collection 'heating'"),
        ("KnowledgeRetrieve", {"collection": COLLECTION, "query": "x", "k": 0}, "k: input should be greater"),
        ("KnowledgeRetrieve", {"collection": COLLECTION, "query": "x", "k": "2"}, "k: must be a whole number"),
        ("KnowledgeRetrieve", {"collection": COLLECTION, "query": "x", "kinds": ["poem"]}, "no kind 'poem'"),
        ("KnowledgeRetrieve", {"collection": COLLECTION, "query": "x" * 4_001}, "query: string should have at most"),
        ("KnowledgeRetrieve", {"collection": COLLECTION, "query": "x", "papers": ["p9"]}, "no paper 'p9'"),
        ("KnowledgeSelect", {"collection": COLLECTION, "constraints": {}}, "select by something"),
        ("KnowledgeSelect", {"collection": COLLECTION, "constraints": {"colour": "red"}}, "constraints.colour"),
        ("KnowledgeSelect", {"collection": COLLECTION, "constraints": {"category": "steam"}}, "no category 'steam'"),
        ("KnowledgeExpand", {"collection": COLLECTION, "ids": [], "along": "basis"}, "ids"),
        ("KnowledgeExpand", {"collection": COLLECTION, "ids": ["x"], "along": "basis"}, "there is no object 'x'"),
        ("KnowledgeExpand", {"collection": COLLECTION, "ids": [SYNTHESIS], "along": "sideways"}, "nothing leads along"),
        ("KnowledgeCompare", {"collection": COLLECTION, "ids": [IMMERSION]}, "no fact in the view"),
        ("KnowledgeSynthesize", {"collection": COLLECTION, "ids": ["p1:0"]}, "nothing in the view to rest"),
        ("KnowledgeFacts", {"collection": COLLECTION, "paper": "p9"}, "no paper 'p9'"),
        ("KnowledgeCollections", {"all": True}, "is no argument here"),
        ("KnowledgeTrace", {"id": "fact-none"}, "fact-none"),
        ("KnowledgeTrace", {}, "id: is missing"),
    ],
)
def test_what_cannot_be_answered_is_an_error_with_advice(tools: Tools, name: str, arguments: dict[str, Any], said: str) -> None:
    answer = tools[name].call(arguments)
    assert not answer["ok"]
    assert answer["error"]["code"] == "invalid_arguments"
    assert said in answer["error"]["message"]
    assert name in answer["error"]["advice"]


def test_what_is_read_through_tools_is_logged(tmp_path_factory: pytest.TempPathFactory) -> None:
    with all_tables():
        lake = released(made(tmp_path_factory.mktemp("logged") / "lake"))
        with scholarlake.open(lake.root) as reader:
            tools = {one.name: one for one in knowledge_tools(reader)}
            result(tools, "KnowledgeFacts", collection=COLLECTION, paper="p1")
        assert accesses.summary(lake)["by_stage"] == [{"chain": "mcp", "stage": "tool", "queries": 1}]


def test_a_release_without_collections_offers_none_of_them(tmp_path_factory: pytest.TempPathFactory) -> None:
    with scholarlake.open(small(tmp_path_factory.mktemp("none") / "lake").root) as reader:
        assert knowledge_tools(reader) == ()

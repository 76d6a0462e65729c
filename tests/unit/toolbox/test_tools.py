"""What each tool gives, its caps, and that it fails in words. TRAPS 16, 30, 32, 48."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest

import scholarlake
from scholarlake.corpus import csr
from scholarlake.door import ReleaseReader
from scholarlake.models.protocol import fingerprint_of
from scholarlake.toolbox import faults, papers
from scholarlake.toolbox.dispatch import TOOLS, Toolbox, functions
from tests.unit.small_lake import EMBEDDER, paper, searchable
from tests.unit.toolbox.lakes import CITING, crowd, small


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolbox]:
    with scholarlake.open(small(tmp_path_factory.mktemp("small")).root) as reader:
        yield reader.toolbox()


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolbox]:
    with scholarlake.open(crowd(tmp_path_factory.mktemp("crowd")).root) as reader:
        yield reader.toolbox()


def ask(tools: Toolbox, name: str, **given: Any) -> dict[str, Any]:
    """The result of a tool that succeeds."""
    answer = tools.call({"tool_name": name, "tool_args": given})
    assert answer["ok"], answer
    return answer["result"]


def refused(tools: Toolbox, name: str, **given: Any) -> dict[str, Any]:
    """The error of a tool that fails, which says what is wrong and what to do, in JSON."""
    answer = tools.call({"tool_name": name, "tool_args": given})
    assert not answer["ok"], answer
    assert "result" not in answer
    error = answer["error"]
    assert error["code"] in faults.CODES
    assert error["message"]
    assert error["advice"]
    assert len(json.dumps(answer)) < 4_000
    assert json.loads(orjson.dumps(answer)) == answer
    return error


def ids(found: dict[str, Any]) -> list[str]:
    return [one["id"] for one in found["papers"]]


# -- searching ---------------------------------------------------------------------------------------------------------


def test_embedding_search_gives_the_five_nearest_with_beginnings_of_abstracts(tools: Toolbox) -> None:
    found = ask(tools, "EmbeddingSearch", query="Learning to rank C++ α-synuclein")
    assert ids(found)[0] == "r"
    assert len(found["papers"]) == papers.MAX_SEMANTIC == 5
    assert found["papers"][0]["score"] == pytest.approx(1.0, abs=1e-4)
    assert found["papers"][0]["abstract"].startswith("Ranking. Ranking.")
    assert len(found["papers"][0]["abstract"]) <= 502


def test_what_a_search_finds_comes_with_title_venue_and_year(tools: Toolbox) -> None:
    found = {one["id"]: one for one in ask(tools, "EmbeddingSearch", query="Deep Learning")["papers"]}
    assert {name: found["p3"][name] for name in ("title", "venue", "year", "authors")} == {
        "title": "Deep Learning",
        "venue": "Nature",
        "year": 2015,
        "authors": "A. One",
    }


def test_a_release_without_embedded_papers_says_what_to_use_instead(tmp_path: Path) -> None:
    with scholarlake.open(searchable(tmp_path / "lake", [paper("a", "Alone")], [], embedded=0).root) as reader:
        error = refused(reader.toolbox(), "EmbeddingSearch", query="Alone")
    assert (error["code"], "KeywordSearch" in error["advice"]) == ("nothing_found", True)


def test_keyword_search_stems_and_ranks_by_citations(tools: Toolbox) -> None:
    assert ids(ask(tools, "KeywordSearch", keywords=["learned"])) == ["p3", "q", "r"]
    assert ids(ask(tools, "KeywordSearch", keywords=["retrieval", "alone"])) == ["r", "u"]


def test_keyword_search_gives_ten(crowded: Toolbox) -> None:
    assert len(ask(crowded, "KeywordSearch", keywords=["crowds"])["papers"]) == papers.MAX_KEYWORD_HITS == 10


@pytest.mark.parametrize("term", ["COVID-19", "C++", "α-synuclein", "学习"])
def test_keywords_of_any_kind_are_found(tools: Toolbox, term: str) -> None:
    assert ids(ask(tools, "KeywordSearch", keywords=[term])) in (["r"], ["s"])


@pytest.mark.parametrize("term", ["O'Brien", '"', "NEAR(", "*", "xyz AND", "-", "\x00", "zebra"])
def test_keywords_that_find_nothing_say_so(tools: Toolbox, term: str) -> None:
    assert refused(tools, "KeywordSearch", keywords=[term])["code"] == "nothing_found"


def test_a_withdrawn_paper_and_a_preprint_are_marked_in_every_list(tools: Toolbox) -> None:
    found = ask(tools, "KeywordSearch", keywords=["preprint"])["papers"]
    assert [(one["id"], one["withdrawn"], one["version_of"]) for one in found] == [("w", "its title", "u")]


# -- one paper ---------------------------------------------------------------------------------------------------------


def test_a_paper_is_named_by_id_merged_id_or_exact_title(tools: Toolbox) -> None:
    named: list[dict[str, str]] = [{"id": "p3"}, {"id": "p1"}, {"id": "p2"}, {"title": "Deep Learning"}]
    assert {ask(tools, "PaperInfo", **name)["id"] for name in named} == {"p3"}
    assert ask(tools, "PaperInfo", id="1984")["title"] == "Not the novel"
    assert ask(tools, "PaperInfo", title="1984")["id"] == "novel"


def test_paper_info_gives_the_whole_record(tools: Toolbox) -> None:
    found = ask(tools, "PaperInfo", id="p1")
    expected = {
        "id": "p3",
        "citations": 2,
        "references": 0,
        "venue": "Nature",
        "doi": "10.1/a",
        "merged_ids": ["p1", "p2"],
        "same_title": ["q"],
    }
    assert {name: found[name] for name in expected} == expected
    assert found["authors"] == [{"name": "A. One"}]
    assert ask(tools, "PaperInfo", id="r")["abstract"] == "Ranking. " * 100
    assert "doi" not in ask(tools, "PaperInfo", id="r"), "what is not known is left out"


@pytest.mark.parametrize("tool", ["PaperInfo", "ReferenceSearch", "GetInDegree", "GetKhop"])
def test_an_unknown_paper_is_refused_with_what_comes_close(tools: Toolbox, tool: str) -> None:
    more = {"k": 1} if tool == "GetKhop" else {}
    error = refused(tools, tool, title="Learning of ranks", **more)
    assert error["code"] == "not_found"
    assert "Learning to rank" in error["message"]
    assert "pass it as `title`" in refused(tools, tool, id="Alone", **more)["advice"]
    assert "pass it as `id`" in refused(tools, tool, title="p1", **more)["advice"]
    for name in ("nobody", "x" * 2_000, '"', "\x00", "'; --"):
        assert refused(tools, tool, id=name, **more)["code"] == "not_found"


# -- citations ---------------------------------------------------------------------------------------------------------


def test_references_and_citations_come_the_most_cited_first_with_their_total(tools: Toolbox) -> None:
    cited = ask(tools, "ReferenceSearch", id="r")
    assert (ids(cited), cited["total"], cited["is_capped"], cited["paper"]["id"]) == (["p3", "q"], 2, False, "r")
    assert ids(ask(tools, "GetInDegree", id="p1")) == ["q", "r"]


def test_three_thousand_references_and_fifty_citing_papers_are_listed_and_all_are_counted(crowded: Toolbox) -> None:
    cited = ask(crowded, "ReferenceSearch", id="survey")
    assert (len(cited["papers"]), cited["total"], cited["is_capped"]) == (papers.MAX_REFERENCES, CITING, True)
    citing = ask(crowded, "GetInDegree", title="The hub")
    assert (len(citing["papers"]), citing["total"], citing["is_capped"]) == (50, CITING, True)
    assert ids(citing)[:3] == ["c0001", "c0000", "c0002"]


def test_a_paper_without_references_or_citations_says_what_to_try(tools: Toolbox) -> None:
    assert refused(tools, "ReferenceSearch", id="u")["code"] == "nothing_found"
    assert "ReferenceSearch" in refused(tools, "GetInDegree", id="t")["advice"]
    assert "another direction" in refused(tools, "GetKhop", id="p3", k=2)["advice"]
    assert refused(tools, "GetKhop", id="u", k=2, direction="both")["code"] == "nothing_found"


def test_a_walk_follows_references_or_what_cites_or_both(tools: Toolbox) -> None:
    out = ask(tools, "GetKhop", id="s", k=2)
    assert [(one["id"], one["hops"]) for one in out["papers"]] == [("r", 1), ("p3", 2), ("q", 2)]
    assert (out["direction"], out["total"], out["is_exact"], out["is_capped"]) == ("references", 3, True, False)
    assert ids(ask(tools, "GetKhop", id="p3", k=2, direction="citations")) == ["q", "r", "s"]
    assert ids(ask(tools, "GetKhop", id="s", k=1, direction="both")) == ["r", "t"]


def test_a_walk_gives_five_hundred_with_its_seed_the_most_cited_and_the_total(crowded: Toolbox) -> None:
    walk = ask(crowded, "GetKhop", id="hub", k=3, direction="both")
    assert (len(walk["papers"]), walk["total"], walk["is_capped"], walk["is_exact"]) == (499, CITING + 1, True, True)
    assert ids(walk)[0] == "c0001"
    assert walk == ask(crowded, "GetKhop", id="hub", k=3, direction="both")


def test_a_walk_too_wide_says_that_its_total_is_a_lower_bound(crowded: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "MAX_FOLLOWED", 1_000)
    walk = ask(crowded, "GetKhop", id="c0002", k=2, direction="both")
    assert not walk["is_exact"]
    assert walk["total"] < CITING


def test_a_path_follows_references(tools: Toolbox) -> None:
    path = ask(tools, "ShortestPath", start_id="t", end_title="Deep Learning")
    assert (path["length"], ids(path)) == (3, ["t", "s", "r", "p3"])
    assert ids(ask(tools, "ShortestPath", start_title="深度学习综述", end_id="p1", max_depth=2)) == ["s", "r", "p3"]


def test_where_there_is_no_path_it_says_which_way_paths_go(tools: Toolbox) -> None:
    assert "swap start and end" in refused(tools, "ShortestPath", start_id="p3", end_id="t")["advice"]
    short = refused(tools, "ShortestPath", start_id="t", end_id="p3", max_depth=2)
    assert (short["code"], "max_depth 5" in short["advice"]) == ("no_path", True)
    assert refused(tools, "ShortestPath", start_id="p3", end_id="p1")["code"] == "same_paper"
    assert refused(tools, "ShortestPath", start_id="p3", end_id="nobody")["code"] == "not_found"


def test_a_path_has_five_citations_at_most_and_a_layer_a_hundred_thousand_papers(tmp_path: Path) -> None:
    chain = [f"n{number}" for number in range(7)]
    made = searchable(tmp_path / "lake", [paper(name, f"Link {name}") for name in chain], list(pairwise(chain)))
    with scholarlake.open(made.root) as reader:
        tools = reader.toolbox()
        path = ask(tools, "ShortestPath", start_id="n0", end_id="n5")
        assert (path["length"], ids(path), path["is_exact"]) == (5, chain[:6], True)
        assert refused(tools, "ShortestPath", start_id="n0", end_id="n6")["code"] == "no_path"
        assert ids(ask(tools, "GetKhop", id="n0", k=5)) == chain[1:6]
    assert inspect.signature(csr.CitationGraph.shortest_path).parameters["frontier"].default == 100_000


def test_a_path_says_when_a_layer_was_too_wide(crowded: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = csr.CitationGraph.shortest_path
    monkeypatch.setattr(csr.CitationGraph, "shortest_path", lambda *given: whole(*given, frontier=2))  # type: ignore[arg-type]
    assert ask(crowded, "ShortestPath", start_id="survey", end_id="hub")["is_exact"] is False
    monkeypatch.setattr(csr.CitationGraph, "shortest_path", lambda *given: whole(*given, frontier=0))  # type: ignore[arg-type]
    assert "too wide" in refused(crowded, "ShortestPath", start_id="survey", end_id="hub")["message"]


# -- the dispatcher ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ("", "invalid_payload"),
        ("[]", "invalid_payload"),
        ("null", "invalid_payload"),
        ('{"tool_name": "PaperInfo"', "invalid_payload"),
        ('{"tool_name": "PaperInfo"}', "invalid_payload"),
        ('{"tool_args": {}}', "invalid_payload"),
        ('{"tool_name": "PaperInfo", "tool_args": {"id": "p3"}, "thought": ""}', "invalid_payload"),
        ('{"tool_name": 5, "tool_args": {}}', "invalid_payload"),
        ('{"tool_name": "PaperInfo", "tool_args": "{}"}', "invalid_payload"),
        ('{"tool_name": "PaperInfo", "tool_args": []}', "invalid_payload"),
        ('{"tool_name": "PaperInfo", "tool_args": null}', "invalid_payload"),
        ("[" * 100_000, "invalid_payload"),
        (b"\xff\xfe", "invalid_payload"),
        (" " * 3_000_000, "invalid_payload"),
        (None, "invalid_payload"),
        (5, "invalid_payload"),
        ('{"tool_name": "", "tool_args": {}}', "unknown_tool"),
        ('{"tool_name": "Web\\ud835Search", "tool_args": {}}', "unknown_tool"),
        ({"tool_name": "x" * 100_000, "tool_args": {}}, "unknown_tool"),
    ],
)
def test_whatever_is_no_payload_is_answered_in_words(tools: Toolbox, payload: Any, code: str) -> None:
    answer = tools.call(payload)
    assert (answer["ok"], answer["error"]["code"]) == (False, code)
    assert answer["error"]["advice"]
    assert len(orjson.dumps(answer)) < 2_000


@pytest.mark.parametrize(
    ("tool", "data", "argument"),
    [
        ("LineChart", '{"labels": ["a", "b"], "datasets": [[1, NaN]]}', "data.datasets[0].data[1]"),
        ("LineChart", '{"labels": ["a", "b"], "datasets": [[1]]}', "data"),
        ("BarChart", '{"labels": ["a", "b"], "values": [1, Infinity]}', "data.values[1]"),
        ("BarChart", '{"labels": ["a", "b"], "values": [1, "2"]}', "data.values[1]"),
        ("PieChart", '{"labels": ["a", "b"], "values": [1, -1]}', "data.values[1]"),
        ("PieChart", '{"labels": ["a"], "values": [1, 1]}', "data"),
        ("ScatterPlot", '{"points": [[1, -Infinity]]}', "data.points[0].y"),
        ("ScatterPlot", '{"points": [[1, 1e999]]}', "data.points[0].y"),
    ],
)
def test_numbers_that_are_none_and_lists_that_do_not_fit_are_named_before_a_chart_is_drawn(
    tools: Toolbox, tool: str, data: str, argument: str
) -> None:
    axes = "" if tool == "PieChart" else '"x_label": "x", "y_label": "y", '
    answer = tools.call(f'{{"tool_name": "{tool}", "tool_args": {{"title": "t", {axes}"data": {data}}}}}')
    assert (answer["ok"], answer["error"]["code"]) == (False, "invalid_arguments")
    assert [problem["argument"] for problem in answer["error"]["problems"]] == [argument]


def test_a_payload_may_be_text_and_a_misspelt_tool_is_told_its_name(tools: Toolbox) -> None:
    assert tools.call('{"tool_name": "PaperInfo", "tool_args": {"id": "p1"}}')["result"]["id"] == "p3"
    error = tools.call({"tool_name": "paper_info", "tool_args": {}})["error"]
    assert "do you mean PaperInfo?" in error["message"]
    assert all(name in error["advice"] for name in TOOLS)


@pytest.mark.parametrize(
    ("tool", "given", "argument"),
    [
        ("EmbeddingSearch", {}, "query"),
        ("EmbeddingSearch", {"query": ""}, "query"),
        ("EmbeddingSearch", {"query": " \n"}, "query"),
        ("EmbeddingSearch", {"query": "x" * 100_000}, "query"),
        ("EmbeddingSearch", {"query": "\ud835"}, "query"),
        ("EmbeddingSearch", {"query": None}, "query"),
        ("EmbeddingSearch", {"query": ["a"]}, "query"),
        ("EmbeddingSearch", {"query": "a", "k": 5}, "k"),
        ("KeywordSearch", {"keywords": []}, "keywords"),
        ("KeywordSearch", {"keywords": ["", " "]}, "keywords"),
        ("KeywordSearch", {"keywords": "graphs"}, "keywords"),
        ("KeywordSearch", {"keywords": ["a", 5]}, "keywords[1]"),
        ("KeywordSearch", {"keywords": ["a"] * 1_000}, "keywords"),
        ("KeywordSearch", {"keywords": ["a" * 201]}, "keywords[0]"),
        ("PaperInfo", {"title": "x" * 100_000}, "title"),
        ("GetInDegree", {"title": None}, "tool_args"),
        ("PaperInfo", {}, "tool_args"),
        ("PaperInfo", {"id": "a", "title": "b"}, "tool_args"),
        ("PaperInfo", {"id": 5}, "id"),
        ("PaperInfo", {"id": ""}, "id"),
        ("ReferenceSearch", {"id": True}, "id"),
        ("GetInDegree", {"paper": "a"}, "paper"),
        *(("GetKhop", {"id": "t", "k": k}, "k") for k in (0, -1, "2", 10**9, 10**400, True, 2.5, float("nan"), None, [])),
        ("GetKhop", {"id": "t"}, "k"),
        ("GetKhop", {"id": "t", "k": 1, "direction": "up"}, "direction"),
        ("ShortestPath", {"start_id": "t"}, "tool_args"),
        ("ShortestPath", {"start_id": "t", "start_title": "x", "end_id": "s"}, "tool_args"),
        *(("ShortestPath", {"start_id": "t", "end_id": "s", "max_depth": depth}, "max_depth") for depth in (0, 6, "5")),
        ("Summarize", {"content": ""}, "content"),
        ("Summarize", {"content": "x" * 300_000}, "content"),
    ],
)
def test_arguments_are_taken_strictly_and_each_that_is_wrong_is_named(
    tools: Toolbox, tool: str, given: dict[str, Any], argument: str
) -> None:
    error = refused(tools, tool, **given)
    assert error["code"] == "invalid_arguments"
    assert argument in [problem["argument"] for problem in error["problems"]]
    assert all(name in error["advice"] for name in TOOLS[tool].takes.model_fields)


def test_a_null_stands_for_an_argument_that_is_left_out(tools: Toolbox) -> None:
    assert ask(tools, "PaperInfo", id="p1", title=None)["id"] == "p3"
    assert ask(tools, "GetKhop", id="t", k=1, title=None, direction=None)["direction"] == "references"


def test_a_fault_of_a_tool_itself_is_an_answer_too(tools: Toolbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReleaseReader, "references", lambda *_, **__: 1 / 0)
    assert refused(tools, "ReferenceSearch", id="r")["code"] == "internal"


def test_threads_share_a_toolbox(tools: Toolbox) -> None:
    calls = [
        ("PaperInfo", {"id": "p1"}),
        ("KeywordSearch", {"keywords": ["learning"]}),
        ("ShortestPath", {"start_id": "t", "end_id": "p3"}),
    ]
    expected = [ask(tools, name, **given) for name, given in calls] * 20
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda call: ask(tools, call[0], **call[1]), calls * 20)) == expected


# -- what a release may lack -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asset", "tool", "given"),
    [
        ("search_index", "PaperInfo", {"id": "p3"}),
        ("citation_graph", "GetInDegree", {"id": "p3"}),
        ("vector_index", "EmbeddingSearch", {"query": "deep"}),
    ],
)
def test_a_damaged_file_of_the_release_is_told_as_such(tmp_path: Path, asset: str, tool: str, given: dict[str, Any]) -> None:
    lake = small(tmp_path / "lake")
    reader = scholarlake.open(lake.root)
    folder = lake.root / next(iter(reader.release.artifacts[asset].values())).path
    path = max((path for path in folder.iterdir() if path.name != "manifest.json"), key=lambda path: path.stat().st_size)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert refused(reader.toolbox(), tool, **given)["code"] == "release_unusable"


def test_another_embedder_than_the_one_of_the_vectors_is_refused(tmp_path: Path) -> None:
    reader = scholarlake.open(small(tmp_path / "lake").root)
    other = EMBEDDER.model_copy(update={"query_prefix": "query: "})
    facts = {"name": "hashing", "fingerprint": fingerprint_of(other.identity()), "endpoint": other.model_dump(exclude_defaults=True)}
    strange = ReleaseReader(reader.lake, replace(reader.release, embedder=facts)).toolbox()
    assert refused(strange, "EmbeddingSearch", query="deep")["code"] == "model_unavailable"
    assert ask(strange, "KeywordSearch", keywords=["deep"])


# -- schemas -----------------------------------------------------------------------------------------------------------


def test_twelve_tools_describe_themselves_for_function_calling() -> None:
    described = functions()
    assert len(described) == len(TOOLS) == 12
    for one in described:
        function = one["function"]
        assert function["description"]
        text = json.dumps(function["parameters"])
        assert function["parameters"]["additionalProperties"] is False
        assert not any(word in text for word in ("$ref", "$defs", "anyOf", "oneOf", '"null"')), "not every interface takes these"
        assert set(function["parameters"]["properties"]) == set(TOOLS[function["name"]].takes.model_fields)


def test_schemas_and_tools_agree_on_what_is_sound(tools: Toolbox) -> None:
    import jsonschema

    axes = {"title": "t", "x_label": "x", "y_label": "y"}
    sound: list[tuple[str, dict[str, Any]]] = [
        ("EmbeddingSearch", {"query": "deep"}),
        ("KeywordSearch", {"keywords": ["deep"]}),
        ("PaperInfo", {"id": "p1"}),
        ("ReferenceSearch", {"title": "Learning to rank C++ α-synuclein"}),
        ("GetKhop", {"id": "t", "k": 2, "direction": "both"}),
        ("GetInDegree", {"id": "p3"}),
        ("ShortestPath", {"start_id": "t", "end_id": "p3", "max_depth": 4}),
        ("LineChart", {**axes, "data": {"labels": ["a"], "datasets": [{"label": "l", "data": [1]}]}}),
        ("BarChart", {**axes, "data": {"labels": ["a"], "values": [1.5]}}),
        ("PieChart", {"title": "t", "data": {"labels": ["a"], "values": [1]}}),
        ("ScatterPlot", {**axes, "data": {"points": [{"x": 1, "y": 2, "label": "p"}]}}),
        ("Summarize", {"content": "One sentence."}),
    ]
    assert [name for name, _ in sound] == list(TOOLS)
    for name, given in sound:
        jsonschema.validate(given, TOOLS[name].parameters)
        jsonschema.validate(ask(tools, name, **given), TOOLS[name].results)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**given, "more": 1}, TOOLS[name].parameters)


def test_the_page_about_the_tools_names_every_tool_argument_and_error() -> None:
    page = (Path(scholarlake.__file__).parents[1] / "docs" / "toolbox.md").read_text(encoding="utf-8")
    arguments = {name for tool in TOOLS.values() for name in tool.takes.model_fields}
    assert not [name for name in (*TOOLS, *arguments, *faults.CODES) if f"`{name}" not in page]

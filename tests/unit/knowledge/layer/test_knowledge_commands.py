"""`scholarlake knowledge`: views go from command to command as JSON or by name, and what is wrong is one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from scholarlake.cli import app
from scholarlake.errors import ScholarLakeError
from tests.unit.knowledge.layer.battery import COLLECTION, IMMERSION, SYNTHESIS, all_tables, fact_id, made, released


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with all_tables():
        yield released(made(tmp_path_factory.mktemp("commands") / "lake")).root


def run(lake: Path, *given: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["knowledge", *given, "--lake", str(lake)], input=stdin)


def plain(lake: Path, *given: str, stdin: str | None = None) -> Any:
    done = run(lake, *given, "--json", stdin=stdin)
    assert done.exit_code == 0, done.exception
    return json.loads(done.stdout)


def ids(view: Any) -> list[str]:
    return [item["object_id"] for item in view["items"]]


def test_a_view_goes_from_command_to_command(lake: Path, tmp_path: Path) -> None:
    found = plain(lake, "retrieve", COLLECTION, "peak temperature at 2 C discharge", "-k", "4", "--kind", "fact")
    assert len(ids(found)) == 4
    (tmp_path / "view.json").write_text(json.dumps(found))
    selected = plain(lake, "select", COLLECTION, "--from", str(tmp_path / "view.json"), "--metric", "peak temperature", "--unit", "°C")
    assert sorted(ids(selected)) == [fact_id(2), fact_id(5), fact_id(9)]
    expanded = plain(lake, "expand", COLLECTION, "evidence", "--from", "-", stdin=json.dumps(selected))
    assert set(ids(expanded)) - set(ids(selected)) == {"p1:1", "p2:1", "p4:0"}
    compared = plain(lake, "compare", COLLECTION, "--from", "-", "--dimension", "condition", stdin=json.dumps(selected))
    assert [row["cells"]["condition"] for row in compared["rows"]] == [["2 C discharge"]] * 3
    account = plain(lake, "synthesize", COLLECTION, "--from", "-", "--question", "How warm?", stdin=json.dumps(selected))
    assert (account["status"], account["sources"]) == ("candidate", 2)


def test_a_view_is_kept_by_a_name_and_begun_with_by_it(lake: Path) -> None:
    done = run(
        lake, "select", COLLECTION, "--entity", "immersion cooling", "--kind", "entity", "--keep", "immersion", "--chain", "review-7"
    )
    assert "kept as 'immersion': view-" in done.stdout
    assert ids(plain(lake, "open", COLLECTION, "immersion")) == [IMMERSION]
    assert "opened on r0001; nothing in it changed since" in run(lake, "open", COLLECTION, "immersion").stdout
    assert plain(lake, "expand", COLLECTION, "basis", "--from", "immersion")["items"][1]["object_id"] == fact_id(4)
    (kept,) = plain(lake, "views", COLLECTION)
    assert (kept["name"], kept["chain"], kept["items"]) == ("immersion", "review-7", 1)
    assert "immersion" in run(lake, "views", COLLECTION).stdout


def test_for_a_person_it_is_text_within_a_budget(lake: Path) -> None:
    text = run(lake, "retrieve", COLLECTION, "cooling", "-k", "30", "--budget", "900").stdout
    assert len(text) <= 901
    assert "not shown)" in text
    papers = run(lake, "retrieve", COLLECTION, "cooling", "-k", "30", "--catalog").stdout
    assert "[p2] Immersion cooling at high discharge rates (2020)" in papers
    table = run(lake, "compare", COLLECTION, "--id", fact_id(2), "--id", fact_id(5)).stdout
    assert table.startswith("|  | subject | type | condition | peak temperature |")
    account = run(lake, "synthesize", COLLECTION, "--id", fact_id(2)).stdout
    assert "candidate, not registered" in " ".join(account.split())
    assert f"[{fact_id(2)}]" in account
    assert "Wax plates" in run(lake, "facts", COLLECTION, "p3").stdout


def test_accesses_are_summed(lake: Path) -> None:
    before = plain_accesses(lake)
    run(lake, "expand", COLLECTION, "basis", "--id", SYNTHESIS, "--chain", "review-8", "--stage", "draft")
    after = plain_accesses(lake)
    assert after["queries"] == before["queries"] + 2, "the object that it begins with, and what lies along"
    (row,) = [row for row in after["by_chain"] if row["chain"] == "review-8"]
    assert (row["accesses"], row["syntheses_share"]) == (5, 0.2)
    shown = run(lake, "accesses")
    assert "review-8" in shown.stdout
    assert f"{after['queries']} queries returned" in shown.stdout


def plain_accesses(lake: Path) -> Any:
    return plain(lake, "accesses")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("retrieve", "heating", "x"), "no collection 'heating'"),
        (("retrieve", COLLECTION, ""), "empty query"),
        (("retrieve", COLLECTION, "x", "-k", "0"), "no view of 0 objects"),
        (("retrieve", COLLECTION, "x", "--kind", "poem"), "no kind 'poem'"),
        (("select", COLLECTION), "select by something"),
        (("select", COLLECTION, "--category", "solid cooling"), "no category 'solid cooling' in cooling; near are: liquid cooling"),
        (("expand", COLLECTION, "sideways", "--id", SYNTHESIS), "nothing leads along 'sideways'"),
        (("expand", COLLECTION, "basis"), "name what to begin with"),
        (("expand", COLLECTION, "basis", "--id", "x", "--from", "y"), "name what to begin with"),
        (("expand", COLLECTION, "basis", "--id", "x"), "there is no object 'x'"),
        (("compare", COLLECTION, "--from", "unknown"), "no view 'unknown' was kept"),
        (("compare", COLLECTION, "--id", IMMERSION), "no fact in the view to compare"),
        (("facts", COLLECTION, "p99"), "no paper 'p99'"),
    ],
)
def test_what_is_wrong_is_one_line(lake: Path, given: tuple[str, ...], said: str) -> None:
    done = run(lake, *given)
    assert done.exit_code == 1
    assert isinstance(done.exception, ScholarLakeError)
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)


@pytest.mark.parametrize(("text", "said"), [("{", "holds no JSON"), ("[]", "this is no view"), ('{"collection": "x"}', "this is no view")])
def test_a_file_that_holds_no_view_is_told(lake: Path, text: str, said: str) -> None:
    done = run(lake, "compare", COLLECTION, "--from", "-", stdin=text)
    assert isinstance(done.exception, ScholarLakeError)
    assert said in str(done.exception)

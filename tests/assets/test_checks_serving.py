"""The search index and the citation graph hold what the tables hold, and a check says where they do not."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from checks import ALL_CHECKS
from checks.check import Subject
from scholarlake.corpus import csr, csr_invariants
from scholarlake.errors import ScholarLakeError
from scholarlake.lake import artifacts, receipts
from scholarlake.lake.findings import Finding
from scholarlake.lake.home import Lake
from scholarlake.search.index import FILE, build_search_index
from scholarlake.search.invariants import every_id_resolves, every_paper_is_found, every_vector_leads_to_its_paper
from tests.assets.checked_lake import EDGES, PROFILE, RECORDS, broken, good_lake

Claim = Callable[[Lake, Path], Finding]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return good_lake(tmp_path / "lake")


@pytest.fixture
def index(lake: Lake, tmp_path: Path) -> Path:
    folder = tmp_path / "index"
    folder.mkdir()
    build_search_index(lake, folder)
    return folder


@pytest.fixture
def graph(lake: Lake, tmp_path: Path) -> Path:
    folder = tmp_path / "graph"
    folder.mkdir()
    csr.build(folder, lake)
    return folder


def changed(folder: Path, *statements: str) -> Path:
    """The index after some SQL."""
    with sqlite3.connect(folder / FILE) as connection:
        for statement in statements:
            connection.execute(statement)
    return folder


def test_a_good_index_and_a_good_graph_pass(lake: Lake, index: Path, graph: Path) -> None:
    found = [claim(lake, index) for claim in (every_paper_is_found, every_id_resolves, every_vector_leads_to_its_paper)]
    found += [csr_invariants.every_paper_is_a_node(lake, graph), csr_invariants.every_citation_is_an_edge(lake, graph)]
    assert all(finding.passed for finding in found), found
    assert [finding.counted for finding in found] == [4, len(RECORDS), 3, 4, len(EDGES)]


@pytest.mark.parametrize(
    ("claim", "statement", "example"),
    [
        (every_paper_is_found, "DELETE FROM paper WHERE paper_id = 'p3'", {"paper_id": "p3"}),
        (every_paper_is_found, "UPDATE paper SET in_degree = 77 WHERE paper_id = 'p3'", {"paper_id": "p3"}),
        (every_paper_is_found, "INSERT INTO keyword (rowid, keywords, title) VALUES (99, 'a', 'b')", {"paper_id": "5"}),
        (every_id_resolves, "DELETE FROM alias WHERE record_id = 'p2'", {"record_id": "p2", "paper_id": "p1", "resolved": None}),
        (every_id_resolves, "UPDATE alias SET rank = 1 WHERE record_id = 'p2'", {"record_id": "p2", "resolved": "p3"}),
        (every_vector_leads_to_its_paper, "UPDATE vector SET rank = 1", {"paper_id": "p1", "resolved": "p3"}),
    ],
)
def test_an_index_that_lacks_or_mistakes_something_is_found(
    lake: Lake, index: Path, claim: Claim, statement: str, example: dict[str, object]
) -> None:
    found = claim(lake, changed(index, statement))
    assert any(example.items() <= dict(row).items() for row in found.examples), found


def test_an_index_older_than_its_tables_is_found(lake: Lake, index: Path) -> None:
    broken(lake, "papers", lambda rows: rows.filter(pl.col("paper_id") != "p5"))
    assert {"paper_id": "p5", "fault": "is no paper"} in every_paper_is_found(lake, index).examples


def test_a_graph_older_than_its_tables_is_found(lake: Lake, graph: Path) -> None:
    broken(lake, "citations", lambda rows: rows.filter(pl.col("citing_id") != "p5"))
    found = csr_invariants.every_citation_is_an_edge(lake, graph)
    assert found.failed == 2, "one edge too many in either direction"
    broken(lake, "degrees", lambda rows: rows.filter(pl.col("paper_id") != "p5"))
    assert any(row["paper_id"] == "p5" for row in csr_invariants.every_paper_is_a_node(lake, graph).examples)


@pytest.mark.parametrize("way", ["out", "in"])
def test_one_edge_led_elsewhere_is_found_though_the_number_agrees(lake: Lake, graph: Path, way: str) -> None:
    edges = np.load(graph / f"{way}.npy")
    edges[0] = (edges[0] + 1) % 4
    np.save(graph / f"{way}.npy", edges)
    found = csr_invariants.every_citation_is_an_edge(lake, graph)
    assert [row["direction"] for row in found.examples] == [way]


def test_edges_are_summed_alike_whatever_the_piece(lake: Lake, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csr_invariants, "EDGES_AT_ONCE", 3)
    assert csr_invariants.every_citation_is_an_edge(lake, graph).passed


def test_a_flipped_byte_of_an_artifact_is_a_failed_check_and_none_at_all_an_error(lake: Lake) -> None:
    def build(folder: Path) -> dict[str, int]:
        (folder / "data.bin").write_bytes(b"abc")
        return {"n": 3}

    made = artifacts.publish(lake, "search_index", None, build)
    begun = receipts.begin(lake, "search_index", None, code_version="1", inputs={}, run_id="run")
    receipts.finish(lake, begun, data_version="v", artifact=made.path)
    subject = Subject(lake, PROFILE, "search_index", None, receipts.read(lake, "search_index"))
    intact = ALL_CHECKS["search_index"][0]
    assert intact.find(subject).passed
    (subject.folder / "data.bin").write_bytes(b"abd")
    assert "does not have the checksum" in str(intact.find(subject).examples[0]["fault"])
    with pytest.raises(ScholarLakeError, match="no artifact"):
        intact.find(Subject(lake, PROFILE, "citation_graph", None, None))

"""Three releases of a small dump in which papers leave, merge, split and come back: what each says, what is kept, what may go."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import scholarlake
from scholarlake.door import ReleaseReader
from scholarlake.errors import LakeError, NotFound
from scholarlake.lake import contracts, delta, releases
from scholarlake.lake.home import Lake
from scholarlake.lake.vacuum import Policy, sweep
from tests.e2e.building import ROOT, command, contents, delta_versions, environment

GONE, MERGED, HUB = "gone", "old", "hub"


def record(name: str, title: str, *references: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "title": title, "year": 2001, "references": list(references), **fields}


STANDING = [
    record(HUB, "Spike trains as sequences of events", doi="10.1/hub"),
    *(record(f"s{n}", f"Standing paper number {n} on spike trains", HUB, GONE, MERGED) for n in range(6)),
]
FIRST = [
    *STANDING,
    record(GONE, "Graph kernels that leave the dump", HUB, abstract="Kernels."),
    record(MERGED, "A copy of another work", HUB),
]
# The copy is now known by the DOI of the hub, one standing paper is edited, and a new one cites it.
SECOND = [
    *STANDING[:-1],
    {**STANDING[-1], "abstract": "It has one now."},
    record(MERGED, "Spike trains as sequences of events", HUB, doi="10.1/hub"),
    record("new", "A paper that is new in the second release", HUB, "s5"),
]
THIRD = [
    *SECOND,
    record(GONE, "Graph kernels that leave the dump", HUB, abstract="Kernels."),
    record("newer", "One more of the third release"),
]


@dataclass(frozen=True)
class History:
    """The lake after three builds, and its Delta versions after each."""

    lake: Lake
    dumps: Path
    env: Mapping[str, str]
    versions: tuple[dict[str, int | None], ...]

    def reader(self, release: str) -> ReleaseReader:
        return scholarlake.open(self.lake.root, release)

    def command(self, *arguments: str) -> tuple[int, Any, str]:
        """How a command ended, what it printed as JSON, and what it said."""
        ended = command(*arguments, "--lake", self.lake.root, "--json", env=dict(self.env))
        return ended.code, json.loads(ended.out) if ended.out else None, ended.err.strip()


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    folder = tmp_path_factory.mktemp("history")
    env = environment(folder)
    versions = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCHOLARLAKE_MODELS", env["SCHOLARLAKE_MODELS"])
        for records in (FIRST, SECOND, THIRD):
            build(folder / "lake", put(folder / "dumps", records))
            versions.append(delta_versions(Lake.open(folder / "lake")))
        yield History(Lake.open(folder / "lake"), folder / "dumps", env, tuple(versions))


def put(dumps: Path, records: list[dict[str, Any]]) -> Path:
    dumps.mkdir(exist_ok=True)
    (dumps / "part.json").write_text("".join(json.dumps(row) + "\n" for row in records))
    return dumps


def build(lake: Path, dumps: Path, **options: Any) -> Any:
    from pipelines import build as builder

    outcome = builder.run(lake=lake, dumps=dumps, profile="sample", **options)
    assert not outcome.failed
    return outcome


def named(table: pl.LazyFrame, contract: contracts.Table, paper: str) -> int:
    """In how many rows of a table the id of a paper stands as a paper's."""
    columns = [name for name in ("paper_id", "citing_id", "cited_id", "into") if name in contract.columns]
    return table.filter(pl.any_horizontal(pl.col(name) == paper for name in columns)).collect().height if columns else 0


def test_a_removed_paper_is_in_no_table_no_index_and_no_answer_of_the_new_release(history: History) -> None:
    with history.reader("r0002") as reader:
        for name in reader.tables:
            if not contracts.TABLES[name].history:
                assert named(reader.table(name), contracts.TABLES[name], GONE) == 0, name
        for ask in (reader.paper, reader.references, reader.citations, reader.neighbours):
            with pytest.raises(NotFound, match=r"no paper 'gone' in r0002: it left the dump after r0001"):
                ask(GONE)
        for mode in ("dense", "keyword", "relevance", "fused"):
            assert GONE not in {hit.paper.paper_id for hit in reader.search("Graph kernels that leave the dump", k=50, mode=mode)}
        members = pl.concat([pl.read_parquet(history.lake.root / pin.path / "members.parquet") for pin in pins(reader)])
        assert vector_ids(history)[GONE] not in members["faiss_id"].to_list()
        assert reader.table("degrees").filter(pl.col("paper_id") == "s0").collect()["unresolved_references"].to_list() == [1]
        assert {paper.paper_id for paper in reader.neighbours(HUB, hops=3)} == {"new", *(f"s{n}" for n in range(6))}


def pins(reader: ReleaseReader) -> list[releases.PinnedArtifact]:
    return list(reader.release.artifacts["vector_index"].values())


def vector_ids(history: History) -> dict[str, int]:
    return dict(history.lake.scan("faiss_ids").select("paper_id", "faiss_id").collect().iter_rows())


def test_the_old_release_still_answers_as_it_did(history: History) -> None:
    with history.reader("r0001") as reader:
        assert reader.paper(GONE).title == "Graph kernels that leave the dump"
        assert reader.search("Graph kernels that leave the dump", k=1)[0].paper.paper_id == GONE
        assert reader.citations(GONE).total == 6
        assert reader.paper(MERGED).paper_id == MERGED
        assert reader.tombstone(GONE) is None


def test_a_merged_paper_resolves_everywhere_and_is_told_as_merged(history: History) -> None:
    with history.reader("r0002") as reader:
        assert reader.paper(MERGED).paper_id == HUB
        assert {paper.paper_id for paper in reader.citations(MERGED)} == {paper.paper_id for paper in reader.citations(HUB)}
        stone = reader.tombstone(MERGED)
        assert stone is not None
        assert stone.said == "was merged into hub after r0001"
        for name in reader.tables:
            if not contracts.TABLES[name].history:
                assert named(reader.table(name), contracts.TABLES[name], MERGED) == 0, name


def test_a_paper_that_comes_back_has_no_tombstone_and_its_own_vector_id_again(history: History) -> None:
    first, third = (
        dict(reader.table("embeddings").select("paper_id", "faiss_id").collect().iter_rows())
        for reader in (history.reader("r0001"), history.reader("r0003"))
    )
    assert third[GONE] == first[GONE] == vector_ids(history)[GONE]
    with history.reader("r0003") as reader:
        assert reader.tombstone(GONE) is None
        assert reader.paper(GONE).in_degree == 6
        assert reader.search("Graph kernels that leave the dump", k=1)[0].paper.paper_id == GONE


def test_a_vector_id_is_never_handed_out_twice(history: History) -> None:
    ledger = history.lake.scan("faiss_ids").collect()
    assert ledger["faiss_id"].n_unique() == ledger.height == 11
    spread: dict[int, set[str]] = {}
    for name in releases.names(history.lake):
        for paper, vector in history.reader(name).table("embeddings").select("paper_id", "faiss_id").collect().iter_rows():
            spread.setdefault(vector, set()).add(paper)
    assert all(len(papers) == 1 for papers in spread.values())
    assert set().union(*spread.values()) == {GONE, MERGED, HUB, "new", "newer", *(f"s{n}" for n in range(6))}


def test_every_release_says_what_changed_since_the_one_before(history: History) -> None:
    assert history.reader("r0001").changes().collect().is_empty()
    second = {
        (row["table"], row["change"], row["key"]): row
        for row in history.reader("r0002").changes().collect().to_dicts()
        if row["table"] == "papers"
    }
    assert {key[1:]: row["why"] for key, row in second.items()} == {
        ("came", "new"): None,
        ("went", GONE): "its records left",
        ("went", MERGED): "merged into hub",
        ("changed", HUB): None,
        ("changed", "s5"): None,
    }
    assert "abstract" in second["papers", "changed", "s5"]["fields"]
    third = history.reader("r0003").changes().filter((pl.col("table") == "papers") & (pl.col("change") == "came")).collect()
    assert set(third["key"]) == {GONE, "newer"}


def test_building_again_makes_no_version_and_no_release(history: History) -> None:
    outcome = build(history.lake.root, history.dumps)
    assert outcome.ran == []
    assert delta_versions(history.lake) == history.versions[-1]
    assert releases.names(history.lake) == ["r0001", "r0002", "r0003"]


def test_a_lake_with_a_past_holds_what_a_fresh_one_holds(history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHOLARLAKE_MODELS", history.env["SCHOLARLAKE_MODELS"])
    build(tmp_path / "fresh", history.dumps)
    fresh = Lake.open(tmp_path / "fresh")
    assert contents(history.lake) == contents(fresh)
    assert not delta.exists(fresh, "tombstones")


def test_the_command_line_says_it_all(history: History) -> None:
    code, found, _ = history.command("diff", "r0001", "r0002")
    papers = next(table for table in found["tables"] if table["table"] == "papers")
    assert (code, papers["came"], papers["went"], found["papers"]["merged"], found["papers"]["removed"]) == (0, 1, 2, 1, 1)
    assert history.command("diff")[1]["after"] == "r0003"
    code, _, said = history.command("diff", "r0001", "r0009")
    assert (code, said.splitlines()) == (1, [f"error: no release 'r0009' in {history.lake.root}; there are: r0001, r0002, r0003"])
    code, _, said = history.command("diff", "--table", "paper")
    assert (code, len(said.splitlines())) == (1, 1)
    code, _, said = history.command("paper", GONE, "--release", "r0002")
    assert (code, said) == (1, "error: no paper 'gone' in r0002: it left the dump after r0001")
    code, found, _ = history.command("paper", MERGED)
    assert (code, found["paper_id"], found["tombstone"]["reason"], found["tombstone"]["into"]) == (0, HUB, "merged", HUB)
    code, found, _ = history.command("vacuum", "--keep", "1", "--dry-run")
    assert (code, found["dropped"], found["dry_run"]) == (0, ["r0001", "r0002"], True)
    assert releases.names(history.lake) == ["r0001", "r0002", "r0003"]


def test_vacuum_beside_a_build_waits_its_turn_and_breaks_nothing(history: History, tmp_path: Path) -> None:
    """The last test of the lake: a fourth release is built in another process while it is swept again and again."""
    put(history.dumps, [*THIRD[:-1], record("newest", "The newest paper of all", HUB)])
    before = {name: history.reader("r0003").table(name).collect().height for name in history.reader("r0003").tables}
    arguments = ["build", "--lake", str(history.lake.root), "--dumps", str(history.dumps), "--profile", "sample", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "scholarlake.cli", *arguments],
        env=dict(history.env),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=(tmp_path / "said").open("w"),
    )
    refusals = set()
    while process.poll() is None:
        try:
            sweep(history.lake, Policy(1, named=("r0003",), spool_days=0))
        except LakeError as refused:
            refusals.add(str(refused))
    assert process.returncode == 0, (tmp_path / "said").read_text()
    assert refusals == {f"a run is at work in {history.lake.root}; do it again when it has ended"}
    assert releases.names(history.lake)[-2:] == ["r0003", "r0004"]
    sweep(history.lake, Policy(1, named=("r0003",)))
    assert {name: history.reader("r0003").table(name).collect().height for name in history.reader("r0003").tables} == before
    with history.reader("r0004") as reader:
        assert reader.paper("newest").title == "The newest paper of all"
        assert reader.search("The newest paper of all", k=1)[0].paper.paper_id == "newest"
        assert reader.tombstone("newer") is not None
        assert set(reader.changes().collect()["previous"]) == {"r0003"}

"""The registry through whole builds: one sentence changes, and what rests on it is revised or marked; nothing else is written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import scholarlake
from pipelines import build as builder
from scholarlake.knowledge.registry import Registry, recheck, register
from scholarlake.knowledge.registry.build import TABLES
from scholarlake.knowledge.syntheses.objects import Basis, Claim, Proposal
from scholarlake.knowledge.trace.tree import Tracer
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from tests.e2e.building import HASHING, delta_versions

TITLES = {"p1": "Sorting lists in place", "p2": "Stable merging of lists", "p3": "Marbles"}
ABSTRACTS = {
    "p1": "We propose QuickList, a method that sorts lists of numbers in place. "
    "We found that QuickList reached an accuracy of 87.3% on 1,234 lists.",
    "p2": "We show that MergeList sorts a list of numbers in 12 ms. MergeList needs a second list, which limits its use.",
    "p3": "Marbles were sorted by colour in 40 trials. We found that colour mattered in 31 trials.",
}


@dataclass
class World:
    """A lake beside its dump of three papers, all of one collection."""

    folder: Path

    @property
    def lake(self) -> Lake:
        return Lake.open(self.folder / "lake")

    def build(self, **changed: str) -> list[str]:
        """Build from these abstracts. Returns what was made."""
        rows = [{"id": id, "title": TITLES[id], "abstract": text, "year": 2001} for id, text in {**ABSTRACTS, **changed}.items()]
        (self.folder / "dumps").mkdir(exist_ok=True)
        (self.folder / "dumps" / "part.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
        profile = str(self.folder / "profile.yaml")
        outcome = builder.run(lake=self.folder / "lake", dumps=self.folder / "dumps", profile=profile)
        assert not outcome.failed, outcome.failed
        return [one.asset for one in outcome.ran]

    def fact(self, words: str) -> str:
        """Id of the fact that states something."""
        (found,) = self.lake.scan("facts").filter(pl.col("statement").str.contains(words, literal=True)).collect()["fact_id"]
        return str(found)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("world")
    (folder / "collections").mkdir()
    (folder / "collections" / "all.yaml").write_text("title: All\nabout: Everything.\nwhere: {years: {from: 1990}}\n")
    (folder / "profile.yaml").write_text(
        "shards: 1\nselection: {text: abstract, vectors: corpus}\ncore: {min_total: 0, min_in: 0}\ntraining: {train_batches: 1}\n"
    )
    (folder / "models.yaml").write_text(HASHING)
    return World(folder)


def test_a_changed_sentence_revises_its_fact_and_marks_what_a_task_made_and_writes_nothing_else(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCHOLARLAKE_MODELS", str(world.folder / "models.yaml"))
    monkeypatch.setenv("SCHOLARLAKE_COLLECTIONS", str(world.folder / "collections"))
    monkeypatch.setenv("SCHOLARLAKE_TAXONOMIES", str(world.folder / "taxonomies"))
    world.build()
    quick, merge = world.fact("87.3%"), world.fact("12 ms")
    said = Proposal(
        "all",
        "open_problem",
        "sorting lists",
        "Sorting lists",
        (Claim("One method is right in 87.3% of lists.", (quick,)), Claim("Another takes 12 ms.", (merge,))),
        (Basis(quick, "supporting", "it says how well"), Basis(merge, "supporting", "it says how fast")),
    )
    task = register(world.lake, said, chain="review", stage="draft")
    with scholarlake.open(world.folder / "lake") as reader:
        assert Tracer(reader).trace(task.object_id).node.basis[0].passages  # readable at once, over the release

    # A build of nothing new makes nothing, and leaves what the task made alone.
    before = delta_versions(world.lake)
    assert world.build() == []
    assert delta_versions(world.lake) == before

    rows = {(row["asset_id"], row["version"]): row for row in world.lake.scan("registry").collect().to_dicts()}
    assert "registry" in world.build(p1=ABSTRACTS["p1"].replace("87.3%", "88.1%"))
    registry = Registry.of(world.lake)
    first, second = registry.history(quick)
    assert (first.status, second.status, second.parent) == ("superseded", "current", 1)
    assert second.reason == "number changed from 87.3% to 88.1%"
    marked = registry.standing(task.asset_id)
    assert (marked.status, marked.reason) == ("needs_recheck", "a basis was revised: number changed from 87.3% to 88.1%")
    now = {(row["asset_id"], row["version"]): row for row in world.lake.scan("registry").collect().to_dicts()}
    fact_rows = {key for key, row in rows.items() if row["kind"] == "fact"}
    assert {key for key in fact_rows if now[key] != rows[key]} == {(quick, 1)}
    above, level = set(), {quick}
    while level := {one.asset_id for asset in level for one in registry.dependents(asset)} - above:
        above |= level
    assert {asset for (asset, version), row in now.items() if rows.get((asset, version)) != row} <= {quick, *above}

    # What it said stays readable, and looking again settles nothing that the new sentence does not say.
    with scholarlake.open(world.folder / "lake") as reader:
        old = Tracer(reader).trace(quick, version=1)
        assert "87.3%" in old.node.passages[0].sentences[-1][1]
    (outcome,) = recheck(world.lake)
    assert (outcome.settled, outcome.reason) == (False, "87.3 stands in its basis no longer")
    versions = {name: delta.version(world.lake, name) for name in TABLES}
    recheck(world.lake)
    assert world.build(p1=ABSTRACTS["p1"].replace("87.3%", "88.1%")) == []
    assert {name: delta.version(world.lake, name) for name in TABLES} == versions

    # And it is as it was where the sentence is.
    world.build()
    assert registry.standing(quick).version == 1
    assert registry.standing(task.asset_id).status == "current"

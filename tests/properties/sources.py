"""Sources that change at random and a lake that follows them; and what it means that two lakes hold the same."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import scholarlake
from resources.lake import LakeResource
from scholarlake.lake.home import Lake
from tests.e2e.building import HASHING, contents
from tests.properties.dump import Dump, lines, names
from tests.properties.library import Library

PROFILE = """
shards: 2
reading: {{workers: 1, reject_warn: 1.0, reject_block: 1.0}}
core: {{min_total: {least}, min_in: 1}}
dense: {{centroids: 2, probes: 2, recall_queries: 4, max_characters: {characters}}}
training: {{walks: 2, steps: 2, train: 3, validation: 1, test: 1, held_out: 0.3, train_batches: 1}}
"""
# Where there is one, a file system in memory: these lakes are not worth a disk's care.
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Sources(RuleBasedStateMachine):
    """A dump and a profile that change, and a lake that is refreshed now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=SCRATCH))
        self.dump = Dump()
        self.profile: dict[str, int] = {"least": 2, "characters": 8000}
        (self.folder / "models.yaml").write_text(HASHING)
        self._configure()
        self.library = self.built("lake")

    def built(self, name: str) -> Library:
        """A lake of that name, not made yet."""
        return Library(
            LakeResource(
                lake=str(self.folder / name),
                dumps=str(self.folder / "dumps"),
                profile_name=str(self.folder / "tiny.yaml"),
                profiles=str(self.folder),
                models=str(self.folder / "models.yaml"),
            )
        )

    @initialize(first=st.dictionaries(names, st.lists(lines, min_size=1, max_size=5), min_size=1, max_size=2))
    def begin(self, first: dict[str, list[str]]) -> None:
        self.dump = Dump(dict(first))

    @rule(name=names, added=st.lists(lines, min_size=1, max_size=3))
    def add(self, name: str, added: list[str]) -> None:
        self.dump.parts[name] = [*self.dump.parts.get(name, []), *added]

    @rule(name=names, place=st.integers(0, 9), line=lines)
    def edit(self, name: str, place: int, line: str) -> None:
        self.dump.edit(name, place, line)

    @rule(name=names, place=st.integers(0, 9))
    def remove(self, name: str, place: int) -> None:
        self.dump.remove(name, place)

    @rule(name=names, other=names)
    def rename(self, name: str, other: str) -> None:
        self.dump.rename(name, other)

    @rule(name=names, other=names)
    def split(self, name: str, other: str) -> None:
        self.dump.split(name, other)

    @rule(name=names)
    @precondition(lambda self: len(self.dump.parts) > 1)
    def drop(self, name: str) -> None:
        if len(self.dump.parts) > 1:
            self.dump.parts.pop(name, None)

    @rule(least=st.integers(1, 3), characters=st.sampled_from([12, 8000]))
    def set_profile(self, least: int, characters: int) -> None:
        self.profile = {"least": least, "characters": characters}
        self._configure()

    def _configure(self) -> None:
        (self.folder / "tiny.yaml").write_text(PROFILE.format(**self.profile))

    @rule()
    def refresh(self) -> None:
        self.lay_down()
        self.library.refresh()
        assert self.library.refresh() == [], "a refresh of nothing makes nothing"

    def lay_down(self) -> None:
        self.dump.lay_down(self.folder / "dumps")

    def teardown(self) -> None:
        try:
            self.lay_down()
            self.library.refresh()
            self.library.check()
            rebuilt = self.built("rebuilt")
            rebuilt.refresh()
            assert_same(self.library.lake, rebuilt.lake)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


def assert_same(one: Lake, other: Lake) -> None:
    """Two lakes hold the same: tables as sets of rows, and what readers get out of the indices."""
    found, wanted = contents(one), contents(other)
    for name in wanted:
        assert found[name] == wanted[name], name
    with scholarlake.open(one.root) as left, scholarlake.open(other.root) as right:
        ids = right.table("papers").select("paper_id").collect()["paper_id"].sort().to_list()
        vectors = right.table("embeddings").select("vector").collect()["vector"].to_list()
        for paper_id in ids:
            assert replace(left.paper(paper_id), faiss_id=0) == replace(right.paper(paper_id), faiss_id=0)
            assert [p.paper_id for p in left.references(paper_id)] == [p.paper_id for p in right.references(paper_id)]
            assert [p.paper_id for p in left.citations(paper_id)] == [p.paper_id for p in right.citations(paper_id)]
        for word in ("spike", "survey", "editorial", "深度学习综述研究"):
            assert [hit.paper.paper_id for hit in left.keywords([word])] == [hit.paper.paper_id for hit in right.keywords([word])]
        assert members(one) == members(other)
        assert len(vectors) == len(members(other))


def members(lake: Lake) -> set[tuple[str, bytes]]:
    """Who is in the vector indices, and with which vector."""
    found = lake.scan("embeddings").select("paper_id", "vector").collect()
    return {(paper, np.asarray(vector, dtype=np.float32).tobytes()) for paper, vector in found.iter_rows()}


def sequences(share: float) -> settings:
    """How many sequences are tried. SCHOLARLAKE_SEQUENCES names another total than the 200 of every test run, and other ones."""
    total = int(os.environ.get("SCHOLARLAKE_SEQUENCES", "200"))
    return settings(
        max_examples=max(1, round(total * share)),
        stateful_step_count=6,
        deadline=None,
        derandomize="SCHOLARLAKE_SEQUENCES" not in os.environ,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )

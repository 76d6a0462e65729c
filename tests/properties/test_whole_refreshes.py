"""Refreshes that people have met: what each must leave in every table and at every door."""

from __future__ import annotations

import json
from collections.abc import Iterator

import polars as pl
import pytest

import scholarlake
from pipelines.project import ROOT
from scholarlake.lake import delta, receipts, releases
from scholarlake.lake.delta import Commit
from scholarlake.lake.home import Lake
from tests.e2e.building import contents, delta_versions
from tests.properties.dump import Dump
from tests.properties.library import Library
from tests.properties.sources import Sources


class Kept(Sources):
    """The world of the random sequences, led by hand."""

    def follow(self, **parts: list[dict[str, object]]) -> Library:
        """Let the dump be these parts, and refresh."""
        self.dump = Dump({f"{name}.jsonl": [json.dumps(record) for record in held] for name, held in parts.items()})
        self.lay_down()
        self.library.refresh()
        self.library.check()
        return self.library


@pytest.fixture
def kept() -> Iterator[Kept]:
    world = Kept()
    yield world
    world.teardown()  # whatever was done: the lake is what a build from scratch makes


def record(key: str, title: str, doi: str | None = None, references: tuple[str, ...] = (), **more: object) -> dict[str, object]:
    return {"id": key, "title": title, "doi": doi, "year": 2001, "authors": [{"name": "Ada Byron"}], "references": list(references), **more}


def test_an_id_merged_away_twice_leads_to_the_paper_that_is_left(kept: Kept) -> None:
    first = record("p3", "The title that all of them share", None)
    second = record("p2", "The title that all of them share", None)
    kept.follow(a=[second, first, record("x", "A paper that cites the first of all", None, ("p3",))])
    with scholarlake.open(kept.library.lake.root) as lake:
        assert lake.paper("p3").paper_id == "p2"
    kept.follow(
        a=[second, first, record("x", "A paper that cites the first of all", None, ("p3",))],
        b=[record("p1", "The title that all of them share", None), record("y", "Another paper that cites it", None, ("p3", "p2", "p1"))],
    )
    with scholarlake.open(kept.library.lake.root) as lake:
        assert [lake.paper(name).paper_id for name in ("p1", "p2", "p3")] == ["p1", "p1", "p1"]
        assert {paper.paper_id for paper in lake.citations("p3")} == {"x", "y"}
        assert lake.paper("p1").in_degree == 2
        edges = lake.table("citations").select("citing_id", "cited_id").collect()
        assert sorted(edges.iter_rows()) == [("x", "p1"), ("y", "p1")]
        assert "p2" not in set(lake.table("papers").collect()["paper_id"])
        assert "p2" not in set(lake.table("embeddings").collect()["paper_id"])


def test_a_removed_paper_is_in_nothing_of_the_new_release_and_in_all_of_the_old(kept: Kept) -> None:
    both = [record("p1", "The paper that stays where it is"), record("p2", "The paper that will be gone", None, ("p1",))]
    library = kept.follow(a=both)
    old = scholarlake.open(library.lake.root)
    offsets = dict(library.lake.scan("embeddings").select("paper_id", "faiss_id").collect().iter_rows())
    kept.follow(a=both[:1])
    with scholarlake.open(library.lake.root) as new, old:
        for table in ("papers", "identities", "degrees", "embeddings", "citations"):
            column = "citing_id" if table == "citations" else "paper_id"
            assert "p2" not in set(new.table(table).collect()[column]), table
            assert "p2" in set(old.table(table).collect()[column]), table
        assert "p2" not in {hit.paper.paper_id for hit in new.search("The paper that will be gone", k=10)}
        assert old.search("The paper that will be gone", k=1)[0].paper.paper_id == "p2"
        assert new.keywords(["gone"]) == []
        assert new.paper("p1").in_degree == 0
        assert old.paper("p1").in_degree == 1
    others = [record(f"n{n}", f"A newcomer of its own, number {n}") for n in range(6)]
    kept.follow(a=[both[0], *others])
    numbers = dict(library.lake.scan("embeddings").select("paper_id", "faiss_id").collect().iter_rows())
    assert numbers["p1"] == offsets["p1"]
    assert offsets["p2"] not in numbers.values(), "a number that was handed out is nobody else's"
    kept.follow(a=[*both, *others])
    assert dict(library.lake.scan("embeddings").select("paper_id", "faiss_id").collect().iter_rows()) == {**numbers, "p2": offsets["p2"]}


def test_an_edited_paper_alone_is_written_and_embedded_anew(kept: Kept) -> None:
    many = [record(f"p{n}", f"A subject of its own, number {n}") for n in range(12)]
    library = kept.follow(a=many)
    before = {name: delta.version(library.lake, name) for name in ("papers", "embeddings")}
    many[7] = record("p7", "A subject of its own, number 7", abstract="Something was added.")
    kept.follow(a=many)
    for name, version in before.items():
        feed = delta_feed(library.lake, name, (version or 0) + 1)
        assert set(feed["paper_id"]) == {"p7"}, name
        assert sorted(feed["_change_type"]) == ["update_postimage", "update_preimage"]
    embedded = [int(receipt.facts["embedded"]) for receipt in receipts.read_all(library.lake, "embeddings")]
    assert embedded.count(1) == 1


def delta_feed(lake: Lake, name: str, since: int) -> pl.DataFrame:
    from deltalake import DeltaTable

    return pl.DataFrame(DeltaTable(str(lake.table_path(name))).load_cdf(starting_version=since).read_all())


def test_a_refresh_of_nothing_leaves_no_version_and_no_release(kept: Kept) -> None:
    library = kept.follow(a=[record("p1", "The only paper that there is")])
    versions, names = delta_versions(library.lake), releases.names(library.lake)
    assert library.refresh() == []
    assert delta_versions(library.lake) == versions
    assert releases.names(library.lake) == names


def test_the_same_records_under_other_names_of_parts_are_the_same_papers(kept: Kept) -> None:
    held = [record(f"p{n}", f"A subject of its own, number {n}") for n in range(6)]
    library = kept.follow(a=held)
    before = contents(library.lake)["papers"]
    embedded = library.lake.scan("embeddings").collect().sort("paper_id")
    kept.follow(c=held[3:], b=held[:3])
    assert contents(library.lake)["papers"] == before
    assert library.lake.scan("embeddings").collect().sort("paper_id").equals(embedded), "nothing was embedded or numbered anew"


def test_a_shard_that_comes_out_empty_without_a_reason_stops_the_release(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    from assets import corpus

    held = [record(f"p{n}", f"A subject of its own, number {n}") for n in range(6)]
    library = kept.follow(a=held)
    names = releases.names(library.lake)
    build = corpus.build_papers

    def loses_everything(lake: Lake, shard: str, *rest: object, **named: object) -> object:
        report = build(lake, shard, *rest, **named)  # type: ignore[arg-type]
        empty = pl.DataFrame(schema=lake.scan("papers").collect_schema())
        delta.write_partition(lake, "papers", shard, empty, Commit("run", "0"))
        return report

    with monkeypatch.context() as patch:
        patch.setattr(corpus, "build_papers", loses_everything)
        kept.dump.parts["a.jsonl"][0] = json.dumps(record("p0", "A subject of its own, changed a little"))
        kept.lay_down()
        with pytest.raises(AssertionError, match=r"papers \[0\d\]"):
            library.refresh(checking=("papers",))
    assert releases.names(library.lake) == names
    with scholarlake.open(library.lake.root) as lake:
        assert lake.table("papers").collect().height == 6, "the release still has what it pinned"
    backwards = next(receipts.read_all(library.lake, "papers"))
    for shard in library.lake.shard_keys:  # a person's remedy: make it again
        receipts.begin(library.lake, "papers", shard, code_version="mended", inputs=backwards.inputs, run_id="run")


def test_many_shards_run_a_few_at_a_time_and_failures_are_not_retried_in_storms() -> None:
    import yaml

    settings = yaml.safe_load((ROOT / "dagster.yaml").read_text())
    assert settings["concurrency"]["pools"]["default_limit"] <= 2
    assert settings["concurrency"]["runs"]["max_concurrent_runs"] <= 4
    assert settings["run_retries"] == {"enabled": True, "max_retries": 0}

"""What a reader of a release can do, and what it never does: look at working tables, or trust a damaged file."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import scholarlake
from scholarlake.door import ReleaseReader
from scholarlake.errors import IndexDamaged, LakeError, ModelError, NotFound, ReleaseError
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from scholarlake.models.protocol import fingerprint_of
from scholarlake.search.paper import Paper
from tests.unit.small_lake import COMMIT, EMBEDDER, frame, make_lake, paper, release, searchable

# p1 was merged into p2 in one batch, p2 into p3 in the next: identities lead both to p3.
PAPERS = [
    paper("p3", "Deep Learning", year=2015, record_ids=["p1", "p2", "p3"]),
    paper("q", "Deep Learning", year=2020),
    paper("r", "Learning to rank", keywords=["C++", "retrieval"], abstract="Ranking."),
    paper("s", "深度学习综述"),
    paper("t", "Far away"),
    paper("u", "Alone"),
    paper("w", "A preprint of that", version_of="u", withdrawn=True, withdrawn_by="notice", withdrawal_notice="t"),
]
CITATIONS = [("q", "p3"), ("r", "p3"), ("r", "q"), ("s", "r"), ("t", "s")]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return released(tmp_path / "lake")


def released(root: Path) -> Lake:
    """A lake with one release, its vectors made by the hashing embedder from the titles."""
    return searchable(root, PAPERS, CITATIONS)


@pytest.fixture
def reader(lake: Lake) -> ReleaseReader:
    return scholarlake.open(lake.root)


def ids(found: Sequence[Paper]) -> list[str]:
    return [one.paper_id for one in found]


def test_a_paper_is_found_by_id_by_merged_id_and_by_title(reader: ReleaseReader) -> None:
    assert {reader.paper(name).paper_id for name in ("p3", "p1", "p2", "Deep Learning", "deep  LEARNING")} == {"p3"}


def test_of_papers_of_one_title_the_most_cited_lists_the_others(reader: ReleaseReader) -> None:
    assert reader.paper("Deep Learning").same_title == ("q",)
    assert reader.paper("q").same_title == ("p3",)
    assert reader.paper("u").same_title == ()


def test_a_paper_says_of_which_it_is_a_version_and_that_it_was_withdrawn(reader: ReleaseReader) -> None:
    preprint = reader.paper("w")
    assert (preprint.version_of, preprint.versions) == ("u", ())
    assert (preprint.withdrawn, preprint.withdrawn_by, preprint.withdrawal_notice) == (True, "notice", "t")
    published = reader.paper("u")
    assert (published.version_of, published.versions, published.withdrawn, published.withdrawn_by) == (None, ("w",), False, None)
    assert reader.keywords(["preprint"])[0].paper.withdrawn


def test_several_papers_come_in_the_order_asked_for(reader: ReleaseReader) -> None:
    assert ids(reader.papers(["u", "p1", "深度学习综述"])) == ["u", "p3", "s"]


def test_an_unknown_paper_is_refused_with_what_comes_close(reader: ReleaseReader) -> None:
    with pytest.raises(NotFound, match=r"no paper 'Learning of ranks' in r0001; close are: 'Learning to rank' \(r\)"):
        reader.paper("Learning of ranks")
    for name in ("", "nothing-like-it", "\ud835", "x" * 10_000, '"', "\x00"):
        with pytest.raises(NotFound) as caught:
            reader.paper(name)
        assert "\n" not in str(caught.value)


def test_a_paper_that_is_gone_is_told_as_such_by_the_release_that_lacks_it_alone(lake: Lake, reader: ReleaseReader) -> None:
    stones = {"p1": ("merged", "p3"), "old": ("removed", None), "older": ("removed", "q")}
    for shard in lake.shard_keys:
        rows = [
            {
                "paper_id": name,
                "shard": shard,
                "reason": reason,
                "into": into,
                "last_release": "r0001",
                "since": "2030-01-01T00:00:00+00:00",
            }
            for name, (reason, into) in stones.items()
            if lake.shard_of(name) == shard
        ]
        delta.write_partition(lake, "tombstones", shard, frame("tombstones", rows), COMMIT)
    release(lake, "r0002", embedder=reader.release.embedder)
    with scholarlake.open(lake.root) as newer:
        with pytest.raises(NotFound, match=r"no paper 'old' in r0002: it left the dump after r0001$"):
            newer.paper("old")
        with pytest.raises(NotFound, match=r"it left the dump after r0001; its other records are now q$"):
            newer.citations("older")
        assert newer.paper("p1").paper_id == "p3"
        merged = newer.tombstone("p1")
        assert merged is not None
        assert merged.said == "was merged into p3 after r0001"
        assert newer.tombstone("p3") is None
        assert newer.tombstone("\ud835") is None
    with pytest.raises(NotFound, match="no paper 'old' in r0001; name an id"):
        reader.paper("old")


def test_every_tool_takes_a_merged_id(reader: ReleaseReader) -> None:
    assert ids(reader.citations("p1")) == ids(reader.citations("p3")) == ["q", "r"]
    assert ids(reader.references("Learning to rank")) == ["p3", "q"]
    assert ids(reader.neighbours("p2")) == ["q", "r"]
    assert ids(reader.shortest_path("q", "p1")) == ["q", "p3"]
    assert ids(reader.shortest_path("p1", "p2")) == ["p3"]


def test_a_long_answer_is_capped_says_so_and_gives_the_total(reader: ReleaseReader) -> None:
    found = reader.citations("p3", limit=1)
    assert (ids(found), found.total, found.is_capped) == (["q"], 2, True)
    assert not reader.citations("p3", limit=None).is_capped
    assert len(reader.citations("u")) == 0


def test_neighbours_say_how_far_away_they_are(reader: ReleaseReader) -> None:
    found = reader.neighbours("p3", hops=3)
    assert list(zip(ids(found), found.hops, strict=True)) == [("q", 1), ("r", 1), ("s", 2), ("t", 3)]


def test_neighbours_may_be_asked_for_one_way_and_a_path_of_some_length(reader: ReleaseReader) -> None:
    assert ids(reader.neighbours("r", along="references")) == ["p3", "q"]
    assert ids(reader.neighbours("r", along="citations")) == ["s"]
    assert reader.route("t", "p1").papers == ("t", "s", "r", "p3")
    assert reader.shortest_path("t", "p1", max_depth=2) == []


def test_a_name_may_be_meant_as_an_id_or_as_a_title_alone(reader: ReleaseReader) -> None:
    assert reader.paper("p1", by="id").paper_id == reader.paper("Deep Learning", by="title").paper_id == "p3"
    for name, by in (("Deep Learning", "id"), ("p1", "title")):
        with pytest.raises(NotFound):
            reader.paper(name, by=by)  # type: ignore[arg-type]


def test_a_path_follows_citations_and_there_may_be_none(reader: ReleaseReader) -> None:
    assert ids(reader.shortest_path("t", "p3")) == ["t", "s", "r", "p3"]
    assert reader.shortest_path("p3", "u") == []
    with pytest.raises(NotFound):
        reader.shortest_path("p3", "nobody")


def test_keyword_search_takes_what_fts5_does_not(reader: ReleaseReader) -> None:
    assert [hit.paper.paper_id for hit in reader.keywords(["C++", 'quote"', "学习"])] == ["r", "s"]
    assert [hit.paper.paper_id for hit in reader.keywords("learning")] == ["p3", "q", "r"]
    assert [hit.paper.paper_id for hit in reader.search("learning", k=2, mode="keyword")] == ["p3", "q"]
    for query in ("COVID-19", "α-synuclein", "O'Brien", "", "NEAR(", "*"):
        reader.keywords([query])


def test_dense_search_finds_what_reads_alike(reader: ReleaseReader) -> None:
    hits = reader.search("Learning to rank", k=3)
    assert hits[0].paper.paper_id == "r"
    assert hits[0].score == pytest.approx(1.0, abs=1e-4)
    assert [hit.place for hit in hits] == [1, 2, 3]
    assert len(reader.search("deep", k=50)) == len(PAPERS)


def test_asking_for_nothing_is_told_what_to_ask_for(reader: ReleaseReader) -> None:
    for mode in ("dense", "fused", "keyword", "relevance"):
        with pytest.raises(NotFound, match="say in words"):
            reader.search(" \n", mode=mode)
        with pytest.raises(NotFound, match="one or more"):
            reader.search("deep", k=0, mode=mode)
    with pytest.raises(NotFound, match="no term"):
        reader.keywords([])
    with pytest.raises(NotFound, match="one or more"):
        reader.keywords(["deep"], k=-1)
    assert reader.keywords([""]) == [], "a term that is no word is a term: it has no hits"


def test_fused_search_says_which_searches_found_a_paper(reader: ReleaseReader) -> None:
    assert reader.search("deep learning", mode="fused")[0].found_by == ("dense", "keyword")


def test_another_embedder_than_the_one_of_the_vectors_is_refused(lake: Lake) -> None:
    opened = scholarlake.open(lake.root)
    other = EMBEDDER.model_copy(update={"query_prefix": "query: "})
    facts = {"name": "hashing", "fingerprint": fingerprint_of(other.identity()), "endpoint": other.model_dump(exclude_defaults=True)}
    strange = ReleaseReader(lake, replace(opened.release, embedder=facts))
    with pytest.raises(ModelError, match="not the one that the vectors were made with"):
        strange.search("deep")
    assert strange.keywords("deep")


def test_a_table_is_read_at_its_pinned_version(lake: Lake, reader: ReleaseReader) -> None:
    before = reader.table("papers").collect().sort("paper_id")
    shard = lake.shard_of("u")
    left = before.filter((pl.col("shard") == shard) & (pl.col("paper_id") != "u"))
    delta.write_partition(lake, "papers", shard, left, COMMIT)
    assert "u" not in lake.scan("papers").collect()["paper_id"]
    assert reader.table("papers").collect().sort("paper_id").equals(before)
    assert reader.paper("u").title == "Alone"


def test_a_table_that_did_not_exist_yet_is_empty_and_one_of_no_name_is_refused(reader: ReleaseReader) -> None:
    assert reader.table("core_papers").collect().is_empty()
    with pytest.raises(NotFound, match="papers"):
        reader.table("paper")


def test_a_reader_of_an_old_release_goes_on_when_a_new_one_is_made(lake: Lake, reader: ReleaseReader) -> None:
    shard = lake.shard_of("v")
    added = frame("papers", [{**paper("v", "Brand new"), "shard": shard, "paper_key": 1}])
    delta.write_partition(lake, "papers", shard, pl.concat([lake.scan("papers").filter(pl.col("shard") == shard).collect(), added]), COMMIT)
    release(lake, "r0002", embedder=reader.release.embedder)
    with scholarlake.open(lake.root) as newer:
        assert newer.release.name == "r0002"
        assert newer.paper("v").title == "Brand new"
    with pytest.raises(NotFound):
        reader.paper("v")
    with scholarlake.open(lake.root, release="r0001") as older:
        assert "v" not in older.table("papers").collect()["paper_id"]


def test_an_unknown_release_or_lake_is_one_clear_line(lake: Lake, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="there are: r0001"):
        scholarlake.open(lake.root, release="r9")
    with pytest.raises(LakeError, match="no lake at"):
        scholarlake.open(tmp_path / "nowhere")
    with pytest.raises(ReleaseError, match="no release yet"):
        scholarlake.open(Lake.create(tmp_path / "new", 1).root)


@pytest.mark.parametrize("asset", ["search_index", "citation_graph", "vector_index"])
@pytest.mark.parametrize("damage", ["flip", "cut", "lose"])
def test_a_damaged_artifact_is_refused_before_it_is_read(lake: Lake, asset: str, damage: str) -> None:
    reader = scholarlake.open(lake.root)
    folder = lake.root / next(iter(reader.release.artifacts[asset].values())).path
    path = max((path for path in folder.iterdir() if path.name != "manifest.json"), key=lambda path: path.stat().st_size)
    data = bytearray(path.read_bytes())
    if damage == "flip":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    elif damage == "cut":
        path.write_bytes(data[:-1])
    else:
        path.unlink()
    with pytest.raises(IndexDamaged, match="remove its folder"):
        {"search_index": reader.paper, "citation_graph": reader.citations, "vector_index": reader.search}[asset]("p3")


def test_an_artifact_of_another_build_in_the_place_of_the_pinned_one_is_refused(lake: Lake, reader: ReleaseReader, tmp_path: Path) -> None:
    other = make_lake(tmp_path / "other", PAPERS[:2])
    strange = other.root / release(other).artifacts["search_index"]["all"].path
    pinned = lake.root / reader.release.artifacts["search_index"]["all"].path
    shutil.rmtree(pinned)
    shutil.copytree(strange, pinned)
    with pytest.raises(IndexDamaged, match="pins"):
        reader.paper("p3")


def test_threads_share_a_reader(reader: ReleaseReader) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: (reader.paper("p1").paper_id, ids(reader.citations("p1"))), range(64)))
    assert set(map(str, found)) == {str(("p3", ["q", "r"]))}


def test_a_closed_reader_opens_again_when_asked(reader: ReleaseReader) -> None:
    with reader:
        reader.paper("p3")
    assert reader.paper("p3").paper_id == "p3"


def test_the_manifest_is_plain_values(reader: ReleaseReader) -> None:
    assert reader.manifest["tables"]["papers"]["rows"] == len(PAPERS)
    assert set(reader.tables) == {"papers", "identities", "work_versions", "citations", "degrees", "embeddings"}


def test_importing_the_package_does_not_import_the_library() -> None:
    code = "import sys, scholarlake; scholarlake.__all__; sys.exit('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(scholarlake.__file__).parents[1]).returncode == 0


@pytest.mark.parametrize(("hops", "along"), [(1, "reference"), (0, "both"), (-1, "citations")])
def test_a_walk_that_goes_nowhere_is_refused_and_no_empty_answer(reader: ReleaseReader, hops: int, along: str) -> None:
    with pytest.raises(NotFound, match="no walk of"):
        reader.neighbours("p3", hops=hops, along=along)  # type: ignore[arg-type]

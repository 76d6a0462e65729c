"""Claims about the tables of collections: only what changed is chosen anew, what is gone goes, and every row says why."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from scholarlake.corpus.selection import build, listing
from scholarlake.corpus.selection.build import CollectionsReport, build_collections
from scholarlake.corpus.selection.definition import Collection
from scholarlake.errors import NotFound
from scholarlake.lake import contracts, delta
from scholarlake.lake.delta import Commit
from scholarlake.lake.home import Lake
from scholarlake.models.protocol import Embedder
from scholarlake.profile import Selection
from tests.unit.corpus.selection.choosing import EMBEDDER, lake_of
from tests.unit.small_lake import frame, paper

PAPERS = [paper(f"p{n}", f"Paper number {n}", abstract=f"About {'quarks' if n % 2 else 'gluons'} {n}.", year=1990 + n) for n in range(12)]
INPUTS = dict.fromkeys(("papers", "degrees", "citations", "embeddings", "identities"), "v1")
PROFILE = Selection(text="abstract", vectors="corpus")
YOUNG = {"where": {"years": {"from": 1998}}}
NAMED = {"where": {"ids": ["p3", "p1", "nobody"]}, "first": {"by": "id"}}
ASKED = {"where": {"query": {"text": "quarks", "k": 3, "mode": "dense"}}}
STANDING = {"representatives": {"size": 5}}
TOPICS = {"topics": {"topics": [{"name": "t", "queries": ["quarks"]}], "quota": 2, "min_characters": 1, "min_sentences": 1}}


def collection(name: str, said: dict[str, Any], title: str = "A title") -> Collection:
    return Collection.model_validate({"name": name, "title": title, "about": "What for", **said}).settled(PROFILE)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(tmp_path / "lake", PAPERS, [("p1", "p3"), ("p5", "p3")])


def made(
    lake: Lake, *collections: Collection, code: str = "1", embedder: Callable[[], Embedder] = lambda: EMBEDDER, **inputs: str
) -> CollectionsReport:
    return build_collections(lake, {one.name: one for one in collections}, embedder, Commit("run", code, INPUTS | inputs))


def members(lake: Lake, name: str) -> list[str]:
    return lake.scan("collections").filter(collection=name).sort("rank").collect()["paper_id"].to_list()


def versions(lake: Lake) -> list[int | None]:
    return [delta.version(lake, name) for name in ("collections", "collection_catalog")]


def no_model() -> Embedder:
    raise AssertionError("no query is to be embedded")


def test_every_member_says_its_place_its_role_and_what_chose_it(lake: Lake) -> None:
    made(lake, collection("named", NAMED), collection("standing", STANDING), collection("topics", TOPICS))
    rows = lake.scan("collections").sort("collection", "rank").collect()
    assert dict(rows.schema) == dict(contracts.COLLECTIONS.schema)
    assert rows.filter(collection="named").select("paper_id", "shard", "rank", "role", "rule", "score", "method").rows() == [
        (name, lake.shard_of(name), rank, "member", "named by id", None, "conditions") for rank, name in ((1, "p1"), (2, "p3"))
    ]
    standing = rows.filter(collection="standing")
    assert standing["role"].to_list() == ["representative", "representative", "anchor", "representative", "representative"]
    assert standing["cluster"].to_list() == [1, 2, None, 3, 4]
    assert standing["score"].null_count() == 0
    assert rows.filter(collection="topics").select("role", "topic").rows() == [("quota", "t")] * 2


def test_the_catalog_says_what_was_asked_for_what_was_found_and_what_is_missing(lake: Lake) -> None:
    made(lake, collection("named", NAMED), collection("standing", {"representatives": {"size": 40}}))
    named, standing = lake.scan("collection_catalog").sort("collection").collect().to_dicts()
    assert (named["wanted"], named["matched"], named["chosen"], named["unknown_ids"]) == (None, 2, 2, ["nobody"])
    assert (standing["wanted"], standing["chosen"], standing["shortfall"]) == (40, 12, "only 12 papers are eligible")
    assert json.loads(standing["definition"])["representatives"]["vectors"] == "corpus", "with what the file leaves to the profile"


def test_what_has_not_changed_is_not_chosen_again_and_makes_no_version(lake: Lake) -> None:
    everything = [collection("asked", ASKED), collection("named", NAMED), collection("standing", STANDING)]
    first = made(lake, *everything)
    assert first.chosen_anew == ("asked", "named", "standing")
    before = versions(lake)
    again = made(lake, *everything, embedder=no_model)
    assert (again.chosen_anew, versions(lake)) == ((), before)
    assert (again.content_version, again.members, again.by_shard) == (first.content_version, first.members, first.by_shard)


def test_a_new_or_changed_collection_is_chosen_alone(lake: Lake) -> None:
    made(lake, collection("asked", ASKED), collection("young", YOUNG))
    kept = lake.scan("collections").filter(collection="asked").collect()
    changed = collection("young", {"where": {"years": {"from": 2000}}})
    report = made(lake, collection("asked", ASKED), changed, collection("named", NAMED), embedder=no_model)
    assert report.chosen_anew == ("named", "young")
    assert sorted(members(lake, "young")) == ["p10", "p11"]
    assert lake.scan("collections").filter(collection="asked").collect().equals(kept)


def test_other_words_about_a_collection_choose_nothing_anew(lake: Lake) -> None:
    made(lake, collection("asked", ASKED))
    report = made(lake, collection("asked", ASKED, title="Another title"), embedder=no_model)
    assert report.chosen_anew == ()
    assert lake.scan("collection_catalog").collect()["title"].to_list() == ["Another title"]


def test_only_tables_that_a_choice_looks_at_make_it_stale(lake: Lake) -> None:
    everything = [collection("asked", ASKED), collection("named", NAMED), collection("young", YOUNG)]
    made(lake, *everything)
    assert made(lake, *everything, embeddings="v2").chosen_anew == ("asked",)
    assert made(lake, *everything, embeddings="v2", identities="v2").chosen_anew == ("named",)
    assert made(lake, *everything, embeddings="v2", identities="v2", citations="v2").chosen_anew == ()
    assert made(lake, *everything, embeddings="v2", identities="v2", papers="v2").chosen_anew == ("asked", "named", "young")
    assert made(lake, *everything, code="2").chosen_anew == ("asked", "named", "young")


def test_a_collection_that_is_gone_takes_its_rows_with_it(lake: Lake) -> None:
    made(lake, collection("named", NAMED), collection("young", YOUNG))
    report = made(lake, collection("young", YOUNG))
    assert report.retired == ("named",)
    assert members(lake, "named") == []
    assert lake.scan("collection_catalog").collect()["collection"].to_list() == ["young"]
    assert set(report.members) == {"young"}
    report = made(lake)
    assert (report.rows, lake.scan("collections").collect().height, lake.scan("collection_catalog").collect().height) == (0, 0, 0)


def test_a_lost_spool_or_rows_that_were_changed_behind_its_back_are_made_good(lake: Lake) -> None:
    first = made(lake, collection("named", NAMED), collection("young", YOUNG))
    shutil.rmtree(lake.spool())
    before = versions(lake)
    assert made(lake, collection("named", NAMED), collection("young", YOUNG)).content_version == first.content_version
    assert versions(lake) == before, "equal rows make no version"
    delta.write_partition(lake, "collections", "named", pl.DataFrame(schema=contracts.COLLECTIONS.schema), Commit("other", "1"))
    assert made(lake, collection("named", NAMED), collection("young", YOUNG)).chosen_anew == ("named",)
    assert members(lake, "named") == ["p1", "p3"]


def test_a_run_that_ends_half_way_is_taken_up_where_it_ended(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = [collection("named", NAMED), collection("young", YOUNG)]

    def ends(tools: object, one: Collection) -> object:
        if one.name == "young":
            raise KeyboardInterrupt
        return choose(tools, one)  # type: ignore[arg-type]

    choose = build.choose
    monkeypatch.setattr(build, "choose", ends)
    with pytest.raises(KeyboardInterrupt):
        made(lake, *everything)
    monkeypatch.undo()
    assert made(lake, *everything).chosen_anew == ("young",)


def test_a_shard_changes_only_where_another_paper_is_chosen(lake: Lake) -> None:
    first = made(lake, collection("named", NAMED))
    again = made(lake, collection("named", NAMED), collection("also", {"where": {"ids": ["p3"]}}))
    assert again.by_shard == first.by_shard, "a paper is chosen however many collections hold it"
    more = made(lake, collection("named", NAMED), collection("also", {"where": {"ids": ["p7"]}}))
    changed = {shard for shard in lake.shard_keys if more.by_shard[shard] != first.by_shard[shard]}
    assert changed == {lake.shard_of("p7")}
    assert set(first.by_shard) == set(lake.shard_keys)


def test_words_are_read_anew_where_papers_changed(lake: Lake) -> None:
    asked = collection("words", {"where": {"words": ["leptons"]}})
    made(lake, asked)
    shard = lake.shard_of("new")
    rows = [*lake.scan("papers").filter(shard=shard).collect().to_dicts(), paper("new", "Leptons", shard=shard)]
    delta.write_partition(lake, "papers", shard, frame("papers", rows), Commit("run", "1"))
    assert made(lake, asked, papers="v2").collections["words"]["chosen"] == 1
    assert len(list(lake.spool("collections", "words").iterdir())) == 1, "the words of papers as they were are gone"


def test_a_collection_is_listed_with_the_titles_of_its_papers_in_their_order(lake: Lake) -> None:
    made(lake, collection("young", {**YOUNG, "first": {"by": "newest"}}))
    assert [row["collection"] for row in listing.catalog(lake.scan("collection_catalog"))] == ["young"]
    papers = listing.members(lake.scan("collections"), lake.scan("papers"), "young", 2)
    assert [(row["rank"], row["paper_id"], row["title"], row["year"]) for row in papers] == [
        (1, "p11", "Paper number 11", 2001),
        (2, "p10", "Paper number 10", 2000),
    ]
    with pytest.raises(NotFound, match="no collection 'old'; there are: young"):
        listing.catalog(lake.scan("collection_catalog"), "old")


VERSIONS = [
    paper("j", "A paper in a journal", year=2018),
    paper("a", "A preprint of it", year=2017, version_of="j"),
    paper("b", "Another preprint of it", year=2016, version_of="j"),
    paper("r", "A paper that was retracted", year=2018, withdrawn=True, withdrawn_by="notice"),
    paper("s", "The preprint of that", year=2017, version_of="r"),
    paper("t", "Something else", year=2018),
]


def test_a_collection_takes_the_published_version_of_a_work_and_says_so(tmp_path: Path) -> None:
    lake = lake_of(tmp_path / "lake", VERSIONS)
    made(lake, collection("all", {"where": {"years": {"from": 2000}}}), collection("early", {"where": {"years": {"to": 2017}}}))
    rules = {(row["collection"], row["paper_id"]): row["rule"] for row in lake.scan("collections").collect().to_dicts()}
    assert rules == {
        ("all", "j"): "year 2000–; chosen for its versions a, b",
        ("all", "t"): "year 2000–",
        ("early", "a"): "year –2017; one of its versions is b, j",
    }


def test_what_was_withdrawn_is_left_out_with_its_preprints_and_named_where_a_file_asks_for_it(tmp_path: Path) -> None:
    lake = lake_of(tmp_path / "lake", VERSIONS)
    made(lake, collection("named", {"where": {"any_of": [{"ids": ["r", "s", "t"]}, {"ids": ["j", "nobody"]}]}}))
    assert sorted(members(lake, "named")) == ["j", "t"]
    row = lake.scan("collection_catalog").collect().row(0, named=True)
    assert (row["withdrawn_ids"], row["unknown_ids"], row["matched"]) == (["r", "s"], ["nobody"], 2)


@pytest.mark.parametrize("said", [{"representatives": {"size": 5}}, TOPICS | {"topics": TOPICS["topics"] | {"quota": 5}}])
def test_no_way_to_choose_takes_a_withdrawn_paper_or_two_versions_of_a_work(tmp_path: Path, said: dict[str, Any]) -> None:
    lake = lake_of(tmp_path / "lake", [row | {"abstract": f"About quarks. {row['title']}."} for row in VERSIONS])
    made(lake, collection("some", said))
    assert sorted(members(lake, "some")) == ["j", "t"]

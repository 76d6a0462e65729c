"""Claims about which records are one paper. TRAPS 8 to 11, 14 and 15."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scholarlake.corpus import clusters as clustering
from scholarlake.corpus.clusters import NO_YEAR, NodeKeys, decide
from scholarlake.corpus.identity import build_identities
from scholarlake.corpus.keys import KeyIndex
from scholarlake.corpus.titles import content_tokens
from scholarlake.errors import LakeError
from scholarlake.lake import contracts
from scholarlake.lake.hashing import stable_key
from scholarlake.lake.home import Lake
from scholarlake.sources.authors import author_keys
from tests.unit.corpus.making import RUN, lake_of, put, record, rows

SPIKES = "Spike trains as event sequences"
GRAPHS = "Graph kernels for molecules"


def papers(lake: Lake) -> set[frozenset[str]]:
    """The record ids of each paper."""
    frame = lake.scan("identities").group_by("paper_id").agg(pl.col("record_id")).collect()
    return {frozenset(ids) for ids in frame["record_id"].to_list()}


def decided(folder: Path, *records: dict[str, Any]) -> Lake:
    lake = lake_of(folder / "lake", records)
    build_identities(lake, RUN)
    return lake


def fact(lake: Lake, column: str) -> dict[str, Any]:
    frame = lake.scan("identities").filter("is_current").select("record_id", column).collect()
    return dict(frame.iter_rows())


def together(folder: Path, *records: dict[str, Any]) -> bool:
    return len(papers(decided(folder, *records))) == 1


def test_one_doi_on_works_with_nothing_in_common_is_kept_apart_and_flagged(tmp_path: Path) -> None:
    lake = decided(
        tmp_path,
        record("chapter", title="Introduction", doi="10.1/book"),
        record("paper", title=SPIKES, doi="10.1/book"),
        record("other", title=GRAPHS, doi="10.1/graph"),
    )
    assert papers(lake) == {frozenset({"chapter"}), frozenset({"paper"}), frozenset({"other"})}
    assert fact(lake, "flags") == {"chapter": ["doi_conflict"], "paper": ["doi_conflict"], "other": []}


def test_a_doi_chains_titles_that_share_a_word_pairwise(tmp_path: Path) -> None:
    assert together(
        tmp_path,
        record("a", title="Spike trains", doi="10.1/x"),
        record("b", title="Trains of events", doi="10.1/x"),
        record("c", title="Events in cortex", doi="10.1/x"),
    )


def test_chapters_under_the_doi_of_their_book_are_kept_apart_though_they_share_words(tmp_path: Path) -> None:
    titles = ["Graph kernels", "Graph neural networks", "Neural networks for speech", "Speech and graphs", "Kernels for speech", "Networks"]
    chapters = [record(f"c{n}", title=title, doi="10.1/book") for n, title in enumerate(titles)]
    copy = record("copy", title="Kernels, graph", doi="10.1/book", year=2000)
    lake = decided(tmp_path, *chapters, copy, record("untitled", doi="10.1/book"))
    assert papers(lake) == {frozenset({"c0", "copy"}), *(frozenset({f"c{n}"}) for n in range(1, 6)), frozenset({"untitled"})}
    assert set(map(tuple, fact(lake, "flags").values())) == {("doi_conflict",)}


def test_twenty_thousand_chapters_under_one_doi_are_decided_at_once() -> None:
    count = 20_000
    keys = NodeKeys(
        doi=np.full(count, 3, dtype=np.uint64),
        title=np.arange(1, count + 1).astype(np.uint64),
        year=np.full(count, 2000, dtype=np.int32),
        authors=np.empty(0, dtype=np.int64),
        author_starts=np.zeros(count + 1, dtype=np.int64),
    )
    began = time.process_time()
    clusters = decide(keys, lambda nodes: [f"Proceedings of the annual meeting, talk {node % 5000}x" for node in nodes])
    assert time.process_time() - began < 5
    assert len(set(clusters.of_node.tolist())) == 5000


def test_a_record_without_title_joins_its_doi_unless_that_has_two_works(tmp_path: Path) -> None:
    assert together(tmp_path / "one", record("a", title=SPIKES, doi="10.1/x"), record("b", doi="10.1/x"), record("c", doi="10.1/x"))
    assert together(tmp_path / "none", record("a", doi="10.1/x"), record("b", doi="10.1/x"))
    works = [record("a", title=SPIKES, doi="10.1/x"), record("b", title="Introduction", doi="10.1/x")]
    two = decided(tmp_path / "two", *works, record("c", doi="10.1/x"))
    assert len(papers(two)) == 3


def test_a_copy_with_initials_joins_whichever_end_of_the_name_the_family_name_is(tmp_path: Path) -> None:
    def by(record_id: str, name: str) -> dict[str, Any]:
        return record(record_id, title=SPIKES, author_keys=author_keys([(None, name, None, None)]))

    for whole, short in (("Chen Osei", "C. Osei"), ("Jin Jensen", "J. Jensen"), ("Lin Hansen", "L. Hansen"), ("Wang Wei", "W. Wang")):
        assert together(tmp_path / short[3:], by("a", whole), by("b", short)), whole
    assert not together(tmp_path / "others", by("a", "Lin Hansen"), by("b", "A. Osei"))


def test_copies_of_titles_in_any_script_have_something_in_common_only_with_themselves() -> None:
    for one, other in itertools.combinations(["深度学习综述", "图神经网络研究", "Введение в алгебру", "Теория графов", SPIKES], 2):
        assert not content_tokens(one) & content_tokens(other)
    assert content_tokens("深度学习综述") & content_tokens("深度学习：综述（英文）")
    assert content_tokens("Über Körper") & content_tokens("KORPER und Ringe")
    assert not content_tokens("The theory of the graph") & content_tokens("Of the a")
    assert content_tokens("***") == content_tokens(None) == content_tokens("") == frozenset()
    assert content_tokens("The") == {"the"}


def test_titles_that_are_no_key_merge_nothing(tmp_path: Path) -> None:
    lake = decided(tmp_path, *(record(f"e{n}", title="Editorial") for n in range(3)), record("n1"), record("n2"))
    assert len(papers(lake)) == 5


def test_two_valid_dois_never_merge_through_a_title(tmp_path: Path) -> None:
    lake = decided(
        tmp_path,
        record("a", title=SPIKES, doi="10.1/x", year=2000, authors=["Li"]),
        record("b", title=SPIKES, doi="10.1/y", year=2000, authors=["Li"]),
        record("c", title=SPIKES, year=2000, authors=["Li"]),
        record("d", title=SPIKES, year=2000, authors=["Li"]),
    )
    assert len(papers(lake)) == 4, "a title under two DOIs is no key, for those without DOI neither"


def test_a_title_under_conflicting_works_of_one_doi_is_no_key_between_them(tmp_path: Path) -> None:
    lake = decided(
        tmp_path,
        record("a", title="Introduction to graph kernels", doi="10.1/x"),
        record("b", title=SPIKES, doi="10.1/x"),
        record("c", title=SPIKES),
    )
    assert papers(lake) == {frozenset({"a"}), frozenset({"b", "c"})}


@pytest.mark.parametrize(
    ("mine", "theirs", "joins"),
    [
        ({"year": 2000, "authors": ["Li"]}, {"year": 2001, "authors": ["Li", "Wu"]}, True),
        ({"year": 2000, "authors": ["Li"]}, {"year": 2002, "authors": ["Li"]}, False),
        ({"year": 2000, "authors": ["Li"]}, {"year": 2000, "authors": ["Wu"]}, False),
        ({"authors": ["Li"]}, {"year": 1950, "authors": ["Li"]}, True),
        ({"year": 2000}, {"year": 2001, "authors": ["Li"]}, True),
        ({"year": 2000}, {"year": 2002, "authors": ["Li"]}, False),
        ({"year": 2000, "authors": ["Li"]}, {"year": 1999}, True),
        ({"year": 2000, "authors": ["Li"]}, {"authors": ["Wu"]}, False),
        ({}, {"year": 1950, "authors": ["Li"]}, True),
    ],
)
def test_a_title_joins_where_years_and_authors_agree_as_far_as_they_are_known(
    tmp_path: Path, mine: dict[str, Any], theirs: dict[str, Any], joins: bool
) -> None:
    assert together(tmp_path / "doi", record("a", title=SPIKES, **mine), record("b", title=SPIKES, doi="10.1/x", **theirs)) is joins
    assert together(tmp_path / "free", record("a", title=SPIKES, **mine), record("b", title=SPIKES, **theirs)) is joins


def test_each_record_says_which_rule_brought_it_and_each_paper_has_one_representative(tmp_path: Path) -> None:
    lake = decided(
        tmp_path,
        record("a", title=SPIKES, doi="10.1/x"),
        record("b", title="Spike trains, revised", doi="10.1/x"),
        record("c", title=SPIKES),
        record("c", title=SPIKES, keywords=["an older line"], edition="v1"),
        record("t1", title=GRAPHS),
        record("t2", title=GRAPHS, keywords=["x"]),
        record("s0", title="Single paper with a DOI", year=2000),
        record("s1", title="Single paper with a DOI", doi="10.1/s"),
    )
    frame = lake.scan("identities").collect()
    rules = {(row["record_id"], row["edition"]): row["rule"] for row in frame.iter_rows(named=True)}
    assert rules == {
        ("a", ""): "representative",
        ("b", ""): "same_doi",
        ("c", ""): "same_id",
        ("c", "v1"): "title_to_doi",
        ("t1", ""): "representative",
        ("t2", ""): "title",
        ("s0", ""): "representative",
        ("s1", ""): "title_to_doi",
    }
    assert frame.filter(rule="representative").height == frame["paper_id"].n_unique()
    assert set(frame["rule"]) <= set(contracts.IDENTITY_RULES)


def test_only_the_newest_record_of_an_id_contributes_keys(tmp_path: Path) -> None:
    revised = [
        record("a", edition="v3.9", title=GRAPHS, doi="10.1/wrong"),
        record("a", edition="v3.10", title=SPIKES, doi="10.1/right"),
        record("b", edition="v3.9", title=GRAPHS, doi="10.1/wrong"),
    ]
    lake = decided(tmp_path, *revised)
    assert papers(lake) == {frozenset({"a"}), frozenset({"b"})}
    current = lake.scan("identities").filter("is_current").select("record_id", "edition").collect()
    assert set(current.rows()) == {("a", "v3.10"), ("b", "v3.9")}


def test_the_paper_is_named_by_its_oldest_edition_then_by_the_smallest_id(tmp_path: Path) -> None:
    lake = decided(
        tmp_path,
        record("a", edition="v3.10", title=SPIKES, doi="10.1/x"),
        record("m", edition="v3.9", title=SPIKES, doi="10.1/x"),
        record("z", edition="v3.9", title=SPIKES, doi="10.1/x"),
    )
    assert set(fact(lake, "paper_id").values()) == {"m"}


def test_equal_lines_are_one_record_with_its_copies(tmp_path: Path) -> None:
    line = {"title": SPIKES, "doi": "10.1/x"}
    lake = decided(tmp_path, record("a", **line), record("a", **line), record("a", part="b.jsonl", **line))
    assert lake.scan("identities").select("record_id", "copies").collect().rows() == [("a", 3)]


def test_a_chain_of_merges_over_refreshes_ends_in_one_paper(tmp_path: Path) -> None:
    """TRAP 14: the first batch makes p1 and p2 one, the next p2 and p3."""
    lake = decided(tmp_path, record("p1", title=SPIKES, doi="10.1/x"), record("p2", part="b", title=SPIKES, doi="10.1/x"))
    assert papers(lake) == {frozenset({"p1", "p2"})}
    more = [record("p3", part="c", edition="", title=SPIKES), record("p0", part="c", title=SPIKES, doi="10.1/x")]
    put(lake, [record("p1", title=SPIKES, doi="10.1/x"), record("p2", part="b", title=SPIKES, doi="10.1/x"), *more])
    build_identities(lake, RUN)
    assert set(fact(lake, "paper_id").values()) == {"p0"}


def test_a_refresh_that_changes_nothing_writes_no_version_and_a_lost_part_empties_its_shards(tmp_path: Path) -> None:
    kept = [record(f"k{n}") for n in range(3)]
    lake = decided(tmp_path, *kept, *(record(f"g{n}", part="gone") for n in range(9)))
    first = build_identities(lake, RUN)
    assert first.changed == 0
    again = build_identities(lake, RUN)
    assert (again.changed, again.version, again.content_versions) == (0, first.version, first.content_versions)
    put(lake, kept)
    report = build_identities(lake, RUN)
    assert (report.deleted, report.inserted, report.papers) == (9, 0, 3)
    assert set(report.content_versions) == set(lake.shard_keys)


def test_two_ids_of_one_key_are_refused(tmp_path: Path) -> None:
    lake = lake_of(tmp_path / "lake", [record("a"), record("b", record_key=record("a")["record_key"])])
    with pytest.raises(LakeError, match="have the same 64-bit key"):
        build_identities(lake, RUN)


def test_a_part_of_nulls_and_empty_lists_is_decided_like_any_other(tmp_path: Path) -> None:
    lake = decided(tmp_path, *(record(f"n{number}") for number in range(5)))
    assert len(papers(lake)) == 5
    empty = lake_of(tmp_path / "empty", [])
    put(empty, [record("a")])
    put(empty, [])
    assert build_identities(empty, RUN).papers == 0


# -- against all pairs -----------------------------------------------------------------------------------------------

TITLES = [None, "Alpha beta gamma", "Gamma delta epsilon", "Zeta eta theta"]

a_record = st.fixed_dictionaries(
    {
        "record_id": st.sampled_from([f"r{number}" for number in range(16)]),
        "edition": st.sampled_from(["", "v2", "v10"]),
        "part": st.sampled_from(["a", "b"]),
        "title": st.sampled_from(TITLES),
        "doi": st.sampled_from([None, None, "10.1/x", "10.1/y"]),
        "year": st.sampled_from([None, 2000, 2001, 2002, 2003]),
        "authors": st.sets(st.sampled_from(["Li", "Wu", "Xu"]), max_size=2),
    }
)


def by_all_pairs(records: list[dict[str, Any]], titles_of_a_work: int = 5) -> set[frozenset[str]]:
    """DESIGN's rules, word by word, over all pairs."""
    order = {"": 0, "v2": 1, "v10": 2}
    newest: dict[str, dict[str, Any]] = {}
    for row in records:
        best = newest.get(row["record_id"])
        if best is None or (order[row["edition"]], row["content_hash"]) > (order[best["edition"]], best["content_hash"]):
            newest[row["record_id"]] = row
    nodes = sorted(newest)
    doi, title, tokens = ({node: newest[node][name] for node in nodes} for name in ("doi", "title_fingerprint", "title"))

    def components(members: list[str], linked: Any) -> list[set[str]]:
        found: list[set[str]] = []
        for member in members:
            touching = [part for part in found if any(linked(member, other) for other in part)]
            found = [part for part in found if part not in touching] + [set().union({member}, *touching)]
        return found

    def compatible(one: str, other: str) -> bool:
        first, second = newest[one], newest[other]
        years = first["year"] is None or second["year"] is None or abs(first["year"] - second["year"]) <= 1
        known = first["author_keys"] and second["author_keys"]
        return years and (not known or bool(set(first["author_keys"]) & set(second["author_keys"])))

    clusters: list[set[str]] = []
    for value in {doi[node] for node in nodes if doi[node]}:
        members = [node for node in nodes if doi[node] == value]
        named = [node for node in members if tokens[node]]
        is_book = len({content_tokens(tokens[node]) for node in named}) > titles_of_a_work

        def alike(one: str, other: str, is_book: bool = is_book) -> bool:
            mine, theirs = content_tokens(tokens[one]), content_tokens(tokens[other])
            return mine == theirs if is_book else bool(mine & theirs)

        parts = components(named, alike)
        unnamed = set(members) - set(named)
        clusters += [parts[0] | unnamed if parts else unnamed] if len(parts) <= 1 else [*parts, *({node} for node in unnamed)]
    free = [node for node in nodes if not doi[node]]
    owners = {node: [part for part in clusters if any(title[member] == title[node] for member in part)] for node in free if title[node]}
    joined = {
        node: parts[0]
        for node, parts in owners.items()
        if len(parts) == 1 and any(title[member] == title[node] and compatible(node, member) for member in parts[0])
    }
    rest = [node for node in free if node not in joined]
    keyed = {node for node in rest if title[node] and len(owners[node]) <= 1}
    loose = components(rest, lambda one, other: one in keyed and other in keyed and title[one] == title[other] and compatible(one, other))
    whole = [part | {node for node, owner in joined.items() if owner is part} for part in clusters]
    return {frozenset(part) for part in [*whole, *loose]}


@settings(max_examples=150, deadline=None)
@given(st.lists(a_record, min_size=1, max_size=20, unique_by=lambda values: values["record_id"]), st.sampled_from([1, 2, 5]))
def test_any_nodes_are_decided_as_all_pairs_would(drawn: list[dict[str, Any]], titles_of_a_work: int) -> None:
    nodes = [record(**values) for values in drawn]
    keys = NodeKeys(
        doi=np.array([stable_key(node["doi"]) if node["doi"] else 0 for node in nodes]).view(np.uint64),
        title=np.array([stable_key(node["title"]) if node["title"] else 0 for node in nodes]).view(np.uint64),
        year=np.array([NO_YEAR if node["year"] is None else node["year"] for node in nodes], dtype=np.int32),
        authors=np.array([key for node in nodes for key in node["author_keys"]], dtype=np.int64),
        author_starts=np.cumsum([0, *(len(node["author_keys"]) for node in nodes)]),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clustering, "TITLES_OF_A_WORK", titles_of_a_work)
        clusters = decide(keys, lambda asked: [nodes[node]["title"] for node in asked]).of_node.tolist()
    found = {frozenset(node["record_id"] for node, at in zip(nodes, clusters, strict=True) if at == cluster) for cluster in clusters}
    assert found == by_all_pairs(nodes, titles_of_a_work)


@settings(max_examples=12, deadline=None)
@given(st.lists(a_record, min_size=1, max_size=14), st.randoms(use_true_random=False))
def test_any_records_in_any_order_and_parts_are_decided_as_all_pairs_would(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[dict[str, Any]], random: Any
) -> None:
    records = [record(**values) for values in drawn]
    folder = tmp_path_factory.mktemp("lakes")
    lake = decided(folder / "one", *records)
    assert papers(lake) == by_all_pairs(records)
    moved = [record(**(values | {"part": random.choice(["c", "b", "z"])})) for values in drawn]
    random.shuffle(moved)
    assert rows(decided(folder / "other", *moved), "identities") == rows(lake, "identities")


def test_twenty_thousand_papers_of_one_title_are_decided_at_once() -> None:
    count = 20_000
    random = np.random.default_rng(5)
    keys = NodeKeys(
        doi=np.zeros(count, dtype=np.uint64),
        title=np.full(count, 9, dtype=np.uint64),
        year=np.where(np.arange(count) % 7 == 0, NO_YEAR, 1900 + np.arange(count) % 90).astype(np.int32),
        authors=random.integers(0, 400, count),
        author_starts=np.concatenate([np.arange(count // 2 + 1), np.full(count - count // 2, count // 2)]).astype(np.int64),
    )
    began = time.process_time()
    clusters = decide(keys, lambda nodes: [None] * len(nodes))
    assert time.process_time() - began < 5
    assert len(set(clusters.of_node.tolist())) == 1


@given(st.sets(st.integers(-(2**63), 2**63 - 1), max_size=40), st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20))
def test_a_key_is_found_where_it_is_and_nowhere_else(held: set[int], asked: list[int]) -> None:
    ordered = sorted(held, key=lambda key: key % 2**64)
    index = KeyIndex(np.array(ordered, dtype=np.int64))
    asked = [*asked, *held, -1, 0]
    expected = [ordered.index(key) if key in held else -1 for key in asked]
    assert index.find(np.array(asked, dtype=np.int64)).tolist() == expected

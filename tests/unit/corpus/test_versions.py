"""Claims about preprints, what was published of them, and notices of retraction: which papers lead to which others."""

from __future__ import annotations

import itertools
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scholarlake.corpus import preprints
from scholarlake.corpus.clusters import NO_YEAR, NodeKeys
from scholarlake.corpus.identity import build_identities
from scholarlake.corpus.merge import build_papers
from scholarlake.corpus.versions import YEARS_BEFORE, YEARS_LATER, Nodes, decide_versions
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from tests.unit.corpus.making import RUN, lake_of, put, record, rows

TITLE = "Spike trains as event sequences"
ARXIV, JOURNAL = "10.48550/arxiv.1706.03762", "10.1016/j.neuron.2018.01"
PUBLISHED = {"title": TITLE, "year": 2018, "authors": ["Byron", "Chen"]}


def built(lake: Lake) -> Lake:
    build_identities(lake, RUN)
    for shard in lake.shard_keys:
        build_papers(lake, shard, RUN)
    return lake


def made(folder: Path, *records: dict[str, Any]) -> Lake:
    return built(lake_of(folder / "lake", records))


def versions(lake: Lake) -> dict[str, str]:
    return dict(lake.scan("papers").filter(pl.col("version_of").is_not_null()).select("paper_id", "version_of").collect().iter_rows())


def rules(lake: Lake) -> dict[str, str]:
    return dict(lake.scan("work_versions").select("paper_id", "rule").collect().iter_rows())


def withdrawn(lake: Lake) -> dict[str, str | None]:
    marked = lake.scan("papers").filter("withdrawn").select("paper_id", "withdrawal_notice")
    return dict(marked.collect().iter_rows())


# -- preprints and what was published of them ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "doi",
    [
        "10.48550/arxiv.1706.03762",
        "10.1101/012345",
        "10.1101/2020.03.01.20029769",
        "10.2139/ssrn.3541000",
        "10.21203/rs.3.rs-12345/v1",
        "10.26434/chemrxiv-2021-abcde",
        "10.31234/osf.io/ab3cd",
        "10.20944/preprints202001.0001.v1",
        "10.36227/techrxiv.12345",
        "10.5194/acp-2019-123",
        "10.5194/acpd-9-1234-2009",
        "10.5194/esdd-2-1-2011",
        "10.5194/egusphere-2022-1",
    ],
)
def test_a_doi_of_a_preprint_server_is_a_preprint_s(doi: str) -> None:
    assert kind(doi=doi, venue="Nature") == preprints.PREPRINT


@pytest.mark.parametrize(
    "doi",
    ["10.1101/gr.123456", "10.5194/acp-19-123-2019", "10.5194/esd-2-1-2011", "10.5194/gmd-3-1-2010", "10.1038/arxiv"],
)
def test_a_doi_of_a_journal_is_a_publication_s_even_where_the_venue_is_another(doi: str) -> None:
    assert kind(doi=doi, venue="arXiv") == preprints.PUBLISHED


@pytest.mark.parametrize(
    ("venue", "doc_type", "found"),
    [
        ("arXiv: Artificial Intelligence", None, preprints.PREPRINT),
        ("arXiv (Cornell University)", None, preprints.PREPRINT),
        ("CoRR", None, preprints.PREPRINT),
        ("CoRR abs/1706.03762", None, preprints.PREPRINT),
        ("bioRxiv", "Journal", preprints.PREPRINT),
        ("SSRN Electronic Journal", None, preprints.PREPRINT),
        (None, "Preprint", preprints.PREPRINT),
        (None, "repository", preprints.PREPRINT),
        ("Corrosion", None, preprints.PUBLISHED),
        ("Neuron", None, preprints.PUBLISHED),
        (None, "Journal", preprints.PUBLISHED),
        (None, None, preprints.UNKNOWN),
    ],
)
def test_without_a_doi_venue_and_type_say_what_a_record_is_of(venue: str | None, doc_type: str | None, found: int) -> None:
    assert kind(venue=venue, doc_type=doc_type) == found


def kind(doi: str | None = None, venue: str | None = None, doc_type: str | None = None) -> int:
    row = pl.DataFrame({"doi": [doi], "venue": [venue], "doc_type": [doc_type]}, dict.fromkeys(("doi", "venue", "doc_type"), pl.String))
    return int(row.select(preprints.kind()).item())


def test_a_preprint_is_a_version_of_what_was_published_of_it_and_neither_is_lost(tmp_path: Path) -> None:
    lake = made(
        tmp_path,
        record("a", doi=ARXIV, **PUBLISHED | {"year": 2017}),
        record("b", doi=JOURNAL, **PUBLISHED),
        record("c", title="Another title of the same people", doi="10.1/c", authors=["Byron"]),
    )
    assert (versions(lake), rules(lake)) == ({"a": "b"}, {"a": "title_and_author"})
    assert lake.scan("papers").collect().height == 3


@pytest.mark.parametrize(
    ("preprint", "published", "linked"),
    [
        ({}, {}, True),
        ({"year": 2014}, {}, True),
        ({"year": 2013}, {}, False),
        ({"year": 2019}, {}, True),
        ({"year": 2020}, {}, False),
        ({"year": None}, {}, True),
        ({}, {"year": None}, True),
        ({"authors": ["Osei"]}, {}, False),
        ({"authors": ["Chen", "Osei"]}, {}, True),
        ({"authors": []}, {}, True),
        ({"authors": []}, {"authors": []}, True),
        ({}, {"authors": []}, True),
        ({"title": TITLE.upper() + "."}, {}, True),
        ({"title": "Another title altogether"}, {}, False),
        ({}, {"doi": "10.48550/arxiv.9999.1"}, True),  # two preprints of one work
    ],
)
def test_a_version_shares_a_title_and_an_author_within_some_years(
    tmp_path: Path, preprint: dict[str, Any], published: dict[str, Any], linked: bool
) -> None:
    lake = made(tmp_path, record("a", **PUBLISHED | {"doi": ARXIV} | preprint), record("b", **PUBLISHED | {"doi": JOURNAL} | published))
    assert (len(versions(lake)) == 1) is linked


def test_of_titles_that_are_no_key_nothing_is_a_version(tmp_path: Path) -> None:
    same = {"title": "Editorial", "title_fingerprint": None, "year": 2018, "authors": ["Byron"]}
    assert versions(made(tmp_path, record("a", doi=ARXIV, **same), record("b", doi=JOURNAL, **same))) == {}


def test_a_conference_paper_is_no_version_of_the_journal_s(tmp_path: Path) -> None:
    lake = made(tmp_path, record("a", doi="10.1145/1", **PUBLISHED | {"year": 2017}), record("b", doi=JOURNAL, **PUBLISHED))
    assert versions(lake) == {}


def test_of_several_publications_a_preprint_is_a_version_of_the_earliest_ties_to_the_smaller_id(tmp_path: Path) -> None:
    preprint = record("a", doi=ARXIV, **PUBLISHED | {"year": 2017})
    others = [record(name, doi=f"10.1/{name}", **PUBLISHED | {"year": year}) for name, year in (("x", 2019), ("d", 2018), ("c", 2018))]
    assert versions(made(tmp_path / "some", preprint, *others)) == {"a": "c"}
    early = record("e", doi="10.1/e", **PUBLISHED | {"year": 2010})
    assert versions(made(tmp_path / "early", preprint, *others, early)) == {"a": "c"}, "published long before is something else"


def test_where_authors_are_unknown_only_the_one_paper_of_a_title_will_do(tmp_path: Path) -> None:
    preprint = record("a", doi=ARXIV, title=TITLE, year=2018)
    one, two = (record(name, doi=f"10.1/{name}", **PUBLISHED) for name in "bc")
    lake = made(tmp_path / "one", preprint, one)
    assert (versions(lake), rules(lake)) == ({"a": "b"}, {"a": "title"})
    assert versions(made(tmp_path / "two", preprint, one, two)) == {}


def test_all_preprints_of_a_work_lead_to_what_was_published_and_else_to_the_latest(tmp_path: Path) -> None:
    first = record("a", doi="10.21203/rs.3.rs-7/v1", **PUBLISHED | {"year": 2016})
    second = record("b", doi="10.21203/rs.3.rs-7/v2", **PUBLISHED | {"year": 2016, "title": "Spike trains: sequences of events"})
    third = record("c", doi=ARXIV, **PUBLISHED | {"year": 2016})
    assert versions(made(tmp_path / "alone", first, second, third)) == {"a": "b", "c": "b"}
    journal = record("d", doi=JOURNAL, **PUBLISHED | {"title": "Spike trains: sequences of events"})
    lake = made(tmp_path / "published", first, second, third, journal)
    assert versions(lake) == {"a": "d", "b": "d", "c": "d"}
    assert rules(lake) == {"a": "other_preprint", "b": "title_and_author", "c": "other_preprint"}


def test_a_preprint_without_doi_that_joined_its_publication_is_no_paper_of_its_own(tmp_path: Path) -> None:
    lake = made(tmp_path, record("a", venue="CoRR", **PUBLISHED), record("b", doi=JOURNAL, **PUBLISHED))
    assert (lake.scan("papers").collect().height, versions(lake)) == (1, {})


def test_a_preprint_without_doi_too_early_to_join_is_a_version(tmp_path: Path) -> None:
    lake = made(tmp_path, record("a", venue="CoRR", **PUBLISHED | {"year": 2015}), record("b", doi=JOURNAL, **PUBLISHED))
    assert versions(lake) == {"a": "b"}


def test_only_the_newest_record_of_an_id_says_what_a_paper_is(tmp_path: Path) -> None:
    before = record("a", edition="v1", doi=ARXIV, **PUBLISHED)
    after = record("a", edition="v2", doi="10.1145/7", **PUBLISHED)
    assert versions(made(tmp_path, before, after, record("b", doi=JOURNAL, **PUBLISHED))) == {}


def test_a_publication_that_comes_or_goes_changes_its_preprint_alone(tmp_path: Path) -> None:
    preprint, journal = record("a", doi=ARXIV, **PUBLISHED), record("b", doi=JOURNAL, **PUBLISHED)
    others = [record(f"p{n}", title=f"A title of paper {n}") for n in range(9)]
    lake = made(tmp_path, preprint, *others)
    assert versions(lake) == {}
    put(lake, [preprint, journal, *others])
    build_identities(lake, RUN)
    assert sum(build_papers(lake, shard, RUN).merged for shard in lake.shard_keys) == 2
    assert versions(lake) == {"a": "b"}
    version = delta.version(lake, "work_versions")
    built(lake)
    assert delta.version(lake, "work_versions") == version
    put(lake, [preprint, *others])
    built(lake)
    assert versions(lake) == {}
    assert lake.scan("work_versions").collect().height == 0


names = st.sampled_from(["Byron", "Chen", "Osei"])
a_version = st.fixed_dictionaries(
    {
        "title": st.sampled_from([TITLE, "Graph kernels for molecules", None]),
        "doi": st.sampled_from(
            [f"10.48550/arxiv.{n}" for n in range(3)] + ["10.21203/rs.1/v1", "10.21203/rs.1/v2", "10.1/a", "10.1/b", None]
        ),
        "year": st.sampled_from([2010, 2011, 2013, 2016, 2020, None]),
        "venue": st.sampled_from(["arXiv", "Neuron", None]),
        "authors": st.lists(names, max_size=2, unique=True),
    }
)


@settings(max_examples=40, deadline=None)
@given(st.lists(a_version, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_any_order_and_parting_of_the_records_gives_the_same_versions_and_no_chain(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[dict[str, Any]], shuffle: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("order")
    one = made(folder / "one", *(record(f"id{n}", "a", **values) for n, values in enumerate(drawn)))
    others = [record(f"id{n}", shuffle.choice("abc"), **values) for n, values in enumerate(drawn)]
    shuffle.shuffle(others)
    other = made(folder / "other", *others)
    for table in ("work_versions", "withdrawals", "papers"):
        assert rows(one, table) == rows(other, table)
    found = versions(one)
    assert not set(found) & set(found.values())


def by_all_pairs(works: list[dict[str, Any]]) -> dict[int, int]:
    """The rules of versions, word by word, over all pairs. Works: title, year, authors, preprint, stem, number."""
    pre = [n for n, work in enumerate(works) if work["preprint"]]
    pub = [n for n, work in enumerate(works) if not work["preprint"]]
    last = 9999

    def shares(one: int, other: int) -> bool:
        return works[one]["title"] is not None and works[one]["title"] == works[other]["title"]

    def known(one: int, other: int) -> bool:
        return bool(works[one]["authors"] and works[other]["authors"])

    own: dict[int, tuple[int, int, int]] = {}
    for one in pre:
        year = works[one]["year"]
        options = []
        for other in pub:
            theirs = works[other]["year"]
            near = year is None or theirs is None or -YEARS_BEFORE <= theirs - year <= YEARS_LATER
            if not shares(one, other) or not near:
                continue
            alone = sum(shares(other, third) for third in pub) == 1
            if known(one, other):
                if set(works[one]["authors"]) & set(works[other]["authors"]):
                    options.append((0, theirs or last, other))
            elif alone:
                options.append((1, theirs or last, other))
        if options:
            own[one] = min(options)
    group = {one: {one} for one in pre}
    for one, other in itertools.combinations(pre, 2):
        both = set(works[one]["authors"]) & set(works[other]["authors"])
        years = [works[one]["year"], works[other]["year"]]
        near = None in years or abs(years[0] - years[1]) <= YEARS_LATER
        if (works[one]["stem"] and works[one]["stem"] == works[other]["stem"]) or (shares(one, other) and both and near):
            union = group[one] | group[other]
            for member in union:
                group[member] = union
    found = {}
    for one in pre:
        targets = [own[member] for member in group[one] if member in own]
        latest = max(group[one], key=lambda n: (works[n]["year"] or -1, works[n]["number"], -n))
        found[one] = min(targets)[2] if targets else latest
    return {one: other for one, other in found.items() if one != other}


a_work = st.fixed_dictionaries(
    {
        "title": st.sampled_from([1, 2, None]),
        "year": st.sampled_from([2010, 2011, 2013, 2014, 2016, 2020, None]),
        "authors": st.lists(st.sampled_from([1, 2, 3]), max_size=2, unique=True),
        "preprint": st.sampled_from([True, True, False]),
        "stem": st.sampled_from([None, None, None, 1]),
        "number": st.integers(1, 3),
    }
)


def nodes_of(works: list[dict[str, Any]]) -> Nodes:
    lengths = [len(work["authors"]) for work in works]
    stems = [(n, work["stem"], work["number"]) for n, work in enumerate(works) if work["stem"]]
    return Nodes(
        NodeKeys(
            doi=np.arange(1, len(works) + 1, dtype=np.uint64),
            title=np.array([work["title"] or 0 for work in works], dtype=np.uint64),
            year=np.array([NO_YEAR if work["year"] is None else work["year"] for work in works], dtype=np.int32),
            authors=np.array([author for work in works for author in work["authors"]], dtype=np.int64),
            author_starts=np.cumsum([0, *lengths]),
        ),
        np.array([preprints.PREPRINT if work["preprint"] else preprints.PUBLISHED for work in works], dtype=np.uint8),
        np.arange(len(works)),
        lambda wanted: pl.Series([f"{node:06d}" for node in wanted], dtype=pl.String),
        pl.DataFrame(stems, schema={"node": pl.Int64, "stem": pl.UInt64, "number": pl.Int32}, orient="row"),
    )


@settings(max_examples=300, deadline=None)
@given(st.lists(a_work, min_size=1, max_size=12))
def test_any_works_are_decided_as_all_pairs_would(works: list[dict[str, Any]]) -> None:
    for work in works:
        if not work["preprint"] or not work["stem"]:
            work["stem"], work["number"] = None, 0
    found = decide_versions(nodes_of(works))
    assert dict(found.select("paper", "version_of").iter_rows()) == by_all_pairs(works)


def test_twenty_thousand_works_of_one_title_and_author_are_decided_at_once() -> None:
    works = [{"title": 7, "year": 2000 + n % 20, "authors": [1, 2], "preprint": n % 2, "stem": None, "number": 0} for n in range(20_000)]
    began = time.process_time()
    assert decide_versions(nodes_of(works)).height == 10_000
    assert time.process_time() - began < 10


# -- notices ---------------------------------------------------------------------------------------------------------

NOTICES = (
    "Retraction notice to: {}",
    "Retraction notice to “{}” [Cell 12 (2003) 1–8]",
    "Retraction Note: {}",
    "Retraction: {}",
    "Statement of Retraction: {}",
    'Retraction of "{}"',
    "Withdrawal notice: {}",
    "Article Retraction: {}",
    "Retractación: {}",
    "Rétractation : {}",
    "Ретракция статьи: {}",
    "撤稿声明：{}",
)


@pytest.mark.parametrize("form", NOTICES)
def test_a_notice_is_a_paper_of_its_own_and_marks_the_paper_that_it_names(tmp_path: Path, form: str) -> None:
    lake = made(
        tmp_path,
        record("a", doi=JOURNAL, **PUBLISHED),
        record("n", title=form.format(TITLE), doi="10.1016/notice", year=2021),
        record("o", title="Another paper of that year", year=2018),
    )
    assert withdrawn(lake) == {"a": "n"}
    assert lake.scan("papers").filter(paper_id="a").select("withdrawn_by").collect().item() == "notice"
    assert lake.scan("withdrawals").select("paper_id", "notice_id").collect().rows() == [("a", "n")]


@pytest.mark.parametrize(
    "title",
    [
        f"Retraction of {TITLE}",
        f"Comment on: {TITLE}",
        f"Retraction: {TITLE} in the lizard",
        f"Statement of: {TITLE}",
        "Retraction:",
        TITLE,
    ],
)
def test_what_names_no_paper_marks_none(tmp_path: Path, title: str) -> None:
    lake = made(tmp_path, record("a", doi=JOURNAL, **PUBLISHED), record("n", title=title, doi="10.1016/notice", year=2021))
    assert withdrawn(lake) == {}


def test_a_notice_older_than_a_paper_is_about_another(tmp_path: Path) -> None:
    notice = record("n", title=f"Retraction: {TITLE}", year=2009)
    assert withdrawn(made(tmp_path, record("a", doi=JOURNAL, **PUBLISHED), notice)) == {}


def test_of_two_papers_of_one_title_a_notice_marks_the_published_one_or_that_of_its_authors_or_none(tmp_path: Path) -> None:
    journal, notice = record("b", doi=JOURNAL, **PUBLISHED), {"title": f"Retraction: {TITLE}", "year": 2021}
    preprint = record("a", doi=ARXIV, **PUBLISHED | {"year": 2017})
    assert withdrawn(made(tmp_path / "versions", preprint, journal, record("n", **notice))) == {"b": "n"}
    other = record("c", doi="10.1/c", **PUBLISHED | {"authors": ["Osei"]})
    assert withdrawn(made(tmp_path / "two", journal, other, record("n", **notice))) == {}
    assert withdrawn(made(tmp_path / "signed", journal, other, record("n", authors=["Osei"], **notice))) == {"c": "n"}


def test_of_two_notices_the_first_by_id_is_named_and_one_that_goes_takes_its_mark_along(tmp_path: Path) -> None:
    paper, *notices = (
        record("a", doi=JOURNAL, **PUBLISHED),
        record("m", title=f"Retraction Note to: {TITLE}", year=2021),
        record("n", title=f"Retraction: {TITLE}", year=2021),
    )
    lake = made(tmp_path, paper, *notices)
    assert withdrawn(lake) == {"a": "m"}
    put(lake, [paper, notices[1]])
    assert withdrawn(built(lake)) == {"a": "n"}
    put(lake, [paper])
    assert withdrawn(built(lake)) == {}

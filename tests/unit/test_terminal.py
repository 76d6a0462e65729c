"""What the command line shows."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

from rich.console import Console, RenderableType

from scholarlake.differences import Cited, Differences, Fates, RowChange, TableChange
from scholarlake.lake.releases import PinnedArtifact, PinnedTable, Release
from scholarlake.lake.vacuum import Sweep, Waste
from scholarlake.search.paper import Author, Hit, Paper
from scholarlake.terminal import (
    render_build,
    render_differences,
    render_hits,
    render_paper,
    render_releases,
    render_status,
    render_sweep,
    to_dict,
)

PAPER = Paper(
    paper_id="p1",
    title="Attention [bold]is[/] all\x1b[31m you need",
    abstract="The dominant models. " * 40,
    authors=tuple(Author(name) for name in ("A. One", "B. Two", "C. Three", "D. Four", "E. Five")),
    year=2017,
    venue="NIPS",
    doi="10.1/x",
    keywords=("attention",),
    in_degree=1234,
    out_degree=40,
    total_degree=1274,
    is_core=True,
    rank=1,
    record_ids=("p1", "p1-old"),
    editions=("",),
    flags=("doi_conflict",),
    urls=(),
    shard="00",
    method="merge",
    unresolved_references=7,
    same_title=("p9",),
)


def shown(renderable: RenderableType, width: int = 120) -> str:
    console = Console(file=StringIO(), width=width, force_terminal=False, highlight=False)
    console.print(renderable)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_a_hit_shows_title_authors_year_citations_and_id() -> None:
    text = shown(render_hits([Hit(1, PAPER, 0.71234, ("dense", "keyword"))]))
    for part in (
        "is[/] all",
        "A. One, B. Two, C. Three, D. Four and 1 more · NIPS · 2017",
        "cited 1,234",
        "0.712",
        "dense + keyword",
        "p1",
    ):
        assert part in text
    assert "…" in text


def test_a_title_does_not_steer_the_terminal() -> None:
    for text in (shown(render_hits([Hit(1, PAPER, None, ("keyword",))])), shown(render_paper(PAPER))):
        assert "\x1b" not in text
        assert "[bold]is[/]" in text


def test_no_hit_is_said_in_words() -> None:
    assert shown(render_hits([])).strip() == "nothing found"


def test_a_withdrawn_paper_and_a_version_of_another_are_shown_as_such() -> None:
    gone = replace(PAPER, withdrawn=True, withdrawn_by="notice", withdrawal_notice="n7")
    assert "withdrawn, as the notice n7 says" in shown(render_paper(gone))
    assert "withdrawn, as its title says and the notice n7 says" in shown(render_paper(replace(gone, withdrawn_by="title")))
    assert "withdrawn Attention" in shown(render_hits([Hit(1, gone, None, ("keyword",))]))
    version = replace(PAPER, version_of="p7")
    assert "a version of p7" in shown(render_hits([Hit(1, version, None, ("keyword",))]))
    assert "version of p7" in " ".join(shown(render_paper(version)).split())
    assert "versions p8" in " ".join(shown(render_paper(replace(PAPER, versions=("p8",)))).split())
    plain = shown(render_paper(PAPER)) + shown(render_hits([Hit(1, PAPER, None, ("keyword",))]))
    assert "withdrawn" not in plain
    assert "version" not in plain


def test_a_page_shows_merged_ids_flags_degrees_and_papers_of_the_same_title() -> None:
    text = shown(render_paper(PAPER, references=[PAPER]))
    for part in (
        "p1-old",
        "p9",
        "doi_conflict",
        "cited by 1,234, cites 40 (and 7 outside the corpus), in the core",
        "cites 40",
        "and 39 more",
    ):
        assert part in text


def test_results_are_plain_json() -> None:
    hit = json.loads(json.dumps(to_dict([Hit(1, PAPER, 0.5, ("dense",))])))[0]
    assert (hit["place"], hit["score"], hit["paper"]["authors"][0]["name"]) == (1, 0.5, "A. One")


def test_releases_are_listed_with_their_counts_and_how_to_read_them() -> None:
    release = Release(
        name="r0001",
        created_at="2030-01-02T03:04:05+00:00",
        shards=1,
        profile={},
        embedder={},
        tables={"papers": PinnedTable("tables/papers", 3, 29555)},
        artifacts={"search_index": {"all": PinnedArtifact("artifacts/x", "d", 1, {})}},
        data_versions={},
    )
    text = shown(render_releases([release], {"papers": {"polars": 'pl.scan_delta("x", version=3)'}}))
    for part in ("r0001", "2030-01-02 03:04", "29,555", "–", 'pl.scan_delta("x", version=3)'):
        assert part in text
    assert json.dumps(to_dict(release))


def test_a_build_says_what_ran_what_failed_and_how_long_it_took() -> None:
    ran = [{"asset": "papers", "partition": p, "reason": "missing", "seconds": 40.0, "rows": 10} for p in ("00", "01")]
    text = shown(render_build({"ran": ran, "failed": [{"where": "papers [02]", "why": "it broke"}], "release": "r0002", "seconds": 80}))
    for part in ("papers", "20", "missing", "papers [02]: it broke", "2 partitions made, 1 failed in 1 min 20 s", "r0002"):
        assert part in text
    assert "nothing was stale in 0.2 s" in shown(render_build({"ran": [], "failed": [], "seconds": 0.2}))


def test_status_says_what_is_stale_and_why() -> None:
    state = {
        "lake": "data/lake",
        "release": "r0001",
        "assets": [{"asset": "papers", "partitions": 4, "rows": 1000, "made_at": "2030-01-02T03:04:05"}],
        "stale": [{"asset": "papers", "partition": "02", "reason": "shard_inputs changed"}],
    }
    text = shown(render_status(state))
    for part in ("data/lake", "r0001", "1,000", "1 stale", "papers [02]", "shard_inputs changed"):
        assert part in text
    assert "nothing is stale" in shown(render_status({"lake": "x", "release": None, "stale": []}))


DIFFERENCES = Differences(
    before="r0001",
    after="r0002",
    tables=(
        TableChange(
            table="papers",
            rows_before=1_000,
            rows_after=999,
            partitions=4,
            compared=1,
            came=0,
            went=1,
            changed=1_200,
            fields={"title": 1_200},
            rows=(
                RowChange(("p2",), "went", papers=("p2",), title="Gone\x1b[2J", why="merged into p1", in_degree=3),
                RowChange(("p1",), "changed", ("title",), ("p1",), "Attention", in_degree=7),
            ),
        ),
        TableChange("citations", 5, 5, 4, 0, 0, 0, 0, {}, ()),
        TableChange("core_papers", 5, 6, 4, 1, 1, 0, 2, {"in_degree": 2}, (RowChange(("p3",), "came", title="Third"),)),
    ),
    papers=Fates(merged=1),
    gained=(Cited("p1", 5, 7, "Attention"),),
    settings={"core.min_in": (3, 4)},
    artifacts={"vector_index": 1},
)


def test_differences_show_sums_reasons_and_how_much_is_not_listed() -> None:
    text = shown(render_differences(DIFFERENCES))
    for part in (
        "r0001 → r0002",
        "papers: 0 came, 1 went (1 merged into others), 1,200 changed (title 1,200)",
        "1 of 4",
        "core.min_in: 3 → 4",
        "made anew: vector_index (1)",
        "p2  Gone [2J  merged into p1  cited 3",
        "and 1,199 more",
        "core_papers that came: 1",
        "p1  Attention  5 → 7",
    ):
        assert part in text
    assert "\x1b" not in text
    assert "core_papers that changed" not in text, "a core paper whose degrees moved is no news, unless it is asked for"
    assert "core_papers that changed: 2" in shown(render_differences(DIFFERENCES, ["core_papers"]))
    json.dumps(to_dict(DIFFERENCES))


def test_equal_releases_are_two_short_lines() -> None:
    assert shown(render_differences(Differences("r0001", "r0002", ()))) == "r0001 → r0002\nnothing differs\n"


def test_a_sweep_says_what_it_freed_and_a_look_what_it_would() -> None:
    waste = (Waste("artifact", "vector_index", Path("a"), 1_500_000), Waste("artifact", "vector_index", Path("b"), 500_000))
    found = Sweep(("r0002",), ("r0001",), waste)
    done, planned = (" ".join(shown(render_sweep(found, is_done=is_done)).split()) for is_done in (True, False))
    assert "kept r0002 dropped r0001" in done
    assert "artifact vector_index 2 2.0 MB" in done
    assert done.endswith("2.0 MB freed")
    assert "to drop r0001" in planned
    assert planned.endswith("2.0 MB would be freed")
    assert "nothing to take away" in shown(render_sweep(Sweep(("r0002",), (), ()), is_done=True))

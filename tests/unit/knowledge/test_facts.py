"""Facts of a shard: read once, again only where a document changed, gone with it, whatever the order and however often."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from scholarlake.documents.maps import build_documents, build_sentences
from scholarlake.knowledge import fact_invariants as invariants
from scholarlake.knowledge.extractive import Extractive, Limits
from scholarlake.knowledge.facts import FactsReport, build_facts, sources_of
from scholarlake.knowledge.grounding import ground_all
from scholarlake.knowledge.objects import Candidate, Quantity, Reading, Source
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from tests.unit.small_lake import COMMIT, make_lake, paper

BY_RULES = Extractive(Limits(of_full_text=30, of_abstract=8))
TABLES = ("facts", "fact_rejects", "fact_sources")
CLAIMS = (
    invariants.every_document_is_read,
    invariants.every_fact_is_accounted_for,
    invariants.evidence_resolves,
    invariants.evidence_is_as_it_was,
    invariants.numbers_stand_in_evidence,
    invariants.verification_follows_from_votes,
)


@dataclass
class Noting:
    """The method by rules, and what it was given to read. refusing: papers of which nothing can be read."""

    refusing: frozenset[str] = frozenset()
    method: str = BY_RULES.method
    seen: list[str] = field(default_factory=list)

    def readings(self, sources: Iterable[Source]) -> Iterator[Reading]:
        for source in sources:
            self.seen.append(source.paper_id)
            if source.paper_id in self.refusing:
                yield Reading(source, "quantitative", unread="the model is away")
            else:
                yield from BY_RULES.readings([source])


def abstract(name: str, share: int = 12) -> str:
    return f"We found that yield of plant P{name} rose by {share}% in {share + 3} dry fields. It is known for its grain."


def made(lake: Lake, papers: dict[str, str], titles: dict[str, str] | None = None) -> None:
    """Make these papers with their abstracts the documents of the lake."""
    rows = [paper(name, (titles or {}).get(name, f"Growth of plant {name}"), abstract=text) for name, text in papers.items()]
    make_lake(lake.root, rows, shards=lake.shards)
    for shard in lake.shard_keys:
        build_documents(lake, shard, pl.DataFrame({"paper_id": list(papers)}, schema={"paper_id": pl.String}), COMMIT)
        build_sentences(lake, shard, COMMIT)


def built(lake: Lake, reader: Any = BY_RULES, **options: Any) -> list[FactsReport]:
    reports = [build_facts(lake, shard, reader, COMMIT, **options) for shard in lake.shard_keys]
    for shard in lake.shard_keys:
        for claim in CLAIMS:
            assert claim(lake, shard).passed, claim(lake, shard)
    return reports


def rows(lake: Lake) -> dict[str, list[tuple[Any, ...]]]:
    return {name: sorted(lake.scan(name).collect().rows(), key=str) for name in TABLES}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake.create(tmp_path / "lake", 2)


PAPERS = {name: abstract(name) for name in "abcdefgh"}


def test_every_document_is_read_and_its_facts_are_kept_with_their_sentences(lake: Lake) -> None:
    made(lake, PAPERS)
    reports = built(lake)
    assert sum(report.read for report in reports) == len(PAPERS)
    fact = lake.scan("facts").filter(pl.col("paper_id") == "a").collect().row(0, named=True)
    assert (fact["type"], fact["subject"], fact["evidence"]) == ("finding", "yield of plant Pa", ["a:0"])
    assert [one["value"] for one in fact["quantities"]] == ["12", "15"]
    assert sum((report.by_type["finding"] for report in reports), 0) == len(PAPERS)


def test_one_changed_paper_of_many_is_read_alone(lake: Lake) -> None:
    made(lake, PAPERS)
    built(lake)
    before = rows(lake)
    made(lake, {**PAPERS, "c": abstract("c", 40)})
    reader = Noting()
    built(lake, reader)
    assert reader.seen == ["c"]
    kept = [row for row in before["facts"] if "'c'" not in str(row)]
    assert all(row in rows(lake)["facts"] for row in kept)
    [new] = lake.scan("facts").filter(pl.col("paper_id") == "c").collect()["statement"].to_list()
    assert "40%" in new


def test_nothing_changed_is_nothing_read_and_no_new_version(lake: Lake) -> None:
    made(lake, PAPERS)
    first = built(lake)
    before = {name: delta.version(lake, name) for name in TABLES}
    reader = Noting()
    again = built(lake, reader)
    assert reader.seen == []
    assert {name: delta.version(lake, name) for name in TABLES} == before
    assert [one.content_version for one in again] == [one.content_version for one in first]


def test_a_paper_that_is_gone_takes_its_facts_along_and_back_again(lake: Lake) -> None:
    made(lake, PAPERS)
    built(lake)
    before = rows(lake)
    made(lake, {name: text for name, text in PAPERS.items() if name != "c"})
    reports = built(lake)
    assert sum(report.removed for report in reports) == 1
    assert "c" not in set(lake.scan("facts").collect()["paper_id"])
    made(lake, PAPERS)
    built(lake)
    assert rows(lake) == before


def test_the_order_of_papers_and_what_stood_there_before_are_all_one(lake: Lake, tmp_path: Path) -> None:
    made(lake, {"x": abstract("x"), "a": abstract("a", 99)})
    built(lake)
    made(lake, PAPERS)
    built(lake)
    fresh = Lake.create(tmp_path / "fresh", 2)
    made(fresh, dict(reversed(PAPERS.items())))
    built(fresh)
    assert rows(lake) == rows(fresh)


def test_another_title_is_another_document(lake: Lake) -> None:
    made(lake, PAPERS)
    built(lake)
    made(lake, PAPERS, {"d": "Something else about d"})
    reader = Noting()
    built(lake, reader)
    assert reader.seen == ["d"]


def test_new_code_reads_all_anew_and_changes_only_what_differs(lake: Lake) -> None:
    made(lake, PAPERS)
    built(lake)
    before = {name: delta.version(lake, name) for name in TABLES}
    reader = Noting()
    built(lake, reader, anew=True)
    assert sorted(reader.seen) == sorted(PAPERS)
    assert {name: delta.version(lake, name) for name in TABLES} == before


def test_what_could_not_be_read_is_told_and_tried_again(lake: Lake) -> None:
    made(lake, PAPERS)
    reports = built(lake, Noting(refusing=frozenset("c")))
    assert sum(report.unread for report in reports) == 1
    assert lake.scan("fact_sources").filter(pl.col("paper_id") == "c").collect()["unread"].to_list() == ["the model is away"]
    reader = Noting()
    reports = built(lake, reader)
    assert reader.seen == ["c"]
    assert sum(report.unread for report in reports) == 0


def test_a_run_that_died_before_it_noted_a_paper_reads_it_again_and_doubles_nothing(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    made(lake, PAPERS)
    apply = delta.apply

    def dying(at: Lake, name: str, shard: str, upserts: pl.DataFrame, *rest: Any) -> delta.Written:
        if name == "fact_sources" and upserts.height:
            raise KeyboardInterrupt
        return apply(at, name, shard, upserts, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(delta, "apply", dying)
        with pytest.raises(KeyboardInterrupt):
            build_facts(lake, "00", BY_RULES, COMMIT)
    assert lake.scan("facts").collect().height > 0
    built(lake)
    assert lake.scan("facts").collect().height == len(PAPERS)


class Careless:
    """Proposes what can't be a fact, and the same fact twice."""

    method = "careless"

    def readings(self, sources: Iterable[Source]) -> Iterator[Reading]:
        for source in sources:
            said = source.sentences[0].text
            candidates = [
                Candidate("finding", "yield", said, (0,)),
                Candidate("finding", "yield", said, (0,)),
                *(Candidate("finding", "yield", said, (place,)) for place in (99, -1, "3", "[S7]")),
                Candidate("finding", "yield", said.replace("12%", "13%"), (0,)),
                Candidate("finding", "yield", said, (0,), quantities=(Quantity("15", unit="wet fields"),)),
            ]
            judged = ground_all(candidates, source, study_type="quantitative", method=self.method)
            yield Reading(source, "quantitative", judged.facts, judged.refused)


def test_what_is_refused_is_listed_with_its_reason_and_the_rest_stays(lake: Lake) -> None:
    made(lake, {"a": PAPERS["a"]})
    built(lake, Careless())
    refused = lake.scan("fact_rejects").collect().sort("n")
    assert refused["reason"].to_list() == ["repeated", *["unknown_evidence"] * 4, "number_not_in_evidence", "unit_not_in_evidence"]
    assert refused["n"].to_list() == list(range(7))
    assert '"evidence":["[S7]"]' in refused["candidate"][4]
    assert lake.scan("facts").collect().height == 1
    source = lake.scan("fact_sources").collect().row(0, named=True)
    assert (source["candidates"], source["facts"], source["rejects"], source["method"]) == (8, 1, 7, "careless")


def test_sources_are_the_documents_with_their_sentences(lake: Lake) -> None:
    made(lake, PAPERS)
    shard = lake.shard_of("a")
    [source] = sources_of(lake, shard, ["a"])
    text = lake.scan("documents").filter(pl.col("paper_id") == "a").collect()["text"].item()
    assert [sentence.n for sentence in source.sentences] == [0, 1]
    assert all(text[one.start : one.end] == one.text for one in source.sentences)
    assert (source.title, source.extent) == ("Growth of plant a", "abstract")

"""Composed questions: one answer in the whole corpus, found by others than who composed them; none where there can be none."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from scholarlake.lake import contracts, delta
from scholarlake.lake.home import Lake
from scholarlake.profile import Training
from scholarlake.toolbox.charts import sound
from scholarlake.training import question_invariants as invariants
from scholarlake.training.composition import compose
from scholarlake.training.corpus import read_corpus
from scholarlake.training.questions import build_questions, questions_of
from scholarlake.training.wording import is_given_away
from tests.unit.small_lake import COMMIT, frame, paper
from tests.unit.training.asking import asked_lake, made_up, replace
from tests.unit.training.cores import build, random_edges

TRAINING = Training(walks=3, steps=5, train=30, validation=4, test=4, held_out=0.2, questions=3, train_batches=2)  # type: ignore[call-arg]
PAPERS, EDGES = made_up(400), random_edges(400, 2_400)


def with_questions(root: Path) -> Lake:
    lake = asked_lake(root, PAPERS, EDGES)
    build(lake, TRAINING)
    for batch in lake.batch_keys:
        build_questions(lake, batch, TRAINING, COMMIT)
    return lake


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return with_questions(tmp_path_factory.mktemp("asked") / "lake")


def rows(lake: Lake) -> list[dict[str, Any]]:
    return lake.scan("questions").collect().sort("question_id").to_dicts()


class Naive:
    """The corpus as sets, without what the composer uses: what a reader with patience would do."""

    def __init__(self) -> None:
        self.papers = {row["paper_id"]: row for row in PAPERS}
        self.cites: dict[str, set[str]] = {name: set() for name in self.papers}
        self.cited: dict[str, set[str]] = {name: set() for name in self.papers}
        for citing, cited in EDGES:
            self.cites[citing].add(cited)
            self.cited[cited].add(citing)

    def fits(self, name: str, part: dict[str, Any]) -> bool:
        row, named, between = self.papers[name], part["paper"], self.between(part)
        told: dict[str, Any] = {
            "cites": lambda: named in self.cites[name],
            "cited_by": lambda: named in self.cited[name],
            "cites_one_citing": lambda: named != name and self.cites[name] & self.cited[named] & between,
            "cited_by_one_cited_by": lambda: named != name and self.cited[name] & self.cites[named] & between,
            "shares_reference": lambda: named != name and self.cites[name] & self.cites[named] & between,
            "cited_together": lambda: named != name and self.cited[name] & self.cited[named] & between,
            "year": lambda: str(row["year"]) == part["value"],
            "venue": lambda: row["venue"] == part["value"],
            "author": lambda: part["value"] in {author["name"] for author in row["authors"]},
            "keyword": lambda: part["value"] in row["keywords"],
            "cited_times": lambda: str(len(self.cited[name])) == part["value"],
        }
        return bool(told[part["kind"]]())

    def between(self, part: dict[str, Any]) -> set[str]:
        def holds(field: str, row: dict[str, Any]) -> bool:
            return part[field] is None or row[field] == part[field]

        return {name for name, row in self.papers.items() if holds("year", row) and holds("venue", row)}


def test_every_question_has_one_answer_that_is_found_without_the_composer(asked: Lake) -> None:
    corpus = Naive()
    found = rows(asked)
    assert len(found) > 80
    for row in found:
        left = set(corpus.papers)
        for part in row["parts"]:
            true = {name for name in corpus.papers if corpus.fits(name, part)}
            left &= true
            assert (len(true), len(left)) == (part["alone"], part["left"]), (row["question"], part)
            assert len(true) > 1, "no part gives the answer by itself"
        assert left == {row["answer_paper"]}
        assert row["history"][-1] == {"edit": f"added {row['parts'][-1]['kind']}", "question": row["question"], "candidates": 1}


def test_all_kinds_of_answers_and_relations_occur(asked: Lake) -> None:
    found = rows(asked)
    assert {row["answer_kind"] for row in found} == {"title", "year", "venue", "first_author", "citations", "chart"}
    kinds = {part["kind"] for row in found for part in row["parts"]}
    assert kinds == set(contracts.PART_KINDS) - {"quantity"}
    assert {row["hops"] for row in found} == {1, 2}


def test_answers_are_what_the_corpus_says(asked: Lake) -> None:
    corpus = Naive()
    for row in rows(asked):
        about = corpus.papers[row["answer_paper"]]
        citing = corpus.cited[row["answer_paper"]]
        years = sorted(corpus.papers[name]["year"] for name in citing)
        said = {
            "title": about["title"],
            "year": str(about["year"]),
            "venue": about["venue"],
            "first_author": about["authors"][0]["name"],
            "citations": str(len(citing)),
            "chart": "; ".join(f"{year}: {years.count(year)}" for year in dict.fromkeys(years)),
        }
        assert row["answer"] == said[row["answer_kind"]]


def test_a_chart_is_one_that_the_toolbox_draws(asked: Lake) -> None:
    charts = [row for row in rows(asked) if row["answer_kind"] == "chart"]
    assert charts
    for row in charts:
        data = sound(orjson.loads(row["chart"])).model_dump()["data"]
        assert "; ".join(f"{label}: {value:g}" for label, value in zip(data["labels"], data["values"], strict=True)) == row["answer"]


def test_what_leads_over_another_paper_is_said_last(asked: Lake) -> None:
    """Whatever followed it could be taken for being said of the paper in between."""
    far = re.compile(r"(that in turn cites “[^”]+”|that also cites “[^”]+”|“[^”]+” cites( as well)?)[?.]")
    checked = 0
    for row in rows(asked):
        if row["hops"] == 2:
            description = re.split(r"(?<=[?.]) (?=[A-Z])", row["question"])[0]
            assert far.search(description), row["question"]
            checked += 1
    assert checked > 20


def test_questions_are_sentences(asked: Lake) -> None:
    for row in rows(asked):
        assert re.match(r"[A-Z].*[?.]\Z", row["question"])
        assert "  " not in row["question"]
        assert "{" not in row["question"]
        assert row["question"].count("“") == row["question"].count("”") > 0


def test_questions_name_no_paper_of_another_split_and_none_is_asked_twice(asked: Lake) -> None:
    by_split: dict[str, set[str]] = {}
    for row in rows(asked):
        papers = {part["paper"] for part in row["parts"] if part["paper"]} | {row["answer_paper"]}
        by_split.setdefault(row["split"], set()).update(papers)
    assert set(by_split) == {"train", "validation", "test"}
    assert not by_split["train"] & by_split["test"]
    assert not by_split["train"] & by_split["validation"]
    assert not by_split["test"] & by_split["validation"]
    questions = [row["question"] for row in rows(asked)]
    assert len(set(questions)) == len(questions)
    assert len({(row["answer_paper"], row["answer_kind"]) for row in rows(asked)}) == len(questions)


@pytest.mark.parametrize(
    "claim",
    [
        invariants.every_question_has_one_answer,
        invariants.no_question_tells_its_answer,
        invariants.questions_name_their_own_papers,
        invariants.no_question_missing_unsaid,
        invariants.splits_ask_nothing_alike,
    ],
)
def test_the_checks_pass_on_what_was_made(asked: Lake, claim: Any) -> None:
    for batch in asked.batch_keys:
        found = claim(asked, batch)
        assert found.passed, found
        assert found.name == claim.__name__
        assert found.counted > 0


def test_the_same_questions_in_every_process_and_nothing_written_twice(asked: Lake, tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from tests.unit.training.test_questions import *\n"
        "print(orjson.dumps([{**row, 'code_version': ''} for row in rows(with_questions(pathlib.Path(sys.argv[1])))]).decode())\n"
    )
    said = subprocess.run([sys.executable, "-c", code, str(tmp_path / "lake")], capture_output=True, text=True, check=True).stdout
    assert orjson.loads(said) == [{**row, "code_version": ""} for row in rows(asked)]
    before = delta.version(asked, "questions")
    build_questions(asked, "train-00", TRAINING, COMMIT)
    assert delta.version(asked, "questions") == before


def test_what_says_nearly_the_same_as_a_question_of_another_split_is_left_out(asked: Lake) -> None:
    corpus = read_corpus(asked)
    subgraphs = asked.scan("subgraphs").filter(subgraph_batch="train-00").sort("n").collect()
    there, _ = questions_of(corpus, subgraphs, "train-00", 3, [])
    near = there[4]["question"].replace("kind", "Kind, ")
    left, summary = questions_of(corpus, subgraphs, "train-00", 3, [near, "Something else?"])
    assert [row["question"] for row in left] == [row["question"] for row in there if row is not there[4]]
    assert "a question of another split says nearly the same (1)" in summary["shortfall"]


def test_twenty_questions_of_a_graph_of_three_papers_are_fewer_distinct_and_explained(tmp_path: Path) -> None:
    papers = [
        paper(name, f"The {word} of three papers", year=2000 + place, venue=f"Venue {word}", authors=[], keywords=[])
        for place, (name, word) in enumerate([("a", "first"), ("b", "second"), ("c", "third")])
    ]
    lake = asked_lake(tmp_path / "lake", papers, [("a", "b"), ("b", "c"), ("a", "c")])
    build(lake, TRAINING)
    made = [build_questions(lake, batch, TRAINING.model_copy(update={"questions": 20}), COMMIT) for batch in lake.batch_keys]
    for report in made:
        assert report.rows < 20
        assert (report.summary["shortfall"] is None) == (report.summary["wanted"] == 0)
    questions = [row["question"] for row in rows(lake)]
    assert len(set(questions)) == len(questions)
    assert "what may be said of the seed paper fits other papers as well" in str(made[2].summary["shortfall"])


def test_a_graph_without_citations_gives_no_question(tmp_path: Path) -> None:
    lake = asked_lake(tmp_path / "lake", PAPERS[:5], [])
    build(lake, TRAINING)
    for batch in lake.batch_keys:
        report = build_questions(lake, batch, TRAINING, COMMIT)
        assert (report.rows, report.summary["made"]) == (0, 0)
        assert invariants.no_question_missing_unsaid(lake, batch).passed


def test_a_question_that_needs_no_citation_is_none(tmp_path: Path) -> None:
    edges = random_edges(30, 90)
    corpus = read_corpus(asked_lake(tmp_path / "lake", made_up(30), edges))
    why: Counter[str] = Counter()
    for name in corpus.papers["paper_id"]:
        near = [b for a, b in edges if a == name] + [a for a, b in edges if b == name]
        questions, reasons = compose(corpus, f"s{name}", [name, *near], 5)
        assert all(question.hops for question in questions)
        why += reasons
    assert why["what is said of the seed paper itself is enough: no citation is needed"] > 0


def test_a_number_that_a_paper_reports_is_asked_for_unless_it_is_doubted(tmp_path: Path) -> None:
    lake = asked_lake(tmp_path / "lake", PAPERS, EDGES)
    build(lake, TRAINING)
    seeds = lake.scan("subgraphs").collect().sort("seed_id")["seed_id"].to_list()
    facts = [
        {
            "fact_id": f"fact-{place:032x}",
            "paper_id": seed,
            "shard": lake.shard_of(seed),
            "quantities": [{"value": f"{place}.25", "number": place + 0.25, "unit": "%", "metric": "relative error", "comparator": None}],
            "verification": "failed" if place % 2 else "unchecked",
        }
        for place, seed in enumerate(seeds)
    ]
    for shard in lake.shard_keys:
        delta.write_partition(lake, "facts", shard, frame("facts", [fact for fact in facts if fact["shard"] == shard]), COMMIT)
    for batch in lake.batch_keys:
        build_questions(lake, batch, TRAINING.model_copy(update={"questions": 7}), COMMIT)
    asked = {row["answer_paper"]: row for row in rows(lake) if row["answer_kind"] == "quantity"}
    assert asked
    assert set(asked) <= set(seeds[::2])
    for name, row in asked.items():
        assert row["answer"] == f"{seeds.index(name)}.25 %"
        assert "relative error" in row["question"]
    said = [part["value"] for row in rows(lake) for part in row["parts"] if part["kind"] == "quantity"]
    assert all(value.startswith("relative error = ") for value in said)


@pytest.mark.parametrize(
    ("kind", "answer", "question", "is_told"),
    [
        ("year", "1998", "Which of 1998 is it?", True),
        ("year", "1998", "Which of 21998 is it?", False),
        ("citations", "12", "cited by exactly 12 papers", True),
        ("citations", "12", "a value of 12.5 for it", False),
        ("venue", "Journal of Examples", "in the venue “Journal of examples”?", True),
        ("venue", "Journal of Examples", "in the venue “Letters on Cases”?", False),
        ("title", "On Graphs.", "cites “More on Graphs”", True),
        ("quantity", "26.7 %", "a value of 26.7 for it", True),
    ],
)
def test_an_answer_that_stands_in_its_question_is_seen(kind: Any, answer: str, question: str, is_told: bool) -> None:
    assert is_given_away(kind, answer, question) is is_told


def changed(lake: Lake, folder: Path, change: Any) -> Lake:
    """A copy of a lake, of whose questions the first of a batch is changed."""
    import shutil

    copy = Lake.open(shutil.copytree(lake.root, folder / "copy"))
    found = copy.scan("questions").filter(pl.col("subgraph_batch") == "train-00").collect().sort("question_id").to_dicts()
    replace(copy, "questions", [{**found[0], **change(found[0])}, *found[1:]])
    return copy


@pytest.mark.parametrize(
    ("claim", "change"),
    [
        (invariants.every_question_has_one_answer, lambda row: {"answer_paper": "p0000"}),
        (invariants.every_question_has_one_answer, lambda row: {"parts": row["parts"][:1]}),
        (invariants.no_question_tells_its_answer, lambda row: {"question": f"Is it {row['answer']}?"}),
        (invariants.no_question_tells_its_answer, lambda row: {"parts": [{**row["parts"][0], "alone": 1}]}),
        (invariants.questions_name_their_own_papers, lambda row: {"answer_paper": "p0000"}),
        (invariants.questions_name_their_own_papers, lambda row: {"parts": [{**row["parts"][0], "paper": "p0399"}]}),
        (invariants.questions_name_their_own_papers, lambda row: {"subgraph_id": f"subgraph-{'0' * 32}"}),
    ],
)
def test_what_breaks_a_claim_is_found(asked: Lake, tmp_path: Path, claim: Any, change: Any) -> None:
    found = claim(changed(asked, tmp_path, change), "train-00")
    assert found.failed == 1
    assert found.examples[0]["question_id"] == rows(asked)[0]["question_id"] or found.examples


def test_a_batch_with_a_question_less_than_it_counts_is_found(asked: Lake, tmp_path: Path) -> None:
    copy = changed(asked, tmp_path, lambda row: {})
    left = copy.scan("questions").collect().sort("question_id").to_dicts()[1:]
    replace(copy, "questions", left)
    found = invariants.no_question_missing_unsaid(copy, "train-00")
    assert found.examples[0]["fault"] == "has other questions than its row counts"

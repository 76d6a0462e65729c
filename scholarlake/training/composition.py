"""Questions composed from the citation graph: parts are added until exactly one paper of the whole corpus is left that all are true of.

The paper asked about is the seed of a subgraph; the papers that parts name are others of the same subgraph, so that no question speaks of
a paper of another split. No part is true of one paper alone: none gives the answer by itself. Every turn is kept. What does not belong
here: what a part is true of (`parts`), words (`wording`), tables (`questions`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from scholarlake.lake.hashing import digest, stable_key
from scholarlake.training.corpus import Corpus
from scholarlake.training.graph import Nodes
from scholarlake.training.parts import MOST_FOLLOWED, Part, satisfying
from scholarlake.training.wording import AnswerKind, asked, asked_by_name, is_given_away

METHOD = "graph_composed"
MOST_PARTS, MOST_RELATIONS = 6, 3
TITLE_CHARACTERS = range(15, 200)  # of a paper that a question names: shorter ones name a subject, longer ones drown the question
CHART_YEARS = range(3, 13)
MOST_CITING = 50
"""Papers citing another that a tool shows: a question is not to hang on more."""
_UNPRINTABLE = re.compile(r"[\ufffd<>$\\{}]|[\x00-\x1f]")  # titles with markup or damage are not named
_OPENED = 40  # relations that are looked at for one question
_HIDING: dict[AnswerKind, tuple[str, ...]] = {
    "title": (),
    "year": ("year",),
    "venue": ("venue",),
    "first_author": (),
    "citations": ("cited_times",),
    "quantity": ("quantity",),
    "chart": ("cited_times",),
}
_CHANGES = ("improvement", "change", "gain", "reduction", "increase", "decrease", "difference")


@dataclass(frozen=True)
class Turn:
    """One turn of the making: what was done, the question that it gave, and how many papers of the corpus it fits."""

    edit: str
    question: str
    candidates: int


@dataclass(frozen=True)
class Proof:
    """A part, how many papers of the corpus it alone is true of, and how many were left when it was added."""

    part: Part
    alone: int
    left: int


@dataclass(frozen=True)
class Question:
    """A question with one answer. answer_paper: the one paper that all parts are true of. hops: most citations that a part leads over.

    chart: the payload of the chart that answers it, where one is asked for.
    """

    question_id: str
    kind: AnswerKind
    question: str
    answer: str
    answer_paper: str
    proofs: tuple[Proof, ...]
    hops: int
    turns: tuple[Turn, ...]
    chart: dict[str, Any] | None = None


@dataclass(frozen=True)
class Answer:
    """What may be asked of a paper. of: what is measured, for a number."""

    kind: AnswerKind
    text: str
    of: str = ""
    chart: dict[str, Any] | None = None


def compose(corpus: Corpus, subgraph_id: str, papers: Sequence[str], wanted: int) -> tuple[list[Question], Counter[str]]:
    """So many questions about the first of a subgraph's papers, each asking for something else. Fewer where there are no more: beside
    them, why not, counted."""
    node = corpus.graph.node(papers[0])
    if not corpus.has_own_title[node] or _UNPRINTABLE.search(str(corpus.papers["title"][node])):
        return [], Counter({"the seed paper has no title of its own that can be printed": wanted})
    found: list[Question] = []
    why: Counter[str] = Counter()
    possible = sorted(_answers(corpus, node), key=lambda answer: stable_key(f"{subgraph_id} {answer.kind}"))
    relations = list(_relations(corpus, node, papers))
    if not relations:
        return [], Counter({"no paper that could be named cites the seed paper or is near it": wanted})
    for answer in possible:
        if len(found) == wanted:
            break
        made = _composed(corpus, f"question-{digest([subgraph_id, answer.kind])}", node, answer, relations)
        if isinstance(made, Question):
            found.append(made)
        else:
            why[made] += 1
    if len(found) < wanted and not why:
        why["nothing else is known of the seed paper that could be asked for"] = wanted - len(found)
    return found, why if len(found) < wanted else Counter()


def _composed(corpus: Corpus, name: str, node: int, answer: Answer, relations: Sequence[Part]) -> Question | str:
    """One question, or why it could not be made."""
    title = str(corpus.papers["title"][node])
    chosen = _parts(corpus, name, node, answer, relations)
    if chosen is None:
        return "what may be said of the seed paper fits other papers as well"

    def said(parts: Sequence[Part]) -> str:
        return asked(name, answer.kind, parts, lambda paper: _title(corpus, paper), answer.of)

    parts = [proof.part for proof in chosen]
    hops = max(part.hops for part in parts)
    if not hops:
        return "what is said of the seed paper itself is enough: no citation is needed"
    question = said(parts)
    if is_given_away(answer.kind, answer.text, question) or is_given_away("title", title, question):
        return "the question gives its answer away"
    turns = [] if answer.kind == "title" else [Turn("asked by name", asked_by_name(answer.kind, title, answer.of), 1)]
    for count, proof in enumerate(chosen, 1):
        edit = "described it by" if count == 1 else "added"
        turns.append(Turn(f"{edit} {proof.part.kind}", said(parts[:count]), proof.left))
    return Question(
        name, answer.kind, question, answer.text, str(corpus.papers["paper_id"][node]), tuple(chosen), hops, tuple(turns), answer.chart
    )


def _parts(corpus: Corpus, name: str, node: int, answer: Answer, relations: Sequence[Part]) -> list[Proof] | None:
    """Parts that are true of one paper of the corpus, this one, and no part of them of it alone. None where there are none."""
    ranked = sorted(relations, key=lambda part: (not _can_be_opened(corpus, part), stable_key(f"{name} {part}")))[:_OPENED]
    far = [part for part in ranked if part.hops > 1][:1]  # of two, it could not be told of which paper the second is said
    first = [*far, *(part for part in ranked if part.hops == 1)]
    values = sorted(_values(corpus, node, answer), key=lambda part: stable_key(f"{name} {part}"))
    chosen: list[tuple[Part, Nodes]] = []
    left: Nodes | None = None
    for part in [*first[:2], *values, *first[2:]]:
        if len(chosen) == MOST_PARTS or (part.hops and sum(one.hops > 0 for one, _ in chosen) == MOST_RELATIONS):
            continue
        true = satisfying(corpus, part)
        if true is None or len(true) < 2 or not _has(true, node):
            continue
        narrowed = true if left is None else np.intersect1d(left, true, assume_unique=True)
        if left is not None and len(narrowed) == len(left):
            continue
        chosen.append((part, true))
        left = narrowed
        if len(left) == 1:
            return _proofs(_needed(chosen))
    return None


def _needed(chosen: list[tuple[Part, Nodes]]) -> list[tuple[Part, Nodes]]:
    """The same without parts that say nothing that the others do not; one relation stays."""
    kept = list(chosen)
    for one in reversed(chosen):
        others = [part for part in kept if part is not one]
        if any(part.hops for part, _ in others) and len(others) > 1 and len(_common(others)) == 1:
            kept = others
    return kept


def _proofs(chosen: Sequence[tuple[Part, Nodes]]) -> list[Proof]:
    return [Proof(part, len(true), len(_common(chosen[: count + 1]))) for count, (part, true) in enumerate(chosen)]


def _common(chosen: Sequence[tuple[Part, Nodes]]) -> Nodes:
    found = chosen[0][1]
    for _, true in chosen[1:]:
        found = np.intersect1d(found, true, assume_unique=True)
    return found


def _can_be_opened(corpus: Corpus, part: Part) -> bool:
    """Whether a tool shows all that a part leads to from the paper that it names."""
    return part.kind not in ("cites", "cites_one_citing", "cited_together") or corpus.graph.in_degree(str(part.paper)) <= MOST_CITING


def _relations(corpus: Corpus, node: int, papers: Sequence[str]) -> Iterator[Part]:
    """What can be said of a paper by naming another of its subgraph: over one citation, and over two where there is none."""
    others = np.sort(corpus.nodes(list(papers[1:])))
    named = others[corpus.has_own_title[others]]
    named = np.array([one for one in named if _can_be_named(str(corpus.papers["title"][int(one)]))], dtype=np.uint32)
    cited, citing = (_step(corpus, node, way) for way in ("references", "citations"))
    near = np.union1d(cited, citing)
    for kind, ends in (("cites", cited), ("cited_by", citing)):
        for one in np.intersect1d(named, ends, assume_unique=True):
            yield Part(kind, paper=_id(corpus, one))  # type: ignore[arg-type]
    far = np.setdiff1d(named, near, assume_unique=True)
    for between in np.intersect1d(others, near, assume_unique=True):
        for kind, ends, way in (
            ("cites_one_citing", cited, "references"),
            ("cited_by_one_cited_by", citing, "citations"),
            ("shares_reference", cited, "citations"),
            ("cited_together", citing, "references"),
        ):
            if not _has(ends, int(between)):
                continue
            paper = corpus.paper(int(between))
            for one in np.intersect1d(far, _step(corpus, int(between), way), assume_unique=True):
                yield Part(kind, paper=_id(corpus, one), year=paper["year"], venue=paper["venue"] or None)  # type: ignore[arg-type]


def _can_be_named(title: str) -> bool:
    return len(title) in TITLE_CHARACTERS and not _UNPRINTABLE.search(title)


def _step(corpus: Corpus, node: int, way: Any) -> Nodes:
    found = corpus.graph.reached(np.array([node], dtype=np.uint32), way, MOST_FOLLOWED)
    return np.empty(0, dtype=np.uint32) if found is None else found


def _values(corpus: Corpus, node: int, answer: Answer) -> Iterator[Part]:
    """What can be said of a paper by itself, without what is asked for."""
    paper = corpus.paper(node)
    hidden = _HIDING[answer.kind]
    if paper["year"] is not None:
        yield from [] if "year" in hidden else [Part("year", str(paper["year"]))]
    if paper["venue"]:
        yield from [] if "venue" in hidden else [Part("venue", paper["venue"])]
    for author in paper["authors"] or []:
        if author and author != answer.text:
            yield Part("author", author)
    for keyword in paper["keywords"] or []:
        if keyword:
            yield Part("keyword", keyword)
    if "cited_times" not in hidden and paper["in_degree"]:
        yield Part("cited_times", str(paper["in_degree"]))
    if "quantity" not in hidden:
        for metric, value, unit in _quantities(corpus, node):
            yield Part("quantity", _measured(metric, value, unit))


def _answers(corpus: Corpus, node: int) -> Iterator[Answer]:
    """What may be asked of a paper, with the answer."""
    paper = corpus.paper(node)
    yield Answer("title", " ".join(paper["title"].split()))
    if paper["year"] is not None:
        yield Answer("year", str(paper["year"]))
    if paper["venue"]:
        yield Answer("venue", " ".join(paper["venue"].split()))
    if paper["authors"] and paper["authors"][0]:
        yield Answer("first_author", " ".join(paper["authors"][0].split()))
    if paper["in_degree"]:
        yield Answer("citations", str(paper["in_degree"]))
    for metric, value, unit in _quantities(corpus, node)[:1]:
        yield Answer("quantity", _measured(metric, value, unit).rpartition(" = ")[2], of=metric)
    if (chart := _chart(corpus, node)) is not None:
        yield chart


def _chart(corpus: Corpus, node: int) -> Answer | None:
    """The years of the papers that cite a paper, where all of these are known."""
    citing = _step(corpus, node, "citations")
    years = corpus.papers["year"][citing]
    if len(citing) > MOST_CITING or years.null_count() or years.n_unique() not in CHART_YEARS:
        return None
    counts = Counter(sorted(years.to_list()))
    labels, values = [str(year) for year in counts], list(counts.values())
    about = {"title": "Citing papers by year", "x_label": "Year of publication", "y_label": "Citing papers"}
    payload = {"tool_name": "BarChart", "tool_args": {**about, "data": {"labels": labels, "values": values}}}
    return Answer("chart", "; ".join(f"{label}: {value}" for label, value in zip(labels, values, strict=True)), chart=payload)


def _quantities(corpus: Corpus, node: int) -> list[tuple[str, str, str | None]]:
    """Numbers that a paper reports of something with a name of its own, once each."""
    rows = corpus.quantities.filter(node=node).select("metric", "value", "unit").rows()
    times = Counter(metric for metric, _, _ in rows)
    return [row for row in rows if times[row[0]] == 1 and _is_telling(row[0])]


def _is_telling(metric: str) -> bool:
    words = metric.split()
    return words[0].lower() not in _CHANGES and (len(words) > 1 or not metric.islower())


def _measured(metric: str, value: str, unit: str | None) -> str:
    return f"{metric} = {value}" + (f" {unit}" if unit else "")


def _has(nodes: Nodes, node: int) -> bool:
    place = int(np.searchsorted(nodes, node))
    return place < len(nodes) and int(nodes[place]) == node


def _id(corpus: Corpus, node: Any) -> str:
    return str(corpus.papers["paper_id"][int(node)])


def _title(corpus: Corpus, paper: str) -> str:
    return str(corpus.papers["title"][corpus.graph.node(paper)])


def chart_text(chart: dict[str, Any] | None) -> str | None:
    """A chart's payload as text, its keys in order."""
    return None if chart is None else orjson.dumps(chart, option=orjson.OPT_SORT_KEYS).decode()

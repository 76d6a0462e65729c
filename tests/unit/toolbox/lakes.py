"""Lakes for the tools: a small one whose every answer is known, and one in which every list is longer than its cap."""

from __future__ import annotations

from pathlib import Path

from scholarlake.lake.home import Lake
from tests.unit.small_lake import paper, searchable

CITING = 3_100

#: p1 was merged into p2 in one batch, p2 into p3 in the next. 1984 is a title, and the id of another paper.
SMALL = [
    paper("p3", "Deep Learning", year=2015, record_ids=["p1", "p2", "p3"], venue="Nature", doi="10.1/a", authors=[{"name": "A. One"}]),
    paper("q", "Deep Learning", year=2020),
    paper("r", "Learning to rank C++ α-synuclein", keywords=["retrieval", "COVID-19"], abstract="Ranking. " * 100),
    paper("s", "深度学习综述"),
    paper("t", "Far away"),
    paper("u", "Alone"),
    paper("w", "A preprint of that", version_of="u", withdrawn=True, withdrawn_by="title"),
    paper("1984", "Not the novel"),
    paper("novel", "1984"),
]
SMALL_CITATIONS = [("q", "p3"), ("r", "p3"), ("r", "q"), ("s", "r"), ("t", "s")]


def small(root: Path) -> Lake:
    return searchable(root, SMALL, SMALL_CITATIONS)


def crowd(root: Path) -> Lake:
    """The hub is cited by CITING papers, and a survey cites all of these; c0001 is cited by c0002, which only a walk through it finds."""
    names = [f"c{number:04d}" for number in range(CITING)]
    papers = [paper("hub", "The hub"), paper("survey", "A survey of crowds"), *(paper(name, f"Crowd study {name}") for name in names)]
    citations = [(name, "hub") for name in names] + [("survey", name) for name in names] + [("c0002", "c0001")]
    return searchable(root, papers, citations, embedded=20)

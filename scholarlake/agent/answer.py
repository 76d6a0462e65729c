"""What an agent's answer rests on: its citations resolved to papers of the release, its charts to those that were drawn.

A citation of no paper stays what it is, and is called so; of charts only those count that a tool drew in this run. What does not belong
here: how an answer is shown (`toolbox.page`, the commands).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from scholarlake.agent.trajectory import Answer, Citation
from scholarlake.errors import NotFound
from scholarlake.toolbox import charts, page
from scholarlake.toolbox.arguments import AnyChart

if TYPE_CHECKING:
    from scholarlake.door import ReleaseReader


def resolved(text: str, reader: ReleaseReader, drawn: Mapping[str, AnyChart], seen: Collection[str]) -> Answer:
    """An answer and what it rests on. drawn: charts by id; seen: ids of papers that tools have shown."""
    own, kept = page.without_definitions(text)
    faults = [f"the answer defines {own} {'chart' if own == 1 else 'charts'} itself, which no tool drew; left out"] if own else []
    marks = page.marks(kept)
    citations = [_resolved(cited, reader, seen) for cited in marks.cited]
    faults += [f"{one.id} is cited and no paper of the release" for one in citations if one.paper_id is None]
    faults += [f"{one.id} is cited, and no tool has shown it in this run" for one in citations if one.paper_id is not None and not one.seen]
    faults += [f"chart {name} stands in the answer, and no tool drew it" for name in marks.charts if name not in drawn]
    placed = [charts.payload(drawn[name]) for name in marks.charts if name in drawn]
    return Answer(text=kept, citations=citations, charts=placed, faults=faults)


def document(answer: Answer) -> str:
    """The answer with the definitions of its charts: what `scholarlake render` takes."""
    return charts.appended(answer.text, [charts.sound(payload) for payload in answer.charts])


def _resolved(cited: str, reader: ReleaseReader, seen: Collection[str]) -> Citation:
    try:
        paper = reader.paper(cited, "id")
    except NotFound:
        return Citation(id=cited)
    return Citation(id=cited, paper_id=paper.paper_id, title=paper.title, year=paper.year, seen=paper.paper_id in seen or cited in seen)

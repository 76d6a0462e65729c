"""A view as text for a prompt, within a budget of characters: what is cut is counted and said.

Budgets are those of ScholarStack (appendix B): 3,000 characters for a catalog of ten papers at most, 9,000 for what is read of them, and
of a long text the 1,200 characters that have most of the query. Whoever puts the text into a prompt fences it: papers wrote it. What does
not belong here: which objects a view has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scholarlake.documents.sentences import split
from scholarlake.knowledge.layer.items import (
    Account,
    AnyItem,
    AssignmentItem,
    EntityItem,
    FactItem,
    RelationItem,
    SentenceItem,
    SynthesisItem,
)
from scholarlake.knowledge.layer.register import STANDS
from scholarlake.knowledge.layer.view import BadRequest, View
from scholarlake.knowledge.objects import Context
from scholarlake.search.text import terms_of, words

CATALOG, READ, WINDOW = 3_000, 9_000, 1_200
"""Characters of a catalog, of a reading, and of the window of one text."""
CATALOG_PAPERS = 10
LEAST_BUDGET = 200
_OCCURRENCES = 8  # of each word of a query: windows are looked for around these
_TITLE = 100  # characters of a title, where it only says which paper
_CUT = "…"
_SEVERAL = {
    "fact": "facts",
    "assignment": "assignments",
    "relation": "relations",
    "entity": "entities",
    "synthesis": "syntheses",
    "sentence": "sentences",
    "hypothesis": "hypotheses",
    "note": "notes",
}
_BETWEEN = "\n\n"


@dataclass(frozen=True)
class Window:
    """A stretch of a text, whole sentences where they fit. is_cut: whether it is not all of it."""

    text: str
    is_cut: bool


def read(view: View, budget: int = READ, query: str | None = None) -> str:
    """The items of a view in order, as many as fit, each with what is needed to judge and to cite it."""
    blocks = [block_of(item, view, query) for item in view.items]
    return _fitted([f"note: {note}" for note in view.notes], blocks, budget, "items")


def catalog(view: View, budget: int = CATALOG) -> str:
    """The papers that the items of a view are about, those with more of it first, with what the view has of each."""
    held: dict[str, list[AnyItem]] = {}
    for item in view.items:
        for paper in item.papers:
            held.setdefault(paper, []).append(item)
    places = {paper: place for place, paper in enumerate(held)}
    order = sorted(held, key=lambda paper: (-len(held[paper]), places[paper]))
    blocks = [Window(_paper_block(view, paper, held[paper]), False) for paper in order[:CATALOG_PAPERS]]
    return _fitted([], blocks, budget, "papers", len(order))


def window(text: str, query: str | None, size: int = WINDOW) -> Window:
    """The stretch of at most `size` characters that has the most words of a query, the earliest of equals, cut at sentences.

    Looked for at the beginning, and around the first occurrences of each word; a sentence that is longer by itself is cut inside.
    """
    if len(text) <= size:
        return Window(text, False)
    spans = split(text) or [(0, len(text))]
    found = [[match.start() for match in _word(word).finditer(text)] for word in words(terms_of(query or ""))]
    near = sorted({0, *(at for places in found for at in places[:_OCCURRENCES])})
    stretches = [_stretch(spans, at, size) for at in near]
    begin, end = max(stretches, key=lambda one: (*_covered(found, one), -one[0]))
    before, after = _CUT if begin > 0 else "", _CUT if end < len(text) else ""
    return Window(f"{before}{text[begin:end].strip()}{after}", True)


def _stretch(spans: Sequence[tuple[int, int]], at: int, size: int) -> tuple[int, int]:
    """Whole sentences around a place, that one first, then those behind it, then those before it."""
    room = size - 2 * len(_CUT)
    first = max((n for n, (start, _) in enumerate(spans) if start <= at), default=0)
    start, end = spans[first]
    if end - start > room:
        begin = max(start, min(at - room // 4, end - room))
        return begin, begin + room
    last = first
    while last + 1 < len(spans) and spans[last + 1][1] - start <= room:
        last += 1
    while first > 0 and spans[last][1] - spans[first - 1][0] <= room:
        first -= 1
    return spans[first][0], spans[last][1]


def _covered(found: Sequence[Sequence[int]], stretch: tuple[int, int]) -> tuple[int, int]:
    """How many words of the query lie in a stretch, and how often."""
    counts = [sum(stretch[0] <= at < stretch[1] for at in places) for places in found]
    return sum(count > 0 for count in counts), sum(counts)


def _word(word: str) -> re.Pattern[str]:
    return re.compile(re.escape(word), re.IGNORECASE)


# -- blocks ----------------------------------------------------------------------------------------------------------


def block_of(item: AnyItem, view: View, query: str | None = None) -> Window:
    """An item in a few lines, and whether its text is cut."""
    shown = window(text_of(item), query)
    lines = [f"[{item.object_id}] {_kind_of(item)}{_about(item, view)}", shown.text]
    if item.conditions:
        lines.append(f"under: {_conditions(item.conditions)}")
    lines += _more(item)
    if standing := _standing(item):
        lines.append(standing)
    return Window("\n".join(lines), shown.is_cut)


def text_of(item: AnyItem) -> str:
    """What an item says, in words."""
    if isinstance(item, FactItem):
        return item.statement
    if isinstance(item, AssignmentItem):
        return f"{item.subject}: {item.category} ({item.dimension}). {item.rationale}"
    if isinstance(item, RelationItem):
        return f"{item.source or item.source_id} — {item.relation.replace('_', ' ')} → {item.target or item.target_id}"
    if isinstance(item, EntityItem):
        return f"{item.name} ({item.type})" + (f", also: {', '.join(item.aliases)}" if item.aliases else "")
    return item.text if isinstance(item, SentenceItem) else f"{item.title}: {item.account}"


def _kind_of(item: AnyItem) -> str:
    if isinstance(item, FactItem):
        return f"{item.type.replace('_', ' ')}, {item.verification}"
    if isinstance(item, AssignmentItem | RelationItem):
        return f"{item.kind}, {item.certainty}, {item.verification}"
    if isinstance(item, SynthesisItem):
        return f"synthesis, an interpretation of {item.sources} sources, {item.review}"
    return str(item.kind)


def _about(item: AnyItem, view: View) -> str:
    if isinstance(item, FactItem | SentenceItem) and item.papers:
        under = f", {_short(' > '.join(item.sections))}" if isinstance(item, SentenceItem) and item.sections else ""
        return f", in {_short(view.paper(item.papers[0]).named)}{under}"
    return ""


def _more(item: AnyItem) -> Iterable[str]:
    if isinstance(item, FactItem):
        yield f"about: {item.subject}"
        if item.quantities:
            numbers = (" ".join(part for part in (one.metric, one.comparator, one.value, one.unit) if part) for one in item.quantities)
            yield f"numbers: {'; '.join(numbers)}"
        yield f"evidence: {', '.join(item.evidence)}"
    elif isinstance(item, AssignmentItem):
        yield f"{item.inference}, on: {', '.join(item.basis)}"
    elif isinstance(item, RelationItem):
        if item.payload:
            yield f"reported: {'; '.join(f'{one.name} {one.value}' for one in item.payload)}"
        if item.basis:
            yield f"on: {', '.join(item.basis)}"
    elif isinstance(item, Account):
        for role in dict.fromkeys(one.role for one in item.basis):
            yield f"{role}: {', '.join(one.object_id for one in item.basis if one.role == role)}"


def _standing(item: AnyItem) -> str | None:
    """What is unusual about it: its lifecycle, or that a task made it."""
    said = []
    if item.standing.status != "current":
        said.append(STANDS[item.standing.status] + (f": {item.standing.reason}" if item.standing.reason else ""))
    if item.origin.chain != "pipeline":
        said.append(f"made by {item.origin.chain}, {item.origin.stage}")
    return f"status: {'; '.join(said)}" if said else None


def _conditions(conditions: Sequence[Context]) -> str:
    return "; ".join(f"{one.kind}: {one.text}" for one in conditions)


def _paper_block(view: View, paper: str, items: Sequence[AnyItem]) -> str:
    counts: dict[str, int] = {}
    for item in items:
        counts[item.kind] = counts.get(item.kind, 0) + 1
    first = window(text_of(items[0]), None, 160).text
    marks = ", withdrawn" if view.paper(paper).withdrawn else ""
    held = ", ".join(f"{count} {kind if count == 1 else _SEVERAL[kind]}" for kind, count in counts.items())
    return f"[{paper}] {_short(view.paper(paper).named)}{marks}: {held}\n{first}"


def _short(text: str) -> str:
    return text if len(text) <= _TITLE else f"{text[: _TITLE - 1]}{_CUT}"


# -- the budget ------------------------------------------------------------------------------------------------------


def _fitted(head: Sequence[str], blocks: Sequence[Window], budget: int, what: str, total: int | None = None) -> str:
    """As many blocks as fit, in order, and what is missing of the total. Never longer than the budget, that line included."""
    if budget < LEAST_BUDGET:
        raise BadRequest(f"a budget of {budget} characters holds nothing; give {LEAST_BUDGET} or more")
    total = len(blocks) if total is None else total
    room = budget - len(_said(total, total, what, total)) - len(_BETWEEN)
    parts: list[str] = []
    lead = "\n".join(head)
    if lead:
        parts.append(lead if len(lead) <= room // 3 else f"{lead[: room // 3 - 1]}{_CUT}")
    shown = cut = 0
    for block in blocks:
        if len(_BETWEEN.join((*parts, block.text))) > room:
            break
        parts.append(block.text)
        shown += 1
        cut += block.is_cut
    end = _said(total - shown, total, what, cut)
    return _BETWEEN.join([*parts, *([end] if end else [])]) or f"no {what}"


def _said(missing: int, total: int, what: str, cut: int) -> str:
    said = [f"{missing} of {total} {what} not shown"] if missing else []
    said += [f"{cut} {'text is' if cut == 1 else 'texts are'} cut"] if cut else []
    return f"({'; '.join(said)})" if said else ""

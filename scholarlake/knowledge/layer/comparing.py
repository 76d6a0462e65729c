"""Comparison: findings beside each other along dimensions, so that what differs in conditions is seen before numbers are compared.

It ranks nothing: rows are in the order of papers and sentences. Values stand as they are written, and no unit is converted. A label from a
taxonomy is a finding's own only where the assignment rests on that very finding: labels of different results are never put together. What
does not belong here: which findings are compared (`selecting`, `retrieving`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from scholarlake.knowledge.layer.items import AssignmentItem, FactItem, place_of
from scholarlake.knowledge.layer.store import Store
from scholarlake.knowledge.layer.view import BadRequest, PaperRef, Request, View
from scholarlake.lake.contracts import CONTEXT_KINDS

DimensionKind = Literal["subject", "type", "condition", "quantity", "category"]
Agreement = Literal["same", "differs", "partly"]
MAX_ROWS = 200
NO_METRIC = "number of no named metric"
_CELL = 60  # characters of a cell in a table of text


@dataclass(frozen=True)
class Dimension:
    """What findings are compared along. agreement: all say the same, they differ, or only some of them say anything."""

    name: str
    kind: DimensionKind
    agreement: Agreement


@dataclass(frozen=True)
class Row:
    """A finding. cells: for each dimension what it says there, as written; nothing where it says nothing."""

    object_id: str
    paper_id: str
    statement: str
    evidence: tuple[str, ...]
    verification: str
    status: str
    cells: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Shared:
    """Findings that report one metric in one unit, so that their numbers can be read beside each other.

    alike: dimensions along which all of them say the same. differs: those along which they don't, or only some say anything: as far as
    these matter, the numbers are not of one setting.
    """

    metric: str
    unit: str | None
    rows: tuple[str, ...]
    alike: tuple[str, ...]
    differs: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Findings by dimensions. What it shows side by side is not thereby comparable: `shared` says what is, and under which differences."""

    collection: str
    release: str
    dimensions: tuple[Dimension, ...]
    rows: tuple[Row, ...]
    shared: tuple[Shared, ...]
    papers: tuple[PaperRef, ...]
    history: tuple[Request, ...]
    notes: tuple[str, ...]

    def cell(self, object_id: str, dimension: str) -> tuple[str, ...]:
        """What a finding says along a dimension. Raises BadRequest where there is no such row or dimension."""
        names = [one.name for one in self.dimensions]
        for row in self.rows:
            if row.object_id == object_id and dimension in names:
                return row.cells[names.index(dimension)]
        raise BadRequest(f"no cell of {object_id!r} and {dimension!r}; dimensions are: {', '.join(names)}")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; cells by the name of their dimension."""
        names = [one.name for one in self.dimensions]
        rows = [{**asdict(row), "cells": dict(zip(names, row.cells, strict=True))} for row in self.rows]
        return {**asdict(self), "rows": rows}

    def text(self) -> str:
        """The comparison as a table in Markdown, the findings behind it by their numbers, and what is to be said of them."""
        lines = [_line(["", *(one.name for one in self.dimensions)]), "|---" * (len(self.dimensions) + 1) + "|"]
        lines += [_line([str(n), *("; ".join(cell) for cell in row.cells)]) for n, row in enumerate(self.rows, 1)]
        papers = {one.paper_id: one.named for one in self.papers}
        lines += [f"{n}. {row.object_id}, {papers.get(row.paper_id, row.paper_id)}: {row.statement}" for n, row in enumerate(self.rows, 1)]
        numbers = {row.object_id: str(n) for n, row in enumerate(self.rows, 1)}
        for one in self.shared:
            unit = f" in {one.unit}" if one.unit else ", without a unit"
            differs = f"; they differ, or do not all say, along {', '.join(one.differs)}" if one.differs else "; nothing said differs"
            lines.append(f"- {one.metric}{unit}: {', '.join(numbers[name] for name in one.rows)}{differs}")
        return "\n".join([*lines, *(f"- {note}" for note in self.notes)])


def compared(store: Store, view: View, wanted: Sequence[str], request: Request) -> Comparison:
    """The facts of a view side by side. wanted: names of dimensions, all that any of the facts says something along where none is given.

    Raises BadRequest for a view without facts, or for a dimension that there is none of.
    """
    facts = sorted((item for item in view.items if isinstance(item, FactItem)), key=place_of)
    if not facts:
        raise BadRequest("there is no fact in the view to compare; expand it along basis or facts first")
    over = len(facts) - MAX_ROWS
    notes = [f"{over} of {len(facts)} facts are left out: a comparison has {MAX_ROWS} at most"] if over > 0 else []
    facts = facts[:MAX_ROWS]
    labels = _labels(store, facts)
    cells = [_cells(fact, labels.get(fact.object_id, {})) for fact in facts]
    names = _names(cells)
    chosen = _chosen(names, wanted, store)
    rows = [_row(fact, cell, chosen) for fact, cell in zip(facts, cells, strict=True)]
    dimensions = tuple(Dimension(name, kind, _agreement([row.cells[at] for row in rows])) for at, (kind, name) in enumerate(chosen))
    papers = store.papers(row.paper_id for row in rows)
    shared = tuple(_shared(facts, cells, chosen))
    return Comparison(
        collection=view.collection,
        release=view.release,
        dimensions=dimensions,
        rows=tuple(rows),
        shared=shared,
        papers=tuple(papers[name] for name in sorted(papers)),
        history=(*view.history, request),
        notes=tuple(dict.fromkeys([*view.notes, *notes, *_cautions(facts, shared, list(papers.values()))])),
    )


_Cells = dict[tuple[DimensionKind, str], tuple[str, ...]]
_SUBJECT: tuple[DimensionKind, str] = ("subject", "subject")
_TYPE: tuple[DimensionKind, str] = ("type", "type")


def _labels(store: Store, facts: Sequence[FactItem]) -> dict[str, dict[str, list[str]]]:
    """Fact → dimension of the taxonomy → its categories there, by assignments that rest on just this fact, for dimensions that compare."""
    compares = {str(row["dimension"]) for row in store.index.categories.values() if row["compares"]}
    links = store.dependents([fact.object_id for fact in facts], ("basis",))
    assignments = {item.object_id: item for item in store.items(link.dependent for link in links) if isinstance(item, AssignmentItem)}
    found: dict[str, dict[str, list[str]]] = {}
    for link in links:
        one = assignments.get(link.dependent)
        if one is not None and one.dimension in compares:
            found.setdefault(link.basis, {}).setdefault(one.dimension, []).append(f"{one.category} ({one.certainty})")
    return found


def _cells(fact: FactItem, labels: dict[str, list[str]]) -> _Cells:
    """All that a fact says, by dimension."""
    found: dict[tuple[DimensionKind, str], list[str]] = {_SUBJECT: [fact.subject], _TYPE: [fact.type]}
    for one in fact.context:
        found.setdefault(("condition", one.kind), []).append(one.text)
    for number in fact.quantities:
        said = " ".join(part for part in (number.comparator, number.value, number.unit) if part)
        found.setdefault(("quantity", (number.metric or NO_METRIC).casefold()), []).append(said)
    for dimension, categories in labels.items():
        found.setdefault(("category", dimension), []).extend(sorted(categories))
    return {name: tuple(dict.fromkeys(said)) for name, said in found.items()}


def _names(cells: Iterable[_Cells]) -> list[tuple[DimensionKind, str]]:
    """Dimensions that any fact says something along: subject and type, conditions as the contract has them, metrics, the taxonomy's."""
    there = {name for cell in cells for name in cell}
    conditions: list[tuple[DimensionKind, str]] = [("condition", kind) for kind in CONTEXT_KINDS]
    ordered = [_SUBJECT, _TYPE, *conditions, *sorted(name for name in there if name[0] in ("quantity", "category"))]
    return [name for name in ordered if name in there]


def _chosen(names: list[tuple[DimensionKind, str]], wanted: Sequence[str], store: Store) -> list[tuple[DimensionKind, str]]:
    if not wanted:
        return names
    by_name = {name.casefold(): (kind, name) for kind, name in reversed(names)}
    of_taxonomy = {str(row["dimension"]).casefold() for row in store.index.categories.values()}
    chosen = []
    for name in dict.fromkeys(wanted):
        folded = name.casefold()
        if folded in by_name:
            chosen.append(by_name[folded])
        elif folded in CONTEXT_KINDS:
            chosen.append(("condition", folded))
        elif folded in of_taxonomy:
            chosen.append(("category", name))
        else:
            raise BadRequest(f"no dimension {name!r} to compare along; there are: {', '.join(name for _, name in names)}")
    return chosen


def _row(fact: FactItem, cells: _Cells, chosen: Sequence[tuple[DimensionKind, str]]) -> Row:
    return Row(
        object_id=fact.object_id,
        paper_id=fact.papers[0],
        statement=fact.statement,
        evidence=fact.evidence,
        verification=fact.verification,
        status=fact.standing.status,
        cells=tuple(cells.get(name, ()) for name in chosen),
    )


def _agreement(cells: Sequence[tuple[str, ...]]) -> Agreement:
    said = {tuple(sorted(text.casefold() for text in cell)) for cell in cells if cell}
    if len(said) > 1:
        return "differs"
    return "same" if all(cells) else "partly"


def _shared(facts: Sequence[FactItem], cells: Sequence[_Cells], chosen: Sequence[tuple[DimensionKind, str]]) -> Iterable[Shared]:
    """For each metric and unit that several findings report, what of their setting is the same."""
    groups: dict[tuple[str, str | None], list[int]] = {}
    for at, fact in enumerate(facts):
        for metric, unit in dict.fromkeys((one.metric.casefold(), one.unit) for one in fact.quantities if one.metric):
            groups.setdefault((metric, unit), []).append(at)
    setting = [name for name in _names(cells) if name[0] in ("condition", "category", "subject")]
    metrics = {name for kind, name in chosen if kind == "quantity"}
    for (metric, unit), places in sorted(groups.items(), key=lambda one: (one[0][0], one[0][1] or "")):
        if len(places) < 2 or metric not in metrics:
            continue
        told = [name for name in setting if any(name in cells[at] for at in places)]
        agreement = {name: _agreement([cells[at].get(name, ()) for at in places]) for name in told}
        alike = tuple(name for (_, name), said in agreement.items() if said == "same")
        differs = tuple(name for (_, name), said in agreement.items() if said != "same")
        yield Shared(metric, unit, tuple(facts[at].object_id for at in places), alike, differs)


def _cautions(facts: Sequence[FactItem], shared: Sequence[Shared], papers: Sequence[PaperRef]) -> Iterable[str]:
    """What must not be overlooked: units that differ, versions of one work, withdrawn papers, facts that failed a check."""
    units: dict[str, set[str]] = {}
    for fact in facts:
        for one in fact.quantities:
            if one.metric:
                units.setdefault(one.metric.casefold(), set()).add(one.unit or "no unit")
    for metric, found in sorted(units.items()):
        if len(found) > 1:
            yield f"{metric} is reported in {', '.join(sorted(found))}: values stand as written, nothing is converted"
    by_source: dict[str, list[str]] = {}
    for paper in papers:
        by_source.setdefault(paper.source, []).append(paper.paper_id)
    several = (sorted(found) for _, found in sorted(by_source.items()) if len(found) > 1)
    yield from (f"{' and '.join(found)} are versions of one work: one source" for found in several)
    yield from (f"{paper.paper_id} was withdrawn" for paper in papers if paper.withdrawn)
    if doubted := [fact.object_id for fact in facts if fact.verification in ("failed", "unresolved")]:
        yield f"a check did not find these supported by their sentences: {', '.join(doubted)}"


def _line(cells: Sequence[str]) -> str:
    shown = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return "| " + " | ".join(cell if len(cell) <= _CELL else f"{cell[: _CELL - 1]}…" for cell in shown) + " |"

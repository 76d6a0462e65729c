"""Running text of XML with what interrupts it: a paragraph as stretches of text, and the blocks that stand between them.

JATS and TEI differ in names only: `Inline` holds a format's. What does not belong here: sections, and what is said about the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from scholarlake.documents.xml import Element, entity_text, formula_text, name, plain_text, raised

FORMULA = "[formula]"  #: what stands for a formula of which a file has only the picture, so that its sentence can be read


@dataclass(frozen=True)
class Inline:
    """How a format names what stands in running text.

    blocks: elements that interrupt a paragraph. formulas: inline ones. silent: what is not read. raised: superscripts.
    spaced: elements around which words do not join. citation: what a superscript that holds it is.
    """

    blocks: frozenset[str]
    formulas: frozenset[str]
    silent: frozenset[str] = frozenset()
    raised: frozenset[str] = frozenset()
    spaced: frozenset[str] = frozenset()
    citation: frozenset[str] = frozenset(("xref", "ref"))


@dataclass
class _Run:
    """A paragraph under way: stretches of text and blocks, in order."""

    found: list[str | Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    def interrupt(self, block: Element) -> None:
        self.close()
        self.found.append(block)

    def close(self) -> None:
        if self.pieces:
            self.found.append("".join(self.pieces))
            self.pieces = []


def runs(element: Element, inline: Inline) -> Iterator[str | Element]:
    """The text of an element in stretches, and the blocks between them, in the order in which they stand."""
    run = _Run()
    _walk(element, inline, run)
    run.close()
    return iter(run.found)


def text_of(element: Element | None, inline: Inline) -> str:
    """The running text of an element without the blocks that interrupt it."""
    return "" if element is None else " ".join(piece for piece in runs(element, inline) if isinstance(piece, str))


def _walk(element: Element, inline: Inline, run: _Run) -> None:
    if element.text:
        run.pieces.append(element.text)
    for inner in element:
        kind = name(inner)
        if not kind:
            run.pieces.append(entity_text(inner))
        elif kind in inline.blocks:
            run.interrupt(inner)
        elif kind in inline.formulas:
            run.pieces.append(formula_text(inner) or FORMULA)
        elif kind in inline.raised or inner.get("rend") == "superscript":
            _raise(inner, inline, run)
        elif kind not in inline.silent:
            if kind in inline.spaced:
                run.pieces.append(" ")
            _walk(inner, inline, run)
            if kind in inline.spaced:
                run.pieces.append(" ")
        if inner.tail:
            run.pieces.append(inner.tail)


def _raise(element: Element, inline: Inline, run: _Run) -> None:
    if any(name(inner) in inline.citation for inner in element.iter()):
        _walk(element, inline, run)
        return
    before = run.pieces[-1] if run.pieces else ""
    run.pieces.append(raised(before, plain_text(element)))

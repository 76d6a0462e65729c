"""A document: one text made of blocks, and in each block of prose its sentences.

All offsets are code points of `Document.text`, as Python and Polars count them: 𝛼 is one, whatever it takes in UTF-8 or UTF-16. The
characters are those of the file once decoded: no normalisation, so that a quotation is found where it stands. Only runs of white
space are one space, because XML is indented. What does not belong here: how a format is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from scholarlake.documents.sentences import Span, split
from scholarlake.lake.hashing import digest

Kind = Literal["title", "abstract", "heading", "paragraph", "list_item", "caption", "table", "formula", "footnote"]
KINDS: tuple[Kind, ...] = ("title", "abstract", "heading", "paragraph", "list_item", "caption", "table", "formula", "footnote")
#: What is read as sentences. Titles, headings and tables stand in the text, apart from it.
PROSE: frozenset[Kind] = frozenset(("abstract", "paragraph", "list_item", "caption", "footnote"))
#: What is a sentence as it stands, so that evidence can name it.
WHOLE: frozenset[Kind] = frozenset(("formula",))
BODY: frozenset[Kind] = frozenset(("paragraph", "list_item"))
FULL_TEXT, ABSTRACT = "full_text", "abstract"
EXTENTS = (FULL_TEXT, ABSTRACT)

_BETWEEN = "\n\n"
_SPACES = "\t\n\r\f\v"
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Block:
    """A stretch of the text of one kind. sections: headings that it stands under, outermost first. label: "Figure 2", "3.1", "(4)".

    start, end: code points of the document's text; so are the sentences', which lie inside.
    """

    kind: Kind
    sections: tuple[str, ...]
    label: str | None
    start: int
    end: int
    sentences: tuple[Span, ...] = ()


@dataclass(frozen=True)
class About:
    """What a file says of the paper: by this it is found. ids: any ids but the DOI, as written."""

    title: str | None = None
    doi: str | None = None
    ids: tuple[str, ...] = ()
    year: int | None = None
    authors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Document:
    """A paper's text as one file has it."""

    about: About
    text: str
    blocks: tuple[Block, ...]

    @property
    def extent(self) -> str | None:
        """full_text where there is text of the body, else abstract; None where there is neither."""
        kinds = {block.kind for block in self.blocks}
        return FULL_TEXT if kinds & BODY else ABSTRACT if "abstract" in kinds else None

    @property
    def sentences(self) -> int:
        return sum(len(block.sentences) for block in self.blocks)

    @property
    def content_hash(self) -> str:
        """Digest of all that the document says: two files of equal hash are one document."""
        about = self.about
        blocks = (
            f"{block.kind}\n{block.label}\n{block.start}\n{block.end}\n{block.sentences}\n{'>'.join(block.sections)}"
            for block in self.blocks
        )
        known = (str(about.title), str(about.doi), str(about.year), *about.ids, "authors", *about.authors)
        return digest([*known, self.text, *blocks])


@dataclass
class Writer:
    """Lays blocks one after another, and knows where each came to lie."""

    sections: list[str] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list, init=False, repr=False)
    _blocks: list[Block] = field(default_factory=list, init=False, repr=False)
    _length: int = field(default=0, init=False, repr=False)

    def add(self, kind: Kind, text: str, *, label: str | None = None, sections: Sequence[str] | None = None) -> None:
        """A block of running text, white space made single. Nothing where there is no text."""
        self.add_lines(kind, [text], label=label, sections=sections)

    def add_lines(self, kind: Kind, lines: Iterable[str], *, label: str | None = None, sections: Sequence[str] | None = None) -> None:
        """A block whose lines stay lines: the rows of a table."""
        text = "\n".join(line for line in map(single_spaced, lines) if line)
        if not text:
            return
        if self._pieces:
            self._pieces.append(_BETWEEN)
            self._length += len(_BETWEEN)
        start = self._length
        self._pieces.append(text)
        self._length += len(text)
        spans: tuple[Span, ...] = ((start, self._length),) if kind in WHOLE else ()
        if kind in PROSE:
            spans = tuple((start + begin, start + end) for begin, end in split(text))
        under = tuple(self.sections if sections is None else sections)
        self._blocks.append(Block(kind, under, label or None, start, self._length, spans))

    def heading(self, text: str, label: str | None = None) -> None:
        """The heading of the section that was entered last: of the innermost of `sections`."""
        self.add("heading", text, label=label)

    def document(self, about: About) -> Document:
        """All of it. The title is the first block, where the file has one and the writer was given none."""
        return Document(replace(about, title=single_spaced(about.title or "") or None), "".join(self._pieces), tuple(self._blocks))


def single_spaced(text: str) -> str:
    """Runs of white space as one space, none around; a lone surrogate, which no table can hold, as U+FFFD. No-break spaces stay."""
    for space in _SPACES:  # an expression would look at every word, and take ten times as long
        text = text.replace(space, " ")
    while "  " in text:
        text = text.replace("  ", " ")
    text = text.strip(" ")
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)

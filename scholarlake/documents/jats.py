"""JATS and its ancestor, the NLM journal DTDs: articles as PubMed Central, PLOS and most publishers of journals give them away.

Read are title, abstracts, the body, appendices, figures and tables wherever they float. Not read: reference lists, acknowledgements,
notes of the back matter, supplementary material, reviews and responses (`sub-article`).
Reference: ANSI/NISO Z39.96 (JATS).
"""

from __future__ import annotations

from collections.abc import Iterator

from scholarlake.documents.document import About, Document, Kind, Writer
from scholarlake.documents.inline import Inline, runs, text_of
from scholarlake.documents.xml import Element, child, children, formula_text, name, parse, plain_text

NAME = "jats"
ROOTS = frozenset(("article", "pmc-articleset", "OAI-PMH", "record"))

_FLOATS = frozenset(("fig", "fig-group", "table-wrap", "table-wrap-group", "boxed-text", "chem-struct-wrap"))
_SECTIONS = frozenset(("sec", "app", "app-group", "boxed-text", "statement"))
_LISTS = frozenset(("list", "def-list"))
_UNREAD = frozenset(
    (
        "ref-list", "ack", "fn-group", "glossary", "notes", "bio", "supplementary-material", "sec-meta", "object-id", "permissions",
        "graphic", "media", "inline-graphic", "inline-supplementary-material", "sub-article", "response", "signature-block", "xref-group",
        "private-char", "author-notes",
    )
)  # fmt: skip
_INLINE = Inline(
    blocks=_FLOATS
    | _LISTS
    | {"disp-formula", "disp-formula-group", "disp-quote", "verse-group", "table", "fn", "p", "preformat", "statement"},
    formulas=frozenset(("inline-formula", "math", "tex-math")),
    silent=_UNREAD,
    raised=frozenset(("sup",)),
    spaced=frozenset(("break", "title", "label")),
)
#: Abstracts that are no account of the paper.
_OTHER_ABSTRACTS = frozenset(
    ("toc", "teaser", "graphical", "precis", "key-points", "web-summary", "short", "author-highlights", "highlights")
)


def read(data: bytes) -> Iterator[Document]:
    """The articles of a file. Raises SourceError where it is no well-formed XML."""
    root = parse(data)
    if name(root) == "article":
        yield _document(root)
        return
    for article in root.iter("{*}article"):
        if not any(name(above) == "article" for above in article.iterancestors()):
            yield _document(article)


def _document(article: Element) -> Document:
    meta = child(article, "front", "article-meta")
    about = _about(meta)
    writer = Writer()
    writer.add("title", about.title or "")
    if meta is not None:
        for abstract in children(meta, "abstract"):
            _abstract(abstract, writer)
    if (body := child(article, "body")) is not None:
        _blocks(body, writer, "paragraph")
    if (back := child(article, "back")) is not None:
        for part in children(back, "app-group", "app", "sec"):
            _block(part, writer, "paragraph")
    for floats in children(article, "floats-group", "floats-wrap"):
        _blocks(floats, writer, "paragraph")
    return writer.document(about)


def _about(meta: Element | None) -> About:
    if meta is None:
        return About()
    ids = {
        kind: text
        for entry in children(meta, "article-id")
        if (text := plain_text(entry).strip()) and (kind := entry.get("pub-id-type") or "")
    }
    title = text_of(child(meta, "title-group", "article-title"), _INLINE)
    if subtitle := text_of(child(meta, "title-group", "subtitle"), _INLINE):
        title = f"{title.strip()}: {subtitle.strip()}"
    authors = [
        f"{plain_text(child(person, 'surname'))}, {plain_text(child(person, 'given-names'))}".strip(" ,")
        for group in children(meta, "contrib-group")
        for contributor in children(group, "contrib")
        if contributor.get("contrib-type", "author") == "author" and (person := _person(contributor)) is not None
    ]
    return About(title, ids.get("doi"), tuple(_ids(ids)), _year(meta), tuple(authors))


def _person(contributor: Element) -> Element | None:
    found = child(contributor, "name")
    return found if found is not None else child(contributor, "name-alternatives", "name")


def _ids(ids: dict[str, str]) -> Iterator[str]:
    for kind, value in ids.items():
        if kind != "doi":
            yield value
            if kind in ("pmc", "pmcid") and value.isdecimal():
                yield f"PMC{value}"


def _year(meta: Element) -> int | None:
    """The first year of publication: of the printed and electronic issue the earlier."""
    years = [
        text for date in children(meta, "pub-date") if (text := plain_text(child(date, "year")).strip()).isdecimal() and len(text) == 4
    ]
    return int(min(years)) if years else None


def _abstract(abstract: Element, writer: Writer) -> None:
    kind = abstract.get("abstract-type") or ""
    if kind in _OTHER_ABSTRACTS:
        return
    heading = text_of(child(abstract, "title"), _INLINE).strip()
    writer.sections = [heading] if heading and heading.lower() != "abstract" else []
    _blocks(abstract, writer, "abstract", skip_title=True)
    writer.sections = []


def _blocks(element: Element, writer: Writer, kind: Kind, *, skip_title: bool = False) -> None:
    """Everything in a section, an abstract or a box, in order. kind: what its paragraphs are."""
    for inner in element:
        if skip_title and name(inner) == "title":
            continue
        _block(inner, writer, kind)


def _block(element: Element, writer: Writer, kind: Kind) -> None:
    tag = name(element)
    if tag in _UNREAD or not tag or element.get("sec-type") == "supplementary-material":
        return
    if tag in _SECTIONS:
        _section(element, writer, kind)
    elif tag in ("fig", "chem-struct-wrap"):
        _caption(element, writer)
    elif tag == "table-wrap":
        _caption(element, writer)
        for table in element.iter("{*}table"):
            writer.add_lines("table", _rows(table), label=_label(element))
        for foot in children(element, "table-wrap-foot"):
            for note in foot.iter("{*}p"):
                _paragraph(note, writer, "footnote")
    elif tag in ("fig-group", "table-wrap-group"):
        _caption(element, writer)
        _blocks(element, writer, kind)
    elif tag == "table":
        writer.add_lines("table", _rows(element))
    elif tag in ("disp-formula", "disp-formula-group"):
        writer.add("formula", formula_text(element), label=_label(element))
    elif tag == "list":
        for item in children(element, "list-item"):
            _blocks(item, writer, "list_item" if kind == "paragraph" else kind)
    elif tag == "def-list":
        for item in children(element, "def-item"):
            term, meaning = text_of(child(item, "term"), _INLINE), text_of_all(child(item, "def"))
            writer.add("list_item", f"{term.strip()}: {meaning.strip()}")
    elif tag == "fn":
        for paragraph in children(element, "p"):
            _paragraph(paragraph, writer, "footnote")
    elif tag in ("caption", "label", "title", "attrib", "subtitle"):
        return
    else:
        _paragraph(element, writer, kind)


def text_of_all(element: Element | None) -> str:
    """Running text with the paragraphs in it."""
    if element is None:
        return ""
    return " ".join(piece if isinstance(piece, str) else text_of_all(piece) for piece in runs(element, _INLINE))


def _section(section: Element, writer: Writer, kind: Kind) -> None:
    heading = text_of(child(section, "title"), _INLINE)
    if not heading.strip():
        heading = text_of(child(section, "caption", "title"), _INLINE)
    heading = " ".join(heading.split())
    if heading:
        writer.sections.append(heading)
        writer.heading(heading, _label(section)) if kind != "abstract" else None
    _blocks(section, writer, kind)
    if heading:
        writer.sections.pop()


def _paragraph(element: Element, writer: Writer, kind: Kind) -> None:
    """Text that blocks may interrupt: what stands before, the block, what stands behind."""
    for piece in runs(element, _INLINE):
        if isinstance(piece, str):
            writer.add(kind, piece)
        else:
            _block(piece, writer, kind)


def _caption(element: Element, writer: Writer) -> None:
    caption = child(element, "caption")
    if caption is None:
        return
    title = text_of(child(caption, "title"), _INLINE).strip()
    rest = [text_of_all(part).strip() for part in children(caption, "p")]
    writer.add("caption", " ".join([title, *rest]), label=_label(element))


def _label(element: Element) -> str | None:
    return " ".join(plain_text(child(element, "label")).split()) or None


def _rows(table: Element) -> Iterator[str]:
    """The rows of a table as lines, cells parted by bars."""
    for row in table.iter("{*}tr"):
        cells = [" ".join(text_of_all(cell).split()) for cell in children(row, "td", "th")]
        if any(cells):
            yield " | ".join(cells)

"""TEI as GROBID writes it from PDFs: title, abstract, body with figures, tables and formulas, annexes.

Not read: the bibliography, acknowledgements, statements of funding and availability. GROBID numbers its sections in `@n` of the head.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from scholarlake.documents.document import About, Document, Kind, Writer
from scholarlake.documents.inline import Inline, runs, text_of
from scholarlake.documents.xml import Element, child, children, descendants, name, parse, plain_text

NAME = "tei"
ROOTS = frozenset(("TEI", "TEI.2", "teiCorpus"))

_INLINE = Inline(
    blocks=frozenset(("figure", "table", "formula", "list", "note", "p", "quote", "listBibl", "div")),
    formulas=frozenset(("math",)),
    silent=frozenset(("graphic", "idno")),
    spaced=frozenset(("lb", "label", "s")),
)
_UNREAD = frozenset(
    ("references", "acknowledgement", "acknowledgements", "acknowledgment", "funding", "availability", "contribution", "conflict")
)
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")


def read(data: bytes) -> Iterator[Document]:
    """The texts of a file. Raises SourceError where it is no well-formed XML."""
    root = parse(data)
    texts = [root] if name(root) != "teiCorpus" else list(children(root, "TEI", "TEI.2"))
    for text in texts:
        yield _document(text)


def _document(root: Element) -> Document:
    header = child(root, "teiHeader")
    about = _about(header)
    writer = Writer()
    writer.add("title", about.title or "")
    if (abstract := child(header, "profileDesc", "abstract")) is not None:
        _blocks(abstract, writer, "abstract")
    if (body := child(root, "text", "body")) is not None:
        _blocks(body, writer, "paragraph")
    if (back := child(root, "text", "back")) is not None:
        for part in children(back, "div"):
            _block(part, writer, "paragraph")
    return writer.document(about)


def _about(header: Element | None) -> About:
    if header is None:
        return About()
    title = text_of(child(header, "fileDesc", "titleStmt", "title"), _INLINE)
    source = child(header, "fileDesc", "sourceDesc", "biblStruct")
    if source is None:
        return About(title)
    if not title.strip():
        title = text_of(child(source, "analytic", "title"), _INLINE)
    ids = [(entry.get("type") or "", plain_text(entry).strip()) for entry in descendants(source, "idno")]
    authors = []
    for author in descendants(source, "author"):
        if (person := child(author, "persName")) is not None:
            given = " ".join(plain_text(part) for part in children(person, "forename"))
            authors.append(f"{plain_text(child(person, 'surname'))}, {given}".strip(" ,"))
    return About(
        title,
        next((value for kind, value in ids if kind.upper() == "DOI"), None),
        tuple(value for kind, value in ids if kind.upper() not in ("DOI", "ISSN", "EISSN", "ISBN") and value),
        _year(source, header),
        tuple(name for name in authors if name),
    )


def _year(*places: Element) -> int | None:
    """Of publication, as far as the first page told."""
    for place in places:
        for date in descendants(place, "date"):
            if date.get("type", "published") == "published" and (found := _YEAR.search(date.get("when") or plain_text(date))):
                return int(found.group())
    return None


def _blocks(element: Element, writer: Writer, kind: Kind) -> None:
    for inner in element:
        _block(inner, writer, kind)


def _block(element: Element, writer: Writer, kind: Kind) -> None:
    tag = name(element)
    if tag == "div":
        _section(element, writer, kind)
    elif tag == "figure":
        _figure(element, writer)
    elif tag == "table":
        writer.add_lines("table", _rows(element))
    elif tag == "formula":
        label = " ".join(plain_text(child(element, "label")).split())
        text = " ".join(plain_text(element).split())
        writer.add("formula", text.removesuffix(label) if label else text, label=label)
    elif tag == "list":
        for item in children(element, "item"):
            _paragraph(item, writer, "list_item" if kind == "paragraph" else kind)
    elif tag == "note":
        if element.get("type") != "raw_affiliation":
            _paragraph(element, writer, "footnote")
    elif tag in ("head", "listBibl", "graphic", "label", ""):
        return
    else:
        _paragraph(element, writer, kind)


def _section(section: Element, writer: Writer, kind: Kind) -> None:
    if (section.get("type") or "") in _UNREAD:
        return
    head = child(section, "head")
    heading = " ".join(text_of(head, _INLINE).split())
    label = head.get("n") if head is not None else None
    outer = list(writer.sections)
    if heading:
        _enter(writer, heading, label)
        if kind != "abstract":
            writer.heading(heading, label)
    _blocks(section, writer, kind)
    if next(children(section, "div"), None) is not None or not label:
        writer.sections = outer


_NUMBERS: re.Pattern[str] = re.compile(r"\d+|[A-Z](?=\.|$)")


def _enter(writer: Writer, heading: str, label: str | None) -> None:
    """GROBID lays sections flat: their numbers tell how deep they lie, 3.1 below 3."""
    depth = max(len(_NUMBERS.findall(label)), 1) if label else 1
    writer.sections = [*writer.sections[: depth - 1], heading]


def _paragraph(element: Element, writer: Writer, kind: Kind) -> None:
    for piece in runs(element, _INLINE):
        if isinstance(piece, str):
            writer.add(kind, piece)
        else:
            _block(piece, writer, kind)


def _figure(figure: Element, writer: Writer) -> None:
    """A figure or, by its type, a table: the head repeats the label."""
    head, label = " ".join(text_of(child(figure, "head"), _INLINE).split()), " ".join(plain_text(child(figure, "label")).split())
    is_table = figure.get("type") == "table"
    named = f"{'Table' if is_table else 'Figure'} {label}" if label else head or None
    writer.add("caption", text_of_figure(child(figure, "figDesc")) or head, label=named)
    for table in descendants(figure, "table"):
        writer.add_lines("table", _rows(table), label=named)


def text_of_figure(description: Element | None) -> str:
    """The caption, with the paragraphs in it."""
    if description is None:
        return ""
    return " ".join(piece if isinstance(piece, str) else text_of_figure(piece) for piece in runs(description, _INLINE))


def _rows(table: Element) -> Iterator[str]:
    for row in descendants(table, "row"):
        cells = [" ".join(plain_text(cell).split()) for cell in children(row, "cell")]
        if any(cells):
            yield " | ".join(cells)

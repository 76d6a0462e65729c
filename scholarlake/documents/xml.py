"""XML from strangers: parsed without DTDs, entities, network or unbounded depth; and what JATS, TEI and PubMed have in common.

What does not belong here: what an element means in one format.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from lxml import etree

from scholarlake.errors import SourceError

Element = Any  # lxml's elements, whose stubs know neither entities nor text of a tail

# No `huge_tree`: libxml2 then ends at a depth of 256, at 10 MB of one text, and where entities multiply what is written.
_SAFE: dict[str, Any] = {
    "load_dtd": False,
    "no_network": True,
    "resolve_entities": False,
    "dtd_validation": False,
    "attribute_defaults": False,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}
# What was read once is not read in another way where the rest doesn't fit: there are too many ways.
_PROLOG = re.compile(r"(?>\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*+<([\w:.-]+)", re.DOTALL)
_POWER = re.compile(r"[-−–+]?\d")


def root_name(head: bytes) -> str | None:
    """Local name of the root element by the first bytes of a file, None where they are no XML."""
    text = decoded_head(head)
    if not text.startswith("<"):
        return None
    found = _PROLOG.match(text)
    return found.group(1).rpartition(":")[2] if found else None


def decoded_head(head: bytes) -> str:
    """The first bytes as text, whatever Unicode encoding they are in, without byte-order mark and leading white space."""
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    return head.decode(encoding, "replace").lstrip("\ufeff \t\r\n")


def parse(data: bytes) -> Element:
    """The root element. Raises SourceError, in one line, where the file is no well-formed XML, or such that it may not be read."""
    try:
        return etree.fromstring(data, etree.XMLParser(**_SAFE))
    except (etree.XMLSyntaxError, ValueError, LookupError) as fault:
        raise SourceError(f"no well-formed XML ({' '.join(str(fault).split())[:200]})") from None


def parse_each(data: bytes, tag: str) -> Iterator[Element]:
    """The elements of one name of a large file, each forgotten once the next is asked for."""
    try:
        for _, element in etree.iterparse(BytesIO(data), events=("end",), tag=(tag, f"{{*}}{tag}"), **_SAFE):
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except (etree.XMLSyntaxError, ValueError, LookupError) as fault:
        raise SourceError(f"no well-formed XML ({' '.join(str(fault).split())[:200]})") from None


def name(element: Element) -> str:
    """Local name of an element, "" of an entity reference."""
    tag = element.tag
    if type(tag) is not str:
        return ""
    return tag if tag[0] != "{" else tag.rpartition("}")[2]


def children(element: Element, *names: str) -> Iterator[Element]:
    """The children of some names, whatever their namespace."""
    return (child for child in element if name(child) in names)


def child(element: Element | None, *path: str) -> Element | None:
    """The first child of a child … by local names, None where there is none."""
    for step in path:
        if element is None:
            return None
        element = next(children(element, step), None)
    return element


def descendants(element: Element, *names: str) -> Iterator[Element]:
    """Elements below of some names, whatever their namespace."""
    return element.iter(*(f"{{*}}{tag}" for tag in names))  # type: ignore[no-any-return]


def entity_text(element: Element) -> str:
    """What a reference to an entity stands for: the character where the name is one of HTML's, else itself as written."""
    written = element.text or ""
    found = html.unescape(written)
    return found if found != written else written


def plain_text(element: Element | None) -> str:
    """All text of an element, entity references decoded; "" of None."""
    if element is None:
        return ""
    pieces: list[str] = []
    _gather(element, pieces)
    return "".join(pieces)


def _gather(element: Element, pieces: list[str]) -> None:
    if element.text and type(element.tag) is str:
        pieces.append(element.text)
    for inner in element:
        if type(inner.tag) is str:
            _gather(inner, pieces)
        elif inner.tag is etree.Entity:
            pieces.append(entity_text(inner))
        if inner.tail:
            pieces.append(inner.tail)


def formula_text(element: Element) -> str:
    """A formula in readable form: its LaTeX where it has one, in dollars, else the text of its MathML or whatever it holds."""
    for tex in descendants(element, "tex-math"):
        if latex := _latex(plain_text(tex)):
            return f"${latex}$"
    for note in descendants(element, "annotation"):
        if "tex" in (note.get("encoding") or "").lower() and (latex := _latex(plain_text(note))):
            return f"${latex}$"
    for math in descendants(element, "math"):
        return math_text(math)
    return " ".join(plain_text(element).split())


_DOCUMENT = re.compile(r"\\begin\{document\}(.*?)\\end\{document\}", re.DOTALL)


def _latex(source: str) -> str:
    """The formula of a `tex-math`, which may be a whole LaTeX document about it."""
    found = _DOCUMENT.search(source)
    return " ".join((found.group(1) if found else source).split()).strip("$ ")


_DEEPEST = 100  # levels of MathML looked into; libxml2 allows 256 of all


def math_text(element: Element, depth: int = 0) -> str:
    """MathML as one line: fractions with a slash, powers with ^, indices with _."""
    if depth > _DEEPEST or type(element.tag) is not str:
        return entity_text(element) if type(element.tag) is not str else ""
    kind = name(element)
    if kind in ("annotation", "annotation-xml", "mphantom"):
        return ""
    parts = [part for inner in element if (part := math_text(inner, depth + 1))]
    if not parts:
        return " ".join((element.text or "").split())
    if kind == "mfrac" and len(parts) == 2:
        return f"{_grouped(parts[0])}/{_grouped(parts[1])}"
    if kind in ("msup", "mover") and len(parts) == 2:
        return f"{parts[0]}^{_grouped(parts[1])}"
    if kind in ("msub", "munder") and len(parts) == 2:
        return f"{parts[0]}_{_grouped(parts[1])}"
    if kind in ("msubsup", "munderover") and len(parts) == 3:
        return f"{parts[0]}_{_grouped(parts[1])}^{_grouped(parts[2])}"
    if kind == "msqrt":
        return f"√{_grouped(' '.join(parts))}"
    return " ".join(parts)


def _grouped(part: str) -> str:
    return part if len(part) == 1 or part.isalnum() else f"({part})"


def raised(before: str, inside: str) -> str:
    """A superscript behind a number or letter: `10` and `5` read 10^5, not 105; other superscripts stay as they are."""
    return f"^{inside}" if before[-1:].isalnum() and _POWER.match(inside) else inside

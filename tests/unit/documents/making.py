"""Documents made by hand: short articles in every format, and what a reader makes of them."""

from __future__ import annotations

from scholarlake.documents.document import Block, Document
from scholarlake.documents.formats import read


def only(data: bytes | str) -> Document:
    """The one document of a file."""
    [(_, document)] = read(data.encode() if isinstance(data, str) else data)
    return document


def format_of(data: bytes | str) -> str:
    [(name, _)] = read(data.encode() if isinstance(data, str) else data)
    return name


def texts(document: Document, *kinds: str) -> list[str]:
    """The texts of the blocks of some kinds, in order."""
    return [text_of(document, block) for block in document.blocks if block.kind in kinds]


def text_of(document: Document, block: Block) -> str:
    return document.text[block.start : block.end]


def sentences(document: Document) -> list[str]:
    return [document.text[start:end] for block in document.blocks for start, end in block.sentences]


def jats(body: str = "", *, front: str = "", back: str = "", head: str = "") -> str:
    return f"""<?xml version="1.0" encoding="UTF-8"?>{head}
<article xmlns:mml="http://www.w3.org/1998/Math/MathML" xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>
{front}</article-meta></front><body>{body}</body><back>{back}</back></article>"""

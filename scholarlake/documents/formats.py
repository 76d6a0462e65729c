"""Which format a document file is in, by its first bytes, and its documents.

What does not belong here: how one format is read, where the file lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scholarlake.documents import jats, jsondoc, labelled, markdown, pubmed, s2orc, tei
from scholarlake.documents.document import Document
from scholarlake.documents.xml import decoded_head, root_name
from scholarlake.errors import SourceError

Found = tuple[str, Document]  # name of the format, document
Reader = Callable[[bytes], Iterator[Found]]

#: All formats. Of two files with equally much of a paper, the one whose format comes first here is taken: most structure first.
FORMATS = (jats.NAME, tei.NAME, s2orc.NAME, markdown.MARKDOWN, markdown.TEXT, pubmed.NAME, labelled.NAME)
HEAD_BYTES = 1 << 16

_BY_ROOT = ((jats.ROOTS, jats.NAME, jats.read), (tei.ROOTS, tei.NAME, tei.read), (pubmed.ROOTS, pubmed.NAME, pubmed.read))
_MAGIC = (b"%PDF", b"PK", b"\x1f\x8b", b"\x89PNG", b"\xff\xd8\xff", b"{\\rtf", b"%!PS", b"Obj\x01", b"PAR1")


def read(data: bytes) -> Iterator[Found]:
    """The documents of a file, uncompressed. Raises SourceError, in one line, where it is in no known format, or damaged."""
    reader = _reader(data[:HEAD_BYTES])
    try:
        yield from reader(data)
    except RecursionError:
        raise SourceError("nested too deeply to be a document") from None


def _reader(head: bytes) -> Reader:
    text = decoded_head(head)
    if text.startswith("<"):
        root = root_name(head)
        for roots, name, xml_reader in _BY_ROOT:
            if root in roots:
                return _named(name, xml_reader)
        raise SourceError(f"XML of another kind (its root is {root!r}; known: article, TEI, PubmedArticleSet)")
    if text.startswith(("{", "[{", "[ ", "[\n", "[\r", "[\t", "[]")):
        return jsondoc.read
    if not text.strip():
        raise SourceError("empty")
    if head.startswith(_MAGIC) or "\x00" in text[:4096]:
        raise SourceError("no text: a binary file")
    if markdown.is_markdown(text):
        return _named(markdown.MARKDOWN, markdown.read_markdown)
    return _named(markdown.TEXT, markdown.read_text)


def _named(name: str, reader: Callable[[bytes], Iterator[Document]]) -> Reader:
    return lambda data: ((name, document) for document in reader(data))

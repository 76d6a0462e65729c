"""What a file of full texts comes to before it is in a lake: its format, its documents, what they are made of, how they begin.

Reads with the readers of `formats`. What does not belong here: which files there are (`scholarlake.inspection`), parts of a dump
(`sources.inspection`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from scholarlake.documents.document import BODY, Document
from scholarlake.documents.folder import contents
from scholarlake.documents.formats import read
from scholarlake.errors import SourceError
from scholarlake.sources import streams
from scholarlake.sources.files import File

EXAMPLES = 3  # documents, and of each one paragraphs and sentences
_HEADINGS_SHOWN = 12


@dataclass(frozen=True)
class DocumentShown:
    """One document: what it says of its paper, and how it begins. sections: its first headings; paragraphs, sentences: its first."""

    title: str | None
    doi: str | None
    ids: tuple[str, ...]
    year: int | None
    authors: tuple[str, ...]
    extent: str | None
    characters: int
    blocks: Mapping[str, int]
    sections: tuple[str, ...]
    sentences_in_all: int
    paragraphs: tuple[str, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class DocumentsFound:
    """What a file of full texts is and holds. formats and extents: documents of each; blocks: by kind; examples: its first documents."""

    key: str
    formats: Mapping[str, int]
    compression: str
    bytes: int
    uncompressed_bytes: int
    documents: int
    extents: Mapping[str, int]
    blocks: Mapping[str, int]
    sentences: int
    characters: int
    examples: tuple[DocumentShown, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "documents", **asdict(self)}


def inspect_documents(key: str, file: File, max_bytes: int) -> DocumentsFound:
    """Read a file of full texts and say what it is and holds. max_bytes: the largest that is read, uncompressed.

    Raises SourceError, whose message says why and names no file, where it holds no document or can't be read.
    """
    formats: Counter[str] = Counter()
    extents: Counter[str] = Counter()
    blocks: Counter[str] = Counter()
    sentences = characters = 0
    examples: list[DocumentShown] = []
    compression = streams.compression_of(file)
    data, _ = contents(file, compression, max_bytes)
    for name, document in read(data):
        formats[name] += 1
        extents[document.extent or "title alone"] += 1
        blocks.update(block.kind for block in document.blocks)
        sentences += document.sentences
        characters += len(document.text)
        if len(examples) < EXAMPLES:
            examples.append(_shown(document))
    if not formats:
        raise SourceError("holds no document in a known format")
    found = (dict(extents), dict(blocks), sentences, characters, tuple(examples))
    return DocumentsFound(key, dict(formats), compression, file.size, len(data), formats.total(), *found)


def _shown(document: Document) -> DocumentShown:
    about, text = document.about, document.text
    body = [block for block in document.blocks if block.kind in BODY] or [block for block in document.blocks if block.kind == "abstract"]
    spans = [span for block in body[:EXAMPLES] for span in block.sentences]
    headings = [text[block.start : block.end] for block in document.blocks if block.kind == "heading"]
    return DocumentShown(
        about.title,
        about.doi,
        about.ids,
        about.year,
        about.authors,
        document.extent,
        len(text),
        dict(Counter(block.kind for block in document.blocks)),
        tuple(headings[:_HEADINGS_SHOWN]),
        document.sentences,
        tuple(text[block.start : block.end] for block in body[:EXAMPLES]),
        tuple(text[start:end] for start, end in spans[:EXAMPLES]),
    )

"""The tables of texts: files of the document folder, documents, sentence maps."""

from __future__ import annotations

import polars as pl

from scholarlake.lake.contracts.bibliographic import AUTHOR_KEYS
from scholarlake.lake.contracts.columns import CODE_VERSION, DOI, HEX_128, ID, Column, Table, Text, Texts, shard_column

_SPAN = pl.Struct({"start": pl.Int64(), "end": pl.Int64()})
BLOCKS = pl.List(
    pl.Struct(
        {
            "kind": pl.String(),
            "sections": pl.List(pl.String()),
            "label": pl.String(),
            "start": pl.Int64(),
            "end": pl.Int64(),
            "sentences": pl.List(_SPAN),
        }
    )
)
BLOCK_KINDS = ("title", "abstract", "heading", "paragraph", "list_item", "caption", "table", "formula", "footnote")
EXTENTS = ("full_text", "abstract")
DOCUMENT_FORMATS = ("jats", "tei", "s2orc", "markdown", "text", "pubmed", "labelled-abstract")
MATCH_RULES = ("id", "doi", "title")
MATCH_OUTCOMES = ("taken", "superseded", "no_text", "no_key", "not_in_corpus", "ambiguous", "contradicted")

_FILE = Column(Text, "path of the file below the document folder, with forward slashes", pattern=ID)
_POSITION = Column(pl.Int64(), "place of the document in its file, from 0", minimum=0)
_CHARACTERS = Column(pl.Int64(), "length of the text in code points", minimum=0)
_SENTENCES = Column(pl.Int64(), "sentences of the text", minimum=0)
_EXTENT = Column(Text, "full_text, or abstract where there is no more", values=EXTENTS)
_CONTENT_HASH = Column(Text, "digest of all that the document says: keys, text, blocks", pattern=HEX_128)
_BLOCKS = Column(
    BLOCKS, "the text's blocks in order: kind, headings above it, label, start and end; in those of prose, start and end of each sentence"
)

DOCUMENT_MANIFEST = Table(
    name="document_manifest",
    about="The files of the document folder as they are now, and what came of each: documents, or the reason why not.",
    key=("file",),
    partition_by="bucket",
    columns={
        "file": _FILE,
        "bucket": shard_column("stable hash of the file's path, two digits: files are read bucket by bucket"),
        "bytes": Column(pl.Int64(), "size of the file in bytes", minimum=0),
        "checksum": Column(Text, "XXH3-128 of the file's bytes, hexadecimal", pattern=HEX_128),
        "compression": Column(Text, "what it is packed in; empty for a plain file"),
        "formats": Column(Texts, "formats of its documents, distinct, sorted"),
        "documents": Column(pl.Int64(), "documents read from it", minimum=0),
        "reason": Column(Text, "why nothing, or not all, could be read; null where all was", nullable=True),
        "made_by": Column(Text, "version of the code that read it: another reads it again"),
    },
)

DOCUMENT_SOURCES = Table(
    name="document_sources",
    about="Every document that a file holds, with what it says of the paper that it is. One row a document.",
    key=("file", "position"),
    partition_by="bucket",
    provenance=("code_version",),
    compared=("file", "position", "bucket", "checksum", "format", "content_hash"),
    columns={
        "file": _FILE,
        "position": _POSITION,
        "bucket": shard_column("stable hash of the file's path, two digits"),
        "checksum": Column(Text, "XXH3-128 of the file's bytes, hexadecimal", pattern=HEX_128),
        "format": Column(Text, "what reads it", values=DOCUMENT_FORMATS),
        "content_hash": _CONTENT_HASH,
        "title": Column(Text, "title as the file has it", nullable=True),
        "doi": Column(Text, "normalised DOI", nullable=True, pattern=DOI),
        "ids": Column(Texts, "other ids, as written, and the file's name without its endings"),
        "year": Column(pl.Int32(), "year of publication", nullable=True, minimum=1000, maximum=2100),
        "title_fingerprint": Column(Text, "MD5 of the folded title; null where the title is no key", nullable=True, pattern=HEX_128),
        "author_keys": AUTHOR_KEYS,
        "extent": Column(Text, "full_text or abstract; null where it holds no text of a paper", nullable=True, values=EXTENTS),
        "characters": _CHARACTERS,
        "sentences": _SENTENCES,
        "text": Column(Text, "the text: blocks parted by an empty line"),
        "blocks": _BLOCKS,
        "code_version": CODE_VERSION,
    },
)

DOCUMENT_MATCHES = Table(
    name="document_matches",
    about="Which paper each document is, by which rule, and whether it was taken; where not, why not.",
    key=("file", "position"),
    partition_by=None,
    provenance=("code_version",),
    columns={
        "file": _FILE,
        "position": _POSITION,
        "format": Column(Text, "what reads it", values=DOCUMENT_FORMATS),
        "title": Column(Text, "title as the file has it", nullable=True),
        "doi": Column(Text, "normalised DOI", nullable=True, pattern=DOI),
        "paper_id": Column(Text, "the paper; null where none was found", nullable=True, pattern=ID),
        "rule": Column(Text, "what it was found by", nullable=True, values=MATCH_RULES),
        "outcome": Column(
            Text,
            "taken; superseded (another document of the paper has more of it); no_text; no_key (neither id, DOI nor a telling title); "
            "not_in_corpus; ambiguous (several papers); contradicted (found by id or DOI, but the titles have nothing in common)",
            values=MATCH_OUTCOMES,
        ),
        "detail": Column(Text, "the papers or the document that it is about", nullable=True),
        "code_version": CODE_VERSION,
    },
)

FULLTEXTS = Table(
    name="fulltexts",
    about="The papers for which the document folder holds a text, and the document that was taken: of several the one with most of it.",
    key=("paper_id",),
    provenance=("code_version",),
    columns={
        "paper_id": Column(Text, "the paper", pattern=ID),
        "shard": shard_column("shard of the paper"),
        "extent": _EXTENT,
        "characters": _CHARACTERS,
        "sentences": _SENTENCES,
        "file": _FILE,
        "position": _POSITION,
        "bucket": shard_column("where document_sources has it"),
        "format": Column(Text, "what reads it", values=DOCUMENT_FORMATS),
        "checksum": Column(Text, "XXH3-128 of the file's bytes, hexadecimal", pattern=HEX_128),
        "content_hash": _CONTENT_HASH,
        "rule": Column(Text, "what it was found by", values=MATCH_RULES),
        "code_version": CODE_VERSION,
    },
)

DOCUMENTS = Table(
    name="documents",
    about="The text of the selected papers: the full text where there is one, else the abstract.",
    key=("paper_id",),
    provenance=("code_version",),
    compared=("paper_id", "shard", "title", "extent", "method", "file", "position", "checksum", "content_hash"),
    columns={
        "paper_id": Column(Text, "the paper", pattern=ID),
        "shard": shard_column("shard of the paper"),
        "title": Column(Text, "title of the paper", nullable=True),
        "extent": _EXTENT,
        "method": Column(Text, "format of the file that it was read from, or paper-abstract: the abstract that the paper's records have"),
        "file": Column(Text, "the file; null for an abstract of the records", nullable=True),
        "position": Column(pl.Int64(), "place of the document in its file", nullable=True, minimum=0),
        "checksum": Column(Text, "checksum of the file", nullable=True, pattern=HEX_128),
        "content_hash": _CONTENT_HASH,
        "characters": _CHARACTERS,
        "sentences": _SENTENCES,
        "text": Column(Text, "the text: what all offsets point into, in code points"),
        "blocks": _BLOCKS,
        "code_version": CODE_VERSION,
    },
)

SENTENCES = Table(
    name="sentences",
    about="The sentence map: every sentence of a document, in reading order, with its place in the text.",
    key=("sentence_id",),
    provenance=("code_version",),
    columns={
        "sentence_id": Column(Text, "paper_id, a colon, n", pattern=r"^[\s\S]+:[0-9]+"),
        "paper_id": Column(Text, "the paper", pattern=ID),
        "shard": shard_column("shard of the paper"),
        "n": Column(pl.Int64(), "place of the sentence in the document, from 0", minimum=0),
        "block": Column(pl.Int64(), "place of its block in the document, from 0", minimum=0),
        "kind": Column(Text, "kind of the block", values=BLOCK_KINDS),
        "sections": Column(Texts, "headings that it stands under, outermost first"),
        "label": Column(Text, "label of the block, such as Figure 2", nullable=True),
        "start": Column(pl.Int64(), "offset of its first character in the document's text, in code points", minimum=0),
        "end": Column(pl.Int64(), "offset behind its last character, in code points", minimum=1),
        "text": Column(Text, "the sentence: text[start:end]", pattern=ID),
        "content_hash": _CONTENT_HASH,
        "code_version": CODE_VERSION,
    },
)

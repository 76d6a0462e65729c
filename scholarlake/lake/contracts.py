"""Every table's contract: schema, key, partitioning, and what each column means.

The one place for it: the writer refuses what does not fit, the Great Expectations suites are derived from it, and
`docs/tables.md` is generated from it. What does not belong here: how a table is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

Text = pl.String()
Texts = pl.List(pl.String())
Key = pl.Int64()
ID = r"^[\s\S]"  # an id may be anything but empty
NAME = r"^[a-z0-9][a-z0-9_-]{0,63}$"
COLLECTION = r"^[a-z0-9][a-z0-9_-]{0,63}$"
HEX_128 = r"^[0-9a-f]{32}$"
DOI = r"^10\.[^A-Z]+$"
TWO_DIGITS = r"^[0-9]{2}$"
RELEASE = r"^r[0-9]{4,}$"
Author = pl.Struct({"id": pl.String(), "name": pl.String(), "org": pl.String(), "org_id": pl.String()})


@dataclass(frozen=True)
class Column:
    """One column: its Polars type, its meaning, and whether a null is allowed.

    minimum, maximum: bounds, inclusive. values: all that may occur. pattern: a regular expression that every value matches
    from its start, in the syntax that Python and Rust share.
    """

    dtype: pl.DataType
    about: str
    nullable: bool = False
    minimum: float | None = None
    maximum: float | None = None
    values: tuple[str, ...] | None = None
    pattern: str | None = None


@dataclass(frozen=True)
class Table:
    """One Delta table.

    key: the columns that name a row inside the table. Unique, never null.
    partition_by: the column that Delta partitions by, or None.
    provenance: columns that tell how a row was made; a difference in them alone is no change of the row.
    compared: the columns that decide whether a row changed (all but provenance, unless given: vectors are not read
        again only to be compared, their text hash and model say the same).
    feed: whether the Change Data Feed is on. Off where a partition is a file of a dump: one edited line shifts the byte
        offset of all that follow, so the partition is replaced whole, and nobody reads the feed of it.
    matched_by: the columns by which a row is found again in another version where its key is a place that moves when something
        before it does. They may repeat. None: the key.
    shown: the column that tells a person which row it is. None: the title of the paper it is about.
    history: whether it tells what happened, beside the present state: a lake built afresh does not have it.
    """

    name: str
    about: str
    key: tuple[str, ...]
    columns: Mapping[str, Column] = field(repr=False)
    partition_by: str | None = "shard"
    provenance: tuple[str, ...] = ()
    compared: tuple[str, ...] | None = None
    feed: bool = True
    matched_by: tuple[str, ...] | None = None
    shown: str | None = None
    history: bool = False

    @cached_property
    def schema(self) -> pl.Schema:
        return pl.Schema({name: column.dtype for name, column in self.columns.items()})

    @cached_property
    def compared_columns(self) -> tuple[str, ...]:
        """The columns whose change is a change of the row, in schema order."""
        if self.compared is not None:
            return self.compared
        return tuple(name for name in self.columns if name not in self.provenance)

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(name for name, column in self.columns.items() if not column.nullable)


def _shard(about: str) -> Column:
    return Column(Text, about, pattern=TWO_DIGITS)


METHOD = Column(Text, "what made the row: reader, rule or model")
CODE_VERSION = Column(Text, "version of the code that made the row")

_AUTHOR_KEYS = Column(
    pl.List(Key),
    "XXH3-64 of each author's folded family name and initial, both ways where either end may be the family name; distinct, sorted",
)

_BIBLIOGRAPHIC: dict[str, Column] = {
    "title": Column(Text, "title, markup and entities decoded", nullable=True),
    "abstract": Column(Text, "abstract as plain text", nullable=True),
    "year": Column(pl.Int32(), "year of publication", nullable=True, minimum=1000, maximum=2100),
    "doi": Column(Text, "normalised DOI; null where there is none or it is not valid", nullable=True, pattern=DOI),
    "venue": Column(Text, "venue as text", nullable=True),
    "venue_id": Column(Text, "the dump's id of the venue", nullable=True),
    "authors": Column(pl.List(Author), "authors in order: id, name, organisation and its id"),
    "keywords": Column(Texts, "keywords as given"),
    "lang": Column(Text, "language as given", nullable=True),
    "doc_type": Column(Text, "document type as given", nullable=True),
    "volume": Column(Text, "volume", nullable=True),
    "issue": Column(Text, "issue", nullable=True),
    "page_start": Column(Text, "first page", nullable=True),
    "page_end": Column(Text, "last page", nullable=True),
    "issn": Column(Text, "ISSN as given", nullable=True),
    "isbn": Column(Text, "ISBN as given", nullable=True),
    "publisher": Column(Text, "publisher", nullable=True),
    "pdf": Column(Text, "address of a PDF", nullable=True),
    "urls": Column(Texts, "addresses as given"),
    "n_citation": Column(pl.Int64(), "the dump's own citation count; never used as a degree", nullable=True),
    "references": Column(Texts, "record ids that the reference list names, as text, in order, repeats kept"),
}

DUMP_MANIFEST = Table(
    name="dump_manifest",
    about="The parts of the dump as they are now: one row a file.",
    key=("dump_part",),
    partition_by=None,
    columns={
        "dump_part": Column(
            Text, "path of the file below the dump folder, with forward slashes; of one among several in an archive, behind the archive's"
        ),
        "edition": Column(Text, "issue of the dump: the folder of the part, empty for a flat folder"),
        "bytes": Column(pl.Int64(), "size of the file in bytes", minimum=0),
        "checksum": Column(
            Text, "XXH3-128 of the file's bytes, of an object in a bucket that of its ETag and size, hexadecimal", pattern=HEX_128
        ),
        "format": Column(Text, "recognised format and compression, such as oag-jsonl+gzip"),
    },
)

RECORDS = Table(
    name="records",
    about="Every parsed record of every part, normalised. One row a line, or another unit of its format, that could be read.",
    key=("dump_part", "byte_offset"),
    partition_by="dump_part",
    provenance=("code_version",),
    feed=False,
    matched_by=("record_id",),
    shown="title",
    columns={
        "dump_part": Column(Text, "the part it comes from"),
        "edition": Column(Text, "issue of the dump the part belongs to"),
        "byte_offset": Column(pl.Int64(), "offset of the record in the uncompressed part, bytes", minimum=0),
        "byte_length": Column(pl.Int64(), "length of the record, bytes; a line without its line end", minimum=1),
        "record_id": Column(Text, "the dump's id, as text", pattern=ID),
        "record_key": Column(Key, "XXH3-64 of record_id, as a signed integer"),
        "content_hash": Column(
            Key,
            "XXH3-64 of the record's bytes without surrounding white space, as a signed integer; line ends and Mongo's wrappers inside it "
            "count as blanks",
        ),
        **_BIBLIOGRAPHIC,
        "title_raw": Column(Text, "title as given, where it differs from title", nullable=True),
        "doi_raw": Column(Text, "DOI as given, where it differs from doi", nullable=True),
        "year_raw": Column(Text, "year as given, where it is not the same number", nullable=True),
        "title_fingerprint": Column(
            Text, "MD5 of the folded title, hexadecimal; null where the title is no key", nullable=True, pattern=HEX_128
        ),
        "author_keys": _AUTHOR_KEYS,
        "reference_keys": Column(pl.List(Key), "XXH3-64 of each entry of references, same order"),
        "flags": Column(Texts, "what was odd about the record, such as year_unusable, doi_invalid, reference_shape"),
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

REJECTS = Table(
    name="rejects",
    about="Every line of every part, or other unit of its format, that is no record, with the reason.",
    key=("dump_part", "byte_offset"),
    partition_by="dump_part",
    provenance=("code_version",),
    feed=False,
    matched_by=("excerpt",),
    shown="reason",
    columns={
        "dump_part": Column(Text, "the part it comes from"),
        "byte_offset": Column(pl.Int64(), "offset of the unit in the uncompressed part, bytes", minimum=0),
        "byte_length": Column(pl.Int64(), "length of the unit, bytes; a line without its line end", minimum=0),
        "reason": Column(
            Text, "reason code: blank, not_json, not_an_object, no_id, invalid_utf8, truncated, array_not_closed… (docs/formats.md has all)"
        ),
        "detail": Column(Text, "what the parser said", nullable=True),
        "excerpt": Column(Text, "the first 200 characters of the unit, undecodable bytes replaced"),
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

VERSION_RULES = ("title_and_author", "title", "other_preprint")
WITHDRAWN_BY = ("title", "doc_type", "abstract", "notice")

IDENTITY_RULES = ("representative", "same_id", "same_doi", "title_to_doi", "title")

IDENTITIES = Table(
    name="identities",
    about="Which paper each record belongs to, and the rule that decided. One row a distinct record (id, edition, content).",
    key=("record_id", "edition", "content_hash"),
    provenance=("code_version",),
    columns={
        "record_id": Column(Text, "the dump's id", pattern=ID),
        "record_key": Column(Key, "XXH3-64 of record_id"),
        "edition": Column(Text, "issue of the dump"),
        "content_hash": Column(Key, "hash of the record's bytes"),
        "copies": Column(pl.Int64(), "how many lines of the dump hold exactly this record", minimum=1),
        "is_current": Column(pl.Boolean(), "whether it is the newest record of its id: only that one contributes keys"),
        "paper_id": Column(Text, "record id of the paper's representative", pattern=ID),
        "paper_key": Column(Key, "XXH3-64 of paper_id"),
        "shard": _shard("shard of the paper, two digits"),
        "rule": Column(Text, "the rule that joined the record to its paper", values=IDENTITY_RULES),
        "flags": Column(Texts, "doi_conflict: its DOI also stands on a work with nothing in common"),
        "code_version": CODE_VERSION,
    },
)

WORK_VERSIONS = Table(
    name="work_versions",
    about="Papers that are a version of another, which stands for the work: a preprint of what was published, or of its latest preprint.",
    key=("paper_id",),
    provenance=("code_version",),
    columns={
        "paper_id": Column(Text, "the preprint", pattern=ID),
        "shard": _shard("shard of the preprint"),
        "version_of": Column(Text, "the paper that stands for the work; itself a version of none", pattern=ID),
        "rule": Column(
            Text,
            "title_and_author: they share both; title: authors are unknown, and no other paper has the title; other_preprint: a preprint "
            "of the same work leads there, or is the latest one",
            values=VERSION_RULES,
        ),
        "code_version": CODE_VERSION,
    },
)

WITHDRAWALS = Table(
    name="withdrawals",
    about="Papers that a notice of retraction or withdrawal is about, the notice being a paper of its own.",
    key=("paper_id",),
    provenance=("code_version",),
    columns={
        "paper_id": Column(Text, "the paper that was withdrawn", pattern=ID),
        "shard": _shard("shard of that paper"),
        "notice_id": Column(Text, "the paper that says so; of several the first by id", pattern=ID),
        "code_version": CODE_VERSION,
    },
)

TOMBSTONES = Table(
    name="tombstones",
    about="Papers that an earlier state of the lake held and this one does not, and what became of them.",
    key=("paper_id",),
    provenance=("code_version",),
    history=True,
    columns={
        "paper_id": Column(Text, "the paper that is gone", pattern=ID),
        "shard": _shard("shard it lay in"),
        "reason": Column(
            Text, "merged: its record is part of another paper; removed: no record of its id is left", values=("merged", "removed")
        ),
        "into": Column(
            Text,
            "the paper that has its record, or, where that was removed, the paper that has most of its other records",
            nullable=True,
            pattern=ID,
        ),
        "last_release": Column(Text, "the newest release there was when it went; null where there was none", nullable=True),
        "since": Column(Text, "when it was found gone, UTC, ISO 8601"),
        "code_version": CODE_VERSION,
    },
)

PAPERS = Table(
    name="papers",
    about="One row a paper, merged from its records.",
    key=("paper_id",),
    provenance=("code_version",),
    shown="title",
    columns={
        "paper_id": Column(Text, "record id of the representative", pattern=ID),
        "paper_key": Column(Key, "XXH3-64 of paper_id"),
        "shard": _shard("stable_hash(paper_id) % n, two digits"),
        **_BIBLIOGRAPHIC,
        "record_ids": Column(Texts, "ids of all its records, distinct, sorted; each resolves to this paper"),
        "editions": Column(Texts, "issues of the dump it occurs in, oldest first"),
        "flags": Column(Texts, "flags of its records and of its identity, distinct, sorted"),
        "version_of": Column(Text, "the paper that stands for the work, where this one is a preprint of it", nullable=True, pattern=ID),
        "withdrawn": Column(pl.Boolean(), "whether it was retracted or withdrawn"),
        "withdrawn_by": Column(
            Text,
            "what says so: title, doc_type or abstract of the newest record of one of its ids, or a notice",
            nullable=True,
            values=WITHDRAWN_BY,
        ),
        "withdrawal_notice": Column(Text, "the paper that is a notice of it", nullable=True, pattern=ID),
        "members_hash": Column(Key, "hash over its records' contents and the decisions about it: what the row was computed from"),
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

_EDGE: dict[str, Column] = {
    "citing_id": Column(Text, "paper that cites", pattern=ID),
    "cited_id": Column(Text, "paper that is cited", pattern=ID),
    "shard": _shard("shard of the citing paper"),
}

CITATIONS = Table(
    name="citations",
    about="Resolved citations between distinct papers, each once.",
    key=("citing_id", "cited_id"),
    columns=_EDGE,
)

_DEGREES: dict[str, Column] = {
    "paper_id": Column(Text, "the paper", pattern=ID),
    "shard": _shard("shard of the paper"),
    "in_degree": Column(pl.Int64(), "papers that cite it", minimum=0),
    "out_degree": Column(pl.Int64(), "papers it cites", minimum=0),
    "total_degree": Column(pl.Int64(), "in_degree + out_degree (plus outside references where the profile adds them)", minimum=0),
}

DEGREES = Table(
    name="degrees",
    about="Degrees of every paper, and whether it is in the core; where not, why not.",
    key=("paper_id",),
    columns={
        **_DEGREES,
        "self_references": Column(pl.Int64(), "references that resolve to the paper itself", minimum=0),
        "repeated_references": Column(pl.Int64(), "references beyond the first to the same paper", minimum=0),
        "unresolved_references": Column(pl.Int64(), "references that lead outside the corpus", minimum=0),
        "is_core": Column(pl.Boolean(), "whether both thresholds of the profile are met"),
        "reason": Column(Text, "core, low_total, low_in or low_both", values=("core", "low_total", "low_in", "low_both")),
    },
)

CORE_PAPERS = Table(
    name="core_papers",
    about="Papers whose degrees meet the profile's thresholds.",
    key=("paper_id",),
    columns=_DEGREES,
)

CORE_CITATIONS = Table(
    name="core_citations",
    about="Citations with both ends in the core.",
    key=("citing_id", "cited_id"),
    columns=_EDGE,
)

EMBEDDINGS = Table(
    name="embeddings",
    about="The vector of every paper that could be embedded.",
    key=("paper_id",),
    provenance=("code_version",),
    compared=("paper_id", "shard", "faiss_id", "text_hash", "model"),
    columns={
        "paper_id": Column(Text, "the paper", pattern=ID),
        "shard": _shard("shard of the paper"),
        "faiss_id": Column(pl.Int64(), "shard × 10¹⁰ + offset; offsets are handed out once", minimum=0),
        "text_hash": Column(Text, "XXH3-128 of the embedded text, hexadecimal", pattern=HEX_128),
        "model": Column(Text, "fingerprint of model, revision, prefix and normalisation"),
        "vector": Column(pl.List(pl.Float32()), "the vector, unit length"),
        "code_version": CODE_VERSION,
    },
)

EMBEDDING_FAILURES = Table(
    name="embedding_failures",
    about="Papers that could not be embedded, with the reason.",
    key=("paper_id",),
    provenance=("code_version",),
    columns={
        "paper_id": Column(Text, "the paper", pattern=ID),
        "shard": _shard("shard of the paper"),
        "text_hash": Column(Text, "XXH3-128 of the text", pattern=HEX_128),
        "model": Column(Text, "fingerprint of the model that refused it"),
        "reason": Column(Text, "empty_text, too_long, rejected, not_finite, zero_vector or the endpoint's word"),
        "code_version": CODE_VERSION,
    },
)

FAISS_IDS = Table(
    name="faiss_ids",
    about="The ledger of vector ids: every id ever handed out, kept when its paper goes.",
    key=("paper_id",),
    history=True,
    columns={
        "paper_id": Column(Text, "the paper", pattern=ID),
        "shard": _shard("shard of the paper"),
        "faiss_id": Column(pl.Int64(), "shard × 10¹⁰ + offset", minimum=0),
    },
)

COLLECTION_METHODS = ("conditions", "representatives", "topics")
ROLES = ("member", "representative", "anchor", "quota", "ranked")

COLLECTIONS = Table(
    name="collections",
    about="Which papers belong to which collection, in which order, and why.",
    key=("collection", "paper_id"),
    partition_by="collection",
    provenance=("code_version",),
    columns={
        "collection": Column(Text, "name of the collection: its file's, without the ending", pattern=COLLECTION),
        "paper_id": Column(Text, "the paper", pattern=ID),
        "shard": _shard("shard of the paper"),
        "rank": Column(pl.Int64(), "place of the paper in the collection, from 1", minimum=1),
        "role": Column(
            Text,
            "member (of what conditions leave), representative (of a cluster), anchor (much cited), quota (of a topic), ranked (the rest)",
            values=ROLES,
        ),
        "rule": Column(Text, "what chose it, in words; of a work of several versions also which others there are"),
        "score": Column(
            pl.Float64(), "what speaks for it: relevance, similarity to the cluster's centre, citations, signals; by role", nullable=True
        ),
        "topic": Column(Text, "the topic that found it best", nullable=True),
        "cluster": Column(pl.Int32(), "the cluster that it stands for; 1 is the largest", nullable=True, minimum=1),
        "method": Column(Text, "how the collection is chosen", values=COLLECTION_METHODS),
        "code_version": CODE_VERSION,
    },
)

COLLECTION_CATALOG = Table(
    name="collection_catalog",
    about="The collections there are: what each is for, how its papers are chosen, how many it got, and what is missing.",
    key=("collection",),
    partition_by=None,
    provenance=("code_version",),
    columns={
        "collection": Column(Text, "name of the collection", pattern=COLLECTION),
        "title": Column(Text, "its title"),
        "about": Column(Text, "what it is for"),
        "method": Column(Text, "how its papers are chosen", values=COLLECTION_METHODS),
        "definition": Column(Text, "how in detail: what its file says, with what it leaves to the profile, as JSON"),
        "wanted": Column(pl.Int64(), "papers asked for; null where only conditions decide", nullable=True, minimum=1),
        "matched": Column(pl.Int64(), "papers that could have been chosen", minimum=0),
        "chosen": Column(pl.Int64(), "papers that were", minimum=0),
        "shortfall": Column(Text, "what is missing of the papers asked for, and why; null where nothing is", nullable=True),
        "unknown_ids": Column(Texts, "ids that the file names and the corpus does not know"),
        "withdrawn_ids": Column(Texts, "papers that the file names, left out since they, or what they are versions of, were withdrawn"),
        "code_version": CODE_VERSION,
    },
)

_PAIR: dict[str, Column] = {
    "release": Column(Text, "the later release", pattern=RELEASE),
    "previous": Column(Text, "the release it is compared with", pattern=RELEASE),
    "table": Column(Text, "the table", pattern=ID),
}

RELEASE_CHANGES = Table(
    name="release_changes",
    about="What changed between a release and the one before it, the most cited papers first; of many changes the first ones.",
    key=("release", "table", "change", "key"),
    partition_by="release",
    history=True,
    columns={
        **_PAIR,
        "change": Column(Text, "what became of the row", values=("came", "went", "changed")),
        "key": Column(Text, "the row's key; of several columns a JSON list"),
        "place": Column(pl.Int64(), "place in the list of its table and kind of change, from 1", minimum=1),
        "fields": Column(Texts, "the columns that differ, for a row that changed"),
        "title": Column(Text, "what tells a person which row it is: the title of its paper, for most tables", nullable=True),
        "why": Column(Text, "for papers: what it was merged into, split from…", nullable=True),
        "in_degree": Column(pl.Int64(), "papers that cite its paper, in the release that has it", nullable=True, minimum=0),
    },
)

RELEASE_CHANGE_COUNTS = Table(
    name="release_change_counts",
    about="How many rows of each table came, went and changed between a release and the one before it: all, listed or not.",
    key=("release", "table"),
    partition_by="release",
    history=True,
    columns={
        **_PAIR,
        "rows_before": Column(pl.Int64(), "rows in the earlier release", minimum=0),
        "rows_after": Column(pl.Int64(), "rows in the later release", minimum=0),
        "came": Column(pl.Int64(), "rows that only the later one has", minimum=0),
        "went": Column(pl.Int64(), "rows that only the earlier one has", minimum=0),
        "changed": Column(pl.Int64(), "rows that both have and that differ", minimum=0),
        "fields": Column(
            pl.List(pl.Struct({"name": pl.String(), "rows": pl.Int64()})), "how many of the changed rows differ in each column, most first"
        ),
        "listed": Column(pl.Int64(), "how many of the changes are in `release_changes`", minimum=0),
        "partitions": Column(pl.Int64(), "partitions of the table in either release", minimum=0),
        "compared": Column(pl.Int64(), "partitions whose files differ: no other was read", minimum=0),
    },
)

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
        "bucket": _shard("stable hash of the file's path, two digits: files are read bucket by bucket"),
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
        "bucket": _shard("stable hash of the file's path, two digits"),
        "checksum": Column(Text, "XXH3-128 of the file's bytes, hexadecimal", pattern=HEX_128),
        "format": Column(Text, "what reads it", values=DOCUMENT_FORMATS),
        "content_hash": _CONTENT_HASH,
        "title": Column(Text, "title as the file has it", nullable=True),
        "doi": Column(Text, "normalised DOI", nullable=True, pattern=DOI),
        "ids": Column(Texts, "other ids, as written, and the file's name without its endings"),
        "year": Column(pl.Int32(), "year of publication", nullable=True, minimum=1000, maximum=2100),
        "title_fingerprint": Column(Text, "MD5 of the folded title; null where the title is no key", nullable=True, pattern=HEX_128),
        "author_keys": _AUTHOR_KEYS,
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
        "shard": _shard("shard of the paper"),
        "extent": _EXTENT,
        "characters": _CHARACTERS,
        "sentences": _SENTENCES,
        "file": _FILE,
        "position": _POSITION,
        "bucket": _shard("where document_sources has it"),
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
        "shard": _shard("shard of the paper"),
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
        "shard": _shard("shard of the paper"),
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

FACT_TYPES = ("finding", "method_description", "theoretical_result", "hypothesis", "limitation", "dataset", "definition")
STUDY_TYPES = ("quantitative", "qualitative", "theoretical")
CONTEXT_KINDS = ("population", "setting", "assumption", "condition", "baseline", "dataset", "method", "time", "place")
VERIFICATIONS = ("supported", "failed", "unresolved", "unchecked")
FACT_MARKS = ("subject_not_in_evidence", "quantity_without_unit")
#: What a candidate can lack: the reasons for which it is no fact.
FACT_FAULTS = (
    "missing_field",
    "unknown_type",
    "no_evidence",
    "unknown_evidence",
    "number_not_in_evidence",
    "unit_not_in_evidence",
    "statement_not_in_evidence",
    "repeated",
    "not_an_answer",
)
FACT_ID = r"^fact-[0-9a-f]{32}$"

CONTEXTS = pl.List(pl.Struct({"kind": pl.String(), "text": pl.String()}))
QUANTITIES = pl.List(
    pl.Struct({"value": pl.String(), "number": pl.Float64(), "unit": pl.String(), "metric": pl.String(), "comparator": pl.String()})
)
VOTES = pl.List(
    pl.Struct(
        {
            "verdict": pl.String(),
            "attribution": pl.Boolean(),
            "qualifications": pl.Boolean(),
            "reason": pl.String(),
            "method": pl.String(),
        }
    )
)

FACTS = Table(
    name="facts",
    about="L1: what a paper states, each with its conditions, its numbers and the sentences that say it. What the source asserts, "
    "not what is true.",
    key=("fact_id",),
    provenance=("code_version",),
    shown="statement",
    columns={
        "fact_id": Column(
            Text,
            "digest of paper, taxonomy, type, subject, statement, context, quantities and the text of its evidence: the same statement on "
            "the same grounds has the same id in every build",
            pattern=FACT_ID,
        ),
        "paper_id": Column(Text, "the paper that states it", pattern=ID),
        "shard": _shard("shard of the paper"),
        "taxonomy": Column(
            Text, "version of the taxonomy that told what to attend to; null for what is read without one", nullable=True, pattern=HEX_128
        ),
        "n": Column(pl.Int64(), "place of the fact in its paper, by its first sentence, from 0", minimum=0),
        "type": Column(Text, "what kind of statement it is", values=FACT_TYPES),
        "study_type": Column(Text, "the schema it was read by, which says what conditions belong to it", values=STUDY_TYPES),
        "subject": Column(Text, "what it is about, as the paper calls it", pattern=ID),
        "statement": Column(Text, "what the paper reports about the subject", pattern=ID),
        "context": Column(CONTEXTS, "conditions under which it holds: kind and text"),
        "quantities": Column(
            QUANTITIES,
            "numbers as written, as read (null where it is no single number), their unit, what they measure, and what they are compared by",
        ),
        "evidence": Column(Texts, "ids of the sentences that say it, in reading order"),
        "evidence_hash": Column(Text, "digest of the texts of those sentences", pattern=HEX_128),
        "marks": Column(Texts, "what the structural checks noted without refusing it"),
        "verification": Column(
            Text,
            "whether its sentences were found to support it: supported, failed, unresolved (verdicts differ or say nothing), unchecked",
            values=VERIFICATIONS,
        ),
        "votes": Column(VOTES, "every verdict as it was given: attribution to the right subject and kept qualifications judged apart"),
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

FACT_REJECTS = Table(
    name="fact_rejects",
    about="What was proposed as a fact and is none, with the reason.",
    key=("paper_id", "n"),
    provenance=("code_version",),
    matched_by=("paper_id", "candidate"),
    shown="detail",
    columns={
        "paper_id": Column(Text, "the paper", pattern=ID),
        "n": Column(pl.Int64(), "place among the paper's refused candidates, from 0", minimum=0),
        "shard": _shard("shard of the paper"),
        "reason": Column(Text, "reason code", values=FACT_FAULTS),
        "detail": Column(Text, "what exactly is wrong"),
        "candidate": Column(Text, "the candidate as it was proposed, as JSON"),
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

FACT_SOURCES = Table(
    name="fact_sources",
    about="Every document that facts were looked for in: how it was read, and how many facts it gave.",
    key=("paper_id",),
    provenance=("code_version",),
    columns={
        "paper_id": Column(Text, "the paper", pattern=ID),
        "shard": _shard("shard of the paper"),
        "content_hash": Column(Text, "digest of the document as it was read: another is read again", pattern=HEX_128),
        "study_type": Column(Text, "what kind of study it was taken for", values=STUDY_TYPES),
        "sentences": Column(pl.Int64(), "sentences that were looked at", minimum=0),
        "candidates": Column(pl.Int64(), "facts proposed", minimum=0),
        "facts": Column(pl.Int64(), "facts kept", minimum=0),
        "rejects": Column(pl.Int64(), "candidates refused", minimum=0),
        "unread": Column(Text, "why nothing, or not all, could be read: a model that failed or refused; null where all was", nullable=True),
        "method": METHOD,
        "code_version": CODE_VERSION,
    },
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        DUMP_MANIFEST,
        RECORDS,
        REJECTS,
        IDENTITIES,
        WORK_VERSIONS,
        WITHDRAWALS,
        TOMBSTONES,
        PAPERS,
        CITATIONS,
        DEGREES,
        CORE_PAPERS,
        CORE_CITATIONS,
        EMBEDDINGS,
        EMBEDDING_FAILURES,
        FAISS_IDS,
        COLLECTIONS,
        COLLECTION_CATALOG,
        RELEASE_CHANGES,
        RELEASE_CHANGE_COUNTS,
        DOCUMENT_MANIFEST,
        DOCUMENT_SOURCES,
        DOCUMENT_MATCHES,
        FULLTEXTS,
        DOCUMENTS,
        SENTENCES,
        FACTS,
        FACT_REJECTS,
        FACT_SOURCES,
    )
}


def table(name: str) -> Table:
    """The contract of that name. Raises NotFound, naming the tables there are."""
    from scholarlake.errors import NotFound

    try:
        return TABLES[name]
    except KeyError:
        raise NotFound(f"no table {name!r}; there are: {', '.join(sorted(TABLES))}") from None

"""The tables of the dump: its parts, their records, and what was none."""

from __future__ import annotations

import polars as pl

from scholarlake.lake.contracts.bibliographic import AUTHOR_KEYS, BIBLIOGRAPHIC
from scholarlake.lake.contracts.columns import CODE_VERSION, HEX_128, ID, METHOD, Column, Key, Table, Text, Texts

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
        **BIBLIOGRAPHIC,
        "title_raw": Column(Text, "title as given, where it differs from title", nullable=True),
        "doi_raw": Column(Text, "DOI as given, where it differs from doi", nullable=True),
        "year_raw": Column(Text, "year as given, where it is not the same number", nullable=True),
        "title_fingerprint": Column(
            Text, "MD5 of the folded title, hexadecimal; null where the title is no key", nullable=True, pattern=HEX_128
        ),
        "author_keys": AUTHOR_KEYS,
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

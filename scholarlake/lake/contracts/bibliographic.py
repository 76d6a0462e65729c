"""What a record and a paper say of a publication, alike in every table that keeps it."""

from __future__ import annotations

import polars as pl

from scholarlake.lake.contracts.columns import DOI, Author, Column, Key, Text, Texts

AUTHOR_KEYS = Column(
    pl.List(Key),
    "XXH3-64 of each author's folded family name and initial, both ways where either end may be the family name; distinct, sorted",
)

BIBLIOGRAPHIC: dict[str, Column] = {
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

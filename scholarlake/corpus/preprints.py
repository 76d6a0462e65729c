"""What a record is of: a preprint, or what was published; and which version of a preprint its DOI is.

A DOI decides where there is one, by who registered it; else the venue or the document type. Pure expressions over columns of `records`.
What does not belong here: which papers are versions of one work (`versions`).
"""

from __future__ import annotations

import polars as pl

UNKNOWN, PREPRINT, PUBLISHED = 0, 1, 2

_OSF = "3122[0-9]|3123[0-9]|35542"  # the prefixes under which the Open Science Framework registers for its communities
_COPERNICUS = (
    "acp|amt|angeo|ans|bg|cp|dwes|esd|essd|esurf|gc|gh|gi|gmd|hess|mr|nhess|npg|os|sd|se|soil|tc|wcd|wes"  # journals with discussions
)
_PREPRINT_DOI = "|".join(
    (
        r"10\.48550/arxiv",
        r"10\.1101/(?:[0-9]{6,}|[0-9]{4}\.[0-9]{2}\.[0-9]{2}\.)",  # bioRxiv and medRxiv; their publisher's journals have letters there
        r"10\.64898/",
        r"10\.2139/ssrn",
        r"10\.21203/rs",
        r"10\.26434/chemrxiv",
        rf"10\.(?:{_OSF})/",
        r"10\.20944/preprints",
        r"10\.36227/techrxiv",
        r"10\.22541/",
        r"10\.1002/essoar",
        r"10\.7287/peerj\.preprints",
        r"10\.2196/preprints",
        r"10\.32942/",
        r"10\.33774/",
        r"10\.14293/(?:s2199-1006|pr2199)",
        r"10\.1590/scielopreprints",
        r"10\.3386/w[0-9]",
        rf"10\.5194/(?:egusphere-|(?:{_COPERNICUS})d-[0-9]+-[0-9]+-[0-9]{{4}}|(?:{_COPERNICUS})-[0-9]{{4}}-[0-9]+$)",
    )
)
_PREPRINT_VENUE = (
    r"(?i)^\W*(?:arxiv\b|corr\W*$|corr\W+abs\b|computing research repository|biorxiv|medrxiv|chemrxiv|psyarxiv|socarxiv|eartharxiv"
    r"|engrxiv|edarxiv|ecoevorxiv|techrxiv|authorea\b|research square|ssrn\b|social science research network|osf preprints|peerj preprints"
    r"|preprints(?:\.org)?\W*$|scielo preprints|vixra\b)"
)
_PREPRINT_TYPES = ("preprint", "posted-content", "repository", "working paper")
_PUBLISHED_TYPES = ("journal", "conference", "journal-article", "proceedings-article")
_VERSION = r"^(.+?)[/.-]v([0-9]{1,4})$"


def kind() -> pl.Expr:
    """UNKNOWN, PREPRINT or PUBLISHED, from doi, venue and doc_type. UInt8."""
    doi, venue, doc_type = pl.col("doi"), pl.col("venue"), pl.col("doc_type").str.strip_chars().str.to_lowercase()
    found = (
        pl.when(doi.str.contains(f"^(?:{_PREPRINT_DOI})"))
        .then(PREPRINT)
        .when(doi.is_not_null())
        .then(PUBLISHED)
        .when(venue.str.contains(_PREPRINT_VENUE) | doc_type.is_in(_PREPRINT_TYPES))
        .then(PREPRINT)
        .when(venue.is_not_null() | doc_type.is_in(_PUBLISHED_TYPES))
        .then(PUBLISHED)
        .otherwise(UNKNOWN)
    )
    return found.cast(pl.UInt8)


def has_version() -> pl.Expr:
    """Whether the DOI is that of a numbered version of a preprint."""
    return pl.col("doi").str.contains(f"^(?:{_PREPRINT_DOI})") & pl.col("doi").str.contains(_VERSION)


def version() -> tuple[pl.Expr, pl.Expr]:
    """The DOI without the number of its version, and the number."""
    return pl.col("doi").str.extract(_VERSION, 1), pl.col("doi").str.extract(_VERSION, 2).cast(pl.Int32)

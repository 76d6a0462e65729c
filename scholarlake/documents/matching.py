"""Which paper each document is, and which document of a paper is taken: `document_matches` and `fulltexts`.

By id, where one of the document's ids (or the name of its file) is a record's; by DOI; else by the fingerprint of the title, with the
years at most one apart and an author shared where both sides know them, and no other DOI against it: the rules by which records are one
paper. An id or DOI whose titles have nothing in common is no match. Of several documents of one paper the one with the full text is
taken, then by format, most structure first, then by the smallest checksum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from scholarlake.corpus.clusters import YEARS_APART
from scholarlake.corpus.progress import Progress, silent
from scholarlake.corpus.record_files import NARROW_ROWS, record_files
from scholarlake.corpus.shard_writer import ShardWriter
from scholarlake.corpus.titles import content_tokens
from scholarlake.documents.formats import FORMATS
from scholarlake.lake import contracts, delta
from scholarlake.lake.home import Lake

_KEYS = ("file", "position", "bucket", "format", "checksum", "content_hash", "title", "doi", "ids", "year", "title_fingerprint")
_SAID = (*_KEYS, "author_keys", "extent", "characters", "sentences")
_RECORD = ["record_id", "title", "doi", "year", "title_fingerprint", "author_keys"]


@dataclass(frozen=True)
class MatchReport:
    """What `build_fulltexts` found. content_versions: of `fulltexts`, by shard, every shard of the lake."""

    documents: int
    papers: int
    outcomes: Mapping[str, int]
    rules: Mapping[str, int]
    extents: Mapping[str, int]
    inserted: int
    updated: int
    deleted: int
    versions: Mapping[str, int | None]
    content_version: str
    content_versions: Mapping[str, str]


def build_fulltexts(lake: Lake, run: delta.Commit, progress: Progress = silent) -> MatchReport:
    """Match every document of `document_sources`, narrow columns of which are held in memory."""
    documents = lake.scan("document_sources").select(_SAID).collect().sort("file", "position").with_row_index("document")
    candidates = _candidates(lake, documents, progress)
    matches = _chosen(_decide(documents, candidates), run.code_version)
    written = delta.write_partition(lake, "document_matches", None, matches.select(list(contracts.DOCUMENT_MATCHES.columns)), run)
    taken = matches.filter(pl.col("outcome") == "taken")
    by_shard = {str(key[0]): frame for key, frame in taken.partition_by("shard", as_dict=True).items()}
    columns = list(contracts.FULLTEXTS.columns)
    empty = pl.DataFrame(schema=contracts.FULLTEXTS.schema)
    shards = ((shard, [by_shard[shard].select(columns).sort("paper_id") if shard in by_shard else empty]) for shard in lake.shard_keys)
    report = ShardWriter(lake, "fulltexts", run, progress).write(shards)
    return MatchReport(
        documents=documents.height,
        papers=taken.height,
        outcomes=_counts(matches["outcome"], contracts.MATCH_OUTCOMES),
        rules=_counts(taken["rule"], contracts.MATCH_RULES),
        extents=_counts(taken["extent"], contracts.EXTENTS),
        inserted=report.inserted,
        updated=report.updated,
        deleted=report.deleted,
        versions={"fulltexts": report.version, "document_matches": written.version},
        content_version=delta.combined({**report.content_versions, "matches": written.content_version}),
        content_versions=report.content_versions,
    )


def _counts(values: pl.Series, known: Iterable[str]) -> dict[str, int]:
    found = dict(values.value_counts().iter_rows())
    return {name: found[name] for name in known if name in found}


# -- records that may be the paper -----------------------------------------------------------------------------------


def _candidates(lake: Lake, documents: pl.DataFrame, progress: Progress) -> pl.DataFrame:
    """Pairs of a document and a record that shares a key with it: document, rule, and the record's narrow columns."""
    ids = documents.select("document", key=pl.col("ids")).explode("key", empty_as_null=True).drop_nulls()
    dois = documents.select("document", key="doi").drop_nulls()
    titles = documents.select("document", key="title_fingerprint").drop_nulls()
    keyed = (("id", ids, "record_id"), ("doi", dois, "doi"), ("title", titles, "title_fingerprint"))
    found: list[pl.DataFrame] = []
    files = record_files(lake) if documents.height else []
    for done, file in enumerate(files):
        progress(done, len(files), "looking for the papers of documents")
        for batch in file.batches(_RECORD, NARROW_ROWS):
            for rule, keys, column in keyed:
                pairs = batch.filter(pl.col(column).is_in(keys["key"].implode())).join(keys, left_on=column, right_on="key", coalesce=False)
                if pairs.height:
                    found.append(pairs.select("document", pl.lit(rule).alias("rule"), *_RECORD))
    schema = {"document": pl.get_index_type(), "rule": pl.String, **{name: contracts.RECORDS.schema[name] for name in _RECORD}}
    pairs = pl.concat(found) if found else pl.DataFrame(schema=schema)
    papers = (
        lake.scan("identities")
        .filter(pl.col("is_current"))
        .select("record_id", "paper_id", "shard")
        .join(pairs.select("record_id").unique().lazy(), on="record_id", how="semi")
        .unique("record_id")
        .collect(engine="streaming")
    )
    return pairs.join(papers, on="record_id", how="inner")


# -- the decision ----------------------------------------------------------------------------------------------------


def _decide(documents: pl.DataFrame, candidates: pl.DataFrame) -> pl.DataFrame:
    """Adds paper_id, shard, rule, outcome (null where it was found) and detail to each document."""
    by_document: dict[int, list[dict[str, object]]] = {}
    for row in candidates.iter_rows(named=True):
        by_document.setdefault(row["document"], []).append(row)
    decided = [_one(document, by_document.get(document["document"], [])) for document in documents.iter_rows(named=True)]
    schema = {"paper_id": pl.String, "shard": pl.String, "rule": pl.String, "outcome": pl.String, "detail": pl.String}
    return documents.hstack(pl.DataFrame(decided, schema=schema, orient="row"))


_Decision = tuple[str | None, str | None, str | None, str | None, str | None]  # paper, shard, rule, outcome, detail


def _one(document: Mapping[str, object], records: list[dict[str, object]]) -> _Decision:
    if document["extent"] is None:
        return None, None, None, "no_text", None
    if not document["ids"] and document["doi"] is None and document["title_fingerprint"] is None:
        return None, None, None, "no_key", None
    contradicted: set[str] = set()
    for rule in contracts.MATCH_RULES:
        fits = [record for record in records if record["rule"] == rule]
        if rule == "title":
            fits = [record for record in fits if _compatible(document, record)]
        else:
            strangers = [record for record in fits if _strangers(document["title"], record["title"])]
            contradicted |= {str(record["paper_id"]) for record in strangers}
            fits = [record for record in fits if record not in strangers]
        papers = sorted({(str(record["paper_id"]), str(record["shard"])) for record in fits})
        if len(papers) == 1:
            return *papers[0], rule, None, None
        if papers:
            return None, None, rule, "ambiguous", ", ".join(paper for paper, _ in papers[:10])
    if contradicted:
        return None, None, None, "contradicted", ", ".join(sorted(contradicted)[:10])
    return None, None, None, "not_in_corpus", None


def _strangers(one: object, other: object) -> bool:
    """Whether both titles are known and have nothing in common."""
    mine, theirs = content_tokens(one if isinstance(one, str) else None), content_tokens(other if isinstance(other, str) else None)
    return bool(mine and theirs and not mine & theirs)


def _compatible(document: Mapping[str, object], record: Mapping[str, object]) -> bool:
    """Whether nothing that both sides know of the paper speaks against its title."""
    years = document["year"], record["year"]
    if isinstance(years[0], int) and isinstance(years[1], int) and abs(years[0] - years[1]) > YEARS_APART:
        return False
    if document["doi"] is not None and record["doi"] is not None and document["doi"] != record["doi"]:
        return False
    mine, theirs = document["author_keys"], record["author_keys"]
    return not (isinstance(mine, list) and isinstance(theirs, list) and mine and theirs and not set(mine) & set(theirs))


def _chosen(decided: pl.DataFrame, code_version: str) -> pl.DataFrame:
    """Of the documents of each paper the best is taken, the others are superseded."""
    order = pl.DataFrame({"format": FORMATS, "format_rank": range(len(FORMATS))}, schema={"format": pl.String, "format_rank": pl.Int64})
    ranked = (
        decided.filter(pl.col("paper_id").is_not_null())
        .join(order, on="format", how="left")
        .sort("paper_id", pl.col("extent") != contracts.EXTENTS[0], "format_rank", "checksum", "position", "file")
    )
    best = ranked.unique("paper_id", keep="first", maintain_order=True).select("paper_id", best="document", best_file="file")
    is_best = pl.col("best") == pl.col("document")
    return (
        decided.join(best, on="paper_id", how="left", maintain_order="left")
        .with_columns(
            outcome=pl.coalesce("outcome", pl.when(is_best).then(pl.lit("taken")).otherwise(pl.lit("superseded"))),
            detail=pl.when(~is_best).then(pl.format("by {}", "best_file")).otherwise("detail"),
            code_version=pl.lit(code_version),
        )
        .drop("best", "best_file", "document")
    )

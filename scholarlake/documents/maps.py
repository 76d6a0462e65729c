"""`documents` and `sentences` of a shard: the text of each selected paper, and the map of its sentences.

A document is written again only where its content is another; so are its sentences. What does not belong here: reading files
(`ingest`), finding papers (`matching`).
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from scholarlake.corpus.progress import Progress, silent
from scholarlake.documents.document import About, Document, Writer
from scholarlake.documents.ingest import blocks_of
from scholarlake.lake import contracts, delta
from scholarlake.lake.home import Lake

PAPER_ABSTRACT = "paper-abstract"
_PAPERS_AT_ONCE = 500  # some 30 MB of texts


@dataclass(frozen=True)
class MapReport:
    """What was made of a shard. rows: documents or sentences it holds now; remade: papers of which anything was written anew."""

    rows: int
    remade: int
    removed: int
    version: int | None
    content_version: str


# -- documents -------------------------------------------------------------------------------------------------------


def build_documents(lake: Lake, shard: str, selected: pl.DataFrame, run: delta.Commit, progress: Progress = silent) -> MapReport:
    """The texts of a shard: of every paper that has one in the document folder, and of the selected ones without, their abstract.

    selected: column paper_id; papers of other shards, and such as have no abstract, are passed over.
    """
    there = lake.scan("fulltexts").filter(pl.col("shard") == shard).collect()
    texts = _fulltexts(lake, shard, there)
    abstracts = _abstracts(lake, shard, selected.join(there, on="paper_id", how="anti"), run.code_version)
    wanted = pl.concat([texts, abstracts.select(texts.columns)])
    columns = ["paper_id", "content_hash", "method", "file", "position", "checksum", "title"]
    present = lake.scan("documents").filter(pl.col("shard") == shard).select(columns).collect()
    changed = wanted.join(present, on=columns, how="anti", nulls_equal=True)
    gone = present.join(wanted, on="paper_id", how="anti").select("paper_id")
    written: delta.Written | None = None
    for done, part in enumerate(changed.sort("paper_id").iter_slices(_PAPERS_AT_ONCE)):
        progress(done * _PAPERS_AT_ONCE, changed.height, f"documents of shard {shard}")
        rows = pl.concat(
            [
                _from_files(lake, shard, part, run.code_version),
                abstracts.join(part, on="paper_id", how="semi").select(list(contracts.DOCUMENTS.columns)),
            ]
        )
        written = delta.apply(lake, "documents", shard, rows, gone, run)
        gone = gone.clear()
    if written is None:
        written = delta.apply(lake, "documents", shard, pl.DataFrame(schema=contracts.DOCUMENTS.schema), gone, run)
    removed = present.join(wanted, on="paper_id", how="anti").height
    return MapReport(wanted.height, changed.height, removed, written.version, written.content_version)


def _fulltexts(lake: Lake, shard: str, there: pl.DataFrame) -> pl.DataFrame:
    """What `documents` is to hold of the texts of files, without the texts."""
    titles = lake.scan("papers").filter(pl.col("shard") == shard).select("paper_id", "title").collect()
    return there.select("paper_id", "content_hash", "file", "position", "checksum", method="format").join(titles, on="paper_id", how="left")


def _from_files(lake: Lake, shard: str, part: pl.DataFrame, code_version: str) -> pl.DataFrame:
    """The rows of those papers whose text is that of a file."""
    asked = part.filter(pl.col("file").is_not_null()).select("paper_id", "file", "position", "title")
    wide = ["file", "position", "extent", "format", "checksum", "content_hash", "characters", "sentences", "text", "blocks"]
    rows = lake.scan("document_sources").filter(pl.col("file").is_in(asked["file"].unique().implode())).select(wide)
    return (
        asked.lazy()
        .join(rows, on=["file", "position"], how="inner")
        .with_columns(shard=pl.lit(shard), code_version=pl.lit(code_version))
        .rename({"format": "method"})
        .select(list(contracts.DOCUMENTS.columns))
        .collect(engine="streaming")
    )


def _abstracts(lake: Lake, shard: str, papers: pl.DataFrame, code_version: str) -> pl.DataFrame:
    """The rows of papers whose abstract stands for their text."""
    has_text = (pl.col("shard") == shard) & (pl.col("abstract").str.strip_chars().str.len_chars() > 0)
    found = (
        lake.scan("papers")
        .filter(has_text)
        .select("paper_id", "title", "abstract")
        .join(papers.lazy(), on="paper_id", how="semi")
        .collect()
    )
    rows = []
    for paper_id, title, abstract in found.iter_rows():
        document = document_of_abstract(title, abstract)
        rows.append(
            {
                "paper_id": paper_id,
                "shard": shard,
                "title": title,
                "extent": document.extent,
                "method": PAPER_ABSTRACT,
                "content_hash": document.content_hash,
                "characters": len(document.text),
                "sentences": document.sentences,
                "text": document.text,
                "blocks": blocks_of(document),
                "code_version": code_version,
            }
        )
    schema = pl.DataFrame(schema=contracts.DOCUMENTS.schema).to_arrow(compat_level=pl.CompatLevel.oldest()).schema
    return pl.DataFrame(pl.from_arrow(pa.Table.from_pylist(rows, schema=schema))).cast(contracts.DOCUMENTS.schema)


def document_of_abstract(title: str | None, abstract: str) -> Document:
    """What the records of a paper know of its text: its title and its abstract."""
    writer = Writer()
    writer.add("title", title or "")
    writer.add("abstract", abstract)
    return writer.document(About(title))


# -- sentences -------------------------------------------------------------------------------------------------------


def build_sentences(lake: Lake, shard: str, run: delta.Commit, progress: Progress = silent) -> MapReport:
    """The sentence map of a shard's documents, of those whose content changed since it was made."""
    documents = lake.scan("documents").filter(pl.col("shard") == shard).select("paper_id", "content_hash").collect()
    there = lake.scan("sentences").filter(pl.col("shard") == shard).select("paper_id", "content_hash").unique().collect()
    changed = documents.join(there, on=["paper_id", "content_hash"], how="anti").sort("paper_id")
    gone = there.join(documents, on="paper_id", how="anti")
    written = [_replace(lake, shard, gone.select("paper_id"), pl.DataFrame(schema=contracts.SENTENCES.schema), run)]
    for done, part in enumerate(changed.iter_slices(_PAPERS_AT_ONCE)):
        progress(done * _PAPERS_AT_ONCE, changed.height, f"sentences of shard {shard}")
        written.append(_replace(lake, shard, part.select("paper_id"), _sentences(lake, shard, part, run.code_version), run))
    return MapReport(written[-1].rows, changed.height, gone.height, written[-1].version, written[-1].content_version)


def _replace(lake: Lake, shard: str, papers: pl.DataFrame, rows: pl.DataFrame, run: delta.Commit) -> delta.Written:
    """Make rows all the sentences of some papers."""
    mine = (pl.col("shard") == shard) & pl.col("paper_id").is_in(papers["paper_id"].implode())
    old = lake.scan("sentences").filter(mine).select("sentence_id").collect()
    return delta.apply(lake, "sentences", shard, rows, old, run)


def _sentences(lake: Lake, shard: str, papers: pl.DataFrame, code_version: str) -> pl.DataFrame:
    """The sentences of some documents, in reading order."""
    mine = (pl.col("shard") == shard) & pl.col("paper_id").is_in(papers["paper_id"].implode())
    documents = lake.scan("documents").filter(mine).select("paper_id", "shard", "content_hash", "text", "blocks").collect()
    frames = [_of_document(row) for row in documents.iter_slices(1)]
    rows = pl.concat(frames) if frames else pl.DataFrame(schema=contracts.SENTENCES.schema)
    return rows.with_columns(code_version=pl.lit(code_version)).select(list(contracts.SENTENCES.columns))


def _of_document(document: pl.DataFrame) -> pl.DataFrame:
    """One document's sentences. Slicing by code points walks the text from its start, so here it is done once, in Python."""
    text: str = document["text"].item()
    spans = (
        document.select("paper_id", "shard", "content_hash", "blocks")
        .explode("blocks", empty_as_null=True)
        .with_row_index("block")
        .select(
            "paper_id",
            "shard",
            "content_hash",
            pl.col("block").cast(pl.Int64),
            pl.col("blocks").struct.field("kind", "sections", "label", "sentences"),
        )
        .filter(pl.col("sentences").list.len() > 0)
        .explode("sentences")
        .with_columns(pl.col("sentences").struct.field("start", "end"))
        .drop("sentences")
        .with_row_index("n")
        .with_columns(pl.col("n").cast(pl.Int64))
    )
    pieces = [text[start:end] for start, end in spans.select("start", "end").iter_rows()]
    return spans.with_columns(
        sentence_id=pl.format("{}:{}", "paper_id", "n"), text=pl.Series(pieces, dtype=pl.String), code_version=pl.lit("")
    ).select(list(contracts.SENTENCES.columns))

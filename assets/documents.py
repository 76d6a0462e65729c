"""Documents: the files of the document folder, the papers they are, and the sentence maps of their texts."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.stage import Made, Step, makes, report_observed
from resources.lake import LakeResource
from scholarlake import pictures
from scholarlake.documents import folder
from scholarlake.documents.ingest import build_sources
from scholarlake.documents.maps import build_documents, build_sentences
from scholarlake.documents.matching import build_fulltexts
from scholarlake.errors import LakeError
from scholarlake.lake import receipts
from scholarlake.lake.delta import combined
from scholarlake.lake.home import Lake
from scholarlake.lake.stages import SHARD
from scholarlake.sources.watch import AT_ONCE, Attention


def observe_documents(instance: dg.DagsterInstance, resource: LakeResource, attention: Attention = AT_ONCE) -> folder.FolderLook:
    """Look at the document folder, and report it where it is another than it was.

    Raises SourceError, before anything is reported, where the folder or a file of it can't be read.
    """
    lake = resource.open()
    seen = folder.look(lake, resource.document_folder(), attention)
    folder.keep(lake, seen)
    facts = {"files": len(seen.files), "bytes": sum(file.bytes for file in seen.files)}
    report_observed(instance, lake, "document_folder", None, seen.version, run_id="", metadata=facts)
    return seen


@makes("document_sources")
def document_sources(step: Step) -> Made:
    """Formats are recognised by content: JATS, GROBID's TEI, S2ORC, PubMed, labelled abstracts, Markdown, plain text. Only files that
    are new or changed are read."""
    observed = receipts.read(step.lake, "document_folder")
    if observed is None:
        raise LakeError("the document folder was never looked at; run `scholarlake build`")
    files = folder.seen_files(step.lake, observed.data_version)
    report = build_sources(
        step.lake,
        step.resource.document_folder(),
        files,
        workers=step.profile.reading.workers,
        max_bytes=step.profile.documents.max_bytes,
        run=step.commit,
        progress=step.progress,
    )
    return Made(
        data_version=combined(report.content_versions),
        rows=report.documents,
        tables=report.versions,
        facts={
            "files": report.files,
            "files_read": report.read,
            "files_gone": report.gone,
            "files_without_document": report.unread,
            "bytes_of_files": report.bytes,
            "documents_by_format": report.documents_by_format,
            "reasons": report.reasons,
        },
        pictures={"formats": lambda: pictures.documents_by_format(report.documents_by_format)} if report.documents else {},
    )


@makes("fulltexts")
def fulltexts(step: Step) -> Made:
    """By id, by DOI, else by title under the guards of identity; of several documents of a paper the one with most of it. Ends by
    reporting `document_inputs` for the shards where anything changed."""
    report = build_fulltexts(step.lake, step.commit, step.progress)
    for shard, version in report.content_versions.items():
        report_observed(step.instance, step.lake, "document_inputs", shard, version, run_id=step.commit.run_id, metadata={})
    return Made(
        data_version=report.content_version,
        rows=report.papers,
        tables=report.versions,
        facts={
            "documents": report.documents,
            "documents_by_outcome": report.outcomes,
            "papers_by_rule": report.rules,
            "papers_by_extent": report.extents,
            "inserted": report.inserted,
            "updated": report.updated,
            "deleted": report.deleted,
        },
        pictures={"outcomes": lambda: pictures.documents_by_outcome(report.outcomes)} if report.documents else {},
    )


@makes("documents")
def documents(step: Step) -> Made:
    """Of every paper that has a text in the document folder, and of those of any collection without one, the abstract, where the
    profile lets it stand for the text. Only papers whose text, title or abstract changed are written again."""
    selected = step.lake.scan("collections").filter(pl.col(SHARD) == step.key).select("paper_id").unique().collect()
    abstracts_of = selected if step.profile.documents.abstracts else selected.clear()
    report = build_documents(step.lake, step.key, abstracts_of, step.commit, step.progress)
    return Made(
        data_version=report.content_version,
        rows=report.rows,
        tables={"documents": report.version},
        facts={"written": report.remade, "removed": report.removed},
    )


@makes("sentences")
def sentences(step: Step) -> Made:
    """Ids are PAPER:N, N from 0 in reading order; offsets are code points of the document's text."""
    report = build_sentences(step.lake, step.key, step.commit, step.progress)
    return Made(
        data_version=report.content_version,
        rows=report.rows,
        tables={"sentences": report.version},
        facts={"papers_mapped": report.remade, "papers_removed": report.removed},
        pictures={"sentences_per_document": lambda: _lengths(step.lake, step.key)} if report.rows else {},
    )


def _lengths(lake: Lake, shard: str) -> bytes:
    counts = lake.scan("documents").filter(pl.col(SHARD) == shard).select("sentences").collect()["sentences"]
    return pictures.sentences_per_document(counts.to_numpy())

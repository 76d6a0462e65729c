"""What must hold of documents and their sentence maps."""

from __future__ import annotations

import polars as pl

from scholarlake.lake.findings import EXAMPLES, Finding, from_offenders, rows_of
from scholarlake.lake.home import Lake

_TEXTS_AT_ONCE = 500


def every_file_is_accounted_for(lake: Lake, files: int | None) -> Finding:
    """Every file that was seen is in the manifest, with as many documents as `document_sources` has of it, or with a reason."""
    claim = "every file of the document folder has its documents, or the reason why it has none"
    counted = lake.scan("document_sources").group_by("file").agg(pl.len().cast(pl.Int64).alias("found"))
    joined = lake.scan("document_manifest").join(counted, on="file", how="full", coalesce=True)
    wrong = (pl.col("documents") != pl.col("found").fill_null(0)) | ((pl.col("documents") == 0) & pl.col("reason").is_null())
    offenders = joined.filter(wrong.fill_null(True)).select("file", "documents", "found", "reason")
    listed = rows_of(lake.scan("document_manifest"))
    finding = from_offenders("every_file_is_accounted_for", claim, listed, offenders, {"files": files})
    if files is None or files != listed:
        example = {"fault": f"the look at the folder found {files} files, the manifest lists {listed}"}
        return Finding(finding.name, claim, listed, finding.failed + 1, (example, *finding.examples)[:EXAMPLES], finding.facts)
    return finding


def every_document_is_decided(lake: Lake) -> Finding:
    """Every document that was read is matched, or the reason why not is told."""
    key = ["file", "position"]
    sources, matches = lake.scan("document_sources").select(key), lake.scan("document_matches").select(key)
    missing = pl.concat([sources.join(matches, on=key, how="anti"), matches.join(sources, on=key, how="anti")])
    return from_offenders("every_document_is_decided", "every document is matched or has a reason why not", rows_of(sources), missing)


def one_text_a_paper(lake: Lake) -> Finding:
    """The documents that were taken are those of `fulltexts`, one a paper, and every paper is one of the corpus."""
    claim = "a paper has one text, and is a paper of the corpus"
    taken = lake.scan("document_matches").filter(pl.col("outcome") == "taken").select("paper_id", "file", "position")
    there = lake.scan("fulltexts").select("paper_id", "file", "position")
    papers = lake.scan("identities").select("paper_id", "shard").unique()
    stray = lake.scan("fulltexts").join(papers, on=["paper_id", "shard"], how="anti").select("paper_id", "file", "position")
    key = ["paper_id", "file", "position"]
    wrong = pl.concat([taken.join(there, on=key, how="anti"), there.join(taken, on=key, how="anti"), stray]).unique()
    return from_offenders("one_text_a_paper", claim, rows_of(there), wrong)


def documents_are_those_chosen(lake: Lake, shard: str) -> Finding:
    """Every text of `fulltexts` is a document with just that content, and every other document is an abstract of a paper without one."""
    claim = f"the documents of shard {shard} are the texts that were taken, and abstracts of papers without one"
    taken = lake.scan("fulltexts").filter(pl.col("shard") == shard).select("paper_id", "content_hash")
    there = lake.scan("documents").filter(pl.col("shard") == shard).select("paper_id", "content_hash", "file")
    lost = taken.join(there, on=["paper_id", "content_hash"], how="anti").select("paper_id", fault=pl.lit("its text is not here"))
    stray = there.filter(pl.col("file").is_not_null()).join(taken, on=["paper_id", "content_hash"], how="anti")
    both = there.filter(pl.col("file").is_null()).join(taken, on="paper_id", how="semi")
    wrong = [
        lost,
        stray.select("paper_id", fault=pl.lit("its text was not taken")),
        both.select("paper_id", fault=pl.lit("its abstract stands in for a text")),
    ]
    return from_offenders("documents_are_those_chosen", claim, rows_of(there), pl.concat(wrong))


def offsets_are_exact(lake: Lake, shard: str) -> Finding:
    """Every sentence is what its offsets point at, inside its block; sentences follow each other without overlap, and between two of a
    block there is nothing but white space."""
    claim = f"every sentence of shard {shard} is its stretch of the text, and nothing but white space is between two of a block"
    papers = lake.scan("documents").filter(pl.col("shard") == shard).select("paper_id").collect()["paper_id"].sort()
    counted, failed, examples = 0, 0, []
    for begin in range(0, len(papers), _TEXTS_AT_ONCE):
        some = papers.slice(begin, _TEXTS_AT_ONCE)
        mine = (pl.col("shard") == shard) & pl.col("paper_id").is_in(some.implode())
        texts = {row[0]: row[1:] for row in lake.scan("documents").filter(mine).select("paper_id", "text", "blocks").collect().iter_rows()}
        columns = ["paper_id", "n", "block", "start", "end", "text"]
        sentences = lake.scan("sentences").filter(mine).select(columns).collect().sort("paper_id", "n")
        last, last_block, last_end = "", -1, 0
        for paper_id, n, block, start, end, sentence in sentences.iter_rows():
            text, blocks = texts.get(paper_id, ("", []))
            fault = ""
            if text[start:end] != sentence:
                fault = "the text at its offsets is another"
            elif not (block < len(blocks) and blocks[block]["start"] <= start < end <= blocks[block]["end"]):
                fault = "it leaves its block"
            elif (paper_id, block) == (last, last_block) and (start < last_end or text[last_end:start].strip()):
                fault = "something between it and the sentence before, or overlap"
            counted += 1
            if fault:
                failed += 1
                examples.append({"paper_id": paper_id, "n": n, "fault": fault})
            last, last_block, last_end = paper_id, block, end
    return Finding("offsets_are_exact", claim, counted, failed, tuple(examples[:EXAMPLES]))


def sentence_ids_are_dense(lake: Lake, shard: str) -> Finding:
    """The sentences of a document are numbered from 0 in reading order, and their ids say so."""
    claim = f"sentences of shard {shard} are numbered from 0 without a gap, in reading order"
    rows = lake.scan("sentences").filter(pl.col("shard") == shard).select("sentence_id", "paper_id", "n", "start")
    misnamed = rows.filter(pl.col("sentence_id") != pl.format("{}:{}", "paper_id", "n")).select("paper_id").unique()
    ordered = rows.group_by("paper_id").agg(
        dense=(pl.col("n").n_unique() == pl.len()) & (pl.col("n").min() == 0) & (pl.col("n").max() == pl.len() - 1),
        rising=pl.col("start").sort_by("n").diff().drop_nulls().gt(0).all(),
    )
    wrong = pl.concat([misnamed, ordered.filter(~(pl.col("dense") & pl.col("rising"))).select("paper_id")]).unique()
    return from_offenders("sentence_ids_are_dense", claim, rows_of(rows), wrong)


def every_document_is_mapped(lake: Lake, shard: str) -> Finding:
    """Every document has the sentences that it says it has, made from its present content, and no other paper has any."""
    claim = f"every document of shard {shard} has its sentences, and nothing else has"
    documents = lake.scan("documents").filter(pl.col("shard") == shard).select("paper_id", "content_hash", "sentences")
    mapped = (
        lake.scan("sentences")
        .filter(pl.col("shard") == shard)
        .group_by("paper_id", "content_hash")
        .agg(pl.len().cast(pl.Int64).alias("there"))
    )
    joined = documents.join(mapped, on=["paper_id", "content_hash"], how="full", coalesce=True)
    wrong = joined.filter(pl.col("sentences").is_null() | (pl.col("sentences") != pl.col("there").fill_null(0)))
    return from_offenders("every_document_is_mapped", claim, rows_of(documents), wrong.select("paper_id", "sentences", "there"))

"""`facts` of a shard: what each of its documents states, read once and again only where the document is another.

What does not belong here: how a document is read (`extractive`, `extraction`) and what a candidate must pass (`grounding`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from scholarlake.corpus.progress import Progress, silent
from scholarlake.knowledge.objects import Fact, Reading, Sentence, Source
from scholarlake.knowledge.protocol import Reader
from scholarlake.lake import contracts, delta
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake

_PAPERS_AT_ONCE = 200  # full texts of some 10 MB, sentences and all
_TABLES = ("facts", "fact_rejects", "fact_sources")  # the last says that a paper is done


@dataclass(frozen=True)
class FactsReport:
    """What was made of a shard. rows: facts that it holds now; read: papers that were read now; removed: papers whose facts went.

    by_type, by_verification, reasons: facts that it holds now, and rejects, by what the contract calls them.
    """

    rows: int
    papers: int
    read: int
    removed: int
    by_type: Mapping[str, int]
    by_verification: Mapping[str, int]
    by_study_type: Mapping[str, int]
    reasons: Mapping[str, int]
    versions: Mapping[str, int | None]
    content_version: str
    unread: int = field(default=0)


def build_facts(
    lake: Lake, shard: str, reader: Reader, run: delta.Commit, progress: Progress = silent, *, anew: bool = False
) -> FactsReport:
    """The facts of a shard's documents, of those that changed since they were read; all of them where it is to be done anew.

    What was read of a document stays for as long as its text and its title do; what could not be read is tried again.
    """
    documents = documents_of(lake, shard)
    there = lake.scan("fact_sources").filter(pl.col("shard") == shard).select("paper_id", "content_hash", "unread").collect()
    done = there.filter(pl.col("unread").is_null()) if not anew else there.clear()
    changed = documents.join(done, on=["paper_id", "content_hash"], how="anti").sort("paper_id")
    gone = there.join(documents, on="paper_id", how="anti").select("paper_id")
    written = _replace(lake, shard, gone["paper_id"].to_list(), [], run)
    for number, part in enumerate(changed.iter_slices(_PAPERS_AT_ONCE)):
        progress(number * _PAPERS_AT_ONCE, changed.height, f"facts of shard {shard}")
        sources = sources_of(lake, shard, part["paper_id"].to_list())
        readings = list(reader.readings(sources))
        written = _replace(lake, shard, part["paper_id"].to_list(), [_rows_of(one, shard, reader.method, run) for one in readings], run)
    return _report(lake, shard, documents.height, changed.height, gone.height, written)


def documents_of(lake: Lake, shard: str) -> pl.DataFrame:
    """The documents of a shard: paper_id, and the digest of all that a reader sees of it."""
    rows = lake.scan("documents").filter(pl.col("shard") == shard).select("paper_id", "title", "extent", "content_hash").collect()
    seen = [source_hash(content, title, extent) for title, extent, content in rows.select("title", "extent", "content_hash").iter_rows()]
    return rows.select("paper_id").with_columns(content_hash=pl.Series(seen, dtype=pl.String))


def source_hash(content_hash: str, title: str | None, extent: str) -> str:
    """Digest of a source: of its document's content, and of the title, which is the paper's and may change without it."""
    return digest([content_hash, title or "", extent])


def sources_of(lake: Lake, shard: str, papers: Sequence[str]) -> list[Source]:
    """The documents of some papers as sources, by paper."""
    mine = (pl.col("shard") == shard) & pl.col("paper_id").is_in(list(papers))
    columns = ["paper_id", "n", "text", "kind", "sections", "start", "end"]
    sentences: dict[str, list[Sentence]] = {}
    for paper_id, n, text, kind, sections, start, end in (
        lake.scan("sentences").filter(mine).select(columns).collect().sort("paper_id", "n").iter_rows()
    ):
        sentences.setdefault(paper_id, []).append(Sentence(n, text, kind, tuple(sections), start, end))
    known = lake.scan("documents").filter(mine).select("paper_id", "title", "extent", "content_hash").collect().sort("paper_id")
    return [
        Source(paper_id, title, extent, source_hash(content, title, extent), tuple(sentences.get(paper_id, ())))
        for paper_id, title, extent, content in known.iter_rows()
    ]


# -- rows ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """What a reading is in the tables, in the order of `_TABLES`."""

    facts: list[dict[str, Any]]
    rejects: list[dict[str, Any]]
    source: dict[str, Any]


def _rows_of(reading: Reading, shard: str, method: str, run: delta.Commit) -> _Rows:
    source = reading.source
    common = {"paper_id": source.paper_id, "shard": shard, "code_version": run.code_version}
    facts = in_order(reading.facts, source)
    return _Rows(
        [{**common, "n": n, **fact_row(fact, source)} for n, fact in enumerate(facts)],
        [
            {
                **common,
                "n": n,
                "reason": one.reason,
                "detail": one.detail,
                "candidate": one.candidate.as_json(),
                "method": method,
            }
            for n, one in enumerate(reading.refused)
        ],
        {
            **common,
            "content_hash": source.content_hash,
            "study_type": reading.study_type,
            "sentences": len(source.sentences),
            "candidates": len(facts) + len(reading.refused),
            "facts": len(facts),
            "rejects": len(reading.refused),
            "unread": reading.unread,
            "method": method,
        },
    )


def in_order(facts: Iterable[Fact], source: Source) -> list[Fact]:
    """Facts of a source, each once, in reading order."""
    found = {fact.fact_id: fact for fact in facts}
    return sorted(
        found.values(), key=lambda fact: (fact.evidence, source.sentences[fact.evidence[-1]].text.find(fact.statement), fact.fact_id)
    )


def fact_row(fact: Fact, source: Source) -> dict[str, Any]:
    """What a fact says, as the tables of facts have it."""
    return {
        "fact_id": fact.fact_id,
        "taxonomy": fact.taxonomy,
        "type": fact.type,
        "study_type": fact.study_type,
        "subject": fact.subject,
        "statement": fact.statement,
        "context": [asdict(one) for one in fact.context],
        "quantities": [asdict(one) for one in fact.quantities],
        "evidence": [source.sentence_id(n) for n in fact.evidence],
        "evidence_hash": fact.evidence_hash,
        "marks": list(fact.marks),
        "verification": fact.verification,
        "votes": [asdict(one) for one in fact.votes],
        "method": fact.method,
    }


def _replace(lake: Lake, shard: str, papers: Sequence[str], rows: Sequence[_Rows], run: delta.Commit) -> dict[str, delta.Written]:
    """Make rows all that is known of some papers. `fact_sources` comes last: killed before it, a paper is read again."""
    found = {
        "facts": [row for one in rows for row in one.facts],
        "fact_rejects": [row for one in rows for row in one.rejects],
        "fact_sources": [one.source for one in rows],
    }
    written = {}
    for name in _TABLES:
        contract = contracts.table(name)
        mine = (pl.col("shard") == shard) & pl.col("paper_id").is_in(list(papers))
        old = lake.scan(name).filter(mine).select(contract.key).collect()
        frame = pl.DataFrame(found[name], schema=contract.schema)
        written[name] = delta.apply(lake, name, shard, frame, old, run)
    return written


def _report(lake: Lake, shard: str, papers: int, read: int, removed: int, written: Mapping[str, delta.Written]) -> FactsReport:
    mine = pl.col("shard") == shard
    facts = lake.scan("facts").filter(mine).select("type", "verification").collect()
    reasons = lake.scan("fact_rejects").filter(mine).select("reason").collect()
    sources = lake.scan("fact_sources").filter(mine).select("study_type", "unread").collect()
    return FactsReport(
        rows=facts.height,
        papers=papers,
        read=read,
        removed=removed,
        by_type=_counted(facts["type"]),
        by_verification=_counted(facts["verification"]),
        by_study_type=_counted(sources["study_type"]),
        reasons=_counted(reasons["reason"]),
        versions={name: one.version for name, one in written.items()},
        content_version=delta.combined({name: one.content_version for name, one in written.items()}),
        unread=sources["unread"].drop_nulls().len(),
    )


def _counted(values: pl.Series) -> dict[str, int]:
    return dict(sorted(Counter(values.to_list()).items()))

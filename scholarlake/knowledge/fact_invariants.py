"""What must hold of facts: every document is read, every fact is about a paper that is there, and stands in sentences that are there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from scholarlake.knowledge.cited import Cited
from scholarlake.knowledge.facts import documents_of
from scholarlake.knowledge.numerals import numerals
from scholarlake.knowledge.objects import Vote, evidence_hash
from scholarlake.knowledge.verification import settled
from scholarlake.lake.contracts import VERIFICATIONS
from scholarlake.lake.findings import EXAMPLES, Finding, from_offenders, rows_of
from scholarlake.lake.home import Lake

_FACTS_AT_ONCE = 5_000

#: What is wrong with a fact, given the texts of the sentences that it cites; "" where nothing is.
_Fault = Callable[[Mapping[str, Any], Sequence[str]], str]


def every_document_is_read(lake: Lake, shard: str) -> Finding:
    """Every document was looked through as it is now, or it is told why not, and nothing else was."""
    claim = f"every document of shard {shard} was read as it is now, or it is told why not"
    documents = documents_of(lake, shard).lazy()
    key = ["paper_id", "content_hash"]
    sources = lake.scan("fact_sources").filter(pl.col("shard") == shard)
    read = sources.select(key)
    lost = documents.join(read, on=key, how="anti").select("paper_id", fault=pl.lit("it was not read as it is"))
    stray = read.join(documents, on="paper_id", how="anti").select("paper_id", fault=pl.lit("it has no document"))
    unread = rows_of(sources.filter(pl.col("unread").is_not_null()))
    return from_offenders("every_document_is_read", claim, rows_of(documents), pl.concat([lost, stray]), {"not_read_whole": unread})


def every_fact_is_accounted_for(lake: Lake, shard: str) -> Finding:
    """Every paper has as many facts and refused candidates as were kept of its reading, and nothing else has any."""
    claim = f"papers of shard {shard} have the facts and the refused candidates that their reading gave"
    counts = [
        lake.scan(name).filter(pl.col("shard") == shard).group_by("paper_id").agg(pl.len().cast(pl.Int64).alias(f"{column}_there"))
        for name, column in (("facts", "facts"), ("fact_rejects", "rejects"))
    ]
    sources = lake.scan("fact_sources").filter(pl.col("shard") == shard).select("paper_id", "candidates", "facts", "rejects")
    joined = sources
    for count in counts:
        joined = joined.join(count, on="paper_id", how="full", coalesce=True)
    there = [pl.col("facts_there").fill_null(0), pl.col("rejects_there").fill_null(0)]
    agree = (pl.col("facts") == there[0]) & (pl.col("rejects") == there[1]) & (pl.col("candidates") == there[0] + there[1])
    wrong = joined.filter(~agree.fill_null(False))
    return from_offenders("every_fact_is_accounted_for", claim, rows_of(sources), wrong)


def evidence_resolves(lake: Lake, shard: str) -> Finding:
    """Every fact cites at least one sentence, and every sentence that it cites is one of its paper."""
    claim = f"every fact of shard {shard} cites sentences of its paper that are there"
    facts = lake.scan("facts").filter(pl.col("shard") == shard).select("fact_id", "paper_id", "evidence")
    sentences = lake.scan("sentences").filter(pl.col("shard") == shard).select("paper_id", "sentence_id")
    none = facts.filter(pl.col("evidence").list.len() == 0).select("fact_id", sentence_id=pl.lit(None, pl.String))
    cited = facts.explode("evidence", empty_as_null=True).rename({"evidence": "sentence_id"}).drop_nulls("sentence_id")
    lost = cited.join(sentences, on=["paper_id", "sentence_id"], how="anti").select("fact_id", "sentence_id")
    return from_offenders("evidence_resolves", claim, rows_of(facts), pl.concat([none, lost]), {"citations": rows_of(cited)})


def evidence_is_as_it_was(lake: Lake, shard: str) -> Finding:
    """The sentences that a fact cites say what they said when it was read off them."""
    claim = f"the sentences that facts of shard {shard} cite are as they were when they were read"

    def fault(fact: Mapping[str, Any], texts: Sequence[str]) -> str:
        return "" if evidence_hash(texts) == fact["evidence_hash"] else "its sentences are others than those it was read off"

    return _each(lake, shard, "evidence_is_as_it_was", claim, fault)


def numbers_stand_in_evidence(lake: Lake, shard: str) -> Finding:
    """Every number of a statement and of its quantities stands in the sentences that the fact cites."""
    claim = f"every number of every fact of shard {shard} stands in its sentences"

    def fault(fact: Mapping[str, Any], texts: Sequence[str]) -> str:
        there = Cited(texts)
        values = [str(one["value"]) for one in fact["quantities"]]
        for text in (str(fact["statement"]), *values):
            for one in numerals(text):
                if one.name is None and not (one.in_words and one.value == 1) and not there.has(one):
                    return f"{one.written} stands in none of its sentences"
        return ""

    return _each(lake, shard, "numbers_stand_in_evidence", claim, fault)


def verification_follows_from_votes(lake: Lake, shard: str) -> Finding:
    """What was judged is called what its votes come to, or unresolved, as where too few of them came; nothing else is called judged.
    Tells how many are what."""
    claim = f"facts of shard {shard} are called what their votes say"
    facts = lake.scan("facts").filter(pl.col("shard") == shard).select("fact_id", "verification", "votes")
    judged = facts.filter((pl.col("votes").list.len() > 0) | (pl.col("verification") != "unchecked")).collect()
    wrong = [
        {"fact_id": fact_id, "verification": said}
        for fact_id, said, votes in judged.iter_rows()
        if said != settled([Vote(**vote) for vote in votes]) and not (said == "unresolved" and votes)
    ]
    counted = dict(facts.group_by("verification").agg(pl.len()).collect().iter_rows())
    rates = {name: int(counted.get(name, 0)) for name in VERIFICATIONS}
    return Finding("verification_follows_from_votes", claim, rows_of(facts), len(wrong), tuple(wrong[:EXAMPLES]), rates)


def _each(lake: Lake, shard: str, name: str, claim: str, fault: _Fault) -> Finding:
    """A claim about each fact and the texts of the sentences that it cites."""
    columns = ["fact_id", "paper_id", "statement", "quantities", "evidence", "evidence_hash"]
    mine = pl.col("shard") == shard
    papers = lake.scan("facts").filter(mine).select("paper_id", "fact_id").collect().sort("paper_id", "fact_id")
    counted, examples, failed = 0, [], 0
    for part in papers.iter_slices(_FACTS_AT_ONCE):
        some = pl.col("paper_id").is_in(part["paper_id"].unique().implode())
        texts = dict(lake.scan("sentences").filter(mine & some).select("sentence_id", "text").collect().iter_rows())
        chosen = lake.scan("facts").filter(mine & some).select(columns).collect().join(part, on="fact_id", how="semi")
        for fact in chosen.sort("paper_id", "fact_id").iter_rows(named=True):
            counted += 1
            wrong = fault(fact, [texts.get(one, "") for one in fact["evidence"]])
            if wrong:
                failed += 1
                examples.append({"fact_id": fact["fact_id"], "fault": wrong})
    return Finding(name, claim, counted, failed, tuple(examples[:EXAMPLES]))

"""`attended_facts` of a collection: papers none of whose facts fits its taxonomy are read again, for what the taxonomy asks for.

Facts are keyed by paper and taxonomy: another taxonomy reads again only the papers that it lists, the same one none that it had read. What
does not belong here: how a paper is read (`extractive`, `extraction`), which category a fact ends in (`classifying`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from scholarlake.corpus.progress import Progress, silent
from scholarlake.knowledge.extractive import METHOD, Limits, read
from scholarlake.knowledge.facts import fact_row, in_order, sources_of
from scholarlake.knowledge.objects import Reading, Source
from scholarlake.knowledge.organization.material import Stated, facts_of, members_of
from scholarlake.knowledge.organization.sorting import Wordings, wordings_of
from scholarlake.knowledge.organization.taxonomy import Taxonomy, taxonomy_of
from scholarlake.knowledge.protocol import Reader
from scholarlake.lake import contracts, delta
from scholarlake.lake.home import Lake

_MORE = 10  # times as many facts as a paper usually gives are looked through for those that are asked for


@dataclass(frozen=True)
class AttendedReport:
    """What was read again. papers: of the collection; listed: those that nothing in the taxonomy fits; answered: those of them that gave a
    fact; unread: those that could not be read whole."""

    papers: int
    listed: int
    answered: int
    unread: int
    written: delta.Written


@dataclass(frozen=True)
class Attentive:
    """The deterministic method under a taxonomy: of all that a paper states, what has a wording of a category. limits: of usual facts."""

    taxonomy: Taxonomy
    limits: Limits
    method: str = field(default=METHOD, init=False)

    def readings(self, sources: Iterable[Source]) -> Iterator[Reading]:
        """What each source states of the categories, one after the other."""
        wordings = wordings_of(self.taxonomy)
        wide = Limits(_MORE * self.limits.of_full_text, _MORE * self.limits.of_abstract)
        for source in sources:
            reading = read(source, wide)
            facts = [
                replace(fact, taxonomy=self.taxonomy.version)
                for fact in reading.facts
                if any(one.hits(text) for one in wordings for text in (fact.subject, fact.statement))
            ]
            yield replace(reading, facts=tuple(facts), refused=())


def build_attended(
    lake: Lake, collection: str, reader_of: Callable[[Taxonomy], Reader], run: delta.Commit, progress: Progress = silent
) -> AttendedReport:
    """Write what listed papers of a collection state of the categories of its taxonomy."""
    taxonomy = taxonomy_of(lake, collection)
    facts = facts_of(lake, collection, attended=False)
    members = members_of(lake, collection)
    listed = listed_papers(members["paper_id"].to_list(), facts, wordings_of(taxonomy))
    known = {(fact.paper_id, fact.statement) for fact in facts}
    rows: list[dict[str, Any]] = []
    answered = unread = 0
    if listed and taxonomy.dimensions:
        reader = reader_of(taxonomy)
        by_shard: dict[str, list[str]] = defaultdict(list)
        for paper_id, shard in members.filter(pl.col("paper_id").is_in(listed)).iter_rows():
            by_shard[shard].append(paper_id)
        for done, (shard, papers) in enumerate(sorted(by_shard.items())):
            progress(done, len(by_shard), f"papers that nothing in the taxonomy of {collection} fits")
            for reading in reader.readings(sources_of(lake, shard, papers)):
                new = [fact for fact in in_order(reading.facts, reading.source) if (fact.paper_id, fact.statement) not in known]
                common = {"collection": collection, "paper_id": reading.source.paper_id, "shard": shard, "code_version": run.code_version}
                rows += [{**common, "n": n, **fact_row(fact, reading.source)} for n, fact in enumerate(new)]
                answered += bool(new)
                unread += reading.unread is not None
    frame = pl.DataFrame(rows, schema=contracts.ATTENDED_FACTS.schema)
    written = delta.write_partition(lake, "attended_facts", collection, frame, run)
    return AttendedReport(members.height, len(listed), answered, unread, written)


def listed_papers(papers: Iterable[str], facts: Iterable[Stated], wordings: list[Wordings]) -> list[str]:
    """The papers none of whose facts has a wording of any category, by id."""
    fitting = {
        fact.paper_id
        for fact in facts
        if any(one.hits(text) for one in wordings for text in (fact.subject, fact.statement, *(c.text for c in fact.context)))
    }
    return sorted(set(papers) - fitting)

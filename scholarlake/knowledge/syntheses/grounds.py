"""What an account may rest on: facts, assignments and relations with all the text in which their numbers stand, and the works behind them.

What does not belong here: what is made of them (`rules`), and whether an account rests on them well (`validation`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from scholarlake.knowledge.objects import Context
from scholarlake.lake.home import Lake


@dataclass(frozen=True)
class Ground:
    """An object that can be cited. text: all that it says, numbers included; papers: those that it is of."""

    object_id: str
    kind: str
    text: str
    papers: tuple[str, ...]
    conditions: tuple[Context, ...] = ()
    collection: str | None = None


@dataclass(frozen=True)
class Works:
    """Which papers are one work, and which do not count. of: preprint → what was published of it."""

    of: Mapping[str, str] = field(default_factory=dict)
    withdrawn: frozenset[str] = frozenset()

    def sources(self, papers: Iterable[str]) -> frozenset[str]:
        """The works that some papers are of, those that were withdrawn left out."""
        return frozenset(self.work(paper) for paper in papers if self.counts(paper))

    def work(self, paper: str) -> str:
        return self.of.get(paper, paper)

    def counts(self, paper: str) -> bool:
        return paper not in self.withdrawn and self.work(paper) not in self.withdrawn


def works_of(lake: Lake, papers: Iterable[str]) -> Works:
    """What is known of some papers. One that is not there counts as withdrawn."""
    wanted = sorted(set(papers))
    mine = pl.col("paper_id").is_in(pl.Series(wanted, dtype=pl.String).implode())
    rows = lake.scan("papers").filter(mine).select("paper_id", "version_of", "withdrawn").collect()
    of = {paper: version for paper, version, _ in rows.iter_rows() if version}
    published = pl.col("paper_id").is_in(pl.Series(sorted(set(of.values())), dtype=pl.String).implode()) & pl.col("withdrawn")
    bad = set(rows.filter("withdrawn")["paper_id"]) | set(lake.scan("papers").filter(published).select("paper_id").collect()["paper_id"])
    return Works(of, frozenset(bad | (set(wanted) - set(rows["paper_id"]))))


def ground_of(kind: str, content: Mapping[str, Any]) -> Ground:
    """An object in the shape of its table as something that can be cited."""
    return _OF[kind](content)


def _fact(one: Mapping[str, Any]) -> Ground:
    context = tuple(Context(entry["kind"], entry["text"]) for entry in one["context"])
    quantities = (" ".join(filter(None, (q["metric"], q["comparator"], q["value"], q["unit"]))) for q in one["quantities"])
    text = "\n".join([one["subject"], one["statement"], *(entry.text for entry in context), *quantities])
    return Ground(one["fact_id"], "fact", text, (one["paper_id"],), context)


def _assignment(one: Mapping[str, Any]) -> Ground:
    conditions = tuple(Context(entry["kind"], entry["text"]) for entry in one["conditions"])
    category = one["category_id"].rsplit("/", 1)[-1].replace("-", " ")
    text = "\n".join([one["subject"], category, one["rationale"], *(entry.text for entry in conditions)])
    return Ground(one["assignment_id"], "assignment", text, tuple(one["papers"]), conditions, one["collection"])


def _relation(one: Mapping[str, Any], papers: Iterable[str] = ()) -> Ground:
    conditions = tuple(Context(entry["kind"], entry["text"]) for entry in one["conditions"])
    payload = (f"{entry['name']} {entry['value']}" for entry in one["payload"])
    text = "\n".join([one["source"] or "", one["target"] or "", *payload, *(entry.text for entry in conditions)])
    of = sorted({sentence.rsplit(":", 1)[0] for sentence in one["evidence"]} | set(papers))
    return Ground(one["relation_id"], "relation", text, tuple(of), conditions, one["collection"])


def _account(one: Mapping[str, Any]) -> Ground:
    """An account can be cited by what tasks make; it brings its studies, and no source of its own."""
    conditions = tuple(Context(entry["kind"], entry["text"]) for entry in one["conditions"])
    text = "\n".join([one["account"], *(entry.text for entry in conditions)])
    return Ground(one["synthesis_id"], "synthesis", text, tuple(one["studies"]), conditions, one["collection"])


_OF = {"fact": _fact, "assignment": _assignment, "relation": _relation, "synthesis": _account}

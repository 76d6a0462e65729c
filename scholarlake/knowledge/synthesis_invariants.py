"""What must hold of accounts: they rest on what is there, on works that count, with the numbers that stand there; reviews are votes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from scholarlake.knowledge.cited import Cited
from scholarlake.knowledge.objects import Vote
from scholarlake.knowledge.syntheses.grounds import Ground, Works, ground_of, works_of
from scholarlake.knowledge.syntheses.review import AS_REVIEW
from scholarlake.knowledge.syntheses.validation import LEAST_SOURCES, strays
from scholarlake.knowledge.verification import settled
from scholarlake.lake.contracts import CITABLE_KINDS
from scholarlake.lake.findings import EXAMPLES, Finding
from scholarlake.lake.home import Lake

#: What is wrong with an account, given all that it cites and the works behind; "" where nothing is.
_Fault = Callable[[Mapping[str, Any], Mapping[str, Ground], Works], str]
_TABLES = {"fact": ("facts", "fact_id"), "assignment": ("assignments", "assignment_id"), "relation": ("relations", "relation_id")}


def every_basis_resolves(lake: Lake, collection: str) -> Finding:
    """Every object that an account rests on is there, of the kind that it is said to be."""

    def fault(row: Mapping[str, Any], grounds: Mapping[str, Ground], works: Works) -> str:
        lost = [one["object_id"] for one in row["basis"] if one["object_id"] not in grounds]
        other = [one["object_id"] for one in row["basis"] if one["object_id"] in grounds and grounds[one["object_id"]].kind != one["kind"]]
        if not row["basis"]:
            return "it rests on nothing"
        return f"{lost[0]} is not there" if lost else f"{other[0]} is of another kind" if other else ""

    return _each(lake, collection, "every_basis_resolves", "every object that an account rests on is there", fault)


def every_claim_cites_its_basis(lake: Lake, collection: str) -> Finding:
    """Every claim cites something of the basis, everything in the basis is cited by a claim, and the claims are the account."""

    def fault(row: Mapping[str, Any], grounds: Mapping[str, Ground], works: Works) -> str:
        basis = {one["object_id"] for one in row["basis"]}
        cited = {id for claim in row["claims"] for id in claim["cites"]}
        if not all(claim["cites"] for claim in row["claims"]):
            return "a claim cites nothing"
        if cited != basis:
            return f"{min(cited ^ basis)} is {'cited and no basis' if cited - basis else 'a basis that nothing cites'}"
        said = " ".join(claim["text"] for claim in row["claims"])
        return "" if said == row["account"] else "the account is not its claims"

    return _each(lake, collection, "every_claim_cites_its_basis", "every claim cites something of the basis, and all of it is cited", fault)


def numbers_stand_in_the_basis(lake: Lake, collection: str) -> Finding:
    """Every number of a claim stands in what the claim cites."""

    def fault(row: Mapping[str, Any], grounds: Mapping[str, Ground], works: Works) -> str:
        for claim in row["claims"]:
            lost = strays(claim["text"], Cited(grounds[id].text for id in claim["cites"] if id in grounds))
            if lost:
                return f"{lost[0]} stands in nothing that its claim cites"
        return ""

    return _each(lake, collection, "numbers_stand_in_the_basis", "every number of an account stands in its basis", fault)


def sources_are_works_that_count(lake: Lake, collection: str) -> Finding:
    """Studies are the papers of the basis, none of them withdrawn; versions of one work are one source, and there are two or more."""

    def fault(row: Mapping[str, Any], grounds: Mapping[str, Ground], works: Works) -> str:
        cited = [grounds[one["object_id"]] for one in row["basis"] if one["object_id"] in grounds]
        studies = sorted({paper for ground in cited for paper in ground.papers if works.counts(paper)})
        if studies != row["studies"]:
            return "its studies are not the papers of its basis"
        if any(not works.sources(ground.papers) for ground in cited):
            return "it rests on a paper that was withdrawn"
        sources = len(works.sources(studies))
        return f"{sources} sources, not {row['sources']}" if sources != row["sources"] else "" if sources >= LEAST_SOURCES else "one source"

    return _each(
        lake, collection, "sources_are_works_that_count", "an account rests on works of two or more that were not withdrawn", fault
    )


def reviews_follow_from_votes(lake: Lake, collection: str) -> Finding:
    """An account is called what the votes on it come to, and unreviewed where there are none."""

    def fault(row: Mapping[str, Any], grounds: Mapping[str, Ground], works: Works) -> str:
        votes = [Vote(**vote) for vote in row["votes"]]
        if row["review"] in (AS_REVIEW[settled(votes)], *(("disputed",) if votes else ())):  # too few votes settle nothing
            return ""
        return f"{row['review']}, by {len(votes)} votes"

    return _each(lake, collection, "reviews_follow_from_votes", "accounts are called what their votes say", fault)


def _each(lake: Lake, collection: str, name: str, claim: str, fault: _Fault) -> Finding:
    """A claim about each account and what it cites."""
    rows = lake.scan("syntheses").filter(pl.col("collection") == collection).collect().sort("synthesis_id").to_dicts()
    ids = sorted(
        {one["object_id"] for row in rows for one in row["basis"]}
        | {id for row in rows for claim in row["claims"] for id in claim["cites"]}
    )
    grounds = _grounds(lake, collection, ids)
    works = works_of(lake, (paper for one in grounds.values() for paper in one.papers))
    wrong = [{"synthesis_id": row["synthesis_id"], "fault": told} for row in rows if (told := fault(row, grounds, works))]
    return Finding(name, f"{claim} ({collection})", len(rows), len(wrong), tuple(wrong[:EXAMPLES]))


def _grounds(lake: Lake, collection: str, ids: list[str]) -> dict[str, Ground]:
    found: dict[str, Ground] = {}
    for kind in CITABLE_KINDS:
        name, key = _TABLES[kind]
        wanted = pl.col(key).is_in(ids)
        for row in lake.scan(name).filter(wanted).collect().to_dicts():
            found[row[key]] = ground_of(kind, row)
    attended = (pl.col("collection") == collection) & pl.col("fact_id").is_in(ids)
    for row in lake.scan("attended_facts").filter(attended).collect().to_dicts():
        found[row["fact_id"]] = ground_of("fact", row)
    return found

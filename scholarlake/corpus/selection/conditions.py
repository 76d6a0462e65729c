"""`where`: which papers meet conditions that are combined at will, and the first of them in some order.

A condition is looked at within a scope, the papers that what stands around it leaves. So a query brings the k best papers of those that
the years, venues and citations beside it allow, not the few of the k best of all that happen to fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from scholarlake.corpus.selection.candidates import Candidates, Mask, Numbers, Values, ordered
from scholarlake.corpus.selection.choice import Choice, Tools
from scholarlake.corpus.selection.definition import Degrees, First, Near, Query, Where, Years
from scholarlake.corpus.selection.fusion import fused
from scholarlake.corpus.selection.nearest import nearest

_SHOWN = 3  # entries of a list in the words of a rule


@dataclass
class Met:
    """The papers that meet conditions. reasons: condition in words → the papers that meet it.

    relevance: by queries, the sum of 1 / (60 + place) over those that found the paper; None where nothing was searched for.
    """

    mask: Mask
    reasons: dict[str, Mask] = field(default_factory=dict)
    relevance: Values | None = None
    unknown_ids: list[str] = field(default_factory=list)
    withdrawn_ids: list[str] = field(default_factory=list)

    def rules(self, numbers: Numbers) -> list[str]:
        """For each paper the conditions that it meets, in words."""
        held = [(reason, mask[numbers]) for reason, mask in self.reasons.items()]
        return ["; ".join(reason for reason, mask in held if mask[at]) for at in range(len(numbers))]


def first(tools: Tools, where: Where, how: First) -> Choice:
    """The first papers in some order of those that meet the conditions."""
    met = meets(tools, where)
    candidates = tools.candidates
    matched = np.flatnonzero(candidates.one_of_each_work(met.mask))
    cited = candidates.column("in_degree")[matched]
    years = candidates.frame["year"].fill_null(0).to_numpy()[matched]
    newest, by_citations = (years, True), (cited, True)
    oldest = (np.where(years > 0, years, np.iinfo(np.int32).max), False)
    relevance = np.zeros(len(matched)) if met.relevance is None else met.relevance[matched]
    keys = {
        "relevance": ((relevance, True), by_citations, newest),
        "citations": (by_citations, newest),
        "newest": (newest, by_citations),
        "oldest": (oldest, by_citations),
        "id": (),
    }[how.by]
    chosen = ordered(matched, *keys)[: how.limit]
    score = met.relevance[chosen] if met.relevance is not None else None
    return Choice(
        numbers=chosen,
        roles=["member"] * len(chosen),
        rules=met.rules(chosen),
        scores=score,
        matched=len(matched),
        unknown_ids=met.unknown_ids,
        withdrawn_ids=met.withdrawn_ids,
    )


def meets(tools: Tools, where: Where | None, scope: Mask | None = None) -> Met:
    """The papers of a scope (all that were not withdrawn) that meet every condition given."""
    met = Met(tools.candidates.present.copy() if scope is None else scope.copy())
    if where is None:
        return met
    candidates, words = tools.candidates, tools.words
    if where.ids:
        named = _resolved(candidates, met, where.ids)
        met.withdrawn_ids += candidates.withdrawn_among(candidates.frame["paper_id"].filter(pl.Series(named)))
        _narrow(met, _listed("named by id", ()), named)
    if where.years:
        _narrow(met, *_years(candidates, where.years))
    for name in ("in_degree", "out_degree", "total_degree"):
        if (bounds := getattr(where, name)) is not None:
            _narrow(met, *_degrees(candidates, name, bounds))
    if where.venues:
        _narrow(met, _listed("venue", where.venues), candidates.where(_any_name(pl.col("venue"), where.venues)))
    if where.keywords:
        wanted = [keyword.lower() for keyword in where.keywords]
        given = pl.col("keywords").list.eval(pl.element().str.strip_chars().str.to_lowercase())
        _narrow(met, _listed("keyword", where.keywords), candidates.where(given.list.set_intersection(wanted).list.len() > 0))
    if where.words:
        _narrow(met, _listed("words", where.words), words.having(where.words))
    if where.cites:
        targets = _resolved(candidates, met, where.cites)
        _narrow(met, _listed("cites", where.cites), _step(candidates, targets, "cited_id", "citing_id"))
    if where.cited_by:
        sources = _resolved(candidates, met, where.cited_by)
        _narrow(met, _listed("cited by", where.cited_by), _step(candidates, sources, "citing_id", "cited_id"))
    if where.near:
        _narrow(met, *_near(candidates, met, where.near))
    _groups(tools, met, where)
    if where.query:
        _query(tools, met, where.query)
    return met


def _groups(tools: Tools, met: Met, where: Where) -> None:
    for inner in where.all_of or ():
        found = meets(tools, inner, met.mask)
        _take_over(met, found, found.mask)
        met.mask = found.mask
    if where.any_of:
        allowed = np.zeros_like(met.mask)
        for inner in where.any_of:
            found = meets(tools, inner, met.mask)
            _take_over(met, found, found.mask)
            allowed |= found.mask
        met.mask = allowed
    for inner in where.none_of or ():
        found = meets(tools, inner, met.mask)
        met.unknown_ids += found.unknown_ids
        met.mask = met.mask & ~found.mask


def _take_over(met: Met, found: Met, mask: Mask) -> None:
    """Reasons hold only for the papers that met all of the inner conditions."""
    met.unknown_ids += found.unknown_ids
    met.withdrawn_ids += found.withdrawn_ids
    for reason, holds in found.reasons.items():
        met.reasons[reason] = met.reasons.get(reason, np.zeros_like(holds)) | (holds & mask)
    if found.relevance is not None:
        relevance = np.where(mask, found.relevance, 0.0)
        met.relevance = relevance if met.relevance is None else met.relevance + relevance


def _narrow(met: Met, reason: str, mask: Mask) -> None:
    met.mask = met.mask & mask
    met.reasons[reason] = met.mask


def _listed(name: str, values: Sequence[str]) -> str:
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return f"{name} {', '.join(values[:_SHOWN])}{more}".strip()


# -- single conditions -----------------------------------------------------------------------------------------------


def _resolved(candidates: Candidates, met: Met, ids: Iterable[str]) -> Mask:
    papers, unknown = candidates.resolve(ids)
    met.unknown_ids += unknown
    return candidates.mask(papers)


def _years(candidates: Candidates, years: Years) -> tuple[str, Mask]:
    known = candidates.frame["year"]
    since, until = years.since, years.until
    holds = known.is_between(since or 0, until or 9_999).fill_null(False).to_numpy()
    return f"year {'' if since is None else since}–{'' if until is None else until}", holds


def _degrees(candidates: Candidates, name: str, bounds: Degrees) -> tuple[str, Mask]:
    values = candidates.column(name)
    low, high = bounds.at_least, bounds.at_most
    holds = (values >= (low or 0)) & (values <= (np.iinfo(np.int64).max if high is None else high))
    return f"{name.replace('_', '-')} {'' if low is None else low}–{'' if high is None else high}", holds


def _any_name(column: pl.Expr, names: Sequence[str]) -> pl.Expr:
    """Whether a text is one of some names, whatever its case; a name that ends in a star stands for all that begin so."""
    plain = column.str.strip_chars().str.to_lowercase()
    whole = [name.lower() for name in names if not name.endswith("*")]
    begins = [plain.str.starts_with(name[:-1].lower()) for name in names if name.endswith("*")]
    return pl.any_horizontal(plain.is_in(whole), *begins)


def _step(candidates: Candidates, start: Mask, end: str, other: str) -> Mask:
    """The other ends of the citations that have an end in start."""
    ids = candidates.frame.lazy().filter(pl.Series(start)).select(pl.col("paper_id").alias(end))
    reached = candidates.lake.scan("citations").select(end, other).join(ids, on=end, how="semi").select(other).unique()
    return candidates.mask(reached.collect(engine="streaming")[other])


def _near(candidates: Candidates, met: Met, near: Near) -> tuple[str, Mask]:
    reached = _resolved(candidates, met, near.of)
    fringe = reached
    for _ in range(near.hops):
        beyond = _step(candidates, fringe, "citing_id", "cited_id") | _step(candidates, fringe, "cited_id", "citing_id")
        fringe = beyond & ~reached
        reached = reached | fringe
    return _listed(f"within {near.hops} {'citation' if near.hops == 1 else 'citations'} of", near.of), reached


# -- queries ---------------------------------------------------------------------------------------------------------


def _query(tools: Tools, met: Met, query: Query) -> None:
    scope = met.mask
    searches: dict[str, Callable[[], Numbers]] = {
        "dense": lambda: nearest(tools.candidates, tools.embedder(), [query.text], query.k, scope)[0],
        "keyword": lambda: tools.words.best(query.text, query.k, scope),
    }
    found = fused([search() for mode, search in searches.items() if query.mode in (mode, "fused")])
    mask, relevance = np.zeros_like(scope), np.zeros(len(scope))
    mask[found.numbers[: query.k]] = True
    relevance[found.numbers] = found.scores
    _narrow(met, f"query {query.text!r}", mask)
    met.relevance = relevance if met.relevance is None else met.relevance + relevance

"""What a proposal must pass to be an account: its fields, its grounds, its numbers, its sources.

To pass is not to be supported: whether its grounds bear out what it says is judged apart (`review`). What does not belong here: who
proposed it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from scholarlake.knowledge.cited import Cited
from scholarlake.knowledge.numerals import numerals
from scholarlake.knowledge.syntheses.grounds import Ground, Works
from scholarlake.knowledge.syntheses.objects import Proposal, Refused, Synthesis
from scholarlake.lake.contracts import BASIS_ROLES, CITABLE_KINDS, SYNTHESIS_KINDS

LEAST_SOURCES = 2
Fault = tuple[str, str]


def checked(
    proposal: Proposal, grounds: Mapping[str, Ground], works: Works, kinds: tuple[str, ...] = SYNTHESIS_KINDS
) -> Synthesis | Refused:
    """The account that a proposal is, or why it is none: the first thing that is wrong with it. grounds: all that may be cited, by id."""
    for reason, detail in faults(proposal, grounds, works, kinds):
        return Refused(proposal, reason, detail)
    return account_of(proposal, grounds, works)


def account_of(proposal: Proposal, grounds: Mapping[str, Ground], works: Works) -> Synthesis:
    cited = [grounds[one.object_id] for one in proposal.basis]
    studies = tuple(sorted({paper for one in cited for paper in one.papers if works.counts(paper)}))
    return Synthesis(proposal, {one.object_id: one.kind for one in cited}, studies, len(works.sources(studies)))


def faults(
    proposal: Proposal,
    grounds: Mapping[str, Ground],
    works: Works,
    kinds: tuple[str, ...] = SYNTHESIS_KINDS,
    least_sources: int = LEAST_SOURCES,
) -> Iterator[Fault]:
    """All that is wrong with a proposal, each a reason of `contracts.SYNTHESIS_FAULTS` and a detail. kinds: what accounts there are."""
    texts = {"topic": proposal.topic, "title": proposal.title, "account": " ".join(claim.text for claim in proposal.claims)}
    yield from (("missing_field", f"it has no {name}") for name, text in texts.items() if not text.strip())
    yield from (("missing_field", "a claim says nothing") for claim in proposal.claims if not claim.text.strip())
    if proposal.kind not in kinds:
        yield "unknown_kind", f"{proposal.kind!r} is no kind of account; there are: {', '.join(kinds)}"
    if not proposal.basis:
        yield "no_basis", "it rests on nothing; what has no source is a note"
        return
    listed = [one.object_id for one in proposal.basis]
    lost = sorted({id for id in listed if id not in grounds})
    yield from (("unresolved_basis", f"{id} is no object that stands") for id in lost)
    yield from (("missing_field", f"{one.object_id} has role {one.role!r}") for one in proposal.basis if one.role not in BASIS_ROLES)
    yield from (("repeated", f"{id} is listed twice in one role") for id in sorted(_twice(proposal)))
    for number, claim in enumerate(proposal.claims, 1):
        if not claim.cites:
            yield "claim_without_basis", f"claim {number} cites nothing"
        stray = sorted(set(claim.cites) - set(listed))
        yield from (("unresolved_basis", f"claim {number} cites {id}, which is not in the basis") for id in stray)
    if lost:
        return
    yield from _numbers(proposal, grounds)
    yield from _sources(proposal, grounds, works, least_sources)


def _twice(proposal: Proposal) -> set[str]:
    found = Counter((one.object_id, one.role) for one in proposal.basis)
    return {id for (id, _), times in found.items() if times > 1}


def _numbers(proposal: Proposal, grounds: Mapping[str, Ground]) -> Iterator[Fault]:
    """Every number of a claim stands in what that claim cites; of the title and the conditions, in some ground."""
    for number, claim in enumerate(proposal.claims, 1):
        there = Cited(grounds[id].text for id in claim.cites if id in grounds)
        yield from (("number_not_in_basis", f"claim {number}: {one} stands in nothing that it cites") for one in strays(claim.text, there))
    everything = Cited(grounds[one.object_id].text for one in proposal.basis)
    for text in (proposal.title, *(entry.text for entry in proposal.conditions)):
        yield from (("number_not_in_basis", f"{one} stands in nothing that it rests on") for one in strays(text, everything))


def strays(text: str, there: Cited) -> list[str]:
    """The numbers of a text that do not stand in some others. "One" and digits in names are none."""
    return [one.written for one in numerals(text) if one.name is None and not (one.in_words and one.value == 1) and not there.has(one)]


def _sources(proposal: Proposal, grounds: Mapping[str, Ground], works: Works, least: int) -> Iterator[Fault]:
    by_role: dict[str, frozenset[str]] = {}
    for one in proposal.basis:
        ground = grounds[one.object_id]
        found = works.sources(ground.papers)
        if not found:
            yield "outside_scope", f"{one.object_id} is of papers that were withdrawn or are gone: {', '.join(ground.papers) or 'none'}"
        if ground.collection not in (None, proposal.collection):
            yield "outside_scope", f"{one.object_id} belongs to collection {ground.collection}"
        if ground.kind in CITABLE_KINDS:  # an account is no source
            by_role[one.role] = by_role.get(one.role, frozenset()) | found
    every = frozenset().union(*by_role.values())
    if len(every) < least:
        yield "one_source", f"it rests on {', '.join(sorted(every)) or 'no source'} alone, versions of one work being one"
    if proposal.kind == "disagreement":
        sides = by_role.get("supporting", frozenset()), by_role.get("opposing", frozenset())
        if not sides[0] or not sides[1] or len(sides[0] | sides[1]) < LEAST_SOURCES:
            yield "one_source", "a disagreement needs findings of different works on both sides"

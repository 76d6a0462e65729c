"""L3: accounts across the papers of a collection, written by a model where one is bound to the role, and by rules where none is."""

from __future__ import annotations

from assets.stage import Made, Step, makes
from scholarlake.knowledge.syntheses.build import Roles, build_syntheses
from scholarlake.knowledge.syntheses.bundles import Limits


@makes("syntheses")
def syntheses(step: Step) -> Made:
    """An interpretation, not a source: what is proposed and cites what is not there, gives a number that its grounds don't, or rests on one
    source is listed with its reason. A review is a matter apart, and nothing is inherited from the grounds."""
    set_to = step.profile.syntheses
    roles = Roles(step.models.chat("synthesizer"), step.models.chat("verifier"), set_to.votes)
    limits = Limits(set_to.of_kind, set_to.members, set_to.facts, set_to.findings)
    report = build_syntheses(step.lake, step.key, step.commit, roles, limits, step.progress)
    return Made(
        data_version=report.content_version,
        rows=report.rows,
        tables=report.versions,
        facts={
            "selected": report.bundles,
            "syntheses_by_kind": report.by_kind,
            "syntheses_by_review": report.by_review,
            "rejects_by_reason": report.reasons,
            "sources": report.sources,
            "votes_that_did_not_come": list(report.lost_votes),
        },
    )

"""L1: the facts of every document, read by a model where one is bound to the role, and by rules where none is."""

from __future__ import annotations

from assets.stage import Made, Step, makes
from scholarlake import pictures
from scholarlake.knowledge.extraction import Bounds
from scholarlake.knowledge.extractive import Extractive, Limits
from scholarlake.knowledge.facts import build_facts
from scholarlake.knowledge.organization.attending import Attentive
from scholarlake.knowledge.organization.taxonomy import Taxonomy
from scholarlake.knowledge.protocol import Reader
from scholarlake.knowledge.readers import reader_for


@makes("facts")
def facts(step: Step) -> Made:
    """What the source asserts, not what is true. Only documents that changed are read again; what is proposed and fails a structural
    check is listed with its reason."""
    report = build_facts(step.lake, step.key, reader_of(step), step.commit, step.progress, anew=step.is_new_code)
    return Made(
        data_version=report.content_version,
        rows=report.rows,
        tables=report.versions,
        facts={
            "documents": report.papers,
            "documents_read": report.read,
            "documents_removed": report.removed,
            "documents_not_read_whole": report.unread,
            "facts_by_type": report.by_type,
            "facts_by_verification": report.by_verification,
            "documents_by_study_type": report.by_study_type,
            "rejects_by_reason": report.reasons,
        },
        pictures={"types": lambda: pictures.facts_by_type(report.by_type)} if report.rows else {},
    )


def reader_of(step: Step, taxonomy: Taxonomy | None = None) -> Reader:
    """What looks for facts under the settings of a step; taxonomy: only for what that asks for."""
    known = step.profile.knowledge
    limits = Limits(known.facts_of_full_text, known.facts_of_abstract)
    return reader_for(
        step.models,
        Attentive(taxonomy, limits) if taxonomy is not None else Extractive(limits),
        bounds=Bounds(known.window_characters, known.facts_at_once),
        votes=known.votes,
        attention=taxonomy.attention if taxonomy is not None else None,
    )

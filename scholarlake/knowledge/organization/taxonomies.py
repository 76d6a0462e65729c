"""`taxonomies` of a collection: the one that its file supplies, else one prepared from its facts.

What does not belong here: preparing one (`preparing`, `proposed`).
"""

from __future__ import annotations

from dataclasses import dataclass

from scholarlake.knowledge.organization.material import facts_of
from scholarlake.knowledge.organization.preparing import prepared
from scholarlake.knowledge.organization.proposed import proposed
from scholarlake.knowledge.organization.taxonomy import Taxonomy, frame_of
from scholarlake.lake import delta
from scholarlake.lake.home import Lake
from scholarlake.models.chat_model import ChatModel


@dataclass(frozen=True)
class TaxonomyReport:
    """What a collection is organized by, and why not otherwise."""

    taxonomy: Taxonomy
    written: delta.Written
    notes: tuple[str, ...] = ()


def build_taxonomy(
    lake: Lake, collection: str, supplied: Taxonomy | None, run: delta.Commit, organizer: ChatModel | None = None
) -> TaxonomyReport:
    """Write the taxonomy of a collection. supplied: by its file; None to prepare one, by the organizer where there is one."""
    taxonomy, notes = supplied, []
    if taxonomy is None:
        facts = facts_of(lake, collection, attended=False)
        if organizer is not None and facts:
            taxonomy, fault = proposed(facts, organizer)
            notes += [fault] if fault else []
        if taxonomy is None:
            taxonomy = prepared(facts)
    if not taxonomy.dimensions:
        notes.append("no name and no kind of outcome is common to enough papers: nothing is sorted")
    written = delta.write_partition(lake, "taxonomies", collection, frame_of(taxonomy, collection, run.code_version), run)
    return TaxonomyReport(taxonomy, written, tuple(notes))

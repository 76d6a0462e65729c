"""L2: what a collection's facts are organized by, and what they come to, collection by collection."""

from __future__ import annotations

from assets.facts import reader_of
from assets.stage import Made, Step, makes, report_observed
from scholarlake import pictures
from scholarlake.errors import LakeError
from scholarlake.knowledge.organization import taxonomy_file
from scholarlake.knowledge.organization.adjudication import Adjudicator
from scholarlake.knowledge.organization.assignments import Models, build_assignments
from scholarlake.knowledge.organization.attending import build_attended
from scholarlake.knowledge.organization.catalog import build_catalog
from scholarlake.knowledge.organization.entities import build_entities
from scholarlake.knowledge.organization.merging import Rulings
from scholarlake.knowledge.organization.relations import build_relations
from scholarlake.knowledge.organization.taxonomies import build_taxonomy
from scholarlake.lake import receipts
from scholarlake.lake.delta import combined
from scholarlake.lake.retirement import retire
from scholarlake.lake.stages import COLLECTION


@makes("fact_catalog")
def fact_catalog(step: Step) -> Made:
    """Ends by reporting `collection_facts` where they changed, and by emptying what was made of collections that are gone."""
    report = build_catalog(step.lake, step.commit)
    retired = retire(step.lake, COLLECTION, report.contents, step.commit)
    for name, version in report.contents.items():
        metadata = {"facts": report.facts[name]}
        report_observed(step.instance, step.lake, "collection_facts", name, version, run_id=step.commit.run_id, metadata=metadata)
    for receipt in list(receipts.read_all(step.lake, "collection_facts")):
        if receipt.partition not in report.contents:
            receipts.forget(step.lake, "collection_facts", receipt.partition)
    return Made(
        data_version=report.written.content_version,
        rows=report.written.rows,
        tables={"fact_catalog": report.written.version},
        facts={"facts_by_collection": report.facts, "retired": retired},
    )


@makes("taxonomies")
def taxonomies(step: Step) -> Made:
    """A file's taxonomy is taken as it is. One that is prepared holds what names of several papers have in common, kind by kind."""
    supplied = supplied_for(step)
    report = build_taxonomy(step.lake, step.key, supplied.taxonomy if supplied else None, step.commit, step.models.chat("organizer"))
    found = report.taxonomy
    return Made(
        data_version=report.written.content_version,
        rows=report.written.rows,
        tables={"taxonomies": report.written.version},
        facts={
            "version": found.version,
            "origin": found.origin,
            "method": found.method,
            "categories_by_dimension": {one.name: len(one.categories) for one in found.dimensions},
            "notes": list(report.notes),
        },
        pictures={"tree": lambda: pictures.taxonomy_tree(found)} if report.written.rows else {},
    )


@makes("attended_facts")
def attended_facts(step: Step) -> Made:
    """Only papers none of whose facts has a wording of a category: sentences that the limit had left out, or what a model finds once it is
    told what to attend to."""
    report = build_attended(step.lake, step.key, lambda taxonomy: reader_of(step, taxonomy), step.commit, step.progress)
    return Made(
        data_version=report.written.content_version,
        rows=report.written.rows,
        tables={"attended_facts": report.written.version},
        facts={
            "papers": report.papers,
            "papers_read_again": report.listed,
            "papers_that_gave_facts": report.answered,
            "papers_not_read_whole": report.unread,
        },
    )


@makes("entities")
def entities(step: Step) -> Made:
    """Names that rules find to be one are one entity; rulings of the taxonomy's file win; the doubtful is left apart, unless votes of the
    adjudicator agree. Every mention is kept."""
    supplied, model = supplied_for(step), step.models.chat("adjudicator")
    adjudicator = Adjudicator(model, step.profile.knowledge.votes) if model is not None else None
    report = build_entities(step.lake, step.key, supplied.rulings if supplied else Rulings(), step.commit, adjudicator)
    return Made(
        data_version=combined({name: one.content_version for name, one in report.written.items()}),
        rows=report.rows,
        tables={name: one.version for name, one in report.written.items()},
        facts={
            "entities_by_type": report.by_type,
            "decisions": report.by_rule,
            "mentions": report.mentions,
            "entities_of_several_papers": report.shared,
            "doubtful_pairs": report.doubtful,
            "rulings_of_nothing_here": report.unknown_rulings,
            "papers_by_entity": report.commonest,
        },
        pictures={"types": lambda: pictures.entities_by_type(report.by_type)} if report.rows else {},
    )


@makes("assignments")
def assignments(step: Step) -> Made:
    """By names, by what authors say, by what facts state; an organizer proposes more, and a verifier's votes judge all of it. Grounds under
    different conditions make assignments of their own; what fits nowhere is listed and may suggest a category."""
    models = Models(step.models.chat("organizer"), step.models.chat("verifier"), step.profile.knowledge.votes)
    report = build_assignments(step.lake, step.key, step.commit, models)
    return Made(
        data_version=combined({name: one.content_version for name, one in report.written.items()}),
        rows=report.rows,
        tables={name: one.version for name, one in report.written.items()},
        facts={
            "assignments_by_dimension": report.by_dimension,
            "assignments_by_certainty": report.by_certainty,
            "unclassified_by_reason": report.by_reason,
            "share_classified": report.classified,
            "proposals": report.written["taxonomy_proposals"].rows,
        },
        pictures={"categories": lambda: pictures.facts_by_category(report.by_category)} if report.rows else {},
    )


@makes("relations")
def relations(step: Step) -> Made:
    """By the wording of facts that name two things together, with their numbers as written; an organizer proposes more. Findings of two
    papers that go opposite ways under comparable conditions contradict each other, uncertainly."""
    report = build_relations(step.lake, step.key, step.commit, step.models.chat("organizer"))
    return Made(
        data_version=report.written.content_version,
        rows=report.written.rows,
        tables={"relations": report.written.version},
        facts={
            "relations": report.by_relation,
            "relations_by_certainty": report.by_certainty,
            "relations_with_numbers": report.with_numbers,
        },
        pictures={"graph": lambda: pictures.collection_graph(report.edges)} if report.edges else {},
    )


def supplied_for(step: Step) -> taxonomy_file.Supplied | None:
    """What the taxonomy file of a step's collection says, as it was last observed. Raises LakeError where it is another by now."""
    files = {path.stem: path for path in step.resource.collection_files()}
    observed = receipts.read(step.lake, "taxonomy_file", step.key)
    said = taxonomy_file.supplied_for(files[step.key], step.resource.taxonomy_folder()) if step.key in files else None
    if observed is None or observed.data_version != (said.version if said else taxonomy_file.NONE):
        raise LakeError(f"the taxonomy file of collection {step.key} is not what it was when it was looked at; run `scholarlake build`")
    return said

"""L2: what a collection's facts are organized by, and what they come to, collection by collection."""

from __future__ import annotations

from assets.stage import Made, Step, makes, report_observed
from scholarlake import pictures
from scholarlake.errors import LakeError
from scholarlake.knowledge.organization import taxonomy_file
from scholarlake.knowledge.organization.catalog import build_catalog
from scholarlake.knowledge.organization.taxonomies import build_taxonomy
from scholarlake.lake import receipts
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


def supplied_for(step: Step) -> taxonomy_file.Supplied | None:
    """What the taxonomy file of a step's collection says, as it was last observed. Raises LakeError where it is another by now."""
    files = {path.stem: path for path in step.resource.collection_files()}
    observed = receipts.read(step.lake, "taxonomy_file", step.key)
    said = taxonomy_file.supplied_for(files[step.key], step.resource.taxonomy_folder()) if step.key in files else None
    if observed is None or observed.data_version != (said.version if said else taxonomy_file.NONE):
        raise LakeError(f"the taxonomy file of collection {step.key} is not what it was when it was looked at; run `scholarlake build`")
    return said

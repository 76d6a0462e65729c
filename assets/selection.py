"""Collections: the files that define them, and the papers that they choose."""

from __future__ import annotations

import dagster as dg

from assets.partitions import COLLECTIONS
from assets.stage import Made, Step, makes, report_observed
from resources.lake import LakeResource
from scholarlake import pictures
from scholarlake.corpus.selection.build import build_collections
from scholarlake.corpus.selection.definition import Collection, load, versions
from scholarlake.dense.projection import project_chosen
from scholarlake.errors import LakeError
from scholarlake.knowledge.organization import taxonomy_file
from scholarlake.lake import receipts
from scholarlake.lake.hashing import file_checksum
from scholarlake.lake.home import Lake
from scholarlake.lake.stages import COLLECTION


def observe_collections(instance: dg.DagsterInstance, resource: LakeResource) -> int:
    """Look at every file of the folder, and at the taxonomy that belongs to each; report what is new or changed, and take away the keys of
    collections that are gone. Returns how many there are.

    Raises CollectionError or TaxonomyError, before anything is reported, where one of them says what can't be.
    """
    lake = resource.open()
    present = versions(resource.collection_files())
    taxonomies = taxonomy_file.versions(resource.collection_files(), resource.taxonomy_folder())
    instance.add_dynamic_partitions(COLLECTION, sorted(present))
    for name, version in present.items():
        report_observed(instance, lake, "collection_file", name, version, run_id="", metadata={})
        report_observed(instance, lake, "taxonomy_file", name, taxonomies[name], run_id="", metadata={})
    for name in instance.get_dynamic_partitions(COLLECTION):
        if name not in present:
            instance.delete_dynamic_partition(COLLECTIONS.name or COLLECTION, name)
    for observed in ("collection_file", "taxonomy_file"):
        for receipt in list(receipts.read_all(lake, observed)):
            if receipt.partition not in present:
                receipts.forget(lake, observed, receipt.partition)
    return len(present)


@makes("collections")
def collections(step: Step) -> Made:
    """By conditions, as representatives of the corpus, or by quotas of topics. Only a collection whose definition, code or tables
    changed is chosen anew. Ends by reporting `selected_papers` and `collection_members` where they changed."""
    report = build_collections(step.lake, _definitions(step), step.models.embedder, step.commit, step.progress)
    for shard, version in report.by_shard.items():
        report_observed(step.instance, step.lake, "selected_papers", shard, version, run_id=step.commit.run_id, metadata={})
    for name, version in report.members.items():
        report_observed(step.instance, step.lake, "collection_members", name, version, run_id=step.commit.run_id, metadata={})
    for receipt in list(receipts.read_all(step.lake, "collection_members")):
        if receipt.partition not in report.members:
            receipts.forget(step.lake, "collection_members", receipt.partition)
    return Made(
        data_version=report.content_version,
        rows=report.rows,
        tables={"collections": report.version, "collection_catalog": report.catalog_version},
        facts={
            "papers_by_collection": {name: row["chosen"] for name, row in report.collections.items()},
            "shortfalls": {name: row["shortfall"] for name, row in report.collections.items() if row["shortfall"]},
            "unknown_ids": {name: row["unknown_ids"] for name, row in report.collections.items() if row["unknown_ids"]},
            "withdrawn_ids": {name: row["withdrawn_ids"] for name, row in report.collections.items() if row["withdrawn_ids"]},
            "chosen_anew": list(report.chosen_anew),
            "retired": list(report.retired),
            "inserted": report.inserted,
            "updated": report.updated,
            "deleted": report.deleted,
        },
        pictures={"map": lambda: _map(step.lake), "papers_by_year": lambda: _years(step.lake)} if report.rows else {},
    )


def _definitions(step: Step) -> dict[str, Collection]:
    """The collections as they were last observed. Raises LakeError where a file is another by now."""
    files = {path.stem: path for path in step.resource.collection_files()}
    found = {}
    for receipt in receipts.read_all(step.lake, "collection_file"):
        name = str(receipt.partition)
        if name not in files or file_checksum(files[name]) != receipt.data_version:
            raise LakeError(f"the file of collection {name} is not what it was when it was looked at; run `scholarlake build`")
        found[name] = load(files[name]).settled(step.profile.selection)
    return found


def _map(lake: Lake) -> bytes:
    chosen = lake.scan("collections").sort("collection").unique("paper_id", keep="first", maintain_order=True)
    plane = project_chosen(lake, chosen.select("paper_id", label="collection").collect())
    return pictures.embedding_map(plane.points, plane.labels, total=plane.total, coloured_by="collection")


def _years(lake: Lake) -> bytes:
    chosen = lake.scan("collections").select("paper_id").unique()
    years = lake.scan("papers").join(chosen, on="paper_id", how="semi").select("year").collect()["year"]
    return pictures.papers_by_year(years.drop_nulls().to_numpy(), unknown=years.null_count())

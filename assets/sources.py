"""The sources: what the dump folder holds, and every line of it as a record or a reject."""

from __future__ import annotations

from dataclasses import dataclass

import dagster as dg

from assets.partitions import DUMP_PARTS
from assets.stage import Made, Step, makes, report_observed
from resources.lake import LakeResource
from scholarlake import pictures
from scholarlake.lake import delta, receipts
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.lake.stages import PART
from scholarlake.sources.dumps import Part, inspect_part, list_parts, manifest_frame, part_file
from scholarlake.sources.ingest import ingest_part


@dataclass(frozen=True)
class Seen:
    """What a look at the dump folder found."""

    parts: int
    changed: int
    removed: int


def observe_dump(instance: dg.DagsterInstance, resource: LakeResource) -> Seen:
    """Look at every part's bytes; report those that are new or changed, and take away the keys of those that are gone.

    Raises SourceError, before anything is reported, where the folder or a part of it can't be read.
    """
    lake = resource.open()
    parts = [inspect_part(file) for file in list_parts(resource.dump_folder())]
    known = {str(receipt.partition): receipt.data_version for receipt in receipts.read_all(lake, "oag_dump") if receipt.is_done}
    present = {part.key for part in parts}
    instance.add_dynamic_partitions(PART, sorted(present))
    for part in parts:
        facts = {"bytes": part.file.bytes, "reader": part.reader, "compression": part.compression, "edition": part.edition}
        report_observed(instance, lake, "oag_dump", part.key, part.checksum, run_id="", metadata=facts)
    for key in instance.get_dynamic_partitions(PART):
        if key not in present:
            instance.delete_dynamic_partition(DUMP_PARTS.name or PART, key)
    gone = set(known) - present
    for key in gone:
        receipts.forget(lake, "oag_dump", key)
    return Seen(len(parts), sum(known.get(part.key) != part.checksum for part in parts), len(gone))


@makes("dump_manifest")
def dump_manifest(step: Step) -> Made:
    """Empties `records` and `rejects` of the parts that are gone."""
    found = [_observed(step, str(receipt.partition)) for receipt in receipts.read_all(step.lake, "oag_dump")]
    retired = _retire(step.lake, {part.key for part in found}, step.commit)
    written = delta.write_partition(step.lake, "dump_manifest", None, manifest_frame(found), step.commit)
    return Made(
        data_version=written.content_version,
        rows=written.rows,
        tables={"dump_manifest": written.version},
        facts={"bytes_of_dump": sum(part.file.bytes for part in found), "parts_retired": retired},
    )


@makes("records")
def records(step: Step) -> Made:
    """Lines = records + rejects, byte ranges included; nothing is committed where a part is cut off or changes while it is read."""
    part = _observed(step, step.key)
    read = ingest_part(step.lake, part, step.profile.reading, step.commit, step.progress)
    return Made(
        data_version=digest([read.records_written.content_version, read.rejects_written.content_version]),
        rows=read.records,
        tables={"records": read.records_written.version, "rejects": read.rejects_written.version},
        bytes=read.bytes,
        facts={
            "lines": read.lines,
            "rejects": read.rejects,
            "uncompressed_bytes": read.uncompressed_bytes,
            "rejects_by_reason": read.reasons,
            "records_by_flag": read.flags,
        },
        pictures={"rejects": lambda: pictures.rejects_by_reason(read.reasons, lines=read.lines)} if read.reasons else {},
    )


def _observed(step: Step, key: str) -> Part:
    """A part as it was last observed. Reading it proves that it still is."""
    receipt = receipts.read(step.lake, "oag_dump", key)
    if receipt is None:
        raise dg.Failure(description=f"part {key} was never observed; look at the dump folder first", allow_retries=False)
    facts = receipt.facts
    return Part(part_file(step.resource.dump_folder(), key), receipt.data_version, facts["reader"], facts["compression"])


def _retire(lake: Lake, present: set[str], run: delta.Commit) -> int:
    """Empty the partitions of parts that left the dump, and forget that they were read."""
    gone = (set(delta.partitions(lake, "records")) | set(delta.partitions(lake, "rejects"))) - present
    for key in sorted(gone):
        for table in ("records", "rejects"):
            delta.commit_staged(lake, table, key, [], run)
        receipts.forget(lake, "records", key)
    return len(gone)

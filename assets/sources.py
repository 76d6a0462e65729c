"""The sources: what the dump folder holds, and every line of it as a record or a reject."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import dagster as dg

from assets.partitions import DUMP_PARTS
from assets.stage import Made, Step, makes, report_observed
from resources.lake import LakeResource
from scholarlake import pictures
from scholarlake.errors import SourceError
from scholarlake.lake import delta, receipts
from scholarlake.lake.hashing import digest
from scholarlake.lake.home import Lake
from scholarlake.lake.stages import PART
from scholarlake.sources.dumps import Known, Part, list_files, manifest_frame, part_file
from scholarlake.sources.ingest import Ingested, ingest_part
from scholarlake.sources.rejected import reasons_of
from scholarlake.sources.watch import AT_ONCE, Attention, Look, look
from scholarlake.typeset import markdown_table


@dataclass(frozen=True)
class Seen:
    """What came of a look at the dump folder. absent: parts that are not there, whether or not they were taken for gone."""

    parts: int
    changed: int
    removed: int
    look: Look
    absent: frozenset[str]

    def __str__(self) -> str:
        said = [f"{self.parts} parts in the dump, {self.changed} new or changed, {self.removed} gone"]
        said += [f"{len(self.look.unsettled)} still being written"] if self.look.unsettled else []
        said += [f"{len(self.look.postponed)} not come to yet"] if self.look.postponed else []
        return "; ".join([*said, *self.look.faults])


def observe_dump(instance: dg.DagsterInstance, resource: LakeResource, attention: Attention = AT_ONCE) -> Seen:
    """Look at the parts of the dump; report those that are new or changed, and take away the keys of those that are gone.

    Raises SourceError, before anything is reported, where the folder or a part of it can't be read.
    """
    lake = resource.open()
    found = look(list_files(resource.dump_folder()), known_parts(lake), attention)
    if found.faults:
        raise SourceError("; ".join(found.faults))
    return report(instance, lake, found)


def glance_at_dump(instance: dg.DagsterInstance, resource: LakeResource, attention: Attention, absent_before: Collection[str]) -> Seen:
    """The same, time and again: a part that can't be read is left as it was known, and one that is not there is taken for gone
    only if the glance before missed it too, because it may be about to be replaced."""
    lake = resource.open()
    found = look(list_files(resource.dump_folder()), known_parts(lake), attention)
    return report(instance, lake, found, absent_before)


def report(instance: dg.DagsterInstance, lake: Lake, found: Look, absent_before: Collection[str] | None = None) -> Seen:
    """Tell Dagster and the lake what a look found."""
    known = known_parts(lake)
    absent = frozenset(set(known) - found.keys)
    gone = absent if absent_before is None else absent & set(absent_before)
    instance.add_dynamic_partitions(PART, sorted(found.parts))
    for key, part in sorted(found.parts.items()):
        facts = {"bytes": part.bytes, "reader": part.reader, "compression": part.compression, "edition": part.edition}
        silent = {"signature": part.signature, "checksum": part.checksum}
        report_observed(instance, lake, "oag_dump", key, part.version, run_id="", metadata=facts, silent=silent)
    for key in instance.get_dynamic_partitions(PART):
        if key in gone or key not in found.keys | absent:
            instance.delete_dynamic_partition(DUMP_PARTS.name or PART, key)
    for key in gone:
        receipts.forget(lake, "oag_dump", key)
    changed = sum(key not in known or known[key].version != part.version for key, part in found.parts.items())
    return Seen(len(found.parts), changed, len(gone), found, absent)


def known_parts(lake: Lake) -> dict[str, Known]:
    """The parts as they were last observed."""
    return {str(receipt.partition): _known(receipt) for receipt in receipts.read_all(lake, "oag_dump") if receipt.is_done}


def _known(receipt: receipts.Receipt) -> Known:
    key, version, facts = str(receipt.partition), receipt.data_version, receipt.facts
    said = {name: facts[name] for name in ("edition", "bytes", "reader", "compression")}
    return Known(key, version=version, signature=facts.get("signature", ""), checksum=facts.get("checksum", version), **said)


@makes("dump_manifest")
def dump_manifest(step: Step) -> Made:
    """Empties `records` and `rejects` of the parts that are gone."""
    found = known_parts(step.lake)
    retired = _retire(step.lake, set(found), step.commit)
    written = delta.write_partition(step.lake, "dump_manifest", None, manifest_frame(found.values()), step.commit)
    return Made(
        data_version=written.content_version,
        rows=written.rows,
        tables={"dump_manifest": written.version},
        facts={"bytes_of_dump": sum(part.bytes for part in found.values()), "parts_retired": retired},
    )


@makes("records")
def records(step: Step) -> Made:
    """Lines = records + rejects, byte ranges included; nothing is committed where a part is cut off or changes while it is read."""
    part = _observed(step, step.key)
    read = ingest_part(step.lake, part, step.profile.reading, step.commit, step.progress)
    _remember(step.lake, part, read.checksum)
    return Made(
        data_version=digest([read.records_written.content_version, read.rejects_written.content_version]),
        rows=read.records,
        tables={"records": read.records_written.version, "rejects": read.rejects_written.version},
        bytes=read.bytes,
        facts={
            "lines": read.lines,
            "rejects": read.rejects,
            "uncompressed_bytes": read.uncompressed_bytes,
            "between_bytes": read.between_bytes,
            "passed_over": read.passed_over,
            "rejects_by_reason": read.reasons,
            "records_by_flag": read.flags,
        },
        texts=_reasons(step, read) if read.reasons else {},
        pictures={"rejects": lambda: pictures.rejects_by_reason(read.reasons, lines=read.lines)} if read.reasons else {},
    )


def _reasons(step: Step, read: Ingested) -> dict[str, str]:
    """The reasons as a table to read, in place of the bare counts."""
    return {"rejects_by_reason": markdown_table(reasons_of(step.lake.scan("rejects"), read.part, read.lines))}


def _observed(step: Step, key: str) -> Part:
    """A part as it was last observed. Reading it proves that it still is."""
    receipt = receipts.read(step.lake, "oag_dump", key)
    if receipt is None:
        raise dg.Failure(description=f"part {key} was never observed; look at the dump folder first", allow_retries=False)
    known = _known(receipt)
    part = Part(part_file(step.resource.dump_folder(), key), known.checksum, known.reader, known.compression)
    if part.version != known.version:
        raise SourceError(f"{key} changed since it was listed; list the dump again")
    return part


def _remember(lake: Lake, part: Part, checksum: str | None) -> None:
    """Keep the checksum of an object in a bucket beside the ETag under which it was read."""
    receipt = receipts.read(lake, "oag_dump", part.key)
    if part.checksum is None and receipt is not None and receipt.is_done and receipt.data_version == part.version:
        receipts.finish(lake, receipt, data_version=receipt.data_version, facts={**receipt.facts, "checksum": checksum})


def _retire(lake: Lake, present: set[str], run: delta.Commit) -> int:
    """Empty the partitions of parts that left the dump, and forget that they were read."""
    gone = (set(delta.partitions(lake, "records")) | set(delta.partitions(lake, "rejects"))) - present
    for key in sorted(gone):
        for table in ("records", "rejects"):
            delta.commit_staged(lake, table, key, [], run)
        receipts.forget(lake, "records", key)
    return len(gone)

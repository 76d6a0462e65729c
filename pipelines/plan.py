"""What a refresh would do, told before anything runs: which partitions are stale and why, and what making them will take.

Nothing is written and nothing is sent. What waits for something stale is listed too: whether it must be made is known only
once that is made, so its cost is the most it can come to. What does not belong here: how a stage's cost is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from assets.sources import known_parts
from pipelines.project import Places
from pipelines.refresh import needed_for
from resources.lake import LakeResource
from scholarlake.corpus.selection.definition import versions
from scholarlake.dense.pending import pending as pending_texts
from scholarlake.documents import folder
from scholarlake.knowledge.organization import taxonomy_file
from scholarlake.lake.estimate import Estimate
from scholarlake.lake.home import Lake
from scholarlake.lake.judgement import Judgement, Present, Staleness
from scholarlake.lake.stages import STAGES
from scholarlake.sources.dumps import list_files
from scholarlake.sources.pending import pending_rows
from scholarlake.sources.watch import AT_ONCE, Look, look

_USUAL_TOKENS = 250  # of a title, a venue, a year and an abstract


@dataclass(frozen=True)
class Planned:
    """A partition that is stale, or waits for one that is. estimate: None where nothing is known of it."""

    asset: str
    partition: str | None
    state: str
    reason: str
    estimate: Estimate | None


@dataclass(frozen=True)
class Plan:
    """All that a refresh would look at. parts: those of the dump that came, changed or went. total: of all estimates."""

    parts: Mapping[str, list[str]]
    planned: list[Planned]
    total: Estimate

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def plan(places: Places, to: str = "release_diff") -> Plan:
    """The plan of a refresh up to an asset. Raises ScholarLakeError where the dump, the profile or a collection's file can't be used."""
    resource = places.resource()
    settings = resource.settings()
    wanted = needed_for(to)
    is_made = (places.lake / "lake.json").is_file()
    profile = settings.profile
    lake = Lake.open(places.lake) if is_made else Lake(places.lake, profile.shards, profile.training.train_batches)
    known = known_parts(lake)
    found = look(list_files(resource.dump_folder()), known, AT_ONCE)
    changed = {
        "new": sorted(set(found.parts) - set(known)),
        "changed": sorted(key for key, seen in found.parts.items() if key in known and known[key].version != seen.version),
        "gone": sorted(set(known) - found.keys),
        "unreadable": found.faults,
    }
    seen: dict[str, dict[str | None, str]] = {
        "oag_dump": {key: one.version for key, one in found.parts.items()},
        "document_folder": {None: folder.look(lake, resource.document_folder()).version},
        "collection_file": dict[str | None, str](versions(resource.collection_files()).items()),
        "taxonomy_file": dict[str | None, str](taxonomy_file.versions(resource.collection_files(), resource.taxonomy_folder()).items()),
    }
    judgement = Judgement(Present(lake, seen), settings)
    planned = list(_planned(judgement, resource, found, wanted))
    total = sum((one.estimate for one in planned if one.estimate), Estimate(exact=True))
    return Plan(changed, planned, total)


def _planned(judgement: Judgement, resource: LakeResource, found: Look, wanted: list[str]) -> Iterator[Planned]:
    read = Estimate()
    for name in wanted:
        for item in judgement.stale(name):
            estimate = _estimate(judgement.present.lake, resource, found, item)
            if name == "records" and estimate is not None:
                read += estimate
            yield Planned(name, item.partition, "stale", item.reason, estimate)
        waiting = list(judgement.waiting(name)) if not STAGES[name].observed else []
        if waiting:
            most = Estimate(texts=read.rows, tokens=read.rows * _USUAL_TOKENS) if name == "embeddings" else None
            yield Planned(name, None if len(waiting) > 1 else waiting[0].partition, "waits", waiting[0].reason, most)


def _estimate(lake: Lake, resource: LakeResource, found: Look, item: Staleness) -> Estimate | None:
    if item.asset == "records" and item.partition is not None:
        part = found.parts[item.partition]
        return pending_rows(lake, part.bytes, part.compression)
    if item.asset == "embeddings" and item.partition is not None:
        facts = resource.embedder_facts()
        return pending_texts(lake, item.partition, str(facts["fingerprint"]), int(facts["endpoint"]["dimension"]), resource.profile().dense)
    return None

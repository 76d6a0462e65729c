"""The partitions that assets share."""

from __future__ import annotations

import dagster as dg

from scholarlake.lake.home import batch_keys
from scholarlake.lake.stages import BATCH, COLLECTION, PART, SHARD
from scholarlake.profile import Profile

DUMP_PARTS = dg.DynamicPartitionsDefinition(name=PART)
COLLECTIONS = dg.DynamicPartitionsDefinition(name=COLLECTION)


def shards(count: int) -> dg.StaticPartitionsDefinition:
    """The shards of a lake: two digits each, so that their order is their number's."""
    return dg.StaticPartitionsDefinition([f"{shard:02d}" for shard in range(count)])


def partitions_of(kind: str | None, profile: Profile) -> dg.PartitionsDefinition[str] | None:
    """The partitions definition for a stage's kind of partitions."""
    if kind == PART:
        return DUMP_PARTS
    if kind == COLLECTION:
        return COLLECTIONS
    if kind == BATCH:
        return dg.StaticPartitionsDefinition(batch_keys(profile.training.train_batches))
    return shards(profile.shards) if kind == SHARD else None

"""Emptying what was made of partitions that are no more: their tables' rows go, and what was known of them.

What does not belong here: which partitions there are.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from scholarlake.lake import contracts, delta, receipts
from scholarlake.lake.home import Lake
from scholarlake.lake.stages import STAGES


def retire(lake: Lake, kind: str, present: Collection[str], run: delta.Commit) -> list[str]:
    """Empty every stage of a kind of partitions of those that are not present; returns which went."""
    gone: set[str] = set()
    for stage in STAGES.values():
        if stage.partitions != kind or stage.observed:
            continue
        for table in stage.tables:
            for key in set(delta.partitions(lake, table)) - set(present):
                delta.write_partition(lake, table, key, pl.DataFrame(schema=contracts.table(table).schema), run)
                gone.add(key)
        for receipt in list(receipts.read_all(lake, stage.name)):
            if receipt.partition is not None and receipt.partition not in present:
                receipts.forget(lake, stage.name, receipt.partition)
                gone.add(receipt.partition)
    return sorted(gone)

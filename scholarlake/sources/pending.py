"""What reading a part would come to, by its size and by what the parts before it came to."""

from __future__ import annotations

from scholarlake.lake import receipts
from scholarlake.lake.estimate import Estimate
from scholarlake.lake.home import Lake

USUAL_BYTES = 1_400  # of a paper with an abstract in OAG v3
_USUAL_RATIO = 4  # uncompressed to compressed bytes of JSON


def pending_rows(lake: Lake, size: int, compression: str) -> Estimate:
    """Lines in a part of that many bytes: a guess by the bytes a line had so far."""
    lines = total = 0
    for receipt in receipts.read_all(lake, "records"):
        lines += int(receipt.facts.get("lines", 0))
        total += int(receipt.facts.get("uncompressed_bytes", 0))
    each = total / lines if lines else USUAL_BYTES
    return Estimate(rows=round(size * (_USUAL_RATIO if compression else 1) / each))

"""A block of a part to its records and rejects: every unit one of the two, and every byte in one of them or between two.

What does not belong here: where blocks come from (`framing`, `streams`) and what reads a unit (`readers`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import polars as pl

from scholarlake.sources import columns
from scholarlake.sources.cuts import Cut
from scholarlake.sources.framing import Framing
from scholarlake.sources.lines import Block
from scholarlake.sources.readers import Reader
from scholarlake.sources.units import Origin, Reject, excerpt, too_long

#: Every reason that `rejects` may hold.
REASONS = (
    "array_not_closed",
    "blank",
    "invalid_gbk",
    "invalid_utf8",
    "lone_surrogate",
    "no_id",
    "no_tag",
    "not_a_paper",
    "not_an_object",
    "not_json",
    "not_one_record",
    "nul_byte",
    "too_deep",
    "too_long",
    "truncated",
    "wrong_columns",
)


@dataclass(frozen=True)
class Parsed:
    """What a block came to. lines: its units, and the end that is missing where an array breaks off. covered: bytes of the units that
    became rows, and of what lies between them; between: the latter alone."""

    records: pl.DataFrame
    rejects: pl.DataFrame
    lines: int
    covered: int
    between: int
    reasons: Counter[str]
    flags: Counter[str]


def parse_block(block: Block, origin: Origin, reader: Reader) -> Parsed:
    """Parse and normalise every unit of a block. Nothing is raised for a bad one: it becomes a reject."""
    frames: list[pl.DataFrame] = []
    rejected: list[Reject] = []
    count = 0
    for units in reader.framing.units(block):
        count += len(units)
        frames += reader.read(units, origin, rejected)
    if block.giant:
        giant = block.giant
        rejected.append((giant.offset, giant.length, "too_long", too_long(origin.max_line_bytes), excerpt(giant.head[: giant.length])))
    breaks_off = isinstance(block, Cut) and block.breaks_off
    if breaks_off:  # a row of no bytes, where the rest should begin
        rejected.append((block.stop, 0, "array_not_closed", "the part ends between two records of an array: its end is missing", ""))
    same = {"dump_part": origin.dump_part, "method": reader.name, "code_version": origin.code_version}
    records = columns.records_of(frames, edition=origin.edition, **same)
    rejects = columns.rejects_frame(rejected, **same)
    spans = pl.concat([records.select("byte_offset", "byte_length"), rejects.select("byte_offset", "byte_length")]).sort("byte_offset")
    size = block.stop - block.offset
    return Parsed(
        records,
        rejects,
        lines=count + bool(block.giant) + breaks_off,
        covered=size if _tile(block, spans, reader.framing) else -1,
        between=size - int(spans["byte_length"].sum()),
        reasons=Counter(reject[2] for reject in rejected),
        flags=Counter(records["flags"].explode().drop_nulls().to_list()),
    )


def _tile(block: Block, spans: pl.DataFrame, framing: Framing) -> bool:
    """Whether rows cover the block, with nothing between them but what the framing has there.

    spans: offset and length of each row, by offset.
    """
    starts = spans["byte_offset"].to_numpy()
    begins = np.append(block.offset, starts + spans["byte_length"].to_numpy())
    gaps = np.append(starts, block.stop) - begins
    if gaps.min() < 0 or gaps.max() > framing.longest_between:
        return False
    if not block.offset and (lead := framing.lead.match(block.data)):
        begins[0] += min(lead.end(), gaps[0])
        gaps[0] -= min(lead.end(), gaps[0])
    within = np.repeat(begins - block.offset - np.cumsum(gaps) + gaps, gaps) + np.arange(gaps.sum())
    within = within[within < len(block.data)]  # the end of a giant is not held
    allowed = np.zeros(256, dtype=np.bool_)
    allowed[list(framing.between)] = True
    return bool(allowed[np.frombuffer(block.data, dtype=np.uint8)[within]].all())

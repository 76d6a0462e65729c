"""What must hold of the records and rejects of a part: nothing of the file is lost, and not too much of it is refused."""

from __future__ import annotations

import shlex

import polars as pl

from scholarlake.lake.findings import EXAMPLES, Finding, from_offenders, rows_of
from scholarlake.lake.home import Lake
from scholarlake.sources.readers import FORMATS, Reader

LINE_ENDS = (1, 2)  # bytes between two lines: LF, or CR and LF
HEADS = (0, 3)  # bytes before the first line: none, or a byte-order mark
TAILS = (0, 1, 2)  # bytes after the last line: none, or its line end
_BREAKS_OFF = ("truncated", "array_not_closed")


def nothing_lost(lake: Lake, part: str, lines: int | None) -> Finding:
    """Lines of the file = records + rejects. `lines` is what the reader counted in the file, None where it left no count."""
    records, rejects = (rows_of(_lines_of(lake, name, part)) for name in ("records", "rejects"))
    claim = f"all lines of {part} are records or rejects"
    facts = {"lines": lines, "records": records, "rejects": rejects}
    if lines is None:
        return Finding("nothing_lost", claim, 0, 1, ({"part": part, "fault": "the reader left no count of lines"},), facts)
    missing = abs(lines - records - rejects)
    examples = ({"part": part, **facts},) if missing else ()
    return Finding("nothing_lost", claim, lines, missing, examples, facts)


def every_byte_covered(lake: Lake, part: str, size_bytes: int | None, between_bytes: int | None = None) -> Finding:
    """Records and rejects, laid end to end, are the uncompressed file: no overlap, and no gap but what lies between two of them.

    size_bytes: length of the uncompressed file, as read; None where the reader left none. between_bytes: how many of them the reader
    found to lie between records, such as white space and commas; between lines, one line end at most is allowed.
    """
    claim = f"every byte of {part} belongs to one record, one reject or what lies between two"
    lines = (
        pl.concat([_lines_of(lake, "records", part), _lines_of(lake, "rejects", part)])
        .sort("byte_offset")
        .with_columns(previous_end=(pl.col("byte_offset") + pl.col("byte_length")).shift(1))
        .collect()
    )
    in_lines = not any(isinstance(known := FORMATS.get(name), Reader) and not known.framing.in_lines for name in lines["method"].unique())
    gap = pl.col("byte_offset") - pl.col("previous_end")
    allowed = pl.col("byte_offset").is_in(HEADS) if in_lines else pl.lit(True)
    allowed = pl.when(pl.col("previous_end").is_null()).then(allowed).otherwise(gap.is_in(LINE_ENDS) if in_lines else gap >= 0)
    broken = lines.filter(~allowed).select(
        fault=pl.when(gap < 0)
        .then(pl.lit("lines overlap"))
        .when(gap == 0)
        .then(pl.lit("no line end between lines"))
        .otherwise(pl.lit("bytes of no line")),
        from_byte=pl.min_horizontal(pl.col("previous_end").fill_null(0), "byte_offset"),
        to_byte=pl.max_horizontal(pl.col("previous_end").fill_null(0), "byte_offset"),
    )
    examples = list(broken.head(EXAMPLES).iter_rows(named=True))
    end = int(lines.select((pl.col("byte_offset") + pl.col("byte_length")).max()).item() or 0)
    failed = broken.height
    missing = None if size_bytes is None or between_bytes is None else size_bytes - between_bytes - int(lines["byte_length"].sum())
    at_end = size_bytes is not None and (size_bytes - end in TAILS or (lines.is_empty() and size_bytes in HEADS))
    if size_bytes is None:
        failed, examples = failed + 1, [{"fault": "the reader left no length of the file"}, *examples]
    elif missing:
        failed, examples = failed + 1, [*examples, {"fault": "bytes of no record, and not between two", "bytes": missing}]
    elif missing is None and not (in_lines and at_end):
        failed, examples = failed + 1, [{"fault": "the end of the file is not covered", "from_byte": end, "to_byte": size_bytes}, *examples]
    return Finding("every_byte_covered", claim, lines.height, failed, tuple(examples[:EXAMPLES]), {"bytes": size_bytes, "covered_to": end})


def holds_papers(part: str, passed_over: str | None) -> Finding:
    """The part holds papers. passed_over: what it holds instead, as the reader left it."""
    claim = f"{part} holds papers"
    if not passed_over:
        return Finding("holds_papers", claim, 1, 0)
    return Finding("holds_papers", f"{claim}; it holds {passed_over}, and was passed over", 1, 1, ({"part": part, "holds": passed_over},))


def rejects_within(lake: Lake, part: str, most: float) -> Finding:
    """The share of rejected lines is at most `most` (0 to 1). Blank lines are no loss and don't count.

    examples: the reasons, the most frequent first, and a fact that says how to see the lines, where it is more.
    """
    records = rows_of(_lines_of(lake, "records", part))
    rejects = lake.scan("rejects").filter((pl.col("dump_part") == part) & (pl.col("reason") != "blank"))
    reasons = rejects.group_by("reason").len("lines").sort("lines", "reason", descending=[True, False]).collect()
    rejected = int(reasons["lines"].sum())
    share = rejected / (records + rejected) if rejected else 0.0
    return Finding(
        name="reject_share",
        claim=f"at most {most:.2%} of the lines of {part} are rejected",
        counted=records + rejected,
        failed=rejected if share > most else 0,
        examples=tuple(reasons.head(EXAMPLES).iter_rows(named=True)) if share > most else (),
        facts={"rejected": rejected, "share": share, "most": most} | (_how_to_see(part) if share > most else {}),
    )


def does_not_break_off(lake: Lake, part: str) -> Finding:
    """The last line or record of the part is whole, and an array that it holds is closed: otherwise more of it is missing."""
    lines = pl.concat([_lines_of(lake, name, part) for name in ("records", "rejects")])
    last = int(lines.select(pl.col("byte_offset").max()).collect().item() or 0)
    at_end = (pl.col("dump_part") == part) & (pl.col("byte_offset") == last) & pl.col("reason").is_in(_BREAKS_OFF)
    found = lake.scan("rejects").filter(at_end).select("reason", "byte_offset", "detail", "excerpt").collect()
    claim = f"{part} does not break off"
    examples = tuple(found.iter_rows(named=True))
    return Finding("does_not_break_off", claim, 1, found.height, examples, _how_to_see(part) if found.height else {})


def _how_to_see(part: str) -> dict[str, int | float | str | None]:
    return {"to_see_them": f"scholarlake rejects --working --part {shlex.quote(part)}"}


def no_line_of_a_gone_part(lake: Lake) -> Finding:
    """Records and rejects hold nothing of a file that has left the dump."""
    held = pl.concat([lake.scan(name).select("dump_part").unique().with_columns(table=pl.lit(name)) for name in ("records", "rejects")])
    offenders = held.join(lake.scan("dump_manifest").select("dump_part"), on="dump_part", how="anti")
    return from_offenders("no_line_of_a_gone_part", "records and rejects are of the files that the dump has now", rows_of(held), offenders)


def _lines_of(lake: Lake, name: str, part: str) -> pl.LazyFrame:
    return lake.scan(name).filter(pl.col("dump_part") == part).select("byte_offset", "byte_length", "method")

"""What a table's contract lets one expect of its rows, and the test of it in Polars.

`suite_for` derives the expectations, once, for both engines: Great Expectations runs them (`checks/suites.py`) on what fits
in the hand, Polars (`evaluate`, here) on tables of more rows than that, edges above all. What does not belong here: claims
that need two tables; those are the invariants of a stage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl
from deltalake import DeltaTable

from scholarlake.lake.contracts import Column, Table, table
from scholarlake.lake.findings import EXAMPLES, Finding
from scholarlake.lake.home import Lake
from scholarlake.lake.table_files import open_version

Kind = Literal["columns", "type", "complete", "unique", "between", "one_of", "matches"]
Engine = Literal["great_expectations", "polars"]


@dataclass(frozen=True)
class Expectation:
    """One claim about a table's columns.

    columns    the table has exactly these columns
    type       the column is of this Polars type
    complete   no value is null. Asserted apart, because every other claim about values passes over nulls
    unique     no two rows agree in all these columns
    between    minimum ≤ value ≤ maximum; for a list, the number of nulls among its entries
    one_of     the value is one of these
    matches    the value matches the pattern from its start
    """

    kind: Kind
    columns: tuple[str, ...]
    dtype: pl.DataType | None = None
    minimum: float | None = None
    maximum: float | None = None
    values: tuple[str, ...] = ()
    pattern: str | None = None

    def __str__(self) -> str:
        named = ", ".join(self.columns)
        match self.kind:
            case "columns":
                return f"columns are exactly {named}"
            case "type":
                return f"{named} is {self.dtype}"
            case "complete":
                return f"{named} is never null"
            case "unique":
                return f"({named}) is unique"
            case "between":
                low = "" if self.minimum is None else f"{self.minimum:g} ≤ "
                high = "" if self.maximum is None else f" ≤ {self.maximum:g}"
                return f"{low}{named}{high}"
            case "one_of":
                return f"{named} is one of {', '.join(self.values)}"
            case "matches":
                return f"{named} matches {self.pattern}"


@dataclass(frozen=True)
class Failure:
    """An expectation that does not hold: how many rows break it (1 for a claim about the table), and a few values that do."""

    expectation: str
    failed: int
    examples: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class Verdict:
    """What a suite said about a table or one partition of it. looked_at: of its rows, those that were put to it, where others had passed
    before and are as they were."""

    table: str
    partition: str | None
    engine: Engine
    rows: int
    expectations: int
    failures: tuple[Failure, ...] = field(default=())
    looked_at: int | None = None

    @property
    def passed(self) -> bool:
        return not self.failures

    def finding(self) -> Finding:
        """The same as a finding, the failures being its examples."""
        return Finding(
            name=f"{self.table}_contract",
            claim=f"every row of {self.table} fits the contract of the table",
            counted=self.rows,
            failed=sum(failure.failed for failure in self.failures),
            examples=tuple(
                {
                    "expectation": failure.expectation,
                    "failed": failure.failed,
                    "examples": failure.error or ", ".join(failure.examples),
                }
                for failure in self.failures
            ),
            facts={
                "engine": self.engine,
                "expectations": self.expectations,
                "failed_expectations": len(self.failures),
                **({} if self.looked_at is None else {"rows_looked_at": self.looked_at}),
            },
        )


def suite_for(contract: Table) -> tuple[Expectation, ...]:
    """Everything that a contract says of its rows, in the order of its columns."""
    found = [Expectation("columns", tuple(contract.columns))]
    for name, column in contract.columns.items():
        found.append(Expectation("type", (name,), dtype=column.dtype))
        found.extend(_about_values(name, column))
    found.append(Expectation("unique", contract.key))
    return tuple(found)


def _about_values(name: str, column: Column) -> list[Expectation]:
    found: list[Expectation] = []
    if not column.nullable:
        found.append(Expectation("complete", (name,)))
    if isinstance(column.dtype, pl.List):
        # A list of nulls is what Polars makes of a late list in a column that it guessed from its head.
        found.append(Expectation("between", (name,), minimum=0, maximum=0))
    elif column.minimum is not None or column.maximum is not None:
        found.append(Expectation("between", (name,), minimum=column.minimum, maximum=column.maximum))
    if column.values is not None:
        found.append(Expectation("one_of", (name,), values=column.values))
    if column.pattern is not None:
        found.append(Expectation("matches", (name,), pattern=column.pattern))
    return found


def read(lake: Lake, name: str, partition: str | None = None) -> pl.LazyFrame:
    """A table as it lies on the disk, whatever its columns, or one partition of it; typed and empty where never written."""
    contract = table(name)
    path = lake.table_path(name)
    frame = pl.scan_delta(open_version(path, contract)) if DeltaTable.is_deltatable(str(path)) else pl.LazyFrame(schema=contract.schema)
    if partition is not None and contract.partition_by is not None:
        frame = frame.filter(pl.col(contract.partition_by) == partition)
    return frame


def projected(frame: pl.LazyFrame, schema: Mapping[str, pl.DataType], suite: Sequence[Expectation]) -> pl.LazyFrame:
    """The frame with only what the suite looks at: a column that no value is expected of is there by name alone, unread,
    and a list becomes the number of nulls among its entries."""
    looked_at = {name for claim in suite if claim.kind not in ("columns", "type") for name in claim.columns}
    return frame.select(
        pl.lit(None, pl.Boolean).alias(name)
        if name not in looked_at
        else (pl.col(name).list.len() - pl.col(name).list.drop_nulls().list.len()).cast(pl.Int64)
        if isinstance(dtype, pl.List)
        else pl.col(name)
        for name, dtype in schema.items()
    )


def table_failures(schema: Mapping[str, pl.DataType], suite: Sequence[Expectation]) -> list[Failure]:
    """The claims that need no row: the columns and their exact types."""
    found: list[Failure] = []
    for claim in suite:
        if claim.kind == "columns" and set(schema) != set(claim.columns):
            missing, more = sorted(set(claim.columns) - set(schema)), sorted(set(schema) - set(claim.columns))
            found.append(
                Failure(str(claim), 1, tuple([f"{name} is missing" for name in missing] + [f"{name} is not expected" for name in more]))
            )
        if claim.kind == "type" and schema.get(claim.columns[0]) != claim.dtype:
            found.append(Failure(str(claim), 1, (str(schema.get(claim.columns[0], "missing")),)))
    return found


def evaluate(frame: pl.LazyFrame, contract: Table, partition: str | None = None) -> Verdict:
    """Test a frame against its contract in Polars, streaming. A claim about a column that is missing or of a type that it
    can't be put to counts as failed."""
    suite = suite_for(contract)
    schema = frame.collect_schema()
    rows = projected(frame, schema, suite)
    failures = table_failures(schema, suite)
    mended = rows.collect_schema()
    tested = [claim for claim in suite if claim.kind not in ("columns", "type")]
    unfit = {claim: reason for claim in tested if (reason := _unfit(claim, mended)) is not None}
    failures += [Failure(str(claim), 1, error=reason) for claim, reason in unfit.items()]
    per_row = [claim for claim in tested if claim not in unfit and claim.kind != "unique"]
    counts = rows.select(pl.len().alias("rows"), *(_breaks(claim).sum().alias(str(place)) for place, claim in enumerate(per_row))).collect(
        engine="streaming"
    )
    for place, claim in enumerate(per_row):
        failed = int(counts[str(place)].item() or 0)
        if failed:
            shown = rows.filter(_breaks(claim)).select(claim.columns[0]).head(EXAMPLES).collect()
            failures.append(Failure(str(claim), failed, tuple(str(value) for value in shown.to_series())))
    for claim in tested:
        if claim.kind == "unique" and claim not in unfit:
            failures += _repeats(rows, claim)
    return Verdict(contract.name, partition, "polars", int(counts["rows"].item()), len(suite), tuple(failures))


def _unfit(claim: Expectation, schema: Mapping[str, pl.DataType]) -> str | None:
    """Why a claim can't be put to the columns there are."""
    missing = [name for name in claim.columns if name not in schema]
    if missing:
        return f"no column {', '.join(missing)}"
    dtype = schema[claim.columns[0]]
    if claim.kind == "between" and not dtype.is_numeric():
        return f"{claim.columns[0]} is {dtype}, which has no bounds"
    if claim.kind in ("one_of", "matches") and dtype != pl.String:
        return f"{claim.columns[0]} is {dtype}, not text"
    return None


def _breaks(claim: Expectation) -> pl.Expr:
    """True where a row breaks the claim; false for null, save where completeness is what is claimed."""
    value = pl.col(claim.columns[0])
    match claim.kind:
        case "complete":
            return value.is_null()
        case "between":
            low = pl.lit(False) if claim.minimum is None else value < claim.minimum
            high = pl.lit(False) if claim.maximum is None else value > claim.maximum
            broken = low | high
        case "one_of":
            broken = ~value.is_in(list(claim.values))
        case "matches":
            broken = ~value.str.contains(str(claim.pattern))
        case _:
            raise AssertionError(f"{claim.kind} is no claim about single values")
    return broken.fill_null(False)


def _repeats(rows: pl.LazyFrame, claim: Expectation) -> list[Failure]:
    repeated = rows.group_by(claim.columns).len("rows").filter(pl.col("rows") > 1).collect(engine="streaming")
    if not repeated.height:
        return []
    shown = repeated.head(EXAMPLES).select(claim.columns).iter_rows()
    return [Failure(str(claim), int(repeated["rows"].sum()), tuple(_joined(row) for row in shown))]


def _joined(row: Sequence[Any]) -> str:
    return ", ".join(str(value) for value in row)

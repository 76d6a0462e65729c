"""`docs/tables.md`, from the contracts. Print it with `python -m scholarlake.lake.tables_doc`.

What does not belong here: any word about a table or column; those stand in `contracts`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import polars as pl

from scholarlake.lake.contracts import TABLES, Column, Table
from scholarlake.lake.stages import STAGES

_SIMPLE = {
    pl.String: "text",
    pl.Int64: "long",
    pl.Int32: "int",
    pl.Boolean: "boolean",
    pl.Float32: "float",
    pl.Float64: "double",
    pl.Datetime: "timestamp",
}

_HEAD = """# Tables

*Generated from `scholarlake/lake/contracts/` by `python -m scholarlake.lake.tables_doc > docs/tables.md`.
Edit the contracts, not this page.*

Every table is a Delta table. Read them through a release, which pins their versions: `scholarlake.open("data/lake").table("papers")`;
`scholarlake releases` gives the path and version of each, with snippets for Polars, DuckDB and Spark. The working tables
below `tables/` may be half-way through a refresh.

A column is required unless it is marked as nullable. A list is never null where it is required: it is empty. In a
partitioned table the partition's value is a column like any other. Before anything builds on a table, a check has held
every row against what is said here.
"""


def render() -> str:
    """The whole page, as Markdown."""
    return "\n".join([_HEAD, *_contents(), "", *(line for table in TABLES.values() for line in _section(table))])


def type_name(dtype: pl.DataType) -> str:
    """A type as a reader of any engine would say it."""
    if isinstance(dtype, pl.List):
        return f"list of {type_name(_instance(dtype.inner))}"
    if isinstance(dtype, pl.Struct):
        return f"struct ({', '.join(f'{field.name}: {type_name(_instance(field.dtype))}' for field in dtype.fields)})"
    return _SIMPLE[dtype.base_type()]


def _instance(dtype: Any) -> pl.DataType:
    """Polars says a nested type as a class or as an instance of it."""
    found: pl.DataType = dtype() if isinstance(dtype, type) else dtype
    return found


def _contents() -> Iterator[str]:
    yield "| table | written by | one row is known by | partitioned by |"
    yield "|---|---|---|---|"
    for table in TABLES.values():
        key = ", ".join(f"`{name}`" for name in table.key)
        by = f"`{table.partition_by}`" if table.partition_by else "–"
        yield f"| [`{table.name}`](#{table.name}) | {_writer(table)} | {key} | {by} |"


def _writer(table: Table) -> str:
    return ", ".join(f"`{stage.name}`" for stage in STAGES.values() if table.name in stage.tables) or "–"


def _section(table: Table) -> Iterator[str]:
    yield f"## {table.name}"
    yield ""
    yield table.about
    yield ""
    yield f"- Key: {', '.join(f'`{name}`' for name in table.key)}."
    if table.partition_by:
        yield f"- Partitioned by `{table.partition_by}`."
    if table.provenance:
        named = ", ".join(f"`{name}`" for name in table.provenance)
        yield f"- How a row was made, no part of what it says: {named}. A difference there alone is no change."
    if table.compared is not None:
        yield f"- Whether a row changed is decided by {', '.join(f'`{name}`' for name in table.compared)}."
    yield f"- Change Data Feed: {'on' if table.feed else 'off'}."
    yield ""
    yield "| column | type | nullable | meaning | holds |"
    yield "|---|---|---|---|---|"
    for name, column in table.columns.items():
        said = type_name(column.dtype), "yes" if column.nullable else "", _cell(column.about), _cell(_limits(column))
        yield f"| `{name}` | {' | '.join(said)} |"
    yield ""


def _limits(column: Column) -> str:
    """What the values are held to, in words."""
    parts = []
    if column.minimum is not None and column.maximum is not None:
        parts.append(f"{column.minimum:g} to {column.maximum:g}")
    elif column.minimum is not None:
        parts.append(f"{column.minimum:g} or more")
    elif column.maximum is not None:
        parts.append(f"{column.maximum:g} or less")
    if column.values is not None:
        parts.append(", ".join(f"`{value}`" for value in column.values))
    if column.pattern is not None:
        parts.append(f"`{column.pattern}`")
    return "; ".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(render())

"""What a contract is made of: a table, its columns, and the types, patterns and columns that many tables share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

Text = pl.String()
Texts = pl.List(pl.String())
Key = pl.Int64()
ID = r"^[\s\S]"  # an id may be anything but empty
NAME = r"^[a-z0-9][a-z0-9_-]{0,63}$"
COLLECTION = r"^[a-z0-9][a-z0-9_-]{0,63}$"
HEX_128 = r"^[0-9a-f]{32}$"
DOI = r"^10\.[^A-Z]+$"
TWO_DIGITS = r"^[0-9]{2}$"
RELEASE = r"^r[0-9]{4,}$"
Author = pl.Struct({"id": pl.String(), "name": pl.String(), "org": pl.String(), "org_id": pl.String()})


@dataclass(frozen=True)
class Column:
    """One column: its Polars type, its meaning, and whether a null is allowed.

    minimum, maximum: bounds, inclusive. values: all that may occur. pattern: a regular expression that every value matches
    from its start, in the syntax that Python and Rust share.
    """

    dtype: pl.DataType
    about: str
    nullable: bool = False
    minimum: float | None = None
    maximum: float | None = None
    values: tuple[str, ...] | None = None
    pattern: str | None = None


@dataclass(frozen=True)
class Table:
    """One Delta table.

    key: the columns that name a row inside the table. Unique, never null.
    partition_by: the column that Delta partitions by, or None.
    provenance: columns that tell how a row was made; a difference in them alone is no change of the row.
    compared: the columns that decide whether a row changed (all but provenance, unless given: vectors are not read
        again only to be compared, their text hash and model say the same).
    feed: whether the Change Data Feed is on. Off where a partition is a file of a dump: one edited line shifts the byte
        offset of all that follow, so the partition is replaced whole, and nobody reads the feed of it.
    matched_by: the columns by which a row is found again in another version where its key is a place that moves when something
        before it does. They may repeat. None: the key.
    shown: the column that tells a person which row it is. None: the title of the paper it is about.
    history: whether it tells what happened, beside the present state: a lake built afresh does not have it.
    """

    name: str
    about: str
    key: tuple[str, ...]
    columns: Mapping[str, Column] = field(repr=False)
    partition_by: str | None = "shard"
    provenance: tuple[str, ...] = ()
    compared: tuple[str, ...] | None = None
    feed: bool = True
    matched_by: tuple[str, ...] | None = None
    shown: str | None = None
    history: bool = False

    @cached_property
    def schema(self) -> pl.Schema:
        return pl.Schema({name: column.dtype for name, column in self.columns.items()})

    @cached_property
    def compared_columns(self) -> tuple[str, ...]:
        """The columns whose change is a change of the row, in schema order."""
        if self.compared is not None:
            return self.compared
        return tuple(name for name in self.columns if name not in self.provenance)

    @property
    def required(self) -> tuple[str, ...]:
        return tuple(name for name, column in self.columns.items() if not column.nullable)


def shard_column(about: str) -> Column:
    return Column(Text, about, pattern=TWO_DIGITS)


METHOD = Column(Text, "what made the row: reader, rule or model")
CODE_VERSION = Column(Text, "version of the code that made the row")


def collection_column(about: str = "name of the collection") -> Column:
    return Column(Text, about, pattern=COLLECTION)

"""The table reference says what the contracts say."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from scholarlake.lake import tables_doc
from scholarlake.lake.contracts import TABLES

PAGE = Path(__file__).parents[3] / "docs" / "tables.md"


def test_the_committed_page_is_what_the_contracts_give() -> None:
    fresh = tables_doc.render()
    assert PAGE.read_text(encoding="utf-8") == fresh, "run: python -m scholarlake.lake.tables_doc > docs/tables.md"


@pytest.mark.parametrize("name", TABLES)
def test_every_column_of_every_table_is_on_the_page(name: str) -> None:
    page = tables_doc.render()
    section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
    assert [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")] == list(TABLES[name].columns)


def test_nested_types_are_said_in_words() -> None:
    assert tables_doc.type_name(pl.List(pl.Struct({"id": pl.String(), "n": pl.Int64()}))) == "list of struct (id: text, n: long)"
    assert tables_doc.type_name(pl.List(pl.Float32)) == "list of float"

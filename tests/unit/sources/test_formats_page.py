"""`docs/formats.md` says something of every format that is read and of every reason for which something is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from scholarlake.documents.formats import FORMATS as OF_TEXTS
from scholarlake.sources.blocks import REASONS
from scholarlake.sources.readers import FORMATS, Reader

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "formats.md").read_text(encoding="utf-8")
READ = [known.name for known in FORMATS.values() if isinstance(known, Reader)]


@pytest.mark.parametrize("name", [*READ, *OF_TEXTS, *REASONS])
def test_the_page_names_it(name: str) -> None:
    assert f"`{name}`" in PAGE

"""Any sequence of changes and refreshes ends in what a build from scratch of the final sources makes."""

from __future__ import annotations

from tests.properties.sources import Sources, sequences


class TestRefreshEqualsRebuild(Sources.TestCase):
    settings = sequences(0.5)

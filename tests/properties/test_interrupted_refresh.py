"""However often, and at whatever moments, refreshes die on the way: the next one ends in what a build from scratch makes."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.properties.library import killed_at
from tests.properties.sources import Sources, sequences


class Interrupted(Sources):
    """The same, and runs that die just before or just after something they write becomes visible."""

    @rule(moment=st.integers(1, 120), after=st.booleans())
    def die_in_a_refresh(self, moment: int, after: bool) -> None:
        self.lay_down()
        with killed_at(moment, after=after):
            self.library.refresh()


class TestInterruptedRefreshEqualsRebuild(Interrupted.TestCase):
    settings = sequences(0.5)

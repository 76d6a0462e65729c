"""Checks of the publish stage: what is said to have changed is well-formed. What a release demands is in `lake/releases.py`."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check, contract_check

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "release_diff": (contract_check("release_changes"), contract_check("release_change_counts")),
}

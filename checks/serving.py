"""Checks of the serving stage: the search index and the citation graph hold the corpus, whole."""

from __future__ import annotations

from collections.abc import Mapping

from checks.check import Check

CHECKS: Mapping[str, tuple[Check, ...]] = {}

"""The order of a dump's editions: v3.2 before v3.10, the flat folder's empty name before all."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"(\d+)")

EditionKey = tuple[tuple[tuple[int, int, str], ...], str]


def edition_key(edition: str) -> EditionKey:
    """Sort key of an edition's name: numbers by value, the rest case-folded. Total: only equal names have equal keys."""
    steps = tuple((0, int(piece), "") if piece.isdecimal() else (1, 0, piece.casefold()) for piece in _DIGITS.split(edition) if piece)
    return steps, edition


def edition_ranks(editions: set[str]) -> dict[str, int]:
    """Place of each edition in their order, from 0, the oldest."""
    return {edition: rank for rank, edition in enumerate(sorted(editions, key=edition_key))}

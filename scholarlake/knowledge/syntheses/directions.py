"""Which way a finding points: up, down, or not at all; and whether a statement leaves something open. By its wording alone.

What does not belong here: whether two findings are on one question, and under which conditions (`bundles`).
"""

from __future__ import annotations

import re
from typing import Literal

Direction = Literal["up", "down", "none"]

_UP = re.compile(
    r"\b(?:increas|improv|enhanc|rais|rise|rose|grow|grew|higher|greater|larger|better|faster|stronger|more accurate|outperform|"
    r"exceed|accelerat|promot|boost|surpass|superior|positively)\w*",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\b(?:decreas|reduc|lower|declin|worse|degrad|diminish|drop|fall|fell|smaller|slower|weaker|less accurate|underperform|inhibit|"
    r"suppress|impair|inferior|negatively|shrink|shrank)\w*",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:no|not|never|neither|nor|cannot|fail(?:s|ed)? to|without|independent of|unaffected)\b|n't\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:(?:remains?|is|are|still) (?:\w+ )?(?:unclear|unknown|open|unresolved|to be (?:seen|understood|determined|shown|studied))|"
    r"open (?:question|problem|issue)s?|poorly understood|not (?:yet |fully |well )+understood|it is unclear|"
    r"further (?:work|research|study|studies|investigation)|future (?:work|research|studies)|has yet to be)\b",
    re.IGNORECASE,
)


def direction(statement: str) -> Direction | None:
    """Where a statement points; None where it says nothing of the kind, or both."""
    up, down = bool(_UP.search(statement)), bool(_DOWN.search(statement))
    if up == down:
        return None
    if _NOT.search(statement):
        return "none"
    return "up" if up else "down"


def opposite(one: str, other: str) -> bool:
    """Whether two statements point different ways."""
    left, right = direction(one), direction(other)
    return left is not None and right is not None and left != right


def is_open(statement: str) -> bool:
    """Whether a statement says that something is not settled."""
    return _OPEN.search(statement) is not None

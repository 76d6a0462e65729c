"""Finding a quotation where it stands, though it is not set as the text is.

Ligatures, decomposed accents, soft hyphens, words divided at the end of a line, minus signs and dashes, no-break spaces, curly quotes and
case are the setting, not what is said; what is found are code points of the text as it is. What does not belong here: whether a number
is the same (`numerals`), which sentences a fact needs (`grounding`).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_UNSEEN = "\u00ad\u200b\u200c\u200d\u2060\ufeff\u034f\ufe0e\ufe0f"  # soft hyphens, joiners, selectors of variants
_ALIKE = (
    dict.fromkeys(map(ord, DASHES), "-")
    | dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\u02b9\u02bc\u00b4`"), "'")
    | dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u2039\u203a"), '"')
    | dict.fromkeys(map(ord, _UNSEEN))
)
# White space (none before a percent sign), or a hyphen between letters with the white space behind it.
_SETTING = re.compile(r"\s+(?=%)|(?P<blank>\s+)|(?:(?<=[^\W\d_])|(?<=[\u0300-\u036f]))-\s*(?=[^\W\d_])")
_SHORT = 4_096  # characters of a text whose plain form is kept in mind: sentences are looked into again and again


@dataclass(frozen=True)
class Plain:
    """A text in plain setting. starts, ends: of each of its characters, where in the original text the sign begins and ends that it
    comes from."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def plain(text: str) -> Plain:
    """A text as all its settings have it in common."""
    return _kept(text) if len(text) <= _SHORT else _plain(text)


@lru_cache(maxsize=4_096)
def _kept(text: str) -> Plain:
    return _plain(text)


def _plain(text: str) -> Plain:
    if text.isascii():
        return _joined([(sign, at, at + 1) for at, sign in enumerate(text.replace("`", "'").lower())])
    signs: list[tuple[str, int, int]] = []
    at, length = 0, len(text)
    while at < length:
        end = at + 1
        while end < length and unicodedata.combining(text[end]):
            end += 1
        cluster = text[at:end]
        if not cluster.isascii():
            cluster = unicodedata.normalize("NFKD", cluster.translate(_ALIKE)).translate(_ALIKE)
            if not text[at].isspace():
                cluster = cluster.replace(" ", "")  # an accent by itself comes apart into a blank and the accent
        signs += [(one, at, end) for one in cluster.replace("`", "'").casefold()]
        at = end
    return _joined(signs)


def _joined(signs: list[tuple[str, int, int]]) -> Plain:
    """White space made single, and a hyphen between two letters gone with the white space behind it: "exam-\\nple" is "example"."""
    kept: list[tuple[str, int, int]] = []
    at = 0
    for found in _SETTING.finditer("".join(one[0] for one in signs)):
        kept += signs[at : found.start()]
        if found["blank"]:
            kept.append((" ", signs[found.start()][1], signs[found.end() - 1][2]))
        at = found.end()
    kept += signs[at:]
    return Plain("".join(one[0] for one in kept), tuple(one[1] for one in kept), tuple(one[2] for one in kept))


def find(quotation: str, text: str) -> tuple[int, int] | None:
    """Where a text first holds a quotation, as (start, end) in its code points; None where it does not.

    It must stand there as whole words and whole numbers: "the rapist" is not in "therapist", nor 1 in 1.5 or 5 in -5.
    """
    wanted = plain(quotation).text.strip()
    if not wanted:
        return None
    there = plain(text)
    at = there.text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if _is_whole(there, at, end):
            return there.starts[at], there.ends[end - 1]
        at = there.text.find(wanted, at + 1)
    return None


def holds(text: str, words: str) -> bool:
    """Whether a text holds some words, however they are set."""
    return find(words, text) is not None


def _is_whole(there: Plain, at: int, end: int) -> bool:
    """Whether neither end cuts a word, a number or a sign."""
    text = there.text
    if at and (there.starts[at - 1] == there.starts[at] or (text[at - 1].isalnum() and text[at].isalnum())):
        return False
    if end < len(text) and (there.starts[end] == there.starts[end - 1] or (text[end - 1].isalnum() and text[end].isalnum())):
        return False
    if text[at].isdecimal() and at and _goes_on(text[at - 2 : at] if at > 1 else " " + text[0]):
        return False
    return not (text[end - 1].isdecimal() and re.match(r"[.,]\d", text[end : end + 2]))


def _goes_on(before: str) -> bool:
    """Whether the two characters before a digit make it part of a number: a point behind a digit, or a sign behind none."""
    return bool(re.match(r"\d[.,]\Z|[^\w)\]]-\Z", before))

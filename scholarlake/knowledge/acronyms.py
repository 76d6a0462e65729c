"""Short forms that a text defines: "stochastic average gradient (SAG)", or "SAG (stochastic average gradient)".

After Schwartz and Hearst: the letters of the short form stand in the long one in order, the first at the beginning of a word. What does
not belong here: which names of several papers are one thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_PAREN = re.compile(r"(?P<before>[^()\[\];:]{2,200}?)\s*[(\[](?P<inside>[^()\[\]]{2,120})[)\]]")
_SHORT = re.compile(r"[^\W_][\w./+-]{0,9}s?\Z")


def definitions(texts: Iterable[str]) -> dict[str, str]:
    """Short form to long form, as written, each where it is first defined."""
    found: dict[str, str] = {}
    for text in texts:
        for match in _PAREN.finditer(text):
            before, inside = match["before"].rstrip(), re.split(r"[,;]", match["inside"])[0].strip()
            if _is_short(inside):
                long = _long_form(inside, before)
                if long:
                    found.setdefault(inside, long)
            else:
                last = re.search(r"[^\s,]+\Z", before)
                if last and _is_short(last[0]) and _long_form(last[0], inside) == inside:
                    found.setdefault(last[0], inside)
    return found


def _is_short(text: str) -> bool:
    return bool(_SHORT.match(text)) and len(text) > 1 and any(sign.isupper() for sign in text) and not text.isdecimal()


def _long_form(short: str, before: str) -> str | None:
    """The end of a text that spells the short form out, from the beginning of a word."""
    letters = [
        sign for sign in short.casefold().removesuffix("s" if short.endswith("s") and short[:-1].isupper() else "") if sign.isalnum()
    ]
    words = before.split()
    text = " ".join(words[-min(len(letters) + 5, 2 * len(letters)) :])
    folded = text.casefold()
    if len(folded) != len(text):
        return None
    at = len(text)
    for number, letter in enumerate(reversed(letters)):
        at -= 1
        first = number == len(letters) - 1
        while at >= 0 and (folded[at] != letter or (first and at > 0 and folded[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return None
    long = text[at:]
    return long if len(long) > len(short) and short.casefold() not in long.casefold().split() else None

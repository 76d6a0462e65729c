"""TeX in titles as the letters that it stands for: accents, Greek, letters of their own; commands that only set type go.

What is more than letters (fractions, relations, macros) stays as it is written.
"""

from __future__ import annotations

import re
import unicodedata

_ACCENTS = dict(
    zip("`'^~=.\"Hckrbduv", "\u0300\u0301\u0302\u0303\u0304\u0307\u0308\u030b\u0327\u0328\u030a\u0331\u0323\u0306\u030c", strict=True)
)
_LETTERS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "i": "i", "j": "j",
}  # fmt: skip
_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega"
_END = "(?![A-Za-z])"
# Without braces only vowels have accents: a dump may have escaped its quotes and apostrophes (Alzheimer\'s, l\'eau, \"new\").
_ACCENTED = re.compile(
    r"\\(?P<a>[`'^~=.\"])\s*\{\s*\\?(?P<x>[A-Za-z])\s*\}|(?<!\b[CcDdJjLlMmNnOoSsTt])\\(?P<b>[`'^=.]|(?<=[A-Za-z{]\\)\")\\?(?P<y>[AEIOUYaeiouy])"
    r"|\\(?P<c>~)(?P<z>[ANOano])|\\(?P<d>[Hckrbduv])(?:\s*\{\s*\\?(?P<u>[A-Za-z])\s*\}|\s+(?P<w>[A-Za-z])\b)"
)
_LETTER = re.compile(rf"\\({'|'.join(sorted(_LETTERS, key=len, reverse=True))}){_END}(?:\{{\}})?")
_GREEK_LETTER = re.compile(rf"\\(?:var)?({'|'.join(_GREEK.split())}){_END}", re.IGNORECASE)
_SETTING = re.compile(
    rf"\\(?:(?:text|math)[a-z]+|emph|[mh]box|it|bf|rm|em|sl|sc|tt|cal|sf|Bbb|ensuremath|boldmath|displaystyle|operatorname|left|right){_END}"
)


def plain(text: str) -> str:
    r"""The text with the letters that its TeX stands for: `Schr\"odinger` is Schrödinger, `$\alpha$` is $α$."""
    text = _ACCENTED.sub(_accented, text)
    text = _GREEK_LETTER.sub(_greek, text)
    text = _LETTER.sub(lambda found: _LETTERS[found[1]], text)
    return _SETTING.sub("", text)


def _accented(found: re.Match[str]) -> str:
    parts = found.groupdict()
    accent = next(parts[name] for name in "abcd" if parts[name])
    letter = next(parts[name] for name in "xyzuw" if parts[name])
    return unicodedata.normalize("NFC", letter + _ACCENTS[accent])


def _greek(found: re.Match[str]) -> str:
    name = found[1]
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    return unicodedata.lookup(f"GREEK {size} LETTER {name.upper().replace('LAMBDA', 'LAMDA')}")

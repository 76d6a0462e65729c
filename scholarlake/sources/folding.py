"""The one spelling of a title: what it is compared by, in any script, whoever set it in type.

NFKC, case-folded, without punctuation, white space, invisible characters and what only belongs to the setting; letters, marks, digits
and symbols stay. Letters of different scripts that look alike stay different. What does not belong here: marks that say something of
the record (`marks`), and which titles are no key (`titles`).
"""

from __future__ import annotations

import re
import unicodedata

import numpy as np

from scholarlake.sources.tex import plain

# Dollars and carets of TeX, back ticks for apostrophes, stars of footnotes (and of "A* search", which is written with several signs),
# signs of trade, tildes for dashes.
_SETTING = "$^`~\u00a9\u00ae\u2217\u223c\u22c6\u2605\u2606"
_APOSTROPHES = (*range(0x02B9, 0x02C0), 0x02C8, 0x02CA, 0x02CB)  # those that count as letters
# Fillers, selectors of variants, and tatweel, which only stretches a word.
_UNSEEN = (
    *(0x034F, 0x0640, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0),
    *(*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
)
# Punctuation, separators, controls and surrogates all lie in these planes; the table is made at import, in some 20 ms.
_DELETED: dict[int, None] = {
    code: None
    for code in (*range(0x20000), *range(0xE0000, 0xE0080))
    if (category := unicodedata.category(chr(code)))[0] in "PZ" or category in ("Cc", "Cf", "Cs") or chr(code).isspace()
} | dict.fromkeys((*map(ord, _SETTING), *_APOSTROPHES, *_UNSEEN))

_SMALL_CAPITALS = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ"
# Letters with several signs: small capitals (as in D-glucose), the sign of increment, Persian letters in Arabic words and the other way
# round, and the i without dot, which a capital I of Turkish stands for.
_ALIKE = str.maketrans(
    dict(zip(_SMALL_CAPITALS, "abcdefghijklmnoprstuvwyz", strict=True))
    | {"\u0131": "i", "\u2206": "\u03b4", "\u06cc": "\u064a", "\u0649": "\u064a", "\u06a9": "\u0643"}
)
_FOLDED = _DELETED | _ALIKE
# Accents that stand for themselves would become marks on the blank before them, and the signs of trade letters.
_BEFORE = re.compile("[\u00a8\u00af\u00b4\u00b8\u02d8-\u02dd\u2120\u2122]")
_HYPHEN = re.compile("(?:(?<=[^\\W\\d_])|(?<=[\u0300-\u036f]))\u2212(?=[^\\W\\d_])")  # a minus between letters: "structure−activity"
_RAISED = "\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079"
_FOOTNOTE = re.compile(f"(?<=[^\\W\\d_]{{4}})[{_RAISED}]+(?=[^\\w\n]*$)", re.MULTILINE)  # raised numbers behind a long word
_DOTTED = "i\u0307"  # what the capital of a Turkish i becomes

_ASCII_DELETED = bytes(code for code in range(128) if code in _DELETED)
_ASCII_DELETED_IN_LINE = _ASCII_DELETED.replace(b"\n", b"")
_ASCII_LOWER = bytes.maketrans(bytes(range(65, 91)), bytes(range(97, 123)))
# `_FOLDED` as an array by code point, 0 for what is deleted; line feeds stay.
_TABLE = np.arange(0x110000, dtype=np.uint32)
_TABLE[list(_DELETED)] = 0
_TABLE[list(_ALIKE)] = [ord(letter) for letter in _ALIKE.values()]
_TABLE[ord("\n")] = ord("\n")


def fold(title: str) -> str:
    """The one spelling of a title."""
    if "\\" in title:
        title = plain(title)
    if title.isascii():
        return title.encode().translate(_ASCII_LOWER, _ASCII_DELETED).decode()
    return _closed(_opened(title).translate(_FOLDED))


def fold_lines(text: str) -> bytes:
    """`fold` of each line of a text without backslashes, all at once, in UTF-8."""
    if text.isascii():
        return text.encode().translate(_ASCII_LOWER, _ASCII_DELETED_IN_LINE)
    points = _TABLE[np.frombuffer(_opened(text).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)]
    return _closed(points[points > 0].tobytes().decode("utf-32-le", "surrogatepass")).encode("utf-8", "replace")


def _opened(text: str) -> str:
    """A text normalised and case-folded, all its signs still there."""
    text = _BEFORE.sub("", unicodedata.normalize("NFC", text))
    if any(sign in text for sign in _RAISED):
        text = _FOOTNOTE.sub("", text)
    # Case is folded between two normalisations: capitals with accents come apart, and compatibility forms may be capitals.
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", text).casefold())
    return _HYPHEN.sub("", text) if "\u2212" in text else text


def _closed(text: str) -> str:
    """A text whose signs are gone: what they parted may be one letter now."""
    return unicodedata.normalize("NFKC", text.replace(_DOTTED, "i").replace("\u0153", "oe").replace("\u00e6", "ae"))

"""Whether two titles have anything in common: the content tokens of a title, in any script.

Only asked of titles that stand under one DOI. The title fingerprint, which is a key, is made where records are normalised.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

# Words that every title may hold: English, and the articles and prepositions of the languages that fill the dumps.
_WORDS = """a an and are as at by for from in into is it its of on or the their to und upon using via was were what when which with
without der die das den dem des ein eine eines einer im zur zum von mit auf fur uber bei le la les un une des du de et en au aux
sur dans par pour el los las una y del con por para o os as da do das dos e em no na nos nas il lo gli i di della delle dei nel
sul per och av det den ett van het een i v vo na o ob s so po k dlya iz и в во на о об с со по к для из за от до при"""
_EMPTY_WORDS = frozenset(_WORDS.split())

# Scripts that are written without spaces, or whose words carry their grammar with them: pairs of characters stand for words.
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # kana
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),  # Han
    (0xAC00, 0xD7AF),  # Hangul
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)


def content_tokens(title: str | None) -> frozenset[str]:
    """The tokens by which a title is compared; empty where the title is missing or holds no letter, digit or symbol.

    Words without accents, case-folded; pairs of characters in scripts without spaces. Where nothing but empty words, single
    letters and numbers is left, those count.
    """
    if not title:
        return frozenset()
    words: set[str] = set()
    for run, unspaced in _runs(_folded(title)):
        if unspaced and len(run) > 1:
            words.update(run[place : place + 2] for place in range(len(run) - 1))
        else:
            words.add(run)
    content = {word for word in words if word not in _EMPTY_WORDS and not word.isdigit() and (len(word) > 1 or _is_unspaced(word))}
    return frozenset(content or words)


def _folded(title: str) -> str:
    """NFKC, case-folded, without the accents that Latin, Greek and Cyrillic letters carry."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", title).casefold())
    return unicodedata.normalize("NFC", "".join(sign for sign in apart if not 0x0300 <= ord(sign) <= 0x036F))


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Unbroken stretches of letters, marks, digits and symbols, split where a script without spaces begins or ends."""
    run: list[str] = []
    unspaced = False
    for sign in text:
        kind = unicodedata.category(sign)[0]
        if kind in "LMNS":
            now = unspaced if kind == "M" and run else _is_unspaced(sign)
            if run and now != unspaced:
                yield "".join(run), unspaced
                run = []
            unspaced = now
            run.append(sign)
        elif run:
            yield "".join(run), unspaced
            run = []
    if run:
        yield "".join(run), unspaced


def _is_unspaced(sign: str) -> bool:
    code = ord(sign[0])
    return code >= 0x0E00 and any(low <= code <= high for low, high in _UNSPACED)

"""How text becomes the words that the keyword index holds, and how a query becomes an FTS5 expression over them.

Both sides are cut by the rules of this module, so that what was indexed is what is asked for. What does not belong here: stemming and the
folding of case and accents, which SQLite's tokenizer (`TOKENIZER`) does, and running the query (`search_index.py`).

FTS5's own query language raises on most of what people type (COVID-19, C++, O'Brien, ""). None of it reaches SQLite:
a term is cut into words here, and only words, in double quotes, are sent.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* M* Co'"
MAX_TERMS = 64
"""Terms of one query that are looked at: more is a paste, not a search."""
MAX_WORDS = 64
"""Words of one term that are looked at."""

# Scripts that put no space between words. A run of them would be one token, found only by its whole self.
_RUN_RANGES = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035"  # Han radicals and iteration marks
    "\u3041-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana, bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul, whose particles cling to the noun
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
)
_RUN = re.compile(f"[{_RUN_RANGES}]+")
_PIECE = re.compile(f"[{_RUN_RANGES}]+|[^{_RUN_RANGES}]+")
# Names of languages that would otherwise be the letter alone.
_PLUS_PLUS = re.compile(r"(?<=\w)\+\+")
_SHARP = re.compile(r"(?<=\b[A-Za-z])#(?!\w)")
_BETWEEN = re.compile(r' OR (?=")')  # a phrase holds no quotes
_QUERY = re.compile(r'"([^"]*)"|(\S+)')


def index_text(text: str | None) -> str:
    """The text as it goes into the index: NFKC, and runs of scripts without word breaks as overlapping pairs.

    "深度学习" becomes "深度 度学 学习 习": any part of it, from two characters on, is a phrase of pairs; a single character is
    the beginning of a pair or the last one, which stands alone.
    """
    if not text:
        return ""
    text = _plain(text)
    return text if text.isascii() else _RUN.sub(lambda run: f" {' '.join(_pairs(run.group()))} ", text)


def expression(terms: Iterable[str]) -> str | None:
    """An FTS5 query for papers that have any of the terms; a term of several words is a phrase. None where no word is left."""
    phrases = dict.fromkeys(phrase for term in _first(terms) if (phrase := _phrase(term)))
    return " OR ".join(phrases) or None


def parts_of(query: str) -> list[str]:
    """The phrases of an expression: what it is an OR of. A phrase may hold the word itself."""
    return _BETWEEN.split(query)


def words(terms: Iterable[str]) -> list[str]:
    """The terms cut into single words, each once, in order: what to look for where the phrases find nothing."""
    found: dict[str, None] = {}
    for term in _first(terms):
        for piece in _split(_plain(term)):
            found.setdefault(piece)
    return list(found)[:MAX_TERMS]


def terms_of(query: str) -> list[str]:
    """A line that somebody typed as terms: what stands in double quotes is one, every other word is one."""
    return [quoted or word for quoted, word in _QUERY.findall(query) if (quoted or word).strip()]


def _first(terms: Iterable[str]) -> list[str]:
    return [term for term, _ in zip(terms, range(MAX_TERMS), strict=False)]


def _plain(text: str) -> str:
    if not text.isascii():
        # SQLite takes no lone surrogate; full-width and compatibility forms are the letters they stand for.
        text = unicodedata.normalize("NFKC", text.encode("utf-8", "ignore").decode())
    if "+" in text:
        text = _PLUS_PLUS.sub("plusplus ", text)
    if "#" in text:
        text = _SHARP.sub("sharp", text)
    return text


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run))]  # the last one is a single character


def _is_word(character: str) -> bool:
    """Whether SQLite's tokenizer keeps the character, by the categories of TOKENIZER."""
    category = unicodedata.category(character)
    return category[0] in "LNM" or category == "Co"


def _split(text: str) -> list[str]:
    return "".join(c if _is_word(c) else " " for c in text).split()[:MAX_WORDS]


def _phrase(term: str) -> str | None:
    pieces = [piece for word in _split(_plain(term)) for piece in _PIECE.findall(word)]
    if not pieces:
        return None
    tokens = [token for piece in pieces for token in (_pairs(piece) if _RUN.fullmatch(piece) else [piece])]
    last = pieces[-1]
    if not _RUN.fullmatch(last):
        return f'"{" ".join(tokens)}"'
    if len(last) == 1:
        return f'"{" ".join(tokens)}" *'
    # In the text the run may go on: there its last character is the first of a pair, not a token of its own.
    return f'"{" ".join(tokens[:-1])}"'

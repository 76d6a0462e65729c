"""Authors in every shape that dumps have, and the key under which "J. Smith", "John Smith" and "Smith, John" are one."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import xxhash

from scholarlake.lake import xxh3
from scholarlake.sources.identifiers import identifier
from scholarlake.sources.plain import Bytes, Integers, Mask, bounds_of
from scholarlake.sources.text import full_text

AuthorRow = tuple[str | None, str | None, str | None, str | None]  # id, name, organisation, its id

_SEPARATORS = re.compile(r"[\s.,_\u00b7\u30fb\u2022]+")
_SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv", "phd", "md", "dr", "prof"})
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff]")
# Letters that Unicode does not decompose, as they are usually written without their stroke.
_STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t", "ŋ": "n"})
# "Ann B. Lee" as most names are: a first name or initial, anything of letters between, a family name of three letters or more.
_USUAL_NAME = re.compile(r"([A-Za-z]+)(?:[ .][A-Za-z .'-]*)? ([A-Za-z]{3,})")
_NAME_MARKS = np.isin(np.arange(256), list(b" .'-"))
_SUFFIX_LETTERS = 4  # of the longest suffix
_SUFFIX_WORDS = np.array([int.from_bytes(word.encode(), "little") for word in _SUFFIXES], dtype=np.uint32)
_SIGNED = 1 << 63
_NAME_CACHE = 1 << 17


def fold_name(name: str) -> str:
    """Folded family name, a blank and the first initial; the whole name in Han, kana or Hangul; "" where nothing is left.

    Accents go, and so do titles, suffixes and the numbers that some dumps put behind namesakes.
    """
    if usual := _USUAL_NAME.fullmatch(name):
        first, last = usual[1].lower(), usual[2].lower()
        if first not in _SUFFIXES and last not in _SUFFIXES:
            return f"{last} {first[0]}"
    return _fold_any_name(name)


def _fold_any_name(name: str) -> str:
    if not name.isascii():
        if _CJK.search(name):
            return "".join(letter for letter in unicodedata.normalize("NFKC", name).casefold() if letter.isalnum())
        decomposed = unicodedata.normalize("NFKD", name)
        name = "".join(letter for letter in decomposed if unicodedata.category(letter) != "Mn")
    head, comma, tail = name.partition(",")
    family = [part for part in map(_letters, _SEPARATORS.split(head)) if part and part not in _SUFFIXES]
    given = [part for part in map(_letters, _SEPARATORS.split(tail)) if part and part not in _SUFFIXES] if comma else []
    if not given:
        if len(family) > 1 and _trailing_initials(head):
            family, given = family[:-1], family[-1:]
        else:
            family, given = family[-1:], family[:-1]
    if not family:
        family, given = given[:1], []
    if not family:
        return ""
    return f"{family[-1]} {given[0][0]}" if given else family[-1]


def _letters(part: str) -> str:
    """One word of a name, folded: letters only, hyphens and apostrophes closed up."""
    folded = part.lower() if part.isascii() else part.casefold().translate(_STROKES)
    return folded if folded.isalpha() else "".join(letter for letter in folded if letter.isalpha())


def _trailing_initials(name: str) -> bool:
    """Whether a name is written "Smith J" or "Smith JA": capitals without vowel sound at the end, a full word before."""
    words = name.split()
    last = words[-1].replace(".", "")
    return len(last) <= 2 and last.isupper() and len(words[0].rstrip(".")) > 2 and "." not in words[0] and not words[0].isupper()


@lru_cache(maxsize=_NAME_CACHE)
def author_key(name: str) -> int | None:
    """XXH3-64 of the folded name as a signed integer; None where the name holds no letter."""
    folded = fold_name(name)
    if not folded:
        return None
    value = xxhash.xxh3_64_intdigest(folded.encode("utf-8", "replace"))
    return value - (1 << 64) if value >= _SIGNED else value


def author_keys(authors: list[AuthorRow]) -> list[int]:
    """The keys of a record's authors, distinct and sorted."""
    if not authors:
        return []
    return sorted({key for _, name, _, _ in authors if name and (key := author_key(name)) is not None})


def keys_of_names(names: pa.StringArray) -> tuple[Integers, Mask]:
    """`author_key` of each name, and which names have one. Names as most are written are folded all at once."""
    bounds, data = bounds_of(names)
    keys, keyed = np.zeros(len(names), dtype=np.int64), np.zeros(len(names), dtype=bool)
    said = np.flatnonzero(np.diff(bounds))
    if not len(said):
        return keys, keyed
    usual, folded, folded_bounds = _fold_usual(data, bounds[said], bounds[said + 1])
    keys[said[usual]] = xxh3.keys_of(folded, folded_bounds).view(np.int64)
    keyed[said[usual]] = True
    rest = said[~usual]
    for place, name in zip(rest.tolist(), pl.Series(names.take(pa.array(rest))).to_list(), strict=True):
        key = author_key(name)
        if key is not None:
            keys[place], keyed[place] = key, True
    return keys, keyed


def _fold_usual(data: Bytes, starts: Integers, stops: Integers) -> tuple[Mask, Bytes, Integers]:
    """Which names are written as `_USUAL_NAME` has it, and these as `fold_name` folds them: one run of bytes, and the bounds in it."""
    padded = np.append(data, np.zeros(_SUFFIX_LETTERS, dtype=np.uint8))
    lower = padded | 0x20  # of what is no letter, only the blank is used, which it does not change
    letter = (lower[: len(data)] - np.uint8(ord("a"))) < 26  # below an "a" it wraps around
    places = np.arange(len(data))
    first_end = np.minimum.reduceat(np.where(letter, len(data), places), starts)  # where what is no letter comes first, and last
    family = np.maximum.reduceat(np.where(letter, -1, places), starts) + 1
    strange = np.logical_or.reduceat(~(letter | _NAME_MARKS[data]), starts)
    after_first = padded[first_end]
    usual = ~strange & (first_end > starts) & (family > first_end) & (stops - family >= 3)
    usual &= ((after_first == ord(" ")) | (after_first == ord("."))) & (padded[family - 1] == ord(" "))
    usual &= ~_are_suffixes(lower, starts, first_end) & ~_are_suffixes(lower, family, stops)
    family, lengths = family[usual], (stops - family)[usual] + 2
    bounds = np.append(0, np.cumsum(lengths))
    folded = lower[np.arange(bounds[-1]) + np.repeat(family - bounds[:-1], lengths)]
    folded[bounds[1:] - 2] = ord(" ")
    folded[bounds[1:] - 1] = lower[starts[usual]]
    return usual, folded, bounds


def _are_suffixes(lower: Bytes, starts: Integers, stops: Integers) -> Mask:
    """Which words are a title or suffix. lower: in lower case, with four bytes behind the last word."""
    words = np.ndarray((len(lower) - _SUFFIX_LETTERS + 1,), "<u4", lower, strides=(1,))[starts]
    lengths = stops - starts
    words &= np.uint32(0xFFFFFFFF) >> (8 * (_SUFFIX_LETTERS - np.clip(lengths, 1, _SUFFIX_LETTERS))).astype(np.uint32)
    return np.isin(words, _SUFFIX_WORDS) & (lengths <= _SUFFIX_LETTERS)


def read_authors(value: Any) -> tuple[list[AuthorRow], bool]:
    """Authors in order, and whether a shape was met that says nothing. Entries without any value are left out."""
    if not value:
        return [], False
    if type(value) is not list:
        if isinstance(value, str):
            return [(None, name, None, None) for part in value.split(";") if (name := full_text(part))], False
        if not isinstance(value, dict):
            return [], True
        value = [value]
    authors: list[AuthorRow] = []
    odd = False
    for entry in value:
        if type(entry) is dict:
            get = entry.get
            if (key := get("id")) is not None or (key := get("_id")) is not None:
                key = identifier(key)
            name = full_text(get("name"))
            if name is None:
                name = full_text(get("name_zh"))
            if (org := get("org")) is not None or (org := get("orgs")) is not None:
                org = full_text(org)
            if (org_id := get("org_id")) is not None or (org_id := get("orgid")) is not None:
                org_id = identifier(org_id)
            if name is not None or key is not None or org is not None or org_id is not None:
                authors.append((key, name, org, org_id))
        elif type(entry) is str:
            if name := full_text(entry):
                authors.append((None, name, None, None))
        elif entry is not None:
            odd = True
    return authors, odd

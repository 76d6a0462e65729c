"""Authors in every shape that dumps have, and the key under which "J. Smith", "John Smith" and "Smith, John" are one."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import xxhash

from scholarlake.lake import xxh3
from scholarlake.sources.identifiers import identifier
from scholarlake.sources.plain import Bytes, Integers, Mask, as_arrow, bounds_of
from scholarlake.sources.text import full_text

Words = np.ndarray[Any, np.dtype[np.uint64]]
AuthorRow = tuple[str | None, str | None, str | None, str | None]  # id, name, organisation, its id

_SEPARATORS = re.compile(r"[\s.,_\u00b7\u30fb\u2022]+")
_HYPHENS = re.compile("[-\u2010-\u2015]")
_SUFFIXES = frozenset({"jr", "jnr", "sr", "snr", "ii", "iii", "iv", "phd", "md", "dr", "prof", "mr", "mrs", "ms", "sir", "esq"})
_SHORT_PARTICLES = frozenset({"al", "da", "de", "di", "du", "el", "la", "le"})
# What is no part of a name: e-mails, addresses, what stands in brackets; and, behind the name, letters of footnotes and degrees.
_BESIDE = re.compile(r"\S+@\S+|https?://\S+|\([^()]*\)|\[[^\[\]]*\]")
_FOOTNOTES = re.compile(r"(?<=[^\W_])\s+[a-z](?:\s*,\s*[a-z])*\W*$")
_DEGREES = re.compile(r"[,;]?\s+(?:Ph\.\s?D|M\.\s?D|D\.\s?Phil|[BMD]\.\s?Sc|[BM]\.\s?A|M\.\s?P\.\s?H)\b\.?(?=\s*(?:[,;]|$))")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff]")
# Letters that Unicode does not decompose, as they are usually written without their stroke.
_STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t", "ŋ": "n"})
_COMMAS = str.maketrans("\u060c\uff0c\u3001", ",,,")
# Who is nobody, folded: "et al.", "Unknown author", "No authors listed".
_NOBODY = frozenset({"al e", "anonymous", "anon", "unknown", "author u", "various", "others", "listed n"})
_PATRONYMICS = ("ович", "евич", "ьич", "овна", "евна", "ична")
# Chinese names in Latin letters come in either order. The family names that most people bear, and what a given name is made of.
_FAMILY_NAMES = """
bai cai cao chang chen cheng cui dai deng ding dong du duan fan fang feng fu gao gong gu guo han hao he hou hu huang jia jiang jin kang
kong lai lei li liang liao lin liu long lu luo lv ma mao meng mo niu pan peng qian qiao qin qiu ren shao shen shi song su sun tan tang
tao tian wan wang wei wen wu xia xiang xiao xie xiong xu xue yan yang yao ye yi yin yu yuan zeng zhang zhao zheng zhong zhou zhu zou
"""
_FAMILIES = frozenset(_FAMILY_NAMES.split())
# What may follow each consonant: "Hansen" is made of such syllables, "Weber" and "Lee" are not.
_SYLLABLE = "|".join(
    f"(?:{before})(?:{after})"
    for before, after in (
        ("", "a|ai|an|ang|ao|e|ei|en|eng|er|o|ou"),
        ("[bpm]", "a|ai|an|ang|ao|e|ei|en|eng|i|ian|iao|ie|in|ing|iu|o|ou|u"),
        ("f", "a|an|ang|ei|en|eng|o|ou|u"),
        ("[dt]", "a|ai|an|ang|ao|e|ei|en|eng|i|ia|ian|iao|ie|ing|iu|ong|ou|u|uan|ui|un|uo"),
        ("[nl]", "a|ai|an|ang|ao|e|ei|en|eng|i|ia|ian|iang|iao|ie|in|ing|iu|o|ong|ou|u|uan|ue|un|uo|v|ve"),
        ("[gkh]|zh|ch|sh", "a|ai|an|ang|ao|e|ei|en|eng|ong|ou|u|ua|uai|uan|uang|ui|un|uo"),
        ("[jqx]", "i|ia|ian|iang|iao|ie|in|ing|iong|iu|u|uan|ue|un"),
        ("[rzcs]", "a|ai|an|ang|ao|e|ei|en|eng|i|ong|ou|u|ua|uan|ui|un|uo"),
        ("zh|ch|sh", "i"),
        ("y", "a|an|ang|ao|e|i|in|ing|o|ong|ou|u|uan|ue|un"),
        ("w", "a|ai|an|ang|ei|en|eng|o|u"),
    )
)
_PINYIN = re.compile(f"(?:{_SYLLABLE}){{1,2}}")
# "Ann B. Lee" as most names are: a first name or initial, anything of letters between, a family name of three letters or more. Not
# where the first word may be the family name (Chinese, or in capitals), or one of the two no name.
_USUAL_NAME = re.compile(r"([A-Za-z]+)(?:[ .][A-Za-z .'-]*)?[ .]([A-Za-z]{3,})")
_NOT_FIRST, _NOT_LAST = _SUFFIXES | _FAMILIES, _SUFFIXES | {"author", "listed"}
_CAPITALS = 4  # letters from which a first word in capitals is no row of initials
_NAME_MARKS = np.isin(np.arange(256), list(b" .'-"))
_WORD_BYTES = 8  # of a word that is looked up, at most
_FIRST_WORDS, _LAST_WORDS = (
    np.array([int.from_bytes(word.encode(), "little") for word in words], dtype=np.uint64) for words in (_NOT_FIRST, _NOT_LAST)
)
_SIGNED = 1 << 63
_NAME_CACHE = 1 << 17


def fold_name(name: str) -> str:
    """Folded family name, a blank and the first initial; of a name in Han, kana or Hangul its characters in their order, so that
    it does not matter which part comes first; "" where nobody is left. Accents go, and so do titles, suffixes, degrees, e-mails, the
    marks of footnotes, and the numbers that some dumps put behind namesakes.
    """
    return readings(name)[0]


def readings(name: str) -> tuple[str, ...]:
    """The folded name, and the one read the other way round where nothing tells which end the family name is: "Chen Hansen"."""
    if usual := _USUAL_NAME.fullmatch(name):
        first, last = usual[1].lower(), usual[2].lower()
        if first not in _NOT_FIRST and last not in _NOT_LAST and (len(first) < _CAPITALS or usual[1][1].islower()):
            return (f"{last} {first[0]}",)
    return _read_any_name(name)


def _read_any_name(name: str) -> tuple[str, ...]:
    if not name.isascii():
        name = "".join(letter for letter in name if not unicodedata.decomposition(letter).startswith("<super>"))
        if found := _CJK.findall(unicodedata.normalize("NFKC", name)):
            return ("".join(sorted(found)),)
        name = "".join(letter for letter in unicodedata.normalize("NFKD", name) if unicodedata.category(letter) != "Mn")
        name = name.translate(_COMMAS)
    name = _BESIDE.sub("", name).strip().removeprefix("and ")
    if name != name.lower():  # else a lone letter is an initial
        name = _FOOTNOTES.sub("", name)
        if (untitled := _DEGREES.sub("", name)) != name and sum(word[0].isupper() for word in _words(untitled)) > 1:
            name = untitled  # "Smith, M.D." has initials
    head, comma, tail = name.partition(",")
    family, given = _words(head), _words(tail) if comma else []
    if not given:
        words = family
        family, given = _parted(head, words)
        if _either_way(words):
            other = words[-1:] if family[0] == words[0] else words[:1]
            return _folded(family, given), _folded(other, words[:-1] if other == words[-1:] else words[1:])
    return (_folded(family, given),)


def _folded(family: list[str], given: list[str]) -> str:
    if not family:
        family, given = given[:1], []
    if not family:
        return ""
    parts = [letters for part in _HYPHENS.split(family[-1]) if len(letters := _letters(part)) > 1] or [_letters(family[-1])]
    folded = f"{parts[-1]} {_letters(given[0])[0]}" if given else parts[-1]
    return "" if folded in _NOBODY else folded


def _either_way(words: list[str]) -> bool:
    """Whether the words of a name without a comma may begin or end with the family name: it looks Chinese, and neither end is in
    capitals alone."""
    folded = [_letters(word) for word in words]
    if len(words) < 2 or folded[0] not in _FAMILIES or not all(len(word) > 1 and _PINYIN.fullmatch(word) for word in folded):
        return False
    return words[0].isupper() == words[-1].isupper()


def _words(text: str) -> list[str]:
    """The words of a name, as written, that hold letters and are no title or suffix."""
    return [word for word in _SEPARATORS.split(text) if (letters := _letters(word)) and letters not in _SUFFIXES]


def _parted(name: str, words: list[str]) -> tuple[list[str], list[str]]:
    """Family and given names of a name without a comma. name: as written; words: of it."""
    if len(words) < 2:
        return words, []
    folded = [_letters(word) for word in words]
    if count := _trailing_initials(name.split()[0], words):
        return words[:-count], words[-count:]
    if min(map(len, folded)) > 1:
        in_capitals = [word.isupper() for word in words]
        if in_capitals[0] and len(words[0]) > 3 and not any(in_capitals[1:]):  # "DUPONT Jean"
            return words[:1], words[1:]
        if folded[0] in _FAMILIES and folded[-1] not in _FAMILIES and all(map(_PINYIN.fullmatch, folded)):
            return words[:1], words[1:]
    if [word.endswith(_PATRONYMICS) for word in folded] == [False, False, True]:
        return words[:1], words[1:]
    return words[-1:], words[:-1]


def _letters(part: str) -> str:
    """One word of a name, folded: letters only, hyphens and apostrophes closed up."""
    folded = part.lower() if part.isascii() else part.casefold().translate(_STROKES)
    return folded if folded.isalpha() else "".join(letter for letter in folded if letter.isalpha())


def _trailing_initials(first: str, words: list[str]) -> int:
    """How many of the words are initials behind the family name: of "Smith J", "Smith J. A.", "Smith JA", "De Vries HJ"."""
    single = next((place for place, word in enumerate(reversed(words)) if len(_letters(word)) > 1), 0)
    if single and len(_letters(words[0])) > 1:
        return single
    last = _HYPHENS.sub("", words[-1])
    if len(last) > 2 or not last.isupper() or "." in first or first.isupper():
        return 0
    if last.lower() in _FAMILIES and all(_PINYIN.fullmatch(_letters(word)) for word in words):  # "Wei LI"
        return 0
    return int(len(first) > 2 or first.lower() in _SHORT_PARTICLES)


@lru_cache(maxsize=_NAME_CACHE)
def keys_of_name(name: str) -> tuple[int, ...]:
    """XXH3-64 of the folded name as a signed integer, one for each way in which it can be read; none where it holds no letter."""
    values = [xxhash.xxh3_64_intdigest(folded.encode("utf-8", "replace")) for folded in readings(name) if folded]
    return tuple(value - (1 << 64) if value >= _SIGNED else value for value in values)


def author_keys(authors: list[AuthorRow]) -> list[int]:
    """The keys of a record's authors, distinct and sorted."""
    if not authors:
        return []
    return sorted({key for _, name, _, _ in authors if name for key in keys_of_name(name)})


def keys_of_names(names: pa.LargeStringArray) -> tuple[Integers, Integers]:
    """The places of names that have keys, in no order, and the keys, as `keys_of_name` gives them: a name that can be read in two ways
    has its place twice. Names as most are written are folded all at once."""
    bounds, data = bounds_of(names)
    said = np.flatnonzero(np.diff(bounds))
    if not len(said):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    usual, folded, folded_bounds = _fold_usual(data, bounds[said], bounds[said + 1])
    rest = said[~usual]
    others = [keys_of_name(name) for name in pl.Series(names.take(as_arrow(rest))).to_list()]
    lengths = np.array([len(keys) for keys in others], dtype=np.int64)
    keys = np.array(list(chain.from_iterable(others)), dtype=np.int64)
    return np.append(said[usual], np.repeat(rest, lengths)), np.append(xxh3.keys_of(folded, folded_bounds).view(np.int64), keys)


def _fold_usual(data: Bytes, starts: Integers, stops: Integers) -> tuple[Mask, Bytes, Integers]:
    """Which names are written as `_USUAL_NAME` has it, and these as `fold_name` folds them: one run of bytes, and the bounds in it."""
    padded = np.append(data, np.zeros(_WORD_BYTES, dtype=np.uint8))
    lower: Bytes = padded | np.uint8(0x20)  # of what is no letter, only the blank is used, which it does not change
    letter = (lower[: len(data)] - np.uint8(ord("a"))) < 26  # below an "a" it wraps around
    places = np.arange(len(data))
    first_end = np.minimum.reduceat(np.where(letter, len(data), places), starts)  # where what is no letter comes first, and last
    family = np.maximum.reduceat(np.where(letter, -1, places), starts) + 1
    strange = np.logical_or.reduceat(~(letter | _NAME_MARKS[data]), starts)
    usual = ~strange & (first_end > starts) & (family > first_end) & (stops - family >= 3)
    for mark in (padded[first_end], padded[family - 1]):
        usual &= (mark == ord(" ")) | (mark == ord("."))
    usual &= (first_end - starts < _CAPITALS) | (padded[starts + 1] == lower[starts + 1])
    usual &= ~_are_among(_FIRST_WORDS, lower, starts, first_end) & ~_are_among(_LAST_WORDS, lower, family, stops)
    family, lengths = family[usual], (stops - family)[usual] + 2
    bounds: Integers = np.append(0, np.cumsum(lengths))
    folded = lower[np.arange(bounds[-1]) + np.repeat(family - bounds[:-1], lengths)]
    folded[bounds[1:] - 2] = ord(" ")
    folded[bounds[1:] - 1] = lower[starts[usual]]
    return usual, folded, bounds


def _are_among(words: Words, lower: Bytes, starts: Integers, stops: Integers) -> Mask:
    """Which words of a text are among some. lower: in lower case, with eight bytes behind the last word."""
    found = np.ndarray((len(lower) - _WORD_BYTES + 1,), "<u8", lower, strides=(1,))[starts]
    lengths = stops - starts
    found &= np.uint64(2**64 - 1) >> (8 * (_WORD_BYTES - np.clip(lengths, 1, _WORD_BYTES))).astype(np.uint64)
    return np.isin(found, words) & (lengths <= _WORD_BYTES)


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

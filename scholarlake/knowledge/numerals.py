"""The numbers of a scientific text, as values that can be compared: 1,234 is 1234, 1.2 × 10⁻³ is 0.0012, and 87.3 is not 87.

Nothing is rounded and no unit is converted; −5 is not 5, and 5 % is not 5. What a text leaves open, such as "12,5", has several readings.
Digits in a name ("COVID-19", "p53") are part of it, and no number. What does not belong here: where a number must stand (`grounding`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from scholarlake.knowledge.quoting import DASHES

Reading = tuple[Decimal, ...]

_THIN = "\u2009"  # any blank that keeps the digits of one number together
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-", strict=True))
_TEX = (
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\{10\}(?=\^)"), "10"),
    (re.compile(r"\\[,;:! ]|~"), _THIN),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"\\(?:times|cdot)(?![A-Za-z])"), "×"),
    (re.compile(r"\\pm(?![A-Za-z])"), "±"),
    (re.compile(r"\\(?:leq?|leqslant)(?![A-Za-z])"), "≤"),
    (re.compile(r"\\(?:geq?|geqslant)(?![A-Za-z])"), "≥"),
    (re.compile(r"\\(?:approx|sim|simeq)(?![A-Za-z])"), "≈"),
    (re.compile(r"\\(?:mathrm|rm|text|textrm|mathbf|mathit|unit|si)(?![A-Za-z])\s*"), ""),
)
_PERCENT = re.compile(r"\s?\bper\s?cent\b|\s?\bpct\b", re.IGNORECASE)

_POWER = r"(?:\^\s*\{?\s*[+-]?\s?\d+\s*\}?|\*\*\s*[+-]?\d+)"
_NUMBER = re.compile(
    rf"""
    (?P<mantissa>
        \d{{1,3}}(?:[,{_THIN}'’]\d{{3}})+(?!\d)(?:[.·]\d+)?     # 1,234.5
      | (?<![\d.])\d+(?:(?:\.|·(?!10\s?(?:\^|\*\*)))\d+)*(?:,\d{{1,2}}(?![\d,]))?  # 12.5, 1.2.3 and 12,5, but not 6·10^5
      | (?<![\w.])[.·]\d+                                        # .05
      | \d+
    )
    (?:
        (?P<e>[eE][+-]?\d+)(?![\w.])
      | {_THIN}?\s?[×xX*·⋅]{_THIN}?\s?10\s?(?P<power>{_POWER}|[+-]\d+)
      | (?P<bare>{_POWER})
    )?
    (?:\s?(?P<scale>hundred|thousand|million|billion|trillion)s?\b|(?P<kilo>[kK])(?![A-Za-z]))?
    """,
    re.VERBOSE,
)
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_UNITS_IN_ORDER = "zero one two three four five six seven eight nine ten eleven twelve"
_TEENS_IN_ORDER = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS_IN_ORDER = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS_IN_ORDER = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_UNITS = {word: value for value, word in enumerate(f"{_UNITS_IN_ORDER} {_TEENS_IN_ORDER}".split())}
_TENS = {word: 10 * value for value, word in enumerate(_TENS_IN_ORDER.split(), 2)}
_ORDINALS = {word: value for value, word in enumerate(_ORDINALS_IN_ORDER.split(), 1)}
_SMALL = rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(list(_UNITS)[1:10])}))?|{'|'.join(reversed(_UNITS))})"
_SCALE = "(?:hundred|thousand|million|billion|trillion)"
_WORDS = re.compile(
    rf"\b(?:{_SMALL}|an?(?=[\s-]{_SCALE}))(?:(?:[\s-]{_SCALE}\b)+(?:[\s-](?:and[\s-])?{_SMALL}\b)?)*(?=fold\b|\b)", re.IGNORECASE
)
_ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b", re.IGNORECASE)

_BEFORE_NAME = re.compile(
    r"(?<![\\A-Za-z])[^\W\d_]+\Z|(?<![\\A-Za-z])(?:[^\W\d_]|[^\W_]*[A-Z][^\W_]*)-\Z|[^\W_]*[^\W\d_][^\W_]*-[^\W_]*[^\W\d_][^\W_]*\Z"
)
_NAME = re.compile(r"[^\W_](?:[^\W_]|[-/.](?=[^\W_]))*")
_ORDINAL_ENDING = re.compile(r"(?:st|nd|rd|th|s)\b")
_UNIT_POWER = re.compile(r"(?<![^\W_])[a-zμµ]{1,3}\Z")
_DECADE = re.compile(r"\d+0s\b")
_MOST_DIGITS, _MOST_POWER = 400, 9_999

#: What only sets a unit: blanks, and the signs of TeX.
SET = r"[\s\u2009${}^_\\~]*"
#: Units that are a sign or a few letters: right behind a number they are its unit and nothing else.
MEASURE = re.compile(
    rf"{SET}(?P<measure>[%‰€£¥Å]|°\s?[CFK]?|(?:[kMGTmµμnpf]?(?:g|s|Hz|eV|W|V|Pa|J|mol|M|L|l|B|bp|Da)|[kcmµμn]?m|min|h|dB|K|kcal|ppm|ppb|kb|Mb)(?![^\W_]))"
)

#: What may stand between a number and another that shares its unit: "3–5 %", "3, 4 and 5 %", "1.2 ± 0.1 ms".
_CHAIN = re.compile(r"[\s$]*(?:-{1,3}|±|\+/-|,|;|/|to|and|or|vs\.?|versus|through|,\s*and|,\s*or|\()[\s$]*[+-]?\Z")


@dataclass(frozen=True)
class Numeral:
    """A number in a text. written: as it stands there; readings: the values that it may stand for, each as one or more numbers;
    unit: the sign, symbol or letters behind it that can be nothing else, "" where there are none; name: what it is part of, where it is
    no number;
    in_words: whether it is a word; start, end: characters of the levelled text."""

    written: str
    readings: tuple[Reading, ...]
    start: int
    end: int
    unit: str = ""
    name: str | None = None
    in_words: bool = False

    @property
    def value(self) -> Decimal | None:
        """The one number that it is, where it is one."""
        return self.readings[0][0] if self.readings and len(self.readings[0]) == 1 else None


@lru_cache(maxsize=4_096)
def level(text: str) -> str:
    """A text with one spelling for what numbers and units are written with: digits, minus signs, powers, percent, TeX."""
    if "\\" in text or "{" in text or "~" in text:
        for pattern, plain in _TEX:
            text = pattern.sub(plain, text)
    if not text.isascii():
        text = "".join(_levelled(text))
    return _PERCENT.sub("%", text) if re.search("per\\s?cent|pct", text, re.IGNORECASE) else text


def _levelled(text: str) -> Iterator[str]:
    raised = False
    for sign in text:
        if sign in _RAISED:
            yield _RAISED[sign] if raised else "^" + _RAISED[sign]
            raised = True
            continue
        raised = False
        if sign in DASHES:
            yield "-"
        elif sign in "\u00a0\u2007\u2008\u2009\u202f":
            yield _THIN
        elif sign == "\u2044":
            yield "/"
        elif sign.isdecimal():
            yield str(unicodedata.decimal(sign))
        elif sign in "·⋅×±≤≥≈’":
            yield sign
        else:
            yield unicodedata.normalize("NFKC", sign)


@lru_cache(maxsize=4_096)
def numerals(text: str) -> tuple[Numeral, ...]:
    """The numbers of a text, in order. Positions are of `level(text)`."""
    there = level(text)
    found = list(_in_digits(there)) + list(_in_words(there))
    return tuple(sorted(found, key=lambda one: one.start))


def _in_digits(text: str) -> Iterator[Numeral]:
    for found in _NUMBER.finditer(text):
        start, end = found.span()
        name = _name_around(text, start)
        if name is not None:
            yield Numeral(found[0], (), start, end, name=name)
            continue
        negative, sure = _sign(text, start)
        written = ("-" if negative else "") + found[0].strip()
        readings = tuple(_readings(found, negative))
        if not sure:
            readings += tuple(_readings(found, False))
        tail = text[end : end + 40]
        yield Numeral(written, readings, start, end, unit="" if _DECADE.match(found[0] + tail) else _unit_behind(tail))


def _name_around(text: str, start: int) -> str | None:
    """The name that the digits there are part of."""
    before = text[max(0, start - 40) : start]
    if not _BEFORE_NAME.search(before) or re.search(r"\\[A-Za-z]+\Z", before):
        return None
    if re.search(r"(?:\A|[^\w])[xX]\Z", before) and re.search(r"\d\s?[xX]\Z", before):
        return None  # 3 x5
    for name in _NAME.finditer(text, max(0, start - 40)):
        if name.start() <= start < name.end():
            return name[0]
    return None


def _sign(text: str, start: int) -> tuple[bool, bool]:
    """Whether the number there is negative, and whether that is sure: after "3 -" or "cm-", a minus may be a dash."""
    before = text[max(0, start - 6) : start]
    if before.endswith("-"):
        rest = before[:-1]
        if _UNIT_POWER.search(rest) and re.match(r"\d(?![\d.,])", text[start : start + 2]):
            return True, False  # cm-2, where a raised number came down
        if re.search(r"[\w)\]}%]\Z", rest):
            return False, True
        return True, not re.search(r"\d[\s%-]*\Z", rest)
    if re.search(rf"(?:\A|[=<>≤≥≈±(\[,:×])[\s{_THIN}]*-[\s{_THIN}]\Z", before):
        return True, True
    return False, True


def _readings(found: re.Match[str], negative: bool) -> Iterator[Reading]:
    mantissa, shift = found["mantissa"], 0
    if found["scale"]:
        shift += _SCALES[found["scale"].lower()]
    if found["kilo"]:
        shift += 3
    if found["e"]:
        shift += _power(found["e"][1:])
    if found["power"]:
        shift += _power(found["power"])
    if found["bare"]:
        if mantissa == "10":
            yield from _one("1", _power(found["bare"]) + shift, negative)
        else:
            yield from (
                (*one, *other) for one in _one(mantissa, 0, negative) for other in _one(re.sub(r"[^\d]", "", found["bare"]), 0, False)
            )
        return
    if re.fullmatch(rf"\d{{1,3}}(?:[,{_THIN}'’]\d{{3}})+(?:[.·]\d+)?", mantissa):
        yield from _one(re.sub(rf"[,{_THIN}'’]", "", mantissa).replace("·", "."), shift, negative)
    elif "," in mantissa:
        whole, _, rest = mantissa.partition(",")
        if whole.isdecimal():
            yield from _one(f"{whole}.{rest}", shift, negative)
        yield from ((*one, *other) for one in _one(whole, 0, negative) for other in _one(rest, shift, False))
    else:
        yield from _one(mantissa.replace("·", "."), shift, negative)
        lost = re.match(r"-(\d{1,2})(?![\d.])", found.string[found.end() : found.end() + 5])
        if mantissa == "10" and lost and not shift:  # 10-5, where raised digits came down
            yield from _one("1", -int(lost[1]), negative)


def _one(digits: str, shift: int, negative: bool) -> Iterator[Reading]:
    """The reading of plain digits with at most one point; of more points (1.2.3), as many numbers."""
    if digits.count(".") > 1:
        yield tuple(Decimal(part) for part in digits.split(".") if part)
    elif len(digits) <= _MOST_DIGITS and abs(shift) <= _MOST_POWER:
        yield (Decimal(f"{'-' if negative else ''}{digits}E{shift}"),)


def _power(text: str) -> int:
    digits = re.sub(r"[^\d-]", "", text)
    return int(digits) if len(digits) < 6 else _MOST_POWER + 1


def _unit_behind(tail: str) -> str:
    """The unit that a number has beyond doubt: a sign or symbol behind it, or letters that follow without a blank."""
    if measure := MEASURE.match(tail):
        return re.sub(r"\s", "", measure["measure"])
    letters = re.match(r"[^\W\d_]+", tail)
    return "" if letters is None or _ORDINAL_ENDING.match(tail) else letters[0]


def _in_words(text: str) -> Iterator[Numeral]:
    for found in _WORDS.finditer(text):
        words = re.findall(r"[a-z]+", found[0].casefold())
        tail = text[found.end() : found.end() + 12]
        yield Numeral(found[0], ((Decimal(_value(words)),),), *found.span(), unit="%" if re.match(r"[\s-]?%", tail) else "", in_words=True)
    for found in _ORDINAL.finditer(text):
        yield Numeral(found[0], ((Decimal(_ORDINALS[found[0].lower()]),),), *found.span(), name="", in_words=True)


def _value(words: list[str]) -> int:
    total, current = 0, 0
    for word in words:
        if word in _SCALES:
            current = max(1, current) * 10 ** _SCALES[word]
            if word != "hundred":
                total, current = total + current, 0
        elif word not in ("and", "a", "an"):
            current += _UNITS.get(word, 0) + _TENS.get(word, 0)
    return total + current


def chained(text: str, one: Numeral, next_one: Numeral) -> bool:
    """Whether a number of a levelled text shares with the next one what follows that: "3-5 %"."""
    return bool(_CHAIN.match(text[one.end : next_one.start]))

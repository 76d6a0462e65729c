"""The numbers that a sentence reports: value as written, its unit, what it measures, how it is compared.

What is no quantity: marks of citations, years, numbers of figures, equations and sections, indices
and exponents of formulas, names with digits. What does not belong here: which number a value is, and whether it stands in its evidence
(`grounding`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from scholarlake.knowledge.cues import lexicon
from scholarlake.knowledge.grammar import Token, noun_phrase
from scholarlake.knowledge.objects import Quantity
from scholarlake.knowledge.units import unit_at

_MINUS = "[-−–]"
_PLAIN = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_POWER = rf"10\s?\^?\s?\{{?(?:{_MINUS}\s?)?\d{{1,3}}\}}?"
_NUMBER = (
    rf"(?:{_MINUS}\s?)?(?:(?:{_PLAIN})(?:\s?(?:×|x|\*|·|\\times|\\cdot)\s?{_POWER}|[eE]{_MINUS}?\d+)?|10\s?\^\s?\{{?{_MINUS}?\s?\d{{1,3}}\}}?)"
    r"(?:\s(?:hundred|thousand|million|billion|trillion)\b)?"
)
_LINK = r"±|\+/-|\\pm|\(±|\+-"
_VALUE = re.compile(
    rf"(?P<first>{_NUMBER})(?:(?:\s?%)?\s?(?P<plus>{_LINK})\s?(?P<error>{_NUMBER})\)?"
    rf"|(?:\s?%)?\s?(?P<range>–|-|to|--|—|and)\s?(?P<second>(?:{_PLAIN})(?:\s?(?:×|\\times)\s?{_POWER})?)(?![\w.]?\d))?"
)
_BOUNDS = re.compile(rf"(?P<first>{_NUMBER})(?P<plus>(?!))?,\s?(?P<range>)(?P<second>{_NUMBER})(?![\w.]?\d)")
_SINGLE = re.compile(rf"(?P<first>{_NUMBER})(?P<plus>(?!))?(?P<range>(?!))?(?P<second>(?!))?")
_CONFIDENCE = re.compile(r"\s?%?\s?(?:CI|C\.?\s?L\b\.?|CrI|confidence|credible|prediction interval)")
#: The name of an interval right before its bounds.
_INTERVAL = re.compile(
    r"(?P<name>\d+(?:\.\d+)?\s?%\s?(?:CI|CrI|(?:confidence|credible|prediction) (?:interval|limits)s?(?: \[?\(?CI\)?\]?)?)"
    r"|IQR|interquartile range|range|CI)\s?[:,=]?\s?[\[(]?\s?\Z"
)
_COMPARATOR = re.compile(
    r"(?P<sign>=<|=>|<=|>=|≤|≥|<|>|≈|∼|~|≃|=|\\leq?(?:slant)?|\\geq?(?:slant)?|\\approx|\\sim(?:eq)?|\\lesssim|\\gtrsim|"
    r"\b(?:not (?:exceeding|more than|less than)|"
    r"at least|at most|(?:more|less|fewer|greater|larger|smaller|higher|lower) than|up to|below|above|over|under|about|"
    r"approximately|around|roughly|nearly|almost|exceeding|exceeds?|within|only|as (?:high|low|many|much|few|large|small) as|between|"
    r"a (?:minimum|maximum) of))\s*\$?\s*\Z",
    re.IGNORECASE,
)
_MORE = r"(?:\.?\s(?:S?\d+[A-Z]?(?:\s?[,–-]\s?|\s(?:and|or|to)\s))+)"
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d\Z")
_GOES_ON = re.compile(r"[A-Za-z_^{\\(]")
_UNIT_FOLLOWS = re.compile(r"\\[,; ]|\\%|\\times|[µμ]|fold\b|[kKmMnGTPp]?(?:[gmsLlKVWJNTAF]|eV|Hz|bp|b|Da|M)\b|[hx]\b|yr?s?\b|\(")
_AGE_FOLLOWS = re.compile(r"[-‐‑–](?:year|month|week|day|hour|minute|second|h|d(?= old)|min|mm|cm|m|km|kb|bp|kDa|nm)\b")
_JOINED_FOLLOWS = re.compile(r"\s?(?:,|and|or|to|-|–) ?\d+[-‐‑–](?!fold|year|month|week|day|hour|min)[A-Za-z(]")
_TERM_FOLLOWS = re.compile(r"\s?(?:[+*/^_-]|\\(?!,|;|%|mathrm|rm|text)[a-zA-Z])")  # the number is part of a longer formula
_AS_LIKELY = re.compile(r"\s?%\s(?:as|more|less)\s")
_FOLD = re.compile(r"\s?[-‐‑–]?fold\b")
_MEASURING = frozenset(("equals", "equalled", "reached", "reaches", "averaged", "averages", "exceeded", "exceeds", "totalled", "scored"))
_IN_SUBJECT = frozenset(
    (
        "AJ0",
        "AJC",
        "AJS",
        "NN0",
        "NN1",
        "NN2",
        "NN",
        "NP0",
        "PRF",
        "PRP",
        "AT0",
        "DPS",
        "DT0",
        "CRD",
        "ORD",
        "VVN",
        "VVG",
        "ZZ0",
        "UNC",
        "AV0",
    )
)
_NO_SYMBOLS = frozenset(
    ("was", "were", "is", "are", "and", "or", "of", "the", "for", "to", "in", "at", "by", "had", "has", "but", "a", "an", "be")
)
_COUNTED_BEFORE = frozenset(("AJ0", "AJC", "AJS", "NN1", "NN0", "NP0", "VVN", "VVG", "ORD"))


def quantities(text: str, tokens: Sequence[Token]) -> tuple[Quantity, ...]:
    """The quantities of a sentence in order, every part of them as it stands there. tokens: of just this sentence."""
    found = [_read(text, match, tokens, inside_formula) for match, inside_formula in _candidates(text)]
    return tuple(dict.fromkeys(quantity for quantity in found if quantity is not None))


def _candidates(text: str) -> Iterator[tuple[re.Match[str], bool]]:
    """Everything that could be a number, and whether it stands in a formula."""
    formulas = [(found.start(), found.end()) for found in re.finditer(r"\$[^$]+\$|\\\(.+?\\\)", text)]
    at = 0
    while (match := _VALUE.search(text, at)) is not None:
        linked = match["range"] or ""
        # "from 3 to 5" are two values, and so are "3 and 5" unless something lies between them.
        if linked and not _is_range(text[max(0, match.start() - 12) : match.start()], linked):
            match = _SINGLE.match(text, match.start()) or match
        if not match["second"] and _INTERVAL.search(text[max(0, match.start() - 60) : match.start()]):
            match = _BOUNDS.match(text, match.start()) or match  # "95% CI = 0.2, 0.4"
        at = match.end()
        yield match, any(start <= match.start() < end for start, end in formulas)


def _is_range(before: str, linked: str) -> bool:
    if linked == "and":
        return before.rstrip().lower().endswith("between")
    return linked != "to" or not before.rstrip(" $").lower().endswith("from")


@cache
def _label() -> re.Pattern[str]:
    """What before a number makes it the number of something, as in "Figure 3" and "Tables 1 and 2"."""
    words = "|".join(lexicon().number_labels)
    return re.compile(rf"(?:\b(?:{words})(?:\.?\s?(?:S\s?)?\(?|{_MORE})|[#§№@/_^{{\\])\Z", re.IGNORECASE)


def _read(text: str, match: re.Match[str], tokens: Sequence[Token], inside_formula: bool) -> Quantity | None:
    start, end = match.span()
    value = text[start:end].strip()
    before, after = text[max(0, start - 60) : start], text[end : end + 60]
    if not _stands_alone(before, after, value, inside_formula) or _label().search(before):
        return None
    if re.search(r"[\[(]\s?(?:\d+\s?[,;–-]\s?)*\Z", before) and re.match(r"\s?(?:[,;–-]\s?\d+\s?)*[\])]", after) and value.isdigit():
        return None  # marks of citation, numbers of equations
    if _CONFIDENCE.match(text, end):
        return None  # how sure an interval is, told with the interval
    interval = _INTERVAL.search(before)
    if interval is not None and match["second"]:
        unit, counted = _unit(text, end, tokens, inside_formula)
        return Quantity(value, unit=None if counted else unit, metric=interval["name"])
    compared = _COMPARATOR.search(before)
    comparator = compared["sign"] if compared else None
    unit, counted = _unit(text, end, tokens, inside_formula)
    if counted and _symbol_before(before, compared):
        unit = None  # "N=2 theories" counts none
    if unit is None and _YEAR.match(value) and not (comparator and _symbol_before(before, compared)):
        return None
    if _YEAR.match(match["first"]) and unit is None and match["second"]:
        return None
    at = start if compared is None else start - len(before) + compared.start()
    compares = _AS_LIKELY.match(text, end) is not None  # "only 60% as likely" measures no noun before it
    metric = None if (counted and unit) or compares else _metric(text, at, tokens, compared)
    is_small = value.isdigit() and len(value) == 1
    if unit is None and metric is None and (comparator in (None, "=", "only", "about", "under", "over") or is_small):
        return None  # a bare number that nothing is said of
    if inside_formula and unit is None and (comparator is None or not _symbol_before(before, compared)):
        return None
    if counted and is_small and comparator is None and inside_formula:
        return None
    if match["plus"]:
        comparator = comparator or match["plus"].strip("(")
    return Quantity(value, unit=unit, metric=metric, comparator=comparator)


def _stands_alone(before: str, after: str, value: str, inside_formula: bool) -> bool:
    """Whether it is no part of a name, a formula, a date or a longer number."""
    last, following = before[-1:], after[:1]
    if last and (last.isalnum() or last in "_^{\\'’/*×|"):
        return False
    if last in "-–−‐‑" and before[-2:-1].isalnum():
        return False
    if last == "+" and before[-2:-1].isalnum():
        return False  # 10+1 dimensions
    if re.match(r"\s?[×x]\s?\d", after) or re.search(r"\d\s?[×x]\s?\Z", before):
        return False  # a grid of 100 × 50
    if last == "." and before[-2:-1].isalnum():
        return False
    if last == "," and before[-2:-1].isdigit():
        return False
    if last == "(" and re.search(r"[A-Za-z]\(\Z", before):
        return False  # SU(2), Gal(4)
    if _GOES_ON.match(after) and not _UNIT_FOLLOWS.match(after):
        return False
    if following == "(" and inside_formula:
        return False
    if re.match(r"[-‐‑–](?!fold)[A-Za-z(]", after) and not _AGE_FOLLOWS.match(after):
        return False  # 3-manifold, 5-HT
    if _JOINED_FOLLOWS.match(after):
        return False  # 2- and 3-point functions
    if re.match(r"(?:st|nd|rd|th)\b|['′’]|/\d|:\d|\.\d|,\d", after):
        return False
    return not (inside_formula and _TERM_FOLLOWS.match(after))


def _symbol_before(before: str, compared: re.Match[str] | None) -> bool:
    """Whether a comparing sign stands there, with a symbol of one thing before it: "p <", "$N =", "D \\geq"."""
    if compared is None or compared["sign"][0].isalpha():
        return False
    rest = before[: compared.start()].rstrip()
    return re.search(r"(?:^|[\s($,;])\\?[A-Za-z]+(?:_\{?\w+\}?)?(?:\^\{?\w+\}?)?\$?\Z", rest) is not None


def _unit(text: str, end: int, tokens: Sequence[Token], inside_formula: bool) -> tuple[str | None, bool]:
    """The unit behind a number, and whether it is what is counted rather than a unit of measurement."""
    fold = _FOLD.match(text, end)
    if fold is not None:
        return fold.group().strip(" -‐‑–"), False
    unit = unit_at(text, end + 1 if inside_formula and text[end : end + 1] == "$" else end)  # "$m < 0.3$ eV"
    if unit is not None:
        return unit, False
    if inside_formula:
        return None, False
    return _counted(text, end, tokens), True


def _counted(text: str, end: int, tokens: Sequence[Token]) -> str | None:
    """The noun in the plural that a number counts, with its modifiers: "57 adult patients"."""
    at = next((place for place, token in enumerate(tokens) if token.start >= end), None)
    if at is None or text[end : tokens[at].start].strip(" "):
        return None
    first = at
    while at < len(tokens) and at - first < 5:
        token = tokens[at]
        if at > first and text[tokens[at - 1].end : token.start] != " ":
            return None
        if token.tag in ("NN2", "NN0") and token.text[:1].isalpha():
            return text[tokens[first].start : token.end]
        if token.tag not in _COUNTED_BEFORE:
            return None
        at += 1
    return None


def _metric(text: str, at: int, tokens: Sequence[Token], compared: re.Match[str] | None) -> str | None:
    """What a number that stands there measures: the noun phrase before "of", "was", "=" or the sign."""
    last = next((place for place in range(len(tokens) - 1, -1, -1) if tokens[place].end <= at), None)
    if last is None or text[tokens[last].end : at].strip(" ($"):
        return _symbol(text, at)
    if compared is not None and not compared["sign"][0].isalpha():
        return _symbol(text, at) or _name_before(text, tokens, last)
    while last > 0 and tokens[last].tag == "AV0":
        last -= 1
    if tokens[last].tag == "PRF" and last > 0:
        return _name_before(text, tokens, last - 1)
    if tokens[last].tag in ("VBB", "VBD", "VBZ") or tokens[last].text.lower() in _MEASURING:
        return _subject_before(text, tokens, last)
    return None


def _subject_before(text: str, tokens: Sequence[Token], verb: int) -> str | None:
    """The noun at the head of the subject of a verb: "mean age" of "the mean age of all patients was"."""
    begin = verb
    while begin > 0 and tokens[begin - 1].tag in _IN_SUBJECT:
        begin -= 1
    if begin > 0 and tokens[begin - 1].tag in ("TO0", "VVI", "VBI", "VVB"):
        return None  # the object of "to obtain" is not what is measured
    while begin < verb and tokens[begin].tag in ("PRP", "PRF"):
        begin += 1
    phrase = noun_phrase(tokens, begin, verb)
    if phrase is None:
        return None
    end = next((at for at in range(phrase.start + 1, phrase.end) if tokens[at].tag in ("PRP", "PRF", "CJS")), phrase.end)
    return text[tokens[phrase.start].start : tokens[end - 1].end] if end - phrase.start <= 6 else None


def _symbol(text: str, at: int) -> str | None:
    found = re.search(r"(?:^|[\s($,;\[])(\\?[A-Za-z]+(?:_\{?\w+\}?)?(?:\^\{?\w+\}?)?)\s?\$?\Z", text[:at].rstrip() if text[:at] else "")
    if found is None:
        return None
    name = found[1]
    if name in _NO_SYMBOLS:
        return None
    return name if len(name) <= 3 or name[0] == "\\" or "_" in name or "^" in name or name.isupper() else None


def _name_before(text: str, tokens: Sequence[Token], place: int) -> str | None:
    if not (tokens[place].is_noun and (tokens[place].text[:1].isalpha() or tokens[place].text[:1] in "$\\")):
        return None
    first = place
    while (
        first > 0
        and place - first < 4
        and tokens[first - 1].tag in ("AJ0", "AJC", "AJS", "NN1", "NN0", "NN2", "NP0", "NN")
        and tokens[first - 1].text[:1].isalnum()
    ):
        first -= 1
    return text[tokens[first].start : tokens[place].end]

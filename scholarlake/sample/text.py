"""The words of generated papers: titles that are all different, abstracts, authors, and other spellings of the same title.

A title is a number written in words: the work's rank in its topic, scrambled, gives one of each of five lists, so two works of one
topic never share a title and two topics share no method, problem or object.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from scholarlake.sample.draws import AUTHOR, ORGANISATION, VENUE, hex_id, scramble
from scholarlake.sample.topics import (
    CYRILLIC,
    FAMILY_NAMES,
    GIVEN_NAMES,
    GREEK,
    HAN,
    MANNERS,
    ORGANISATIONS,
    PLACES,
    SETTINGS,
    TOPICS,
    Topic,
)

_STEP: Final = 100_003  # prime, so that multiplying by it only reorders the numbers
_TITLES_A_TOPIC: Final = 20 * 24 * 8 * 8 * 8

_BACKGROUND: Final = (
    "The problem of {p} remains open for {o}.",
    "Work on {o} depends on {p}, yet evidence {q} is scarce.",
    "Earlier studies of {p} seldom considered {o} {q}.",
    "Interest in {p} for {o} has grown because {x} varies widely.",
)
_AIM: Final = (
    "We study {p} in {o} with {a} {m}.",
    "This paper presents {a} {m} for {p} in {o} {q}.",
    "We ask whether {m} can improve {p} in {o} {q}.",
    "Here we apply {a} {m} to {p} in {o}.",
)
_DATA: Final = (
    "The analysis covers {n} {u} gathered over {y} years.",
    "We used {n} {u} from {s} sites and held out {h}% for validation.",
    "Data comprised {n} {u}, of which {h}% came from an independent collection.",
    "A total of {n} {u} were examined in {s} groups.",
)
_RESULT: Final = (
    "{X} rose from {l} to {r}, an improvement of {g}% over {m2}.",
    "Compared with {m2}, {x} changed by {g}% (95% confidence interval {c} to {d}).",
    "{X} reached {r} against {l} for {m2}.",
    "The best configuration attained {x} of {r}, while {m2} gave {l}.",
)
_DETAIL: Final = (
    "The gain was largest for {o2} and vanished when fewer than {s} {u} were available.",
    "An ablation shows that {k}% of the effect is due to {m}.",
    "Sensitivity analysis over {s} settings left {x} within {c} of its mean.",
    "Results for {o2} were similar, with {x} of {l}.",
)
_CLOSE: Final = (
    "These findings suggest that {m} can serve {p}, but not {p2}.",
    "We discuss limits for {o2} and release the material for {p}.",
    "Further work should address {p2} in {o2}.",
    "The results support {m} as a means of {p} {q}.",
)


@dataclass(slots=True)
class Theme:
    """What a work is about: the phrases of its title, which its abstract takes up."""

    topic: Topic
    manner: str
    method: str
    problem: str
    object: str
    setting: str
    overflow: int  # how often the topic's titles have been used up before


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def theme_of(topic: int, rank: int) -> Theme:
    """The theme of a topic's rank-th work. No two ranks give the same."""
    overflow, number = divmod(rank, _TITLES_A_TOPIC)
    number = (number * _STEP + topic * 7919) % _TITLES_A_TOPIC
    number, method = divmod(number, 8)
    number, problem = divmod(number, 8)
    number, thing = divmod(number, 8)
    manner, setting = divmod(number, 24)
    words = TOPICS[topic]
    return Theme(words, MANNERS[manner], words.methods[method], words.problems[problem], words.objects[thing], SETTINGS[setting], overflow)


def title_of(theme: Theme) -> str:
    """The title in words: one of six forms, which the theme itself decides, so that different themes never meet in one title."""
    manner, method, problem, thing, setting = theme.manner, theme.method, theme.problem, theme.object, theme.setting
    form = (len(manner) + len(setting) + len(method)) % 6
    if form == 0:
        title = f"{_capital(manner)} {method} for {problem} in {thing} {setting}"
    elif form == 1:
        title = f"{_capital(problem)} in {thing} {setting}: {manner} {method}"
    elif form == 2:
        title = f"A study of {problem} in {thing} with {manner} {method} {setting}"
    elif form == 3:
        title = f"{_capital(thing)}: {problem} {setting} by {manner} {method}"
    elif form == 4:
        title = f"Towards {manner} {method} for {problem} in {thing} {setting}"
    else:
        title = f"{_capital(manner)} {method} & {problem} in {thing} {setting}"
    return f"{title}, part {theme.overflow + 1}" if theme.overflow else title


def foreign_title(script: int, number: int) -> str:
    """The number-th title in Han (1), Cyrillic (2) or Greek (3). All different."""
    lists = (HAN, CYRILLIC, GREEK)[script - 1]
    words = []
    rest = number
    for choices in lists:
        rest, digit = divmod(rest, len(choices))
        words.append(choices[digit])
    if script == 1:
        return f"基于{words[0]}的{words[1]}{words[2]}{words[3]}" + (f"之{rest + 1}" if rest else "")
    return " ".join(words) + (f" {rest + 1}" if rest else "")


def _other(phrases: tuple[str, ...], own: str, dice: int) -> str:
    """One of eight phrases that is not the work's own."""
    found = phrases[dice % 8]
    return found if found != own else phrases[(dice + 1) % 8]


def abstract_of(theme: Theme, dice: int, short: bool) -> str:
    """Three sentences where short, else six. dice: 64 random bits."""
    topic = theme.topic
    measure = topic.measures[dice % len(topic.measures)]
    low = 20 + (dice >> 3) % 500 / 10
    gain = 1 + (dice >> 12) % 290 / 10
    values = {
        "p": theme.problem,
        "P": _capital(theme.problem),
        "o": theme.object,
        "m": theme.method,
        "a": theme.manner,
        "q": theme.setting,
        "x": measure,
        "X": _capital(measure),
        "u": topic.unit,
        "m2": _other(topic.methods, theme.method, dice >> 21),
        "p2": _other(topic.problems, theme.problem, dice >> 24),
        "o2": _other(topic.objects, theme.object, dice >> 27),
        "n": f"{40 + (dice >> 30) % 9000:,}",
        "y": 2 + (dice >> 43) % 19,
        "s": 3 + (dice >> 48) % 40,
        "h": 5 + (dice >> 38) % 30,
        "k": 30 + (dice >> 35) % 60,
        "l": f"{low:.1f}",
        "r": f"{low + gain:.1f}",
        "g": f"{gain:.1f}",
        "c": f"{gain / 3:.2f}",
        "d": f"{gain * 1.4:.2f}",
    }
    forms = [_AIM[dice >> 54 & 3], _DATA[dice >> 56 & 3], _RESULT[dice >> 58 & 3]]
    if not short:
        forms = [_BACKGROUND[dice >> 60 & 3], *forms, _DETAIL[dice >> 62 & 3], _CLOSE[dice >> 52 & 3]]
    return " ".join(forms).format_map(values)


@lru_cache(maxsize=50_000)
def author(topic: int, number: int, seed: int) -> tuple[str, str, str, str]:
    """Id, name, organisation and its id of the number-th author of a topic."""
    dice = scramble(scramble(seed) ^ (topic << 40 | number))
    name = f"{GIVEN_NAMES[dice % len(GIVEN_NAMES)]} {FAMILY_NAMES[(dice >> 9) % len(FAMILY_NAMES)]}"
    if dice >> 20 & 1:
        given, family = name.split(" ")
        name = f"{given} {chr(65 + (dice >> 21) % 26)}. {family}"
    organisation = (topic * 13 + (dice >> 30) % 40) % (len(PLACES) * len(ORGANISATIONS))
    return hex_id(AUTHOR, topic << 32 | number, seed), name, *_organisation(organisation, seed)


@cache
def _organisation(number: int, seed: int) -> tuple[str, str]:
    form, place = divmod(number, len(PLACES))
    return ORGANISATIONS[form].format(PLACES[place]), hex_id(ORGANISATION, number, seed)


@cache
def venue_id(topic: int, number: int, seed: int) -> str:
    return hex_id(VENUE, topic * 16 + number, seed)


def with_initials(name: str) -> str:
    """Given names cut to their initials: the family name and the first initial stay."""
    *given, family = name.split(" ")
    return " ".join([f"{part[0]}." for part in given] + [family])


def _wide(text: str) -> str:
    return "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text)


def _marked(text: str) -> str:
    first, space, rest = text.partition(" ")
    return f"<i>{first}</i>{space}{rest.replace('&', '&amp;')}"


# Each gives another spelling of a title whose fingerprint must stay the same.
_PLAIN_SPELLINGS: Final[tuple[Callable[[str], str], ...]] = (str.upper, lambda text: f"{text}.", lambda text: text.replace(" ", "  "))
_SPELLINGS: Final[tuple[Callable[[str], str], ...]] = (
    *_PLAIN_SPELLINGS,
    _marked,
    lambda text: text.replace("&", "&amp;") + " ",
    lambda text: text.replace("-", "\u2010").replace(":", " \u2014"),
    lambda text: unicodedata.normalize("NFD", text),
    _wide,
    lambda text: text.replace(" ", "\u00a0"),
    lambda text: f"\u201c{text.title()}\u201d",
)


def respelt(title: str, dice: int, faults: bool) -> str:
    """The same title written otherwise."""
    choices = _SPELLINGS if faults else _PLAIN_SPELLINGS
    return choices[dice % len(choices)](title)


def shortened(title: str) -> str:
    """A title without its last three words: another fingerprint, the same work."""
    words = title.split(" ")
    return " ".join(words[:-3]) if len(words) > 7 else title

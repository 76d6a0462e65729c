"""The words of a sentence with their parts of speech, and what can be read off them: subjects, verbs, noun phrases.

HanTa tags; formulas are one word each, taken for nouns. Tags are those of the BNC (CLAWS C5). What does not belong here: what a phrase
means for a fact (`subjects`, `conditions`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from scholarlake.knowledge.cues import lexicon

_TOKEN = re.compile(
    r"""(?P<formula>\$\$.+?\$\$|\$[^$]+\$(?:-[A-Za-z]+(?:-[A-Za-z]+)*)?|\\\(.+?\\\)|\\\[.+?\\\]
          |[A-Za-z0-9\\()]*[\\^_]\{?[^\s,;]*[^\s,;.:?!)]|[A-Za-z]{1,3}\([^\s()]{1,14}\)(?:-[A-Za-z]+)*|[A-Za-z]{1,2}=[−-]?\d[\d/]*(?:-[A-Za-z]+)*)
      |(?P<citation>\[\s?\d+(?:\s?[,;–-]\s?\d+)*\s?\])
      |(?P<number>[−+±-]?\d[\d,]*(?:\.\d+)?(?:[eE][−+-]?\d+)?(?![\w-])|\.\d+)
      |(?P<short>[A-Z]\.(?=\s?[a-z]{3})|(?:Figs?|Eqs?|Refs?|Secs?)\.(?=\s?\d))
      |(?P<word>[^\W_]+(?:(?:--|[-‐‑–'’/.&+])[^\W_]+)*(?:['’](?=\s|$))?)
      |(?P<mark>\S)""",
    re.VERBOSE | re.DOTALL,
)
_FINITE = frozenset(("VBB", "VBD", "VBZ", "VDB", "VDD", "VDZ", "VHB", "VHD", "VHZ", "VM0", "VVB", "VVD", "VVZ"))
_AUXILIARY = frozenset(("VBB", "VBD", "VBZ", "VHB", "VHD", "VHZ", "VDB", "VDD", "VDZ", "VM0"))
_NOUNS = frozenset(("NN", "NN0", "NN1", "NN2", "NP0"))
_BEFORE_NOUN = frozenset(("AT0", "DPS", "DT0", "AJ0", "AJC", "AJS", "CRD", "ORD", "POS", "VVN", "VVG", "UNC", "ZZ0"))
_BEFORE_ACTS = _NOUNS | frozenset(("AT0", "AJ0", "DPS", "PRF", "CJC"))
_BEGINS = _NOUNS | frozenset(("AT0", "DPS", "DT0", "AJ0", "AJC", "AJS", "CRD", "ORD", "PNP", "EX0", "PNI", "ZZ0", "VVN", "VVG"))
_RELATIVE = frozenset(("DTQ", "PNQ", "AVQ", "CJT"))
_JOINING = frozenset(
    ("of", "in", "for", "on", "between", "with", "to", "from", "at", "over", "under", "among", "into", "against", "as", "by")
)
_LONGEST = 14  # words of a noun phrase that still says one thing
_WHO = frozenset(("we", "i", "authors"))


@dataclass(frozen=True)
class Token:
    """A word. start, end: code points of the sentence."""

    text: str
    start: int
    end: int
    tag: str

    @property
    def is_noun(self) -> bool:
        return self.tag in _NOUNS

    @property
    def is_finite(self) -> bool:
        return self.tag in _FINITE


@dataclass(frozen=True)
class Phrase:
    """A stretch of tokens: from start up to before end."""

    start: int
    end: int


@dataclass(frozen=True)
class Clause:
    """A clause: its subject, its finite verb, and the place behind the verbs of its predicate."""

    subject: Phrase
    verb: int
    after: int


@cache
def _tagger() -> Any:
    from HanTa.HanoverTagger import HanoverTagger

    tagger: Any = HanoverTagger("morphmodel_en.pgz")
    tagger.analyze_forward = lru_cache(1 << 16)(tagger.analyze_forward)  # what it makes of a word that it does not know by heart
    return tagger


def tokens_of(text: str) -> list[Token]:
    """The words of a sentence in order; marks of citation are left out."""
    found = [match for match in _TOKEN.finditer(text) if match.lastgroup != "citation"]
    if not found:
        return []
    words = ["formula" if match.lastgroup == "formula" else match.group() for match in found]
    if words[0][0].isupper() and words[0][1:].islower():
        words[0] = words[0].lower()  # a capital that only begins the sentence is no sign of a name
    tokens: list[Token] = []
    for match, tag in zip(found, _tagger().tag_sent(words, taglevel=0), strict=True):
        kind = match.lastgroup
        if kind == "formula":
            tag = "NN1"
        elif kind == "short":
            tag = "NP0"  # of a species, as in "P. falciparum"
        elif kind == "number":
            tag = "CRD"
        elif kind == "mark" and not match.group().isalnum():
            tag = "PUN"
        elif tag.startswith("V") and tokens and match.group()[0].isupper():
            tag = "NP0"  # "the Potts model": a verb inside a sentence has no capital
        elif tag == "VVG" and match.group() in lexicon().words["acts"] and tokens and tokens[-1].tag in _BEFORE_ACTS:
            tag = "NN1"
        elif tag == "VVN" and tokens and tokens[-1].tag == "PNP":
            tag = "VVD"  # "we computed": no auxiliary before it
        elif tag == "VVI" and not _takes_infinitive(tokens):
            tag = "VVB"  # the tagger prefers infinitives: "We construct"
        tokens.append(Token(match.group(), match.start(), match.end(), tag))
    return tokens


def _takes_infinitive(before: Sequence[Token]) -> bool:
    """Whether an infinitive may follow: behind "to", a modal verb or a form of "do", with adverbs, negations and subjects between."""
    for token in reversed(before[-4:]):
        if token.tag in ("TO0", "VM0", "VDB", "VDD", "VDZ", "VDI", "CJC", "VVI"):
            return True
        if token.tag not in ("AV0", "XX0", "PNP", "PUN"):
            return False
    return False


_LONGEST_INTRODUCTION = 32  # words
_NUMERAL = re.compile(r"(?:[IVX]+[AB]?|\d+[AB]?|[AB])")
_NUMBERED = frozenset(("type", "types", "class", "phase", "case", "level", "group", "model"))


def clause_at(tokens: Sequence[Token], begin: int = 0) -> Clause | None:
    """The main clause of what begins there; None where no finite verb with a subject is found."""
    begin = _past_introduction(tokens, begin)
    verb = _main_verb(tokens, begin)
    if verb is None or verb == begin:
        return None
    after = verb
    while after < len(tokens) and (tokens[after].tag.startswith("V") or tokens[after].tag in ("AV0", "XX0", "TO0")):
        after += 1
    return Clause(Phrase(begin, verb), verb, after)


def _past_introduction(tokens: Sequence[Token], begin: int) -> int:
    """The place where the subject of the main clause begins."""
    at = begin
    while at < len(tokens) and (
        tokens[at].tag in ("AV0", "CJC", "ITJ", "PUN") or tokens[at].text.lower() in ("moreover", "furthermore", "speaking")
    ):
        at += 1
    if at >= len(tokens):
        return begin
    if tokens[at].tag in ("PRP", "PRF", "CJS", "TO0", "VVG", "AVQ", "AVP") or (tokens[at].tag == "VVN" and not _noun_follows(tokens, at)):
        for place in range(at + 1, len(tokens) - 2):
            if tokens[place].text == "," and _starts_clause(tokens, place + 1):
                return _past_introduction(tokens, place + 1)
        if tokens[at].tag in ("CJS", "AVQ") and (main := main_clause_behind(tokens, at + 1)) is not None:
            return main
        if tokens[at].tag in ("PRP", "CJS", "VVG", "TO0"):  # "In this paper we show": no comma, but somebody who acts
            for place in range(at + 1, min(len(tokens) - 1, at + _LONGEST_INTRODUCTION)):
                acts = tokens[place].text in ("we", "I") or (tokens[place].text.lower() == "it" and place < at + _LONGEST)
                if acts and _verb_near(tokens, place + 1):
                    return place
    return at


def main_clause_behind(tokens: Sequence[Token], begin: int) -> int | None:
    """Where the main clause begins behind a subordinate one that no comma closes: "When the field is weak the bound holds". None where
    there is a comma, or only one verb."""
    verbs = 0
    for at in range(begin, len(tokens)):
        token = tokens[at]
        if token.text in ",;:" or token.tag in ("CJC", "CJT", "CJS", "DTQ", "PNQ"):
            return None
        if not token.is_finite or (at > begin and tokens[at - 1].is_finite):
            continue
        verbs += 1
        if verbs == 2:
            starts = [
                place
                for place in range(at - 1, begin + 2, -1)
                if tokens[place].tag in ("AT0", "DPS", "DT0") and tokens[place - 1].tag not in ("PRP", "PRF")
            ]
            is_closed = bool(starts) and (tokens[starts[0] - 1].is_noun or tokens[starts[0] - 1].tag in ("AJ0", "VVN", "AV0"))
            return starts[0] if is_closed else None
    return None


def _noun_follows(tokens: Sequence[Token], at: int) -> bool:
    return at + 1 < len(tokens) and (tokens[at + 1].is_noun or tokens[at + 1].tag in ("AJ0", "VVG"))


def _verb_near(tokens: Sequence[Token], at: int) -> bool:
    return any(token.is_finite for token in tokens[at : at + 3])


def _starts_clause(tokens: Sequence[Token], at: int) -> bool:
    """Whether behind a comma a main clause begins: a nominal, and a finite verb before the next comma."""
    while at < len(tokens) and tokens[at].tag in ("AV0",):
        at += 1
    if at >= len(tokens) or tokens[at].tag not in _BEGINS:
        return False
    verb = _main_verb(tokens, at)
    return verb is not None and verb > at and not any(token.text in ",;" for token in tokens[at:verb])


def _main_verb(tokens: Sequence[Token], begin: int) -> int | None:
    """The first finite verb that belongs to no relative clause; without any, a participle behind a noun, which the tagger prefers."""
    relative, depth, participle = 0, 0, None
    for at in range(begin, len(tokens)):
        token = tokens[at]
        if token.text in "([":
            depth += 1
        elif token.text in ")]":
            depth = max(0, depth - 1)
        if depth:
            continue
        if token.text == ";":
            break
        if token.tag == "VVN" and participle is None and at > begin and tokens[at - 1].is_noun and not relative:
            participle = at
        if at > begin and token.tag in _RELATIVE and token.text.lower() in ("that", "which", "who", "whose", "where", "whom", "when"):
            relative += 1
        elif token.is_finite:
            if relative:
                if not (at + 1 < len(tokens) and token.tag in _AUXILIARY and tokens[at + 1].tag in ("VBI", "VVI")):
                    relative -= 1
                continue
            if token.tag in ("VVB", "VVD") and _is_noun_after_all(tokens, at, begin):
                continue
            return at
    return participle


def _is_noun_after_all(tokens: Sequence[Token], at: int, begin: int) -> bool:
    """Whether what was tagged a verb is a noun or a participle: behind an article or preposition, or before the true verb."""
    before = tokens[at - 1].tag if at > begin else ""
    if before in ("AT0", "DPS", "AJ0", "PRP", "PRF", "CRD"):
        return True
    following = [token.tag for token in tokens[at + 1 : at + 3]]
    return tokens[at].tag == "VVD" and following[:1] == ["PRP"] and any(token.is_finite for token in tokens[at + 1 : at + 14])


def noun_phrase(tokens: Sequence[Token], begin: int, end: int | None = None) -> Phrase | None:
    """The noun phrase that begins there, with what its prepositions add, without its article; None where there is none."""
    is_bounded = end is not None
    end = len(tokens) if end is None else end
    at = begin
    while at < end and tokens[at].tag in ("AV0", "PUN", "XX0") and not _modifies(tokens, at, end):
        at += 1
    while at < end and tokens[at].tag in ("AT0", "DPS", "DT0"):
        at += 1
    start, last, seen = at, None, False
    while at < end and at - start < _LONGEST:
        token = tokens[at]
        if token.text == "due" or (token.text in ("in", "with") and at + 1 < end and tokens[at + 1].text in ("order", "terms", "respect")):
            break
        if token.is_noun:
            last, seen = at, True
        elif token.tag in ("ZZ0", "UNC", "CRD") and not seen:
            last = at
        elif seen and last == at - 1 and _NUMERAL.fullmatch(token.text) and tokens[at - 1].text.lower() in _NUMBERED:
            last = at  # "type IIB supergravity"
        elif token.tag in _BEFORE_NOUN:
            behind = tokens[at + 1].tag if at + 1 < end else ""
            if (
                token.tag == "AJ0"
                and token.text != "such"
                and seen
                and last == at - 1
                and (behind in ("VVG", "VVN") or not _nominal_follows(tokens, at + 1, end))
            ):
                last = at  # an adjective that stands where a noun does: "path integral"
            is_verbal = token.tag in ("VVN", "VVG") and seen and (last == at - 1 or not _inside_nominal(tokens, at, end))
            if is_verbal and not (is_bounded and token.tag == "VVG" and _noun_follows(tokens, at)):
                break  # "weights obtained by", but "IL-10 producing cells" before a verb
            if seen and token.tag in ("AT0", "DPS", "DT0") and tokens[at - 1].tag not in ("PRP", "PRF", "CJC", "CJS"):
                break  # another phrase begins
        elif token.tag == "AV0" and _modifies(tokens, at, end):
            pass
        elif token.tag in ("PRF", "PRP", "CJS"):
            if not seen or token.text.lower() not in _JOINING or not _nominal_follows(tokens, at + 1, end):
                break
        elif token.tag == "CJC":
            if not _nominal_follows(tokens, at + 1, end) or token.text.lower() not in ("and", "or", "&"):
                break
        elif token.text in "\"'`“”‘’/-–±" or (token.text in "()" and _closed(tokens, at, end)):
            pass
        else:
            break
        at += 1
    if last is None or not seen:
        return None
    opened = 0
    for place in range(start, last + 1):  # an abbreviation that the phrase cuts in two does not belong to it
        opened += (tokens[place].text == "(") - (tokens[place].text == ")")
        if tokens[place].text == "(" and ")" not in [token.text for token in tokens[place : last + 1]]:
            last = place - 1
            break
    return Phrase(start, last + 1) if last >= start and opened >= 0 else None


def _modifies(tokens: Sequence[Token], at: int, end: int) -> bool:
    return at + 1 < end and tokens[at + 1].tag in ("AJ0", "VVN", "VVG", "CRD", "AV0") and tokens[at].text.lower() not in ("also", "however")


def _inside_nominal(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Whether a participle stands before a noun of its own: "of interacting fermions", not "weights obtained by"."""
    return at > 0 and tokens[at - 1].tag in ("PRP", "PRF", "AT0", "AJ0", "DPS", "CJC") and at + 1 < end and _noun_follows(tokens, at)


def _nominal_follows(tokens: Sequence[Token], at: int, end: int) -> bool:
    for place in range(at, min(end, at + 5)):
        if tokens[place].is_noun:
            return True
        if tokens[place].tag not in _BEFORE_NOUN and tokens[place].tag != "AV0" and tokens[place].text not in "\"'`“”‘’":
            return False
    return False


def _closed(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Whether a bracket of at most a few words stands there: an abbreviation."""
    if tokens[at].text == ")":
        return True
    return any(token.text == ")" for token in tokens[at + 1 : min(end, at + 4)])


def words_of(text: str, tokens: Sequence[Token], phrase: Phrase) -> str:
    """The stretch of the sentence that a phrase is."""
    return text[tokens[phrase.start].start : tokens[phrase.end - 1].end]


def head_of(tokens: Sequence[Token], phrase: Phrase) -> str:
    """The noun that a phrase is about, folded: the last one before its first preposition."""
    head = ""
    for token in tokens[phrase.start : phrase.end]:
        if token.tag in ("PRF", "PRP", "CJS") and head:
            break
        if token.is_noun and token.text not in "()":
            head = token.text.lower()
    return head


def is_author(token: Token) -> bool:
    return token.text.lower() in _WHO

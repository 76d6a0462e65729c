"""What a sentence is about, as its paper calls it: the authors, pronouns and "the method" traced to what they stand for.

What does not belong here: what is said of the subject (`extractive`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from scholarlake.knowledge.cues import lexicon
from scholarlake.knowledge.grammar import Phrase, Token, clause_at, head_of, is_author, noun_phrase, tokens_of, words_of
from scholarlake.knowledge.objects import Source

_NAME = r"(?:[A-Z][\w+*-]*[A-Z0-9][\w+*-]*|[A-Z]{2,}[\w-]*)"
_QUOTES = r"[\"“”‘’'`]*"
_TITLE_NAME = re.compile(rf"^(?P<name>{_NAME}(?: {_NAME})?)\s?[:–—-]\s")
_CALLED = re.compile(
    r"\b(?:(?:we|which we|that we|I)\s(?:\w+\s)?(?:call|term|name|dub)|called|named|termed|dubbed|refer(?:red)? to (?:it )?as|coined)\s"
    rf"(?:the |by |as )?{_QUOTES}(?P<name>{_NAME})"
)
_MAKERS = (
    r"\b(?:[Ww]e|I|[Tt]his (?:paper|article|study|work))\s(?:\w+\s)?"
    r"(?:propose|present|introduce|develop|describe|design|built?|release|implement)(?:s|ed)?\s"
)
_MADE = re.compile(rf"{_MAKERS}(?:here\s)?{_QUOTES}(?P<name>{_NAME})\b(?=[,(:]| an? | the |\s?[-–—])")
_MADE_SHORT = re.compile(rf"{_MAKERS}[^.;]{{3,120}}?\((?P<name>{_NAME})\)")
_LEADING = re.compile(
    r"^(?:(?:(?:a )?notes? on|on|some (?:notes|remarks|comments) on|remarks? on|comments? (?:on|about)|towards?|(?:an? )?introduction to|"
    r"aspects of|studies (?:of|in|on)|more (?:on|about)|lectures? on|(?:a )?review of|topics in|progress in|the case (?:of|for)|about|new)"
    r"\s+)+(?:the\s+|an?\s+)?",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"(?:(?:does|do|did|is|are|was|were|can|could|should|must|will|has|have)\s+)(?:there\s+)?(?:the\s+|an?\s+)?", re.IGNORECASE
)
_MEANS = frozenset(("using", "employing", "applying", "based", "utilizing", "utilising"))
_SINGULAR_PRONOUNS, _PLURAL_PRONOUNS = frozenset(("it", "its")), frozenset(("they",))
_LONGEST = 14  # words of a subject
_MOST_BACK = 3  # sentences
#: Verbs of authors that look like nouns.
_ACTS = frozenset(
    ("comment", "study", "show", "use", "find", "review", "address", "report", "test", "compare", "discuss", "note", "present", "estimate")
)
#: Verbs of authors that take a second object: in "we apply the theorem to string models" the theorem is dealt with.
_TO_ANOTHER = frozenset(
    verb + ending for verb in ("appl", "extend", "generali", "relat", "compar", "reduc", "adapt", "map", "lift", "connect", "match")
    for ending in ("y", "ied", "ies", "", "s", "ed", "ze", "zed", "se", "sed", "e", "es", "ped")
)  # fmt: skip


@dataclass(frozen=True)
class Read:
    """A sentence, or a stretch of it, whose words are looked up once somebody asks for them."""

    n: int
    text: str

    @cached_property
    def tokens(self) -> Sequence[Token]:
        return tokens_of(self.text)


@dataclass(frozen=True)
class Subject:
    """What a statement is about. sentences: places of those that name it, where the statement's own does not. is_topic: it is only what
    the paper as a whole is about."""

    text: str
    sentences: tuple[int, ...] = ()
    is_topic: bool = False


@dataclass(frozen=True)
class Names:
    """What a paper is about. topic: by its title; name: of the method or system that it makes, with the sentence that names it."""

    topic: str | None
    name: str | None = None
    named_in: int | None = None


def names_of(source: Source) -> Names:
    """What the paper is about, and the name of what it makes."""
    title = source.title or ""
    found = _TITLE_NAME.match(title)
    topic = topic_of(title[found.end() :] if found else title)
    if found:
        name = found["name"]
        return Names(topic or name, name, next((s.n for s in source.sentences[:40] if name in s.text), None))
    for pattern in (_MADE, _MADE_SHORT, _CALLED):
        for sentence in source.sentences[:40]:
            made = pattern.search(sentence.text)
            if made is not None and lexicon().own.search(sentence.text):
                return Names(topic, made["name"], sentence.n)
    return Names(topic)


def topic_of(title: str) -> str | None:
    """The noun phrase that a title is about; None where it has none."""
    title = title.strip()
    if title.endswith("?") and (asked := _ASKED.match(title)) is not None:
        title = title[asked.end() :].rstrip("?")
        words = tokens_of(title)
        about = noun_phrase(words, 0)  # "Does the limit agree with perturbation theory?" is about the limit
        return title if about is None else words_of(title, words, about)
    title = title.rstrip(".?!")
    lead = _LEADING.match(title)
    begin = lead.end() if lead else 0
    # Capitals of a title are no sign of names.
    plain = re.sub(r"(?<![\w-])[A-Z](?=[a-z]+(?![\w]*[A-Z]))", lambda found: found.group().lower(), title)
    tokens = tokens_of(plain)
    start = next((at for at, token in enumerate(tokens) if token.start >= begin), 0)
    clause = clause_at(tokens, start)
    verb = clause.verb if clause is not None and tokens[clause.verb].tag in ("VVZ", "VBZ", "VBB", "VVD", "VM0") else None
    phrase = noun_phrase(tokens, start, verb) if verb is not None else None
    if phrase is None:
        rest = re.split(r"[:;?]\s|(?<!\bvs)\.\s(?=[A-Z])|\s[-–—]+\s", title[begin:])[0].strip()
        return rest or title or None
    return title[tokens[phrase.start].start : tokens[phrase.end - 1].end]


def subject_of(read: Read, before: Sequence[Read], names: Names) -> Subject | None:
    """What a sentence is about; None where that can't be told. before: the sentences right before it, nearest last."""
    return _subject(read, 0, before, names, 0)


def _subject(read: Read, begin: int, before: Sequence[Read], names: Names, depth: int) -> Subject | None:
    tokens = read.tokens
    clause = clause_at(tokens, begin)
    if clause is None or depth > 3:
        return None
    first = tokens[clause.subject.start]
    said = _that_clause(tokens, clause.after)
    if said is None and is_author(first):
        said = _said_then(tokens, clause.after)
    if any(is_author(token) for token in tokens[clause.subject.start : min(clause.verb, clause.subject.start + 4)]):
        if said is not None:
            return _subject(read, said, before, names, depth + 1) or _topic(names)
        return _object(read, clause.after, before, names) or _topic(names)
    if first.text.lower() in _MEANS:
        return _topic(names)  # no comma says where the clause begins
    if first.tag == "EX0":
        return _object(read, clause.after, before, names)
    word = first.text.lower()
    if word in _SINGULAR_PRONOUNS and said is not None:
        return _subject(read, said, before, names, depth + 1)  # "It is shown that"
    if word == "it" and clause.after + 1 < len(tokens) and tokens[clause.after].tag == "AJ0" and tokens[clause.after + 1].tag == "TO0":
        return _object(read, clause.after + 3, before, names)  # "It is possible to obtain"
    if clause.verb - clause.subject.start == 1 and (word in _SINGULAR_PRONOUNS or word in _PLURAL_PRONOUNS):
        return _antecedent(before, word in _PLURAL_PRONOUNS, names)
    if clause.verb - clause.subject.start == 1 and word in lexicon().words["pointing"]:
        return None
    phrase = noun_phrase(tokens, clause.subject.start, clause.verb)
    if phrase is None:
        return None
    head = head_of(tokens, phrase)
    if said is not None and tokens[clause.verb].tag in ("VBZ", "VBD") and said == clause.after + 1:
        return _subject(read, said, before, names, depth + 1) or _resolved(read, phrase, before, names)  # "A by-product is that"
    if head in lexicon().generic["outcome"] or head in lexicon().generic["paper"]:
        if said is not None:
            return _subject(read, said, before, names, depth + 1) or _topic(names)
        if not _has_content(tokens, phrase):
            if tokens[clause.verb].text.lower() in lexicon().words["saying"]:
                return _object(read, clause.after, before, names) or _topic(names)
            return _topic(names)
    if phrase.end < clause.verb and not _has_content(tokens, phrase) and clause.verb - phrase.start <= _LONGEST:
        longer = Phrase(phrase.start, clause.verb)  # what follows the noun says which: "the parameter characterizing the vacuum"
        if tokens[phrase.end].tag in ("VVG", "VVN", "DTQ", "CJT", "AJ0", "PRP", "VVD") and _has_content(tokens, longer):
            return Subject(words_of(read.text, tokens, longer))
    return _resolved(read, phrase, before, names)


def _that_clause(tokens: Sequence[Token], after: int) -> int | None:
    """The place behind "that", "how" or "why" where a verb of saying is followed by what is said."""
    for place in range(after, min(len(tokens), after + 5)):
        word = tokens[place].text.lower()
        if word == "that" and place + 1 < len(tokens):
            return place + 1
        if word in ("how", "why") and place == after:
            return place + 1
        if tokens[place].is_noun and word not in lexicon().words["told"]:
            return None
        if word in ",;.":
            return None
    return None


def _said_then(tokens: Sequence[Token], after: int) -> int | None:
    """The place behind "that" of a second verb that the authors are the subject of: "we apply it and find that"."""
    for place in range(after, len(tokens) - 3):
        if tokens[place].text.lower() == "and" and any(
            one.text.lower() in lexicon().words["saying"] for one in tokens[place + 1 : place + 3]
        ):
            return next((at + 1 for at in range(place + 2, min(len(tokens) - 1, place + 5)) if tokens[at].text.lower() == "that"), None)
    return None


def _object(read: Read, after: int, before: Sequence[Read], names: Names) -> Subject | None:
    """What stands behind the verb."""
    tokens = read.tokens
    at = after
    if at < len(tokens) and tokens[at].text.lower() in ("able", "unable", "led"):  # "we are able to construct"
        at += 1
        while at < len(tokens) and tokens[at].tag in ("TO0", "VVI", "VVB", "AV0"):
            at += 1
    if at < len(tokens) and tokens[at].tag == "PRP":  # "we calculate for all runs the time"
        inserted = noun_phrase(tokens, at + 1)
        if inserted is not None and inserted.end < len(tokens) and tokens[inserted.end].tag == "AT0":
            at = inserted.end
    while at < len(tokens) and (tokens[at].tag in ("AV0", "AVP", "PRP", "AT0", "DPS", "DT0") or tokens[at].text in "`'\"“"):
        at += 1
    while at > after and tokens[at - 1].text in "`'\"“":
        at -= 1
    phrase = noun_phrase(tokens, at)
    if phrase is None or phrase.start > at + 2 or tokens[at].text.lower() in _SINGULAR_PRONOUNS | _PLURAL_PRONOUNS:
        return None  # "makes it possible" says what becomes possible, but the pronoun names nothing
    second = next(
        (at for at in range(phrase.start + 1, phrase.end - 1) if tokens[at].tag == "CJC" and tokens[at + 1].text.lower() in _ACTS), None
    )
    if second is not None:
        phrase = Phrase(phrase.start, second)  # "we interpret the forms and comment on applications"
    if any(token.text.lower() in _TO_ANOTHER for token in tokens[max(0, after - 2) : after]):
        cut = next((place for place in range(phrase.start + 1, phrase.end) if tokens[place].text.lower() in ("to", "with", "into")), None)
        phrase = phrase if cut is None else Phrase(phrase.start, cut)
    return _resolved(read, phrase, before, names)


def _resolved(read: Read, phrase: Phrase, before: Sequence[Read], names: Names) -> Subject | None:
    """The phrase itself where it says what it is about, else what it stands for."""
    tokens = read.tokens
    phrase = _filled(tokens, phrase)
    if _has_content(tokens, phrase):
        return Subject(re.sub(r"^\\[a-z]+\s+", "", words_of(read.text, tokens, phrase)).strip("\"'`“”‘’{} "))
    head = head_of(tokens, phrase)
    generic = lexicon().generic
    if names.name is not None and head.rstrip("s") in lexicon().words["named"]:
        return Subject(names.name, () if names.name in read.text else _at(names.named_in, read))
    pointed = {token.text.lower() for token in tokens[phrase.start : phrase.end]} - {head} <= lexicon().words["again"]
    own = phrase.start > 0 and tokens[phrase.start - 1].text.lower() == "our"  # "our theories" are what the paper is about
    if (
        head in generic["thing"]
        and pointed
        and not own
        and phrase.start > 0
        and tokens[phrase.start - 1].text.lower() in lexicon().words["definite"]
    ):
        for earlier in reversed(before[-_MOST_BACK:]):
            found = _phrase_of(earlier.tokens, head)
            if found is not None:
                return Subject(words_of(earlier.text, earlier.tokens, found), (earlier.n,))
    return _topic(names)


def _filled(tokens: Sequence[Token], phrase: Phrase) -> Phrase:
    """What a hollow noun is said of: of "the existence of a bound" the bound; any other phrase as it is."""
    at = phrase.start
    while at < phrase.end - 2 and tokens[at].tag in ("AJ0", "AV0"):
        at += 1
    if at + 2 >= phrase.end or tokens[at].text.lower() not in lexicon().words["hollow"] or tokens[at + 1].text.lower() not in ("of", "for"):
        return phrase
    inner = noun_phrase(tokens, at + 2, phrase.end)
    return inner if inner is not None and inner.start <= at + 4 and _has_content(tokens, inner) else phrase


def _phrase_of(tokens: Sequence[Token], head: str) -> Phrase | None:
    """The noun phrase of an earlier sentence with that head and with words of its own."""
    stem = head.rstrip("s")
    for at, token in enumerate(tokens):
        if token.is_noun and token.text.lower().rstrip("s") == stem:
            begin = at
            while begin > 0 and tokens[begin - 1].tag in ("AJ0", "AJC", "NN1", "NP0", "NN2", "VVN", "VVG", "CRD", "ORD", "NN0"):
                begin -= 1
            while begin < at and tokens[begin].tag == "VVN" and begin > 0 and tokens[begin - 1].tag.startswith(("VH", "VB")):
                begin += 1  # "we have constructed two theories"
            phrase = noun_phrase(tokens, begin)
            if phrase is None or head_of(tokens, phrase).rstrip("s") != stem:
                continue
            behind = next((place for place in range(at + 1, phrase.end) if tokens[place].tag == "PRP"), phrase.end)
            own = Phrase(phrase.start, behind if tokens[behind - 1].is_noun else at + 1)  # "the groups with respect to age" are just groups
            if _has_content(tokens, own):
                return own
    return None


def _antecedent(before: Sequence[Read], plural: bool, names: Names) -> Subject | None:
    """What "it" or "they" of a sentence stands for: the subject of the one before, or what its authors deal with, if the number fits."""
    if not before:
        return None
    last = before[-1]
    clause = clause_at(last.tokens)
    if clause is None:
        return None
    authors = any(is_author(token) for token in last.tokens[clause.subject.start : clause.verb])
    begin = clause.after if authors else clause.subject.start
    if authors and _that_clause(last.tokens, clause.after) is not None:
        return None
    phrase = noun_phrase(last.tokens, begin, None if authors else clause.verb)
    if phrase is None or not _has_content(last.tokens, phrase):
        return None
    head = head_of(last.tokens, phrase)
    tags = {token.tag for token in last.tokens[phrase.start : phrase.end] if token.text.lower() == head}
    if ("NN2" in tags) != plural:
        return None
    return Subject(words_of(last.text, last.tokens, phrase), (last.n,))


def _has_content(tokens: Sequence[Token], phrase: Phrase) -> bool:
    """Whether any word of a phrase says what it is about."""
    generic = lexicon().generic_nouns
    for token in tokens[phrase.start : phrase.end]:
        word = token.text.lower()
        if (
            word in generic
            or word in lexicon().words["hollow"]
            or word in lexicon().words["bare"]
            or word in lexicon().words["pointing"]
            or not any(sign.isalnum() for sign in word)
        ):
            continue
        if token.is_noun or (token.tag in ("AJ0", "VVG", "VVN", "UNC", "ZZ0") and len(word) > 3):
            return True
    return False


def _topic(names: Names) -> Subject | None:
    return None if names.topic is None else Subject(names.topic, is_topic=True)


def _at(n: int | None, read: Read) -> tuple[int, ...]:
    return () if n is None or n == read.n else (n,)

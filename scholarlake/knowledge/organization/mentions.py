"""Which stretches of facts name research objects, and what kind of object each seems to be.

Names are noun phrases without what only introduces them; which of them count is told by how they are written, by their last noun, by
where they stand, and by how many papers have them. What does not belong here: which names are one object (`merging`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from scholarlake.knowledge.cues import lexicon
from scholarlake.knowledge.grammar import Token, tokens_of
from scholarlake.knowledge.organization.lexicon import names
from scholarlake.knowledge.organization.material import Stated
from scholarlake.knowledge.organization.names import key_of, singular

_MODIFIERS = frozenset(("AJ0", "AJC", "AJS", "VVN", "VVG", "VVD", "CRD", "ORD", "UNC", "ZZ0", "POS"))
_NOUNS_AFTER_ALL = frozenset(("integral", "potential", "functional", "invariant", "differential", "adjoint", "dual", "catalytic"))
_LONGEST, _KEPT = 7, 5  # words of a name; of a longer phrase the last ones
_CAPITALS = re.compile(r"[A-Z].*[A-Z]|[A-Za-z]\w*\d|\d\w*[A-Za-z]|[a-z][A-Z]|[\u0370-\u03ff]")
_GROUP = re.compile(
    r"\$?\\?(?:mathrm|rm|mathbf)?\{?(?:SU|SO|USp|Sp|SL|GL|OSp|PSL|PSU|Spin|U|E|G|F|AdS|dS|CP|RP)\}?[_^(]?[{(]?[\d\w,+]+[)}]*\$?\Z"
)
_SPECIES = re.compile(r"(?<![\w-])(?P<genus>[A-Z][a-z]{3,}|[A-Z][a-z]?\.)\s(?P<epithet>[a-z]{4,})(?![\w-])")
_NO_NAME = re.compile(r"[<>≤≥|]|^(?:figs?|tables?|eqs?|refs?|secs?)\b")
_LETTERS = re.compile(r"[^\W\d_]")
_SINGLE = frozenset(("organism", "material"))  # types that one small word can name
_LEAST_SHARED = 3  # papers that have a single small word as a subject
_NOTHING_TELLS = ("concept", 0.5)
_NOT_COMPARED = re.compile(r"(?:rather|other) than\b|instead of\b|unlike\b", re.IGNORECASE)
_ROLE_OF = {"dataset": "context", "method": "context", "baseline": "baseline"}


@dataclass(frozen=True)
class Term:
    """A stretch of a text that may name something. type: what its last noun says, None for nothing; is_name: written as names are;
    words: how many."""

    surface: str
    key: str
    start: int
    end: int
    type: str | None
    is_name: bool
    words: int


@dataclass(frozen=True)
class Mention:
    """A name in a fact. type: what it seems to be, a concept where nothing tells; weight: how surely."""

    fact_id: str
    paper_id: str
    role: str
    surface: str
    key: str
    type: str
    weight: float


@lru_cache(maxsize=1 << 15)
def terms_in(text: str) -> tuple[Term, ...]:
    """The terms of a text, in order, none within another."""
    found = list(_species(text))
    taken = [(one.start, one.end) for one in found]
    tokens = tokens_of(text)
    run: list[int] = []
    for at in range(len(tokens) + 1):
        if at < len(tokens) and (tokens[at].is_noun or tokens[at].tag in _MODIFIERS) and not _is_apart(tokens, at):
            run.append(at)
            continue
        if run:
            term = _term(text, tokens, run)
            if term is not None and not any(term.start < end and start < term.end for start, end in taken):
                found.append(term)
            run = []
    return tuple(sorted(found, key=lambda term: term.start))


def _is_apart(tokens: Sequence[Token], at: int) -> bool:
    """Whether a word is the verb of its clause, or of one in it, and no part of a name."""
    token = tokens[at]
    if _folded(token) in names().verbs:
        return True
    if token.tag == "VVD":
        return not (at + 1 < len(tokens) and tokens[at + 1].is_noun and at > 0 and tokens[at - 1].tag in ("AT0", "AJ0", "PRF", "DPS"))
    if token.tag == "VVN":
        return at > 0 and (tokens[at - 1].is_noun or tokens[at - 1].tag.startswith(("VB", "VH"))) and not _noun_next(tokens, at)
    if token.tag == "VVG":
        return at == 0 or tokens[at - 1].tag not in ("AT0", "AJ0", "DPS", "PRF") or not _noun_next(tokens, at)
    return False


def _noun_next(tokens: Sequence[Token], at: int) -> bool:
    return at + 1 < len(tokens) and (tokens[at + 1].is_noun or tokens[at + 1].tag == "AJ0")


def _term(text: str, tokens: Sequence[Token], run: Sequence[int]) -> Term | None:
    some = [tokens[at] for at in run]
    while some and not (some[-1].is_noun or (some[-1].text in _NOUNS_AFTER_ALL and len(some) > 1)):
        some = some[:-1]
    while some and _says_nothing(some, text):
        some = some[1:]
    while some and singular(_folded(some[-1])) in names().vague:
        some = some[:-1]
        if some and not (some[-1].is_noun and _CAPITALS.search(some[-1].text)):
            return None  # "critical behaviour" names nothing; "the CPT problem" names CPT
    if len(some) > _LONGEST:
        some = some[-_KEPT:]
    if not some or not any(_tells(token) for token in some):
        return None
    start, end = some[0].start, some[-1].end
    surface = text[start:end]
    key = key_of(surface)
    if len(_LETTERS.findall(key)) < 2 or not _balanced(surface) or _is_formula(some) or _NO_NAME.search(key):
        return None
    type_ = names().heads.get(key.split()[-1])
    capital = any(_CAPITALS.search(token.text) or (token.tag == "NP0" and token.start > 0 and token.text[0].isupper()) for token in some)
    is_title = len(some) > 2 and sum(token.text[0].isupper() for token in some) == len(some) and "$" not in surface
    return Term(surface, key, start, end, type_, capital and not is_title, len(some))


def _says_nothing(some: Sequence[Token], text: str) -> bool:
    """Whether the first word of a name only introduces it."""
    if some[0].tag in ("CRD", "ORD", "AJC", "AJS", "POS"):
        return True
    return _folded(some[0]) in names().empty and not text[some[0].start :].casefold().startswith(names().phrases)


def _folded(token: Token) -> str:
    return token.text.casefold()


def _tells(token: Token) -> bool:
    """Whether a word says what a name is of."""
    word = _folded(token)
    generic = lexicon().generic_nouns
    return (
        len(word) > 1 and word not in generic and singular(word) not in generic and word not in names().empty and word not in names().vague
    )


def _is_formula(some: Sequence[Token]) -> bool:
    """Whether nothing but formulas stands there, other than names of groups and spaces."""
    if any(_LETTERS.search(token.text) and not re.search(r"[\\^_$=(<>]", token.text) for token in some):
        return False
    return not all(_GROUP.match(token.text) for token in some)


def _balanced(surface: str) -> bool:
    return surface.count("$") % 2 == 0 and surface.count("(") == surface.count(")") and surface.count("{") == surface.count("}")


def _species(text: str) -> Iterator[Term]:
    """Names of species: genus and epithet, the genus in full or by its first letters."""
    said = names()
    for match in _SPECIES.finditer(text):
        genus, epithet = match["genus"], match["epithet"]
        if epithet in said.not_species or not said.epithet.search(epithet):
            continue
        if not genus.endswith(".") and (not said.genus.search(genus) or genus.casefold() in said.not_species or _is_word(genus)):
            continue
        yield Term(match.group(), key_of(match.group()), match.start(), match.end(), "organism", True, 2)


def _is_word(genus: str) -> bool:
    """Whether a capital only begins a sentence: an English word, by the tagger's lights."""
    return genus.casefold() in names().empty | names().vague or tokens_of(genus.lower())[0].tag not in ("NN0", "NN1", "NP0", "UNC")


# -- mentions ----------------------------------------------------------------------------------------------------------


def mentions_of(facts: Sequence[Stated], known: Mapping[str, str] | None = None) -> list[Mention]:
    """Every name in every fact, in the order of the facts. known: keys that a taxonomy names, with the type of what they name.

    A name that is just a term, neither written as names are nor the subject of a fact, counts where at least two papers have it.
    """
    known = known or {}
    papers = _papers_by_key(facts)
    return [mention for fact in facts for mention in _of_fact(fact, papers, known)]


def _papers_by_key(facts: Sequence[Stated]) -> Counter[str]:
    """How many papers have a key anywhere in a fact."""
    there = {(term.key, fact.paper_id) for fact in facts for text in (fact.subject, fact.statement) for term in terms_in(text)}
    return Counter(key for key, _ in there)


def _of_fact(fact: Stated, papers: Mapping[str, int], known: Mapping[str, str]) -> Iterator[Mention]:
    seen: set[str] = set()
    texts = [("subject", fact.subject)]
    texts += [(_ROLE_OF[one.kind], one.text) for one in fact.context if one.kind in _ROLE_OF and not _NOT_COMPARED.match(one.text)]
    texts += [("metric", one.metric) for one in fact.quantities if one.metric]
    texts += [("statement", fact.statement)]
    kinds = {one.text: one.kind for one in fact.context}
    for role, text in texts:
        for term in terms_in(text):
            if term.key in seen or not _counts(term, role, papers, known):
                continue
            seen.add(term.key)
            type_, weight = _type(term, role, kinds.get(text), fact, text, known)
            yield Mention(fact.fact_id, fact.paper_id, role, term.surface, term.key, type_, weight)


def _counts(term: Term, role: str, papers: Mapping[str, int], known: Mapping[str, str]) -> bool:
    if term.key in known or term.type == "organism":
        return True
    shared = papers.get(term.key, 0) > 1
    if role == "metric":
        return term.type == "metric"
    if term.words == 1:
        if term.key in names().not_alone and not term.is_name:
            return False
        if term.is_name and len(term.key) > 2 and _CAPITALS.search(term.surface):
            return True  # one capital alone may begin a person's name
        return term.type in _SINGLE or (papers.get(term.key, 0) >= _LEAST_SHARED and role == "subject" and len(term.key) > 3)
    return term.is_name or shared or role == "subject" or (term.type is not None and term.type != "metric")


def _type(term: Term, role: str, kind: str | None, fact: Stated, text: str, known: Mapping[str, str]) -> tuple[str, float]:
    """What a mention seems to name, and how surely: what the taxonomy says, the last noun, what stands beside it, its place."""
    if term.key in known:
        return known[term.key], 8.0
    if term.type is not None:
        return term.type, 3.0
    if not term.is_name:
        return _NOTHING_TELLS
    behind = text[term.end : term.end + 14]
    for type_, pattern in names().beside.items():
        if (found := pattern.search(behind)) is not None and not behind[: found.start()].strip(" )"):
            return type_, 2.0
    if kind == "dataset":
        return kind, 1.0
    return _NOTHING_TELLS

"""The conditions under which a sentence says that something holds, found by what begins them.

Every one is a stretch of the sentence: a clause ("if the charge is small"), or a preposition with its noun phrase ("in patients with
asthma"). What does not belong here: the wordings themselves (`cues.yaml`).
"""

from __future__ import annotations

from collections.abc import Sequence

from scholarlake.knowledge.cues import Opening, lexicon
from scholarlake.knowledge.grammar import Token, is_author, main_clause_behind, noun_phrase
from scholarlake.knowledge.objects import Context

MOST = 6  # conditions of one statement; what has more is a list
_LONGEST_CLAUSE = 40  # words
_ASKING = frozenset(
    ("test", "tested", "testing", "determine", "determined", "see", "ask", "asked", "examine", "examined", "know", "unclear", "assess",
     "investigate", "check", "as", "even")
)  # fmt: skip
_DOING = frozenset(("by", "into", "using", "via"))  # what is done, and by what, is no part of a condition
_QUOTES = ('"', "'", "`", "“", "‘")
_PARTICIPLES = frozenset(("provided", "given", "assuming", "supposing"))


def conditions(text: str, tokens: Sequence[Token]) -> tuple[Context, ...]:
    """The conditions of a sentence in the order in which they stand there. tokens: of just this sentence."""
    taken: list[tuple[int, int, Context]] = []
    for opening in lexicon().openings:
        for match in opening.pattern.finditer(text):
            if text[: match.start()].endswith(_QUOTES):
                continue  # somebody's words
            end = _end(text, tokens, opening, match.start(), match.end())
            if end is None or any(match.start() < other_end and start < end for start, other_end, _ in taken):
                continue
            found = text[match.start() : end].strip(" ,;:")
            if found.count("(") != found.count(")"):
                continue  # it ends inside a formula
            taken.append((match.start(), end, Context(opening.kind, found)))
    return tuple(context for _, _, context in sorted(taken, key=lambda entry: entry[0])[:MOST])


def _end(text: str, tokens: Sequence[Token], opening: Opening, start: int, opened: int) -> int | None:
    """Where the condition that begins at start ends; None where nothing follows that could be one."""
    first = next((at for at, token in enumerate(tokens) if token.start >= start), None)
    at = next((at for at, token in enumerate(tokens) if token.start >= opened), None)
    if first is None or tokens[first].start != start or at is None:
        return None
    if opening.clause:
        return _end_of_clause(tokens, first, at)
    last = at - 1
    if last > first and tokens[last].is_noun and not tokens[at].is_noun:
        goes_on = tokens[at].tag in ("PRF", "PRP") and tokens[at].text.lower() not in _DOING
        phrase = noun_phrase(tokens, at + 1) if goes_on else None
        return tokens[last if phrase is None else phrase.end - 1].end  # "in the classical limit" says all
    if tokens[at].tag == "PRF" and last >= first:
        phrase = noun_phrase(tokens, at + 1)
        return tokens[phrase.end - 1].end if phrase else None
    if tokens[at].tag == "VVG" or (tokens[at].tag in ("NN1", "AJ0") and tokens[at].text.endswith("ing")):
        phrase = noun_phrase(tokens, at + 1)
        return tokens[phrase.end - 1].end if phrase and phrase.start <= at + 3 else None
    if tokens[at].text.lower() in ("that", "those") and tokens[at + 1 : at + 2] and tokens[at + 1].tag == "PRF":
        at += 2  # "than that of"
    phrase = noun_phrase(tokens, at)
    if phrase is None or phrase.start > at + 2:
        return None
    done = next((place for place in range(phrase.start + 1, phrase.end) if tokens[place].text.lower() in _DOING), phrase.end)
    return tokens[done - 1].end


def _end_of_clause(tokens: Sequence[Token], first: int, at: int) -> int | None:
    """Behind the last word before the comma, the bracket or the end of the sentence that closes the clause."""
    if first > 0 and tokens[first - 1].text.lower() in _ASKING:
        return None
    if first > 0 and tokens[first].text.lower() in _PARTICIPLES and tokens[first - 1].tag.startswith(("VH", "VB", "PNP", "AV0")):
        return None  # "we have provided a template"
    main = main_clause_behind(tokens, at) if first == 0 else None
    if main is not None:
        return tokens[main - 1].end
    depth, verbs, is_open = 0, 0, False
    for place in range(at, min(len(tokens), at + _LONGEST_CLAUSE)):
        token = tokens[place]
        depth += (token.text in "([") - (token.text in ")]")
        # "given that they were treated was": behind a clause inside the sentence its main verb goes on
        if first > 0 and verbs and not is_open and depth <= 0 and token.tag in ("VBZ", "VBD", "VBB"):
            return tokens[place - 1].end
        is_open = (is_open and not token.is_finite) or token.tag in ("CJC", "CJT", "CJS", "DTQ", "PNQ", "AVQ") or token.text == ","
        verbs += token.is_finite
        is_participle = tokens[first].text.lower() in _PARTICIPLES
        acts = token.text in ("we", "I") and (verbs > 0 or is_participle)  # "when it has two poles we show that"
        # "we indicate that it works if there are poles and support this": the authors go on
        acts = acts or (
            verbs > 0
            and token.tag == "CJC"
            and is_author(tokens[0])
            and tokens[place + 1 : place + 2] != []
            and tokens[place + 1].tag in ("VVB", "VVD", "VVI")
        )
        closes = token.text in ",;:." or depth < 0 or acts
        if (closes and depth <= 0) or place == len(tokens) - 1:
            last = place - 1 if closes else place
            if is_participle and tokens[first].tag == "VVG" and not verbs and not closes:
                return None  # where it ends can't be told
            return tokens[last].end if last > at and (verbs or is_participle or tokens[at].tag != "AT0") else None
    return None

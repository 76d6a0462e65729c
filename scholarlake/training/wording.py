"""Parts of a question as English: predicates of one paper, joined to a description, and what is asked of it.

What is said is chosen elsewhere (`composition`); here only how. A wording is picked by the name of the question, so that questions vary
and each is always worded alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from scholarlake.lake.hashing import stable_key
from scholarlake.training.parts import Part

AnswerKind = Literal["title", "year", "venue", "first_author", "citations", "quantity", "chart"]
Titles = Callable[[str], str]

_QUOTES = str.maketrans({"“": "‘", "”": "’", '"': "’"})
_NAMING = ("Which paper {said}?", "One paper of the corpus {said}. What is it called?", "Find the paper that {said}. What is its title?")
_DESCRIBING = ("One paper of the corpus {said}. {ask}", "Consider the paper that {said}. {ask}", "There is one paper that {said}. {ask}")
_ASKING: dict[str, tuple[str, ...]] = {
    "year": ("In which year was it published?", "What is its year of publication?"),
    "venue": ("In which venue was it published?", "What is the name of the venue that published it?"),
    "first_author": ("Who is its first author?", "Whose name stands first among its authors?"),
    "citations": ("How many papers of the corpus cite it?", "By how many papers of the corpus is it cited?"),
    "quantity": ("What value of {of} does it report?", "Which value does it give for {of}?"),
    "chart": (
        "Draw a bar chart of how many of the papers that cite it were published in each year, leaving out years without any.",
        "Show as a bar chart in which years the papers that cite it were published and how many in each, without the years of none.",
    ),
}
_BASE: dict[str, str] = {
    "year": "In which year was {title} published?",
    "venue": "In which venue was {title} published?",
    "first_author": "Who is the first author of {title}?",
    "citations": "How many papers of the corpus cite {title}?",
    "quantity": "What value of {of} does {title} report?",
    "chart": "How many of the papers that cite {title} were published in each year?",
}


def quoted(title: str) -> str:
    """A title as it is named in a question."""
    return f"“{' '.join(title.split()).rstrip('.').translate(_QUOTES)}”"


def asked(name: str, kind: AnswerKind, parts: Sequence[Part], title_of: Titles, of: str = "") -> str:
    """The question that some parts make. name: of the question. of: what is measured, where a number is asked for."""
    said = _listed(_predicates(parts, title_of))
    if kind == "title":
        return _pick(_NAMING, name).format(said=said)
    ask = _pick(_ASKING[kind], f"{name} ask").format(of=of)
    return _pick(_DESCRIBING, name).format(said=said, ask=ask)


def asked_by_name(kind: AnswerKind, title: str, of: str = "") -> str:
    """The question about a paper that is named. Raises KeyError where it is the title that is asked for."""
    return _BASE[kind].format(title=quoted(title), of=of)


def predicate(part: Part, title_of: Titles) -> str:
    """What one part says of the paper."""
    return _predicates([part], title_of)[0]


def is_given_away(kind: AnswerKind, answer: str, question: str) -> bool:
    """Whether the answer stands in the question itself."""
    if kind == "chart":
        return False
    if kind in ("year", "citations", "quantity"):
        return re.search(rf"(?<![\w.,]){re.escape(answer.split()[0])}(?![\w]|[.,]\d)", question) is not None
    return _letters(answer) in _letters(question)


_RELATIONS = {
    "cites": "cites {title}",
    "cited_by": "is cited by {title}",
    "cites_one_citing": "cites a paper{between} that in turn cites {title}",
    "cited_by_one_cited_by": "is cited by a paper{between} that {title} cites",
    "shares_reference": "cites a paper{between} that {title} cites as well",
    "cited_together": "is cited by a paper{between} that also cites {title}",
}


def _between(part: Part) -> str:
    year = f" from {part.year}" if part.year is not None else ""
    venue = f" in the venue {quoted(part.venue)}" if part.venue is not None else ""
    return f"{year}{venue}"


def _predicates(parts: Sequence[Part], title_of: Titles) -> list[str]:
    """What the parts say, those of one kind in one breath. What leads over another paper comes last: whatever followed it could be taken
    for being said of that one."""
    values: dict[str, list[str]] = {}
    for part in parts:
        if part.paper is None:
            values.setdefault(part.kind, []).append(" ".join(part.value.split()))
    found = []
    if "venue" in values and "year" in values:
        found.append(f"appeared in the venue {quoted(values['venue'][0])} in {values['year'][0]}")
    elif "venue" in values:
        found.append(f"appeared in the venue {quoted(values['venue'][0])}")
    elif "year" in values:
        found.append(f"was published in {values['year'][0]}")
    if "author" in values:
        found.append(f"has {' and '.join(values['author'])} among its authors")
    if "keyword" in values:
        found.append(f"lists {' and '.join(quoted(keyword) for keyword in values['keyword'])} among its keywords")
    if "cited_times" in values:
        count = values["cited_times"][0]
        found.append(f"is cited by exactly {count} papers of the corpus" if count != "1" else "is cited by exactly one paper of the corpus")
    for quantity in values.get("quantity", ()):
        metric, _, value = quantity.rpartition(" = ")
        found.append(f"reports a value of {value} for {metric}")
    relations = sorted((part for part in parts if part.paper is not None), key=lambda part: part.hops)
    return [*found, *(_RELATIONS[part.kind].format(title=quoted(title_of(str(part.paper))), between=_between(part)) for part in relations)]


def _listed(said: Sequence[str]) -> str:
    if len(said) < 3:
        return " and ".join(said)
    return f"{', '.join(said[:-1])}, and {said[-1]}"


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


def _pick(wordings: Sequence[str], name: str) -> str:
    return wordings[stable_key(name) % len(wordings)]

"""What every candidate must pass to be a fact, whoever proposed it: fields, evidence that exists, numbers and units that stand in it.

Structural checks: they find what can't be a fact of this source, and say nothing of whether the evidence supports it (`verification`);
a fact that passes is unchecked. What does not belong here: proposing (`extractive`, `extraction`), where numbers stand (`cited`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from scholarlake.documents.document import single_spaced
from scholarlake.knowledge.acronyms import definitions
from scholarlake.knowledge.cited import COMPARATORS, Cited
from scholarlake.knowledge.numerals import level, numerals
from scholarlake.knowledge.objects import (
    Candidate,
    Context,
    ContextKind,
    Fact,
    FactType,
    Quantity,
    Refused,
    Sentence,
    Source,
    StudyType,
    evidence_hash,
)
from scholarlake.knowledge.quoting import find, holds, plain

SUBJECT_NOT_IN_EVIDENCE, QUANTITY_WITHOUT_UNIT = "subject_not_in_evidence", "quantity_without_unit"

_TYPES, _KINDS = get_args(FactType), get_args(ContextKind)
_LEAST_QUOTED = 4  # words of a text that is taken for a quotation: fewer stand in many sentences
_SHOWN = 80  # characters of what is wrong that a reason shows
_STEM = 5  # letters by which a word is known again in another form
_LEAST_STEMS = 3  # of a text whose words tell what it is about
_LEAST_SHARED = 1 / 3  # of a statement's words that its evidence or its title must hold
_LONG_WORD = re.compile("(?:[a-z\u00df-\u024f\u0370-\u03ff\u0400-\u052f][\u0300-\u036f]*){4,}")
_ARTICLES = re.compile(r"(?:(?:the|an?|this|these|our|their|its|proposed|new|novel)\s+)+", re.IGNORECASE)


@dataclass(frozen=True)
class Grounded:
    """What became of the candidates of a source, in their order."""

    facts: tuple[Fact, ...]
    refused: tuple[Refused, ...]


class _Wrong(Exception):
    """A candidate is no fact. reason, detail: as `Refused` has them."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def ground(candidate: Candidate, source: Source, *, study_type: StudyType, method: str, taxonomy: str | None = None) -> Fact | Refused:
    """A candidate as a fact of its source, or the first thing that is wrong with it."""
    return Ground(source).judge(candidate, study_type=study_type, method=method, taxonomy=taxonomy)


def ground_all(
    candidates: Iterable[Candidate], source: Source, *, study_type: StudyType, method: str, taxonomy: str | None = None
) -> Grounded:
    """All candidates of one source; one that says what another before it says is refused as repeated."""
    there = Ground(source)
    facts: list[Fact] = []
    refused: list[Refused] = []
    said: dict[tuple[str, str, str], Fact] = {}
    for candidate in candidates:
        made = there.judge(candidate, study_type=study_type, method=method, taxonomy=taxonomy)
        if isinstance(made, Refused):
            refused.append(made)
            continue
        first = said.setdefault((made.type, _said(made.subject), _said(made.statement)), made)
        if first is made:
            facts.append(made)
        else:
            refused.append(Refused(candidate, "repeated", f"says what a fact on sentence {first.evidence[0]} says"))
    return Grounded(tuple(facts), tuple(refused))


class Ground:
    """A source as candidates are held against it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._sentences = {sentence.n: sentence for sentence in source.sentences}

    @cached_property
    def _all(self) -> Cited:
        return Cited([*filter(None, [self.source.title]), *(sentence.text for sentence in self.source.sentences)])

    @cached_property
    def _aliases(self) -> dict[str, set[str]]:
        """Plain name to the other names that the source gives the same thing."""
        found: dict[str, set[str]] = {}
        texts = [*filter(None, [self.source.title]), *(sentence.text for sentence in self.source.sentences)]
        for short, long in definitions(texts).items():
            found.setdefault(_said(short), set()).add(long)
            found.setdefault(_said(long), set()).add(short)
        return found

    def judge(self, candidate: Candidate, *, study_type: StudyType, method: str, taxonomy: str | None = None) -> Fact | Refused:
        """The candidate as a fact, or the first thing that is wrong with it."""
        try:
            return self._fact(candidate, study_type, method, taxonomy)
        except _Wrong as wrong:
            return Refused(candidate, wrong.reason, wrong.detail)

    def _fact(self, candidate: Candidate, study_type: StudyType, method: str, taxonomy: str | None) -> Fact:
        subject, statement = _text(candidate.subject, "subject"), _text(candidate.statement, "statement")
        kind = next((one for one in _TYPES if one == candidate.type), None)
        if kind is None:
            raise _Wrong("unknown_type", f"type is {_shown(candidate.type)}; there are: {', '.join(_TYPES)}")
        context = tuple(dict.fromkeys(map(_condition, candidate.context)))
        evidence = self._evidence(candidate.evidence)
        there = Cited(sentence.text for sentence in evidence)
        self._numbers_stand(statement, there, "the statement", "in the cited sentences")
        self._words_meet(statement, there.text)
        quantities = tuple(dict.fromkeys(_quantity(entry, there) for entry in candidate.quantities))
        for entry in context:
            self._numbers_stand(entry.text, self._all, "a condition", "in the source")
        marks = []
        if not self._names(subject, there.text):
            marks.append(SUBJECT_NOT_IN_EVIDENCE)
        if any(entry.unit is None and there.measures(numerals(entry.value)[-1]) for entry in quantities):
            marks.append(QUANTITY_WITHOUT_UNIT)
        return Fact(
            paper_id=self.source.paper_id,
            type=kind,
            study_type=study_type,
            subject=subject,
            statement=statement,
            evidence=tuple(sentence.n for sentence in evidence),
            evidence_hash=evidence_hash(sentence.text for sentence in evidence),
            method=method,
            context=context,
            quantities=quantities,
            marks=tuple(marks),
            taxonomy=taxonomy,
        )

    # -- evidence ----------------------------------------------------------------------------------------------------

    def _evidence(self, given: Iterable[Any]) -> list[Sentence]:
        """The sentences that are cited, in reading order. Every one that is given must be there."""
        found: dict[int, Sentence] = {}
        for one in given:
            meant = self._meant(one)
            if not meant:
                raise _Wrong("unknown_evidence", f"{_shown(one)} is no sentence of {self.source.paper_id}")
            found.update((sentence.n, sentence) for sentence in meant)
        if not found:
            raise _Wrong("no_evidence", "no sentence is cited")
        return [found[n] for n in sorted(found)]

    def _meant(self, one: Any) -> tuple[Sentence, ...]:
        """The sentences that are meant by a place (7), an id ("paper:7") or some words that are quoted from them; none by "7" or "[S7]"."""
        if isinstance(one, int) and not isinstance(one, bool):
            return (self._sentences[one],) if one in self._sentences else ()
        if not isinstance(one, str):
            return ()
        place = one.removeprefix(f"{self.source.paper_id}:")
        if place != one and re.fullmatch(r"(?:0|[1-9][0-9]{0,8})", place):
            return (self._sentences[int(place)],) if int(place) in self._sentences else ()
        return quoted(one, self.source.sentences) if len(one.split()) >= _LEAST_QUOTED else ()

    # -- numbers and names ---------------------------------------------------------------------------------------------

    def _numbers_stand(self, text: str, there: Cited, what: str, where: str) -> None:
        for one in numerals(text):
            if one.name is not None:
                if one.name and not _holds_name(self._all.text, one.name):
                    raise _Wrong("number_not_in_evidence", f"{one.name} of {what} stands nowhere in the source")
                continue
            if one.in_words and one.value == 1:
                continue  # hardly ever a number
            if not there.has(one):
                raise _Wrong("number_not_in_evidence", f"{one.written} of {what} does not stand {where}")
            if one.unit and not there.has(one, one.unit):
                raise _Wrong("unit_not_in_evidence", f"{one.written} of {what} does not stand with {one.unit} {where}")

    def _words_meet(self, statement: str, evidence: str) -> None:
        """Refuse what is about something else altogether. That words are the same supports nothing."""
        said, there = _stems(statement), _stems(f"{evidence} {self.source.title or ''}")
        if min(len(said), len(there)) >= _LEAST_STEMS and len(said & there) < _LEAST_SHARED * len(said):
            raise _Wrong("statement_not_in_evidence", f"of {len(said)} words, the cited sentences hold {len(said & there)}")

    def _names(self, subject: str, evidence: str) -> bool:
        """Whether evidence or title name the subject, by any name that the source gives it."""
        bare = _ARTICLES.sub("", subject, count=1) if _ARTICLES.match(subject) else subject
        names = {subject, bare or subject, *self._aliases.get(_said(bare), ())}
        texts = [text for text in (evidence, self.source.title) if text]
        return any(holds(text, form) for name in names for form in _forms(name) for text in texts)


def quoted(quotation: str, sentences: Iterable[Sentence]) -> tuple[Sentence, ...]:
    """The sentences that a quotation lies in: the first that holds it, or the first that do together; none where it is made up."""
    known = list(sentences)
    for sentence in known:
        if find(quotation, sentence.text):
            return (sentence,)
    starts, text = [], ""
    for sentence in known:
        starts.append(len(text))
        text += sentence.text + " "
    span = find(quotation, text)
    if span is None:
        return ()
    return tuple(one for start, one in zip(starts, known, strict=True) if start < span[1] and span[0] < start + len(one.text))


# -- fields ----------------------------------------------------------------------------------------------------------


def _text(value: Any, field: str) -> str:
    text = single_spaced(value) if isinstance(value, str) else ""
    if not re.search(r"\w", text):
        raise _Wrong("missing_field", f"{field} is {_shown(value)}")
    return text


def _condition(entry: Context) -> Context:
    if entry.kind not in _KINDS:
        raise _Wrong("unknown_type", f"kind of a condition is {_shown(entry.kind)}; there are: {', '.join(_KINDS)}")
    return Context(entry.kind, _text(entry.text, "text of a condition"))


def _quantity(entry: Quantity, there: Cited) -> Quantity:
    """A quantity with its number, once value, unit and comparator are found in the cited sentences."""
    value, unit, comparator = _text(entry.value, "value of a quantity"), _optional(entry.unit), _optional(entry.comparator)
    found = [one for one in numerals(value) if one.name is None]
    if not found:
        raise _Wrong("missing_field", f"value {_shown(value)} of a quantity holds no number")
    for one in found:
        if not there.has(one):
            raise _Wrong("number_not_in_evidence", f"{one.written} of a quantity does not stand in the cited sentences")
        for wanted in filter(None, (unit, one.unit)):
            if not there.has(one, wanted):
                raise _Wrong("unit_not_in_evidence", f"{one.written} does not stand with {_shown(wanted)} in the cited sentences")
    read = found[0].value if len(found) == 1 else None
    number = None if read is None or not math.isfinite(float(read)) else float(read)
    if entry.number is not None and entry.number != number:
        raise _Wrong("number_not_in_evidence", f"{entry.number} is not {value}")
    if comparator:
        sign = level(comparator)
        stands = any(there.compares(one, sign) for one in found) if sign in COMPARATORS else holds(there.text, comparator)
        if not stands:
            raise _Wrong("number_not_in_evidence", f"{value} does not stand behind {_shown(comparator)} in the cited sentences")
    return Quantity(value, number, unit, _optional(entry.metric), comparator)


def _optional(value: Any) -> str | None:
    text = single_spaced(value) if isinstance(value, str) else ""
    return text or None


def _stems(text: str) -> set[str]:
    """The beginnings of a text's longer words, in alphabets that part words by blanks."""
    return {word[:_STEM] for word in _LONG_WORD.findall(plain(text).text)}


def _said(text: str) -> str:
    """What a text says, whatever its setting and the full stop at its end."""
    return plain(text).text.strip(" .")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _forms(name: str) -> Iterator[str]:
    """A name in the singular and the plural."""
    yield name
    if len(name) > 2:
        yield name[:-1] if name.endswith("s") else name + "s"


def _holds_name(text: str, name: str) -> bool:
    """Whether a text holds a name with digits, whatever parts its letters from its digits: GPT-4, GPT4, GPT$_{4}$."""
    pieces = re.findall(r"[^\W\d_]+|\d+", level(name))
    pattern = r"(?<![^\W_])" + r"[-/.\s${}^_\\]{0,6}".join(map(re.escape, pieces)) + r"(?!\d)"
    return re.search(pattern, level(text), re.IGNORECASE) is not None

"""Facts without a language model: the sentences of a paper that state something, word for word, told apart by their wording.

A statement is a stretch of its sentence, so it says what the source says; its type, subject, conditions and quantities are read off by
rules. What does not belong here: whether a candidate may be a fact (`grounding`), and storing facts (`facts`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from scholarlake.knowledge.conditions import conditions
from scholarlake.knowledge.cues import SectionKind, lexicon
from scholarlake.knowledge.grammar import clause_at, tokens_of
from scholarlake.knowledge.grounding import ground_all
from scholarlake.knowledge.objects import Candidate, FactType, Reading, Sentence, Source, StudyType
from scholarlake.knowledge.quantities import quantities
from scholarlake.knowledge.subjects import Names, Read, names_of, subject_of

METHOD = "extractive"

_PROSE = frozenset(("abstract", "paragraph", "list_item"))
_LEAST, _LEAST_IN_BODY, _MOST = 5, 8, 90  # words of a statement
_LEAST_OF_METHOD = 9  # words that say what is done and how
_LOOKED_AT = 3  # times as many sentences are parsed as facts are wanted
_ALIKE = 0.7  # share of common words at which two statements say the same
_WORD = re.compile(r"[^\W_]+")
_CONCEDED = re.compile(r"^(?:since|because|although|though|while|whereas)\b[^,]*,", re.IGNORECASE)
_BRACKETS = re.compile(r"\([^()]*\)")
_NAME = re.compile(r"\d|[A-Z].*[A-Z]")
_ENDS = (".", "!", ".)", ".”", '."', "]")
_UNPROVEN = 2.0  # what the wording of a derivation is worth in a paper that derives nothing
_SELF_CONTAINED = 16  # words that make up for a demonstrative
_LEAST_OF_ABSTRACT, _LEAST_OF_METHODS, _LEAST_OF_BODY = 4.5, 3.5, 4.5  # scores
_METHODS_AT_MOST = 0.25  # share of a full text's facts that say how its study was done
_ORDER: tuple[FactType, ...] = (
    "limitation", "definition", "dataset", "hypothesis", "theoretical_result", "finding", "method_description",
)  # fmt: skip

_RESULTS: tuple[FactType, ...] = ("finding", "theoretical_result")
_HYPOTHESIS: FactType = "hypothesis"


@dataclass(frozen=True)
class Limits:
    """How many facts a paper gives at most, by the extent of its document."""

    of_full_text: int
    of_abstract: int


@dataclass(frozen=True)
class _Statement:
    """What could be a fact: a stretch of a sentence."""

    sentence: Sentence
    begin: int
    text: str
    section: SectionKind | None
    type: FactType
    score: float

    @cached_property
    def names(self) -> frozenset[str]:
        """Words with digits or several capitals."""
        return frozenset(word for word in _WORD.findall(self.text) if _NAME.search(word))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(word.lower() for word in _WORD.findall(self.text) if len(word) > 2)


@dataclass(frozen=True)
class Extractive:
    """The deterministic method. limits: of facts for a paper."""

    limits: Limits
    method: str = field(default=METHOD, init=False)

    def readings(self, sources: Iterable[Source]) -> Iterator[Reading]:
        """What each source states, one after the other."""
        for source in sources:
            yield read(source, self.limits)


def read(source: Source, limits: Limits) -> Reading:
    """The facts of a source, in the order in which it states them."""
    study_type = study_type_of(source)
    most = limits.of_abstract if source.extent == "abstract" else limits.of_full_text
    statements = sorted(_statements(source, study_type), key=lambda one: (-one.score, one.sentence.n, one.begin))
    names = names_of(source)
    parsed: dict[int, Read] = {}
    chosen: list[tuple[float, _Statement, Candidate]] = []
    for statement in statements[: most * _LOOKED_AT]:
        candidate = _candidate(source, statement, names, parsed)
        if candidate is not None:
            told = len(candidate.quantities[:3]) + len(candidate.context[:2])
            chosen.append((statement.score + 0.4 * told, statement, candidate))
    chosen.sort(key=lambda entry: (-entry[0], entry[1].sentence.n, entry[1].begin))
    kept = _distinct(chosen, most)
    judged = ground_all(kept, source, study_type=study_type, method=METHOD)
    return Reading(source, study_type, judged.facts, judged.refused)


def study_type_of(source: Source) -> StudyType:
    """What kind of study a paper is, by the words of its title and its sentences; quantitative where they don't say."""
    said = "\n".join([source.title or "", *(sentence.text for sentence in source.sentences if sentence.kind in _PROSE)])
    scores: dict[StudyType, float] = {
        name: sum(cue.weight * sum(1 for _ in cue.pattern.finditer(said)) for cue in cues) for name, cues in lexicon().study_types.items()
    }
    order: tuple[StudyType, ...] = ("theoretical", "quantitative", "qualitative")
    return max(order, key=lambda name: scores[name]) if any(scores.values()) else "quantitative"


# -- which sentences state something --------------------------------------------------------------------------------


def _statements(source: Source, study_type: StudyType) -> Iterator[_Statement]:
    first_own = _first_own(source)
    for sentence in source.sentences:
        if sentence.kind not in _PROSE:
            continue
        section = section_of(sentence)
        if section is not None and section.skip:
            continue
        for begin, end in pieces(sentence.text):
            text = sentence.text[begin:end]
            if not is_whole(text):
                continue
            judged = _judged(text, sentence, section, study_type, is_before_own=sentence.kind == "abstract" and sentence.n < first_own)
            if judged is not None:
                yield _Statement(sentence, begin, text, section, *judged)


def _first_own(source: Source) -> int:
    """The first sentence of the abstract in which the paper speaks of itself: what comes before is what was known. 0 where there is
    none."""
    for sentence in source.sentences:
        if sentence.kind == "abstract" and lexicon().own.search(sentence.text):
            return sentence.n
    return 0


def section_of(sentence: Sentence) -> SectionKind | None:
    """What the headings above a sentence say: the innermost that says anything."""
    for heading in reversed(sentence.sections):
        for kind in lexicon().sections:
            if kind.pattern.search(heading):
                return kind
    if sentence.kind == "abstract":
        return next(kind for kind in lexicon().sections if kind.name == "abstract")
    return None


def pieces(text: str) -> list[tuple[int, int]]:
    """The statements that a sentence is made of: the whole, or the clauses that semicolons part where each stands by itself."""
    ends = [found.start() for found in re.finditer(r";(?=\s)", text)]
    if not ends or len(text) < 160:
        return [(0, len(text))]
    bounds = [0, *(end + 1 for end in ends), len(text)]
    parts = [(begin + len(text[begin:end]) - len(text[begin:end].lstrip()), end) for begin, end in pairwise(bounds)]
    for begin, end in parts:
        clause = clause_at(tokens_of(text[begin:end]))
        if (
            clause is None
            or end - begin < 40
            or re.match(r"(?:and|or|but|which|whereas|while)\b", text[begin:end], re.I)
            or not _balanced(text[begin:end])
        ):
            return [(0, len(text))]
    return [(begin, end - 1 if text[end - 1] == ";" else end) for begin, end in parts]


def is_whole(text: str) -> bool:
    """Whether a text could be a statement at all: neither a fragment nor a question, nor cut in the middle."""
    words = len(text.split())
    if not _LEAST <= words <= _MOST or text.endswith(("?", ":", ",", ";")) or "?" in text[-3:]:
        return False
    first = text.lstrip("\"'`“‘([")[:1]
    if first.islower() and not re.match(r"[a-z]{1,3}[A-Z-]|[a-z]-", text):
        return False
    letters = sum(sign.isalpha() or sign.isspace() for sign in re.sub(r"\$[^$]*\$", "", text))
    return _balanced(text) and letters > 0.6 * len(re.sub(r"\$[^$]*\$", "", text))


def _balanced(text: str) -> bool:
    return text.count("$") % 2 == 0 and text.count("(") == text.count(")")


def _judged(
    text: str, sentence: Sentence, section: SectionKind | None, study_type: StudyType, *, is_before_own: bool
) -> tuple[FactType, float] | None:
    """The type of a statement and how telling it is; None where it is none of this paper."""
    words = lexicon()
    if words.not_statements.search(text):
        return None
    own, cited = words.own.search(text) is not None, _says("cited", text)
    background = words.background.search(text) is not None
    in_abstract, where = sentence.kind == "abstract", section.name if section is not None else ""
    if not in_abstract and (not text.endswith(_ENDS) or len(text.split()) < _LEAST_IN_BODY):
        return None  # it goes on in a formula or a list, or says too little by itself
    if not own and (cited or is_before_own or where in ("background", "summary")):
        return None  # of others, or of everybody
    type_, weight = _typed(text, study_type, section, in_abstract=in_abstract, own=own)
    if background and (cited or (not own and (weight < 5 or type_ == "limitation"))):
        return None
    if type_ == "method_description" and len(text.split()) < _LEAST_OF_METHOD:
        return None  # "an action is also formulated"
    if not in_abstract and weight < (2 if where in ("results", "methods", "limitations") else 3) + (0 if own else 1):
        return None
    score = weight + (1.0 if own else 0.0) + (section.weight if section is not None else 0.5)
    score -= 1.0 * cited + 0.5 * _says("goes_on", text) + 0.5 * (len(text) > 400)
    if _says("bare_result", text):
        score -= 1.5
    if _says("points_out", text):
        score -= 3.0 if len(text.split()) < _SELF_CONTAINED or _says("points_out_at_once", text) else 0.7
    least = _LEAST_OF_ABSTRACT if in_abstract else _LEAST_OF_METHODS if type_ == "method_description" else _LEAST_OF_BODY
    return (type_, score) if score >= least else None


def _typed(text: str, study_type: StudyType, section: SectionKind | None, *, in_abstract: bool, own: bool) -> tuple[FactType, float]:
    """The type that the wording speaks for, else the section, and how strongly; 0 where nothing speaks for any."""
    purpose = lexicon().wordings["for_a_purpose"].match(text)
    if purpose is not None:
        text = text[purpose.end() :]
    weights = _weights(text, study_type)
    if section is not None and section.name == "methods":
        for name in (*_RESULTS, _HYPOTHESIS):
            weights[name] = weights[name] if weights[name] > 3 else 0.0  # what was done, not what came of it
    if _says("we_do", text):
        for name in _RESULTS:
            weights[name] = weights[name] if weights[name] > 2 else 0.0  # what the authors do is no result by itself
    if _says("we_use", text):
        weights = {name: weight if name in ("method_description", "dataset", "limitation") else 0.0 for name, weight in weights.items()}
        weights["method_description"] = max(weights["method_description"], 3.0)
    if not own and study_type != "theoretical" and (section is None or section.type != "limitation"):
        weights["limitation"] = 0.0  # of something else than the study
    if not in_abstract:
        weights["hypothesis"] = weights["hypothesis"] if weights["hypothesis"] > 3 or _says("of_results", text) else 0.0
    type_ = max(_ORDER, key=lambda name: (weights[name], -_ORDER.index(name)))
    if weights[type_]:
        if section is not None and section.type == "limitation" and type_ != "hypothesis":
            return "limitation", max(3.0, weights[type_])
        return type_, weights[type_]
    if section is not None and section.type == "limitation":
        return "limitation", 2.0
    if _says("we_do", text):
        return "method_description", 1.0
    default: FactType = (
        section.type if section is not None and section.type else "theoretical_result" if study_type == "theoretical" else "finding"
    )
    return default, 1.0 if in_abstract else 0.0


def _says(name: str, text: str) -> bool:
    """Whether a text has a wording of the lexicon."""
    return lexicon().wordings[name].search(text) is not None


def _weights(text: str, study_type: StudyType) -> dict[FactType, float]:
    """How strongly the wording speaks for each type, with regard to the kind of study."""
    read = {
        "definition": _BRACKETS.sub("", text),  # what a bracket defines is not what the sentence says
        "limitation": _CONCEDED.sub("", text),  # nor is what it sets aside
    }
    found = {
        name: max((cue.weight for cue in cues if cue.pattern.search(read.get(name, text))), default=0.0)
        for name, cues in lexicon().types.items()
    }
    best = max(found["theoretical_result"] if study_type == "theoretical" or _says("proven", text) else 0.0, found["finding"])
    is_theory = _says("proven", text) or (study_type == "theoretical" and not _says("numerical", text))
    found["theoretical_result"], found["finding"] = (
        (best, 0.0) if is_theory else (0.0, max(best, min(found["theoretical_result"], _UNPROVEN)))
    )
    return found


# -- from statement to candidate ------------------------------------------------------------------------------------


def _candidate(source: Source, statement: _Statement, names: Names, parsed: dict[int, Read]) -> Candidate | None:
    """The statement with its subject, conditions and quantities; None where it has no verb or it can't be told what it is about."""
    n = statement.sentence.n
    here = Read(n, statement.text) if statement.text != statement.sentence.text else _parsed(source, n, parsed)
    tokens = here.tokens
    if clause_at(tokens) is None:
        return None
    before = _before(source, n)
    subject = subject_of(here, [_parsed(source, place, parsed) for place in before], names)
    if subject is None:
        return None
    evidence = {n, *subject.sentences}
    if _says("names_before", statement.text) or _says("points_back", statement.text):  # which says what "its" and "these" stand for
        if not before:
            return None
        evidence.add(before[-1])
    return Candidate(
        statement.type,
        subject.text,
        statement.text,
        evidence=tuple(sorted(evidence)),
        context=conditions(statement.text, tokens),
        quantities=quantities(statement.text, tokens),
    )


def _before(source: Source, n: int) -> list[int]:
    """The places of the sentences right before one, of the same kind and sections."""
    there = source.sentences[n]
    places = []
    for place in range(n - 1, max(-1, n - 4), -1):
        if source.sentences[place].kind != there.kind or source.sentences[place].sections != there.sections:
            break
        places.append(place)
    return places[::-1]


def _parsed(source: Source, n: int, parsed: dict[int, Read]) -> Read:
    if n not in parsed:
        parsed[n] = Read(n, source.sentences[n].text)
    return parsed[n]


def _distinct(chosen: Sequence[tuple[float, _Statement, Candidate]], most: int) -> list[Candidate]:
    """The first that say something that none before says, in reading order."""
    kept: list[tuple[_Statement, Candidate]] = []
    methods = 0
    for _, statement, candidate in chosen:
        if len(kept) == most:
            break
        is_method = statement.type == "method_description" and statement.sentence.kind != "abstract"
        if is_method and methods >= _METHODS_AT_MOST * most:
            continue
        if not any(_say_the_same(statement, other) for other, _ in kept):
            kept.append((statement, candidate))
            methods += is_method
    kept.sort(key=lambda entry: (entry[0].sentence.n, entry[0].begin))
    return [candidate for _, candidate in kept]


def _say_the_same(one: _Statement, other: _Statement) -> bool:
    """Whether two statements share most of their words, and neither names or counts what the other does not."""
    if one.names - other.names and other.names - one.names:
        return False
    shared = len(one.words & other.words)
    return shared >= _ALIKE * min(len(one.words), len(other.words)) and shared >= 0.5 * max(len(one.words), len(other.words))

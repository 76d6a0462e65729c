"""Facts by a language model: each study type with its own schema, evidence as a choice among the sentences that are shown.

A document is shown in windows of whole sentences, cut where sections begin; each is one request. What can't be read is told as such, and
is never fewer facts in silence. What does not belong here: what a candidate must pass (`grounding`), what a verifier says of it
(`verification`), how models are reached (`models`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, get_args

from scholarlake.errors import ModelError
from scholarlake.knowledge.grounding import ground_all
from scholarlake.knowledge.objects import Candidate, Context, ContextKind, FactType, Quantity, Reading, Sentence, Source, StudyType
from scholarlake.models.chat import ChatRequest
from scholarlake.models.chat_model import ChatModel
from scholarlake.models.prompts import Prompt, prompt
from scholarlake.models.structured import shape_of

PROMPTS = Path(__file__).parent / "prompts"

_SOURCES_AT_ONCE = 256  # whose answers are waited for together
_CHARACTERS_A_TOKEN = 3  # of JSON in English; a denser answer that is cut off is asked for again with more room
_MOST_EVIDENCE = 4  # sentences of one fact
_UNKNOWN: StudyType = "quantitative"  # what a study is taken for of which nothing could be read
_NOTHING = frozenset(("", "-", "n/a", "na", "nil", "none", "null", "not given", "not reported", "not specified", "not stated", "unknown"))

_SINGLE: Mapping[StudyType, tuple[ContextKind, ...]] = {
    "quantitative": ("population", "setting", "dataset", "baseline"),
    "qualitative": ("population", "setting", "place", "time"),
    "theoretical": ("setting",),
}
_SEVERAL: Mapping[StudyType, Mapping[str, ContextKind]] = {
    "quantitative": {"conditions": "condition"},
    "qualitative": {"conditions": "condition"},
    "theoretical": {"assumptions": "assumption", "conditions": "condition"},
}


@dataclass(frozen=True)
class Bounds:
    """How much is shown and wanted at once. characters: of sentences in one request; facts: in one answer."""

    characters: int = 6_000
    facts: int = 8


@dataclass(frozen=True)
class Category:
    """What belongs to something, by a criterion."""

    name: str
    criterion: str


@dataclass(frozen=True)
class Dimension:
    """Along what findings are compared, and the categories that there are."""

    name: str
    categories: tuple[Category, ...]


@dataclass(frozen=True)
class Attention:
    """What a taxonomy tells extraction to attend to. version: of the taxonomy, which facts keep."""

    version: str
    dimensions: tuple[Dimension, ...]

    @property
    def text(self) -> str:
        """The dimensions and their categories, a line each."""
        return "\n".join(
            line
            for dimension in self.dimensions
            for line in (f"{dimension.name}:", *(f"- {one.name}: {one.criterion}" for one in dimension.categories))
        )


@dataclass(frozen=True)
class Window:
    """Sentences that are shown together, numbered from 1: so a window that stays the same is not read again, wherever it moves to."""

    sentences: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        lines, sections = [], None
        for number, sentence in enumerate(self.sentences, 1):
            if sentence.sections != sections and sentence.sections:
                lines.append(f"§ {_line(' > '.join(sentence.sections))}")
            sections = sentence.sections
            lines.append(f"{number}: {_line(sentence.text)}")
        return "\n".join(lines)


@dataclass
class _Work:
    """A source on its way. said, answers: what study its windows were taken for and what they gave, by their place; faults: why not.
    too_long: sentences that fit in no request."""

    source: Source
    windows: list[Window]
    too_long: list[int]
    said: dict[int, StudyType] = field(default_factory=dict)
    answers: dict[int, list[Candidate]] = field(default_factory=dict)
    faults: dict[int, str] = field(default_factory=dict)

    @property
    def study_type(self) -> StudyType | None:
        """What its first window that was answered was taken for."""
        return self.said[min(self.said)] if self.said else None

    @property
    def is_done(self) -> bool:
        return len(self.answers) + len(self.faults) == len(self.windows)


@dataclass(frozen=True)
class _Part:
    """A window of a source that is asked about. study_type: what the source was known to be when it was; None asks for that too."""

    work: _Work
    place: int
    study_type: StudyType | None

    @property
    def window(self) -> Window:
        return self.work.windows[self.place]

    def take(self, value: Mapping[str, Any]) -> None:
        """Keep what an answer proposes."""
        said = value if self.study_type else value["study"]
        study_type: StudyType = self.study_type or said["study_type"]
        self.work.answers[self.place] = [candidate_of(entry, study_type, self.window) for entry in said["facts"]]
        self.work.said[self.place] = study_type


class Extraction:
    """The reader that asks the extractor. Raises ModelError where its answers have no room for a single fact.

    attention: what a taxonomy tells it to look at; None for whatever is stated.
    """

    def __init__(self, model: ChatModel, bounds: Bounds | None = None, attention: Attention | None = None) -> None:
        self._model = model
        self._prompt = prompt(PROMPTS, "extract")
        self._attention = attention
        self.bounds = _fitting(bounds or Bounds(), model)
        self.method = method_of(model, self._prompt)

    def readings(self, sources: Iterable[Source]) -> Iterator[Reading]:
        """A reading for each source, as they finish. Raises what asking raises: where the model is lost, or the budget spent."""
        supply = iter(sources)
        while group := [self._begun(source) for source in islice(supply, _SOURCES_AT_ONCE)]:
            yield from (self._finished(work) for work in group if not work.windows)
            started = [work for work in group if work.windows]
            yield from self._asked([_Part(work, 0, None) for work in started])
            yield from self._asked([_Part(work, place, work.study_type) for work in started for place in range(1, len(work.windows))])

    def _begun(self, source: Source) -> _Work:
        shown, too_long = windows(source.sentences, self.bounds.characters)
        return _Work(source, shown, too_long)

    def _asked(self, wanted: Sequence[_Part]) -> Iterator[Reading]:
        """Readings that are whole once these parts are answered."""
        for result in self._model.ask(map(self._request, wanted)):
            part = wanted[result.position]
            if result.failure is not None:
                part.work.faults[part.place] = f"{result.failure.kind}: {result.failure.reason}"
            else:
                part.take(result.value)
            if part.work.is_done:
                yield self._finished(part.work)

    def _request(self, part: _Part) -> ChatRequest:
        work, window = part.work, part.window
        messages = self._prompt.messages(
            title=work.source.title,
            attention=self._attention.text if self._attention else None,
            sentences=window.text,
            whole=len(work.windows) == 1,
            study_type=part.study_type,
            most=self.bounds.facts,
        )
        schema = schema_of(part.study_type, len(window.sentences), self.bounds.facts)
        return ChatRequest(messages, schema, item=f"{work.source.paper_id} {part.place + 1}/{len(work.windows)}")

    def _finished(self, work: _Work) -> Reading:
        candidates = [candidate for place in sorted(work.answers) for candidate in work.answers[place]]
        study_type = work.study_type or _UNKNOWN
        version = self._attention.version if self._attention else None
        found = ground_all(candidates, work.source, study_type=study_type, method=self.method, taxonomy=version)
        return Reading(work.source, study_type, found.facts, found.refused, _unread(work))


def method_of(model: ChatModel, asked: Prompt) -> str:
    """What rows keep of who wrote them: role, model, and version of the prompt."""
    revision = f"@{model.endpoint.revision}" if model.endpoint.revision else ""
    return f"{model.role}:{model.endpoint.model}{revision} prompt:{asked.version[:12]}"


def _unread(work: _Work) -> str | None:
    faults = [f"sentence {n} is too long to be shown" for n in work.too_long]
    for place in sorted(work.faults):
        shown = work.windows[place].sentences
        faults.append(f"sentences {shown[0].n} to {shown[-1].n}: {work.faults[place]}")
    return "; ".join(faults) or None


# -- windows ---------------------------------------------------------------------------------------------------------


def windows(sentences: Sequence[Sentence], characters: int) -> tuple[list[Window], list[int]]:
    """Sentences in windows of at most so many characters, none in two, and the places of those that are longer than that.

    A section that begins in the second half of a window begins a new one.
    """
    made: list[Window] = []
    held: list[Sentence] = []
    filled = 0
    too_long = []
    for sentence in sentences:
        length = len(sentence.text) + sum(map(len, sentence.sections))
        if length > characters:
            too_long.append(sentence.n)
            continue
        begins = bool(held) and held[-1].sections != sentence.sections and filled > characters // 2
        if held and (begins or filled + length > characters):
            made.append(Window(tuple(held)))
            held, filled = [], 0
        held.append(sentence)
        filled += length
    if held:
        made.append(Window(tuple(held)))
    return made, too_long


def _line(text: str) -> str:
    """A text that can't begin a line of its own."""
    return " ".join(text.splitlines())


# -- schemas -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1_024)
def schema_of(study_type: StudyType | None, sentences: int, most: int) -> Mapping[str, Any]:
    """What an answer about so many sentences looks like: facts as a type of study has them, or first which type it is."""
    if study_type is not None:
        return _object({"facts": _facts(study_type, sentences, most)})
    kinds = [_object({"study_type": {"enum": [one]}, "facts": _facts(one, sentences, most)}) for one in get_args(StudyType)]
    return _object({"study": {"anyOf": kinds}})


def _facts(study_type: StudyType, sentences: int, most: int) -> dict[str, Any]:
    return {"type": "array", "maxItems": most, "items": _fact(study_type, sentences)}


def _fact(study_type: StudyType, sentences: int) -> dict[str, Any]:
    number = {"type": "integer", "enum": list(range(1, sentences + 1))}
    quantity = {"value": _string(32), "unit": _perhaps(24), "metric": _perhaps(48), "comparator": _perhaps(16)}
    return _object(
        {
            "evidence": {"type": "array", "minItems": 1, "maxItems": _MOST_EVIDENCE, "items": number},
            "type": {"enum": list(get_args(FactType))},
            "subject": _string(100),
            "statement": _string(360),
            **{name: _perhaps(120) for name in _SINGLE[study_type]},
            **{name: {"type": "array", "maxItems": 3, "items": _string(120)} for name in _SEVERAL[study_type]},
            "quantities": {"type": "array", "maxItems": 4, "items": _object(quantity)},
        }
    )


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False}


def _string(longest: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": longest}


def _perhaps(longest: int) -> dict[str, Any]:
    return {"type": ["string", "null"], "maxLength": longest}


def _fitting(bounds: Bounds, model: ChatModel) -> Bounds:
    """As many facts in one answer as the role has room for, whatever they say, and less text where they are fewer."""
    room = _CHARACTERS_A_TOKEN * (model.endpoint.max_output_tokens or model.sampling.max_tokens)
    for facts in range(bounds.facts, 0, -1):
        longest = shape_of(schema_of(None, 99, facts)).longest
        if longest is not None and longest <= room:
            return Bounds(max(1, bounds.characters * facts // bounds.facts), facts)
    tokens = room // _CHARACTERS_A_TOKEN
    raise ModelError(f"{model.name} has no room for one fact in an answer of {tokens} tokens; raise max_tokens of {model.role}")


# -- answers -----------------------------------------------------------------------------------------------------------


def candidate_of(entry: Mapping[str, Any], study_type: StudyType, window: Window) -> Candidate:
    """What an answer proposes, in the terms of the source."""
    context = [Context(kind, text) for kind in _SINGLE[study_type] if (text := _given(entry[kind])) is not None]
    for name, kind in _SEVERAL[study_type].items():
        context += [Context(kind, text) for one in entry[name] if (text := _given(one)) is not None]
    quantities = tuple(
        Quantity(one["value"], None, _given(one["unit"]), _given(one["metric"]), _given(one["comparator"])) for one in entry["quantities"]
    )
    evidence = tuple(window.sentences[number - 1].n for number in entry["evidence"])
    return Candidate(entry["type"], entry["subject"], entry["statement"], evidence, tuple(context), quantities)


def _given(text: str | None) -> str | None:
    """A text, unless it is one of the words for nothing."""
    return None if text is None or text.strip(" .").casefold() in _NOTHING else text

"""S2ORC full texts as the releases since 2022 write them: one text, and annotations that name stretches of it.

Annotations are lists of objects with `start`, `end` and perhaps `attributes`, each list as a string that holds JSON, or as it is; they
count code points. The text stands under `content`, in later releases under `body`. Not read: the bibliography, publishers, affiliations.
Reference: the `s2orc` and `s2orc_v2` data sets of the Semantic Scholar API.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from scholarlake.documents.document import About, Document, Kind, Writer

_PLACES = ("content", "body")
_KINDS: Mapping[str, Kind] = {
    "abstract": "abstract",
    "sectionheader": "heading",
    "paragraph": "paragraph",
    "formula": "formula",
    "figurecaption": "caption",
}
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_NUMBERS = re.compile(r"\d+|[A-Z](?=\.|$)")


@dataclass(frozen=True)
class _Span:
    """A stretch of the text. number: of a section."""

    start: int
    end: int
    kind: Kind
    number: str = ""


def recognises(value: Mapping[str, Any]) -> bool:
    """Whether an object is a paper of S2ORC with its text and what stands where in it."""
    return _content(value) is not None


def read(value: Mapping[str, Any]) -> Document:
    """The document of one object. Annotations that don't fit the text are passed over."""
    content = _content(value) or {}
    text: str = content["text"]
    notes = _mapping(content["annotations"])
    about = _about(value, text, notes)
    writer = Writer()
    writer.add("title", about.title or "")
    for span in _laid_out([span for name, kind in _KINDS.items() for span in _spans(notes.get(name), kind, len(text))], text):
        said = text[span.start : span.end]
        if span.kind == "heading":
            _enter(writer, " ".join(said.split()), span.number)
        else:
            writer.add(span.kind, said, sections=[] if span.kind == "abstract" else None)
    return writer.document(about)


def _laid_out(spans: list[_Span], text: str) -> Iterator[_Span]:
    """Spans in order, none in two: what lies in a paragraph interrupts it, a paragraph of the abstract is the abstract's."""
    if not any(span.kind == "paragraph" for span in spans):
        spans += _lines_between(spans, text)
    open_: _Span | None = None  # a paragraph under way
    reached = 0
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if open_ is not None and span.start >= open_.end:
            yield _Span(reached, open_.end, open_.kind)
            reached, open_ = open_.end, None
        if span.start < reached or (open_ is not None and span.kind in ("paragraph", "abstract", "heading")):
            continue
        if open_ is not None:
            yield _Span(reached, span.start, open_.kind)
            yield span
            reached = span.end
        elif span.kind in ("paragraph", "abstract"):
            open_, reached = span, span.start
        else:
            yield span
            reached = span.end
        if open_ is not None and reached >= open_.end:
            open_ = None
    if open_ is not None:
        yield _Span(reached, open_.end, open_.kind)


def _lines_between(spans: list[_Span], text: str) -> list[_Span]:
    """What stands between other spans behind the first heading or the abstract, line by line, where no paragraphs are named."""
    found: list[_Span] = []
    ordered = sorted(spans, key=lambda one: one.start)
    ends = [span.end for span in ordered] or [0]
    for end, stop in zip(ends, [*(span.start for span in ordered[1:]), len(text)], strict=True):
        found += (_Span(end + line.start(), end + line.end(), "paragraph") for line in re.finditer(r"[^\n]+", text[end:stop]))
    return [span for span in found if text[span.start : span.end].strip()]


def _enter(writer: Writer, heading: str, number: str) -> None:
    if heading:
        depth = max(len(_NUMBERS.findall(number)), 1)
        writer.sections = [*writer.sections[: depth - 1], heading]
        writer.heading(heading, number or None)


def _about(value: Mapping[str, Any], text: str, notes: Mapping[str, Any]) -> About:
    ids = {**_mapping(value.get("externalids")), **_mapping(_mapping(value.get("openaccessinfo")).get("externalids"))}
    known = {key.lower(): str(found) for key, found in ids.items() if isinstance(found, str | int) and str(found).strip()}
    doi = known.pop("doi", None)
    named = value.get("title")
    titles = [text[span.start : span.end] for span in _spans(notes.get("title"), "title", len(text))]
    title = named if isinstance(named, str) and named.strip() else next(iter(titles), "")
    people = value.get("authors")
    names = [_mapping(person).get("name") for person in people] if isinstance(people, list) else []
    authors = [name for name in names if isinstance(name, str)] or [
        text[span.start : span.end] for span in _spans(notes.get("author"), "paragraph", len(text))
    ]
    corpus_id = value.get("corpusid") or value.get("corpus_id")
    year = _YEAR.search(str(value.get("year") or ""))
    return About(
        " ".join(title.split()) or None,
        doi,
        tuple(([str(corpus_id)] if isinstance(corpus_id, str | int) else []) + list(known.values())),
        int(year.group()) if year else None,
        tuple(" ".join(name.split()) for name in authors if name.strip()),
    )


def _content(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The text with its annotations."""
    for place in _PLACES:
        content = _mapping(value.get(place))
        if isinstance(content.get("text"), str) and isinstance(content.get("annotations"), Mapping):
            return content
    return None


def _spans(given: Any, kind: Kind, length: int) -> list[_Span]:
    """Annotations of one name."""
    if isinstance(given, str):
        try:
            given = orjson.loads(given)
        except orjson.JSONDecodeError:
            return []
    found: list[_Span] = []
    for one in given if isinstance(given, list) else ():
        start, end = _number(_mapping(one).get("start")), _number(_mapping(one).get("end"))
        if start is not None and end is not None and 0 <= start < end <= length:
            number = _mapping(_mapping(one).get("attributes")).get("n")
            found.append(_Span(start, end, kind, str(number) if isinstance(number, str | int) else ""))
    return found


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 12:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}

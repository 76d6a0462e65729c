"""S2ORC full texts, as `s2orc-doc2json` and the releases up to 2021 write them: paragraphs with the sections they stand in.

One object a file or a line. `latex_parse` is taken before `pdf_parse`: its formulas are LaTeX, where the PDF's are shards of glyphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scholarlake.documents.document import About, Document, Writer
from scholarlake.documents.inline import FORMULA

NAME = "s2orc"

_PARSES = ("latex_parse", "pdf_parse")
_PLACEHOLDER = re.compile(r"\b(?:INLINEFORM|DISPLAYFORM|EQREF|FORMULA)\d+\b")
_REFERENCE = re.compile(r"\b(?:FIGREF|TABREF|SECREF|FIGURE|TABLE)\d+\b")
_MARKUP = re.compile(r"<[^<>]{1,200}>")
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_NUMBERS = re.compile(r"\d+|[A-Z](?=\.|$)")


def recognises(value: Mapping[str, Any]) -> bool:
    """Whether an object is a paper of S2ORC with its text."""
    return any(isinstance(value.get(parse), Mapping) for parse in _PARSES) or isinstance(value.get("body_text"), list)


def read(value: Mapping[str, Any]) -> Document:
    """The document of one object. What has not the expected shape is passed over."""
    parse = next((_mapping(value.get(name)) for name in _PARSES if _mapping(value.get(name)).get("body_text")), None)
    if parse is None:
        parse = next((_mapping(value.get(name)) for name in _PARSES if value.get(name)), value)
    about = _about(value)
    entries = _mapping(parse.get("ref_entries"))
    writer = Writer()
    writer.add("title", about.title or "")
    _abstract(value, parse, entries, writer)
    for paragraph in _mappings(parse.get("body_text")):
        _paragraph(paragraph, entries, writer)
    writer.sections = []
    for entry in _mappings(entries.values()):
        _entry(entry, writer)
    return writer.document(about)


def _about(value: Mapping[str, Any]) -> About:
    metadata = _mapping(value.get("metadata"))
    known = {**metadata, **{key: entry for key, entry in value.items() if entry}}
    ids = [known.get(key) for key in ("paper_id", "corpus_id", "corpusid", "s2_id", "arxiv_id", "acl_id", "pubmed_id", "pmc_id")]
    year = _YEAR.search(str(known.get("year") or ""))
    authors = [
        f"{_text(person.get('last'))}, {' '.join([_text(person.get('first')), *map(str, _list(person.get('middle')))])}".strip(" ,")
        for person in _mappings(known.get("authors"))
    ]
    return About(
        _text(known.get("title")) or None,
        _text(known.get("doi")) or None,
        tuple(str(found) for found in ids if isinstance(found, str | int) and str(found).strip()),
        int(year.group()) if year else None,
        tuple(author for author in authors if author),
    )


def _abstract(value: Mapping[str, Any], parse: Mapping[str, Any], entries: Mapping[str, Any], writer: Writer) -> None:
    parts = list(_mappings(parse.get("abstract")))
    for part in parts:
        section = _text(part.get("section"))
        under = [section] if section and section.lower() != "abstract" else []
        writer.add("abstract", _readable(part, entries), sections=under)
    if not parts:
        whole = parse.get("abstract") or value.get("abstract")
        writer.add("abstract", whole if isinstance(whole, str) else "", sections=[])


def _paragraph(paragraph: Mapping[str, Any], entries: Mapping[str, Any], writer: Writer) -> None:
    section, number = paragraph.get("section"), _text(paragraph.get("sec_num"))
    names = [_text(part) for part in section] if isinstance(section, list) else [" ".join(_text(section).split())]
    under = [name for name in names if name]
    if under and under[-1] != (writer.sections or [""])[-1]:
        depth = max(len(_NUMBERS.findall(number)), 1)
        writer.sections = under if len(under) > 1 else [*writer.sections[: depth - 1], *under]
        writer.heading(under[-1], number or None)
    text = _text(paragraph.get("text"))
    if text in ("EQUATION", "DISPLAYFORM"):
        for equation in _mappings(paragraph.get("eq_spans")):
            writer.add("formula", _text(equation.get("latex") or equation.get("raw_str")), label=_text(equation.get("eq_num")))
        return
    writer.add("paragraph", _readable(paragraph, entries))


def _readable(paragraph: Mapping[str, Any], entries: Mapping[str, Any]) -> str:
    """The text with what stands for a formula or a figure replaced by it."""
    text = _text(paragraph.get("text"))
    if "FORM" in text or "EQREF" in text:
        formulas = {
            key: latex
            for span in _mappings(paragraph.get("eq_spans"))
            if (latex := _text(span.get("latex")))
            for key in (_text(span.get("text")), _text(span.get("ref_id")))
            if key
        }
        for key, entry in entries.items():
            if latex := _text(_mapping(entry).get("latex")):
                formulas.setdefault(key, latex)
        text = _PLACEHOLDER.sub(
            lambda found: f"${formulas[found.group()].strip('$ ')}$" if found.group() in formulas else _unknown(found.group()), text
        )
    if "REF" in text:
        text = _REFERENCE.sub(lambda found: _number(_mapping(entries.get(found.group()))) or found.group(), text)
    return text


def _unknown(placeholder: str) -> str:
    """What stands for a formula that the file leaves out. References to equations stay: they are words."""
    return placeholder if placeholder.startswith("EQREF") else FORMULA


def _entry(entry: Mapping[str, Any], writer: Writer) -> None:
    """A figure, table, equation or footnote, which stand behind the body: where they floated is not told."""
    kind = (_text(entry.get("type_str")) or _text(entry.get("type"))).lower()
    text = _text(entry.get("text"))
    label = " ".join(part for part in (kind.capitalize(), _number(entry)) if part)
    if kind in ("figure", "table"):
        writer.add("caption", text, label=label)
        if kind == "table":
            writer.add_lines("table", _rows(_text(entry.get("content") or entry.get("html"))), label=label)
    elif kind in ("equation", "formula"):
        writer.add("formula", _text(entry.get("latex")) or text, label=_number(entry))
    elif kind in ("footnote", "foot"):
        writer.add("footnote", text, label=_number(entry))


def _number(entry: Mapping[str, Any]) -> str:
    found = entry.get("num") or entry.get("fig_num") or entry.get("uris_num")
    return str(found) if isinstance(found, str | int) else ""


def _rows(content: str) -> list[str]:
    """The rows of a table given as HTML, or as it is."""
    if "<tr" not in content:
        return content.split("\n")
    cells = [re.split(r"</t[dh]>", row) for row in re.split(r"</tr>", content)]
    lines = [[" ".join(_MARKUP.sub(" ", cell).split()) for cell in row] for row in cells]
    return [" | ".join(row[:-1] if row and not row[-1] else row) for row in lines if any(row)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _mappings(values: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(values, Iterable) and not isinstance(values, str | Mapping):
        yield from (value for value in values if isinstance(value, Mapping))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []

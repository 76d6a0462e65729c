"""What `inspect` and `rejects` show a person (rich renderables). Pure functions of what was found.

What does not belong here: reading anything, printing anything, options (`source_commands`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from scholarlake.documents.inspection import DocumentsFound, DocumentShown
from scholarlake.inspection import Found, Unread
from scholarlake.sources.inspection import PartFound
from scholarlake.sources.rejected import Rejected
from scholarlake.typeset import bytes_in_words, counted, plain, table, visible

_FILES_SHOWN = 200
_LONGEST = 200  # characters of a value, an excerpt or a paragraph
_ITEMS_SHOWN = 3  # of a list in a record


def render_found(found: Found) -> RenderableType:
    """One file."""
    if isinstance(found, PartFound):
        return _part(found)
    if isinstance(found, DocumentsFound):
        return _documents(found)
    return Text(plain(found.why), style="red")


def render_folder(found: Sequence[Found]) -> RenderableType:
    """Files of a folder or an archive, one a line, and their sums."""
    made = table("file", "format", numbers=("bytes", "records", "rejects", "documents", "sentences"), last=("reasons",))
    for one in found[:_FILES_SHOWN]:
        made.add_row(Text(plain(one.key)), *_line(one))
    parts: list[RenderableType] = [made]
    if len(found) > _FILES_SHOWN:
        parts.append(Text(f"and {len(found) - _FILES_SHOWN:,} more files", style="dim"))
    return Group(*parts, Text(""), Text(_sums(found), style="bold"))


def _line(one: Found) -> tuple[RenderableType, ...]:
    size = bytes_in_words(one.bytes)
    if isinstance(one, Unread):
        return Text("can't be read", style="red"), size, "", "", "", "", ""
    if isinstance(one, DocumentsFound):
        return ", ".join(one.formats), size, "", "", f"{one.documents:,}", f"{one.sentences:,}", ""
    if one.passed_over:
        return one.format, size, "", "", "", "", Text(f"passed over: {one.passed_over}", style="dim")
    reasons = ", ".join(f"{reason} {refused.lines:,}" for reason, refused in one.refused.items())
    style = "yellow" if one.rejects else ""
    return one.format, size, f"{one.records:,}", Text(f"{one.rejects:,}", style=style), "", "", Text(reasons, style=style)


def _sums(found: Sequence[Found]) -> str:
    dumps = [one for one in found if isinstance(one, PartFound) and not one.passed_over]
    texts = [one for one in found if isinstance(one, DocumentsFound)]
    passed_over = sum(isinstance(one, PartFound) and bool(one.passed_over) for one in found)
    unread = sum(isinstance(one, Unread) for one in found)
    said = [counted(len(found), "file")]
    if dumps:
        records, rejects = sum(one.records for one in dumps), sum(one.rejects for one in dumps)
        said.append(f"{counted(records, 'record')} and {counted(rejects, 'reject')} in {len(dumps):,} of them")
    if texts:
        documents, sentences = sum(one.documents for one in texts), sum(one.sentences for one in texts)
        said.append(f"{counted(documents, 'document')} with {counted(sentences, 'sentence')} in {len(texts):,}")
    said += [f"{counted(passed_over, 'holds', 'hold')} no papers"] if passed_over else []
    said += [f"{unread:,} can't be read"] if unread else []
    return "; ".join(said)


# -- a part of a dump ------------------------------------------------------------------------------------------------


def _part(found: PartFound) -> RenderableType:
    facts = _facts(
        ("format", f"{found.format}: {found.about}" + (f"; spelled as {found.issue}" if found.issue else "")),
        ("records lie", found.framing),
        ("size", _size(found.bytes, found.uncompressed_bytes, found.compression, found.is_whole)),
        ("encoding", _encoding(found)),
    )
    heading = Text(plain(found.key), style="bold")
    if found.passed_over:
        return Group(heading, facts, Text(""), Text(f"holds {found.passed_over}: known, and passed over", style="yellow"))
    if not found.lines:
        return Group(heading, facts, Text(""), Text("empty: neither records nor rejects", style="yellow"))
    share = f" ({_per_cent(found.rejects / found.lines)})" if found.rejects else ""
    counts = f"{_many(found.records, 'record')} and {_many(found.rejects, 'reject')}{share} of {found.lines:,}"
    if not found.is_whole:
        counts += ", the first ones; the rest was not read"
    parts: list[RenderableType] = [heading, facts, Text(""), Text(counts, style="bold")]
    if found.refused:
        parts += [Text(""), _refused(found)]
    if found.records:
        parts += [Text(""), _fields(found)]
        if found.flags:
            flags = ", ".join(f"{name} {count:,}" for name, count in sorted(found.flags.items(), key=lambda item: -item[1]))
            parts += [Text(""), Text.assemble(("odd fields  ", "dim"), flags)]
        few = f"first {len(found.examples)} as they" if len(found.examples) > 1 else "first as it"
        parts += [Text(""), Text(f"the {few} would be stored", style="bold")]
        for row in found.examples:
            parts += [Text(""), Padding(_record(row), (0, 0, 0, 2), expand=False)]
    return Group(*parts)


def _size(packed: int, unpacked: int, compression: str, is_whole: bool) -> str:
    if not compression:
        return bytes_in_words(packed) + ("" if is_whole or not unpacked else f", {bytes_in_words(unpacked)} of them read")
    how = compression.replace("+", ", then ")
    return f"{bytes_in_words(packed)}, packed by {how}" + (f"; {bytes_in_words(unpacked)} unpacked" if unpacked else "")


def _encoding(found: PartFound) -> str:
    ends = f"line ends {found.line_ends}" if found.line_ends != "none" else "one line without an end"
    return f"{found.encoding}{', with a byte-order mark' if found.has_byte_order_mark else ''}, {ends}"


def _refused(found: PartFound) -> RenderableType:
    made = table("reason", numbers=("lines", "share", "at byte", "length"), last=("how it begins",))
    for reason, refused in found.refused.items():
        for place, row in enumerate(refused.first):
            first = (reason, f"{refused.lines:,}", _per_cent(refused.lines / found.lines)) if not place else ("", "", "")
            made.add_row(*first, f"{row['byte_offset']:,}", f"{row['byte_length']:,}", _beginning(row))
    return made


def _beginning(row: Mapping[str, Any]) -> Text:
    detail = f"{visible(row['detail'])}  " if row["detail"] else ""
    return Text.assemble((detail, "yellow"), _short(row["excerpt"]))


def _fields(found: PartFound) -> RenderableType:
    made = table("field", numbers=("records", "share", "entries each"))
    for name, filled in found.fields.items():
        each = f"{filled.items / filled.records:,.1f}" if filled.items is not None and filled.records else ""
        made.add_row(name, f"{filled.records:,}", _per_cent(found.share(name)), each, style="" if filled.records else "dim")
    return made


def _record(row: Mapping[str, Any]) -> RenderableType:
    grid = _grid()
    for name, value in row.items():
        if value not in (None, "", []):
            grid.add_row(name, Text(_value(value)))
    return grid


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_value(item)}" for name, item in value.items() if item is not None) + "}"
    if isinstance(value, list | tuple):
        more = f" … {len(value):,} in all" if len(value) > _ITEMS_SHOWN else ""
        return "[" + ", ".join(_value(item) for item in value[:_ITEMS_SHOWN]) + more + "]"
    return _short(str(value))


# -- full texts ------------------------------------------------------------------------------------------------------


def _documents(found: DocumentsFound) -> RenderableType:
    formats = ", ".join(name if found.documents == count else f"{name} {count:,}" for name, count in found.formats.items())
    facts = _facts(
        ("format", f"{formats}: full texts"),
        ("size", _size(found.bytes, found.uncompressed_bytes, found.compression, True)),
        ("extent", _counts(found.extents)),
        ("made of", _counts(found.blocks)),
    )
    sums = ((found.documents, "document"), (found.sentences, "sentence"), (found.characters, "character"))
    counts = ", ".join(_many(count, name) for count, name in sums)
    parts: list[RenderableType] = [Text(plain(found.key), style="bold"), facts, Text(""), Text(counts, style="bold")]
    for one in found.examples:
        parts += [Text(""), Padding(_document(one), (0, 0, 0, 2), expand=False)]
    if found.documents > len(found.examples):
        parts += [Text(""), Text(f"and {found.documents - len(found.examples):,} more documents", style="dim")]
    return Group(*parts)


def _document(one: DocumentShown) -> RenderableType:
    grid = _grid()
    facts = (("title", one.title), ("doi", one.doi), ("ids", ", ".join(one.ids)), ("year", one.year), ("authors", "; ".join(one.authors)))
    for name, value in facts:
        if value:
            grid.add_row(name, Text(_short(str(value))))
    grid.add_row("made of", Text(f"{_counts(one.blocks)}; {_many(one.sentences_in_all, 'sentence')}"))
    if one.sections:
        grid.add_row("sections", Text(" · ".join(plain(section) for section in one.sections)))
    for name, texts in (("paragraphs", one.paragraphs), ("sentences", one.sentences)):
        for place, text in enumerate(texts):
            grid.add_row("" if place else name, Text(_short(text)))
    return grid


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(_many(count, name.replace("_", " ")) for name, count in sorted(counts.items(), key=lambda item: -item[1]))


# -- the rejects of a lake -------------------------------------------------------------------------------------------


def render_rejected(found: Rejected, of: str) -> RenderableType:
    """Rejects by part and reason, then one by one. of: the release, or what else they are of."""
    share = f" ({_per_cent(found.total / found.lines)})" if found.total else ""
    heading = Text(f"{of}: {found.total:,} rejects of {found.lines:,} lines{share}", style="bold")
    if not found.total:
        return heading
    counts = table("part", "reason", numbers=("rejects", "of lines", "share"))
    for row in found.counts:
        numbers = (f"{row['rejects']:,}", f"{row['lines']:,}", _per_cent(row["share"]))
        counts.add_row(Text(plain(row["dump_part"])), row["reason"], *numbers)
    parts: list[RenderableType] = [heading, Text(""), counts]
    if found.rows:
        rows = table("part", numbers=("at byte", "length"), last=("reason", "how it begins"))
        for row in found.rows:
            place = (f"{row['byte_offset']:,}", f"{row['byte_length']:,}")
            rows.add_row(Text(plain(row["dump_part"])), *place, row["reason"], _beginning(row))
        parts += [Text(""), rows]
        if found.total > len(found.rows):
            parts.append(Text(f"and {found.total - len(found.rows):,} more; --limit lists more, --part and --reason choose", style="dim"))
    return Group(*parts)


# -- the style -------------------------------------------------------------------------------------------------------


def _facts(*facts: tuple[str, str]) -> Table:
    grid = _grid()
    for name, value in facts:
        if value:
            grid.add_row(name, Text(value))
    return grid


def _grid() -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _short(text: str) -> str:
    shown = visible(text[: _LONGEST + 1])
    return shown if len(text) <= _LONGEST else shown[:_LONGEST] + "…"


def _many(count: int, name: str) -> str:
    return f"{count:,} {name}" + ("" if count == 1 else "s")


def _per_cent(share: float) -> str:
    """A share in per cent: 0 and 100 only where it is none and all."""
    rounded = f"{100 * share:.1f}"
    if rounded in ("0.0", "100.0"):
        return "0 %" if share == 0 else "100 %" if share == 1 else "< 0.1 %" if share < 0.5 else "> 99.9 %"
    return f"{rounded} %"

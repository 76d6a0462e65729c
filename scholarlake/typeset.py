"""What everything shown on a terminal is set in: tables without lines, sizes and times in words, text that can't steer the terminal.

What does not belong here: anything that knows what is shown (`terminal`).
"""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table


def to_dict(value: Any) -> Any:
    """A result as plain values: mappings, lists, text, numbers."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_dict(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_dict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_dict(item) for item in value]
    return value


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number and what it counts, in the singular where it is one."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def bytes_in_words(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1_000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1_000
    return f"{count:.1f} TB"


def table(*names: str, numbers: Sequence[str] = (), last: Sequence[str] = ()) -> Table:
    """A table without lines; numbers stand to the right."""
    made = Table(box=None)
    for name in names:
        made.add_column(name, overflow="fold")  # on a narrow terminal a long id goes on in the next line: none is cut
    for name in numbers:
        made.add_column(name, justify="right", no_wrap=True)
    for name in last:
        made.add_column(name, overflow="fold")
    return made


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s"


def plain(text: str | None) -> str:
    """Text without control characters: a title must not steer the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text or "")


def visible(text: str | None) -> str:
    """Text in which what can't be seen is written out: `\\x1b`, `\\n`, `\\u202e`. Nothing in it can steer the terminal."""
    return "".join(c if c.isprintable() or unicodedata.category(c) == "Zs" else _escape(c) for c in text or "")


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def markdown_table(rows: Sequence[Mapping[str, Any]], longest: int = 200) -> str:
    """Rows as a table in Markdown, of all columns that any of them has; values of more than so many characters are cut."""

    def cell(value: Any) -> str:
        shown = visible(" ".join(f"{value:,}".split() if isinstance(value, int) else str("" if value is None else value).split()))
        shown = shown if len(shown) <= longest else shown[:longest] + "…"
        return shown.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("`", "\\`")

    columns = list(dict.fromkeys(name for row in rows for name in row))
    sides = ["--:" if all(isinstance(row.get(name), int) for row in rows) else "---" for name in columns]
    lines = (" | ".join(cell(row.get(name)) for name in columns) for row in rows)
    return "\n".join([f"| {' | '.join(columns)} |", f"|{'|'.join(sides)}|", *(f"| {line} |" for line in lines)])


def cut(text: str, limit: int) -> str:
    """Text in one line of so many characters, cut between words."""
    shown = " ".join(plain(text).split())
    return shown if len(shown) <= limit else shown[:limit].rsplit(" ", 1)[0] + " …"

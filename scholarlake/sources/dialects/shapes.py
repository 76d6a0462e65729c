"""What an object of any shape has to say: for dialects that look for a field inside another, which may not be there, or be no object."""

from __future__ import annotations

from typing import Any

from scholarlake.sources.record import RecordRow


def mapping(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def each(value: Any) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def first(record: dict[str, Any], *names: str) -> Any:
    """The value of the first of the fields that says anything."""
    for name in names:
        if (value := record.get(name)) is not None and value not in ("", [], {}):
            return value
    return None


def flagged(row: RecordRow, flag: str) -> RecordRow:
    return row._replace(flags=sorted({*row.flags, flag}))

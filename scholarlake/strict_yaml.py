"""YAML files that people write, read so that no slip of theirs goes unseen: a key stands once, a fault is one line.

What does not belong here: what a file may say.
"""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import yaml


class Unreadable(ValueError):
    """A file that is no YAML, or not of one mind. The message is one line, without the file's name."""


class _Strict(yaml.SafeLoader):
    """YAML in which a key stands once: the plain loader takes the last one and says nothing."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key, _ in node.value:
            name = self.construct_object(key, deep=True)
            if isinstance(name, Hashable) and name in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{name!r} stands here twice", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)


def read(path: Path) -> Any:
    """What a file says. Raises Unreadable."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Strict)
    except (yaml.YAMLError, UnicodeDecodeError) as fault:
        raise Unreadable(f"can't be read: {' '.join(str(fault).split())}") from fault


def no_such(name: str, known: Iterable[str]) -> str:
    """That there is no setting of a name, and which it may have been meant for."""
    known = list(known)
    near = difflib.get_close_matches(name, known, 1)
    return f"there is no such setting; did you mean {near[0]}?" if near else f"there is no such setting; there are: {', '.join(known)}"

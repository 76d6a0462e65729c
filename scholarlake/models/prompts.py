"""Prompts as files: Jinja2 templates with a block for the system message and one for the user's, versioned by their content.

Nothing of a paper gets into a prompt unfenced: a template that puts a plain text into its output without `| fence` or
`| own` fails. `own` is for words of this project: labels, names of fields, what a person configured.
What does not belong here: the prompts themselves, which lie with what asks (`prompts/` in each room).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2

from scholarlake.errors import ModelError
from scholarlake.lake.hashing import digest
from scholarlake.models.chat import Message, Speaker
from scholarlake.models.fencing import Ours, fence

SUFFIX = ".j2"
_SPEAKERS: tuple[Speaker, ...] = ("system", "user", "assistant")


class PromptError(ModelError):
    """A prompt is missing, or is not given what it needs. A fault of the code, found when the prompt is first rendered."""


class Prompt:
    """One template. version: the digest of its text and of all files beside it, 32 hexadecimal digits."""

    def __init__(self, name: str, template: jinja2.Template, version: str) -> None:
        self.name = name
        self.version = version
        self._template = template

    def messages(self, **values: Any) -> tuple[Message, ...]:
        """The messages, one for each block that is there. Raises PromptError where a value is missing or is not fenced."""
        made = []
        context = self._template.new_context(values)
        for speaker in _SPEAKERS:
            if speaker in self._template.blocks:
                try:
                    text = "".join(self._template.blocks[speaker](context))
                except jinja2.UndefinedError as fault:
                    raise PromptError(f"prompt {self.name} lacks a value: {fault.message}") from fault
                made.append(Message(speaker, text.strip()))
        return tuple(made)


def prompt(folder: Path, name: str) -> Prompt:
    """The prompt NAME.j2 of a folder. Raises PromptError where it is not there or is no template."""
    environment, version = _environment(folder)
    try:
        template = environment.get_template(name + SUFFIX)
    except jinja2.TemplateNotFound as fault:
        raise PromptError(f"no prompt {fault.name} in {folder.name}") from fault
    except jinja2.TemplateSyntaxError as fault:
        raise PromptError(f"prompt {fault.name}, line {fault.lineno}: {fault.message}") from fault
    if not set(template.blocks) & set(_SPEAKERS):
        raise PromptError(f"prompt {name} has no block named {', '.join(_SPEAKERS)}")
    return Prompt(name, template, digest([name, version]))


@lru_cache
def _environment(folder: Path) -> tuple[jinja2.Environment, str]:
    """One for each folder: its templates can include each other, so a change of any is a change of all."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        finalize=_finished,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["fence"] = _fenced
    environment.filters["own"] = _own
    files = sorted(folder.glob(f"*{SUFFIX}"))
    return environment, digest(part for path in files for part in (path.name, path.read_text(encoding="utf-8")))


def _fenced(value: Any) -> Ours:
    return fence(_own(value))


def _own(value: Any) -> Ours:
    return Ours(str(value))  # of a value that is missing, this raises, and names it


def _finished(value: Any) -> Any:
    """What a template puts out: numbers, and texts that say whose they are."""
    if isinstance(value, str) and not isinstance(value, Ours):
        raise PromptError(f"a prompt puts out a text without `| fence` (a paper's) or `| own` (ours): {value[:40]!r}")
    if isinstance(value, Mapping | list | tuple | set):
        raise PromptError("a prompt puts out a collection; go through it in the template")
    return value

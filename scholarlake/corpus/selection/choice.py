"""What a choice is made with and what it comes to: the values that the three ways to choose share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scholarlake.corpus.progress import Progress, silent
from scholarlake.corpus.selection.candidates import Candidates, Numbers, Values
from scholarlake.corpus.selection.words import Words
from scholarlake.models.protocol import Embedder


@dataclass(frozen=True)
class Tools:
    """The papers, their words, and what loads the embedder: a model is loaded only where a query is to be embedded."""

    candidates: Candidates
    words: Words
    embedder: Callable[[], Embedder]
    progress: Progress = silent


@dataclass(frozen=True)
class Choice:
    """Chosen papers in their order: numbers, roles, rules in words and, where there are any, scores, topics and clusters.

    matched: papers that could have been chosen. wanted: how many were asked for, None where no number was. shortfall: what is missing
    and why, in words. unknown_ids: ids that the definition names and the corpus has not. withdrawn_ids: papers that it names by id and
    that can't be chosen, because they, or what they are versions of, were withdrawn.
    """

    numbers: Numbers
    roles: Sequence[str]
    rules: Sequence[str]
    scores: Values | None = None
    topics: Sequence[str | None] | None = None
    clusters: Sequence[int | None] | None = None
    matched: int = 0
    wanted: int | None = None
    shortfall: str | None = None
    unknown_ids: Sequence[str] = field(default_factory=tuple)
    withdrawn_ids: Sequence[str] = field(default_factory=tuple)

"""Which categories of a taxonomy a text or a name speaks of, by its wordings.

What does not belong here: what is made of it: assignments (`classifying`), papers to read again (`attending`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from scholarlake.knowledge.organization.lexicon import names
from scholarlake.knowledge.organization.names import words_of
from scholarlake.knowledge.organization.taxonomy import Category, Dimension, Taxonomy

_REACH = 3  # words before a wording in which a negation is about it


@dataclass(frozen=True)
class Hit:
    """A wording of a category in a text. begin, end: places of its words. is_example: it is the name of a positive example."""

    category: Category
    wording: str
    begin: int
    end: int
    is_example: bool = False


@dataclass(frozen=True)
class Wordings:
    """What finds the categories of a dimension."""

    dimension: Dimension

    @cached_property
    def _by_first(self) -> dict[str, list[tuple[tuple[str, ...], Category, str, bool]]]:
        found: dict[str, list[tuple[tuple[str, ...], Category, str, bool]]] = defaultdict(list)
        for category in self.dimension.categories:
            for is_example, said in ((False, category.wordings), (True, category.positive_examples)):
                for wording in said:
                    if words := words_of(wording):
                        found[words[0]].append((words, category, wording, is_example))
        return found

    def hits(self, text: str) -> list[Hit]:
        """Where a text speaks of which category, the most specific ones only."""
        words = words_of(text)
        found = [
            Hit(category, wording, at, at + len(wanted), is_example)
            for at, word in enumerate(words)
            for wanted, category, wording, is_example in self._by_first.get(word, ())
            if words[at : at + len(wanted)] == wanted and not _is_another(words, at, at + len(wanted))
        ]
        return self._most_specific(found)

    def kinds(self, name: str) -> list[Hit]:
        """The categories that a name says it is a kind of: those whose wording it ends in, or whose example it is."""
        words = words_of(name)
        end = len(words)
        while end > 1 and words[end - 1] in names().not_alone:
            end -= 1
        return [
            hit
            for hit in self.hits(name)
            if (hit.begin == 0 and hit.end in (end, len(words)) if hit.is_example else hit.end in (end, len(words)))
        ]

    def _most_specific(self, hits: Sequence[Hit]) -> list[Hit]:
        """Each category once, by its longest wording, and none that a part of it stands for as well."""
        best: dict[str, Hit] = {}
        for hit in hits:
            known = best.get(hit.category.name)
            if known is None or (hit.end - hit.begin, not hit.is_example) > (known.end - known.begin, not known.is_example):
                best[hit.category.name] = hit
        parents = {one.name: one.parent for one in self.dimension.categories}
        above = {name for child in best for name in _ancestors(child, parents)}
        return [hit for name, hit in sorted(best.items(), key=lambda one: (one[1].begin, one[0])) if name not in above]


def _is_another(words: tuple[str, ...], begin: int, end: int) -> bool:
    """Whether what stands around a wording makes it say something else: a negation before it, or a number behind "than"."""
    if names().negating & set(words[max(0, begin - _REACH) : begin]):
        return True
    return words[end - 1] == "than" and end < len(words) and words[end][0].isdigit()


def _ancestors(name: str, parents: dict[str, str | None]) -> Iterator[str]:
    at = parents.get(name)
    while at is not None:
        yield at
        at = parents.get(at)


def wordings_of(taxonomy: Taxonomy) -> list[Wordings]:
    """What finds the categories of a taxonomy, dimension by dimension."""
    if taxonomy.examples_decide:
        return [Wordings(dimension) for dimension in taxonomy.dimensions]
    return [
        Wordings(replace(one, categories=tuple(replace(category, positive_examples=()) for category in one.categories)))
        for one in taxonomy.dimensions
    ]

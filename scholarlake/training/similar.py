"""Questions that say nearly the same: ROUGE-L over words, between two pools of questions.

Most pairs are told apart by how many words they share, which bounds the longest common subsequence from above; only what is left is
compared word by word. What does not belong here: what is done about a pair.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

ALIKE = 0.85
"""ROUGE-L above which two questions are near duplicates (SciLENS, appendix E)."""
_AT_ONCE = 512


@dataclass(frozen=True)
class Pair:
    """Two questions by their places in their pools, and their ROUGE-L."""

    one: int
    other: int
    rouge_l: float


def words_of(text: str) -> list[str]:
    """What is compared: runs of letters and digits, in lower case."""
    return re.findall(r"\w+", text.lower())


def rouge_l(one: Sequence[str], other: Sequence[str]) -> float:
    """F-measure of the longest common subsequence of two lists of words, 0 to 1."""
    if not one or not other:
        return 0.0
    return 2 * _common_subsequence(one, other) / (len(one) + len(other))


def alike(pool: Sequence[str], others: Sequence[str], above: float = ALIKE) -> Iterator[Pair]:
    """The pairs of a question of one pool and one of another whose ROUGE-L is above a threshold, in order."""
    left, right = [words_of(text) for text in pool], [words_of(text) for text in others]
    if not pool or not others:
        return
    numbers: dict[tuple[str, int], int] = {}
    counted = [_counted(words, numbers) for words in (left, right)]
    lengths = [np.array([len(words) for words in texts]) for texts in (left, right)]
    matrices = [_matrix(rows, len(numbers)) for rows in counted]
    theirs = matrices[1].T.tocsr()
    for start in range(0, len(left), _AT_ONCE):
        shared = (matrices[0][start : start + _AT_ONCE] @ theirs).tocoo()
        sizes = lengths[0][start + shared.row] + lengths[1][shared.col]
        near = np.flatnonzero(2 * shared.data > above * sizes)
        for place in near[np.lexsort((shared.col[near], shared.row[near]))]:
            one, other = start + int(shared.row[place]), int(shared.col[place])
            if (score := rouge_l(left[one], right[other])) > above:
                yield Pair(one, other, score)


def _counted(texts: Sequence[Sequence[str]], numbers: dict[tuple[str, int], int]) -> list[list[int]]:
    """Words as numbers, the second of a word being another than the first: texts then share as many numbers as words."""
    found = []
    for words in texts:
        seen: Counter[str] = Counter()
        row = []
        for word in words:
            row.append(numbers.setdefault((word, seen[word]), len(numbers)))
            seen[word] += 1
        found.append(row)
    return found


def _matrix(rows: Sequence[Sequence[int]], width: int) -> sparse.csr_array:
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    columns = np.array([number for row in rows for number in row], dtype=np.int32)
    return sparse.csr_array((np.ones(len(columns), dtype=np.int32), columns, starts), shape=(len(rows), width))  # type: ignore[no-untyped-call]


def _common_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    """Length of the longest common subsequence, a row of the table at a time as bits of one number (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for place, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(one)) - 1
    row = full
    for word in other:
        matched = row & places.get(word, 0)
        row = ((row + matched) | (row - matched)) & full
    return len(one) - row.bit_count()

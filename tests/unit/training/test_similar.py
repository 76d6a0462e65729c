"""Near duplicates: ROUGE-L is that of the plain table, and no pair above the threshold is missed."""

from __future__ import annotations

import numpy as np
import pytest

from scholarlake.training.similar import alike, rouge_l, words_of


def plain(one: list[str], other: list[str]) -> float:
    """ROUGE-L by the whole table."""
    table = np.zeros((len(one) + 1, len(other) + 1), dtype=int)
    for i, a in enumerate(one, 1):
        for j, b in enumerate(other, 1):
            table[i, j] = table[i - 1, j - 1] + 1 if a == b else max(table[i - 1, j], table[i, j - 1])
    return 2 * float(table[-1, -1]) / (len(one) + len(other))


def texts(count: int, seed: int) -> list[str]:
    draws = np.random.default_rng(seed)
    return [" ".join(draws.choice(list("abcde"), draws.integers(1, 12))) for _ in range(count)]


def test_it_is_that_of_the_plain_table() -> None:
    for one, other in zip(texts(200, 0), texts(200, 1), strict=True):
        assert rouge_l(one.split(), other.split()) == pytest.approx(plain(one.split(), other.split()))


def test_no_pair_above_the_threshold_is_missed() -> None:
    pool, others = texts(600, 2), texts(150, 3)
    found = {(pair.one, pair.other) for pair in alike(pool, others, above=0.7)}
    wanted = {(i, j) for i, one in enumerate(pool) for j, other in enumerate(others) if plain(one.split(), other.split()) > 0.7}
    assert found == wanted
    assert len(wanted) > 100


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("Which paper cites “Spin glasses, part one”?", "which paper cites “Spin glasses, Part One”", True),
        (
            "Which paper cites “Spin glasses” and was published in 1998?",
            "Which paper was published in 1998 and cites “Spin glasses”?",
            False,
        ),
        ("Which paper cites “深度学习综述”?", "Which paper cites “图神经网络研究”?", False),
        ("", "", False),
    ],
)
def test_case_and_punctuation_do_not_tell_questions_apart(one: str, other: str, near: bool) -> None:
    assert bool(list(alike([one], [other]))) is near


def test_words_are_runs_of_letters_and_digits_of_any_script() -> None:
    assert words_of("C++, α-Synuclein: 深度 2.0") == ["c", "α", "synuclein", "深度", "2", "0"]
